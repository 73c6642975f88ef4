"""Note vectors mean something: notes about one thing are alike, others are not."""

import random
from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shelfd.memory.facts import NoteVector, NoteVectors, note_vector

NOTES = {
    "shop": note_vector("Shopping list", "milk, eggs and bread for the weekend", ["groceries"]),
    "deploy": note_vector("Deploy guide", "push to main, then vercel builds and deploys the site", ["ops"]),
    "trip": note_vector("Trip to Kyoto", "book the ryokan before the cherry blossom weekend", ["travel", "japan"]),
    "empty": note_vector("", "", []),
}


class Held:
    """Vectors by the ids of their notes."""

    def __init__(self, notes: Mapping[str, NoteVector] = NOTES) -> None:
        self.vectors = NoteVectors()
        self.rows = {note_id: self.vectors.add(vector) for note_id, vector in notes.items()}

    def score(self, query: str) -> dict[str, float]:
        """The cosines of the notes that have a word in common with *query*."""
        rows = np.array(list(self.rows.values()), dtype=np.int64)
        found = self.vectors.cosines(self.vectors.asked(query), rows)
        return {note_id: float(cosine) for note_id, cosine in zip(self.rows, found, strict=True) if cosine}

    def put(self, note_id: str, vector: NoteVector) -> None:
        self.remove(note_id)
        self.rows[note_id] = self.vectors.add(vector)

    def remove(self, note_id: str) -> bool:
        row = self.rows.pop(note_id, None)
        if row is not None:
            self.vectors.clear(row)
        return row is not None


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
    score = Held().score("how do I deploy the site")
    assert set(score) == {"deploy"}
    assert score["deploy"] > 0.2


def test_two_unrelated_notes_of_one_shape_are_told_apart() -> None:
    score = Held(
        {"a": note_vector("red apple pie", "bake slowly", []), "b": note_vector("tax form due", "file online", [])}
    ).score("apple pie")
    assert score.keys() == {"a"}
    assert score["a"] > 0.3


def test_a_word_counts_most_in_the_title() -> None:
    title, content = ("budget plan", "some other words"), ("other words", "some budget plan")
    score = Held({"title": note_vector(*title, []), "content": note_vector(*content, [])}).score("budget")
    assert score["title"] > score["content"] > 0


def test_rare_words_weigh_more_than_common_ones() -> None:
    titles = {f"n{number}": f"meeting {number}" for number in range(50)}
    titles |= {"rare": "meeting zebra", "other": "meeting walrus"}
    notes = {note_id: note_vector(title, "weekly sync", []) for note_id, title in titles.items()}
    score = Held(notes).score("meeting about the zebra")
    assert score["rare"] > 2 * score["other"] > 0


def test_misspelt_words_are_understood() -> None:
    assert "trip" in Held().score("kyotto")


def test_words_that_no_note_has_make_the_query_less_like_any() -> None:
    held = Held()
    assert 0 < held.score("deploy xylophone quartet")["deploy"] < held.score("deploy")["deploy"]


def test_nothing_in_common_scores_nothing() -> None:
    held = Held()
    assert held.score("quantum chromodynamics") == {}
    assert held.score("") == {}


def test_a_note_asked_for_in_its_own_words_is_very_like() -> None:
    assert Held().score("trip to kyoto: book ryokan before cherry blossom weekend, travel japan")["trip"] > 0.8


# ------------------------------------------------------------------ changes
def test_a_changed_note_is_found_by_its_new_words_only() -> None:
    held = Held()
    held.put("shop", note_vector("Hardware", "screws", []))
    assert "shop" not in held.score("milk")
    assert "shop" in held.score("screws")
    assert held.vectors.basis(held.rows["shop"]) == ("title:hardware", "content:screws")


def test_a_removed_note_is_gone() -> None:
    held = Held()
    row = held.rows["shop"]
    held.remove("shop")
    assert held.vectors.basis(row) == ()
    assert held.score("milk") == {}
    assert held.score("kyoto").keys() == {"trip"}


def test_random_changes_score_as_a_new_memory_of_what_is_left_would() -> None:
    drawn = random.Random(1)
    words = [f"word{letter}" for letter in "abcdefghijklmnop"]
    held, model = Held({}), dict[str, NoteVector]()
    for step in range(400):
        note_id = f"n{drawn.randrange(150)}"
        if drawn.random() < 0.3:
            assert held.remove(note_id) == (model.pop(note_id, None) is not None)
        else:
            text = " ".join(drawn.sample(words, 4)) + f" {step}"
            model[note_id] = note_vector(text, text, [])
            held.put(note_id, model[note_id])
        if step == 300:
            kept = np.array(sorted(held.rows.values()), dtype=np.int64)
            held.vectors.keep(kept)
            held.rows = {note_id: int(np.searchsorted(kept, row)) for note_id, row in held.rows.items()}
    assert held.score("worda wordb wordc") == pytest.approx(Held(model).score("worda wordb wordc"), abs=1e-5)
    for note_id in list(model):
        held.remove(note_id)
    assert len(held.vectors._tokens) == len(held.vectors._lexicon) == 0
