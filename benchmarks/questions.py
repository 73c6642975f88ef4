"""Recall on questions of our own: does it find what answers, and how does it score what it cannot answer?

The notes and questions in ``data/`` were written for this project: named facts, decisions, people and tools, untitled
notes, conversations; some notes are superseded or hidden. Every domain is a shelf of its own. A question is

- ``open``: each of its notes answers it,
- ``named``: its notes, and no others, are what it names,
- ``near``: about something the shelf knows, but not this of it,
- ``foreign``: about nothing the shelf knows.

Nothing is fitted to them. The command fails if a hidden or superseded note comes back.

Run: ``python benchmarks/questions.py``; ``--misses`` also prints what the first five results do not answer.
"""

import argparse
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from served import percentile, served, table, working_directory
from shelfd.client import Client, connect
from shelfd.memory.recall import Analyzer

DATA = Path(__file__).resolve().parent / "data"
K = 10
LEVELS = (0.2, 0.4, 0.6, 0.8)
GIVEN = {"content", "title", "aliases", "key", "author", "session_id", "turn", "occurred_at"}
Note = dict[str, Any]  # a line of notes.jsonl


class Question(NamedTuple):
    """A line of ``questions.jsonl``; ``gold`` has the notes that answer it."""

    domain: str
    language: str
    kind: str
    query: str
    gold: list[str]
    after: str | None = None  #: the question asked before in the same session


@dataclass(frozen=True)
class Outcome:
    """What a question got."""

    question: Question
    few: bool  #: shares at most one content word with each of its notes
    notes: list[str]  #: best first
    top: float  #: the best score; 0 without a result
    answer: str | None  #: the note of the fact given as answer

    @property
    def rank(self) -> int | None:
        """The place of the first of its notes, from 1."""
        return next((place for place, note in enumerate(self.notes, 1) if note in self.question.gold), None)

    def within(self, k: int) -> bool:
        """Whether one of the first *k* results is one of its notes."""
        return self.rank is not None and self.rank <= k


def lines(name: str) -> list[dict[str, Any]]:
    """The objects of a file of ``data/``."""
    return [json.loads(line) for line in (DATA / name).read_text(encoding="utf-8").splitlines()]


def words_in_common(analyzer: Analyzer, query: str, note: Note) -> int:
    """How many content words of *query* are in the *note*, its names and its author's included."""
    parts = (note.get("title"), note.get("key"), *note.get("aliases", ()), note.get("author"), note["content"])
    text = "\n".join(part for part in parts if part)
    return len({*analyzer.parse_query(query).terms} & {*analyzer.terms(text)})


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


def ask(client: Client, notes: dict[str, Note], asked: Sequence[Question]) -> Iterator[Outcome]:
    """Ask every question of its domain's shelf, in order, those that go on from another in the same session."""
    analyzer, session = Analyzer(), 0
    withheld = {name for name, note in notes.items() if note.get("hidden") or "superseded_by" in note}
    for domain in dict.fromkeys(question.domain for question in asked):
        names = remember(client, domain, [note for note in notes.values() if note["domain"] == domain])
        for question in (one for one in asked if one.domain == domain):
            session += question.after is None
            params = {"query": question.query, "shelf": domain, "k": K, "session_id": str(session)}
            reply = client.call("recall", params)
            found = [names[hit["note"]["id"]] for hit in reply["results"]]
            answer = reply.get("answer") or {"found": False}
            fact = names[answer["note_id"]] if answer["found"] else None
            if withheld & {*found, fact}:
                raise SystemExit(f"{question.query!r} found a hidden or superseded note")
            common = [words_in_common(analyzer, question.query, notes[gold]) for gold in question.gold]
            top = max((hit["score"] for hit in reply["results"]), default=0.0)
            yield Outcome(question, max(common, default=0) <= 1, found, top, fact)


def percent(right: Sequence[bool]) -> str:
    """How many of 100 are right."""
    return f"{100 * sum(right) / len(right):.1f}"


