"""Notes and links that are kept in memory: what recall shows is what the rows say, whatever happened in between."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fakes import Api, memory
from shelfd.memory.errors import StoreBusy
from shelfd.memory.notes.note import Note
from shelfd.memory.ports.log import Origin
from shelfd.memory.shelf import hot
from shelfd.storage.inmemory.notes import InMemoryNotes

_STEPS = st.lists(
    st.tuples(
        st.sampled_from(["link", "unlink", "ask", "purge", "undo"]),
        st.integers(min_value=0, max_value=3),
        st.integers(min_value=0, max_value=3),
    ),
    max_size=12,
)


async def _links_as_recalled(api: Api) -> dict[str, list[str]]:
    found = (await api.call("recall", query="harbour", k=20, session_id=None))["results"]
    return {item["note"]["id"]: [link["to"] for link in item["note"]["links"]] for item in found}


async def _links_as_stored(api: Api, ids: list[str]) -> dict[str, list[str]]:
    leaving = api.shelf().view.links.leaving(ids)
    return {note_id: [link.target for link in leaving[note_id]] for note_id in ids}


async def _step(api: Api, kind: str, source: str, target: str, made: list[str]) -> None:
    if kind == "link" and source != target:
        call: dict[str, Any] = await api.call("link.upsert", source=source, target=target, relation="near")
        made.append(str(call["added"]))
    elif kind == "unlink" and source != target:
        await api.call("link.delete", source=source, target=target, relation="near")
    elif kind == "ask":
        await _links_as_recalled(api)
    elif kind == "undo" and made:
        last = api.shelf().view.log.last_seq
        row = api.shelf().view.log.page(since_seq=last - 1, limit=1)[0]
        if row.kind.startswith("link."):
            await api.call("undo", tx=row.tx)


@given(_STEPS)
@settings(max_examples=60, deadline=None)
def test_links_are_shown_as_they_are_stored(steps: list[tuple[str, int, int]]) -> None:
    async def run() -> None:
        async with memory() as api:
            ids = [(await api.remember(f"harbour crane {n}"))["id"] for n in range(4)]
            made: list[str] = []
            await _links_as_recalled(api)
            for kind, a, b in steps:
                if kind == "purge" and len(ids) > 2:
                    await api.call("forget", id=ids.pop(a % len(ids)), purge=True)
                else:
                    await _step(api, kind, ids[a % len(ids)], ids[b % len(ids)], made)
                assert await _links_as_recalled(api) == await _links_as_stored(api, ids)

    asyncio.run(run())


_EDITS = st.lists(
    st.tuples(
        st.sampled_from(["rewrite", "tag", "hide", "restore", "link", "ask", "cut", "purge"]),
        st.integers(min_value=0, max_value=2),
    ),
    max_size=12,
)
#: Reading a note counts as an access, which recalling it without a hit does not.
_OF_USE = {"access_count", "last_accessed_at"}


async def _edit(api: Api, kind: str, at: int, ids: list[str]) -> None:
    note_id = ids[at % len(ids)]
    if kind == "rewrite":
        text = f"harbour crane rewritten in {(await api.note(note_id))['rev']}"
        await api.call("note.edit", id=note_id, content=text, title="Cranes")
    elif kind == "tag":
        await api.call("note.edit", id=note_id, tags=[f"t{at}", "iron"], aliases=["hoist"])
    elif kind in ("hide", "restore"):
        await api.call(f"note.{kind}", id=note_id)
    elif kind == "link" and len(ids) > 1:
        await api.call("link.upsert", source=note_id, target=ids[(at + 1) % len(ids)], relation="near")
    elif kind == "cut":
        await api.call("recall", query="harbour", max_content_chars=9, session_id="s")
    elif kind == "purge" and len(ids) > 1:
        await api.call("forget", id=ids.pop(at % len(ids)), purge=True)


@given(_EDITS)
@settings(max_examples=30, deadline=None)
def test_recalled_notes_are_shown_as_they_are_now(edits: list[tuple[str, int]]) -> None:
    async def run() -> None:
        async with memory() as api:
            ids = [(await api.remember(f"harbour crane {n}"))["id"] for n in range(3)]
            for kind, at in edits:
                await _edit(api, kind, at, ids)
                named: dict[str, Any] = {"query": "harbour", "k": 20, "session_id": None, "include_hidden": True}
                for full in (False, True):
                    found = (await api.call("recall", **named, full=full))["results"]
                    assert {item["note"]["id"] for item in found} == set(ids)
                    for item in found:
                        now = await api.note(item["note"]["id"], full=full)
                        assert now | dict.fromkeys(_OF_USE) == item["note"] | dict.fromkeys(_OF_USE)

    asyncio.run(run())


@asynccontextmanager
async def reopened(count: int) -> AsyncIterator[Api]:
    """The memory with a shelf of so many notes from which nobody has read since it was opened."""
    async with memory() as api:
        for number in range(count):
            await api.remember(f"crane {number}")
        await api.reopen()
        yield api


class Looks:
    """Counts the notes that are looked up one by one."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count = 0
        by_ids, by_rows = InMemoryNotes.by_ids, InMemoryNotes.by_rows

        def counted_ids(notes: InMemoryNotes, ids: Sequence[str]) -> dict[str, Note]:
            self.count += len(ids)
            return by_ids(notes, ids)

        def counted_rows(notes: InMemoryNotes, rows: Sequence[int]) -> dict[int, Note]:
            self.count += len(rows)
            return by_rows(notes, rows)

        monkeypatch.setattr(InMemoryNotes, "by_ids", counted_ids)
        monkeypatch.setattr(InMemoryNotes, "by_rows", counted_rows)


