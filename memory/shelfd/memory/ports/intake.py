"""What is done with a caller's text before it is stored."""
# A port's method is its docstring; there is nothing to return.
# pyright: reportReturnType=false

from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol

from shelfd.memory.errors import GovernanceViolation
from shelfd.memory.notes.note import Note
from shelfd.memory.ports.log import Origin


class Intake(Protocol):
    """Admits text: as it is, without what must not be kept, marked, or not at all."""

    def admit(self, note: Note, old: Note | None, origin: Origin | None) -> Note:
        """Return what may be stored of *note*; what it says already as *old* is admitted.

        Args:
            note: What is about to be stored.
            old: What it says now; None if it is new.
            origin: Who says it.

        Raises:
            GovernanceViolation: If nothing of it may be.
        """

    def admit_many(self, notes: Sequence[Note], origin: Origin | None) -> Sequence[Note | GovernanceViolation]:
        """Return what :meth:`admit` does of each of some new notes, or the error that it raises: many take less so."""

    def admit_line(self, text: str, field: str, origin: Origin | None) -> str:
        """Return what may be stored of a line beside a note, such as the reason of a link.

        Raises:
            GovernanceViolation: If nothing of it may be.
        """

    def is_clean(self, text: str) -> bool:
        """Return whether *text*, which is no part of a note, may be kept as it is."""

    def counts(self) -> Mapping[str, Any]:
        """Return what was refused, redacted and quarantined since the shelf was opened, by rule."""


class AnyText(Intake):
    """Of a shelf that takes everything."""

    def admit(self, note: Note, old: Note | None, origin: Origin | None) -> Note:  # noqa: ARG002
        """Return *note*."""
        return note

    def admit_many(self, notes: Sequence[Note], origin: Origin | None) -> Sequence[Note]:  # noqa: ARG002
        """Return *notes*."""
        return notes

    def admit_line(self, text: str, field: str, origin: Origin | None) -> str:  # noqa: ARG002
        """Return *text*."""
        return text

    def is_clean(self, text: str) -> bool:  # noqa: ARG002
        """Return True."""
        return True

    def counts(self) -> Mapping[str, Any]:
        """Return nothing."""
        return {}


ANY_TEXT: Final = AnyText()
