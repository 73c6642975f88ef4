"""Where a shelf's entities are kept: what notes mention, and names that mean the same. Part of the store's port."""
# A port's method is its docstring; there is nothing to return.
# pyright: reportReturnType=false

from collections.abc import Collection, Mapping, Sequence
from json.encoder import encode_basestring as _json  # a text as JSON, not only in ASCII
from typing import Any, NamedTuple, Protocol, TypeAlias

from shelfd.memory.notes.note import Note


class StoredEntity(NamedTuple):
    """An entity that notes mention."""

    number: int  #: of this one alone, also when it is gone
    type: str
    key: str  #: its canonical form, unique among entities of its type
    value: str  #: as it is shown


class MentionedEntity(NamedTuple):
    """An entity as one note mentions it."""

    type: str
    key: str
    value: str
    weight: int  #: how much the note is about it, 1 to 3


class StoredAlias(NamedTuple):
    """A name that means the same as another one.

    Attributes:
        family: The type under which it stands, for all types related to it.
        alias: Its canonical form.
        name: As it was written.
        canonical: Canonical form of the other name; empty for a built-in alias that was taken back.
        canonical_name: As that was written.
        type: For which it was given.
        note: The note that says so, by row; 0 if a caller said so.
        created_at: Microseconds since 1970 UTC.
    """

    family: str
    alias: str
    name: str
    canonical: str
    canonical_name: str
    type: str
    note: int
    created_at: int


class EntityNode(NamedTuple):
    """What an entity and all that mean the same are in the graph."""

    family: str
    key: str  #: canonical form of the name that stands for them; with the family, what tells nodes apart
    type: str
    value: str  #: as it is shown

    @property
    def id(self) -> str:
        """Family and canonical form: what tells nodes apart. No type has a colon."""
        return f"{self.family}:{self.key}"


#: An entity, what it is in the graph, what tells that node apart, and how it is told: its type and value as members of
#: a JSON object. A plain row: a walk reads a thousand.
PlacedRow: TypeAlias = tuple[StoredEntity, EntityNode, str, str]


def placed_row(entity: StoredEntity, node: EntityNode) -> PlacedRow:
    """Return the row of an entity that is *node* in the graph."""
    return entity, node, node.id, f'"type":{_json(node.type)},"value":{_json(node.value)}'


class EntityCount(NamedTuple):
    """How many entities of a type there are, and how many mentions of them."""

    type: str
    entities: int
    mentions: int


class NoteEntities(NamedTuple):
    """What rules found in a note.

    Attributes:
        row: The note's.
        mentioned: What it mentions.
        learned: The aliases that it says.
        text: Tells the note's texts apart: see :func:`~shelfd.memory.knowledge.graph.edges.text_of`.
    """

    row: int
    mentioned: Sequence[MentionedEntity] = ()
    learned: Sequence[StoredAlias] = ()
    text: int = 0


class EntitiesView(Protocol):
    """Reads of entities."""

    def get(self, type_: str, key: str) -> StoredEntity | None:
        """Return an entity that some note mentions."""

    def called(self, names: Sequence[tuple[str, str]]) -> list[StoredEntity]:
        """Return the entities of these types and canonical forms that some note mentions."""

    def numbered(self, numbers: Sequence[int]) -> list[StoredEntity]:
        """Return those of some entities that there are."""

    def beginning(self, type_: str, key: str, *, limit: int) -> list[StoredEntity]:
        """Return entities of a type whose canonical form begins with *key*, by it, at most *limit*."""

    def of_note(self, row: int) -> list[MentionedEntity]:
        """Return what a note mentions, by type and canonical form."""

    def notes(self, number: int, *, weight: int, before: int | None, limit: int) -> list[int]:
        """Return the rows of notes that mention an entity with this weight, newest first, below row *before*."""

    def counts(self) -> list[EntityCount]:
        """Return how many entities of each type there are, by type."""

    def aliases(self, *, limit: int) -> list[StoredAlias]:
        """Return at most *limit* aliases: those that callers gave, then those of notes, by row; by family and alias."""

    def said_by(self, row: int) -> list[StoredAlias]:
        """Return the aliases that a note says, by family and alias."""

    def named(self, aliases: Sequence[str]) -> list[StoredAlias]:
        """Return the aliases with one of these few canonical forms, of any type: those that callers gave first."""

    def position(self) -> Mapping[str, Any] | None:
        """Return how far the shelf's log was read for entities; None if it never was."""


class EntitiesWriter(EntitiesView, Protocol):
    """Reads and writes of entities. What is derived from notes goes with them."""

    def put(self, found: Sequence[NoteEntities]) -> None:
        """Replace what some notes mention, and the aliases that they say; entities that nothing mentions any more go.

        What a model found in a note's text stays as long as it has that.
        """

    def put_read(self, row: int, mentioned: Sequence[MentionedEntity], *, text: int) -> None:
        """Add what a model found in a note; *text* is that of the note as it read it."""

    def put_alias(self, alias: StoredAlias) -> None:
        """Add an alias or replace the one with its family, form and note."""

    def delete_aliases(self, family: str, alias: str) -> int:
        """Delete the aliases of this form, whoever said so; return how many there were."""

    def put_position(self, position: Mapping[str, Any]) -> None:
        """Set how far the shelf's log was read for entities."""


