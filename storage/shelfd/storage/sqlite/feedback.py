"""Feedback in a shelf's file."""
# ruff: noqa: D102 (the port documents these methods)

from collections.abc import Sequence
from typing import Any

from shelfd.memory.ports.feedback import Feedback, FeedbackWriter
from shelfd.storage.sqlite.database import SqliteRows


class SqliteFeedback(SqliteRows, FeedbackWriter):
    """What callers said of results."""

    def page(self, *, after: int = 0, limit: int) -> tuple[list[Feedback], int | None]:
        found = self._database.all(
            "SELECT number, terms, note, useful, at FROM feedback WHERE number > ? ORDER BY number LIMIT ?",
            (after, limit + 1),
        )
        page = found[:limit]
        return [_feedback(columns[1:]) for columns in page], page[-1][0] if len(found) > limit else None

    def count(self) -> int:
        columns = self._database.one("SELECT count(*) FROM feedback")
        assert columns is not None
        return int(columns[0])

    def put(self, feedback: Feedback) -> None:
        terms, note, useful, at = feedback
        self._database.run(
            "INSERT OR REPLACE INTO feedback (terms, note, useful, at) VALUES (?, ?, ?, ?)",
            (_text(terms), note, useful, at),
        )

    def delete(self, terms: Sequence[int], note: int) -> bool:
        sql = "DELETE FROM feedback WHERE terms = ? AND note = ?"
        return self._database.run(sql, (_text(terms), note)) > 0

    def delete_oldest(self, *, kept: int) -> list[Feedback]:
        surplus = max(0, self.count() - kept)
        found = self._database.all(
            "SELECT terms, note, useful, at, number FROM feedback ORDER BY number LIMIT ?", (surplus,)
        )
        self._database.run_many("DELETE FROM feedback WHERE number = ?", [columns[4:] for columns in found])
        return [_feedback(columns[:4]) for columns in found]


def _text(terms: Sequence[int]) -> str:
    return " ".join(map(str, terms))


def _feedback(columns: tuple[Any, ...]) -> Feedback:
    terms, note, useful, at = columns
    return Feedback(tuple(map(int, terms.split())), note, useful == 1, at)
