"""What a store shows of a shelf: reads of its rows, and the writes of a transaction. Part of the store's port."""
# A port's method is its docstring; there is nothing to return.
# pyright: reportReturnType=false

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeAlias

from shelfd.memory.notes.note import Link, Note, Nugget, Usage
from shelfd.memory.ports.job import Job
from shelfd.memory.ports.ledger import Run
from shelfd.memory.ports.log import LogRow
from shelfd.memory.ports.tending import Promoted, Tended


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
    tags: tuple[str, ...] = ()  #: own or derived tags a note has all of
    needs_review: bool | None = None


class Listing(NamedTuple):
    """A page of notes."""

    notes: Sequence[Note]
    total: int | None  #: on all pages; counted with the first one only


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


#: Under which an outcome is stored: principal, method, key.
RecordedKey: TypeAlias = tuple[str, str, str]


class RecentQuery(NamedTuple):
    """A query that somebody asked, and what was found."""

    params: str  #: recall's params that say what is sought, as JSON; identifies the query
    ids: tuple[str, ...]  #: of the notes returned, best first
    at: int  #: when it was last asked, microseconds since 1970 UTC


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

    def notes_at(self, rows: Sequence[int]) -> dict[int, Note]:
        """Return those of the notes that exist, by row."""

    def fact(self, nugget: str, key: str) -> Note | None:
        """Return the fact with this folded key, hidden or not."""

    def facts_by_key(self, key: str) -> list[Note]:
        """Return the facts of all nuggets with this folded key, hidden or not."""

    def list_notes(
        self, wanted: NoteFilter, *, order: str, descending: bool, after: tuple[int, int] | None, limit: int
    ) -> list[Note]:
        """Return notes by (*order*, row), behind *after*; *order* is ``updated_at`` or ``row`` (creation).

        Of a filter that few of many notes pass this looks at all of them: see :meth:`Store.list_notes`.
        """

    def count_notes(self, wanted: NoteFilter) -> int:
        """Return how many notes :meth:`list_notes` would give without a limit."""

    def changed_positions(self, nugget: str, *, after: tuple[int, int], limit: int) -> list[tuple[int, int]]:
        """Return (``updated_at``, row) of the nugget's notes, hidden ones included, in that order, behind *after*."""

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

    def hit_sessions(self, rows: Sequence[int]) -> dict[int, frozenset[str]]:
        """Return the sessions in which each of the notes was returned, as far as they are kept, by row."""

    def log(self, *, since_seq: int, limit: int) -> list[LogRow]:
        """Return changes after *since_seq*, in order."""

    def note_log(self, row: int, *, since_seq: int = 0, limit: int | None = None) -> list[LogRow]:
        """Return the changes of one note after *since_seq*, in order."""

    def link_log(self, source: str, target: str) -> list[LogRow]:
        """Return the changes of links from one note to another, in order."""

    def run_log(self, run_id: str, *, since_seq: int = 0, limit: int | None = None) -> list[LogRow]:
        """Return the changes a run made after *since_seq*, in order."""

    def completed_log(self, kind: str, *, before: int | None, limit: int) -> list[LogRow]:
        """Return rows that end a run, the last first, below sequence number *before*.

        *kind* is ``reflection.completed``, ``reflection.undone`` or ``promotion.completed``.
        """

    def recorded(self, principal: str, method: str, key: str) -> Recorded | None:
        """Return the outcome stored under an idempotency key."""

    def recorded_naming(
        self, ids: Collection[str], *, after: RecordedKey | None, limit: int
    ) -> tuple[list[RecordedKey], RecordedKey | None]:
        """Look at the next *limit* stored outcomes, by key, for those that name one of the notes *ids*.

        Returns:
            The keys of those, and behind which key to go on; None when there are no more.
        """

    def turn_number(self, nugget: str, session_id: str, turn: int) -> int | None:
        """Return the nugget's number of a conversation's turn, if it was seen."""

    def meta(self, name: str) -> str | None:
        """Return an entry of the shelf's own properties (``shelf``, ``owner``, ``created_at``)."""

    def sink(self, name: str) -> int | None:
        """Return the last change a receiver of events was given; None if it never got one."""

    def run(self, job: str, slot: str) -> Run | None:
        """Return the run that claimed a job's slot."""

    def list_runs(self, *, job: str | None, before: int | None, limit: int) -> list[tuple[int, Run]]:
        """Return runs with their numbers, the last claimed first, below number *before*."""

    def tended(self) -> list[Tended]:
        """Return how far reflection has come in each nugget it has looked at, by name."""

    def promoted(self, path: str) -> list[Promoted]:
        """Return the lines that promotion wrote to the file at *path*, in the order they were given."""

    def promoting(self, path: str) -> list[Promoted]:
        """Return the lines that promotion is about to write to the file at *path*, or was when the daemon died."""

    def promoted_paths(self) -> list[str]:
        """Return the paths of all files that promotion wrote to or is about to."""

    def promoting_paths(self) -> list[str]:
        """Return the paths of files that promotion is about to write to, or was when the daemon died."""

    def promoted_to(self, note_id: str) -> list[str]:
        """Return the paths of the files to which promotion wrote a line of the note, or is about to."""

    def job(self, job_id: str) -> Job | None:
        """Return a job."""

    def list_jobs(self, *, unfinished: bool, before: int | None, limit: int) -> list[tuple[int, Job]]:
        """Return jobs with their numbers, the last begun first, below number *before*."""

    def recent_queries(self, limit: int) -> list[RecentQuery]:
        """Return queries that were asked lately, the last one first, those of one moment by their params."""

    def notes_with_hits(self, minimum: int) -> list[Note]:
        """Return visible notes that nothing replaced, with at least *minimum* (3 or more) hits, by row."""

    def merged_rows(self, note_id: str, *, limit: int) -> list[int]:
        """Return the rows of at most *limit* hidden notes that became part of a note, of however many merges.

        One that was restored is none, and what had become part of it belongs to it alone again.
        """

    def merge_targets(self, *, after: str, limit: int) -> list[str]:
        """Return ids of notes that others became part of, by id, behind *after*."""