class EntityNames(Protocol):
    """Which names of entities mean the same."""

    def same(self, type_: str, value: str) -> Sequence[tuple[str, str]]:
        """Return type and canonical form of everything that *value* is known by."""

    def node(self, entity: StoredEntity) -> EntityNode:
        """Return what an entity, and all that mean the same, are in the graph."""

    def names_of(self, node: EntityNode) -> Sequence[tuple[str, str]]:
        """Return type and canonical form of all names of a node."""

    def placed(self, numbers: Sequence[int], entities: EntitiesView) -> Mapping[int, PlacedRow]:
        """Return what some entities are in the graph, by number, of those that there are.

        Args:
            numbers: Of the entities.
            entities: Is asked for those that are not known from before.
        """


class ReadSoFar(NamedTuple):
    """How far a shelf's notes were read for their entities."""

    seq: int  #: the last change that was
    share: float  #: of all there is to read; 1 if nothing is left


class Enrichment(Protocol):
    """What follows a shelf's log and keeps its entities."""

    async def reach(self, *, most: int | None = None, seq: int | None = None) -> None:
        """Wait until the entities are those of all notes that are committed by now.

        Args:
            most: If more than so many changes, or notes that are read again, are left to be read, do not wait.
            seq: The last change that has to be read; if not given, the last that is committed.

        Raises:
            Unavailable: If the store does not take them.
        """

    def wake(self) -> None:
        """Go on in the background with what is left to do."""

    def hasten(self) -> None:
        """Go on in the background with what is committed by now as soon as others leave room: somebody has asked."""

    def read_so_far(self) -> ReadSoFar:
        """Return how far notes were read."""

    async def mentioned(self, notes: Sequence[Note]) -> Sequence[Sequence[MentionedEntity]]:
        """Return what each of some notes mentions, read here and now, whether it was read before or not."""

    def canonical(self, type_: str, value: str) -> str:
        """Return the name that stands for *value* and all that mean the same, as it is shown."""

    def same(self, type_: str, value: str) -> Sequence[tuple[str, str]]:
        """Return type and canonical form of everything that *value* is known by."""

    def spellings(self, type_: str, value: str) -> Collection[str]:
        """Return how a text may write *value* and all that mean the same, but for case."""

    def is_alias(self, type_: str, value: str) -> bool:
        """Return whether *value* is known as another name of something."""

    def accented(self, type_: str, value: str) -> str | None:
        """Return the name of an alias that differs from *value* in accents alone, unless *value* is one itself."""

    def names(self) -> "EntityNames":
        """Return which names mean the same as of now; a walk that asks for many need not see it change."""

    def other_names(self, text: str) -> Sequence[tuple[str, str]]:
        """Return names in *text*, as they stand there, each with another that means the same."""


class NoEnrichment(Enrichment):
    """Of a shelf whose entities nobody keeps."""

    async def reach(self, *, most: int | None = None, seq: int | None = None) -> None:
        """Return at once."""

    def wake(self) -> None:
        """Do nothing."""

    def hasten(self) -> None:
        """Do nothing."""

    def read_so_far(self) -> ReadSoFar:
        """Return that nothing is left."""
        return ReadSoFar(0, 1.0)

    async def mentioned(self, notes: Sequence[Note]) -> Sequence[Sequence[MentionedEntity]]:
        """Return nothing for each."""
        return [()] * len(notes)

    def canonical(self, type_: str, value: str) -> str:  # noqa: ARG002
        """Return *value*."""
        return value

    def same(self, type_: str, value: str) -> Sequence[tuple[str, str]]:  # noqa: ARG002
        """Return nothing."""
        return ()

    def spellings(self, type_: str, value: str) -> Collection[str]:  # noqa: ARG002
        """Return *value*."""
        return (value,)

    def is_alias(self, type_: str, value: str) -> bool:  # noqa: ARG002
        """Return that it is not."""
        return False

    def accented(self, type_: str, value: str) -> str | None:  # noqa: ARG002
        """Return nothing."""
        return None

    def names(self) -> "EntityNames":
        """Return that each means itself."""
        return _Distinct()

    def other_names(self, text: str) -> Sequence[tuple[str, str]]:  # noqa: ARG002
        """Return nothing."""
        return ()


class _Distinct(EntityNames):
    def same(self, type_: str, value: str) -> Sequence[tuple[str, str]]:
        return ((type_, value),)

    def node(self, entity: StoredEntity) -> EntityNode:
        return EntityNode(entity.type, entity.key, entity.type, entity.value)

    def names_of(self, node: EntityNode) -> Sequence[tuple[str, str]]:
        return ((node.type, node.key),)

    def placed(self, numbers: Sequence[int], entities: EntitiesView) -> Mapping[int, PlacedRow]:
        return {one.number: placed_row(one, self.node(one)) for one in entities.numbered(numbers)}
