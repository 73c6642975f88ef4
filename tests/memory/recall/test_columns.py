"""Columns of a large shelf that an image fills."""

import mmap

import numpy as np
import pytest

from shelfd.memory.recall import columns
from shelfd.memory.recall.columns import LASTING, Columns

SIZE = 40_000
EVERY = (*LASTING, *columns.CHANGING)


@pytest.mark.parametrize("advice", [14, 9_999])
def test_they_hold_what_they_are_filled_with_whether_or_not_there_are_huge_pages(
    monkeypatch: pytest.MonkeyPatch, advice: int
) -> None:
    monkeypatch.setattr(columns, "_HUGE", 1 << 16)
    monkeypatch.setattr(mmap, "MADV_HUGEPAGE", advice)
    values = np.arange(SIZE)
    filled = Columns()
    filled.fill(SIZE, {name: [(slice(0, SIZE), values % 100)] for name in EVERY})
    for name in ("row", "length", "flags", "nugget", "previous"):
        column = getattr(filled, name)
        assert np.array_equal(column[:SIZE], values % 100)
        assert not column[SIZE:].any()
    first = filled.extend(2, {"row": [7, 8], "length": 3})
    assert (first, filled.row[SIZE : SIZE + 2].tolist()) == (SIZE, [7, 8])


def filled_with(value: int, count: int) -> dict[str, list[int]]:
    return {name: [value] * count for name in EVERY}


def values_of(some: Columns, ordinal: int) -> dict[str, int]:
    return {name: int(getattr(some, name)[ordinal]) for name in EVERY}


@pytest.mark.parametrize("size", [3, 64, 20_000])  # with room left, without, and in memory of its own
def test_what_a_layer_changes_and_adds_is_in_the_layer_alone(size: int) -> None:
    below = Columns()
    below.extend(size, filled_with(5, size))
    for value in (7, 9):  # the second layer gets the memory of the first one
        layer = below.layer(3)
        assert values_of(layer, size - 1) == dict.fromkeys(EVERY, 5)
        assert layer.extend(3, filled_with(value, 3)) == size
        layer.flags[0] = layer.previous[1] = value
        assert values_of(layer, size + 2) == dict.fromkeys(EVERY, value)
        assert (below.size, below.flags[0], below.previous[1]) == (size, 5, 5)
        del layer
    below.extend(2, filled_with(6, 2))
    assert values_of(below, size) == values_of(below, size + 1) == dict.fromkeys(EVERY, 6)


def test_layers_at_once_do_not_share_what_they_change() -> None:
    below = Columns()
    below.extend(10, filled_with(5, 10))
    one, other = below.layer(1), below.layer(1)
    one.flags[0] = 1
    other.flags[0] = 2
    assert (one.flags[0], other.flags[0], below.flags[0]) == (1, 2, 5)


def test_a_layer_may_take_more_than_it_was_made_for_and_wider_codes() -> None:
    below = Columns()
    below.extend(10, filled_with(5, 10))
    layer = below.layer(1)
    layer.extend(100, {**filled_with(7, 100), "nugget": [300] * 100})
    assert (layer.nugget[109], layer.nugget[9], layer.row[109], layer.group[9]) == (300, 5, 7, 5)
    assert (below.size, below.nugget.itemsize, below.nugget[9]) == (10, 1, 5)
