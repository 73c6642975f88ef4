"""The published formula of note search, figure by figure."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shelfd.memory.facts.note_score import (
    boost,
    is_in,
    raw_scores,
    searched_text,
    shares_of,
    text_scores,
    vector_scores,
)

TEXT = searched_text(
    title="Deploy guide",
    content="Push to main.",
    tags=["ops", "scope:shared"],
    subject="shared:project",
    scope="shared",
    type_="note",
)


def test_a_query_is_looked_for_in_every_published_field() -> None:
    assert TEXT == "Deploy guide\nPush to main.\nops scope:shared\nshared:project\nshared\nnote"
    for query in ("deploy GUIDE", "eploy", "ops scope", " main. ", "ｐush"):
        assert is_in(query, TEXT)
    assert not is_in("guide deploy", TEXT)


def test_text_scores_are_the_words_and_the_whole() -> None:
    scores = text_scores(np.array([1.0, 1.0, 0.5, 0.0, 0.0]), np.array([True, False, False, True, False]))
    assert scores.tolist() == [1.75, 1.0, 0.5, 0.75, 0.0]


def test_cosines_become_scores_between_nothing_and_one() -> None:
    assert vector_scores(np.array([-1.0, 0.0, 1.0])).tolist() == [0.0, 0.5, 1.0]


@pytest.mark.parametrize(
    ("stability", "scope", "confidence", "added"),
    [("durable", "user", 1.0, 0.13), ("temporary", "shared", 0.0, 0.0), ("durable", "project", 0.5, 0.075)],
)
def test_boosts(stability: str, scope: str, confidence: float, added: float) -> None:
    assert boost(stability=stability, scope=scope, confidence=confidence) == pytest.approx(added)


def test_the_formula() -> None:
    vector, text, added = (np.array(column) for column in zip(
        (1.0, 1.75, 0.13), (0.5, 0.75, 0.0), (0.0, 1.5, 0.0), (0.0, 1.75, 0.0), strict=True))  # fmt: skip
    assert raw_scores(vector, text, added) == pytest.approx([1.03, 0.42 * 0.5 + 0.48 * 0.5, 0.48, 0.48])


@given(st.lists(st.floats(0, 1.03), min_size=1, max_size=50))
def test_shares_add_up_and_keep_the_order(scores: list[float]) -> None:
    shares = shares_of(np.array(scores)).tolist()
    assert sum(shares) == pytest.approx(1)
    by_score = sorted(range(len(scores)), key=lambda at: scores[at])
    assert [shares[at] for at in by_score] == sorted(shares)


def test_the_temperature_of_the_published_formula_is_035() -> None:
    one, other = shares_of(np.array([1.0, 0.65]))
    assert one / other == pytest.approx(2.718281828, rel=1e-6)


def test_no_scores_have_no_shares_and_cold_is_refused() -> None:
    assert len(shares_of(np.zeros(0))) == 0
    with pytest.raises(ValueError, match="positive"):
        shares_of(np.ones(1), temperature=0)
