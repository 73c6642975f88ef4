"""The published formula of note search, figure by figure, and what note vectors mean."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.recall.plain_search import Held, note
from shelfd.memory.recall.note_score import boost_of, note_vector, raw_score, raw_scores, shares_of

GUIDE = note("Deploy guide", "Push to main.", tags=("ops",), scope="shared", subject="shared:project")
NOTES = {
    "shop": note("Shopping list", "milk, eggs and bread for the weekend", tags=("groceries",)),
    "deploy": note("Deploy guide", "push to main, then vercel builds and deploys the site", tags=("ops",)),
    "trip": note("Trip to Kyoto", "book the ryokan before the cherry blossom weekend", tags=("travel", "japan")),
}


# ----------------------------------------------------------------- the formula
@pytest.mark.parametrize(
    ("query", "score"),
    [("deploy GUIDE", 1.75), ("eploy", 0.75), ("ops shared", 1.0), (" main. ", 1.75), ("ｐush", 1.75),
     ("shared:project", 1.75), ("guide\npush", 1.75), ("main.\nmemory", 1.75), ("guide deploy", 1.0),
     ("push rome", 0.5), ("ain", 0.75), ("scope:sha", 1.25)],
)  # fmt: skip
def test_a_query_is_looked_for_in_every_published_field(query: str, score: float) -> None:
    assert Held({"guide": GUIDE}).scores(query)["guide"].text == score


@pytest.mark.parametrize(
    ("stability", "scope", "confidence", "added"),
    [("durable", "user", 1.0, 0.13), ("temporary", "shared", 0.0, 0.0), ("durable", "project", 0.5, 0.075)],
)
def test_boosts(stability: str, scope: str, confidence: float, added: float) -> None:
    assert boost_of(stability, scope, confidence) == pytest.approx(added)


def test_the_formula() -> None:
    given = [(1.0, 1.75, 0.13), (0.5, 0.75, 0.0), (0.0, 1.5, 0.0), (0.0, 1.75, 0.0)]
    wanted = [1.03, 0.42 * 0.5 + 0.48 * 0.5, 0.48, 0.48]
    vector, text, added = (np.array(column) for column in zip(*given, strict=True))
    assert raw_scores(vector, text, added) == pytest.approx(wanted)
    assert [raw_score(*each) for each in given] == pytest.approx(wanted)


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


# ------------------------------------------------------------------- the basis
def test_a_basis_is_words_in_their_roles() -> None:
    said = "book the ryokan before the cherry blossom weekend"
    assert note_vector("Trip to Kyoto", said, ["travel", "japan"]).basis == (
        "title:trip", "title:kyoto", "content:book", "content:ryokan", "content:before", "content:cherry",
        "content:blossom", "content:weekend", "tag:travel", "tag:japan",
    )  # fmt: skip


@settings(max_examples=50)
@given(st.text(max_size=300), st.text(max_size=2000), st.lists(st.text(max_size=30), max_size=9))
def test_a_basis_has_at_most_twenty_tokens_each_once(title: str, content: str, tags: list[str]) -> None:
    vector = note_vector(title, content, tags)
    assert len(vector.basis) <= 20
    assert len(set(vector.basis)) == len(vector.basis)
    assert 0 <= vector.seed < 2**32
    assert note_vector(title, content, tags) == vector


def test_what_a_long_note_says_often_is_in_its_basis() -> None:
    content = " ".join(f"word{number}" for number in range(100)) + " zebra zebra"
    basis = note_vector(
        "A title of many words that goes on and on without an end", content, "a b c d e f g".split()
    ).basis
    assert "content:zebra" in basis
    assert len(basis) == 20
    assert sum(token.startswith("tag:") for token in basis) == 4


def test_equal_notes_have_equal_seeds_and_others_do_not() -> None:
    vectors = [note_vector(each.title, each.content, each.tags) for each in NOTES.values()]
    assert len({vector.seed for vector in vectors}) == len(vectors)
    assert note_vector("Shopping list", "milk, eggs and bread for the weekend", ["groceries"]) == vectors[0]


# ----------------------------------------------------------------- the vectors
def test_a_query_is_like_the_note_it_is_about_and_unlike_others() -> None:
    cosines = Held(NOTES).cosines("how do I deploy the site")
    assert set(cosines) == {"deploy"}
    assert cosines["deploy"] > 0.2


def test_a_word_counts_most_in_the_title() -> None:
    notes = {"title": note("budget plan", "some other words"), "content": note("other words", "some budget plan")}
    cosines = Held(notes).cosines("budget")
    assert cosines["title"] > cosines["content"] > 0


def test_rare_words_weigh_more_than_common_ones() -> None:
    titles = {f"n{number}": f"meeting {number}" for number in range(50)}
    titles |= {"rare": "meeting zebra", "other": "meeting walrus"}
    cosines = Held({name: note(title, "weekly sync") for name, title in titles.items()}).cosines(
        "meeting about the zebra"
    )
    assert cosines["rare"] > 2 * cosines["other"] > 0


def test_misspelt_words_are_understood() -> None:
    assert "trip" in Held(NOTES).cosines("kyotto")


def test_another_form_of_a_word_is_like_it_but_not_as_much() -> None:
    cosines = Held({"one": note("", "the ferry sails"), "other": note("", "the ferry sailing")}).cosines("sailing")
    assert cosines["other"] > cosines["one"] > 0


def test_words_that_no_note_has_make_the_query_less_like_any() -> None:
    held = Held(NOTES)
    assert 0 < held.cosines("deploy xylophone quartet")["deploy"] < held.cosines("deploy")["deploy"]


def test_nothing_in_common_scores_nothing() -> None:
    held = Held(NOTES)
    assert held.scores("quantum chromodynamics") == {}
    assert held.scores("") == held.scores(" ? ") == {}


def test_a_note_asked_for_in_its_own_words_is_very_like() -> None:
    query = "trip to kyoto: book ryokan before cherry blossom weekend, travel japan"
    assert Held(NOTES).cosines(query)["trip"] > 0.8
