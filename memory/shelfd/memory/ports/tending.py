"""What tending stores beside the notes: how far reflection has come, and which lines promotion wrote."""
# A port's method is its docstring; there is nothing to return.
# pyright: reportReturnType=false

from collections.abc import Sequence
from typing import NamedTuple, Protocol


class ReflectionProgress(NamedTuple):
    """How far reflection has come in one nugget.

    Notes are looked at in the order (updated_at, row). After ``changed`` comes what is new or was changed since
    it was last looked at; ``again`` cycles through the rest.
    """

    nugget: str
    changed: tuple[int, int] = (0, 0)  #: (updated_at, row) of the last note seen for the first time since its change
    again: tuple[int, int] = (0, 0)  #: (updated_at, row) of the last note seen once more
    served_at: int = 0  #: when the nugget last had its turn, microseconds since 1970 UTC

    def as_of(self, now: int) -> "ReflectionProgress":
        """Return this without what lies after *now*: a clock that was set back since had put it there.

        What is new would stand before such a position and be passed over; so the round starts over.
        """
        start = (0, 0)
        return ReflectionProgress(
            self.nugget,
            self.changed if self.changed[0] <= now else start,
            self.again if self.again[0] <= now else start,
            min(self.served_at, now),
        )


class Promoted(NamedTuple):
    """One line of a MEMORY.md that promotion wrote, or a section's heading (then without a note)."""

    note_id: str
    section: str
    line: str  #: as it was written, without the line end; a heading with the line breaks of blank lines around it
    promoted_at: int  #: microseconds since 1970 UTC


class ReflectionProgressView(Protocol):
    """Reads of how far reflection has come. Part of the store's port."""

    def all(self) -> list[ReflectionProgress]:
        """Return how far it has come in each nugget it has looked at, by name."""


class ReflectionProgressWriter(ReflectionProgressView, Protocol):
    """Reads and writes of how far reflection has come."""

    def put(self, tended: ReflectionProgress) -> None:
        """Add or replace how far it has come in a nugget."""


class PromotionsView(Protocol):
    """Reads of the lines that promotion wrote to files. Part of the store's port."""

    def lines(self, path: str) -> list[Promoted]:
        """Return the lines that were written to the file at *path*, in the order they were given."""

    def planned(self, path: str) -> list[Promoted]:
        """Return the lines that are about to be written to the file at *path*, or were when the daemon died."""

    def paths(self) -> list[str]:
        """Return the paths of all files that lines were written to or are about to be."""

    def planned_paths(self) -> list[str]:
        """Return the paths of files that are about to be written to, or were when the daemon died."""

    def paths_naming(self, note_id: str) -> list[str]:
        """Return the paths of the files to which a line of the note was written, or is about to be."""


class PromotionsWriter(PromotionsView, Protocol):
    """Reads and writes of the lines that promotion wrote to files."""

    def put(self, path: str, lines: Sequence[Promoted]) -> None:
        """Replace the lines that were written to the file at *path*."""

    def plan(self, path: str, lines: Sequence[Promoted]) -> None:
        """Replace the lines that are about to be written to the file at *path*; none when they were."""
