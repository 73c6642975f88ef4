"""Where the graph of a shelf's entities is kept: what notes say of two of them. Part of the store's port."""
# A port's method is its docstring; there is nothing to return.
# pyright: reportReturnType=false

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, Protocol, TypeAlias

from shelfd.memory.notes.filter import NoteFilter
from shelfd.memory.ports.entities import StoredEntity

#: Whether two entities only occur together, or a text says what one does to the other.
EdgeType: TypeAlias = Literal["heuristic", "causal"]
EdgeEngine: TypeAlias = Literal["rules", "llm"]


class EdgeEnd(NamedTuple):
    """An entity at one end of an edge."""

    type: str
    key: str  #: its canonical form
    value: str  #: as it is shown


class Edge(NamedTuple):
    """What one note says of two entities.

    Attributes:
        source: Who does something, or is something.
        target: To whom, or what.
        relation: What that is.
        edge_type: How that is known.
        confidence: How sure it is, 0 to 1.
        engine: Who read it in the note; each says it of two entities once.
    """

    source: EdgeEnd
    target: EdgeEnd
    relation: str
    edge_type: EdgeType
    confidence: float
    engine: EdgeEngine = "rules"


class Neighbour(NamedTuple):
    """An edge seen from one of its ends: the entity at the other end, what is said, and the note that says so.

    Attributes:
        note: The note's row.
        note_id: Its id if it is wanted.
        number: The entity at the other end; its type, canonical form and how it is shown stand after the relation.
    """

    note: int
    note_id: str | None
    number: int
    relation: str
    type: str
    key: str
    value: str
    edge_type: EdgeType
    confidence: float
    engine: EdgeEngine


#: The same as a plain row. A walk reads thousands, and to make a record of each takes long.
NeighbourRow: TypeAlias = tuple[int, str | None, int, str, str, str, str, EdgeType, float, EdgeEngine]
#: Of it the note's row, the number of the entity and the relation, for who knows the entities and asks for notes later.
LeadRow: TypeAlias = Sequence[Any]


class StoredEdge(NamedTuple):
    """An edge with the numbers of its ends, and the note that says so: its row, and its id if it is wanted."""

    source: StoredEntity
    target: StoredEntity
    relation: str
    edge_type: EdgeType
    confidence: float
    engine: EdgeEngine
    note: int
    note_id: str | None

    def to(self, end: StoredEntity) -> Neighbour:
        """Return it as it is seen from its other end than *end*."""
        said = (self.edge_type, self.confidence, self.engine)
        return Neighbour(self.note, self.note_id, end.number, self.relation, end.type, end.key, end.value, *said)


class NoteEdges(NamedTuple):
    """What rules read in a note.

    Attributes:
        row: The note's.
        edges: What it says.
        text: Tells the note's texts apart: see :func:`~shelfd.memory.knowledge.graph.edges.text_of`.
    """

    row: int
    edges: Sequence[Edge]
    text: int


class EdgesView(Protocol):
    """Reads of edges, those of notes that are not *wanted* among them, without their ids. They read no note's text."""

    def of_note(self, row: int) -> list[StoredEdge]:
        """Return what a note says, by type and canonical form of both ends, then by relation."""

    def leaving(self, number: int, wanted: NoteFilter, *, before: int | None, limit: int) -> Sequence[NeighbourRow]:
        """Return where edges of an entity lead, of notes below row *before*, the newest first.

        Each is the fields of a :class:`Neighbour`. Of what a note says of two entities, what rules read comes first.
        """

    def reaching(self, number: int, wanted: NoteFilter, *, before: int | None, limit: int) -> Sequence[NeighbourRow]:
        """Return from where edges lead to an entity, in the same order."""

    def leads(self, numbers: Sequence[int], *, before: int | None, limit: int) -> Sequence[Sequence[LeadRow]]:
        """Return where edges of some entities lead: of each what :meth:`leaving` does, then what :meth:`reaching` does.

        No note is looked at, and several entities together take half the time that each takes alone.
        """

    def page(self, wanted: NoteFilter, *, before: int | None, limit: int) -> list[StoredEdge]:
        """Return edges of the whole shelf: those of the newest notes first, of notes below row *before*."""


class EdgesWriter(EdgesView, Protocol):
    """Reads and writes of edges. An entity stays as long as a note mentions it or it has an edge."""

    def put(self, found: Sequence[NoteEdges]) -> None:
        """Replace what rules read in some notes; what a model read in a text of one stays as long as it has that."""

    def put_read(self, row: int, edges: Sequence[Edge], *, text: int) -> None:
        """Replace what a model read in a note; *text* is that of the note as it read it."""
