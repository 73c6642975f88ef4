"""The algebra keeps its laws."""

import subprocess
import sys

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shelfd.memory.facts import algebra
from shelfd.memory.facts.algebra import WHOLE_NUMBERS, Phases, Phasors, Vector

DIMENSION = 256
ITEMS = Phasors("test", DIMENSION)

texts = st.text(max_size=12)
phases = texts.map(ITEMS.phases)
phasors = phases.map(algebra.phasor)


def random_phasors(count: int, dimension: int, seed: int = 0) -> npt.NDArray[np.complex64]:
    turns = np.random.default_rng(seed).integers(0, 256, (count, dimension), dtype=np.uint8)
    return algebra.phasor(turns)


# ------------------------------------------------------------------ binding
@given(phasors, phasors)
def test_unbinding_gives_back_what_was_bound(a: Vector, b: Vector) -> None:
    np.testing.assert_allclose(algebra.unbind(algebra.bind(a, b), a), b, atol=1e-5)


@given(phases, phases)
def test_unbinding_phases_is_exact(a: Phases, b: Phases) -> None:
    np.testing.assert_array_equal(np.subtract(algebra.bind_phases(a, b), a), b)


@given(phasors, phasors)
def test_binding_commutes(a: Vector, b: Vector) -> None:
    np.testing.assert_allclose(algebra.bind(a, b), algebra.bind(b, a), atol=1e-6)


@given(phasors, phasors, phasors)
def test_binding_associates(a: Vector, b: Vector, c: Vector) -> None:
    left, right = algebra.bind(algebra.bind(a, b), c), algebra.bind(a, algebra.bind(b, c))
    np.testing.assert_allclose(left, right, atol=1e-5)


@given(phasors)
def test_ones_bind_to_no_effect(a: Vector) -> None:
    np.testing.assert_array_equal(algebra.bind(a, np.ones(DIMENSION, dtype=np.complex64)), a)


@given(phasors)
def test_a_phasor_bound_to_its_conjugate_is_ones(a: Vector) -> None:
    np.testing.assert_allclose(algebra.bind(a, a.conj()), np.ones(DIMENSION), atol=1e-5)


@given(phasors, phasors, phasors)
def test_binding_distributes_over_superposition(a: Vector, b: Vector, c: Vector) -> None:
    together = algebra.bind(a, algebra.superpose(np.stack([b, c])))
    apart = algebra.superpose(np.stack([algebra.bind(a, b), algebra.bind(a, c)]))
    np.testing.assert_allclose(together, apart, atol=1e-5)


@given(phasors, phasors, phasors)
def test_binding_keeps_similarity(a: Vector, b: Vector, c: Vector) -> None:
    bound = algebra.similarity(algebra.bind(a, c), algebra.bind(b, c))
    assert bound == pytest.approx(float(algebra.similarity(a, b)), abs=1e-5)


@given(phases, phases)
def test_phases_and_numbers_are_two_forms_of_one_algebra(a: Phases, b: Phases) -> None:
    bound = algebra.bind(algebra.phasor(a), algebra.phasor(b))
    np.testing.assert_allclose(bound, algebra.phasor(algebra.bind_phases(a, b)), atol=1e-5)


def test_what_is_bound_is_like_neither() -> None:
    a, b = random_phasors(2, 4096)
    bound = algebra.bind(a, b)
    assert abs(algebra.similarity(bound, a)) < 0.06
    assert abs(algebra.similarity(bound, b)) < 0.06


# ------------------------------------------------------------------ superposition
@given(phasors)
def test_everything_is_like_itself(a: Vector) -> None:
    assert algebra.similarity(a, a) == pytest.approx(1, abs=1e-5)
    assert algebra.similarity(a, -a) == pytest.approx(-1, abs=1e-5)


@pytest.mark.parametrize("dimension", [256, 1024, 4096])
def test_unrelated_phasors_are_nearly_orthogonal(dimension: int) -> None:
    rows = random_phasors(400, dimension)
    similarities = algebra.similarity(rows[1:], rows[0])
    assert abs(similarities.mean()) < 3 / np.sqrt(2 * dimension * 399)
    assert similarities.std() == pytest.approx(1 / np.sqrt(2 * dimension), rel=0.15)


@pytest.mark.parametrize("count", [1, 4, 16, 64])
def test_a_superposition_is_as_like_each_of_n_as_one_over_the_root_of_n(count: int) -> None:
    rows = random_phasors(count, 8192)
    similarities = algebra.similarity(rows, algebra.superpose(rows))
    np.testing.assert_allclose(similarities, 1 / np.sqrt(count), atol=4 / np.sqrt(2 * 8192))


