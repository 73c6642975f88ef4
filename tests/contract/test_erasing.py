"""Erasing a note: nothing of it is left, and nothing else is missing."""

from collections.abc import Callable
from pathlib import Path

import pytest

from contract.samples import change, create, edit, make_link, write
from fakes import FakeClock
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.notes.note import Note, Usage
from shelfd.memory.ports.log import REDACTED, Recorded, Touched
from shelfd.memory.ports.store import Store, Stores
from shelfd.memory.ports.view import Writer
from shelfd.storage import SqliteStores

SECRET = "the combination is 4711-secret"


async def _filled(store: Store) -> None:
    await store.commit(create("n1", content=SECRET, key="combination"))
    await store.commit(create("n2", content="stays"))
    await store.commit(edit("n1", content="changed, was 4711-secret before"))
    await store.commit(write(lambda writer: writer.links.put(make_link("n1", "n2", reason="4711-secret"))))
    row = store.view.notes.by_ids(["n1"])["n1"].row

    def use(writer: Writer) -> None:
        writer.usage.put({row: Usage(1, 1, 5, "s")})
        writer.usage.add_hit_sessions([(row, "s")])
        writer.recorded.put("uid:1000", "remember", "key", Recorded("payload", {"id": "n1"}, 5))

    await store.commit(write(use))


def _erase(writer: Writer, note_id: str = "n1") -> None:
    note = writer.notes.get(note_id)
    assert note is not None
    assert writer.notes.redact(note, after=0, limit=99) is None
    writer.notes.delete(note)


async def test_nothing_of_the_note_is_left(store: Store) -> None:
    await _filled(store)
    row = store.view.notes.by_ids(["n1"])["n1"].row
    last = store.view.log.last_seq
    await store.commit(write(_erase))

    view = store.view
    assert view.notes.get("n1") is None
    assert view.notes.fact("memory", "combination") is None
    assert view.links.page(note_id=None, relation=None, after=0, limit=9) == []
    assert (view.usage.by_rows([row]), view.usage.was_hit([row], "s")) == ({}, set())
    assert view.log.last_seq == last
    assert [entry.before for entry in view.log.of_note(row)] == [REDACTED, REDACTED]
    assert "4711" not in str(view.log.page(since_seq=0, limit=99))
    assert (note := view.notes.get("n2")) is not None
    assert note.content == "stays"


async def test_use_reported_too_late_is_not_kept(store: Store) -> None:
    await _filled(store)
    row = store.view.notes.by_ids(["n1"])["n1"].row
    await store.commit(write(_erase))

    def use(writer: Writer) -> None:
        writer.usage.put({row: Usage(2, 2, 6, "t")})
        writer.usage.add_hit_sessions([(row, "t")])

    await store.commit(write(use))

    assert (store.view.usage.by_rows([row]), store.view.usage.was_hit([row], "t")) == ({}, set())
    assert await store.check(full=True) == []


async def test_its_number_is_never_given_away_again(stores: Stores, store: Store) -> None:
    await _filled(store)
    await store.commit(create("last"))
    row = store.view.notes.by_ids(["last"])["last"].row
    await store.commit(write(lambda writer: _erase(writer, "last")))
    await store.commit(create("next"))
    assert store.view.notes.by_ids(["next"])["next"].row > row


async def test_a_failed_change_gives_it_back(store: Store) -> None:
    await _filled(store)

    def erase_and_fail(writer: Writer) -> None:
        _erase(writer)
        raise ValueError("never mind")

    before = store.view.notes.scan(before_row=None, limit=9), store.view.log.page(since_seq=0, limit=99)
    with pytest.raises(ValueError, match="never mind"):
        await store.commit(write(erase_and_fail))
    assert (store.view.notes.scan(before_row=None, limit=9), store.view.log.page(since_seq=0, limit=99)) == before


async def test_the_files_hold_nothing_of_it_once_scrubbed(tmp_path: Path) -> None:
    store = await SqliteStores(tmp_path, FakeClock()).create("default", owner="uid:1000")
    await _filled(store)
    # Long enough for pages of its own, and there before and after a checkpoint.
    await store.commit(create("n3", content=f"{SECRET} " * 2000))
    await store.scrub()
    await store.commit(edit("n3", content="short now"))
    for note_id in ("n1", "n3"):
        await store.commit(write(_erasing(note_id)))
    await store.commit(write(lambda writer: writer.recorded.delete([("uid:1000", "remember", "key")])))
    assert await store.scrub()
    files = _bytes(tmp_path)
    assert b"4711" not in files
    assert b"stays" in files
    await store.close()


