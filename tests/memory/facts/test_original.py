"""The codec "original" gives what the original gave."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from memory.facts.original import ORIGINAL_OPTIONS, Decoding, OriginalFacts
from memory.facts.original.keys import content_tokens, fuzzy_ratio, memory_kind, token_overlap
from memory.facts.original.vectors import (
    corvacs,
    mulberry32,
    mulberry32_block,
    orthogonalise,
    orthogonalise_jacobi,
    role_keys,
    seed_from_name,
    sharpen,
    softmax,
    unit_rows,
    vocabulary_keys,
)
from shelfd.memory.facts import Options, algebra

GOLDEN: dict[str, Any] = json.loads(
    (Path(__file__).parent / "data" / "nuggets_golden.json").read_text(encoding="utf-8")
)
SHAPES = {
    "D512_b2_e1": Options(dimension=512, banks=2),
    "D1024_b4_e1": Options(dimension=1024, banks=4),
    "D1024_b4_e2": Options(dimension=1024, banks=4, ensembles=2),
}
#: Every entry of the file has a test below; the last test holds this to be so.
CHECKED = {"about", "facts", "kinds", "overlap", "seqRatio", "softmax_T09", "corvacs_a09", "sharpen_p2", "unbind"}
CHECKED |= {"bind01", "v2_bind01", "v1_orth", "v2_orth", "roleKeys_D8_L3", "vocabKeys_seed7_V3_D8", "seedFromName"}
CHECKED |= {"mulberry32"} | {f"{what}_{shape}" for what in ("recall", "status") for shape in SHAPES}


def vector(entry: Mapping[str, list[float]]) -> npt.NDArray[np.complex128]:
    return np.array(entry["re"]) + 1j * np.array(entry["im"])


def golden_rows(name: str) -> npt.NDArray[np.complex128]:
    return np.array([vector(entry) for entry in GOLDEN[name]])


def keys(count: int, dimension: int, seed: int = 7) -> npt.NDArray[np.complex128]:
    return vocabulary_keys(mulberry32_block(seed, count * dimension), count, dimension)


def facts(options: Options, name: str = "golden") -> OriginalFacts:
    held = OriginalFacts(name, options)
    for number, (key, value) in enumerate(GOLDEN["facts"]):
        held.put(f"fact-{number}", key, value)
    return held


def test_nothing_in_the_golden_file_goes_unchecked() -> None:
    assert set(GOLDEN) == CHECKED


# ------------------------------------------------------------------ numbers and keys
@pytest.mark.parametrize("seed", GOLDEN["mulberry32"])
def test_the_generator_draws_what_the_original_draws(seed: str) -> None:
    draw = mulberry32(int(seed))
    assert [draw() for _ in range(5)] == GOLDEN["mulberry32"][seed]
    assert mulberry32_block(int(seed), 5).tolist() == GOLDEN["mulberry32"][seed]


def test_the_generator_repeats_itself_from_the_same_seed() -> None:
    first, again = mulberry32(42), mulberry32(42)
    assert [first() for _ in range(100)] == [again() for _ in range(100)]


def test_the_generator_stays_in_the_unit_interval() -> None:
    drawn = mulberry32_block(1, 1000)
    assert drawn.min() >= 0
    assert drawn.max() < 1


def test_drawn_at_once_or_one_by_one_is_the_same() -> None:
    draw = mulberry32(99)
    assert [draw() for _ in range(1000)] == mulberry32_block(99, 1000).tolist()


@pytest.mark.parametrize("name", GOLDEN["seedFromName"])
def test_a_name_gives_the_seed_of_the_original(name: str) -> None:
    assert seed_from_name(name) == GOLDEN["seedFromName"][name]


def test_seeds_are_stable_and_differ() -> None:
    assert seed_from_name("test") == seed_from_name("test")
    assert seed_from_name("a") != seed_from_name("b")


def test_vocabulary_keys_are_those_of_the_original() -> None:
    np.testing.assert_allclose(keys(3, 8), golden_rows("vocabKeys_seed7_V3_D8"), atol=1e-14)


def test_vocabulary_keys_have_unit_modulus() -> None:
    np.testing.assert_allclose(np.abs(keys(5, 64)), 1)


def test_role_keys_are_those_of_the_original() -> None:
    np.testing.assert_allclose(role_keys(8, 3), golden_rows("roleKeys_D8_L3"), atol=1e-14)


def test_role_key_zero_is_all_ones_and_there_are_as_many_as_asked() -> None:
    roles = role_keys(64, 10)
    assert roles.shape == (10, 64)
    np.testing.assert_array_equal(roles[0], np.ones(64))


# ------------------------------------------------------------------ algebra
def test_binding_is_that_of_the_original() -> None:
    first, second, _ = keys(3, 8)
    np.testing.assert_allclose(algebra.bind(first, second), vector(GOLDEN["bind01"]), atol=1e-14)
    np.testing.assert_allclose(algebra.bind(first, second), vector(GOLDEN["v2_bind01"]), atol=1e-14)
    np.testing.assert_allclose(algebra.unbind(algebra.bind(first, second), first), vector(GOLDEN["unbind"]), atol=1e-14)


def test_unbinding_gives_back_what_was_bound() -> None:
    first, second = keys(2, 128)
    assert algebra.similarity(algebra.unbind(algebra.bind(first, second), first), second) > 0.99


def test_orthogonalising_is_that_of_the_original_and_of_the_fork() -> None:
    np.testing.assert_allclose(orthogonalise(keys(3, 8), 1, 0.4), golden_rows("v1_orth"), atol=1e-9)
    np.testing.assert_allclose(orthogonalise_jacobi(keys(3, 8), 1, 0.4), golden_rows("v2_orth"), atol=1e-9)


@pytest.mark.parametrize("function", [orthogonalise, orthogonalise_jacobi])
def test_orthogonalising_keeps_count_and_modulus_and_makes_keys_less_alike(function: Any) -> None:
    before = keys(5, 64)
    after = function(before, 1, 0.4)
    assert after.shape == before.shape
    np.testing.assert_allclose(np.abs(after), 1, atol=1e-12)

    def likeness(rows: npt.NDArray[np.complex128]) -> float:
        cosines = unit_rows(rows) @ unit_rows(rows).T
        return float(np.abs(cosines - np.eye(len(rows))).sum())

    assert likeness(after) < likeness(before)


@pytest.mark.parametrize("function", [orthogonalise, orthogonalise_jacobi])
def test_no_iterations_change_nothing(function: Any) -> None:
    before = keys(3, 8)
    assert function(before, 0) is before


def test_sharpening_by_one_and_squashing_by_nothing_change_nothing() -> None:
    before = keys(1, 8)[0]
    assert sharpen(before, 1) is before
    assert corvacs(before, 0) is before


SHAPED = np.array([0.1 + 0j, 1 + 0.5j, -0.5 + 0.25j])


def test_sharpening_is_that_of_the_original() -> None:
    np.testing.assert_allclose(sharpen(SHAPED, 2), vector(GOLDEN["sharpen_p2"]), atol=1e-12)
    sharp = np.abs(sharpen(np.array([1.0 + 0j, 0.1 + 0j]), 2))
    assert sharp[0] / sharp[1] > 10


def test_squashing_is_that_of_the_original() -> None:
    np.testing.assert_allclose(corvacs(SHAPED, 0.9), vector(GOLDEN["corvacs_a09"]), atol=1e-9)


def test_softmax_is_that_of_the_original() -> None:
    np.testing.assert_allclose(softmax(np.array([1.0, 2.0, 3.0]), 0.9), GOLDEN["softmax_T09"], atol=1e-12)


def test_probabilities_are_positive_and_add_up_and_heat_flattens_them() -> None:
    scores = np.array([1.0, 2.0, 3.0])
    cold, hot = softmax(scores, 0.5), softmax(scores, 5.0)
    assert cold.sum() == pytest.approx(1)
    assert cold.min() > 0
    assert np.ptp(hot) < np.ptp(cold)


def test_unit_rows_are_twice_as_long_and_of_length_one() -> None:
    rows = unit_rows(keys(3, 8) * 5)
    assert rows.shape == (3, 16)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1)


# ------------------------------------------------------------------ strings
@pytest.mark.parametrize(("a", "b", "ratio"), GOLDEN["seqRatio"])
def test_strings_are_as_alike_as_the_original_says(a: str, b: str, ratio: float) -> None:
    assert fuzzy_ratio(a, b) == pytest.approx(ratio)


@pytest.mark.parametrize(("query", "key", "asked", "held", "overlap"), GOLDEN["overlap"])
def test_tokens_overlap_as_the_original_says(
    query: str, key: str, asked: list[str], held: list[str], overlap: float
) -> None:
    assert content_tokens(query) == asked
    assert content_tokens(key) == held
    assert token_overlap(query, key) == overlap


@pytest.mark.parametrize(("key", "value", "kind"), GOLDEN["kinds"])
def test_kinds_are_those_of_the_original(key: str, value: str, kind: str) -> None:
    assert memory_kind(key, value) == kind


# ------------------------------------------------------------------ a whole nugget
@pytest.mark.parametrize("shape", SHAPES)
def test_recall_is_that_of_the_original(shape: str) -> None:
    held = facts(SHAPES[shape])
    for wanted in GOLDEN[f"recall_{shape}"]:
        answer = held.recall(wanted["q"])
        if not wanted["found"]:
            assert answer is None
            continue
        assert answer is not None
        assert (answer.value, answer.key) == (wanted["answer"], wanted["key"])
        assert answer.confidence == pytest.approx(wanted["confidence"], abs=1e-9)
        assert answer.margin == pytest.approx(wanted["margin"], abs=1e-9)


@pytest.mark.parametrize("shape", SHAPES)
def test_status_is_that_of_the_original(shape: str) -> None:
    status, wanted = facts(SHAPES[shape]).status(), GOLDEN[f"status_{shape}"]
    for field in ("fact_count", "dimension", "banks", "ensembles", "max_facts", "capacity_used_pct"):
        assert getattr(status, field) == wanted[field]
    assert status.capacity_warning == wanted["capacity_warning"]


def test_the_original_speaks_of_512_facts() -> None:
    assert OriginalFacts("n", ORIGINAL_OPTIONS).status().capacity == 512


def test_a_fact_put_again_keeps_its_place_and_a_removed_one_is_gone() -> None:
    held = facts(SHAPES["D1024_b4_e1"])
    held.put("fact-0", "NAME", "Bob")
    answer = held.recall("name")
    assert answer is not None
    assert answer.value == "Bob"
    assert held.remove("fact-0")
    assert not held.remove("fact-0")
    gone = held.recall("pet")
    assert gone is not None
    assert gone.value == "cat"
    assert held.status().fact_count == 6


def test_two_rows_cannot_have_one_key() -> None:
    with pytest.raises(ValueError, match="another fact"):
        facts(SHAPES["D512_b2_e1"]).put("other", "PET", "dog")


def test_blank_facts_are_ignored_and_the_oldest_fall_out() -> None:
    held = OriginalFacts("n", Options(dimension=64, banks=1, max_facts=3))
    held.put("blank", "  ", "x")
    held.put("blank", "x", "")
    for number in range(5):
        held.put(str(number), f"key{number}x", f"value{number}")
    assert held.status().fact_count == 3
    assert not held.remove("0")


def test_decoding_options_take_part() -> None:
    plain = facts(SHAPES["D512_b2_e1"]).recall("pet")
    shaped = OriginalFacts("golden", SHAPES["D512_b2_e1"], Decoding(sharpen_power=2, corvacs_strength=0.9))
    for number, (key, value) in enumerate(GOLDEN["facts"]):
        shaped.put(str(number), key, value)
    other = shaped.recall("pet")
    assert plain is not None
    assert other is not None
    assert (other.value, plain.value) == ("cat", "cat")
    assert other.confidence != plain.confidence


def test_an_empty_memory_answers_nothing() -> None:
    assert OriginalFacts("empty", SHAPES["D512_b2_e1"]).recall("name") is None
