"""Types of notes: which columns a note of a type has, and what becomes of such notes by themselves.

Built-in types stand here; a shelf keeps what was set beside them, for the whole shelf or for one nugget. What holds in
a nugget is its own, else the shelf's, else what is built in.
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from shelfd.memory.errors import InvalidParams
from shelfd.memory.notes.note import EMPTY, MEMORY_TYPES, fold_key
from shelfd.memory.ports.sessions import WHOLE_SHELF
from shelfd.memory.ports.view import View

#: Columns whose text is the title of a note that was given none, in this order.
TITLE_COLUMNS: Final = ("title", "name", "id", "key", "label")
#: Columns that stand for what every note has: its title and its content.
NOTE_COLUMNS: Final = frozenset({"title", "summary"})


class Compression(NamedTuple):
    """When notes of a type are rolled up, and how."""

    mode: str = "none"  #: or ``hierarchical``
    threshold: int = 6  #: notes of one depth from which they are, at least 2
    fan_in: int = 3  #: notes that become one, at least 2
    max_depth: int = 6
    keep_recent_leaves: int = 0  #: the newest notes, which stay as they are
    rule: str = ""  #: which notes may be rolled up; empty for all
    summarize_instruction: str = ""


class NoteType(NamedTuple):
    """A type of notes."""

    name: str
    label: str = ""
    table_name: str = ""
    table_columns: tuple[str, ...] = ("title",)
    embedding_columns: tuple[str, ...] = ()  #: what is embedded; empty for all columns
    column_hints: Mapping[str, str] = EMPTY
    required_columns: tuple[str, ...] = ()
    primary_key_columns: tuple[str, ...] = ()
    additional_columns: bool = True  #: fields may have columns that are not in the table
    force_update: bool = False  #: each extraction has to write at least one
    always_inject: bool = False  #: stands in every prompt
    latest_only: bool = False  #: one visible note for each thing, known by its names
    editable: bool = True  #: extraction may edit and delete
    records_span: bool = False  #: a note keeps from which turns it comes
    keywords: tuple[str, ...] = ()
    extract_every: int = 1  #: extraction considers the type in every so many turns
    extract_hint: str = ""
    extraction_instructions: str = ""
    recall_quota: int = 0  #: notes of the type that recall by vectors takes at most; 0 for the common quota
    compression: Compression = Compression()

    @property
    def is_hierarchical(self) -> bool:
        """Whether notes of the type are represented by their rollups."""
        return self.compression.mode == "hierarchical"

    @property
    def is_in_every_prompt(self) -> bool:
        """Whether its visible notes stand in every prompt; the event table does, whatever its type says."""
        return self.always_inject or self.table_name == "event_table"

    def as_mapping(self) -> dict[str, Any]:
        """Return it by name of its properties, but for its own, as JSON has it."""
        values = self._asdict()
        del values["name"]
        return {**values, "compression": self.compression._asdict(), "column_hints": dict(self.column_hints)}

    def with_properties(self, properties: Mapping[str, Any]) -> "NoteType":
        """Return this with some properties as :meth:`as_mapping` has them."""
        changes: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in properties.items()
        }
        if "compression" in changes:
            changes["compression"] = self.compression._replace(**changes["compression"])
        return self._replace(**changes)

    def is_known_column(self, column: str) -> bool:
        """Return whether the fields of such a note may have the column."""
        return self.additional_columns or column in self.table_columns or column in NOTE_COLUMNS


def new_type(name: str) -> NoteType:
    """Return a type of which nothing but its name was said."""
    return NoteType(name, label=name, table_name=name)


_NAMES: Final = ("title", "aliases")


def _sheet(name: str, table: str, columns: tuple[str, ...], embedded: tuple[str, ...]) -> NoteType:
    return new_type(name)._replace(
        table_name=table,
        table_columns=(*_NAMES, *columns),
        embedding_columns=(*_NAMES, *embedded),
        required_columns=("title",),
        primary_key_columns=_NAMES,
        latest_only=True,
        compression=Compression(threshold=2, fan_in=2, max_depth=1, keep_recent_leaves=1),
    )


_EVENT: Final = new_type("event")._replace(
    table_name="event_table",
    table_columns=("summary",),
    embedding_columns=("summary",),
    required_columns=("summary",),
    force_update=True,
    always_inject=True,
    editable=False,
    records_span=True,
    compression=Compression("hierarchical", threshold=5, fan_in=3, max_depth=10, keep_recent_leaves=3),
)
_CHARACTER: Final = _sheet(
    "character_sheet",
    "character_table",
    ("traits", "identity", "goal", "inventory", "language_sample", "addressing_user"),
    ("traits", "identity", "goal"),
)
_LOCATION: Final = _sheet(
    "location_state",
    "location_table",
    ("controller", "danger", "resources", "state"),
    ("controller", "danger", "state"),
)
_THREAD: Final = new_type("thread")._replace(
    table_name="thread_table",
    table_columns=("title", "status", "note"),
    embedding_columns=("title", "note"),
    column_hints=MappingProxyType({"status": "active, resolved or abandoned"}),
    required_columns=("title", "status", "note"),
    primary_key_columns=("title",),
    always_inject=True,
    latest_only=True,
    compression=Compression(threshold=2, fan_in=2, max_depth=1, keep_recent_leaves=1),
)

BUILT_IN: Final[Mapping[str, NoteType]] = MappingProxyType(
    {
        kind.name: kind
        for kind in (
            _EVENT,
            _CHARACTER,
            _LOCATION,
            _THREAD,
            *(new_type(name)._replace(table_columns=("title", "summary")) for name in MEMORY_TYPES),
        )
    }
)


class Schema(NamedTuple):
    """The types that hold in a nugget, by name: built-in ones first, then by name."""

    types: Mapping[str, NoteType]

    def get(self, name: str) -> NoteType | None:
        """Return a type, however its name is spelled."""
        return self.types.get(name) or self.types.get(fold_key(name))

    def need(self, name: str, *, field: str = "type") -> NoteType:
        """Return a type that must exist.

        Raises:
            InvalidParams: If it does not; the message names those that do.
        """
        kind = self.get(name)
        if kind is None:
            known = ", ".join(self.types)
            raise InvalidParams(
                f"{field}: there is no such type; there are {known}, and schema.set_type makes others", field=field
            )
        return kind


_BUILT_IN_ALONE: Final = Schema(BUILT_IN)


def schema_of(view: View, nugget: str) -> Schema:
    """Return the types that hold in a nugget, whether it exists or not; ``WHOLE_SHELF`` for what holds without one."""
    own = view.note_types.of(WHOLE_SHELF)
    if nugget != WHOLE_SHELF and (of_nugget := view.note_types.of(nugget)):
        own = {**own, **of_nugget}
    if not own:
        return _BUILT_IN_ALONE
    return Schema({**BUILT_IN, **{name: type_of(name, own[name]) for name in sorted(own)}})


def type_of(name: str, properties: Mapping[str, Any]) -> NoteType:
    """Return the type that is stored as *properties*."""
    return new_type(name).with_properties(properties)


def active_in(types: Iterable[NoteType], turn: int) -> list[NoteType]:
    """Return those of *types* that an extraction considers which ends with turn number *turn*."""
    return [kind for kind in types if turn % kind.extract_every == 0]
