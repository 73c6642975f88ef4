"""Does an answer made without a language model hold what was asked for?

Every second answerable question of ``data/questions.jsonl`` that asks for something by itself has in
``data/answers.jsonl`` what an answer must say: 241 were written down before there were rules, 42 after. Each is asked
of a shelf with the notes of its domain. It counts if the first sentence that the answer cites, after its note's name,
says one of those; reported apart are all sentences of the answer, and questions that share at most one word with their
notes.

Also asked is what the shelf does not know: the answer should be that it does not, and grade NEEDS_WORK.

Fails below 70 % of the answerable questions. Run: ``python benchmarks/synthesis.py``; ``--misses`` prints what went
wrong; ``--cost`` how long an answer takes.
"""

import argparse
import time
from collections import defaultdict
from collections.abc import Iterator
from statistics import median
from typing import NamedTuple

from asking import Note, Question, all_notes, all_questions, lines, remember, with_few_words
from served import served, table, working_directory
from shelfd.client import Client, connect

LEAST = 70.0


class Answered(NamedTuple):
    """What a question got."""

    question: Question
    wanted: list[str]
    first: str  #: the sentence that is cited first, after its note's name
    answer: str
    sources: list[str]  #: notes by their names in the data, best first
    grade: str
    took_ms: float

    @property
    def is_right(self) -> bool:
        """Whether the first sentence says it."""
        return says(self.first, self.wanted)


def says(text: str, wanted: list[str]) -> bool:
    """Whether *text* has one of some strings, whatever their case."""
    return any(one.casefold() in text.casefold() for one in wanted)


def ask_all(client: Client, notes: dict[str, Note]) -> Iterator[Answered]:
    """Ask each question of its domain's shelf."""
    wanted = {(line["domain"], line["query"]): line["answers"] for line in lines("answers.jsonl")}
    asked = [one for one in all_questions() if not one.gold or (one.domain, one.query) in wanted]
    for domain in dict.fromkeys(question.domain for question in asked):
        names = remember(client, domain, [note for note in notes.values() if note["domain"] == domain])
        for question in (one for one in asked if one.domain == domain):
            began = time.perf_counter()
            reply = client.call("synthesize", {"query": question.query, "shelf": domain})
            took_ms = (time.perf_counter() - began) * 1000
            grade = client.call("check_synthesis_quality", {"response": reply})["grade"]
            synthesis = reply["synthesis"]
            cited = {source["note_id"]: source["quote"] for source in reply["sources"]}
            first = ""
            if synthesis["sources"]:
                note = notes[names[synthesis["sources"][0]]]
                quote = cited[synthesis["sources"][0]]
                first = f"{note.get('title') or note.get('key') or ''}: {quote}"
                if quote.removesuffix("...") not in " ".join(note["content"].split()):
                    raise SystemExit(f"{question.query!r} cites what the note does not say")
            yield Answered(
                question,
                wanted.get((domain, question.query), []),
                first,
                synthesis["answer"],
                [names[source["note_id"]] for source in reply["sources"]],
                grade,
                took_ms,
            )


def report(answered: list[Answered], few: set[Question]) -> float:
    """Print the shares, and return that of the answerable questions."""
    groups: defaultdict[str, list[Answered]] = defaultdict(list)
    for one in answered:
        if not one.wanted:
            continue
        groups["answerable"].append(one)
        groups["  few words in common" if one.question in few else "  more words in common"].append(one)
        groups[f"  {one.question.language}"].append(one)
    rows = [["questions", "n", "first sentence", "any sentence", "its note is a source"]]
    for name, found in groups.items():
        shares = (
            sum(one.is_right for one in found),
            sum(one.is_right or says(one.answer, one.wanted) for one in found),
            sum(bool({*one.question.gold} & {*one.sources}) for one in found),
        )
        rows.append([name, str(len(found)), *(f"{100 * share / len(found):.1f} %" for share in shares)])
    print(table(rows))
    rows = [["not known", "n", "says so", "graded NEEDS_WORK then"]]
    for kind in ("foreign", "near"):
        found = [one for one in answered if one.question.kind == kind]
        unknown = [one for one in found if not one.sources]
        poor = sum(one.grade == "NEEDS_WORK" for one in unknown)
        rows.append([kind, str(len(found)), f"{100 * len(unknown) / len(found):.1f} %", f"{poor} of {len(unknown)}"])
        if poor < len(unknown):
            raise SystemExit("an answer that gives none was graded better than NEEDS_WORK")
    print("", table(rows), sep="\n")
    right = groups["answerable"]
    return 100 * sum(one.is_right for one in right) / len(right)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--misses", action="store_true", help="also print what went wrong")
    parser.add_argument("--cost", action="store_true", help="also print how long an answer takes, through the socket")
    parser.add_argument("--dir", help="where the daemon may keep its data; default: .run in the checkout")
    arguments = parser.parse_args()
    notes = all_notes()
    with working_directory(arguments.dir) as run, served(run) as daemon, connect(daemon.socket) as client:
        answered = list(ask_all(client, notes))
    share = report(answered, with_few_words([one.question for one in answered], notes))
    if arguments.misses:
        for one in answered:
            if one.wanted and not one.is_right:
                print(f"{one.question.domain:<9} {one.question.query} {one.wanted} -> {one.first!r} {one.sources}")
    if arguments.cost:
        print(f"\nan answer takes {median(one.took_ms for one in answered):.1f} ms")
    if share < LEAST:
        raise SystemExit(f"{share:.1f} % < {LEAST:g} %")


if __name__ == "__main__":
    main()
