"""Many notes in one transaction become what they would become one after the other."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Any
from unittest.mock import patch

from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from contract.samples import ORIGIN
from fakes import FakeClock
from shelfd.memory.errors import ShelfError
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.notes.filter import NoteFilter
from shelfd.memory.ports.store import Change, Store
from shelfd.memory.ports.view import Writer
from shelfd.memory.shelf import storing, storing_many
from shelfd.memory.shelf.storing import StoredNote, store_note
from shelfd.memory.shelf.storing_many import Stored, store_many
from shelfd.protocol import Limits
from shelfd.protocol.methods.notes import RememberInput
from shelfd.storage import SqliteStores
from shelfd.storage.inmemory import InMemoryStores

LIMITS = Limits()
EVERYTHING = NoteFilter(include_hidden=True, include_expired=True)
MAYBE = {
    "content": st.sampled_from(["the server is at work", "a note", "the server is at work", " ", "", "two  blanks", 7]),
    "nugget": st.sampled_from(["memory", "work", "no good"]),
    "title": st.sampled_from(["Boiler", "user: tmp-x"]),
    "key": st.sampled_from(["colour", "Size", "user:"]),
    "tags": st.sampled_from([["a", "B c"], ["memory", "a"], [""]]),
    "aliases": st.sampled_from([["heating"]]),
    "sessionId": st.sampled_from(["s1", "s2"]),
    "turn": st.sampled_from([1, 2, 9_000, 15_000, 40_000]),
    "links": st.sampled_from([[{"to": "first"}], [{"to": "nothing"}], []]),
    "fields": st.sampled_from([{"summary": "a note"}, {"place": "here"}, {"summary": 3}]),
    "ttl_days": st.sampled_from([3]),
    "valid_from": st.sampled_from(["2026-01-01T00:00:00Z", "yesterday"]),
    "unknown": st.just(1),
}
ITEMS = st.lists(
    st.one_of(
        st.fixed_dictionaries({"content": MAYBE["content"]}),
        st.fixed_dictionaries({}, optional=MAYBE),
        st.just(17),
    ),
    max_size=12,
)


def one_by_one(tx: Transaction, items: Sequence[Any], limits: Limits) -> Iterator[Stored]:
    for item in items:
        try:
            given_ = RememberInput.model_validate(item, context=limits)
            tx.write_in(given_.session_id, given_.turn)
            yield store_note(tx, given_, limits)
        except (ValidationError, ShelfError) as error:
            yield error


async def state_after(store: Store, storing_: Callable[..., Iterator[Stored]], items: Sequence[Any]) -> list[Any]:
    """What is said of each item, the rows and the log, with rows in the place of ids."""

    def first(writer: Writer, now: int) -> tuple[None, Transaction]:
        tx = Transaction(writer, now, ORIGIN)
        tx.create_note(store_note(tx, RememberInput(content="first"), LIMITS).note._replace(id="first", row=0))
        store_note(tx, RememberInput(content="red", key="colour"), LIMITS)
        return None, tx

    def apply(writer: Writer, now: int) -> tuple[list[Any], Transaction]:
        tx = Transaction(writer, now, ORIGIN)
        said = [stored if isinstance(stored, StoredNote) else str(stored) for stored in storing_(tx, items, LIMITS)]
        return said, tx

    await store.commit(Change(ORIGIN, first))
    applied = await store.commit(Change(ORIGIN, apply))
    view = store.view
    notes = view.notes.page(EVERYTHING, order="row", descending=False, after=None, limit=1000)
    rows = {note.id: note.row for note in notes}
    assert {note.id: note for note in notes if note.id in applied.notes} == applied.notes
    said = [(one.status, one.note.row) if isinstance(one, StoredNote) else one for one in applied.value]
    log = [
        row._replace(
            ids=tuple(str(rows.get(one, one)) for one in row.ids),
            before={name: [rows.get(one, one) for one in value] for name, value in (row.before or {}).items()}
            if row.kind == "link.added"
            else row.before,
        )
        for row in view.log.page(since_seq=0, limit=1000)
    ]
    links = {
        rows[note.id]: [(rows[link.target], link[2:]) for link in view.links.leaving([note.id]).get(note.id, ())]
        for note in notes
    }
    named = [note.row for name in ("boiler", "heating") for note in view.notes.named("memory", "note", [name])]
    nuggets = [view.nuggets.get(name) for name in ("memory", "work")]
    await store.close()
    return [said, [note._replace(id="") for note in notes], log, links, named, nuggets]


@settings(max_examples=150, deadline=None)
@given(ITEMS, st.integers(1, 4))
def test_many_are_stored_as_one_after_the_other(items: list[Any], at_once: int) -> None:
    async def both() -> None:
        shelves = [await InMemoryStores(FakeClock()).create(name, owner="uid:1") for name in "ab"]
        with patch.object(storing_many, "_AT_ONCE", at_once):
            many = await state_after(shelves[0], store_many, items)
        assert many == await state_after(shelves[1], one_by_one, items)

    asyncio.run(both())


async def test_an_id_that_a_note_has_is_given_to_no_other(tmp_path: Path) -> None:
    store = await SqliteStores(tmp_path, FakeClock()).create("default", owner="uid:1")
    items = [{"content": f"note {number}", **({"key": "k"} if number == 150 else {})} for number in range(300)]

    def apply(writer: Writer, now: int) -> tuple[list[str], Transaction]:
        tx = Transaction(writer, now, ORIGIN)
        return [stored.note.id for stored in store_many(tx, items, LIMITS) if isinstance(stored, StoredNote)], tx

    try:
        for _ in range(2):
            drawn = count()  # those of the notes that are there come again, and each three times

            def draw(kind: str, _: str, count: int, drawn: Iterator[int] = drawn) -> set[str]:
                return {f"{kind}-{next(drawn) // 3}" for _ in range(count)}

            with patch.object(storing, "draw_ids", draw):
                ids = (await store.commit(Change(ORIGIN, apply))).value
            assert len(set(ids)) == 300
        assert store.view.counts().notes == 599  # the fact was there
    finally:
        await store.close()
