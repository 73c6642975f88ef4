"""The ports: everything the memory needs from outside, and what it may rely on.

Adapters live in other components. Every store passes the contract suite in ``tests/contract``.
"""
# A port's method is its docstring; there is nothing to return.
# pyright: reportReturnType=false

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from shelfd.memory.errors import Cancelled, DeadlineExceeded
from shelfd.memory.log import Entry, LogRow, Origin
from shelfd.memory.note import Link, Note, Nugget, Usage

T = TypeVar("T")


class Clock(Protocol):
    """Time. Nothing else in the product asks the machine for it."""

    def now(self) -> int:
        """Return the wall clock in microseconds since 1970 UTC."""

    def monotonic(self) -> float:
        """Return seconds that never go backwards."""

    async def sleep(self, delay: timedelta) -> None:
        """Wait for *delay*."""


class NoteFilter(NamedTuple):
    """Which notes a listing wants; None means any."""

    nugget: str | None = None
    kind: str | None = None
    include_hidden: bool = False
    include_superseded: bool = True
    subject: str | None = None
    scope: str | None = None
    type: str | None = None
    stability: str | None = None
    tags: tuple[str, ...] = ()  #: own tags a note has all of
    needs_review: bool | None = None


class Counts(NamedTuple):
    """How many rows a shelf has."""

    notes: int
    facts: int
    hidden: int
    superseded: int
    nuggets: int
    links: int


class NuggetCounts(NamedTuple):
    """How many notes a nugget has; ``facts`` are the visible ones, ``notes`` all."""

    facts: int
    notes: int
    hidden: int


class Recorded(NamedTuple):
    """The stored outcome of a request with an idempotency key."""

    payload: str
    outcome: Mapping[str, Any]
    at: int


class View(Protocol):
    """Synchronous reads of one consistent state of a shelf. Each takes well under a millisecond."""

    @property
    def last_seq(self) -> int:
        """The last change in the log, 0 in a new shelf."""

    @property
    def first_seq(self) -> int:
        """The first change the log still has."""

    def note(self, note_id: str) -> Note | None:
        """Return the note, hidden or not."""

    def notes(self, ids: Sequence[str]) -> dict[str, Note]:
        """Return those of the notes that exist, by id."""

    def fact(self, nugget: str, key: str) -> Note | None:
        """Return the fact with this folded key, hidden or not."""

    def facts_by_key(self, key: str) -> list[Note]:
        """Return the facts of all nuggets with this folded key, hidden or not."""

    def list_notes(
        self, wanted: NoteFilter, *, order: str, descending: bool, after: tuple[int, int] | None, limit: int
    ) -> list[Note]:
        """Return notes by (*order*, row), behind *after*; *order* is ``updated_at`` or ``row`` (creation)."""

    def count_notes(self, wanted: NoteFilter) -> int:
        """Return how many notes :meth:`list_notes` would give without a limit."""

    def scan_notes(self, *, before_row: int | None, limit: int) -> list[Note]:
        """Return notes newest first, with a row below *before_row*; None begins at the newest."""

    def superseded_by(self, note_id: str) -> list[str]:
        """Return ids of the notes that this note replaced."""

    def links_from(self, ids: Sequence[str]) -> dict[str, list[Link]]:
        """Return the links that leave each of the notes, in the order they were made."""

    def link(self, source: str, target: str, relation: str) -> Link | None:
        """Return one link."""

    def links_between(self, source: str, target: str) -> list[Link]:
        """Return the links from *source* to *target*, whatever their relation."""

    def list_links(
        self, *, note_id: str | None, relation: str | None, after: int, limit: int
    ) -> list[tuple[int, Link]]:
        """Return links with their rows, in the order they were made, behind row *after*."""

    def count_links_from(self, note_id: str) -> int:
        """Return how many links leave the note."""

    def nugget(self, name: str) -> Nugget | None:
        """Return the nugget."""

    def list_nuggets(self, *, after: str, limit: int) -> list[Nugget]:
        """Return nuggets by name, behind *after*."""

    def nugget_counts(self, name: str) -> NuggetCounts:
        """Return how many notes the nugget has."""

    def counts(self) -> Counts:
        """Return how many rows the shelf has."""

    def usage(self, rows: Sequence[int]) -> dict[int, Usage]:
        """Return the usage of those of the notes that were ever used, by row."""

    def was_hit(self, rows: Sequence[int], session_id: str) -> set[int]:
        """Return those of the notes that already count a hit of this session."""

    def log(self, *, since_seq: int, limit: int) -> list[LogRow]:
        """Return changes after *since_seq*, in order."""

    def note_log(self, row: int, *, since_seq: int = 0, limit: int | None = None) -> list[LogRow]:
        """Return the changes of one note after *since_seq*, in order."""

    def recorded(self, principal: str, method: str, key: str) -> Recorded | None:
        """Return the outcome stored under an idempotency key."""

    def turn_number(self, nugget: str, session_id: str, turn: int) -> int | None:
        """Return the nugget's number of a conversation's turn, if it was seen."""

    def meta(self, name: str) -> str | None:
        """Return an entry of the shelf's own properties (``shelf``, ``owner``, ``created_at``)."""


