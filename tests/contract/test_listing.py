"""Listings of any filter, page by page, while the loop goes on."""

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from contract.samples import change, create, make_note
from fakes import FakeClock
from shelfd.memory.errors import ShuttingDown
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.notes.filter import NoteFilter
from shelfd.memory.notes.note import Extra, Note
from shelfd.memory.ports.notes import Listing
from shelfd.memory.ports.store import Store
from shelfd.storage import SqliteStores
from shelfd.storage.sqlite import paging

FILTERS = [
    NoteFilter(include_hidden=True),
    NoteFilter(),
    NoteFilter(nugget="work"),
    NoteFilter(nugget="work", include_hidden=True, tags=("b",)),
    NoteFilter(tags=("a", "b")),
    NoteFilter(tags=('say "a"',)),
    NoteFilter(tags=("derived",)),
    NoteFilter(tags=("an alias",)),
    NoteFilter(needs_review=True),
    NoteFilter(needs_review=False, nugget="memory"),
    NoteFilter(nugget="nowhere"),
]


@pytest.fixture(autouse=True)
def small_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paging, "_SLICE", 3)


def some_notes() -> Iterator[Note]:
    tags = [("a",), ("b",), ("a", "b"), (), ('say "a"',), ("ä", "b")]
    for number in range(40):
        extra = Extra(derived_tags=("derived",)) if number % 7 == 3 else Extra(aliases=("an alias", "derived"))
        yield make_note(
            f"n{number}",
            nugget="work" if number % 3 else "memory",
            tags=tags[number % 6],
            confidence=0.1 if number % 11 == 0 else 0.9,
            archived_at=5 if number % 5 == 0 else None,
            created_at=number // 9,
            updated_at=(number * 7) % 40 // 8,
            extra=extra if number % 2 else Extra(evolution_count=number),
        )


async def fill(store: Store) -> None:
    def apply(tx: Transaction) -> None:
        for note in some_notes():
            tx.create_note(note)

    await store.commit(change(apply))


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("order", ["updated_at", "row"])
@pytest.mark.parametrize("wanted", FILTERS)
async def test_pages_hold_what_one_read_of_all_holds(
    store: Store, wanted: NoteFilter, order: str, *, descending: bool
) -> None:
    await fill(store)
    whole = store.view.notes.page(wanted, order=order, descending=descending, after=None, limit=100)
    found: list[Note] = []
    after: tuple[int, int] | None = None
    while True:
        page = await store.list_notes(wanted, order=order, descending=descending, after=after, limit=4)
        assert page.total == (len(whole) if after is None else None)
        found += page.notes
        if len(page.notes) < 4:
            break
        after = (getattr(found[-1], order), found[-1].row)

    assert found == whole


async def test_an_unknown_order_is_refused_here_too(store: Store) -> None:
    await fill(store)
    with pytest.raises(ValueError, match="title"):
        await store.list_notes(NoteFilter(), order="title", descending=False, after=None, limit=1)


class Held:
    """Holds a listing of a file at its second slice."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.began, self.goes_on = threading.Event(), threading.Event()
        self.slices = 0
        place_behind = paging._SlicedNotes._place_behind

        def slowly(notes: paging._SlicedNotes, page: paging.Page, after: tuple[int, int] | None) -> object:
            self.slices += 1
            if self.slices == 2:
                self.began.set()
                assert self.goes_on.wait(20)
            return place_behind(notes, page, after)

        monkeypatch.setattr(paging._SlicedNotes, "_place_behind", slowly)

    async def start(self, store: Store) -> "asyncio.Task[Listing]":
        wanted = NoteFilter(tags=("none",))
        listing = asyncio.create_task(
            store.list_notes(wanted, order="updated_at", descending=False, after=None, limit=9)
        )
        await asyncio.to_thread(self.began.wait, 20)
        return listing


async def test_while_a_file_is_listed_others_read_and_write(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    store = await SqliteStores(tmp_path, FakeClock()).create("default", owner="uid:0")
    await fill(store)
    held = Held(monkeypatch)
    listing = await held.start(store)

    await store.commit(create("meanwhile"))
    assert store.view.notes.get("meanwhile") is not None
    assert not listing.done()
    held.goes_on.set()
    assert await listing == Listing([], 0)
    await store.close()


async def test_a_cancelled_listing_ends_with_its_slice(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    store = await SqliteStores(tmp_path, FakeClock()).create("default", owner="uid:0")
    await fill(store)
    held = Held(monkeypatch)
    listing = await held.start(store)

    listing.cancel()
    await asyncio.sleep(0)
    held.goes_on.set()
    with pytest.raises(asyncio.CancelledError):
        await listing
    assert held.slices == 2
    page = await store.list_notes(NoteFilter(), order="row", descending=False, after=None, limit=2)
    assert [note.id for note in page.notes] == ["n1", "n2"]
    await store.close()


async def test_closing_waits_for_no_more_than_the_slice_at_work(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    store = await SqliteStores(tmp_path, FakeClock()).create("default", owner="uid:0")
    await fill(store)
    held = Held(monkeypatch)
    listing = await held.start(store)

    closing = asyncio.create_task(store.close())
    for _ in range(9):  # until it waits for the slice
        await asyncio.sleep(0)
    held.goes_on.set()
    await closing
    with pytest.raises(ShuttingDown):
        await listing
    assert held.slices == 2
    with pytest.raises(ShuttingDown):
        await store.list_notes(NoteFilter(), order="row", descending=False, after=None, limit=2)
