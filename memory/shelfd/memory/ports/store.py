"""The ports: everything the memory needs from outside, and what it may rely on.

Adapters live in other components. Every store passes the contract suite in ``tests/contract``.
"""
# A port's method is its docstring; there is nothing to return.
# pyright: reportReturnType=false

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from threading import Lock
from typing import Any, Generic, NamedTuple, Protocol, TypeAlias, TypeVar

from shelfd.memory.errors import Cancelled, DeadlineExceeded
from shelfd.memory.notes.filter import NoteFilter
from shelfd.memory.notes.note import Note
from shelfd.memory.ports.backups import Backup, BackupPlan, NewBackup, Prepared, Report
from shelfd.memory.ports.image import Images
from shelfd.memory.ports.log import Entry, LogRow, Origin
from shelfd.memory.ports.notes import Listing
from shelfd.memory.ports.view import View, Writer

T = TypeVar("T")
#: Takes the outcome of something: its value or its error.
OnDone: TypeAlias = Callable[[T | Exception], None]


async def outcome_of(begin: Callable[[OnDone[T]], None]) -> T:
    """Call *begin* with a function that takes the outcome; return that outcome, or raise it.

    What was begun continues when the caller is cancelled.
    """
    future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
    begin(partial(_settle, future))
    try:
        return await future
    finally:
        # An exception knows this frame and the future the exception: a ring around all that the call holds.
        del future


async def ended(future: "asyncio.Future[Any]") -> None:
    """Wait until what nobody wants any more has ended; that it failed, as it may for that, is no news."""
    await asyncio.wait([future])
    if not future.cancelled():
        future.exception()


def _settle(future: asyncio.Future[T], outcome: T | Exception) -> None:
    if future.done():  # its caller was cancelled
        return
    if isinstance(outcome, Exception):
        future.set_exception(_raisable(outcome))
    else:
        future.set_result(outcome)


def _raisable(error: Exception) -> Exception:
    if not isinstance(error, StopIteration):
        return error
    wrapped = RuntimeError("raised StopIteration")  # which a future refuses
    wrapped.__cause__ = error
    return wrapped


class Clock(Protocol):
    """Time. Nothing else in the product asks the machine for it."""

    def now(self) -> int:
        """Return the wall clock in microseconds since 1970 UTC."""

    def monotonic(self) -> float:
        """Return seconds that never go backwards."""

    async def sleep(self, delay: timedelta) -> None:
        """Wait for *delay*."""


# One lock for all tickets: it is held for two assignments, and a lock of its own would cost each request more.
_ticket = Lock()


@dataclass(slots=True)
class Ticket:
    """The caller's side of a request on its way: it is either started or withdrawn, whichever thread asks first."""

    clock: Clock
    deadline: float | None = None  #: by the clock's monotonic seconds
    cancelled: bool = False
    started: bool = False

    def start(self) -> None:
        """Begin, from which point the change can no longer be taken back.

        Raises:
            Cancelled: If the caller cancelled it first.
            DeadlineExceeded: If its time has run out.
        """
        with _ticket:
            if self.cancelled:
                raise Cancelled
            if self.deadline is not None and self.clock.monotonic() >= self.deadline:
                raise DeadlineExceeded
            self.started = True

    def withdraw(self) -> bool:
        """Make sure that it never starts; return False if it has."""
        with _ticket:
            if self.started:
                return False
            self.cancelled = True
            return True


class Applied(NamedTuple, Generic[T]):
    """What one change did, once it is durable.

    Attributes:
        value: What the change's function returned.
        rows: Its log rows; empty when nothing changed.
        notes: The state after the change of every note it touched, by id.
        last_seq: The shelf's last sequence number after this change.
    """

    value: T
    rows: Sequence[LogRow]
    notes: Mapping[str, Note]
    last_seq: int


class Effects(Protocol):
    """What a finished transaction hands to the store: entries for the log and the notes it touched."""

    @property
    def entries(self) -> Sequence[Entry]:
        """Changes for the log, in order."""

    @property
    def touched(self) -> Mapping[str, Note]:
        """Notes after the change, by id."""

    @property
    def variant(self) -> int | None:
        """Which alternative of its turn made the change; None if the turn has none."""


