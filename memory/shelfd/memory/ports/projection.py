"""Projections: what is derived from a shelf's change log and kept in memory beside its rows.

A *follower* receives each group of changes as it is committed. A *projection* is state that can be made from the
notes' rows at any time. Neither knows how far the shelf or the others are: the shelf's pump keeps their positions,
slices their work, skips notes they cannot apply, and rebuilds one that failed. What is purged is removed from them.
"""
# A port's method is its docstring; there is nothing to return.
# pyright: reportReturnType=false

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, ClassVar, Final, NamedTuple, Protocol, TypeAlias

from shelfd.memory.notes.note import EMPTY, Link, Note
from shelfd.memory.ports.image import Frozen
from shelfd.memory.ports.store import Applied
from shelfd.memory.ports.view import View
from shelfd.memory.settings import MemorySettings

#: The kind of change that purges a note.
PURGED: Final = "note.purged"
#: The kinds of change that name a link: by its source, then its target.
OF_LINKS: Final = frozenset({"link.added", "link.removed"})


class PurgedNote(NamedTuple):
    """A note that was purged."""

    row: int
    id: str


class ScanPosition(NamedTuple):
    """Up to where a projection's rows have been read; each projection uses of it what it needs."""

    row: int | None = None
    nugget: str = ""
    updated_at: int = 0


class Slice(NamedTuple):
    """Some of the rows a projection is made from.

    Attributes:
        notes: As they are now.
        place: Where the next slice begins; None after the last one.
        purged: Notes that were purged since they were to be read.
        links: The links that leave the notes, by their ids, for a projection that is made from links too.
    """

    notes: Sequence[Note]
    place: ScanPosition | None
    purged: Sequence[PurgedNote] = ()
    links: Mapping[str, Sequence[Link]] = EMPTY


class Purgeable(Protocol):
    """Anything that holds data derived from notes."""

    def purge(self, purged: Sequence[PurgedNote]) -> None:
        """Remove everything derived from these purged notes; unknown ones are no error."""


class Follower(Purgeable, Protocol):
    """Receives each group of changes, on the loop, before their callers are notified; must return at once."""

    def apply(self, group: Sequence[Applied[Any]]) -> None:
        """Apply a group of changes. Groups come in order; there may be a gap if another process wrote."""

    def clear(self) -> None:
        """Keep nothing: something may be out of date."""


class Projection(Purgeable, Protocol):
    """State made from the shelf's notes. Called on the loop, a slice at a time; must not wait.

    Attributes:
        name: In states, complaints and the log.
        is_lazy: Whether it knows nothing, and costs nothing, before it is first read; then what changes is read
            again by the next reader. One that is not is filled when the shelf is opened and knows of a change before
            anything is read.
        is_linked: Whether it is made from the links that leave notes too; then it is lazy, and a change of a link
            counts as one of the note it leaves.
        at_once: Notes applied without yielding to other tasks: a few milliseconds.
        image_version: Of what it is in an image; 0 if it is in none. One that is in one is :class:`Pictured`.
    """

    name: ClassVar[str]
    is_lazy: ClassVar[bool] = False
    is_linked: ClassVar[bool] = False
    at_once: ClassVar[int] = 128
    image_version: ClassVar[int] = 0

    def apply(self, notes: Sequence[Note]) -> None:
        """Apply notes as they are now: after a change, or from the rows. The same state may come more than once.

        What it raises concerns one of the notes: they are then given one by one, and the one that raises again is
        forgotten and skipped.
        """

    def link(self, links: Mapping[str, Sequence[Link]]) -> None:
        """Apply the links that leave notes which were just applied: all of them, by the note's id."""
        del links  # most are made from notes alone

    def withhold(self, note: PurgedNote) -> None:
        """Remove what a note said, which cannot be applied as it is; it may come again."""
        self.purge([note])

    def clear(self) -> None:
        """Keep nothing; what it is to know comes again from the rows."""

    def read(self, view: View, place: ScanPosition) -> Slice:
        """Return the next rows it is made from, after *place*: of all notes, newest first."""
        notes = view.notes.scan(before_row=place.row, limit=self.at_once)
        return Slice(notes, ScanPosition(notes[-1].row) if notes else None)

    def concerns(self, note: Note) -> bool:  # noqa: ARG002
        """Return whether a change of *note* may make a difference to it."""
        return True

    def tidy(self) -> bool:
        """Take a step of what makes reads faster and nothing else, a few milliseconds; return whether there was any.

        Called while nothing changes.
        """
        return False

    def knows(self, note_id: str) -> bool:  # noqa: ARG002
        """Return whether a change of a link that leaves this note may make a difference to it."""
        return False


class Pictured(Projection, Protocol):
    """A projection that is part of the image."""

    def made_by(self) -> str:
        """Return what has to be the same for an image to be used, beside the version."""

    def prepare(self) -> None:
        """Do what :meth:`freeze` would have to do first, so that it takes less; called on the loop, a turn before."""

    def freeze(self, stored: Collection[str]) -> Callable[[], Frozen]:
        """Return what gives its state as it is now; called on the loop, takes some milliseconds.

        Args:
            stored: Parts that are stored already.

        Returns:
            A function for another thread. What it returns is not changed before :meth:`release`.
        """

    def release(self) -> None:
        """Let what was frozen change again: it was written, or is written no more. Called on the loop."""

    def thaw(self, frozen: Frozen) -> Callable[[], None]:
        """Make of a stored state what it knows; called on another thread.

        Returns:
            A function for the loop after which the projection knows it, and nothing else.

        Raises:
            Exception: If it is no such state.
        """


class PartProjection(Projection, Protocol):
    """State made from a part of the shelf's notes, such as a nugget's; lazy, and made when it is first asked for."""

    def __init__(self, view: View, settings: MemorySettings, part: str) -> None:
        """Make one that knows nothing yet of the part with this name."""


#: Makes a projection of one shelf.
Project: TypeAlias = Callable[[View, MemorySettings], Projection]
