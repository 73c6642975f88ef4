"""What callers said of results: which note was useful for which query, and which was not."""
# A port's method is its docstring; there is nothing to return.
# pyright: reportReturnType=false

from collections.abc import Sequence
from typing import NamedTuple, Protocol


class Feedback(NamedTuple):
    """One opinion. Of the query it keeps no text, only hashes of its terms."""

    terms: tuple[int, ...]  #: ascending
    note: int  #: row
    useful: bool
    at: int  #: microseconds since 1970 UTC


class FeedbackView(Protocol):
    """Reads of feedback. Part of the store's port."""

    def page(self, *, after: int = 0, limit: int) -> tuple[list[Feedback], int | None]:
        """Return feedback in the order it was given, and after what to continue; None when there is no more."""

    def count(self) -> int:
        """Return how much there is."""


class FeedbackWriter(FeedbackView, Protocol):
    """Reads and writes of feedback. It goes with its note."""

    def put(self, feedback: Feedback) -> None:
        """Add feedback, or replace what was said of the same note for a query of the same terms."""

    def delete(self, terms: Sequence[int], note: int) -> bool:
        """Delete what was said of a note for a query of these terms; return whether anything was."""

    def delete_oldest(self, *, kept: int) -> list[Feedback]:
        """Delete the oldest until so much is left; return what went."""
