"""A nugget's notes and links as a graph without any index: each answer is a look at all of them."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from shelfd.memory.notes.note import Link, Note
from shelfd.memory.notes.relations import SYMMETRIC

Edge: TypeAlias = tuple[str, str, str]


@dataclass
class PlainGraph:
    """Notes of all nuggets by id and links by their ends and relation, seen from one nugget.

    Attributes:
        is_hierarchical: Whether rollups represent notes of a type.
    """

    nugget: str
    notes: dict[str, Note] = field(default_factory=dict)
    links: dict[Edge, Link] = field(default_factory=dict)
    is_hierarchical: Callable[[str], bool] = "event".__eq__

    def own(self, note_id: str | None) -> Note | None:
        """A note of the nugget."""
        note = self.notes.get(note_id or "")
        return note if note is not None and note.nugget == self.nugget else None

    def leaving(self, note_id: str) -> list[Link]:
        """The links that leave a note."""
        return [link for (source, _, _), link in self.links.items() if source == note_id]

    def is_candidate(self, note: Note | None) -> bool:
        """Whether a note is active, semantic, and not replaced."""
        if note is None or note.hidden or note.superseded_by is not None:
            return False
        return note.extra.level == "semantic"

    def candidates(self) -> list[Note]:
        """The nugget's, in no particular order."""
        return [note for note in self.notes.values() if self.own(note.id) is not None and self.is_candidate(note)]

    def represents(self, note: Note) -> Note | None:
        """The note that stands for a candidate in the frontier."""
        parent = self.own(note.parent_id)
        if parent is None or not self.is_candidate(parent) or parent.type != note.type:
            return None
        return parent if self.is_hierarchical(note.type) else None

    def frontier(self) -> list[str]:
        """Ids in its order."""
        found = [note for note in self.candidates() if self.represents(note) is None]
        found.sort(key=lambda n: (-(-1 if n.seq_to is None else n.seq_to), -min(n.extra.rollup_depth, 31), n.row))
        return [note.id for note in found]

    def nearest(self, note_id: str, visible: set[str]) -> str | None:
        """The visible note nearest to a note, itself or above it; None if a hidden one comes first."""
        at = self.own(note_id)
        for _ in range(len(self.notes) + 1):
            if at is None or at.hidden:
                return None
            if at.id in visible:
                return at.id
            at = self.own(at.parent_id)
        return None

    def edges(self) -> Iterator[tuple[Edge, int | None]]:
        """Links, and those that follow from the tree, with the turns they were made in."""
        for edge, link in self.links.items():
            yield edge, link.seq_to
        for note in self.notes.values():
            parent = self.own(note.parent_id)
            if parent is not None and self.own(note.id) is not None:
                relation = "semantic_contains" if parent.extra.is_rollup else "contains"
                yield (parent.id, note.id, relation), None

    def projected(self, visible: set[str]) -> Counter[Edge]:
        """Links between visible notes, and of all they represent, with their weights."""
        weights: Counter[Edge] = Counter()
        for (source, target, relation), _ in self.edges():
            one, other = self.nearest(source, visible), self.nearest(target, visible)
            if one is not None and other is not None and one != other:
                ends = sorted((one, other)) if relation in SYMMETRIC else (one, other)
                weights[ends[0], ends[1], relation] += 1
        return weights