async def test_what_was_said_just_now_is_not_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    async with memory() as api:
        await api.remember("the sea is blue")
        await api.call("recall", query="sea")
        note = await api.remember("the crane is yellow")
        await api.call("note.edit", id=note["id"], content="the crane is green")
        looks = Looks(monkeypatch)
        found = await api.call("recall", query="crane")
        assert [hit["note"]["content"] for hit in found["results"]] == ["the crane is green"]
        assert looks.count == 0


async def test_a_shelf_that_nobody_reads_from_keeps_nothing_at_hand() -> None:
    async with memory() as api:
        for number in range(3):
            await api.remember(f"crane {number}")
        assert api.shelf().hot._notes == {}


async def test_an_opened_shelf_has_its_newest_notes_at_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hot, "_KEPT", 128)
    async with reopened(200) as api:
        await api.call("recall", query="1")  # opens it
        await asyncio.sleep(0)
        await api.call("recall", query="2")
        for _ in range(32):
            api.clock.advance(timedelta(seconds=1))
            await asyncio.sleep(0)
        looks = Looks(monkeypatch)
        assert (await api.call("recall", query="199"))["results"]
        assert looks.count == 0
        assert (await api.call("recall", query="7"))["results"]
        assert looks.count > 0


async def test_what_is_at_hand_is_shown_without_a_look_at_the_rows_whatever_else_is_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with reopened(20) as api:
        await api.call("recall", query="1", session_id=None)
        kept, usage, view = api.shelf().hot, api.shelf().usage, api.shelf().view
        for notes in kept.warm_up():
            usage.know([note.row for note in notes])
        await api.shelf().commit(
            Origin("shelfd", "tending"), lambda _: None
        )  # what is in no log row is no use of notes
        for rows, name in ((view.usage, "by_rows"), (view.links, "leaving"), (view.notes, "by_rows")):
            monkeypatch.delattr(type(rows), name)
        assert len((await api.call("recall", query="crane", k=20))["results"]) == 20


async def test_what_is_at_hand_is_written_as_json_before_it_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    async with reopened(20) as api:
        await api.call("recall", query="1", session_id=None)
        assert len(list(api.shelf().hot.warm_up())) > 1
        monkeypatch.delattr("shelfd.memory.methods.written.unused_view")
        assert len((await api.call("recall", query="crane", k=20))["results"]) == 20


async def test_no_more_notes_are_written_ahead_than_there_is_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hot, "_RENDERED", 20)
    async with reopened(60) as api:
        found = (await api.call("recall", query="7", session_id=None))["results"]
        list(api.shelf().hot.warm_up())
        assert 12 < len(api.shelf().hot._rendered) <= 20
        assert api.shelf().hot._rendered.keys() >= {hit["note"]["id"] for hit in found}  # what was found stays


@pytest.mark.parametrize("kept", ["_KEPT", "_RENDERED"])
async def test_beyond_the_room_there_is_the_oldest_goes(kept: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hot, kept, 32)
    async with memory() as api:
        ids = [(await api.remember(f"crane {number}", session_id=f"s{number}"))["id"] for number in range(90)]
        for number in range(90):
            await api.call("recall", query=f"crane {number}", k=9, session_id=None)
        some: dict[str, Any] = vars(api.shelf().hot)["_links" if kept == "_KEPT" else "_rendered"]
        assert 28 <= len(some) <= 32 + 9
        assert ids[-1] in some


async def test_of_a_shelf_without_room_for_all_the_newest_and_what_is_found_again_stay(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(hot, "_KEPT", 32)
    monkeypatch.setattr(hot, "_STEP", 4)
    async with memory() as api:
        ids = [(await api.remember(f"crane {number}"))["id"] for number in range(90)]
        kept = api.shelf().hot
        kept.clear()
        list(kept.warm_up())
        assert {*ids[-28:]} <= kept._notes.keys()
        for note_id in ids[:6]:
            kept.get([note_id])
        assert ids[-1] in kept._notes
        assert ids[-28] not in kept._notes
        for note_id in ids[:50]:
            for note in kept.get([note_id, ids[-1]]).values():
                if note.id == ids[-1]:
                    kept.rendered(note, lambda note: note.id)
            kept.links([note_id])
        assert ids[-1] in kept._notes
        assert ids[-1] in kept._links
        assert ids[-2] not in kept._notes
        assert len(kept._notes) <= 32


async def test_where_all_is_found_again_there_is_room_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hot, "_KEPT", 32)
    async with memory() as api:
        ids = [(await api.remember(f"crane {number}"))["id"] for number in range(90)]
        kept = api.shelf().hot
        kept.clear()
        for note_id in ids:
            for note in kept.get([note_id]).values():
                kept.rendered(note, lambda note: note.id)
            assert len(kept._notes) <= 32
        assert ids[-1] in kept._notes


async def test_documents_are_not_read_to_be_at_hand() -> None:
    async with memory() as api:
        await api.remember("the oldest")
        for number in range(2 * hot._STEP):
            await api.remember(f"page {number} " * 1_500)
        kept = api.shelf().hot
        kept.clear()
        assert list(kept.warm_up()) == []
        assert kept._notes == {}


async def test_a_disk_that_fails_for_a_moment_only_leaves_notes_to_be_read_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with memory() as api:
        note = await api.remember("the crane is yellow")
        api.shelf().hot.clear()

        def fails(*_: Any, **__: Any) -> None:
            raise StoreBusy("the disk reported an error")

        monkeypatch.setattr(InMemoryNotes, "scan", fails)
        with pytest.raises(StoreBusy):
            list(api.shelf().hot.warm_up())
        assert (await api.note(note["id"]))["content"] == "the crane is yellow"
