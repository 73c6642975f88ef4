"""What every store keeps of notes that expire: each is given until it is forgotten, or its time is set again."""

import pytest

from contract.samples import create, edit, make_note, write
from shelfd.memory.ports.store import Store
from shelfd.memory.ports.view import Writer


def ids(store: Store, now: int, limit: int = 99) -> list[str]:
    return [note.id for note in store.view.notes.expired(now, limit=limit)]


async def forget(store: Store, *note_ids: str) -> None:
    await store.commit(write(lambda rows: rows.notes.forget_expiry(list(rows.notes.by_ids(note_ids).values()))))


async def test_expired_notes_come_by_when_they_did_and_then_by_row(store: Store) -> None:
    for note_id, at in [("late", 30), ("never", None), ("twin", 10), ("other twin", 10), ("first", 5)]:
        await store.commit(create(note_id, expires_at=at))
    assert ids(store, 4) == []
    assert ids(store, 10) == ["first", "twin", "other twin"]
    assert ids(store, 99, limit=2) == ["first", "twin"]
    assert ids(store, 99, limit=0) == []


async def test_what_is_forgotten_comes_again_only_when_its_time_is_set_again(store: Store) -> None:
    await store.commit(create("a", expires_at=10))
    await store.commit(create("b", expires_at=10))
    await forget(store, "a")
    assert ids(store, 10) == ["b"]
    await forget(store, "a")
    await store.commit(edit("a", content="Something else"))
    assert ids(store, 10) == ["b"]
    await store.commit(edit("a", expires_at=11))
    await store.commit(edit("b", expires_at=None))
    assert (ids(store, 10), ids(store, 11)) == ([], ["a"])


async def test_a_note_that_is_gone_expires_no_more(store: Store) -> None:
    await store.commit(create("a", expires_at=10))
    note = store.view.notes.get("a")
    assert note is not None
    await store.commit(write(lambda rows: rows.notes.delete(note._replace(expires_at=None))))
    assert ids(store, 99) == []


async def test_a_change_that_fails_leaves_it_as_it_was(store: Store) -> None:
    await store.commit(create("a", expires_at=10))

    def fail(rows: Writer) -> None:
        rows.notes.forget_expiry(list(rows.notes.by_ids(["a"]).values()))
        rows.notes.insert(make_note("b", row=2, expires_at=1))
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        await store.commit(write(fail))
    assert ids(store, 99) == ["a"]
