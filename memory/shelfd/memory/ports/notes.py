"""Where a shelf's notes are kept, with their links and the nuggets they belong to: parts of the store's port."""
# A port's method is its docstring; there is nothing to return.
# pyright: reportReturnType=false

from collections.abc import Sequence
from typing import Final, NamedTuple, Protocol

from shelfd.memory.notes.filter import NoteFilter
from shelfd.memory.notes.note import Link, Note, Nugget


class Listing(NamedTuple):
    """A page of notes."""

    notes: Sequence[Note]
    total: int | None  #: on all pages; counted with the first one only


class NuggetCounts(NamedTuple):
    """How many notes a nugget has; ``facts`` are the visible ones, ``notes`` all."""

    facts: int
    notes: int
    hidden: int


class NotesView(Protocol):
    """Reads of notes."""

    def get(self, note_id: str) -> Note | None:
        """Return the note, hidden or not."""

    def existing(self, ids: Sequence[str]) -> set[str]:
        """Return those of *ids* that notes have."""

    def by_ids(self, ids: Sequence[str]) -> dict[str, Note]:
        """Return those of the notes that exist, by id."""

    def by_rows(self, rows: Sequence[int]) -> dict[int, Note]:
        """Return those of the notes that exist, by row."""

    def ids(self, rows: Sequence[int], wanted: NoteFilter) -> dict[int, str | None]:
        """Return the ids of notes by row, None for those that are not wanted. It reads no note's text."""

    def fact(self, nugget: str, key: str) -> Note | None:
        """Return the fact with this folded key, hidden or not."""

    def named(self, nugget: str, type_: str | None, names: Sequence[str]) -> list[Note]:
        """Return the nugget's notes of a (folded) type, or of any, that answer to one of these folded names, by row.

        :func:`~shelfd.memory.notes.names.names_of` says which they answer to.
        """

    def count_typed(self, type_: str, nugget: str | None, *, limit: int) -> int:
        """Return how many visible notes have a type, in one nugget or in all, but not more than *limit*.

        Of the types of notes that are remembered without a schema this looks at all notes.
        """

    def facts(self, key: str) -> list[Note]:
        """Return the facts of all nuggets with this folded key, hidden or not."""

    def page(
        self, wanted: NoteFilter, *, order: str, descending: bool, after: tuple[int, int] | None, limit: int
    ) -> list[Note]:
        """Return notes by (*order*, row), after *after*; *order* is ``updated_at`` or ``row`` (creation).

        Of a filter that few of many notes pass this looks at all of them: see
        :meth:`~shelfd.memory.ports.store.Store.list_notes`.
        """

    def count(self, wanted: NoteFilter) -> int:
        """Return how many notes :meth:`page` would give without a limit."""

    def changed_positions(self, nugget: str | None, *, after: tuple[int, int], limit: int) -> list[tuple[int, int]]:
        """Return (``updated_at``, row) of the nugget's notes, hidden ones included, in that order, after *after*.

        Without a nugget, of all notes.
        """

    def scan(self, *, before_row: int | None, limit: int) -> list[Note]:
        """Return notes newest first, with a row below *before_row*; None begins at the newest."""

    def superseded_by(self, note_id: str) -> list[str]:
        """Return ids of the notes that this note replaced."""

    def children(self, ids: Sequence[str], *, after: int = 0, limit: int | None = None) -> list[Note]:
        """Return the notes that these represent, hidden ones included, by row, after row *after*."""

    def expired(self, now: int, *, limit: int) -> list[Note]:
        """Return notes that have expired by *now* and whose expiry was not forgotten, by when they did, then by row."""

    def with_hits(self, *, after: tuple[int, int], limit: int) -> list[tuple[int, int]]:
        """Return (hits, row) of notes with 3 hits or more, hidden ones included, in that order, after *after*."""


