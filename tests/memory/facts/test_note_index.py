"""Notes scored all at once get the scores that the formula gives them one by one."""

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.facts.plain_search import cosines, raw_score, softmax, text_score
from shelfd.memory.facts import NoteFields, NoteIndex, is_in, shares_of

WORDS = st.sampled_from(
    "deploy deployment redeploy guide guides vercel shared note user Überweg straße 東京 東京の天気 天気 a ops".split()
)
SPACES = st.sampled_from([" ", "  ", "-", ", ", "\n", ""])
TEXTS = st.lists(st.tuples(WORDS, SPACES), max_size=7).map(lambda parts: "".join(map("".join, parts)))
QUERIES = TEXTS | st.sampled_from(["eploy", "deploy guid", "loy guide ver", "?", "", "scope:user", "deploy?", "deplyo"])


def fields(title: str = "", content: str = "", **named: Any) -> NoteFields:
    usual = NoteFields(0, title, content, (), (), "user:primary", "user", "note", "durable", 0.9, 0)
    return usual._replace(**named)


NOTES = st.builds(
    lambda title, content, tags, scope, stability, confidence: fields(
        title, content, tags=tags, labels=(f"scope:{scope}", *tags), scope=scope, stability=stability,
        confidence=confidence,
    ),
    TEXTS, TEXTS, st.lists(WORDS, max_size=3).map(tuple), st.sampled_from(["user", "self", "shared"]),
    st.sampled_from(["durable", "temporary"]), st.floats(0, 1),
)  # fmt: skip


def scores_of(index: NoteIndex, notes: dict[str, NoteFields], query: str) -> dict[str, tuple[float, float, float]]:
    """Raw score, text score and share of every candidate."""
    found = index.candidates(query)
    contained = found.contained.copy()
    for place in np.flatnonzero(found.unsure):
        contained[place] = is_in(query, notes[found.ids[int(place)]].text)
    found = found.settled(contained)
    scored = found.scored()
    columns = (scored.raw.tolist(), scored.text.tolist(), shares_of(scored.raw).tolist())
    return dict(zip(found.ids, zip(*columns, strict=True), strict=True))


def plain_scores(notes: dict[str, NoteFields], query: str) -> dict[str, tuple[float, float, float]]:
    like = cosines(query, notes)
    texts = {note_id: text_score(query, note.text) for note_id, note in notes.items()}
    kept = [note_id for note_id in notes if texts[note_id] or like[note_id]]
    raw = [raw_score(like[note_id], texts[note_id], notes[note_id]) for note_id in kept]
    columns = zip(kept, raw, softmax(raw), strict=True)
    return {note_id: (score, texts[note_id], share) for note_id, score, share in columns}


def assert_alike(index: NoteIndex, notes: dict[str, NoteFields], query: str) -> None:
    found, wanted = scores_of(index, notes, query), plain_scores(notes, query)
    assert found.keys() == wanted.keys()
    for note_id, scores in wanted.items():
        assert found[note_id] == pytest.approx(scores, abs=1e-5)


@settings(max_examples=300, deadline=None)
@given(st.lists(NOTES, max_size=8), QUERIES)
def test_all_at_once_is_as_one_by_one(given_notes: list[NoteFields], query: str) -> None:
    index = NoteIndex()
    notes = {f"n{number}": note for number, note in enumerate(given_notes)}
    for note_id, note in notes.items():
        index.put(note_id, note)
    assert_alike(index, notes, query)


@pytest.mark.parametrize("seed", [1, 2])
def test_changes_leave_nothing_of_what_was(seed: int) -> None:
    drawn = random.Random(seed)
    vocabulary = [f"{head}{tail}" for head in ("amber", "cedar", "ember") for tail in ("", "s", "wood", "ing")]
    index, notes = NoteIndex(), dict[str, NoteFields]()
    for _ in range(6_000):
        note_id = f"n{drawn.randrange(60)}"
        if drawn.random() < 0.2:
            assert index.remove(note_id) == (notes.pop(note_id, None) is not None)
        else:
            text = " ".join(drawn.choices(vocabulary, k=4))
            notes[note_id] = fields(content=text, confidence=drawn.random(), row=drawn.randrange(99))
            index.put(note_id, notes[note_id])
    assert len(index) == len(notes)
    assert index._count < 2_000
    for query in ("ambers cedar", "wood", "cedar emberwood", "mber"):
        assert_alike(index, notes, query)
    found = index.candidates("e")
    assert {note_id: notes[note_id].row for note_id in found.ids} == dict(zip(found.ids, found.rows, strict=True))
    for note_id in list(notes):
        index.remove(note_id)
    assert len(index.candidates("amber").ids) == 0


def test_nothing_is_known_of_nothing() -> None:
    index = NoteIndex()
    assert list(index.candidates("anything").ids) == []
    index.put("n", fields("Deploy guide", "push to main"))
    assert "n" in index
    assert list(index.candidates("zebra").ids) == []
    assert list(index.candidates("  ").ids) == []


def test_many_notes_are_numbered_as_they_come_and_found_by_what_they_say() -> None:
    index = NoteIndex()
    for number in range(3_000):
        index.put(f"n{number}", fields(f"topic{number % 50} note", f"about thing{number}"))
    found = index.candidates("topic7 thing7")
    assert found.ids[int(np.argmax(found.scored().raw))] == "n7"
    assert sorted(found.ids) == sorted({f"n{number}" for number in range(7, 3_000, 50)} | {"n7"})