def test_weights_say_how_like_a_superposition_is() -> None:
    rows = random_phasors(2, 8192)
    heavy, light = algebra.similarity(rows, algebra.superpose(rows, np.array([3.0, 1.0])))
    assert heavy / light == pytest.approx(3, rel=0.15)


def test_clean_up_finds_what_was_superposed_with_noise() -> None:
    rows = random_phasors(200, 1024)
    noisy = algebra.superpose(np.stack([rows[17], *random_phasors(8, 1024, seed=1)]))
    best, similarity = algebra.clean_up(noisy, rows)
    assert best == 17
    assert similarity == pytest.approx(1 / 3, abs=0.1)


def test_a_value_comes_back_from_a_record_of_roles_and_fillers() -> None:
    roles, fillers = random_phasors(5, 1024), random_phasors(50, 1024, seed=1)
    record = algebra.superpose(algebra.bind(roles, fillers[:5]))
    assert [algebra.clean_up(algebra.unbind(record, role), fillers)[0] for role in roles] == [0, 1, 2, 3, 4]


def test_nothing_superposed_is_zero_and_like_nothing() -> None:
    nothing = algebra.superpose(np.empty((0, 8), dtype=np.complex64))
    np.testing.assert_array_equal(nothing, np.zeros(8))
    assert algebra.similarity(nothing, np.ones(8, dtype=np.complex64)) == 0


# ------------------------------------------------------------------ forms
def test_numbers_keep_their_type() -> None:
    a = random_phasors(1, 8)[0]
    assert a.dtype == np.complex64
    for result in (algebra.bind(a, a), algebra.unbind(a, a)):
        assert result.dtype == np.complex64
    assert algebra.superpose(a[None], np.array([2.0])).dtype == np.complex64


def test_whole_numbers_are_the_phasors_times_31() -> None:
    exact = 31 * np.exp(2j * np.pi * np.arange(256) / 256)
    np.testing.assert_allclose(WHOLE_NUMBERS, np.stack([exact.real, exact.imag], axis=1), atol=0.51)


# ------------------------------------------------------------------ item memory
def test_texts_that_share_a_beginning_have_unrelated_phasors() -> None:
    words = Phasors("word", 1024)
    pairs = [("title:foo", "title:bar"), ("proj", "project"), ("", "\0"), ("a", "A")]
    for one, other in pairs:
        a, b = algebra.phasor(words.phases(one)), algebra.phasor(words.phases(other))
        assert abs(algebra.similarity(a, b)) < 0.1


def test_a_text_has_another_phasor_in_another_role() -> None:
    key, value = Phasors("key", 1024).phases("blue"), Phasors("value", 1024).phases("blue")
    assert abs(algebra.similarity(algebra.phasor(key), algebra.phasor(value))) < 0.1


def test_a_short_phasor_begins_a_long_one() -> None:
    np.testing.assert_array_equal(Phasors("w", 64).phases("x"), Phasors("w", 128).phases("x")[:64])


def test_the_cache_is_bounded_and_changes_nothing() -> None:
    items = Phasors("many", 4)
    first = items.phases("0").copy()
    for number in range(9000):
        items.phases(str(number))
    assert len(items._cache) <= 8192
    np.testing.assert_array_equal(items.phases("0"), first)


def test_any_string_has_a_phasor() -> None:
    assert ITEMS.phases("\ud800 東京 🦊").shape == (DIMENSION,)


def test_phasors_and_answers_are_the_same_in_every_process() -> None:
    script = (
        "from shelfd.memory.facts import Broadcast\n"
        "from shelfd.memory.facts.algebra import Phasors\n"
        "m = Broadcast()\n"
        "for i, word in enumerate('amber basket cedar dragon'.split()):\n"
        "    m.put('n', f'r{i}', f'key {i} of {word}', word)\n"
        "print(Phasors('word', 8).phases('amber').tolist(), m.recall('which key of cedr'), m.echo('r1'))\n"
    )

    def printed(seed: str) -> str:
        run = [sys.executable, "-c", script]
        return subprocess.run(run, capture_output=True, text=True, check=True, env={"PYTHONHASHSEED": seed}).stdout

    assert "row='r2'" in printed("0")
    assert printed("0") == printed("1")
    assert Phasors("word", 8).phases("amber").tolist() == [210, 93, 176, 1, 190, 89, 223, 33]
