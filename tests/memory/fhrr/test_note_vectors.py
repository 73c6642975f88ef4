"""Note vectors mean something: notes about one thing are alike, others are not."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shelfd.memory.fhrr import NoteVectors, note_vector

NOTES = {
    "shop": note_vector("Shopping list", "milk, eggs and bread for the weekend", ["groceries"]),
    "deploy": note_vector("Deploy guide", "push to main, then vercel builds and deploys the site", ["ops"]),
    "trip": note_vector("Trip to Kyoto", "book the ryokan before the cherry blossom weekend", ["travel", "japan"]),
    "empty": note_vector("", "", []),
}


def vectors() -> NoteVectors:
    held = NoteVectors()
    for note_id, vector in NOTES.items():
        held.add(note_id, vector)
    return held


# ------------------------------------------------------------------ the basis
def test_a_basis_is_words_in_their_roles() -> None:
    assert NOTES["trip"].basis == (
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
    assert len({vector.seed for vector in NOTES.values()}) == len(NOTES)
    assert (
        note_vector("Shopping list", "milk, eggs and bread for the weekend", ["groceries"]).seed == NOTES["shop"].seed
    )


# ------------------------------------------------------------------ scores
def test_a_query_is_like_the_note_it_is_about_and_unlike_others() -> None:
    score = vectors().score("how do I deploy the site")
    assert set(score) == {"deploy"}
    assert score["deploy"] > 0.2


def test_two_unrelated_notes_of_one_shape_are_told_apart() -> None:
    held = NoteVectors()
    held.add("a", note_vector("red apple pie", "bake slowly", []))
    held.add("b", note_vector("tax form due", "file online", []))
    score = held.score("apple pie", ["a", "b"])
    assert score["a"] > 0.3
    assert score["b"] == 0


def test_a_word_counts_most_in_the_title() -> None:
    held = NoteVectors()
    held.add("title", note_vector("budget plan", "some other words", []))
    held.add("content", note_vector("other words", "some budget plan", []))
    score = held.score("budget")
    assert score["title"] > score["content"] > 0


def test_rare_words_weigh_more_than_common_ones() -> None:
    held = NoteVectors()
    for number in range(50):
        held.add(f"n{number}", note_vector(f"meeting {number}", "weekly sync", []))
    held.add("rare", note_vector("meeting zebra", "weekly sync", []))
    held.add("other", note_vector("meeting walrus", "weekly sync", []))
    score = held.score("meeting about the zebra")
    assert score["rare"] > 2 * score["other"] > 0


def test_misspelt_words_are_understood() -> None:
    assert "trip" in vectors().score("kyotto")


def test_words_that_no_note_has_make_the_query_less_like_any() -> None:
    held = vectors()
    assert 0 < held.score("deploy xylophone quartet")["deploy"] < held.score("deploy")["deploy"]


def test_nothing_in_common_scores_nothing() -> None:
    held = vectors()
    assert held.score("quantum chromodynamics") == {}
    assert held.score("quantum chromodynamics", ["shop"]) == {"shop": 0.0}
    assert held.cosines("").tolist() == [0.0] * 4


def test_scores_of_some_notes_are_those_of_all() -> None:
    held = vectors()
    everything = dict(zip(held.ids, held.cosines("weekend in kyoto").tolist(), strict=True))
    assert held.score("weekend in kyoto", ["trip", "shop", "empty"]) == pytest.approx(
        {note_id: everything[note_id] for note_id in ("trip", "shop", "empty")}
    )


def test_a_note_asked_for_in_its_own_words_is_very_like() -> None:
    assert vectors().score("trip to kyoto: book ryokan before cherry blossom weekend, travel japan")["trip"] > 0.8


# ------------------------------------------------------------------ changes
def test_a_changed_note_is_found_by_its_new_words_only() -> None:
    held = vectors()
    held.add("shop", note_vector("Hardware", "screws", []))
    assert "shop" not in held.score("milk")
    assert "shop" in held.score("screws")
    assert held.basis("shop") == ("title:hardware", "content:screws")
    assert len(held) == 4


def test_a_removed_note_is_gone() -> None:
    held = vectors()
    assert held.remove("shop")
    assert not held.remove("shop")
    assert "shop" not in held
    assert held.score("milk") == {}
    assert held.score("kyoto").keys() == {"trip"}
    with pytest.raises(KeyError):
        held.basis("shop")


def test_random_changes_score_as_a_new_memory_of_what_is_left_would() -> None:
    drawn = random.Random(1)
    words = [f"word{letter}" for letter in "abcdefghijklmnop"]
    held, model = NoteVectors(), dict[str, str]()
    for step in range(400):
        note_id = f"n{drawn.randrange(150)}"
        if drawn.random() < 0.3:
            assert held.remove(note_id) == (model.pop(note_id, None) is not None)
        else:
            text = " ".join(drawn.sample(words, 4)) + f" {step}"
            held.add(note_id, note_vector(text, text, []))
            model[note_id] = text
    fresh = NoteVectors()
    for note_id, text in model.items():
        fresh.add(note_id, note_vector(text, text, []))
    assert held.score("worda wordb wordc") == pytest.approx(fresh.score("worda wordb wordc"), abs=1e-5)
    for note_id in list(model):
        held.remove(note_id)
    assert len(held) == len(held._tokens) == len(held._lexicon) == 0


def test_many_notes_are_scored_at_once() -> None:
    held = NoteVectors()
    for number in range(3000):
        held.add(f"n{number}", note_vector(f"topic{number % 50} note", f"about thing{number}", []))
    cosines = held.cosines("topic7 thing7")
    assert np.argmax(cosines) == held.ids.index("n7")
    assert (cosines > 0).sum() == 60
