"""Where a shelf keeps what notes state, and which of them contradict each other. Part of the store's port."""
# A port's method is its docstring; there is nothing to return.
# pyright: reportReturnType=false

from collections.abc import Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Final, NamedTuple, Protocol

#: Why notes of two copies of a shelf are in conflict: whatever they say, only somebody decides on that.
EDITED_APART: Final = "edited apart in two copies of the shelf"
ONE_KEY: Final = "two copies of the shelf gave a fact this key"
#: How a conflict is resolved whose notes no longer contradict each other, since one says something else.
CHANGED: Final = "changed"
#: Bits of a slot's number that tell it from others of the same subject: what is before them is the subject's number.
WITHIN_BITS: Final = 16


class UnstoredStatements(Protocol):
    """What a note states, as it was read."""

    def encoded(self) -> str:
        """Return it as it is stored."""


class OlderNote(NamedTuple):
    """What a decision on an older note is made from.

    Attributes:
        when: Microseconds since 1970 UTC of what it tells.
        said: What it states, as it is stored, or as it was read if that is held.
        said_rev: The note's rev when that was read; it is what the note says as long as that is its rev.
    """

    row: int
    id: str
    key: str | None
    scope: str
    session_id: str | None
    author: str | None
    subject: str
    when: int
    valid_to: int | None
    rev: int
    said_rev: int
    said: str | UnstoredStatements


class StatementsView(Protocol):
    """Reads of what notes state. It is derived from them, in part after their commit."""

    def unread(self, *, limit: int) -> list[int]:
        """Return the rows of notes newer than any whose statements are stored, the newest first."""

    def rev(self, row: int) -> int | None:
        """Return at which rev a note's statements were read; None if they never were."""

    def in_slots(self, slots: Sequence[int], *, limit: int) -> set[int]:
        """Return the rows of notes that state something in some slots: of each slot the newest."""

    def spoken_of(self, subjects: AbstractSet[int]) -> Collection[int]:
        """Return those of some subjects of whom something may be stated: all of whom something is, perhaps others.

        Args:
            subjects: Their numbers, which are those of their slots without the last ``WITHIN_BITS``.
        """

    def older(self, rows: Sequence[int], nugget: str, *, now: int) -> list[OlderNote]:
        """Return those of these notes that are in this nugget and live, the newest first.

        Live are those that are not hidden, superseded, represented by a rollup or expired.
        """


class StatementsWriter(StatementsView, Protocol):
    """Reads and writes of what notes state. It goes with its note.

    What :meth:`hold` was given may be in memory only, so that a change need not wait until it is written: reads by the
    writer see it at once, others when it is stored. What was held when a daemon was killed has to be read again.
    """

    def lost(self) -> list[int]:
        """Return the rows of notes of which that may have been held, the oldest first; none when asked again.

        To be asked before anything else is, by whoever reads or writes what notes state.
        """

    def put(self, row: int, rev: int, said: str, slots: Sequence[int]) -> None:
        """Replace what a note states.

        Args:
            row: The note.
            rev: The note's rev.
            said: What it states.
            slots: Where that is found, each once.
        """

    def hold(self, row: int, rev: int, said: UnstoredStatements, slots: Sequence[int]) -> None:
        """Replace what a note states, as :meth:`put` does, but store it later, with others."""

    def store_held(self) -> None:
        """Store what is held."""


class StoredConflict(NamedTuple):
    """Two notes that cannot both be true.

    Attributes:
        number: Rises with each that is found; 0 if it is not stored yet.
        nugget: In which it was found.
        a: Row of the older note.
        b: Row of the newer one.
        resolution: ``a`` or ``b``, which was kept; ``both``; ``hidden``, ``superseded`` or ``quarantined``, if one of
            them was; ``changed``, if one says something else now; ``undone``, if what led to it was; None while the
            conflict is open.
    """

    number: int
    id: str
    nugget: str
    a: int
    b: int
    reason: str
    found_at: int
    resolved_at: int | None = None
    resolution: str | None = None


class ConflictsView(Protocol):
    """Reads of conflicts."""

    def get(self, conflict_id: str) -> StoredConflict | None:
        """Return a conflict."""

    def page(self, *, nugget: str | None, resolved: bool, before: int | None, limit: int) -> list[StoredConflict]:
        """Return open or resolved conflicts with a number below *before*, the last found first."""

    def of_note(self, row: int, *, limit: int) -> list[StoredConflict]:
        """Return the conflicts of a note, open and resolved ones, the last found first."""

    def disputed(self, rows: Collection[int]) -> Mapping[int, Sequence[str]]:
        """Return the ids of the open conflicts of the notes with these *rows*, some hundred at most, by row.

        Notes in none are left out. Where no conflict is open, this takes microseconds.
        """


class ConflictsWriter(ConflictsView, Protocol):
    """Reads and writes of conflicts. They go with either of their notes."""

    def put(self, conflict: StoredConflict) -> None:
        """Add a conflict, whose number is 0 then, or replace the one with its id."""
