"""How much of what a conversation says do the rules take from it, and how much of what they take is right?

82 dialogues of our own in ``data/extraction.jsonl``, of nine kinds. What should be taken from each turn was written
down with them, before there were rules. Those of travel, operations and stories are held out: the rules were not
changed for them. A dialogue begins with what its shelf knows; what the rules make of a turn is known in the next.

An operation counts as right if its turn has a label of its type that no other operation took, and

- event: its summary has all the words of one of the label's sentences,
- character_sheet, location_state: its title is the label's, titles as Captain or Mr. aside; it creates what is not
  known and edits what is; each column it sets is in the label and the value has all the labelled words (as aliases
  also short forms of the title); it sets at least one labelled column if there are any,
- thread: its title and note have all the labelled words, and its status is the label's,
- link: the relation is the label's and both ends are; either way round where the relation is symmetric.

A link in a ``link_upsert`` counts as one operation. Labels marked optional are for what people would disagree about:
an operation that has one is neither right nor wrong, and none is missed; so it is with a sheet that is created later
than labelled. Precision is the share of right operations, recall the share of labels that are not optional and were
taken.

Run: ``python benchmarks/extraction.py``; ``--tuning`` prints what went wrong in the domains that are not held out, and
leaves the others out.
"""

import argparse
import json
import re
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from served import table
from shelfd.memory.notes.words import fold
from shelfd.memory.sessions.extraction.language import lexicon
from shelfd.memory.sessions.extraction.names import short_names
from shelfd.memory.sessions.extraction.rules import operations
from shelfd.memory.sessions.extraction.turns import Entity, KnownEntities, Message, Op

DATA = Path(__file__).with_name("data") / "extraction.jsonl"
TYPES = ("event", "character_sheet", "location_state", "thread", "link")
SYMMETRIC = frozenset(("partner_of", "family_of", "allied_with", "hostile_to", "related"))
#: Wanted of what is held out: precision and recall of all operations.
WANTED = (80.0, 50.0)

Label = dict[str, Any]


def words(value: Any) -> set[str]:
    """The folded words of a value."""
    text = " ".join(map(str, value)) if isinstance(value, list) else str(value)
    return set(re.findall(r"[^\W_]+", fold(text)))


def bare(title: str) -> str:
    """A title without article and form of address."""
    parts = fold(title).replace(".", "").split()
    while len(parts) > 1 and (parts[0] in lexicon()["honorifics"] or parts[0] == "the"):
        parts = parts[1:]
    return " ".join(parts)


def has(text: set[str], said: Sequence[Sequence[str]]) -> bool:
    """Whether one of the labelled sets of words is in *text*."""
    return any(text.issuperset(each) for each in said)


