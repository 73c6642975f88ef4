"""A nugget's notes as a graph: tree, frontier and links, as every read of a session sees them.

The port through which sessions read. A live one follows the shelf; a frozen one shows a nugget as it once was. Notes
are nodes: small numbers, good for as long as their graph is. A note that is only known as the end of a link, because it
belongs to another nugget, has a node that no method but :meth:`Graph.id` knows of.
"""
# A port's method is its docstring; there is nothing to return.
# pyright: reportReturnType=false

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final, NamedTuple, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

Numbers: TypeAlias = npt.NDArray[np.int32]

#: Directions of a link, seen from one of its ends.
OUT: Final = 0
IN: Final = 1

#: Numbers of the relations that follow from the tree. They lead from a note to each of those it represents.
SEMANTIC_CONTAINS: Final = 0  #: from a rollup
CONTAINS: Final = 1  #: from another note

#: A node that is none.
NOWHERE: Final = -1


class NodeLinks(NamedTuple):
    """Links of a node to others: arrays of one length, a link in each place."""

    others: Numbers  #: nodes at their other ends
    relations: Numbers  #: their numbers, by :meth:`Graph.relation`
    directions: Numbers  #: ``OUT`` or ``IN``
    weights: Numbers  #: how many stored links each stands for
    stamps: npt.NDArray[np.int64]  #: number of the latest turn any of those was made in; -1 for none
    unstamped: npt.NDArray[np.bool_]  #: whether one of those was made in none

    def where(self, mask: npt.NDArray[np.bool_] | npt.NDArray[np.int64]) -> "NodeLinks":
        """Return those that *mask* chooses, or in its order."""
        return NodeLinks._make(each[mask] for each in self)


class Policy(NamedTuple):
    """What a graph has to know of the types of notes."""

    hierarchical: frozenset[str]  #: types whose notes are represented by rollups of their type
    key_columns: Mapping[str, tuple[str, ...]]  #: by type, columns by which a note is known beside its title


