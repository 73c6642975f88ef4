"""The graph of a nugget, kept beside its rows: filled when a session first reads it, and fed by the pump.

A note takes some 400 bytes with the three links that leave it: its id, where it stands, pairs of characters of its
names; a link by itself takes 32 bytes. See ``benchmarks/graph.py``.
"""
# ruff: noqa: D102 (the port documents these methods)

from collections.abc import Collection, Iterator, Mapping, Sequence
from heapq import heappop, heappush
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from shelfd.memory.notes.note import Link, Note
from shelfd.memory.ports.projection import PartProjection, PurgedNote, ScanPosition, Slice
from shelfd.memory.ports.view import View
from shelfd.memory.sessions.graph import NOWHERE, Graph, NodeLinks, Numbers, Policy
from shelfd.memory.sessions.name_parts import NameParts, texts_in
from shelfd.memory.sessions.policy import policy_of
from shelfd.memory.sessions.projection import ProjectedLinks, joined, tree_links
from shelfd.memory.sessions.schema import schema_of
from shelfd.memory.sessions.stored_links import UNSTAMPED, StoredLinks
from shelfd.memory.sessions.tree import (
    ACTIVE,
    CANDIDATE,
    ELSEWHERE,
    FRONTIER,
    KNOWN,
    MOST_DEPTH,
    ROLLUP,
    SEMANTIC,
    Tree,
    TreePlace,
)
from shelfd.memory.settings import MemorySettings