class Change(NamedTuple, Generic[T]):
    """One change to be applied completely or not at all.

    ``apply`` runs synchronously inside the store's transaction, possibly on another thread: it must touch nothing
    but the writer it is given. It returns the change's value and its outbox. One that *can_repeat* may be called again
    after what it did was rolled back, which lets the store do with fewer marks to go back to. One that *is_large* takes
    so long that small ones of other senders may go before it.

    ``ahead`` does what needs nothing of the shelf, and may be called before that, on any thread: of changes that are
    made durable together, it is a good deal faster to do this for several, one after the other, than for each between
    its rows and the next one's, for code and data are in the processor's caches then. Whether it is called or not, and
    whether it raises, makes no other difference to what *apply* does.
    """

    origin: Origin
    apply: Callable[[Writer, int], tuple[T, Effects]]  #: (writer, now in microseconds)
    ticket: Ticket | None = None
    can_repeat: bool = False
    is_large: bool = False
    sender: str | None = None  #: whose changes are applied in their order; None keeps its place among all
    ahead: Callable[[], object] | None = None


class Snapshot(Protocol):
    """One state of a shelf, and a file beside it that is being written.

    Attributes:
        view: The state; nothing that is committed later is in it. Read on the event loop.
        path: Where the file is, once the block in which it is written has ended.
    """

    view: View
    path: str

    async def write(self, data: bytes) -> None:
        """Append *data* to the file.

        Raises:
            Unavailable: If it cannot be written, or the store is being closed.
        """


class Store(Protocol):
    """One shelf's durable state.

    Changes are serialised: each sees all before it. Everything waiting is made durable together. When
    :meth:`commit` returns, its change survives ``kill -9`` and power loss.
    """

    @property
    def view(self) -> View:
        """The last committed state. Each call on it reads what is committed at that moment."""

    def submit(self, change: Change[T], on_done: OnDone[Applied[T]]) -> None:
        """Queue *change* to be applied and made durable. Changes apply in the order of these calls, but for small ones.

        These go before a large one when that comes after another large one, if all that waits of their sender is small.

        Args:
            change: What to do.
            on_done: Called later, on the loop, with what :meth:`commit` would return or raise. It must not raise.

        Raises:
            ShuttingDown: If the store is being closed; *on_done* is not called.
        """

    async def commit(self, change: Change[T]) -> Applied[T]:
        """Apply *change* and make it durable. It is queued, as by :meth:`submit`, before this first waits.

        Raises:
            ShelfError: What the change raised; it was rolled back alone, others of its group stand.
            Unavailable: If the group could not be made durable; nothing of it happened.
        """
        return await outcome_of(lambda on_done: self.submit(change, on_done))

    def follow(self, listener: Callable[[Sequence[Applied[Any]]], None]) -> Callable[[], None]:
        """Call *listener* with each group of applied changes, in order, before their callers are notified.

        Returns:
            A function that ends the following.
        """

    @property
    def writing_since(self) -> float | None:
        """When the group that is being made durable was begun, by the event loop's time; None while nothing is."""

    async def list_notes(
        self, wanted: NoteFilter, *, order: str, descending: bool, after: tuple[int, int] | None, limit: int
    ) -> Listing:
        """Return what ``view.notes.page`` would, and with the first page how many notes there are on all.

        Blocks nothing, however many notes have to be read for it. What is changed meanwhile may be listed, and
        counted, as it was or as it is.
        """

    async def scrub(self) -> bool:
        """Let nothing of what was erased remain in the files; return False if that has to be tried again."""

    def snapshot(self, name: str) -> AbstractAsyncContextManager[Snapshot]:
        """Make a file *name*``.jsonl`` beside the shelf, or with a number behind the name if that is taken.

        When the block ends it is there, whole and durable; if it ends with an error, there is none. Changes go on
        meanwhile. Another one of the same shelf waits.

        Raises:
            Unavailable: If it cannot be written.
        """

    async def backup(self, plan: BackupPlan, report: Report) -> NewBackup:
        """Copy the shelf as it is at one moment, check the copy, and give it its name; changes go on meanwhile.

        Cut short by a crash, it leaves nothing that counts as a backup. What the same run made is returned as it is.

        Raises:
            InvalidParams: If it cannot be where it is wanted.
            BackupFailed: If it cannot be written; nothing of it is left.
            ShuttingDown: If the store is closed first.
        """

    def frozen(self) -> AbstractAsyncContextManager[View]:
        """Show what is committed by now, and nothing later, for the length of a block. Read on the event loop.

        Another one of the same shelf waits, as do snapshots and what lets nothing remain in the files: so a block ends
        soon.
        """

    def copies(self) -> Sequence[tuple[str, int]]:
        """Return copies of the shelf, or of notes of it, that lie beside it and that no purge reaches.

        Returns:
            Of each its whole path, and when it was made, microseconds since 1970 UTC.
        """

    @property
    def images(self) -> Images:
        """Where the image of its projections lies."""

    async def check(self, *, full: bool) -> list[str]:
        """Check the files; return what is wrong in words, with what to do. *full* also checks cross references."""

    async def rest(self) -> None:
        """Release what only writing needs, unless a change came since the last call. The next change takes it again."""

    async def close(self) -> None:
        """Finish what is queued, then release everything. A second call is harmless."""