def _bytes(directory: Path) -> bytes:
    return b"".join(path.read_bytes() for path in directory.rglob("*") if path.is_file())


def _erasing(note_id: str) -> Callable[[Writer], None]:
    return lambda writer: _erase(writer, note_id)


async def test_what_became_of_links_from_one_note_to_another_is_found(store: Store) -> None:
    links = [make_link("n1", "n2"), make_link("n1", "n2", "needs"), make_link("n2", "n1")]
    for note_id in ("n1", "n2"):
        await store.commit(create(note_id))

    def put(tx: Transaction) -> None:
        for link in links:
            tx.put_link(link, "memory")

    await store.commit(change(put))
    await store.commit(change(lambda tx: tx.delete_link(links[0], "memory")))

    found = store.view.log.of_link("n1", "n2")
    assert [row.kind for row in found] == ["link.added", "link.added", "link.removed"]
    assert [row.before["link"][2] for row in found if row.before] == ["related", "needs", "related"]
    leaving = store.view.log.of_links_from("n1", since_seq=found[0].seq)
    assert leaving == found[1:]
    assert [row.ids for row in store.view.log.of_links_from("n2", since_seq=0)] == [("n2", "n1")]


async def test_which_notes_a_stretch_of_the_log_is_about(store: Store) -> None:
    for note_id in ("n1", "n2"):
        await store.commit(create(note_id))
    begin = store.view.log.last_seq
    await store.commit(create("n3"))
    for content in ("a", "b"):
        await store.commit(edit("n1", content=content))
    await store.commit(change(lambda tx: tx.put_link(make_link("n1", "n2"), "memory")))
    rows = {note_id: note.row for note_id in ("n1", "n2", "n3") if (note := store.view.notes.get(note_id))}
    log = store.view.log

    assert log.touched(after=begin, until=log.last_seq) == Touched(rows["n3"], {rows["n1"]})
    assert log.touched(after=begin, until=begin + 1) == Touched(rows["n3"], set())
    assert log.touched(after=begin + 1, until=begin + 2) == Touched(None, {rows["n1"]})
    assert log.touched(after=0, until=begin).created == rows["n1"]


async def test_much_is_redacted_in_pieces(store: Store) -> None:
    for note_id in ("n1", "n2"):
        await store.commit(create(note_id))
    for number in range(5):
        await store.commit(edit("n1", content=f"{SECRET} {number}"))

    def link(tx: Transaction) -> None:
        for number in range(7):
            tx.put_link(make_link("n2", "n1", f"relation {number}", reason=SECRET), "memory")
        tx.put_link(make_link("n2", "n2", "itself", reason="stays"), "memory")

    await store.commit(change(link))
    note = store.view.notes.by_ids(["n1"])["n1"]
    reached: list[int | None] = [0]
    while (after := reached[-1]) is not None:
        reached.append((await store.commit(write(_redacting(note, after)))).value)

    assert len(reached) > 3
    assert SECRET not in str(store.view.log.page(since_seq=0, limit=99))
    assert "stays" in str(store.view.log.page(since_seq=0, limit=99))
    left = store.view.links.page(note_id=None, relation=None, after=0, limit=9)
    assert [link.relation for _, link in left] == ["itself"]
    await store.commit(write(lambda rows: rows.notes.delete(note)))
    assert await store.check(full=True) == []


def _redacting(note: Note, after: int) -> Callable[[Writer], int | None]:
    return lambda rows: rows.notes.redact(note, after=after, limit=4)


async def test_stored_outcomes_that_name_a_note_are_found_page_by_page(store: Store) -> None:
    def record(rows: Writer) -> None:
        for number in range(10):
            outcome = {"status": "created", "ids": ["n1", f"n{number}"] if number % 3 else ['quo"ted', "n10"]}
            rows.recorded.put("uid:1", "remember", f"key {number}", Recorded("payload", outcome, number))

    await store.commit(write(record))
    found, after, pages = [], None, 0
    while True:
        naming, after = store.view.recorded.naming({"n1", 'quo"te'}, after=after, limit=4)
        found += naming
        pages += 1
        if after is None:
            break
    assert found == [("uid:1", "remember", f"key {number}") for number in (1, 2, 4, 5, 7, 8)]
    assert pages == 3
    assert store.view.recorded.naming({'quo"ted'}, after=None, limit=99)[0] == [
        ("uid:1", "remember", f"key {number}") for number in (0, 3, 6, 9)
    ]
    await store.commit(write(lambda rows: rows.recorded.delete(found)))
    assert store.view.recorded.naming({"n1"}, after=None, limit=99) == ([], None)
