"""Rows of sign bits: growing, shrinking, and what a scan says."""

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shelfd.memory.fhrr.signs import SignRows, cosine_at, distance_at, sign_bits


def real_vectors(count: int, dimension: int) -> npt.NDArray[np.float64]:
    return np.random.default_rng(1).standard_normal((count, dimension))


@pytest.mark.parametrize("dimension", [1, 63, 64, 100, 1024])
def test_distances_count_the_signs_that_differ(dimension: int) -> None:
    vectors = real_vectors(20, dimension)
    rows = SignRows(dimension)
    assert [rows.append(sign_bits(vector)) for vector in vectors] == list(range(20))
    wanted = ((vectors > 0) != (vectors[0] > 0)).sum(axis=1)
    np.testing.assert_array_equal(rows.distances(sign_bits(vectors[0])), wanted)


def test_blocks_do_not_show() -> None:
    vectors = real_vectors(9000, 64)
    rows = SignRows(64)
    for vector in vectors:
        rows.append(sign_bits(vector))
    wanted = ((vectors > 0) != (vectors[4097] > 0)).sum(axis=1)
    np.testing.assert_array_equal(rows.distances(sign_bits(vectors[4097])), wanted)
    while len(rows) > 4000:
        rows.pop_into(0)
    assert len(rows.distances(sign_bits(vectors[0]))) == 4000
    assert rows.nbytes == 4096 * 8


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 99)), max_size=60))
def test_rows_are_what_a_list_would_be(steps: list[tuple[bool, int]]) -> None:
    rows, model = SignRows(64), list[int]()
    for number, (grow, anywhere) in enumerate(steps):
        if grow or not model:
            rows.append(np.array([number], dtype=np.uint64))
            model.append(number)
        else:
            at = anywhere % len(model)
            assert rows.pop_into(at) == len(model) - 1
            last = model.pop()
            if at < len(model):
                model[at] = last
    wanted = [number.bit_count() for number in model]
    assert rows.distances(np.zeros(1, dtype=np.uint64)).tolist() == wanted


def test_a_replaced_row_is_another() -> None:
    rows = SignRows(64)
    rows.append(np.array([7], dtype=np.uint64))
    rows.replace(0, np.array([1], dtype=np.uint64))
    assert rows.distances(np.array([1], dtype=np.uint64)).tolist() == [0]


def test_no_rows_have_no_distances() -> None:
    assert SignRows(64).distances(np.zeros(1, dtype=np.uint64)).tolist() == []


@given(st.floats(-1, 1))
def test_distance_and_cosine_tell_each_other(cosine: float) -> None:
    assert cosine_at(distance_at(cosine, 4096), 4096) == pytest.approx(cosine, abs=2e-3)


@pytest.mark.parametrize("cosine", [0.0, 0.5, 0.9])
def test_bits_estimate_the_cosine(cosine: float) -> None:
    first, second = real_vectors(2, 16384)
    second = cosine * first + np.sqrt(1 - cosine**2) * second
    rows = SignRows(16384)
    rows.append(sign_bits(second))
    seen = cosine_at(int(rows.distances(sign_bits(first))[0]), 16384)
    assert seen == pytest.approx(cosine, abs=0.05)
