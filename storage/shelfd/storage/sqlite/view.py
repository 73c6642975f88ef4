"""A shelf's rows through one connection: all aggregates, to be read or to be written inside a transaction."""
# Only the code that makes a view or a writer sets its aggregates, so its type may be narrower than the port's.
# pyright: reportIncompatibleVariableOverride=false

import sqlite3
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Final, NamedTuple

from shelfd.memory.ports.view import Counts, View, Writer
from shelfd.storage.sqlite.conflicts import SqliteConflicts
from shelfd.storage.sqlite.database import Database
from shelfd.storage.sqlite.edges import SqliteEdges
from shelfd.storage.sqlite.entities import SqliteEntities, SqliteEntitiesWriter
from shelfd.storage.sqlite.feedback import SqliteFeedback
from shelfd.storage.sqlite.links import SqliteLinks
from shelfd.storage.sqlite.log import SqliteLog, SqliteLogWriter, SqliteRecorded
from shelfd.storage.sqlite.notes import SqliteNotes, SqliteNotesWriter
from shelfd.storage.sqlite.nuggets import SqliteNuggets, SqliteNuggetsWriter
from shelfd.storage.sqlite.sessions import SqliteInjections, SqliteNoteTypes, SqliteRewinds, SqliteSessions
from shelfd.storage.sqlite.statements import HeldState, SqliteStatements, SqliteStatementsWriter
from shelfd.storage.sqlite.subjects import KnownSubjects
from shelfd.storage.sqlite.usage import SqliteMeta, SqliteQueries, SqliteSinks, SqliteUsage
from shelfd.storage.sqlite.vectors import SqliteVectors
from shelfd.storage.sqlite.watches import SqliteWatches
from shelfd.storage.sqlite.work import SqliteJobs, SqlitePromotions, SqliteReflectionProgress

_COUNTS: Final = (
    "SELECT (SELECT count(*) FROM note),"
    " (SELECT count(*) FROM note WHERE key IS NOT NULL AND archived_at IS NULL),"
    " (SELECT count(*) FROM note WHERE archived_at IS NOT NULL),"
    " (SELECT count(*) FROM note WHERE superseded_by IS NOT NULL),"
    " (SELECT count(*) FROM nugget),"
    " (SELECT count(*) FROM link)"
)


def _add_aggregates(rows: View, database: Database) -> None:
    """Give *rows* the aggregates that need nothing beside the file; a reader's connection refuses writes."""
    rows.links = SqliteLinks(database)
    rows.recorded = SqliteRecorded(database)
    rows.usage = SqliteUsage(database)
    rows.queries = SqliteQueries(database)
    rows.jobs = SqliteJobs(database)
    rows.reflection = SqliteReflectionProgress(database)
    rows.promotions = SqlitePromotions(database)
    rows.sessions = SqliteSessions(database)
    rows.note_types = SqliteNoteTypes(database)
    rows.rewinds = SqliteRewinds(database)
    rows.injections = SqliteInjections(database)
    rows.entities = SqliteEntities(database)
    rows.edges = SqliteEdges(database)
    rows.statements = SqliteStatements(database)
    rows.conflicts = SqliteConflicts(database)
    rows.watches = SqliteWatches(database)
    rows.feedback = SqliteFeedback(database)
    rows.vectors = SqliteVectors(database)
    rows.sinks = SqliteSinks(database)
    rows.meta = SqliteMeta(database)


class SqliteView(View):
    """Reads by a connection of their own."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._database = database = Database(connection)
        _add_aggregates(self, database)
        self.notes = SqliteNotes(database)
        self.nuggets = SqliteNuggets(database)
        self.log = SqliteLog(database)

    def counts(self) -> Counts:
        """Return how many rows the shelf has."""
        return Counts._make(self._database.one(_COUNTS) or (0,) * 6)

    def one_state(self) -> AbstractContextManager[None]:
        """Let the reads inside see one state. See the port."""
        return self._database.one_state()

    def begin(self) -> None:
        """Show what is committed by now, and nothing that comes later."""
        self._database.connection.execute("BEGIN")
        self._database.connection.execute("SELECT 1 FROM floor").fetchone()  # the first read settles which state it is

    def size(self) -> tuple[int, int]:
        """Return the bytes of a page, and how many pages the state has that is shown."""
        return int(self._database.value("PRAGMA page_size")), int(self._database.value("PRAGMA page_count"))

    def copy_to(self, copy: sqlite3.Connection, *, pages: int, after_step: Callable[[int, int, int], None]) -> None:
        """Copy the state that is shown, *pages* at a time.

        Args:
            copy: Of an empty file.
            pages: How many are copied at once.
            after_step: Called after each time with SQLite's status, the pages left, and all; what it raises ends this.

        Raises:
            sqlite3.Error: If it cannot be copied.
        """
        self._database.connection.backup(copy, pages=pages, progress=after_step)

    def move_to(self, connection: sqlite3.Connection) -> None:
        """Read by *connection* from now on; the one before is closed."""
        self._database.move_to(connection)

    def close(self) -> None:
        """Close the connection."""
        self._database.connection.close()


class WriterState(NamedTuple):
    """What a writer keeps beside the file, as it was before a change."""

    seq: int
    row: int
    unsaved: frozenset[str]  #: nuggets
    held: HeldState  #: statements


class SqliteWriter(Writer):
    """Reads and writes on the writer's connection.

    Args:
        connection: The connection.
        subjects: Of which something is stated; a shelf's writers, of which one follows another, have the same.
    """

    notes: SqliteNotesWriter
    nuggets: SqliteNuggetsWriter
    log: SqliteLogWriter
    statements: SqliteStatementsWriter

    def __init__(self, connection: sqlite3.Connection, subjects: KnownSubjects) -> None:
        self._database = database = Database(connection)
        _add_aggregates(self, database)
        self.notes = SqliteNotesWriter(database, self._drop_statements)
        self.nuggets = SqliteNuggetsWriter(database)
        self.log = SqliteLogWriter(database)
        self.entities = SqliteEntitiesWriter(database)
        self.statements = SqliteStatementsWriter(database, lambda: self.notes.row, subjects)

    def _drop_statements(self, row: int) -> None:
        self.statements.drop(row)

    def counts(self) -> Counts:
        """Return how many rows the shelf has."""
        self.nuggets.save()
        return Counts._make(self._database.one(_COUNTS) or (0,) * 6)

    def one_state(self) -> AbstractContextManager[None]:
        """Do nothing: a writer is in a transaction all the time."""
        return nullcontext()

    def begin_change(self) -> WriterState:
        """Begin a change; return what :meth:`take_back` needs to undo its effect on what is kept beside the file."""
        return WriterState(self.log.seq, self.notes.row, self.nuggets.begin(), self.statements.begin())

    def take_back(self, state: WriterState) -> None:
        """Undo one change's effect, after its savepoint was rolled back."""
        self.log.seq, self.notes.row, unsaved, held = state
        self.nuggets.take_back(unsaved)
        self.statements.take_back(held)

    def forget(self, state: WriterState) -> None:
        """Discard everything a failed group brought; *state* is from before it."""
        self.log.seq, self.notes.row, _, held = state
        self.nuggets.forget()
        self.statements.take_back(held)

    def save(self) -> None:
        """Write what is kept beside the file and must be in it when a group is committed."""
        self.nuggets.save()
        self.statements.save()
