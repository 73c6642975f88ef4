"""Columns of a large shelf that an image fills."""

import mmap

import numpy as np
import pytest

from shelfd.memory.recall import columns
from shelfd.memory.recall.columns import LASTING, Columns

SIZE = 40_000


@pytest.mark.parametrize("advice", [14, 9_999])
def test_they_hold_what_they_are_filled_with_whether_or_not_there_are_huge_pages(
    monkeypatch: pytest.MonkeyPatch, advice: int
) -> None:
    monkeypatch.setattr(columns, "_HUGE", 1 << 16)
    monkeypatch.setattr(mmap, "MADV_HUGEPAGE", advice)
    values = np.arange(SIZE)
    filled = Columns()
    filled.fill(SIZE, {name: [(slice(0, SIZE), values % 100)] for name in (*LASTING, *columns.CHANGING)})
    for name in ("row", "length", "flags", "nugget", "previous"):
        column = getattr(filled, name)
        assert np.array_equal(column[:SIZE], values % 100)
        assert not column[SIZE:].any()
    first = filled.extend(2, {"row": [7, 8], "length": 3})
    assert (first, filled.row[SIZE : SIZE + 2].tolist()) == (SIZE, [7, 8])