class Graph(Protocol):
    """The notes of a nugget at one moment.

    *Active* is a note that is not hidden. A *candidate* is active, semantic, no trace of a recall, and neither replaced
    nor expired. The *frontier* are the candidates that no candidate of their own type represents, if the type is
    hierarchical, and else all. A private note is open to its session alone: the caller looks at :meth:`session`.
    """

    @property
    def policy(self) -> Policy:
        """What it knows of the types."""

    def node(self, note_id: str) -> int | None:
        """Return the node of a note of the nugget, hidden or not."""

    def at_rows(self, rows: npt.NDArray[np.int64]) -> Numbers:
        """Return the nodes of notes by their rows, in order; ``NOWHERE`` for one that is not of the nugget."""

    def id(self, node: int) -> str:
        """Return the id of a note."""

    def ids(self, nodes: Sequence[int]) -> list[str]:
        """Return what :meth:`id` does, for each of *nodes*."""

    def row(self, node: int) -> int:
        """Return the row of a note: its place in the order of creation."""

    def type(self, node: int) -> str:
        """Return the type of a note."""

    def depth(self, node: int) -> int:
        """Return the depth of a rollup; 0 of any other note."""

    def seq_to(self, node: int) -> int:
        """Return the number of the last turn that touched a note; -1 for none."""

    def session(self, node: int) -> str | None:
        """Return the session that a private note belongs to; None for all others."""

    def has_private(self) -> bool:
        """Return whether any note is private."""

    def is_active(self, node: int) -> bool:
        """Return whether a note is of the nugget and not hidden."""

    def is_candidate(self, node: int) -> bool:
        """Return whether a note is active, semantic, no trace of a recall, and neither replaced nor expired."""

    def is_semantic(self, node: int) -> bool:
        """Return whether a note is of level semantic."""

    def is_in_frontier(self, node: int) -> bool:
        """Return whether a note is in the frontier."""

    def in_frontier(self, nodes: Numbers) -> npt.NDArray[np.bool_]:
        """Return which of *nodes* are in the frontier."""

    def are_active(self, nodes: Numbers) -> npt.NDArray[np.bool_]:
        """Return which of *nodes* are not hidden."""

    def seqs_to(self, nodes: Numbers) -> npt.NDArray[np.int64]:
        """Return what :meth:`seq_to` does, for each of *nodes*."""

    def rows(self, nodes: Numbers) -> npt.NDArray[np.int64]:
        """Return what :meth:`row` does, for each of *nodes*."""

    def parents(self, nodes: Numbers) -> Numbers:
        """Return what :meth:`parent` does, for each of *nodes*; ``NOWHERE`` for none."""

    def parent(self, node: int) -> int | None:
        """Return the node of the note that represents this one, hidden or not; None if the nugget has none such."""

    def children(self, node: int) -> Sequence[int]:
        """Return the nodes of the notes that this one represents, hidden ones included, by row."""

    def types(self) -> Sequence[str]:
        """Return the types that notes have."""

    def frontier(
        self, types: Collection[str] | None = None, *, after: int | None = None, until_seq: int | None = None
    ) -> Iterator[tuple[int, int]]:
        """Iterate over the frontier: the latest turn first, the deepest rollup first, then the oldest note.

        Args:
            types: Only notes of these.
            after: The :meth:`recency_key` of the one before; None begins with the first.
            until_seq: Only notes that no later turn touched.

        Yields:
            Key and node. Good until the graph changes.
        """

    def frontier_size(self) -> int:
        """Return how many notes are in the frontier."""

    def recency_key(self, node: int) -> int:
        """Return by what notes are sorted in the :meth:`frontier`; every note has such a key, and one of its own."""

    def timeline(
        self, types: Collection[str] | None = None, *, after: int | None = None, from_seq: int | None = None
    ) -> Iterator[tuple[int, int]]:
        """Iterate over all notes, hidden ones included: the earliest turn first, those without last, then by row.

        Args:
            types: Only notes of these.
            after: The :meth:`timeline_key` of the one before; None begins with the first.
            from_seq: Only notes that this turn touched, or a later one, or none.

        Yields:
            Key and node. Good until the graph changes.
        """

    def timeline_key(self, node: int) -> int:
        """Return by what notes are sorted in the :meth:`timeline`."""

    def relation(self, number: int) -> str:
        """Return the name of a relation."""

    def relation_numbers(self, name: str) -> Sequence[int]:
        """Return the numbers of a relation: none if no link has it, two if it follows from the tree and is stored."""

    def internal_relations(self) -> Collection[int]:
        """Return the numbers of relations that say what follows from the tree."""

    def is_symmetric(self, relation: int) -> bool:
        """Return whether both ends of a link stand in this relation to each other."""

    def links(self, node: int) -> NodeLinks:
        """Return the links of a note, and those that follow from the tree, in no particular order."""

    def projected(self, node: int) -> NodeLinks | None:
        """Return the links of all that a note of the frontier represents, itself included, summed up.

        Each other end is replaced by the note of the frontier that represents it; one that none represents stands as it
        is. What becomes a link to the note itself is left out.

        Returns:
            None if that is not known yet and took a turn already: call again after other tasks had theirs.
        """

    def projected_all(self, nodes: Sequence[int]) -> tuple[Numbers, NodeLinks] | None:
        """Return what :meth:`projected` does of several notes: whose each link is, and the links, not summed up."""

    def named(self, name: str, *, exactly: bool) -> Sequence[int]:
        """Return nodes that may have *name* as a part of a title, an alias or a key column, or *exactly* as one.

        All that have it are among them. Their order is that of their :meth:`timeline`.
        """

    def unindexed(self) -> Collection[int]:
        """Return nodes of which recall's index says something else than this graph shows; none of a live one."""
