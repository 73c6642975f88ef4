"""Projections: what is derived from a shelf's change log and kept in memory beside its rows.

A *follower* takes what a group of changes did, as it is committed. A *projection* is state that can be made from the
notes' rows at any time. Neither knows how far the shelf or the others are: the shelf's pump keeps their positions,
slices their work, skips notes they cannot take in, and makes one that failed anew. Whatever is purged they forget.
"""
# A port's method is its docstring; there is nothing to return.
# pyright: reportReturnType=false

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Final, NamedTuple, Protocol, TypeAlias

from shelfd.memory.notes.note import Note
from shelfd.memory.ports.store import Applied
from shelfd.memory.ports.view import View
from shelfd.memory.settings import MemorySettings

#: The kind of change that takes a note out of the shelf for good.
PURGED: Final = "note.purged"


class Gone(NamedTuple):
    """A note that was purged."""

    row: int
    id: str


class ScanPosition(NamedTuple):
    """Up to where a projection's rows have been read; each projection uses of it what it needs."""

    row: int | None = None
    nugget: str = ""


class Slice(NamedTuple):
    """Some of the rows a projection is made from.

    Attributes:
        notes: As they are now.
        place: Where the next slice begins; None behind the last one.
        gone: Notes that were purged since they were to be read.
    """

    notes: Sequence[Note]
    place: ScanPosition | None
    gone: Sequence[Gone] = ()


class Forgetful(Protocol):
    """Whoever holds something of notes."""

    def forget(self, gone: Sequence[Gone]) -> None:
        """Keep nothing that comes from these notes; unknown ones are no error."""


class Follower(Forgetful, Protocol):
    """Takes what each group of changes did, on the loop, before the callers hear of it; must take next to no time."""

    def apply(self, group: Sequence[Applied[Any]]) -> None:
        """Take in a group of changes. Groups come in order; there may be a gap if another process wrote."""

    def clear(self) -> None:
        """Keep nothing: something of it may be out of date."""


class Projection(Forgetful, Protocol):
    """State made from the shelf's notes. Called on the loop, a slice at a time; must not wait.

    Attributes:
        name: In states, complaints and the log.
        is_lazy: Whether it knows nothing, and costs nothing, before it is first asked; then what changes is read
            again by who asks next. One that is not is filled when the shelf is opened and knows of a change before
            anything is read.
        at_once: Notes taken in without giving others a turn: a few milliseconds.
    """

    name: ClassVar[str]
    is_lazy: ClassVar[bool] = False
    at_once: ClassVar[int] = 128

    def apply(self, notes: Sequence[Note]) -> None:
        """Take in notes as they are now: after a change, or from the rows. The same state may come more than once.

        What it raises concerns one of the notes: they are then given one by one, and the one that raises again is
        forgotten and skipped.
        """

    def clear(self) -> None:
        """Keep nothing; what it is to know comes again from the rows."""

    def read(self, view: View, place: ScanPosition) -> Slice:
        """Return the next rows it is made from, behind *place*: of all notes, newest first."""
        notes = view.notes.scan(before_row=place.row, limit=self.at_once)
        return Slice(notes, ScanPosition(notes[-1].row) if notes else None)

    def concerns(self, note: Note) -> bool:  # noqa: ARG002
        """Return whether a change of *note* may make a difference to it."""
        return True


#: Makes a projection of one shelf.
Project: TypeAlias = Callable[[View, MemorySettings], Projection]
