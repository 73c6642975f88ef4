"""Shelves in memory: all rows of one, and the store that commits to them."""
# Only the code that makes a view or a writer sets its aggregates, so its type may be narrower than the port's.
# pyright: reportIncompatibleVariableOverride=false
# ruff: noqa: D102 (the port documents these methods)

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext
from dataclasses import replace
from typing import Any, TypeVar

from shelfd.memory.errors import Conflict, DuplicateShelf, ShelfNotFound
from shelfd.memory.notes.filter import NoteFilter
from shelfd.memory.ports.backups import Backup, BackupPlan, NewBackup, Prepared, Report
from shelfd.memory.ports.image import Arrays, Image, Images
from shelfd.memory.ports.notes import Listing
from shelfd.memory.ports.store import Applied, Change, Clock, OnDone, Snapshot, Store, Stores
from shelfd.memory.ports.view import Counts, View, Writer
from shelfd.storage.commit_queue import CommitQueue, Deliver, Outcome, Take, number_entries
from shelfd.storage.inmemory.backups import InMemoryBackups
from shelfd.storage.inmemory.edges import InMemoryEdges
from shelfd.storage.inmemory.entities import InMemoryEntities
from shelfd.storage.inmemory.evolution import InMemoryConflicts, InMemoryStatements
from shelfd.storage.inmemory.feedback import InMemoryFeedback
from shelfd.storage.inmemory.log import InMemoryLog, InMemoryRecorded
from shelfd.storage.inmemory.notes import InMemoryLinks, InMemoryNotes, InMemoryNuggets, visible_facts
from shelfd.storage.inmemory.sessions import (
    InMemoryInjections,
    InMemoryNoteTypes,
    InMemoryRewinds,
    InMemorySessions,
)
from shelfd.storage.inmemory.tables import Tables
from shelfd.storage.inmemory.vectors import InMemoryVectors
from shelfd.storage.inmemory.watches import InMemoryWatches
from shelfd.storage.inmemory.work import (
    InMemoryJobs,
    InMemoryMeta,
    InMemoryPromotions,
    InMemoryQueries,
    InMemoryReflectionProgress,
    InMemorySinks,
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
        self.reflection = InMemoryReflectionProgress(tables)
        self.promotions = InMemoryPromotions(tables)
        self.sessions = InMemorySessions(tables)
        self.note_types = InMemoryNoteTypes(tables)
        self.rewinds = InMemoryRewinds(tables)
        self.injections = InMemoryInjections(tables)
        self.entities = InMemoryEntities(tables)
        self.edges = InMemoryEdges(tables)
        self.statements = InMemoryStatements(tables)
        self.conflicts = InMemoryConflicts(tables)
        self.watches = InMemoryWatches(tables)
        self.feedback = InMemoryFeedback(tables)
        self.vectors = InMemoryVectors(tables)
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

    def one_state(self) -> AbstractContextManager[None]:
        return nullcontext()


T = TypeVar("T")


class InMemorySnapshot(Snapshot):
    """A copy of a shelf's rows, and the bytes that were written."""

    def __init__(self, view: View) -> None:
        self.view = view
        self.path = ""
        self.data = bytearray()

    async def write(self, data: bytes) -> None:
        self.data += data


class InMemoryImages(Images):
    """The image of a shelf's projections among its rows."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    async def save(self, image: Image) -> None:
        """Keep copies of the arrays. See the port."""
        before = self._tables.image
        parts = {
            projection: {
                name: before.parts[projection][name] if arrays is None and before is not None else _copied(arrays or {})
                for name, arrays in some.items()
            }
            for projection, some in image.parts.items()
        }
        made_by, facts = json.loads(json.dumps([image.made_by, image.facts]))  # as a file would have it
        self._tables.image = Image(image.seq, made_by, facts, parts)

    async def load(self) -> Image | None:
        image = self._tables.image
        if image is None:
            return None
        parts = {
            projection: {name: _copied(arrays or {}) for name, arrays in some.items()}
            for projection, some in image.parts.items()
        }
        return replace(image, parts=parts)

    async def drop(self) -> None:
        self._tables.image = None


def _copied(arrays: Arrays) -> Arrays:
    return {name: array.copy() for name, array in arrays.items()}


class InMemoryStore(Store):
    """The twin of a shelf's file: nothing survives the process, everything else is as there.

    Args:
        clock: Time of changes.
        shelf: The shelf's name.
        owner: The principal it belongs to.
        tables: Rows of an earlier store, to open that shelf again.
        backups: Where backups are kept.

    Attributes:
        snapshots: What was written of them, by name.
    """

    def __init__(
        self,
        clock: Clock,
        shelf: str = "default",
        owner: str = "uid:0",
        tables: Tables | None = None,
        backups: InMemoryBackups | None = None,
    ) -> None:
        if tables is None:
            tables = Tables()
            tables.meta.update(shelf=shelf, owner=owner, created_at=str(clock.now()))
        self._clock = clock
        self._tables = tables
        self._rows = InMemoryShelf(tables)
        self._queue = CommitQueue(self._write_group, shelf=shelf)
        self._writing_snapshot = asyncio.Lock()
        self._images = InMemoryImages(tables)
        self.snapshots: dict[str, bytes] = {}
        self._shelf = shelf
        self._backups = backups or InMemoryBackups()

    @property
    def view(self) -> View:
        return self._rows

    def submit(self, change: Change[T], on_done: OnDone[Applied[T]]) -> None:
        self._queue.submit(change, on_done)

    def follow(self, listener: Callable[[Sequence[Applied[Any]]], None]) -> Callable[[], None]:
        return self._queue.follow(listener)

    @property
    def writing_since(self) -> float | None:
        return self._queue.writing_since

    async def list_notes(
        self, wanted: NoteFilter, *, order: str, descending: bool, after: tuple[int, int] | None, limit: int
    ) -> Listing:
        notes = self._rows.notes.page(wanted, order=order, descending=descending, after=after, limit=limit)
        return Listing(notes, self._rows.notes.count(wanted) if after is None else None)

    async def scrub(self) -> bool:
        return True

    @asynccontextmanager
    async def snapshot(self, name: str) -> AsyncIterator["InMemorySnapshot"]:
        """Keep the file in memory. See the port."""
        async with self._writing_snapshot:
            snapshot = InMemorySnapshot(InMemoryShelf(self._tables.copy()))
            yield snapshot
            number = 1
            while (path := f"{name}.jsonl" if number == 1 else f"{name}_{number}.jsonl") in self.snapshots:
                number += 1
            self.snapshots[path] = bytes(snapshot.data)
            snapshot.path = path

    async def backup(self, plan: BackupPlan, report: Report) -> NewBackup:
        """Copy the rows. See the port."""
        made = self._backups.make(plan, self._tables, self._rows, self._clock.now())
        report(1, 1)
        return made

    @asynccontextmanager
    async def frozen(self) -> AsyncIterator[View]:
        """Show a copy of the tables. See the port."""
        async with self._writing_snapshot:
            yield InMemoryShelf(self._tables.copy())

    def copies(self) -> list[tuple[str, int]]:
        """Return the backups: there is no file. See the port."""
        return [(backup.path, backup.manifest.made_at) for backup in self._backups.of(self._shelf)]

    @property
    def images(self) -> InMemoryImages:
        return self._images

    async def check(self, *, full: bool) -> list[str]:  # noqa: ARG002
        return []

    async def rest(self) -> None:
        """Do nothing: there is nothing to release."""

    async def close(self) -> None:
        await self._queue.drain()

    def _write_group(self, take: Take, deliver: Deliver) -> None:
        # In the loop's next round, so that what is submitted in this one is one group, as a file's mostly is.
        asyncio.get_running_loop().call_soon(lambda: deliver([self._apply_one(change) for change in take()]))

    def _apply_one(self, change: Change[Any]) -> Outcome:
        tables = self._tables
        last_seq, rollback = tables.last_seq, tables.savepoint()
        try:
            if change.ticket is not None:
                change.ticket.start()
            now = self._clock.now()
            value, outbox = change.apply(self._rows, now)
            rows = number_entries(outbox, change.origin, last_seq=last_seq, at=now)
            self._rows.log.append(rows)
        except BaseException as error:  # noqa: BLE001 (one bad change must not harm its neighbours)
            rollback()
            return error
        return Applied(value, rows, outbox.touched, tables.last_seq)


class InMemoryStores(Stores):
    """The twin of a data directory. A shelf that was closed can be opened again and has all it had."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._shelves: dict[str, Tables] = {}
        self._backups = InMemoryBackups()
        self._prepared: dict[str, Tables] = {}

    def names(self) -> list[str]:
        return sorted(self._shelves)

    def exists(self, shelf: str) -> bool:
        return shelf in self._shelves

    async def open(self, shelf: str) -> InMemoryStore:
        if shelf not in self._shelves:
            raise ShelfNotFound(shelf)
        return InMemoryStore(self._clock, shelf, tables=self._shelves[shelf], backups=self._backups)

    async def create(self, shelf: str, *, owner: str) -> InMemoryStore:
        if shelf in self._shelves:
            raise DuplicateShelf(shelf)
        tables = Tables()
        tables.meta.update(shelf=shelf, owner=owner, created_at=str(self._clock.now()))
        self._shelves[shelf] = tables
        return await self.open(shelf)

    async def drop(self, shelf: str) -> None:
        if self._shelves.pop(shelf, None) is None:
            raise ShelfNotFound(shelf)

    def owner(self, shelf: str) -> str | None:
        return self._shelves[shelf].meta.get("owner") if shelf in self._shelves else None

    def has_unfinished_work(self, shelf: str) -> bool:
        tables = self._shelves[shelf]
        return any(job.is_unfinished for _, job in tables.jobs.values()) or any(tables.promoting.values())

    def next_expiry(self, shelf: str) -> int | None:
        return min(self._shelves[shelf].expiring.values(), default=None) if shelf in self._shelves else None

    async def backups(self, shelf: str) -> list[Backup]:
        return self._backups.of(shelf)

    def backups_directory(self, shelf: str) -> str:
        return self._backups.directory(shelf)

    async def prepare(self, shelf: str, backup: str, *, owner: str | None) -> Prepared:
        if shelf in self._prepared:
            raise Conflict(f"a backup is being put in the place of shelf {shelf!r} already", shelf=shelf)
        found, self._prepared[shelf] = self._backups.take(backup, shelf=shelf, owner=owner)
        return Prepared(shelf, shelf, found)

    async def open_prepared(self, prepared: Prepared) -> InMemoryStore:
        return InMemoryStore(self._clock, prepared.shelf, tables=self._prepared[prepared.shelf])

    async def replace(self, prepared: Prepared, *, keep: bool) -> str | None:
        """Keep nothing that could be named by a path. See the port."""
        was_there = prepared.shelf in self._shelves
        self._shelves[prepared.shelf] = self._prepared.pop(prepared.shelf)
        return f"{prepared.shelf} before" if keep and was_there else None

    async def discard(self, prepared: Prepared) -> None:
        self._prepared.pop(prepared.shelf, None)

    async def rename(self, shelf: str, to: str) -> None:
        if shelf not in self._shelves:
            raise ShelfNotFound(shelf)
        if to in self._shelves:
            raise DuplicateShelf(to)
        self._shelves[to] = self._shelves.pop(shelf)
        self._shelves[to].meta["shelf"] = to

    async def clean_up(self) -> int:
        return 0