class Writer(View, Protocol):
    """Reads and writes inside one transaction. Used by :class:`~shelfd.memory.transaction.Transaction` alone."""

    def next_row(self) -> int:
        """Return the row number for a new note."""

    def insert_note(self, note: Note) -> None:
        """Add a note.

        Raises:
            DuplicateId: If there is a note with its id.
            DuplicateKey: If another fact of the nugget has its key.
        """

    def update_note(self, note: Note) -> None:
        """Replace the note with this row.

        Raises:
            DuplicateKey: If another fact of the nugget has its key.
        """

    def put_link(self, link: Link) -> None:
        """Add a link or replace the one with its source, target and relation."""

    def delete_link(self, link: Link) -> None:
        """Remove the link with this source, target and relation."""

    def put_nugget(self, nugget: Nugget) -> None:
        """Add or replace a nugget."""

    def delete_nugget(self, name: str) -> None:
        """Remove a nugget's row."""

    def rename_nugget(self, old: str, new: str) -> None:
        """Give a nugget, its notes and its turns another name. Log rows keep the old one."""

    def claim_turn(self, nugget: str, session_id: str, turn: int, number: int) -> int:
        """Give a conversation's turn this number in its nugget, unless it has one; return the one it has."""

    def record(self, principal: str, method: str, key: str, outcome: Recorded) -> None:
        """Store an outcome under an idempotency key."""

    def forget_recorded(self, before: int) -> int:
        """Drop outcomes stored before that time; return how many."""

    def put_usages(self, usages: Mapping[int, Usage]) -> None:
        """Replace the usage of notes, by row."""

    def add_hit_sessions(self, sessions: Sequence[tuple[int, str]]) -> None:
        """Remember that notes (by row) were returned in sessions; what is known already is no error."""

    def put_meta(self, name: str, value: str) -> None:
        """Set an entry of the shelf's own properties."""


@dataclass(slots=True)
class Ticket:
    """The caller's side of a change on its way: may it still start, and has it?"""

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
        if self.cancelled:
            raise Cancelled
        if self.deadline is not None and self.clock.monotonic() >= self.deadline:
            raise DeadlineExceeded
        self.started = True


@dataclass(frozen=True, slots=True)
class Applied(Generic[T]):
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


class Outbox(Protocol):
    """What a finished transaction hands to the store: entries for the log and the notes it touched."""

    @property
    def entries(self) -> Sequence[Entry]:
        """Changes for the log, in order."""

    @property
    def touched(self) -> Mapping[str, Note]:
        """Notes after the change, by id."""


@dataclass(frozen=True, slots=True)
class Change(Generic[T]):
    """One change to be applied whole or not at all.

    ``apply`` runs synchronously inside the store's transaction, possibly on another thread: it must touch nothing
    but the writer it is given. It returns the change's value and its outbox.
    """

    origin: Origin
    apply: Callable[[Writer, int], tuple[T, Outbox]]  #: (writer, now in microseconds)
    ticket: Ticket | None = None


class Store(Protocol):
    """One shelf's durable state.

    Changes are serialised: each sees all before it. Everything waiting is made durable together. When
    :meth:`commit` returns, its change survives ``kill -9`` and power loss.
    """

    @property
    def view(self) -> View:
        """The last committed state. Each call on it reads what is committed at that moment."""

    async def commit(self, change: Change[T]) -> Applied[T]:
        """Apply *change* and make it durable. Changes apply in the order of these calls.

        The first step of this coroutine function runs synchronously up to and including queueing the change.

        Raises:
            ShelfError: What the change raised; it was rolled back alone, others of its group stand.
            Unavailable: If the group could not be made durable; nothing of it happened.
        """

    def follow(self, listener: Callable[[Sequence[Applied[Any]]], None]) -> Callable[[], None]:
        """Call *listener* with each group of applied changes, in order, before their callers hear of it.

        Returns:
            A function that ends the following.
        """

    async def check(self, *, full: bool) -> list[str]:
        """Check the files; return what is wrong in words, with what to do. *full* also checks cross references."""

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
            StorageCorrupt: If its file is damaged or newer than this version; it is left untouched.
            Unavailable: If it is in use by another daemon or cannot be read.
        """

    async def create(self, shelf: str, *, owner: str) -> Store:
        """Make a shelf that belongs to principal *owner* and open it.

        Raises:
            DuplicateShelf: If the name is taken.
        """

    async def drop(self, shelf: str) -> None:
        """Remove a closed shelf's files.

        Raises:
            ShelfNotFound: If there is none.
        """

    def owner(self, shelf: str) -> str | None:
        """Return the principal a shelf belongs to without opening it for use; None if it cannot be read."""
