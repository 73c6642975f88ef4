"""Questions of our own, what they get from a shelf, and what that is worth."""

import json
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from served import wait_for_vectors
from shelfd.client import Client
from shelfd.memory.recall import Analyzer

DATA = Path(__file__).resolve().parent / "data"
K = 10
FIRST = 5
#: What is to be reached, in percent of English questions: (measure, at least or at most, limit). Questions that share
#: at most one content word with their note are reported apart.
LIMITS = (
    ("any hit@5", ">=", 95.0),
    ("exact", ">=", 85.0),
    ("foreign answered", "<=", 2.0),
    ("near misses answered", "<=", 20.0),
    ("missed", "<=", 5.0),
)
GIVEN = {"content", "title", "aliases", "key", "author", "session_id", "turn", "occurred_at"}
Note: TypeAlias = dict[str, Any]  # a line of notes.jsonl
#: Measures by name: percent, and of how many questions.
Measures: TypeAlias = dict[str, tuple[float, int]]


class Question(NamedTuple):
    """A line of ``questions.jsonl``; ``gold`` has the notes that answer it."""

    domain: str
    language: str
    kind: str
    query: str
    gold: tuple[str, ...]
    after: str | None = None  #: the question asked before in the same session


@dataclass(frozen=True)
class Outcome:
    """What a question got."""

    question: Question
    few: bool  #: open, and shares at most one content word with each of its notes
    results: list[tuple[str, float]]  #: note and relevance, best first
    answer: str | None  #: the note of the fact given as answer

    def relevant(self, threshold: float) -> list[str]:
        """The results whose relevance is at least *threshold*."""
        return [note for note, relevance in self.results if relevance >= threshold]


def lines(name: str) -> list[dict[str, Any]]:
    """The objects of a file of ``data/``."""
    return [json.loads(line) for line in (DATA / name).read_text(encoding="utf-8").splitlines()]


def all_notes() -> dict[str, Note]:
    """All notes by their names."""
    return {note["id"]: note for note in lines("notes.jsonl")}


def all_questions() -> list[Question]:
    """All questions, in order."""
    return [Question(**{**line, "gold": tuple(line["gold"])}) for line in lines("questions.jsonl")]


def with_few_words(asked: Sequence[Question], notes: Mapping[str, Note]) -> set[Question]:
    """The open questions that share at most one content word with each of their notes, names and author included."""
    analyzer = Analyzer()

    def words_of(note: Note) -> set[str]:
        parts = (note.get("title"), note.get("key"), *note.get("aliases", ()), note.get("author"), note["content"])
        return {*analyzer.terms("\n".join(part for part in parts if part))}

    return {
        one
        for one in asked
        if one.kind == "open"
        and all(len({*analyzer.parse_query(one.query).terms} & words_of(notes[note])) <= 1 for note in one.gold)
    }


def remember(client: Client, shelf: str, notes: Sequence[Note]) -> dict[str, str]:
    """Put the notes of a domain on a shelf; return the names in the data by their ids there."""
    client.call("shelf.create", {"shelf": shelf})
    ids: dict[str, str] = {}
    for note in notes:
        given = {name: note[name] for name in note.keys() & GIVEN}
        ids[note["id"]] = client.call("remember", {**given, "shelf": shelf})["note"]["id"]
    for note in notes:
        if "superseded_by" in note:
            pair = {"note_id": ids[note["id"]], "superseded_by_id": ids[note["superseded_by"]]}
            client.call("mark_note_superseded", {**pair, "shelf": shelf})
        if note.get("hidden"):
            client.call("note.hide", {"id": ids[note["id"]], "shelf": shelf})
    return {there: here for here, there in ids.items()}


def ask(
    client: Client, notes: Mapping[str, Note], asked: Sequence[Question], *, dense: bool = False
) -> Iterator[Outcome]:
    """Ask every question of its domain's shelf, in order, those that go on from another in the same session.

    Results that are not relevant have relevance 0. With *dense* all notes have vectors before anything is asked.
    """
    session, few = 0, with_few_words(asked, notes)
    withheld = {name for name, note in notes.items() if note.get("hidden") or "superseded_by" in note}
    for domain in dict.fromkeys(question.domain for question in asked):
        names = remember(client, domain, [note for note in notes.values() if note["domain"] == domain])
        if dense:
            deque(wait_for_vectors(client, domain), 0)
        for question in (one for one in asked if one.domain == domain):
            session += question.after is None
            params = {"query": question.query, "shelf": domain, "k": K, "session_id": str(session), "explain": True}
            reply = client.call("recall", params)
            found = [
                (names[hit["note"]["id"]], hit["relevance"] if hit["relevant"] else 0.0) for hit in reply["results"]
            ]
            answer = reply.get("answer")
            fact = names[answer["note_id"]] if answer and answer["found"] else None
            if withheld & {*(note for note, _ in found), fact}:
                raise SystemExit(f"{question.query!r} found a hidden or superseded note")
            yield Outcome(question, question in few, found, fact)


def measures(outcomes: Iterable[Outcome], threshold: float) -> Measures:
    """Each measure, of the results whose relevance is at least *threshold*."""
    found: defaultdict[str, list[bool]] = defaultdict(list)
    for outcome in outcomes:
        question, relevant = outcome.question, outcome.relevant(threshold)
        if not question.gold:
            kind = "foreign" if question.kind == "foreign" else "near misses"
            found[f"{kind} answered"].append(bool(relevant))
            continue
        for group in ("", " (few words)" if outcome.few else " (more words)"):
            found[f"any hit@5{group}"].append(bool({*question.gold} & {*relevant[:FIRST]}))
            found[f"missed{group}"].append(not relevant)
            found[f"relevant or not, hit@5{group}"].append(bool({*question.gold} & {*outcome.relevant(0.0)[:FIRST]}))
        if question.kind == "named":
            found["exact"].append({*relevant} == {*question.gold})
    return {name: (100 * sum(values) / len(values), len(values)) for name, values in sorted(found.items())}


def limited(now: Measures, name: str) -> tuple[float, int]:
    """The measure *name* of the questions to which its limit applies."""
    return now[f"{name} (more words)"] if f"{name} (more words)" in now else now[name]


def strain(now: Measures) -> float:
    """How much of what the limits allow is used up: of the nearest limit, and a little of the others."""
    used = [
        (100 - limited(now, name)[0]) / (100 - limit) if sign == ">=" else limited(now, name)[0] / limit
        for name, sign, limit in LIMITS
    ]
    return max(used) + 0.01 * sum(used)
