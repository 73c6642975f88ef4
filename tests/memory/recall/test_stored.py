"""An index as it is kept in an image: in few bytes, and the same again."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.recall.notes import index_of, note
from shelfd.memory.notes.filter import RECALLABLE
from shelfd.memory.ports.image import Frozen
from shelfd.memory.recall import Document, RecallIndex
from shelfd.memory.recall.columns import LASTING
from shelfd.memory.recall.packing import packed_counts, packed_steps, unpacked_counts, unpacked_steps
from shelfd.memory.recall.stored import texts_of


def columns_of(index: RecallIndex) -> dict[str, list[Any]]:
    columns = index._contents.columns
    return {name: getattr(columns, name)[: columns.size].tolist() for name in vars(columns) if name in KEPT}


KEPT = {*LASTING, "flags", "previous", "following", "group", "span"}
large = st.integers(-(2**62), 2**62)
documents = st.builds(
    lambda row, session, turn, when, expires: note(row, "green tea", session=session, turn=turn)._replace(
        when=when, expires_at=expires
    ),
    row=st.one_of(st.integers(1, 30), st.integers(200, 100_000)),
    session=st.sampled_from([None, "s1", "s2"]),
    turn=st.one_of(st.integers(0, 9), large),
    when=st.integers(0, 2**50),
    expires=st.one_of(st.none(), st.integers(0, 2**50)),
)


@given(st.lists(documents, max_size=12))
def test_columns_are_read_as_they_were(written: list[Document]) -> None:
    index = index_of(*written, delta=4)
    again = index_of()

    again.restore(index.freeze(())())

    assert columns_of(again) == columns_of(index)
    wanted = RECALLABLE._replace(include_expired=True)
    assert again.search("tea", wanted, 50) == index.search("tea", wanted, 50)


numbers = st.lists(st.one_of(st.integers(0, 300), st.integers(60_000, 70_000), st.integers(0, 2**31 - 1)), max_size=40)


@given(numbers, st.booleans())
def test_numbers_are_unpacked_as_they_were(values: list[int], ascend: bool) -> None:
    array = np.array(sorted(values) if ascend else values, np.int32)

    packed = packed_steps("some", array)

    assert unpacked_steps("some", packed, np.int32).tolist() == array.tolist()
    damaged = {**packed, "some long": np.append(packed["some long"], 1)}
    with pytest.raises(ValueError):  # noqa: PT011
        unpacked_steps("some", damaged, np.int32)


@given(st.lists(st.integers(0, 255), max_size=40))
def test_counts_are_unpacked_as_they_were(values: list[int]) -> None:
    counts = np.array(values, np.uint8)
    assert unpacked_counts("some", packed_counts("some", counts), len(counts)).tolist() == values


def test_what_is_the_same_of_all_notes_takes_no_room() -> None:
    index = index_of(*(note(row, "green tea", session=f"s{row // 20}", turn=row % 20) for row in range(1, 2_001)))

    parts = index.freeze(())().parts

    packed = [arrays or {} for name, arrays in parts.items() if name.startswith("packed-")]
    columns = [array for arrays in packed for name, array in arrays.items() if name in KEPT]
    beside = [array for name, array in (parts["state"] or {}).items() if name.startswith("column ")]
    assert sum(array.nbytes for array in (*columns, *beside)) < 20 * 2_000
    assert all(array.dtype == np.uint8 or array.itemsize < 8 or len(array) == 1 for array in beside)


@pytest.mark.parametrize("session", [None, "s1"])
def test_what_is_erased_while_an_image_is_made_is_whole_in_it_and_gone_in_the_next(session: str | None) -> None:
    index = index_of(*(note(row, f"green tea number{row}", session=session, turn=row) for row in range(1, 8)))
    frozen, expected = index.freeze(()), columns_of(index)
    index.erase([3])
    index.put(note(8, "green tea number8", session=session, turn=8))
    found = index.search("green tea", RECALLABLE, 50)
    first, again = index_of(), index_of()

    read = frozen()
    index.erase([5])  # while it is being written
    first.restore(_from_a_file(read))
    index.release()
    again.restore(_from_a_file(index.freeze(())()))

    assert columns_of(first) == expected
    assert len(set(first._contents.postings.terms_of(4))) == len(set(first._contents.postings.terms_of(5)))
    first.erase([3, 5])  # as everything is done again that came after the image
    first.put(note(8, "green tea number8", session=session, turn=8))
    found = index.search("green tea", RECALLABLE, 50)
    assert first.search("green tea", RECALLABLE, 50) == found == again.search("green tea", RECALLABLE, 50)
    assert {"number3", "number5"}.isdisjoint(_texts(index) + _texts(again))


def _from_a_file(frozen: Frozen) -> Frozen:
    facts, parts = frozen
    return Frozen(facts, {name: {key: some.copy() for key, some in (of or {}).items()} for name, of in parts.items()})


def _texts(index: RecallIndex) -> list[str]:
    parts = index.freeze(())().parts
    return [word for name in ("words", "terms") for word in texts_of(parts[name] or {})]
