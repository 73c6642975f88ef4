"""One group of changes as one SQLite transaction, each change in a savepoint of its own."""

import sqlite3
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Final

from shelfd.memory.errors import ShelfError, StoreBusy
from shelfd.memory.ports.store import Applied, Change, Clock
from shelfd.storage.commit_queue import Outcome, number_entries
from shelfd.storage.sqlite.database import translated
from shelfd.storage.sqlite.subjects import KnownSubjects
from shelfd.storage.sqlite.view import SqliteWriter

#: Seconds that applying a group takes at most, but for the change that is being applied then: those after it are
#: another group, so that nobody's answer waits for many large changes.
_LONGEST: Final = 0.05
#: Of so many changes the work ahead is done together, unless it takes longer than so many seconds.
_TOGETHER: Final = 32
_AHEAD: Final = 0.01
_SAVEPOINT: Final = "SAVEPOINT one_change"
_RELEASE: Final = "RELEASE one_change"
_ROLLBACK: Final = "ROLLBACK TO one_change"


class _Undone(Exception):
    """A change failed that had written something, and everything of its group was rolled back."""


class GroupWriter:
    """Applies groups. Lives on the writer connection's thread and keeps nothing but the writer."""

    def __init__(self, connection: sqlite3.Connection, clock: Clock, subjects: KnownSubjects) -> None:
        self._connection = connection
        self._clock = clock
        self._writer = SqliteWriter(connection, subjects)

    def apply(self, changes: list[Change[Any]]) -> list[Outcome]:
        """Apply *changes* in order and make them durable together, the first ones if that takes long.

        Returns:
            One outcome for each of those that are done: at least one.
        """
        saved = self._writer.begin_change()
        # Of a change alone, the transaction is its savepoint.
        apart = len(changes) > 1 and not all(change.can_repeat for change in changes)
        try:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                outcomes = self._apply_some(changes, apart=apart)
            except _Undone:
                self._connection.execute("BEGIN IMMEDIATE")
                self._writer.forget(saved)
                outcomes = self._apply_some(changes, apart=True)
            self._writer.save()
            self._connection.execute("COMMIT")
        except BaseException as error:  # noqa: BLE001 (whatever it was: nothing of the group may stay, all are notified)
            self._writer.forget(saved)
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            return [group_error(error) for _ in changes]
        return outcomes

    def _apply_some(self, changes: Sequence[Change[Any]], *, apart: bool) -> list[Outcome]:
        alone, until = len(changes) == 1, self._clock.monotonic() + _LONGEST
        outcomes: list[Outcome] = []
        for at, change in enumerate(changes):
            if not alone and at % _TOGETHER == 0:
                self._work_ahead(changes[at : at + _TOGETHER])
            outcomes.append(self._apply_one(change, apart=apart, alone=alone))
            if self._clock.monotonic() >= until:
                break
        return outcomes

    def _work_ahead(self, changes: Sequence[Change[Any]]) -> None:
        until = self._clock.monotonic() + _AHEAD
        for change in changes:
            if change.ahead is not None and self._clock.monotonic() < until:
                with suppress(Exception):  # whatever it is, it is raised again where the change is applied
                    change.ahead()

    def _apply_one(self, change: Change[Any], *, apart: bool, alone: bool = False) -> Outcome:
        """Apply a change, with a savepoint of its own if it is to be kept apart from the others.

        Raises:
            _Undone: If it failed without one, and everything was rolled back.
        """
        writer = self._writer
        try:
            if change.ticket is not None:
                change.ticket.start()
        except ShelfError as error:
            return error
        saved = writer.begin_change()
        written = self._connection.total_changes
        if apart:
            self._connection.execute(_SAVEPOINT)
        try:
            now = self._clock.now()  # which may be set back: order comes from seq
            value, outbox = change.apply(writer, now)
            rows = number_entries(outbox, change.origin, last_seq=saved.seq, at=now)
            writer.log.append(rows)
        except BaseException as error:  # one bad change must not harm its neighbours
            if not self._connection.in_transaction:
                raise  # on a full disk SQLite may roll back everything by itself: then the group is lost
            if apart:
                self._connection.execute(_ROLLBACK)
                self._connection.execute(_RELEASE)
            elif alone:
                self._connection.execute("ROLLBACK")
                self._connection.execute("BEGIN")  # for the group to commit
            elif self._connection.total_changes != written:
                self._connection.execute("ROLLBACK")
                raise _Undone from None
            writer.take_back(saved)
            return (translated(error) if isinstance(error, sqlite3.Error) else None) or error
        if apart:
            self._connection.execute(_RELEASE)
        return Applied(value, rows, outbox.touched, writer.log.seq)


def group_error(error: BaseException) -> ShelfError:
    """Return what the caller of one change gets when its whole group failed."""
    # One object each: an exception collects the frames of everyone it is raised to.
    sql_error = error if isinstance(error, sqlite3.Error) else error.__cause__
    if isinstance(sql_error, sqlite3.Error) and (known := translated(sql_error)):
        known.__cause__ = sql_error
        return known
    busy = StoreBusy("the store did not take the change; nothing happened")
    busy.__cause__ = error
    return busy