class NuggetGraph(Graph, PartProjection):
    """A nugget's notes and links as they are now.

    Read from the store in slices, whole; or given to by hand: notes by :meth:`apply`, their links by :meth:`link`.

    Attributes:
        nugget: Whose graph it is.
    """

    name: ClassVar[str] = "graph"
    is_lazy: ClassVar[bool] = True
    is_linked: ClassVar[bool] = True
    at_once: ClassVar[int] = 64

    def __init__(self, view: View, settings: MemorySettings, part: str) -> None:
        del settings
        self._view = view
        self.nugget = part
        self.clear()

    def clear(self) -> None:
        """Keep nothing, and look up the types anew."""
        self._policy = policy_of(schema_of(self._view, self.nugget))
        self._ids: list[str] = []
        self._nodes: dict[str, int] = {}
        self._unused: list[int] = []
        self._tree = Tree(self._policy.hierarchical)
        self._stored = StoredLinks()
        self._projected = ProjectedLinks(self._tree, self._stored)
        self._names = NameParts()
        self._sessions: dict[int, str] = {}
        self._now = 0
        self._expiring: list[tuple[int, int]] = []
        self._expires: dict[int, int] = {}

    # ------------------------------------------------------------ following

    def read(self, view: View, place: ScanPosition) -> Slice:
        """Return the nugget's next notes, those that were not changed for long first."""
        found = view.notes.changed_positions(self.nugget, after=(place.updated_at, place.row or 0), limit=self.at_once)
        notes = view.notes.by_rows([row for _, row in found])
        after = ScanPosition(found[-1][1], updated_at=found[-1][0]) if found else None
        return Slice([notes[row] for _, row in found if row in notes], after)

    def concerns(self, note: Note) -> bool:
        """Return whether *note* is, or was, one of the nugget's."""
        return note.nugget == self.nugget or self.knows(note.id)

    def knows(self, note_id: str) -> bool:
        """Return whether a note is, or was, one of the nugget's."""
        return self.node(note_id) is not None

    def apply(self, notes: Sequence[Note]) -> None:
        """Put notes where they stand now; those of other nuggets stand nowhere."""
        for note in notes:
            if note.nugget == self.nugget:
                self._put(note)
            elif (node := self._nodes.get(note.id)) is not None:
                self._take(node)

    def link(self, links: Mapping[str, Sequence[Link]]) -> None:
        """Have these links leave notes of the nugget, and no others."""
        for note_id, leaving in links.items():
            if (node := self.node(note_id)) is not None:
                number = self._stored.relations.number
                wanted = {
                    (self._intern(link.target), number(link.relation)): UNSTAMPED
                    if link.seq_to is None
                    else link.seq_to
                    for link in leaving
                    if link.target != note_id
                }
                self._relink(node, wanted)

    def purge(self, purged: Sequence[PurgedNote]) -> None:
        """Remove notes and the links from and to them."""
        for _, note_id in purged:
            if (node := self._nodes.get(note_id)) is not None:
                self._take(node)
                for source in self._stored.sources(node):
                    self._projected.drop(source)
                self._projected.drop(node)
                self._stored.remove_reaching(node)
                self._release(node)

    def withhold(self, note: PurgedNote) -> None:
        """Remove a note that cannot be applied as it is; links to it stay."""
        if (node := self._nodes.get(note.id)) is not None:
            self._take(node)

    def expire(self, now: int) -> None:
        """Take what has expired by *now*, microseconds since 1970 UTC, out of the frontier."""
        self._now = max(self._now, now)
        while self._expiring and self._expiring[0][0] <= self._now:
            at, node = heappop(self._expiring)
            if self._expires.get(node) == at:
                place = self._tree.place(node)
                self._move(node, place._replace(flags=place.flags & ~CANDIDATE))

    def _put(self, note: Note) -> None:
        node = self._intern(note.id)
        parent = NOWHERE if note.parent_id in (None, note.id) else self._intern(note.parent_id)
        extra = note.extra
        old_parent = self._tree.place(node).parent
        is_semantic = extra.level == "semantic"
        flags = KNOWN | (ROLLUP if extra.is_rollup else 0) | (SEMANTIC if is_semantic else 0)
        if note.archived_at is None:
            flags |= ACTIVE | (CANDIDATE if self._is_candidate(note) else 0)
        seq_to = -1 if note.seq_to is None else note.seq_to
        depth = min(extra.rollup_depth, MOST_DEPTH)
        type_ = self._tree.type_number(note.type)
        self._move(node, TreePlace(note.row, type_, flags, parent, seq_to, depth))
        if old_parent not in (NOWHERE, parent):
            self._release(old_parent)
        if note.private:
            self._sessions[node] = note.session_id or ""
        else:
            self._sessions.pop(node, None)
        if note.expires_at is None or note.expires_at <= self._now:
            self._expires.pop(node, None)
        elif self._expires.get(node) != note.expires_at:
            self._expires[node] = note.expires_at
            heappush(self._expiring, (note.expires_at, node))
        self._names.put(node, self._names_of(note))

    def _is_candidate(self, note: Note) -> bool:
        return (
            note.extra.level == "semantic"
            and note.superseded_by is None
            and not note.quarantined
            and (note.expires_at is None or note.expires_at > self._now)
            and not is_trace(note.type)
        )

    def _names_of(self, note: Note) -> Iterator[str]:
        yield note.title
        yield from note.extra.aliases
        for column in self._policy.key_columns.get(note.type, ()):
            yield from texts_in(note.extra.fields.get(column))

    def _take(self, node: int) -> None:
        """Take a note out of the nugget; links to it and children keep its node."""
        parent = self._tree.place(node).parent
        self._relink(node, {})
        self._move(node, ELSEWHERE)
        self._sessions.pop(node, None)
        self._expires.pop(node, None)
        if parent != NOWHERE:
            self._release(parent)
        self._release(node)

    def _move(self, node: int, place: TreePlace) -> None:
        moved = self._tree.put(node, place)
        if moved.is_split:
            self._projected.clear()
        for near in moved.near:
            self._projected.drop(near)
        self._projected.drop_only(moved.children)

    def _relink(self, node: int, wanted: Mapping[tuple[int, int], int]) -> None:
        changed = self._stored.replace(node, wanted)
        if changed:
            self._projected.drop(node)
        for target in changed:
            self._projected.drop(target)
            self._release(target)

    def _intern(self, note_id: str) -> int:
        node = self._nodes.get(note_id)
        if node is None:
            if self._unused:
                node = self._unused.pop()
                self._ids[node] = note_id
            else:
                node = len(self._ids)
                self._ids.append(note_id)
                self._tree.add_node()
                self._stored.add_node()
            self._nodes[note_id] = node
        return node

    def _release(self, node: int) -> None:
        """Use a node again if it is no note of the nugget, nobody's parent and the end of no link."""
        if self._tree.has(node, KNOWN) or self._tree.children(node) or self._stored.is_reached(node):
            return
        if self._nodes.pop(self._ids[node], None) is not None:
            self._ids[node] = ""
            self._unused.append(node)

    # -------------------------------------------------------------- the port

    @property
    def policy(self) -> Policy:
        return self._policy

    def __len__(self) -> int:
        """How many notes the nugget has, hidden ones included."""
        return len(self._tree)

    def node(self, note_id: str) -> int | None:
        node = self._nodes.get(note_id)
        return node if node is not None and self._tree.has(node, KNOWN) else None

    def at_rows(self, rows: npt.NDArray[np.int64]) -> Numbers:
        return self._tree.at_rows(rows)

    def id(self, node: int) -> str:
        return self._ids[node]

    def ids(self, nodes: Sequence[int]) -> list[str]:
        ids = self._ids
        return [ids[node] for node in nodes]

    def row(self, node: int) -> int:
        return self._tree.row(node)

    def type(self, node: int) -> str:
        return self._tree.type(node)

    def depth(self, node: int) -> int:
        """See the port."""
        return self._tree.depth(node)

    def seq_to(self, node: int) -> int:
        return self._tree.seq_to(node)

    def session(self, node: int) -> str | None:
        return self._sessions.get(node)

    def has_private(self) -> bool:
        return bool(self._sessions)

    def is_active(self, node: int) -> bool:
        return self._tree.has(node, ACTIVE)

    def is_candidate(self, node: int) -> bool:
        return self._tree.has(node, CANDIDATE)

    def is_semantic(self, node: int) -> bool:
        return self._tree.has(node, SEMANTIC)

    def in_frontier(self, nodes: Numbers) -> npt.NDArray[np.bool_]:
        return self._tree.have(nodes, FRONTIER)

    def are_active(self, nodes: Numbers) -> npt.NDArray[np.bool_]:
        return self._tree.have(nodes, ACTIVE)

    def seqs_to(self, nodes: Numbers) -> npt.NDArray[np.int64]:
        return self._tree.seqs_to(nodes)

    def rows(self, nodes: Numbers) -> npt.NDArray[np.int64]:
        return self._tree.rows(nodes)

    def parents(self, nodes: Numbers) -> Numbers:
        return self._tree.parents(nodes)

    def is_in_frontier(self, node: int) -> bool:
        return self._tree.has(node, FRONTIER)

    def parent(self, node: int) -> int | None:
        parent = self._tree.parent(node)
        return None if parent == NOWHERE else parent

    def children(self, node: int) -> Sequence[int]:
        return self._tree.children_by_row(node)

    def types(self) -> Sequence[str]:
        return self._tree.type_names

    def frontier(
        self, types: Collection[str] | None = None, *, after: int | None = None, until_seq: int | None = None
    ) -> Iterator[tuple[int, int]]:
        return self._tree.frontier(types, after, until_seq)

    def recency_key(self, node: int) -> int:
        return self._tree.recency_key(node)

    def frontier_size(self) -> int:
        return self._tree.frontier_size()

    def timeline(
        self, types: Collection[str] | None = None, *, after: int | None = None, from_seq: int | None = None
    ) -> Iterator[tuple[int, int]]:
        return self._tree.timeline(types, after, from_seq)

    def timeline_key(self, node: int) -> int:
        return self._tree.timeline_key(node)

    def relation(self, number: int) -> str:
        return self._stored.relations.names[number]

    def relation_numbers(self, name: str) -> Sequence[int]:
        return self._stored.relations.named(name)

    def internal_relations(self) -> Collection[int]:
        return self._stored.relations.internal

    def is_symmetric(self, relation: int) -> bool:
        return relation in self._stored.relations.symmetric

    def links(self, node: int) -> NodeLinks:
        stored = self._stored.of(self._stored.leaving(node), self._stored.reaching(node))
        return joined([stored, tree_links(self._tree, node, self._tree.parent(node), self._tree.children(node))])

    def projected(self, node: int) -> NodeLinks | None:
        return self._projected.of(node)

    def projected_all(self, nodes: Sequence[int]) -> tuple[Numbers, NodeLinks] | None:
        return self._projected.of_all(nodes)

    def named(self, name: str, *, exactly: bool) -> Sequence[int]:
        return self._tree.by_time(self._names.find(name, exactly=exactly))

    def unindexed(self) -> Collection[int]:
        return ()


def is_trace(type_: str) -> bool:
    """Return whether notes of this type are left behind by recalls, and no memories."""
    folded = type_.casefold()
    return folded == "recall" or folded.startswith("recall_")