class NotesWriter(NotesView, Protocol):
    """Reads and writes of notes."""

    def next_row(self) -> int:
        """Return the row number for a new note."""

    def insert(self, note: Note) -> None:
        """Add a note.

        Raises:
            DuplicateId: If there is a note with its id.
            DuplicateKey: If another fact of the nugget has its key.
        """

    def insert_many(self, notes: Sequence[Note]) -> None:
        """Add notes without keys whose ids no note has, faster than one by one."""

    def update(self, old: Note, note: Note) -> None:
        """Replace the note *old*, which has the same row.

        Raises:
            DuplicateKey: If another fact of the nugget has its key.
        """

    def forget_expiry(self, notes: Sequence[Note]) -> None:
        """Forget that *notes* have expired, until their time is set again."""

    def redact(self, note: Note, *, after: int, limit: int) -> int | None:
        """Take a note out of the log, and its links away: as many rows of each as *limit*.

        Args:
            after: The sequence number after which log rows are left to redact.

        Returns:
            Where to continue; None when nothing is left.
        """

    def delete(self, note: Note) -> None:
        """Delete a note and its usage, after :meth:`redact` has removed all it can.

        Stored outcomes and queries that name the note are left: see
        :meth:`~shelfd.memory.ports.log.RecordedWriter.delete` and
        :meth:`~shelfd.memory.ports.usage.QueriesWriter.delete_naming`.
        """


#: Relations of links that lead from a cause to what it caused.
CAUSES: Final = ("causes", "caused", "leads_to", "led_to", "results_in", "enables", "triggers")


class LinksView(Protocol):
    """Reads of links."""

    def get(self, source: str, target: str, relation: str) -> Link | None:
        """Return one link."""

    def between(self, source: str, target: str) -> list[Link]:
        """Return the links from *source* to *target*, whatever their relation."""

    def leaving(self, ids: Sequence[str]) -> dict[str, list[Link]]:
        """Return the links that leave each of the notes, in the order they were made."""

    def causing(self, note_id: str, *, limit: int) -> list[str]:
        """Return ids of at most *limit* notes whose links say, by one of :data:`CAUSES`, that they caused a note.

        In the order in which the links were made.
        """

    def count(self) -> int:
        """Return how many links there are."""

    def count_leaving(self, note_id: str) -> int:
        """Return how many links leave the note."""

    def page(self, *, note_id: str | None, relation: str | None, after: int, limit: int) -> list[tuple[int, Link]]:
        """Return links with their rows, in the order they were made, after row *after*."""

    def merged_rows(self, note_id: str, *, limit: int) -> list[int]:
        """Return the rows of at most *limit* hidden notes that were merged into a note, of however many merges.

        One that was restored is none, and what had become part of it belongs to it alone again.
        """

    def merge_targets(self, *, after: str, limit: int) -> list[str]:
        """Return ids of notes that others were merged into, by id, after *after*."""


class LinksWriter(LinksView, Protocol):
    """Reads and writes of links."""

    def put(self, link: Link, *, is_new: bool = False) -> None:
        """Add a link or replace the one with its source, target and relation.

        Args:
            is_new: Whether it is known that there is none.
        """

    def delete(self, link: Link) -> None:
        """Delete the link with this source, target and relation."""


class NuggetsView(Protocol):
    """Reads of nuggets and of the turns that each has seen."""

    def get(self, name: str) -> Nugget | None:
        """Return the nugget."""

    def page(self, *, after: str, limit: int) -> list[Nugget]:
        """Return nuggets by name, after *after*."""

    def count(self) -> int:
        """Return how many nuggets there are."""

    def counts(self, name: str) -> NuggetCounts:
        """Return how many notes the nugget has."""

    def turn_number(self, nugget: str, session_id: str, turn: int) -> int | None:
        """Return the nugget's number of a conversation's turn, if it was seen."""

    def last_turn(self, nugget: str, session_id: str) -> int | None:
        """Return the highest turn of a conversation that the nugget has seen."""

    def last_turns(self, nugget: str, session_id: str, *, limit: int) -> list[tuple[int, int]]:
        """Return turns of a conversation that the nugget has seen, and its numbers of them, the highest turn first."""

    def has_turns_beside(self, nugget: str, session_id: str) -> bool:
        """Return whether the nugget has seen turns of another conversation."""


class NuggetsWriter(NuggetsView, Protocol):
    """Reads and writes of nuggets and of the turns that each has seen."""

    def put(self, nugget: Nugget) -> None:
        """Add or replace a nugget."""

    def delete(self, name: str) -> None:
        """Delete a nugget."""

    def rename(self, old: str, new: str) -> None:
        """Give a nugget, its notes, turns, sessions and types another name. Log rows keep the old one.

        Raises:
            DuplicateNugget: If the name is taken.
            DuplicateKey: If a fact of the nugget would meet one with its key.
        """

    def claim_turn(self, nugget: str, session_id: str, turn: int, number: int) -> int:
        """Give a conversation's turn this number in its nugget, unless it has one; return the one it has."""