class Stores(Protocol):
    """Where shelves are kept: opens, creates and removes them."""

    def names(self) -> list[str]:
        """Return the shelves that exist, sorted."""

    def exists(self, shelf: str) -> bool:
        """Return whether there is such a shelf, sound or not."""

    async def open(self, shelf: str) -> Store:
        """Open an existing shelf.

        Raises:
            ShelfNotFound: If there is none.
            StorageCorrupt: If its file is damaged; it is left untouched.
            SchemaTooNew: If a newer version wrote it; it is left untouched.
            Unavailable: If it is in use by another daemon or cannot be read.
        """

    async def create(self, shelf: str, *, owner: str) -> Store:
        """Make a shelf that belongs to principal *owner* and open it.

        Raises:
            DuplicateShelf: If the name is taken.
        """

    async def drop(self, shelf: str) -> None:
        """Remove a closed shelf's files, and nothing outside of its directory.

        Raises:
            ShelfNotFound: If there is none.
            StorageCorrupt: If its directory is elsewhere and only linked to.
        """

    def owner(self, shelf: str) -> str | None:
        """Return the principal a shelf belongs to without opening it for use; None if it cannot be read."""

    def has_unfinished_work(self, shelf: str) -> bool:
        """Return whether the shelf was closed with work under way that is to be resumed, without opening it for use."""

    def next_expiry(self, shelf: str) -> int | None:
        """Return when the first note of a shelf expires that does and of which nobody was told, without opening it."""

    async def backups(self, shelf: str) -> list[Backup]:
        """Return the backups in the shelf's own directory of them, the last one first; there need be no such shelf."""

    def backups_directory(self, shelf: str) -> str:
        """Return where backups of a shelf are kept."""

    async def prepare(self, shelf: str, backup: str, *, owner: str | None) -> Prepared:
        """Check a backup, and copy it to where it can take the place of *shelf*, which need not exist.

        Args:
            shelf: The shelf's name. It is left alone.
            backup: Path of the backup.
            owner: The principal that the copy belongs to; None: as the backup has it.

        Raises:
            NotFound: If there is no backup.
            StorageCorrupt: If it is damaged, or no backup.
            SchemaTooNew: If a newer version made it.
            Conflict: If another one is prepared for this shelf.
            BackupFailed: If it cannot be read or copied.
        """

    async def open_prepared(self, prepared: Prepared) -> Store:
        """Open the copy, to change it before it takes its place; it has to be closed first."""

    async def replace(self, prepared: Prepared, *, keep: bool) -> str | None:
        """Put the copy in the shelf's place, in one step; the shelf must be closed.

        Args:
            prepared: What :meth:`prepare` returned.
            keep: Whether what was there is kept.

        Returns:
            Where what was there is now; None if there was no shelf, or it is gone.

        Raises:
            Conflict: If something else is in the place.
            Unavailable: If that fails; the shelf is as it was.
        """

    async def discard(self, prepared: Prepared) -> None:
        """Remove a copy that took no place; one that did is left alone."""

    async def rename(self, shelf: str, to: str) -> None:
        """Give a closed shelf another name.

        Raises:
            ShelfNotFound: If there is none.
            DuplicateShelf: If the name is taken.
            Unavailable: If that fails; it has its old name.
        """

    async def clean_up(self) -> int:
        """Remove what a crash left of shelves and files that were being made, replaced or removed; return how many."""
