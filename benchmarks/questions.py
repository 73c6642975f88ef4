"""Does recall say only what it knows? Questions of many kinds, each asked of a shelf that may or may not know.

The notes and questions in ``data/`` were written for this project: named facts, decisions, people and tools, untitled
notes, conversations; some notes are superseded or hidden. Every domain is a shelf of its own. A question is

- ``open``: any of its notes among the first five relevant results answers it,
- ``named``: the relevant results have to be exactly its notes,
- ``near``: about something the shelf knows, but not this of it; nothing relevant is right,
- ``foreign``: about nothing the shelf knows.

Only results with ``relevant`` count. Open questions that share at most one content word with their notes are reported
apart, as ``few words``. Asked through the socket, and *held out*: in process, each domain judged by constants fitted
on the others. The command fails if a hidden or superseded note comes back.

Run: ``python benchmarks/questions.py``; ``--misses`` prints what went wrong held out; ``--crowd`` asks once more, in
process, with 20,000 notes around that have nothing to do with the questions; ``--fit`` writes the constants anew:
weights from all domains, and the threshold that leaves most room to every limit, held out and not.
"""

import argparse
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from asking import (
    FIRST,
    LIMITS,
    Note,
    Outcome,
    Question,
    all_notes,
    all_questions,
    ask,
    limited,
    measures,
    with_few_words,
)
from calibrating import best_threshold, fitted, held_out, judged, look, write
from crowd import crowd
from served import EMBEDDERS, served, table, with_embedder, working_directory
from shelfd.client import connect
from shelfd.memory.recall.relevance import calibration

CROWD = 20_000


def grouped(outcomes: Sequence[Outcome], name: Callable[[Outcome], str]) -> dict[str, list[Outcome]]:
    """Outcomes by *name*, in the order of the data."""
    groups: defaultdict[str, list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        groups[name(outcome)].append(outcome)
    return dict(groups)


def english(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """Those of English questions."""
    return [outcome for outcome in outcomes if outcome.question.language == "en"]


def report(outcomes: Sequence[Outcome], threshold: float) -> str:
    """The measures of English questions and their limits, which are for those with more words in common."""
    now = measures(english(outcomes), threshold)
    limits = {}
    for name, sign, limit in LIMITS:
        limits[f"{name} (more words)" if f"{name} (more words)" in now else name] = f"{sign} {limit:g}"
    rows = [["English", "n", "%", "limit"]]
    rows += [[name, str(count), f"{value:.1f}", limits.get(name, "")] for name, (value, count) in now.items()]
    return table(rows)


def by(outcomes: Sequence[Outcome], threshold: float, heading: str, name: Callable[[Outcome], str]) -> str:
    """The limited measures by group."""
    columns = [name for name, _, _ in LIMITS]
    rows = [[heading, *columns]]
    for group, found in sorted(grouped(outcomes, name).items()):
        now = measures(found, threshold)
        rows.append([group, *(f"{limited(now, one)[0]:.0f}" if one in now else "" for one in columns)])
    return table(rows)


def curve(outcomes: Sequence[Outcome], chosen: float) -> str:
    """What each threshold would give, of English questions."""
    columns = ["any hit@5 (more words)", "any hit@5 (few words)", *(name for name, _, _ in LIMITS[1:-1])]
    columns.append("missed (more words)")
    rows = [["threshold", *columns]]
    for threshold in sorted({*np.round(np.arange(0.05, 1.0, 0.05), 2).tolist(), chosen}):
        now = measures(english(outcomes), threshold)
        mark = " *" if threshold == chosen else ""
        rows.append([f"{threshold:.2f}{mark}", *(f"{now[name][0]:.1f}" for name in columns)])
    return table(rows)


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


def misses(outcomes: Sequence[Outcome], threshold: float) -> Iterator[str]:
    """A line for each question that went wrong."""
    for outcome in outcomes:
        question, relevant = outcome.question, outcome.relevant(threshold)
        if question.kind == "named":
            right = {*relevant} == {*question.gold}
        elif question.gold:
            right = bool({*question.gold} & {*relevant[:FIRST]})
        else:
            right = not relevant
        if not right:
            results = " ".join(f"{note}:{relevance:.2f}" for note, relevance in outcome.results[:4])
            few = " (few words)" if outcome.few else ""
            yield f"{question.domain:<9} {question.kind}{few}: {question.query} {question.gold} -> {results}"


def crowded(asked: Sequence[Question], few: set[Question], notes: Mapping[str, Note]) -> str:
    """The measures with many other notes around: by the constants as they are, and each domain held out."""
    seen, constants = look(asked, few, notes, crowd(CROWD)), calibration()
    languages = {question.language for question in asked}
    outcomes = judged(seen, constants, languages)
    parts = (
        f"with {CROWD:,} other notes around:\n",
        report(outcomes, constants.threshold),
        "",
        by(outcomes, constants.threshold, "language", lambda one: one.question.language),
        "\n\nthe same, each domain judged by constants fitted on the others, without a crowd:\n",
        report(held_out(look(asked, few, notes), seen), constants.threshold),
    )
    return "\n".join(parts)


def main() -> None:
    """Measure and print, or fit."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fit", action="store_true", help="write the constants anew, and do not ask a daemon")
    parser.add_argument("--misses", action="store_true", help="also print what went wrong held out")
    parser.add_argument("--dense", nargs="?", choices=EMBEDDERS, const=EMBEDDERS[0], help="with vectors; by %(const)s")
    parser.add_argument("--crowd", action="store_true", help=f"also ask with {CROWD:,} other notes around")
    parser.add_argument("--dir", help="where the daemon may keep its data; default: .run in the checkout")
    arguments = parser.parse_args()
    notes, asked = all_notes(), all_questions()
    seen = look(asked, with_few_words(asked, notes), notes)
    apart = held_out(seen)
    threshold = best_threshold(apart, judged(seen, fitted(seen))) if arguments.fit else calibration().threshold
    if arguments.fit:
        print(f"written: {write(fitted(seen, threshold))}\n")
    else:
        directory = working_directory(arguments.dir)
        with (
            directory as run,
            served(run, *(with_embedder(run, arguments.dense) if arguments.dense else ())) as daemon,
            connect(daemon.socket) as client,
        ):
            outcomes = list(ask(client, notes, asked, dense=bool(arguments.dense)))
        keys = {name for name, note in notes.items() if "key" in note}
        print("through the socket:\n", report(outcomes, threshold), sep="\n")
        print(
            "",
            by(outcomes, threshold, "language", lambda one: one.question.language),
            facts(outcomes, keys),
            sep="\n\n",
        )
        print()
    print("each domain judged by constants fitted on the others:\n", report(apart, threshold), sep="\n")
    print("", by(apart, threshold, "domain", lambda one: one.question.domain), curve(apart, threshold), sep="\n\n")
    if arguments.crowd:
        print("", crowded(asked, with_few_words(asked, notes), notes), sep="\n\n")
    if arguments.misses:
        print("", *misses(apart, threshold), sep="\n")


if __name__ == "__main__":
    main()