def grouped(outcomes: Sequence[Outcome], name: Callable[[Outcome], str]) -> dict[str, list[Outcome]]:
    """Outcomes by *name*, in the order of the data."""
    groups: defaultdict[str, list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        groups[name(outcome)].append(outcome)
    return dict(groups)


def finding(outcomes: Sequence[Outcome]) -> str:
    """What is found of questions that have an answer, by language and kind, and by words in common."""
    answered = [outcome for outcome in outcomes if outcome.question.gold]
    groups = grouped(answered, lambda outcome: f"{outcome.question.language}, {outcome.question.kind}")
    groups["en, open, two content words or more in common"] = [o for o in groups["en, open"] if not o.few]
    groups["en, open, at most one content word in common"] = [o for o in groups["en, open"] if o.few]
    groups["en, named, going on from another question"] = [o for o in groups["en, named"] if o.question.after]
    rows = [["questions", "n", "hit@1", "hit@5", "hit@10", "MRR"]]
    for name, group in groups.items():
        hits = [percent([outcome.within(k) for outcome in group]) for k in (1, 5, K)]
        mrr = 100 * sum(1 / outcome.rank for outcome in group if outcome.rank) / len(group)
        rows.append([name, str(len(group)), *hits, f"{mrr:.1f}"])
    return table(rows)


def expectation(outcome: Outcome) -> str:
    """What a score should tell apart: questions with an answer, and two kinds without."""
    language = "en" if outcome.question.language == "en" else "other languages"
    return f"{language}, {'with an answer' if outcome.question.gold else outcome.question.kind}"


def scoring(outcomes: Sequence[Outcome]) -> str:
    """The best score of questions with and without an answer, and how well it tells them apart."""
    rows = [["questions", "n", "results, mean", "any result", "p50", "p90", *(f">= {level}" for level in LEVELS)]]
    groups = grouped(outcomes, expectation)
    for name, group in groups.items():
        tops = [outcome.top for outcome in group]
        mean = sum(len(outcome.notes) for outcome in group) / len(group)
        middle = [f"{percentile(tops, share):.2f}" for share in (0.5, 0.9)]
        at_least = [percent([top >= level for top in tops]) for level in LEVELS]
        rows.append([name, str(len(group)), f"{mean:.1f}", percent([bool(o.notes) for o in group]), *middle, *at_least])
    pairs = list(product(groups["en, with an answer"], groups["en, near"] + groups["en, foreign"]))
    above = sum((known.top > unknown.top) + (known.top == unknown.top) / 2 for known, unknown in pairs)
    return f"{table(rows)}\n\nen, higher with an answer than without: {100 * above / len(pairs):.1f} % of pairs"


def facts(outcomes: Sequence[Outcome], keys: set[str]) -> str:
    """How often ``answer`` gives a fact, and whether it is the one asked for."""

    def name(outcome: Outcome) -> str:
        kind, gold = outcome.question.kind, outcome.question.gold
        one = kind == "named" and len(gold) == 1 and gold[0] in keys
        return "named, of one fact" if one else "others with an answer" if gold else kind

    rows = [["questions", "n", "the fact asked for", "another fact", "no answer"]]
    for group, found in grouped(outcomes, name).items():
        given = Counter(None if o.answer is None else o.answer in o.question.gold for o in found)
        rows.append([group, str(len(found)), *(str(given[which]) for which in (True, False, None))])
    return table(rows)


def main() -> None:
    """Ask and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--misses", action="store_true", help="also print what the first five do not answer")
    parser.add_argument("--dir", help="where the daemon may keep its data; default: .run in the checkout")
    arguments = parser.parse_args()
    notes = {note["id"]: note for note in lines("notes.jsonl")}
    asked = [Question(**line) for line in lines("questions.jsonl")]
    with working_directory(arguments.dir) as directory, served(directory) as daemon, connect(daemon.socket) as client:
        outcomes = list(ask(client, notes, asked))
    keys = {name for name, note in notes.items() if "key" in note}
    print(finding(outcomes), scoring(outcomes), facts(outcomes, keys), sep="\n\n")
    for outcome in outcomes:
        if arguments.misses and outcome.question.gold and not outcome.within(5):
            print(f"{outcome.question.domain}: {outcome.question.query} {outcome.question.gold} -> {outcome.notes[:5]}")


if __name__ == "__main__":
    main()
