"""The change log: what happened, in order, and how to take it back; outcomes of requests; receivers of changes."""
# A port's method is its docstring; there is nothing to return.
# pyright: reportReturnType=false

from collections.abc import Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, Final, NamedTuple, Protocol, TypeAlias

#: What stands in a log row's ``before`` once a purge has redacted it.
REDACTED: Final[Mapping[str, Any]] = {"redacted": True}


#: Stands for the variant of what belongs to a turn whichever of its variants is live.
EVERY_VARIANT: Final = -1


class Origin(NamedTuple):
    """Who asked for a change, and on whose behalf."""

    principal: str
    method: str
    request_id: str | None = None
    session_id: str | None = None
    turn: int | None = None
    run_id: str | None = None
    variant: int | None = None  #: of the turn; None is the first


class OfTurn(NamedTuple):
    """In which turn of which conversation a change was made."""

    session_id: str | None
    turn: int | None
    variant: int | None  #: of the turn; None is the first
    run_id: str | None = None  #: the run; None for that of the request


class Entry(NamedTuple):
    """One change before it has a sequence number.

    ``before`` holds what the change replaced: the former values of a note's changed fields, or a removed link
    or nugget in full. Something new needs nothing to be undone but its ids.
    """

    kind: str
    nugget: str | None
    ids: tuple[str, ...]
    row: int | None = None
    before: Mapping[str, Any] | None = None
    of_turn: OfTurn | None = None  #: where that is not the one of the request


class LogRow(NamedTuple):
    """One change as it stands in the log."""

    seq: int
    tx: int
    tx_size: int
    at: int
    origin: Origin
    kind: str
    nugget: str | None
    ids: tuple[str, ...]
    row: int | None
    before: Mapping[str, Any] | None


class Touched(NamedTuple):
    """Which notes a stretch of the log is about."""

    created: int | None  #: row of the first note that was created
    notes: AbstractSet[int]  #: rows of the others


#: What followers are given instead of a change when there will be none: the shelf is closed.
ENDED: Final = -1


class LogView(Protocol):
    """Reads of the change log. Part of the store's port."""

    @property
    def last_seq(self) -> int:
        """The last change in the log, 0 in a new shelf."""

    @property
    def first_seq(self) -> int:
        """The first change the log still has."""

    def page(self, *, since_seq: int, limit: int) -> list[LogRow]:
        """Return changes after *since_seq*, in order."""

    def of_note(self, row: int, *, since_seq: int = 0, limit: int | None = None) -> list[LogRow]:
        """Return the changes of one note after *since_seq*, in order."""

    def touched(self, *, after: int, until: int) -> Touched:
        """Return which notes the changes after one sequence number, until another, are about."""

    def of_link(self, source: str, target: str) -> list[LogRow]:
        """Return the changes of links from one note to another, in order."""

    def of_links_from(self, source: str, *, since_seq: int) -> list[LogRow]:
        """Return the changes of links that leave a note after *since_seq*, in order."""

    def of_run(self, run_id: str, *, since_seq: int = 0, limit: int | None = None) -> list[LogRow]:
        """Return the changes a run made after *since_seq*, in order."""

    def of_turns(
        self,
        session_id: str,
        *,
        from_turn: int,
        until_turn: int | None = None,
        variant: int | None = None,
        after: tuple[int, int] = (0, 0),
        limit: int | None = None,
    ) -> list[LogRow]:
        """Return the changes of a conversation's turns by (turn, seq), after *after*.

        Args:
            session_id: The conversation.
            from_turn: The first turn.
            until_turn: The last one; None for all that follow.
            variant: Only those that this variant made.
            after: Turn and sequence number after which to begin.
            limit: How many at most.
        """

    def first_of_turns(
        self,
        session_id: str,
        *,
        from_turn: int,
        until_turn: int | None = None,
        variant: int | None = None,
        above: int = 0,
    ) -> int | None:
        """Return the lowest sequence number above *above* of the changes that :meth:`of_turns` gives."""

    def last_of_turns(self, session_id: str, *, until_turn: int) -> int | None:
        """Return the highest sequence number of the changes of a conversation's turns up to *until_turn*."""

    def of_run_back(self, run_id: str, *, before: int | None, limit: int) -> list[LogRow]:
        """Return the changes a run made, the last first, below sequence number *before*."""

    def completed(self, kind: str, *, before: int | None, limit: int) -> list[LogRow]:
        """Return rows that end a run, the last first, below sequence number *before*.

        *kind* is ``reflection.completed``, ``reflection.undone`` or ``promotion.completed``.
        """


class LogWriter(LogView, Protocol):
    """Reads of the change log, and what little can be changed in it; the store appends to it by itself."""

    def redact(self, seqs: Sequence[int]) -> None:
        """Redact what the log rows with these numbers keep of what they replaced."""


class Recorded(NamedTuple):
    """The stored outcome of a request with an idempotency key."""

    payload: str
    outcome: Mapping[str, Any]
    at: int


#: Under which an outcome is stored: principal, method, key.
RecordedKey: TypeAlias = tuple[str, str, str]


class RecordedView(Protocol):
    """Reads of stored outcomes. Part of the store's port."""

    def get(self, principal: str, method: str, key: str) -> Recorded | None:
        """Return the outcome stored under an idempotency key."""

    def naming(
        self, ids: Collection[str], *, after: RecordedKey | None, limit: int
    ) -> tuple[list[RecordedKey], RecordedKey | None]:
        """Look at the next *limit* stored outcomes, by key, for those that name one of the notes *ids*.

        Returns:
            The keys of those, and after which key to continue; None when there are no more.
        """


class RecordedWriter(RecordedView, Protocol):
    """Reads and writes of stored outcomes."""

    def put(self, principal: str, method: str, key: str, outcome: Recorded) -> None:
        """Store an outcome under an idempotency key."""

    def delete_before(self, before: int, *, now: int, limit: int) -> int:
        """Delete at most *limit* outcomes stored before that time, the oldest first; return how many.

        Of those that a clock which was set back since had stored after *now*, as many count as stored now.
        """

    def delete(self, keys: Sequence[RecordedKey]) -> None:
        """Delete the outcomes stored under these keys."""


class Sink(Protocol):
    """One receiver of one open shelf's changes. Its methods are called on the event loop.

    Unlike a follower, a sink does not keep a shelf open for ever: how far it got is stored in the shelf, and
    it continues from there when the shelf is opened again.
    """

    @property
    def is_behind(self) -> bool:
        """Whether it is still delivering changes; an idle shelf stays open meanwhile."""

    def applied(self, last_seq: int) -> None:
        """Called when every change up to *last_seq* is durable and known to recall. Must return at once."""

    def closing(self) -> None:
        """Called when the shelf is being closed and must not be read any more."""


class SinksView(Protocol):
    """Reads of how far sinks have come. Part of the store's port."""

    def get(self, name: str) -> int | None:
        """Return the last change a receiver of events was given; None if it never got one."""


class SinksWriter(SinksView, Protocol):
    """Reads and writes of how far sinks have come."""

    def put(self, name: str, seq: int) -> None:
        """Set the last change a receiver of events was given."""