class Writer(View, Protocol):
    """Reads and writes inside one transaction. Used by :class:`~shelfd.memory.log.transaction.Transaction` alone."""

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

    def erase_note(self, note: Note) -> None:
        """Delete a note and its usage, after :meth:`redact_note` has taken away all it does.

        Stored outcomes and queries that name the note are left: see :meth:`drop_recorded`, :meth:`forget_queries_of`.
        """

    def redact_note(self, note: Note, *, after: int, limit: int) -> int | None:
        """Take a note out of the log, and its links away: as many rows of each as *limit*.

        Args:
            after: The sequence number after which log rows are left to redact.

        Returns:
            Where to go on; None when nothing is left.
        """

    def redact(self, seqs: Sequence[int]) -> None:
        """Take away what the log rows with these numbers keep of what they replaced."""

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

    def forget_recorded(self, before: int, *, now: int, limit: int) -> int:
        """Drop at most *limit* outcomes stored before that time, the oldest first; return how many.

        Of those that a clock which was set back since had stored after *now*, as many count as stored now.
        """

    def drop_recorded(self, keys: Sequence[RecordedKey]) -> None:
        """Drop the outcomes stored under these keys."""

    def put_usages(self, usages: Mapping[int, Usage]) -> None:
        """Replace the usage of notes, by row; a row that is gone by now is passed over."""

    def add_hit_sessions(self, sessions: Sequence[tuple[int, str]]) -> None:
        """Remember that notes (by row) were returned in sessions; what is known already is no error."""

    def put_meta(self, name: str, value: str) -> None:
        """Set an entry of the shelf's own properties."""

    def put_sink(self, name: str, seq: int) -> None:
        """Set the last change a receiver of events was given."""

    def claim_run(self, run: Run) -> bool:
        """Add a run unless its job's slot is taken; return whether it was added."""

    def put_run(self, run: Run) -> None:
        """Replace the run with this job and slot."""

    def forget_runs(self, before: int) -> int:
        """Drop runs that were claimed before that time; return how many."""

    def put_tended(self, tended: Tended) -> None:
        """Add or replace how far reflection has come in a nugget."""

    def put_promoted(self, path: str, lines: Sequence[Promoted]) -> None:
        """Replace the lines that promotion wrote to the file at *path*."""

    def put_promoting(self, path: str, lines: Sequence[Promoted]) -> None:
        """Replace the lines that promotion is about to write to the file at *path*; none when it has."""

    def put_job(self, job: Job) -> None:
        """Add a job, or replace the one with its id."""

    def forget_jobs(self, before: int, *, limit: int) -> int:
        """Drop those of the *limit* oldest jobs that ended before that time; return how many."""

    def put_recent_queries(self, queries: Sequence[RecentQuery]) -> None:
        """Add queries in the order they were asked, each replacing the one with its params."""

    def forget_recent_queries(self, *, before: int, now: int, kept: int) -> None:
        """Drop queries that were last asked before that time, and all but the last *kept*.

        Those that a clock which was set back since has as asked after *now* count as asked now.
        """

    def forget_queries_of(self, ids: Collection[str]) -> None:
        """Drop the queries that found one of these notes."""
