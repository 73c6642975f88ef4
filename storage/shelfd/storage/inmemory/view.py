"""A shelf's rows in memory: all aggregates."""
# Nobody sets an aggregate of a view or a writer but its maker, so its type may be narrower than the port's.
# pyright: reportIncompatibleVariableOverride=false
# ruff: noqa: D102 (the port documents these methods)

from shelfd.memory.ports.view import Counts, Writer
from shelfd.storage.inmemory.log import InMemoryLog, InMemoryRecorded
from shelfd.storage.inmemory.notes import InMemoryLinks, InMemoryNotes, InMemoryNuggets, visible_facts
from shelfd.storage.inmemory.tables import Tables
from shelfd.storage.inmemory.work import (
    InMemoryJobs,
    InMemoryMeta,
    InMemoryPromotions,
    InMemoryQueries,
    InMemorySinks,
    InMemoryTended,
    InMemoryUsage,
)


class InMemoryShelf(Writer):
    """Reads and writes. What is stored goes through JSON where the file's rows do."""

    log: InMemoryLog

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
        self.tended = InMemoryTended(tables)
        self.promotions = InMemoryPromotions(tables)
        self.sinks = InMemorySinks(tables)
        self.meta = InMemoryMeta(tables)

    def counts(self) -> Counts:
        tables = self._tables
        notes = tables.notes.values()
        return Counts(
            notes=len(notes),
            facts=visible_facts(notes),
            hidden=sum(note.hidden for note in notes),
            superseded=sum(note.superseded_by is not None for note in notes),
            nuggets=len(tables.nuggets),
            links=len(tables.links),
        )
