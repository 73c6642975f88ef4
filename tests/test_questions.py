"""The questions that recall is measured with are what their benchmark says they are."""

import json
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

from shelfd.memory.recall import Analyzer

DATA = Path(__file__).parent.parent / "benchmarks" / "data"


def lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DATA / name).read_text("utf-8").splitlines()]


NOTES = {note["id"]: note for note in lines("notes.jsonl")}
QUESTIONS = lines("questions.jsonl")


def text(note: dict[str, Any]) -> str:
    names = [note.get("title", ""), note.get("key", ""), *note.get("aliases", ()), note.get("author", "")]
    return " ".join([*names, note["content"]])


def test_there_are_many_of_every_kind() -> None:
    kinds = Counter(question["kind"] for question in QUESTIONS)
    domains = {question["domain"] for question in QUESTIONS if question["language"] == "en"}

    assert set(kinds) == {"open", "named", "near", "foreign"}
    assert len(QUESTIONS) >= 800
    assert kinds["named"] + kinds["near"] + kinds["foreign"] >= len(QUESTIONS) / 2
    assert len(domains) >= 6
    assert {question["language"] for question in QUESTIONS} == {"en", "de", "es", "fr", "ja", "zh"}


def test_every_note_has_an_id_of_its_own_and_every_fact_a_key_of_its_own() -> None:
    notes = lines("notes.jsonl")
    keys = Counter((note["domain"], note["key"]) for note in notes if "key" in note)

    assert len(NOTES) == len(notes)
    assert set(keys.values()) == {1}


def test_what_answers_is_a_note_of_the_domain_that_can_be_found() -> None:
    for question in QUESTIONS:
        assert bool(question["gold"]) == (question["kind"] in ("open", "named"))
        for note in map(NOTES.__getitem__, question["gold"]):
            assert (note["domain"], note["language"]) == (question["domain"], question["language"])
            assert "hidden" not in note
            assert "superseded_by" not in note
    assert any(note.get("hidden") for note in NOTES.values())


def test_what_supersedes_is_a_note_of_the_domain_that_can_be_found() -> None:
    superseded = [note for note in NOTES.values() if "superseded_by" in note]

    assert superseded
    for note in superseded:
        newer = NOTES[note["superseded_by"]]
        assert newer["domain"] == note["domain"]
        assert "superseded_by" not in newer


def test_a_question_that_goes_on_from_another_comes_right_after_it() -> None:
    going_on = [(before, one) for before, one in pairwise(QUESTIONS) if "after" in one]

    assert going_on
    for before, one in going_on:
        assert (one["domain"], one["after"]) == (before["domain"], before["query"])


def test_a_quarter_of_the_answered_shares_at_most_one_content_word_with_its_notes() -> None:
    analyzer = Analyzer()
    answered = [question for question in QUESTIONS if question["gold"] and question["language"] == "en"]
    few = [
        question
        for question in answered
        if question["kind"] == "open"
        and all(
            len({*analyzer.parse_query(question["query"]).terms} & {*analyzer.terms(text(NOTES[note]))}) <= 1
            for note in question["gold"]
        )
    ]

    assert len(few) >= len(answered) / 4
