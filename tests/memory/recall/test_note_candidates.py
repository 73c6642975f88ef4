"""Notes found by postings and scored from their texts get the scores that the formula gives them one by one."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.recall.plain_search import Held, PlainSearch, note
from shelfd.memory.notes.filter import RECALLABLE
from shelfd.memory.notes.note import Note

WORDS = st.sampled_from(
    "deploy deployment redeploy guide guides vercel shared note user Überweg straße 東京 東京の天気 天気 a ops May "
    "2026 🎉 getUserName 1 ada".split()
)
SPACES = st.sampled_from([" ", "  ", "-", ", ", "\n", ""])
TEXTS = st.lists(st.tuples(WORDS, SPACES), max_size=7).map(lambda parts: "".join(map("".join, parts)))
QUERIES = TEXTS | st.sampled_from(
    ["eploy", "deploy guid", "loy guide ver", "?", "", "scope:user", "deploy?", "deplyo", "type:n", "京", "🎉", "imary"]
)
NOTES = st.builds(
    lambda title, content, tags, scope, stability, confidence, author: note(
        title, content, tags=tags, scope=scope, stability=stability, confidence=confidence, author=author,
        created_at=1_770_000_000_000_000,
    ),
    TEXTS, TEXTS, st.lists(WORDS, max_size=3).map(tuple), st.sampled_from(["user", "self", "shared"]),
    st.sampled_from(["durable", "temporary"]), st.floats(0, 1), st.sampled_from([None, "Ada", "Guide May"]),
)  # fmt: skip


def assert_alike(held: Held, query: str) -> None:
    found, wanted = held.scores(query), PlainSearch(list(held.notes.values()), held.index).scores(query)
    assert found.keys() == wanted.keys()
    for note_id, (raw, vector, text, _) in wanted.items():
        assert found[note_id] == pytest.approx((raw, vector, text), abs=1e-6)


@settings(max_examples=200, deadline=None)
@given(st.lists(NOTES, max_size=8), QUERIES)
def test_postings_and_texts_say_what_the_formula_says(notes: list[Note], query: str) -> None:
    assert_alike(Held({f"n{number}": each for number, each in enumerate(notes)}), query)


@pytest.mark.parametrize("seed", [1, 2])
def test_changes_leave_nothing_of_what_was(seed: int) -> None:
    drawn = random.Random(seed)
    vocabulary = [f"{head}{tail}" for head in ("amber", "cedar", "ember") for tail in ("", "s", "wood", "ing")]
    held = Held({})
    for step in range(6_000):
        note_id = f"n{drawn.randrange(60)}"
        if note_id in held.notes and drawn.random() < 0.2:
            held.remove(note_id)
        else:
            text = " ".join(drawn.choices(vocabulary, k=4)) + f" once{step}"
            held.put(note_id, note("", text, confidence=drawn.random()))
    held.index.compact()
    for query in ("ambers cedar", "wood", "cedar emberwood", "mber", "once1", "zebra"):
        assert_alike(held, query)
    for note_id in list(held.notes):
        held.remove(note_id)
    assert held.scores("amber") == {}


def test_what_stands_in_the_date_or_is_the_author_s_name_is_not_said() -> None:
    held = Held({"by": note("", "tea at four", author="May Day", created_at=1_778_000_000_000_000)})
    assert held.scores("may") == held.scores("2026") == held.scores("day") == {}
    held.put("of", note("", "may it be", created_at=1_778_000_000_000_000))
    assert list(held.scores("may")) == ["of"]


@pytest.mark.parametrize("slice_", [100, 32_768])
def test_the_most_promising_come_first_and_the_others_are_estimated(
    slice_: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = Held({f"n{number}": note("", f"entry {number} of the ledger") for number in range(700)})
    held.put("title", note("ledger", "short"))
    search = held.index.notes
    while not search.follow():
        pass
    monkeypatch.setattr("shelfd.memory.recall.note_search._SLICE", slice_)
    *_, found = search.candidates(search.question("ledger"), RECALLABLE)
    assert found.ids[0] == "title"
    assert (len(found.ids), len(found.rest)) == (256, 445)
    assert found.rest.max() <= found.bounds[-1] <= found.bounds[0]


def test_filters_come_before_the_cut() -> None:
    held = Held({f"n{number}": note("", "the ledger", nugget="many") for number in range(700)})
    held.put("one", note("", "the ledger", nugget="few"))
    assert list(held.scores("ledger", RECALLABLE._replace(nugget="few"))) == ["one"]
