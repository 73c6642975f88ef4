"""Undo over random stories of edits, reflections, undos and purges, by the shelf's logical hash."""

import asyncio
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from fakes import Api, Refused, memory
from memory.tending.reflection.scenes import a_note, shelve
from shelfd.memory.log.logical import logical_hash
from shelfd.memory.notes.note import Extra

CRANE = "The harbour crane is out of order and waits for its repair."
NOTES = [
    a_note(f"{CRANE}\nIt is.\nIt is.", id="a", tags=("port",)),
    a_note(f"{CRANE}\nIt is.", id="b", title="crane"),
    a_note("who repairs the harbour crane", id="c"),
    a_note("for the moment", id="d", title="tmp"),
    a_note("the ferry to Norway leaves  \n\n\n\nthe harbour", id="e", extra=Extra(aliases=("boat",))),
    a_note(f"{CRANE} {CRANE}", id="f"),
]
Step = tuple[str, dict[str, Any]]

ids = st.sampled_from("abcdef")
texts = st.sampled_from([CRANE, f"{CRANE}\nIt is.", "another matter", "secret 4711\nsecret 4711"])
EDITS: st.SearchStrategy[Step] = st.one_of(
    st.builds(lambda i, text: ("note.edit", {"id": i, "content": text}), ids, texts),
    st.builds(lambda i, text: ("note.edit", {"id": i, "title": text}), ids, st.sampled_from(["tmp", "crane", "x"])),
    st.builds(lambda i, tag: ("note.edit", {"id": i, "add_tags": [tag]}), ids, st.sampled_from(["port", "harbour"])),
    st.builds(lambda i, tag: ("note.edit", {"id": i, "remove_tags": [tag]}), ids, st.sampled_from(["port", "crane"])),
    st.builds(lambda i, pinned: ("note.edit", {"id": i, "pinned": pinned}), ids, st.booleans()),
    st.builds(lambda i, name: (f"note.{name}", {"id": i}), ids, st.sampled_from(["hide", "restore"])),
    st.builds(lambda i, j: ("link.upsert", {"source": i, "target": j}), ids, ids),
    st.builds(lambda i, j: ("link.delete", {"source": i, "target": j}), ids, ids),
    st.builds(lambda i, j: ("note.merge", {"source": i, "target": j}), ids, ids),
)
PURGES: st.SearchStrategy[Step] = st.builds(lambda i: ("forget", {"id": i, "purge": True}), ids)
BEFORE = st.lists(st.one_of(EDITS, EDITS, PURGES, st.just(("reflect", {}))), max_size=6)


async def tell(api: Api, story: list[Step]) -> None:
    """Carry out what can be; what is refused, such as an edit of a purged note, is no part of it."""
    for name, params in story:
        if "source" in params and params["source"] == params["target"]:
            continue
        view = api.shelf().view
        if all(view.notes.get(params[key]) is not None for key in ("id", "source", "target") if key in params):
            try:
                await api.call(name, params)
            except Refused as refused:
                if refused.kind != "NotMergeable":  # as one of the two is out of sight
                    raise


@given(BEFORE)
@settings(deadline=None)
def test_a_reflection_undone_at_once_leaves_what_was_there(before: list[Step]) -> None:
    async def run() -> None:
        async with memory() as api:
            await shelve(api, NOTES)
            await tell(api, before)
            view = api.shelf().view
            was = logical_hash(view)
            reflected = await api.call("reflect")
            became = logical_hash(view)
            undone = await api.call("reflection.undo", run_id=reflected["run_id"])
            assert undone["kept"] == []
            assert logical_hash(view) == was
            redone = await api.call("reflection.undo", run_id=undone["run_id"])
            assert redone["kept"] == []
            assert logical_hash(view) == became
            await api.call("reflection.undo", run_id=redone["run_id"])
            assert logical_hash(view) == was

    asyncio.run(run())


@given(BEFORE, st.integers(1, 4))
@settings(deadline=None)
def test_nights_undone_one_by_one_lead_back_to_the_first(before: list[Step], nights: int) -> None:
    async def run() -> None:
        async with memory() as api:
            await shelve(api, NOTES)
            await tell(api, before)
            view = api.shelf().view
            states, runs = [logical_hash(view)], []
            for _ in range(nights):
                runs.append((await api.call("reflect"))["run_id"])
                states.append(logical_hash(view))
            while runs:
                assert logical_hash(view) == states.pop()
                assert (await api.call("reflection.undo", run_id=runs.pop()))["kept"] == []
            assert logical_hash(view) == states.pop()

    asyncio.run(run())


@given(BEFORE, st.lists(st.one_of(EDITS, PURGES), min_size=1, max_size=4))
@settings(deadline=None)
def test_what_came_between_stays_and_the_rest_goes_back(before: list[Step], between: list[Step]) -> None:
    async def run() -> None:
        async with memory() as api:
            await shelve(api, NOTES)
            await tell(api, before)
            view = api.shelf().view
            was = {note.id: note for note in view.notes.scan(before_row=None, limit=99)}
            reflected = await api.call("reflect")
            seq = view.log.last_seq
            await tell(api, between)
            # A purge also changes what its note was merged into.
            touched = {note_id for row in view.log.page(since_seq=seq, limit=1000) for note_id in row.ids}
            undone = await api.call("reflection.undo", run_id=reflected["run_id"])

            purged = {params["id"] for name, params in between if name == "forget"}
            kept = {item["note_id"] for item in undone["kept"]}
            for note_id, note in was.items():
                now = view.notes.get(note_id)
                assert (now is None) == (note_id in purged)
                if now is not None and note_id not in touched | kept:
                    assert (now.content, now.title, now.tags, now.hidden) == (
                        note.content, note.title, note.tags, note.hidden
                    )  # fmt: skip
            # What is redacted cannot go back, such as a link to a note that is gone: that is said of its other end.
            assert {item["note_id"] for item in undone["kept"] if item["why"] != "purged"} <= touched

    asyncio.run(run())


@given(BEFORE, ids, ids)
@settings(deadline=None)
def test_a_merge_by_hand_undone_leaves_what_was_there(before: list[Step], target: str, source: str) -> None:
    async def run() -> None:
        async with memory() as api:
            await shelve(api, NOTES)
            await tell(api, before)
            view = api.shelf().view
            was, seq = logical_hash(view), view.log.last_seq
            await tell(api, [("note.merge", {"target": target, "source": source})])
            if view.log.last_seq == seq:
                return
            became = logical_hash(view)
            undone = await api.call("undo", tx=seq + 1)
            assert undone["kept"] == []
            assert logical_hash(view) == was
            redone = await api.call("reflection.undo", run_id=undone["run_id"])
            assert redone["kept"] == []
            assert logical_hash(view) == became

    asyncio.run(run())
