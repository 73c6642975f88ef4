"""What every store keeps of the vectors of notes."""

from contract.samples import create, write
from shelfd.memory.ports.store import Store
from shelfd.memory.ports.vectors import NoteVectors


def vectors(note: int, model: str = "m1", text: int = 2**32 - 1) -> NoteVectors:
    return NoteVectors(note, model, text, 2, bytes([note, 129, 0, 127]))


async def put(store: Store, *some: NoteVectors) -> None:
    await store.commit(write(lambda rows: rows.vectors.put(some)))


async def test_those_of_one_model_are_read_by_row(store: Store) -> None:
    for name in ("n1", "n2", "n3", "n4"):
        await store.commit(create(name))
    await put(store, *(vectors(note) for note in (3, 1, 4)), vectors(2, "m2"))
    view = store.view.vectors
    assert view.of([4, 2, 3, 9], "m1") == [vectors(3), vectors(4)]
    assert view.texts([4, 2, 3, 9], "m1") == {3: 2**32 - 1, 4: 2**32 - 1}
    assert view.page("m1", limit=2) == [vectors(1), vectors(3)]
    assert view.page("m1", after=3, limit=2) == [vectors(4)]
    assert (view.count("m1"), view.count("m2"), view.count("m3")) == (3, 1, 0)


async def test_new_ones_replace_those_of_any_model(store: Store) -> None:
    await store.commit(create("n1"))
    await put(store, vectors(1))
    await put(store, vectors(1, "m2", text=7))
    view = store.view.vectors
    assert (view.of([1], "m1"), view.of([1], "m2")) == ([], [vectors(1, "m2", text=7)])
    assert (view.count("m1"), view.count("m2")) == (0, 1)


async def test_they_go_with_their_note(store: Store) -> None:
    for name in ("n1", "n2"):
        await store.commit(create(name))
    await put(store, vectors(1), vectors(2))
    note = store.view.notes.get("n1")
    assert note is not None
    await store.commit(write(lambda rows: rows.notes.delete(note)))
    assert store.view.vectors.page("m1", limit=9) == [vectors(2)]
    assert store.view.vectors.count("m1") == 1


async def test_the_position_is_what_was_put_last(store: Store) -> None:
    assert store.view.vectors.position() is None
    for position in ({"seq": 1}, {"seq": 2, "model": "m1", "below": None}):
        await store.commit(write(lambda rows, position=position: rows.vectors.put_position(position)))  # type: ignore[misc]
    assert store.view.vectors.position() == {"seq": 2, "model": "m1", "below": None}
