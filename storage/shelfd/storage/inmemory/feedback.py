"""The twin's feedback."""
# ruff: noqa: D102 (the port documents these methods)

from collections.abc import Sequence

from shelfd.memory.ports.feedback import Feedback, FeedbackWriter
from shelfd.storage.inmemory.tables import InMemoryRows


class InMemoryFeedback(InMemoryRows, FeedbackWriter):
    """What callers said of results."""

    def page(self, *, after: int = 0, limit: int) -> tuple[list[Feedback], int | None]:
        found = [(number, one) for number, one in sorted(self._tables.feedback.items()) if number > after]
        return [one for _, one in found[:limit]], found[limit - 1][0] if len(found) > limit else None

    def count(self) -> int:
        return len(self._tables.feedback)

    def put(self, feedback: Feedback) -> None:
        self.delete(feedback.terms, feedback.note)
        self._tables.feedback_number += 1
        self._tables.put(self._tables.feedback, self._tables.feedback_number, feedback)

    def delete(self, terms: Sequence[int], note: int) -> bool:
        key = (tuple(terms), note)
        numbers = [number for number, one in self._tables.feedback.items() if (one.terms, one.note) == key]
        return sum(self._tables.remove(self._tables.feedback, number) for number in numbers) > 0

    def delete_oldest(self, *, kept: int) -> list[Feedback]:
        surplus = sorted(self._tables.feedback)[: max(0, self.count() - kept)]
        gone = [self._tables.feedback[number] for number in surplus]
        for number in surplus:
            self._tables.remove(self._tables.feedback, number)
        return gone
