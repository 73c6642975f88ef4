"""Edges of a note: which of its entities it says, or suggests, to have to do with each other."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from hashlib import blake2b
from typing import Final, TypeAlias

from shelfd.memory.knowledge.entities.kinds import EntityMention, family
from shelfd.memory.knowledge.graph.clauses import Denials, sentences
from shelfd.memory.knowledge.graph.occurring import occurring
from shelfd.memory.knowledge.graph.saying import said_in
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.notes.note import Note
from shelfd.memory.ports.edges import Edge, EdgeEnd, EdgeType

#: Type and canonical form of an entity.
_Name: TypeAlias = tuple[str, str]

#: Edges that rules give one note, and a model: a note that has more to say is a list.
MOST_EDGES: Final = 128
#: Names longer than this are left out: a reply with a thousand paths through the graph has to stay below its limit.
_LONGEST_NAME: Final = 200
#: Entities of one sentence that are looked at.
_MOST_TOGETHER: Final = 16
#: A note of so few characters, and so few entities, speaks of one thing in all its sentences.
_SHORT: Final = 400
_FEW: Final = 12
_SAID, _TOGETHER, _NEARBY = 0.8, 0.6, 0.4


def text_of(note: Note) -> int:
    """Return a number that tells the text of a note from other texts of it; never 0."""
    digest = blake2b(f"{note.title}\0{note.content}".encode(), digest_size=7).digest()
    return int.from_bytes(digest) + 1


def put_read(tx: Transaction, note: Note, edges: Sequence[Edge]) -> bool:
    """Store what a model read in *note* as it was; return whether its text is still that one.

    It stays until that text changes, however often rules read the note again.
    """
    now = tx.rows.notes.by_rows([note.row]).get(note.row)
    if now is None or text_of(now) != text_of(note):
        return False
    fit = [edge for edge in edges if max(len(edge.source.value), len(edge.target.value)) <= _LONGEST_NAME]
    tx.rows.edges.put_read(note.row, fit[:MOST_EDGES], text=text_of(note))
    return True


class EdgeReading:
    """Reads the edges of one note, a part of it after the other."""

    def __init__(self) -> None:
        self._edges: dict[tuple[_Name, _Name, str], Edge] = {}
        self._mentions: dict[_Name, EntityMention] = {}
        self._denied: set[_Name] = set()
        self._length = 0

    def read(self, text: str, mentions: Sequence[EntityMention], offset: int = 0) -> None:
        """Read a line.

        Args:
            text: The line.
            mentions: What it mentions, by where it begins.
            offset: Where it begins in the text by whose places *mentions* go.
        """
        self._length += len(text)
        at = 0
        for begin, end in sentences(text) if mentions else ():
            first = at
            while at < len(mentions) and mentions[at].start < offset + end:
                at += 1
            if at > first:
                self._read_sentence(text[begin:end], mentions[first:at], offset + begin)

    def _read_sentence(self, sentence: str, mentions: Sequence[EntityMention], offset: int) -> None:
        some = [one for one in mentions[:_MOST_TOGETHER] if len(one.value) <= _LONGEST_NAME]
        if len(self._mentions) <= _FEW:
            for one in some:
                self._mentions.setdefault(_name(one), one)
        if len(self._edges) >= MOST_EDGES:
            return
        denials = Denials(sentence)
        denied = {one.start for one in some if denials.holds(one.start - offset)} if denials else set[int]()
        if denied:
            self._denied.update(_name(one) for one in some if one.start in denied)
        if len(some) < 2:
            return
        for source, relation, target in said_in(sentence, some, offset):
            if target.start not in denied and source.start not in denied:
                self._add(source, target, relation, "causal", _SAID)
        for source, target, relation in occurring(some):
            if target.start not in denied:
                self._add(source, target, relation, "heuristic", _TOGETHER)

    def _add(
        self, source: EntityMention, target: EntityMention, relation: str, edge_type: EdgeType, share: float
    ) -> None:
        ends = (_name(source), _name(target))
        if ends[0] == ends[1] or len(self._edges) >= MOST_EDGES:
            return
        confidence = round(share * min(source.confidence, target.confidence), 3)
        known = self._edges.get((*ends, relation))
        if known is None or known.confidence < confidence:
            self._edges[(*ends, relation)] = Edge(_end(source), _end(target), relation, edge_type, confidence)

    def edges(self, kept: Collection[_Name]) -> list[Edge]:
        """Return the edges between entities that are *kept* of the note."""
        if self._length <= _SHORT and 1 < len(self._mentions) <= _FEW:
            self._add_nearby()
        return [edge for (source, target, _), edge in self._edges.items() if source in kept and target in kept]

    def _add_nearby(self) -> None:
        """Join what a short note says in several sentences, where it can only speak of one."""
        of_family: dict[str, list[EntityMention]] = defaultdict(list)
        for one in self._mentions.values():
            of_family[family(one.type)].append(one)
        for source, target, relation in occurring(list(self._mentions.values())):
            if len(of_family[family(source.type)]) == 1 and _name(target) not in self._denied:
                self._add(source, target, relation, "heuristic", _NEARBY)


def _name(mention: EntityMention) -> _Name:
    return mention.type, mention.key


def _end(mention: EntityMention) -> EdgeEnd:
    return EdgeEnd(mention.type, mention.key, mention.value)
