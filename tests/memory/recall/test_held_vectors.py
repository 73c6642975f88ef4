"""Vectors in memory against the definition: whatever is put, replaced and removed."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from shelfd.memory.ports.embedder import Vectors
from shelfd.memory.ports.vectors import NoteVectors
from shelfd.memory.recall import held_vectors
from shelfd.memory.recall.fields import NEXT, PREVIOUS
from shelfd.memory.recall.held_vectors import OWN, HeldVectors, compared, stored, vectors_of

_WIDTH = 4
rows = st.integers(1, 9)
lists = st.lists(st.lists(st.integers(-127, 127), min_size=_WIDTH, max_size=_WIDTH), max_size=5)
queries = st.lists(st.lists(st.integers(-127, 127), min_size=_WIDTH, max_size=_WIDTH), min_size=1, max_size=3)
changes = st.lists(st.tuples(rows, st.none() | lists), max_size=40)


def array(some: list[list[int]]) -> Vectors:
    return np.array(some, np.int8).reshape(-1, _WIDTH)


def weights(asked: Vectors, notes: list[Vectors]) -> list[float]:
    """The definition: how far the best cosine of each vector is above that of all notes on average."""
    best = [[max_sim(one[None], note) for note in notes] for one in asked]
    return [max(0.01, max(some) - float(np.mean(some))) for some in best]


def max_sim(asked: Vectors, *notes: Vectors, weights: list[float] | None = None) -> float:
    """The definition: the weighted mean of the best cosines."""
    best = []
    for one in asked.astype(float):
        cosines = [
            one @ other / max(1e-6, np.linalg.norm(one)) / max(1e-6, np.linalg.norm(other))
            for note in notes
            for other in note.astype(float)
        ]
        best.append(max(cosines))
    return float(np.average(best, weights=weights))


@given(changes, queries, st.data())
@settings(max_examples=60, deadline=None)
def test_likeness_is_that_of_what_is_held(
    some: list[tuple[int, list[list[int]] | None]], asked: list[list[int]], data: st.DataObject
) -> None:
    held, expected = HeldVectors(), dict[int, Vectors]()
    for row, vectors in some:
        if vectors is None:
            held.remove([row])
            expected.pop(row, None)
        else:
            held.put(stored(row, "m", row, array(vectors)))
            expected[row] = array(vectors)
    assert len(held) == len(expected)
    expected = {row: vectors for row, vectors in expected.items() if len(vectors)}
    picture = held.picture()
    if picture is None:
        assert not expected
        return
    beside = np.array([data.draw(st.sampled_from([-1, *expected])) for _ in picture.rows], np.int64)
    before = dict(zip(picture.rows.tolist(), beside.tolist(), strict=True))
    nobody = np.full(len(beside), -1)
    found, values = compared(picture, array(asked), beside, nobody)
    assert found.tolist() == sorted(expected)
    weighed = weights(array(asked), list(expected.values()))
    for row, value in zip(found.tolist(), values.tolist(), strict=True):
        own = max_sim(array(asked), expected[row], weights=weighed)
        previous = before[row] if before[row] in expected else row
        earlier = before[previous] if before[previous] in expected else previous
        context = max_sim(array(asked), expected[row], expected[previous], expected[earlier], weights=weighed)
        assert abs(value - (OWN * own + PREVIOUS * context + NEXT * own) / (OWN + PREVIOUS + NEXT)) < 1e-4


def test_many_notes_are_compared_in_blocks() -> None:
    held = HeldVectors()
    random = np.random.default_rng(7)
    made = {row: random.integers(-127, 128, (1 + row % 40, _WIDTH), np.int8) for row in range(1, 1500)}
    assert sum(map(len, made.values())) > 3 * held_vectors._BLOCK
    for row, vectors in made.items():
        held.put(stored(row, "m", 0, vectors))
    held.remove(range(1, 1500, 3))
    held.put(stored(1, "m", 0, made[1]))
    picture = held.picture()
    assert picture is not None
    asked = made[5][:2]
    nobody = np.full(len(picture.rows), -1)
    found, values = compared(picture, asked, nobody, nobody)
    assert found.tolist() == [row for row in made if row == 1 or row % 3 != 1]
    weighed = weights(asked, [made[row] for row in found.tolist()])
    for row in (1, 2, 777, 1499):
        assert abs(values[found.tolist().index(row)] - max_sim(asked, made[row], weights=weighed)) < 1e-4


def test_removed_vectors_leave_nothing_in_memory() -> None:
    held = HeldVectors()
    for row in (1, 2, 3):
        held.put(stored(row, "m", 0, np.full((3, _WIDTH), row, np.int8)))
    held.remove([2])
    picture = held.picture()
    assert picture is not None
    assert 2 not in picture.vectors


@given(lists)
def test_stored_vectors_are_read_as_they_were(some: list[list[int]]) -> None:
    one = stored(1, "m", 7, array(some))
    assert one == NoteVectors(1, "m", 7, _WIDTH, array(some).tobytes())
    assert vectors_of(one).tolist() == array(some).tolist()
