"""Rows of sign bits: growing, shrinking, and what a scan says."""

import math

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shelfd.memory.facts.signs import SignRows, distance_at, sign_bits


def cosine_at(distance: int, dimension: int) -> float:
    return math.cos(math.pi * distance / dimension)


def real_vectors(count: int, dimension: int) -> npt.NDArray[np.float64]:
    return np.random.default_rng(1).standard_normal((count, dimension))


def found(rows: SignRows, asked: npt.NDArray[np.uint64], limit: int) -> dict[int, int]:
    numbers, distances = rows.within(asked, limit)
    return dict(zip(numbers.tolist(), distances.tolist(), strict=True))


@pytest.mark.parametrize("dimension", [1, 63, 64, 100, 128])
def test_rows_of_two_words_are_found_with_the_signs_that_differ(dimension: int) -> None:
    vectors = real_vectors(20, dimension)
    rows = SignRows(dimension)
    assert [rows.append(sign_bits(vector)) for vector in vectors] == list(range(20))
    differing = ((vectors > 0) != (vectors[0] > 0)).sum(axis=1)
    limit = int(np.median(differing))
    wanted = {number: int(count) for number, count in enumerate(differing) if count <= limit}
    assert found(rows, sign_bits(vectors[0]), limit) == wanted


def test_of_longer_rows_a_few_just_within_the_limit_are_passed_over_and_none_beyond_it_is_found() -> None:
    vectors = real_vectors(20_000, 512)
    rows = SignRows(512)
    for vector in vectors:
        rows.append(sign_bits(vector))
    differing = ((vectors > 0) != (vectors[17_000] > 0)).sum(axis=1)
    limit = 230
    within = {number: int(count) for number, count in enumerate(differing) if count <= limit}
    seen = found(rows, sign_bits(vectors[17_000]), limit)
    assert seen.items() <= within.items()
    assert len(within) > 200
    assert len(seen) > 0.6 * len(within)
    assert seen[17_000] == 0


@pytest.mark.parametrize(("cosine", "share"), [(0.6, 1.0), (0.5, 0.98), (0.4, 0.9)])
def test_what_is_clearly_alike_is_found_among_many(cosine: float, share: float) -> None:
    vectors = real_vectors(600, 512)
    like = cosine * vectors + math.sqrt(1 - cosine**2) * np.random.default_rng(2).standard_normal((600, 512))
    rows = SignRows(512)
    for vector in like:
        rows.append(sign_bits(vector))
    limit = distance_at(0.3, 512)
    hits = sum(number in found(rows, sign_bits(vector), limit) for number, vector in enumerate(vectors))
    near = ((vectors > 0) != (like > 0)).sum(axis=1) <= limit
    assert hits >= share * near.sum()


def test_blocks_are_bounded_and_grow_by_doubling() -> None:
    rows = SignRows(64)
    sizes = []
    for number in range(40_000):
        rows.append(np.array([number], dtype=np.uint64))
        sizes.append(rows.nbytes // 8)
    assert len(rows) == 40_000
    assert [sizes[at] for at in (0, 8, 16_383, 16_384, 39_999)] == [8, 16, 16_384, 32_768, 49_152]
    assert found(rows, np.array([32_767], dtype=np.uint64), 0) == {32_767: 0}


def test_a_replaced_row_is_another() -> None:
    rows = SignRows(64)
    rows.append(np.array([7], dtype=np.uint64))
    rows.replace(0, np.array([1], dtype=np.uint64))
    assert found(rows, np.array([1], dtype=np.uint64), 64) == {0: 0}


def test_no_rows_have_nothing_within_any_limit() -> None:
    assert found(SignRows(64), np.zeros(1, dtype=np.uint64), 64) == {}


@given(st.floats(-1, 1))
def test_distance_and_cosine_tell_each_other(cosine: float) -> None:
    assert cosine_at(distance_at(cosine, 4096), 4096) == pytest.approx(cosine, abs=2e-3)


@pytest.mark.parametrize("cosine", [0.0, 0.5, 0.9])
def test_bits_estimate_the_cosine(cosine: float) -> None:
    first, second = real_vectors(2, 16384)
    second = cosine * first + np.sqrt(1 - cosine**2) * second
    rows = SignRows(16384)
    rows.append(sign_bits(second))
    seen = cosine_at(found(rows, sign_bits(first), 16384)[0], 16384)
    assert seen == pytest.approx(cosine, abs=0.05)
