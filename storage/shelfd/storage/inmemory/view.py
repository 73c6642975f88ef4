"""A shelf's rows in memory: all aggregates, to be read or to be written inside a transaction."""

from shelfd.memory.ports.view import Counts
from shelfd.storage.inmemory.log import (
    InMemoryLog,
    InMemoryLogWriter,
    InMemoryRecorded,
    InMemoryRecordedWriter,
)
from shelfd.storage.inmemory.notes import (
    InMemoryLinks,
    InMemoryLinksWriter,
    InMemoryNotes,
    InMemoryNotesWriter,
    InMemoryNuggets,
    InMemoryNuggetsWriter,
    visible_facts,
)
from shelfd.storage.inmemory.tables import Tables
from shelfd.storage.inmemory.work import (
    InMemoryJobs,
    InMemoryJobsWriter,
    InMemoryMeta,
    InMemoryMetaWriter,
    InMemoryPromotions,
    InMemoryPromotionsWriter,
    InMemoryQueries,
    InMemoryQueriesWriter,
    InMemoryRuns,
    InMemoryRunsWriter,
    InMemorySinks,
    InMemorySinksWriter,
    InMemoryTended,
    InMemoryTendedWriter,
    InMemoryUsage,
    InMemoryUsageWriter,
)


class InMemoryView:
    """Reads. It is one :class:`~shelfd.memory.ports.view.View`."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self.notes = InMemoryNotes(tables)
        self.links = InMemoryLinks(tables)
        self.nuggets = InMemoryNuggets(tables)
        self.log = InMemoryLog(tables)
        self.recorded = InMemoryRecorded(tables)
        self.usage = InMemoryUsage(tables)
        self.queries = InMemoryQueries(tables)
        self.jobs = InMemoryJobs(tables)
        self.runs = InMemoryRuns(tables)
        self.tended = InMemoryTended(tables)
        self.promotions = InMemoryPromotions(tables)
        self.sinks = InMemorySinks(tables)
        self.meta = InMemoryMeta(tables)

    def counts(self) -> Counts:
        """Return how many rows the shelf has."""
        return _counts(self._tables)


class InMemoryWriter:
    """Reads and writes. What is stored goes through JSON where the file's rows do."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self.notes = InMemoryNotesWriter(tables)
        self.links = InMemoryLinksWriter(tables)
        self.nuggets = InMemoryNuggetsWriter(tables)
        self.log = InMemoryLogWriter(tables)
        self.recorded = InMemoryRecordedWriter(tables)
        self.usage = InMemoryUsageWriter(tables)
        self.queries = InMemoryQueriesWriter(tables)
        self.jobs = InMemoryJobsWriter(tables)
        self.runs = InMemoryRunsWriter(tables)
        self.tended = InMemoryTendedWriter(tables)
        self.promotions = InMemoryPromotionsWriter(tables)
        self.sinks = InMemorySinksWriter(tables)
        self.meta = InMemoryMetaWriter(tables)

    def counts(self) -> Counts:
        """Return how many rows the shelf has."""
        return _counts(self._tables)


def _counts(tables: Tables) -> Counts:
    notes = tables.notes.values()
    return Counts(
        notes=len(notes),
        facts=visible_facts(notes),
        hidden=sum(note.hidden for note in notes),
        superseded=sum(note.superseded_by is not None for note in notes),
        nuggets=len(tables.nuggets),
        links=len(tables.links),
    )