class Shelf:
    """What a dialogue's shelf knows, kept in memory; and what things are called."""

    def __init__(self, known: Sequence[Mapping[str, Any]]) -> None:
        self.entities: dict[str, Entity] = {}
        self.known = KnownEntities(TYPES)
        for at, one in enumerate(known):
            fields = {"status": one["status"], "note": one["title"]} if one["type"] == "thread" else {}
            self.put(Entity(f"known-{at}", one["type"], one["title"], tuple(one.get("aliases", ())), fields))

    def put(self, entity: Entity) -> None:
        self.entities[entity.id] = entity
        self.known.add(entity)

    def apply(self, ops: Sequence[Op], prefix: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """Take *ops* in, and yield each with its type and all that is needed to judge it."""
        for op in ops:
            if op["op"] == "link_upsert":
                for link in op["links"]:
                    source = self.name(op.get("source_node_id"), op.get("source_ref"), prefix)
                    target = self.name(link.get("target_node_id"), link.get("target_ref"), prefix)
                    yield "link", {"source": source, "target": target, "relation": link["relation"]}
                continue
            fields = dict(op.get("fields") or op.get("set_fields") or {})
            had = self.entities.get(op.get("node_id", ""))
            if op["op"] == "create":
                if op["type"] == "event":
                    yield "event", {"fields": fields}
                    continue
                again = op["type"] != "thread" and self.known.named(op["title"]) is not None
                entity = Entity(prefix + op["ref"], op["type"], op["title"], tuple(fields.get("aliases", ())), fields)
            else:
                assert had is not None, op
                aliases = tuple(fields.get("aliases", had.aliases))
                again = False
                entity = had._replace(aliases=aliases, fields={**had.fields, **fields})
            self.put(entity)
            yield entity.type, {"title": entity.title, "fields": fields, "again": again, "created": had is None}

    def has(self, label: Label) -> bool:
        """Whether nothing is left to do for *label*: who it names is known, and it says no more."""
        wanted = [column for column in label.get("columns", {}).values() if not column.get("optional")]
        return label["type"] in TYPES[1:3] and not wanted and any(map(self.known.named, label["title"]))

    def name(self, id_: str | None, ref: str | None, prefix: str) -> str | Entity:
        if ref == "event":
            return "event"
        return self.entities[id_ or prefix + str(ref)]


def is_entity(label: Label, got: Mapping[str, Any]) -> bool:
    return not got["again"] and bare(got["title"]) in {bare(title) for title in label["title"]}


def columns_right(label: Label, got: Mapping[str, Any]) -> bool:
    columns, taken = label["columns"], 0
    for column, value in got["fields"].items():
        said = words(value)
        if column == "aliases":
            said -= {fold(word) for short in short_names(got["title"]) for word in short.split()}
            if not said:
                continue
        if column not in columns or not has(said, columns[column]["has"]):
            return False
        taken += not columns[column].get("optional")
    wanted = [column for column in columns.values() if not column.get("optional")]
    return taken > 0 or not wanted


def is_end(labelled: str, got: str | Entity) -> bool:
    if isinstance(got, str):
        return labelled == got
    return bare(labelled) in {bare(name) for name in (got.title, *got.aliases)}


def matches(label: Label, type_: str, got: Mapping[str, Any]) -> bool:
    """Whether what the rules *got* is what *label* says."""
    if label["type"] != type_:
        return False
    if type_ == "event":
        return has(words(got["fields"]["summary"]), label["says"])
    if type_ == "thread":
        text = words([got["title"], got["fields"].get("note", "")])
        return text.issuperset(label["says"]) and got["fields"]["status"] == label["status"]
    if type_ == "link":
        if got["relation"] != label["relation"]:
            return False
        if "says" in label:
            target = got["target"]
            return isinstance(target, Entity) and words([target.title, target.fields.get("note", "")]).issuperset(
                label["says"]
            )
        ends = [(got["source"], got["target"])]
        if got["relation"] in SYMMETRIC:
            ends.append((got["target"], got["source"]))
        return any(is_end(label["source"], one) and is_end(label["target"], other) for one, other in ends)
    return is_entity(label, got) and columns_right(label, got)


class Score(Counter[str]):
    """Counts of right, wrong, neither and missed."""

    @property
    def precision(self) -> float:
        return 100 * self["right"] / max(1, self["right"] + self["wrong"])

    @property
    def recall(self) -> float:
        return 100 * self["right"] / max(1, self["right"] + self["missed"])


def judge(dialogue: Mapping[str, Any], scores: Mapping[str, Score], show: bool) -> float:
    """Judge one dialogue; returns the seconds of processor time it took."""
    shelf, spent = Shelf(dialogue["known"]), 0.0
    late = set()  # entities whose creation was missed in an earlier turn, and may come later
    for turn in sorted({message["turn"] for message in dialogue["turns"]}):
        said = [one for one in dialogue["turns"] if one["turn"] == turn]
        begun = time.process_time()
        ops = operations([Message(one["text"], one["role"], one.get("author")) for one in said], shelf.known)
        spent += time.process_time() - begun
        labels = [label for label in dialogue["expected"] if label["turn"] == turn]
        for type_, got in shelf.apply(ops, f"{turn}/"):
            fitting = [label for label in labels if matches(label, type_, got)]
            fitting.sort(key=lambda label: bool(label.get("optional")))
            if fitting:
                labels.remove(fitting[0])
                scores[type_]["neither" if fitting[0].get("optional") else "right"] += 1
            elif (
                type_ in TYPES[1:3]
                and got["created"]
                and not got["fields"].keys() - {"aliases"}
                and bare(got["title"]) in late
            ):
                scores[type_]["neither"] += 1
            else:
                scores[type_]["wrong"] += 1
                if show:
                    print(f"{dialogue['id']} {turn} WRONG {type_} {shown(got)}")
        for label in labels:
            if label["type"] in TYPES[1:3]:
                late |= {bare(title) for title in label["title"]}
            if not label.get("optional") and not shelf.has(label):
                scores[label["type"]]["missed"] += 1
                if show:
                    print(f"{dialogue['id']} {turn} missed {label}")
    return spent


def shown(got: Mapping[str, Any]) -> str:
    return str({key: value.title if isinstance(value, Entity) else value for key, value in got.items()})


def total(by_type: Mapping[str, Score]) -> Score:
    score = Score()
    for each in by_type.values():
        score.update(each)
    return score


def report(scores: Mapping[str, Mapping[str, Score]], heading: str) -> str:
    """A line for each group and type."""
    rows = [[heading, "right", "wrong", "neither", "missed", "precision", "recall"]]
    for group, by_type in scores.items():
        score = total(by_type)
        counts = [str(score[name]) for name in ("right", "wrong", "neither", "missed")]
        rows.append([group, *counts, f"{score.precision:.1f}", f"{score.recall:.1f}"])
    return table(rows)


def main() -> None:
    """Judge and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tuning", action="store_true", help="what went wrong, without the held-out domains")
    arguments = parser.parse_args()
    lines = DATA.read_text(encoding="utf-8").splitlines()
    dialogues = [one for one in map(json.loads, lines) if not (arguments.tuning and one["held_out"])]
    parts: dict[str, dict[str, Score]] = {}
    domains: defaultdict[str, dict[str, Score]] = defaultdict(lambda: {type_: Score() for type_ in TYPES})
    spent = 0.0
    operations([Message("The lists of words are read once.")], KnownEntities(TYPES))
    for dialogue in dialogues:
        spent += judge(dialogue, domains[dialogue["domain"]], arguments.tuning)
        part = "held out" if dialogue["held_out"] else "not held out"
        by_type = parts.setdefault(part, {type_: Score() for type_ in TYPES})
        judge(dialogue, by_type, show=False)
    messages = [message for dialogue in dialogues for message in dialogue["turns"]]
    for part, by_type in parts.items():
        lines_of = {**{type_: {type_: score} for type_, score in by_type.items()}, "all": by_type}
        print(report(lines_of, part), end="\n\n")
    print(report(domains, "domain"))
    size = sum(len(message["text"]) for message in messages)
    print(
        f"\n{len(dialogues)} dialogues, {len(messages)} messages; "
        f"{1e6 * spent / size:.2f} ms of CPU per 1,000 characters"
    )
    if "held out" in parts:
        score = total(parts["held out"])
        if score.precision < WANTED[0] or score.recall < WANTED[1]:
            raise SystemExit(f"wanted of what is held out: precision {WANTED[0]:g}, recall {WANTED[1]:g}")


if __name__ == "__main__":
    main()
