"""The published formula of note search, figure by figure."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shelfd.memory.fhrr.note_score import boost, raw_score, searched_text, softmax, text_score, vector_score

TEXT = searched_text(
    title="Deploy guide",
    content="Push to main.",
    tags=["ops", "scope:shared"],
    subject="shared:project",
    scope="shared",
    type_="note",
)


@pytest.mark.parametrize(
    ("query", "score"),
    [
        ("deploy guide", 1.75),
        ("DEPLOY", 1.75),
        ("guide deploy", 1.0),
        ("deploy zebra", 0.5),
        ("eploy", 0.75),
        ("zebra", 0.0),
        ("", 0.0),
        ("ops scope:shared", 1.75),
    ],
)
def test_text_scores(query: str, score: float) -> None:
    assert text_score(query, TEXT) == pytest.approx(score)


def test_cosines_become_scores_between_nothing_and_one() -> None:
    assert [vector_score(cosine) for cosine in (-1.0, 0.0, 1.0)] == [0.0, 0.5, 1.0]


@pytest.mark.parametrize(
    ("stability", "scope", "confidence", "added"),
    [("durable", "user", 1.0, 0.13), ("temporary", "shared", 0.0, 0.0), ("durable", "project", 0.5, 0.075)],
)
def test_boosts(stability: str, scope: str, confidence: float, added: float) -> None:
    assert boost(stability=stability, scope=scope, confidence=confidence) == pytest.approx(added)


def test_the_formula() -> None:
    assert raw_score(1.0, 1.75, 0.13) == pytest.approx(1.03)
    assert raw_score(0.5, 0.75, 0.0) == pytest.approx(0.42 * 0.5 + 0.48 * 0.5)
    assert raw_score(0.0, 1.5, 0.0) == raw_score(0.0, 1.75, 0.0) == pytest.approx(0.48)


@given(st.lists(st.floats(0, 1.03), min_size=1, max_size=50))
def test_shares_add_up_and_keep_the_order(scores: list[float]) -> None:
    shares = softmax(scores)
    assert sum(shares) == pytest.approx(1)
    by_score = sorted(range(len(scores)), key=lambda at: scores[at])
    assert [shares[at] for at in by_score] == sorted(shares)


def test_the_temperature_of_the_published_formula_is_035() -> None:
    one, other = softmax([1.0, 0.65])
    assert one / other == pytest.approx(2.718281828, rel=1e-6)


def test_no_scores_have_no_shares_and_cold_is_refused() -> None:
    assert softmax([]) == []
    with pytest.raises(ValueError, match="positive"):
        softmax([1.0], temperature=0)
