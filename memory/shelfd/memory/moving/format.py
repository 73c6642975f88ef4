"""What is to be known of a foreign format: how to read an item of each kind."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from shelfd.memory.moving.record import NoteRecord, NuggetRecord, OutgoingLinks
from shelfd.protocol import Limits


class ItemOrigin(NamedTuple):
    """Where an item comes from, and what reading it needs beside."""

    name: str  #: of the file, without folders
    header: Mapping[str, Any]  #: what the file says beside its list of items
    limits: Limits
    now: int  #: stands for times that are missing, microseconds since 1970 UTC


ReadNote: TypeAlias = Callable[[object, ItemOrigin], NoteRecord]


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """Functions that read one foreign item each.

    All raise :class:`~shelfd.memory.errors.ShelfError` or pydantic's ``ValidationError`` for an item that cannot be
    taken; what else of it is lost they say in the record.

    Attributes:
        name: Its name on the wire.
        read_nugget: Reads what a file says of its nugget.
        read_note: Reads a note of a graph.
        read_fact: Reads a key and its value.
        read_links: Reads the links that leave a note.
        count_links: Returns about how many these are, whatever the item is.
    """

    name: str
    read_nugget: Callable[[object, ItemOrigin], NuggetRecord]
    read_note: ReadNote
    read_fact: ReadNote
    read_links: Callable[[object, ItemOrigin], OutgoingLinks]
    count_links: Callable[[object], int]
