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

    def admit_values(self, values: Mapping[str, Any], field: str, origin: Origin | None) -> dict[str, Any]:
        """Return what may be stored of values by their names, which are no note's; their names are text like them.

        Raises:
            GovernanceViolation: If nothing of it may be.
        """

    def admit_name(self, name: str, field: str, origin: Origin | None) -> None:
        """Raise if *name* holds what must not be kept: others refer by it to something, so that nothing is taken out.

        Raises:
            GovernanceViolation: If it does.
        """

    def is_name(self, name: str) -> bool:
        """Return whether :meth:`admit_name` lets *name* pass."""

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

    def admit_values(self, values: Mapping[str, Any], field: str, origin: Origin | None) -> dict[str, Any]:  # noqa: ARG002
        """Return *values*."""
        return dict(values)

    def admit_name(self, name: str, field: str, origin: Origin | None) -> None:
        """Let it pass."""

    def is_name(self, name: str) -> bool:  # noqa: ARG002
        """Return True."""
        return True

    def is_clean(self, text: str) -> bool:  # noqa: ARG002
        """Return True."""
        return True

    def counts(self) -> Mapping[str, Any]:
        """Return nothing."""
        return {}


ANY_TEXT: Final = AnyText()
