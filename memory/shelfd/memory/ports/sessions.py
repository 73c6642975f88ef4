"""Where a shelf's conversations are kept: sessions, types of notes, what prompts held, what was taken back."""
# A port's method is its docstring; there is nothing to return.
# pyright: reportReturnType=false

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final, NamedTuple, Protocol

#: Under this name of a nugget stand the types of notes of the whole shelf.
WHOLE_SHELF: Final = ""


class Session(NamedTuple):
    """A conversation and the nugget it works on. Times are microseconds since 1970 UTC."""

    session_id: str
    nugget: str
    actor: str | None = None
    at_seq: int | None = None  #: reads show the shelf as it was after this change
    opened_at: int = 0
    last_used_at: int = 0
    closed_at: int | None = None


class SessionsView(Protocol):
    """Reads of sessions. Part of the store's port."""

    def get(self, session_id: str) -> Session | None:
        """Return a session, closed or not."""

    def page(
        self, *, after: str, limit: int, nugget: str | None = None, used_since: int | None = None
    ) -> list[Session]:
        """Return sessions by id, after *after*.

        Args:
            after: The id after which to begin; empty for the first page.
            limit: How many at most.
            nugget: Only those that work on it.
            used_since: Only open ones that were used at this time or later; None for all, closed ones too.
        """

    def count(self) -> int:
        """Return how many sessions there are, closed ones included."""


class SessionsWriter(SessionsView, Protocol):
    """Reads and writes of sessions."""

    def put(self, session: Session) -> None:
        """Add or replace a session."""


class NoteTypesView(Protocol):
    """Reads of types of notes that were set. Part of the store's port."""

    def of(self, nugget: str) -> dict[str, Mapping[str, Any]]:
        """Return the types of a nugget, by name and ordered by it; of the whole shelf under ``WHOLE_SHELF``."""


class NoteTypesWriter(NoteTypesView, Protocol):
    """Reads and writes of types of notes."""

    def put(self, nugget: str, name: str, spec: Mapping[str, Any]) -> None:
        """Add or replace a type."""

    def delete(self, nugget: str, name: str) -> bool:
        """Delete a type; return whether there was one."""


class Variant(NamedTuple):
    """One of the alternatives of a turn."""

    session_id: str
    turn: int
    variant: int
    is_live: bool
    run_id: str | None = None  #: the run that put it away


class Retraction(NamedTuple):
    """Changes of a conversation that were taken back, or were given back: those of its turns, up to one in the log."""

    session_id: str
    from_turn: int
    until_turn: int | None  #: the last one; None for all that follow
    variant: int | None  #: of one variant only
    since_seq: int  #: the first of these changes
    up_to_seq: int  #: none after this one
    done_seq: int  #: the last change of the run that took them back, by which that was done
    run_id: str  #: the run that did it
    revives: int | None = None  #: the number of the retraction that this one ended
    undone_by: str | None = None  #: the run that ended this one

    @property
    def stands(self) -> bool:
        """Whether these changes do not count because of it."""
        return self.revives is None and self.undone_by is None


class RewindsView(Protocol):
    """Reads of what was taken back of conversations. Part of the store's port."""

    def live_variant(self, session_id: str, turn: int) -> int | None:
        """Return the variant of a turn that is live; None if the turn has no alternatives."""

    def variants(self, session_id: str, *, from_turn: int, until_turn: int | None = None) -> list[Variant]:
        """Return the variants of these turns, by turn and number. A turn without alternatives has none."""

    def get(self, number: int) -> Retraction | None:
        """Return the retraction with this number."""

    def by_run(self, run_id: str) -> list[tuple[int, Retraction]]:
        """Return what a run took back and gave back, with its number, in order."""

    def since(self, seq: int) -> list[tuple[int, Retraction]]:
        """Return retractions that were done by this change or later, with their numbers, in order."""

    def of_variant(self, session_id: str, turn: int, variant: int) -> list[tuple[int, Retraction]]:
        """Return those retractions, with their numbers, in order, that stand and are of this variant alone."""

    def copies(self, note_id: str) -> list[str]:
        """Return the ids of the notes that branches made of a note, purged ones included, by id."""


class RewindsWriter(RewindsView, Protocol):
    """Reads and writes of what was taken back of conversations."""

    def put_variant(self, variant: Variant) -> None:
        """Add or replace a variant."""

    def add_retraction(self, retraction: Retraction) -> int:
        """Add a retraction; return its number, above all before."""

    def add_copy(self, note_id: str, copy_id: str) -> None:
        """Add that a note was copied."""

    def put_retraction(self, number: int, retraction: Retraction) -> None:
        """Replace the retraction with this number."""


class Injection(NamedTuple):
    """What was handed to a prompt, with the ids of the notes it came from."""

    session_id: str
    turn: int
    at: int  #: microseconds since 1970 UTC
    seq: int  #: the shelf's last change before it
    pinned: tuple[str, ...] | None = ()  #: always injected; None if that was not reported
    recalled: tuple[str, ...] = ()
    frontier: tuple[str, ...] | None = ()  #: visible then; None if that was not reported
    blocks: Mapping[str, Any] | None = None  #: rendered text by name
    tokens: int | None = None
    trace: Mapping[str, Any] | None = None  #: how the recalled ones were chosen

    @property
    def ids(self) -> frozenset[str]:
        """All notes it names."""
        return frozenset((*(self.pinned or ()), *self.recalled, *(self.frontier or ())))

    def without(self, ids: Collection[str]) -> "Injection":
        """Return this without the notes *ids*, and without text in which they may occur."""

        def left(named: Iterable[str]) -> tuple[str, ...]:
            return tuple(one for one in named if one not in ids)

        return self._replace(
            pinned=None if self.pinned is None else left(self.pinned),
            recalled=left(self.recalled),
            frontier=None if self.frontier is None else left(self.frontier),
            blocks=None,
            trace=None,
        )


class InjectionsView(Protocol):
    """Reads of what was handed to prompts. Part of the store's port."""

    def last(self, session_id: str, *, turn: int | None = None, at_seq: int | None = None) -> Injection | None:
        """Return the record of a conversation that was made last; with *turn*, of the highest turn up to that one.

        Args:
            session_id: The conversation.
            turn: The last turn that counts.
            at_seq: Only records that stood in the log when that was its last change.
        """

    def page(self, *, after: int, limit: int) -> list[tuple[int, Injection]]:
        """Return records of all conversations, with their numbers, in the order they were made, after *after*."""

    def naming(self, ids: Collection[str], *, after: int, limit: int) -> tuple[list[int], int | None]:
        """Look at the next *limit* records, by number, for those that name one of the notes *ids*.

        Returns:
            The numbers of those, and after which number to continue; None when there are no more.
        """

    def count(self, session_id: str) -> int:
        """Return how many records a conversation has."""


class InjectionsWriter(InjectionsView, Protocol):
    """Reads and writes of what was handed to prompts."""

    def add(self, injection: Injection) -> int:
        """Add a record; return its number, above all before."""

    def replace(self, number: int, injection: Injection) -> None:
        """Replace the record with this number, if it is still there."""

    def delete_beyond(self, session_id: str, *, kept: int, kept_in_all: int) -> None:
        """Delete all but the *kept* records of a conversation that were made last, and those long past of others.

        Args:
            session_id: The conversation that has a new record.
            kept: How many of its records stay.
            kept_in_all: How many of the last numbers stay, whatever conversation they belong to. A few of those
                before them are deleted by each call.
        """

    def delete_of(self, session_id: str, *, limit: int) -> int:
        """Delete at most *limit* records of a conversation; return how many."""
