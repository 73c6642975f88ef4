"""A transaction on a shelf: writes rows and the log together, so that no change can miss its log row."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final, Literal, TypeAlias

from shelfd.memory.errors import DuplicateId, GovernanceViolation
from shelfd.memory.log.superseding import unsuperseded
from shelfd.memory.notes.note import BOOKKEEPING, Link, Note, Nugget
from shelfd.memory.ports.evolution import StoredConflict
from shelfd.memory.ports.intake import ANY_TEXT, Intake
from shelfd.memory.ports.log import REDACTED, Entry, OfTurn, Origin
from shelfd.memory.ports.view import Writer

#: The effect of putting a link.
LinkStatus: TypeAlias = Literal["added", "updated", "unchanged"]

#: How a conflict is resolved by itself, and comes back when that is taken back.
OF_THEMSELVES: Final = ("hidden", "superseded", "quarantined")
#: How one is decided by what supersedes one of its notes; that it counts again takes this back.
_KEEPING_ONE: Final = ("a", "b")
#: Ids that are drawn together.
_IDS_DRAWN: Final = 256
#: Conflicts of one note that are followed.
_CONFLICTS: Final = 256

_made: Final = tuple.__new__  # a named tuple of a tuple of all its values, in a third of the time

_COMPARED = tuple((index, name) for index, name in enumerate(Note._fields) if name not in BOOKKEEPING)


def gone_link(link: Link) -> str:
    """Return under which of the shelf's properties stands when a link was removed."""
    return f"gone link {json.dumps(link[:3], ensure_ascii=False)}"


def restored_link(link: Link) -> str:
    """Return under which of the shelf's properties stands when a link whose removal was taken back is there again."""
    return f"restored link {json.dumps(link[:3], ensure_ascii=False)}"


def gone_note(note_id: str) -> str:
    """Return under which of the shelf's properties stands when a note was purged."""
    return f"gone note {note_id}"


def changed_fields(old: Note, new: Note) -> dict[str, Any]:
    """Return the fields in which *new* says something else than *old*, with their old values."""
    return {name: old[index] for index, name in _COMPARED if old[index] != new[index]}


class Transaction:
    """Changes a shelf through a :class:`~shelfd.memory.ports.store.Writer` and keeps account of it.

    Attributes:
        rows: Reads that see this transaction's own writes.
        now: Its one point in time, microseconds.
        entries: Log entries so far.
        touched: State of every note written so far, by id.
        variant: Which alternative of its turn is live; None if the turn has none or there is no turn.
    """

    __slots__ = (
        "_drawn_ids", "_free_ids", "_intake", "_nuggets", "_of_turn", "_origin", "_unwritten", "_writer", "entries",
        "now", "touched", "variant",
    )  # fmt: skip

    def __init__(self, writer: Writer, now: int, origin: Origin | None = None, intake: Intake = ANY_TEXT) -> None:
        self._writer = writer
        self._origin = origin
        self._intake = intake
        self._of_turn: OfTurn | None = None
        self.now = now
        self.variant: int | None = None
        if origin is not None and origin.turn is not None and origin.session_id is not None:
            self.variant = writer.rewinds.live_variant(origin.session_id, origin.turn)
        self.entries: list[Entry] = []
        self.touched: dict[str, Note] = {}
        self._nuggets: dict[str, Nugget] = {}
        self._unwritten: list[Note] | None = None  # new notes while they are written together
        self._free_ids: dict[tuple[str, str], list[str]] = {}  # by kind and nugget; drawn, and of no note
        self._drawn_ids: set[str] = set()  # all that were, those that notes have got since included

    @property
    def rows(self) -> Writer:
        """The shelf's rows as this transaction sees them."""
        if self._unwritten:
            self._write_notes()
        return self._writer

    @contextmanager
    def writing_together(self) -> Iterator[None]:
        """Write new notes without keys that follow each other by one statement, in the block that this is.

        That makes no difference but in time: before rows are read, or a note is written alone, they are.
        """
        self._unwritten = []
        try:
            yield
            self._write_notes()
        finally:
            self._unwritten = None
            self._free_ids.clear()
            self._drawn_ids.clear()

    def _write_notes(self) -> None:
        if self._unwritten:
            notes, self._unwritten = self._unwritten, []
            self._writer.notes.insert_many(notes)

    def draw_id(self, kind: str, nugget: str, draw: Callable[[str, str, int], set[str]]) -> str:
        """Return an id for a new note.

        Args:
            kind: Of the note.
            nugget: Of the note.
            draw: Draws so many ids, or fewer; of notes that are written together, those that no note has are taken.
        """
        if self._unwritten is None:
            return draw(kind, nugget, 1).pop()
        free = self._free_ids.get((kind, nugget))
        while not free:
            drawn = draw(kind, nugget, _IDS_DRAWN) - self._drawn_ids
            self._drawn_ids |= drawn
            # In order, so that those that are written one after the other lie beside each other in the index.
            free = sorted(drawn - self._writer.notes.existing(list(drawn)), reverse=True)
            self._free_ids[kind, nugget] = free
        return free.pop()

    def next_row(self) -> int:
        """Return the row number for a new note."""
        return self._writer.notes.next_row()

    def claim_turn(self, nugget: str, session_id: str, turn: int, number: int) -> int:
        """Give a turn of a nugget this number, unless it has one; return its number."""
        return self._writer.nuggets.claim_turn(nugget, session_id, turn, number)

    def turn_number(self, nugget: str, session_id: str, turn: int) -> int | None:
        """Return a nugget's number of a conversation's turn; None if that was not counted."""
        return self._writer.nuggets.turn_number(nugget, session_id, turn)

    @property
    def run_id(self) -> str | None:
        """The run that it belongs to, if it belongs to one."""
        return None if self._origin is None else self._origin.run_id

    def write_in(
        self, session_id: str | None, turn: int | None, *, variant: int | None = None, run_id: str | None = None
    ) -> None:
        """Have what follows be of this turn in the log, until the next call; without a session, of the request's.

        Args:
            session_id: The conversation.
            turn: The turn.
            variant: Of the turn; None for the live one.
            run_id: Of another run than the request's.
        """
        now = self._of_turn
        if session_id is None:
            self._of_turn = None
        elif variant is not None or run_id is not None:
            self._of_turn = OfTurn(session_id, turn, variant, run_id)
        elif now is None or (now.session_id, now.turn) != (session_id, turn):
            variant = None if turn is None else self._writer.rewinds.live_variant(session_id, turn)
            self._of_turn = OfTurn(session_id, turn, variant)

    def admit(self, note: Note, old: Note | None = None) -> Note:
        """Return what may be stored of *note*, which a caller has worded. Comes before the first write.

        Args:
            note: What is about to be stored.
            old: What it says now; None if it is new.

        Raises:
            GovernanceViolation: If nothing of it may be.
        """
        return self._intake.admit(note, old, self._origin)

    def admit_many(self, notes: Sequence[Note]) -> Sequence[Note | GovernanceViolation]:
        """Return what :meth:`admit` does of each of some new notes, or the error that it raises."""
        return self._intake.admit_many(notes, self._origin)

    def admit_line(self, text: str, field: str) -> str:
        """Return what may be stored of a caller's line beside a note, or raise GovernanceViolation."""
        return self._intake.admit_line(text, field, self._origin) if text else text

    def admit_name(self, name: str, field: str) -> None:
        """Raise GovernanceViolation if a name that others refer by may not be stored. Comes before any write."""
        self._intake.admit_name(name, field, self._origin)

    def admit_values(self, values: Mapping[str, Any], field: str) -> dict[str, Any]:
        """Return what may be stored of a caller's values beside a note, as :meth:`admit_line` does of a line."""
        return self._intake.admit_values(values, field, self._origin)

    def create_note(self, note: Note, *, redraw: Callable[[], str] | None = None, is_free: bool = False) -> Note:
        """Add *note*, under the next row number unless it has one that the writer assigned.

        Args:
            redraw: Draws another id when the note's is taken; without it a taken id is refused.
            is_free: Whether it has no key, and an id that no note has: then it may be written with others.
        """
        if not note.row:
            note = note._replace(row=self._writer.notes.next_row())
        if is_free and self._unwritten is not None:
            self._unwritten.append(note)
        else:
            note = self._inserted(note, redraw)
        note_id = note.id
        self.entries.append(_made(Entry, ("note.created", note.nugget, (note_id,), note.row, None, self._of_turn)))
        self.touched[note_id] = note
        return note

    def _inserted(self, note: Note, redraw: Callable[[], str] | None) -> Note:
        while True:
            try:
                self.rows.notes.insert(note)
            except DuplicateId:
                if redraw is None:
                    raise
                note = note._replace(id=redraw())
            else:
                return note

    def change_note(self, old: Note, new: Note, *, kind: str | None = None) -> Note:
        """Replace *old* by *new* if they differ; return what stands now, with rev and time moved on.

        Args:
            kind: Of the change; if not given, it follows from whether the note is hidden, or restored.
        """
        before = changed_fields(old, new)
        if not before:
            return old
        if kind is None:
            kind = "note.updated" if old.hidden == new.hidden else "note.hidden" if new.hidden else "note.restored"
        stored = new._replace(rev=old.rev + 1, updated_at=self.now)
        self.rows.notes.update(old, stored)
        self.log(Entry(kind, stored.nugget, (stored.id,), stored.row, before))
        self.touched[stored.id] = stored
        if old.live != stored.live:
            self._follow_conflicts(stored)
        return stored

    def supersede(
        self, old: Note, new: str, *, reason: str | None = None, until: int | None = None, has_held: bool = True
    ) -> Note:
        """Have the note with id *new* stand for *old*.

        Args:
            reason: By which rule; None if a caller said so.
            until: Until when *old* held, unless it says that it ended before; None if that is not known.
            has_held: Whether it ever did, as far as is known.
        """
        extra = old.extra._replace(superseded_reason=reason)
        changed = old._replace(
            superseded_by=new, valid_to=self._held_until(old, until) if has_held else None, extra=extra
        )
        return self.change_note(old, changed, kind="note.superseded")

    def _held_until(self, old: Note, until: int | None) -> int | None:
        """Until when a note held that another one stands for from now on."""
        end = self.now if until is None else until
        if old.valid_to is not None and old.valid_to <= end:
            return old.valid_to
        if old.valid_from is not None and old.valid_from >= end:
            return None
        return until if old.valid_to is None else end

    def put_conflict(self, conflict: StoredConflict) -> None:
        """Add a conflict, or let it be open or resolved as *conflict* says."""
        self._writer.conflicts.put(conflict)
        ends = self._writer.notes.by_rows([conflict.a, conflict.b])
        ids = tuple(ends[row].id for row in (conflict.a, conflict.b) if row in ends)
        kind = "conflict.found" if conflict.resolution is None else "conflict.resolved"
        said = {"conflict": conflict.id, "reason": conflict.reason, "resolution": conflict.resolution}
        self.log(Entry(kind, conflict.nugget, ids, None, said))

    def _follow_conflicts(self, note: Note) -> None:
        """Resolve the conflicts of a note that no longer counts, or open those again of one that counts again."""
        for conflict in self._writer.conflicts.of_note(note.row, limit=_CONFLICTS):
            if not note.live and conflict.resolution is None:
                resolution = "hidden" if note.hidden else "superseded" if note.superseded_by else "quarantined"
                self.put_conflict(conflict._replace(resolved_at=self.now, resolution=resolution))
            elif note.live and conflict.resolution in (*OF_THEMSELVES, *_KEEPING_ONE) and self.is_contested(conflict):
                self.put_conflict(conflict._replace(resolved_at=None, resolution=None))

    def end_conflicts(self, note: Note) -> None:
        """Resolve the conflicts of a note that is about to be purged, which takes them along: who follows is told."""
        for conflict in self._writer.conflicts.of_note(note.row, limit=_CONFLICTS):
            if conflict.resolution is None:
                self.put_conflict(conflict._replace(resolved_at=self.now, resolution="purged"))

    def is_contested(self, conflict: StoredConflict) -> bool:
        """Return whether both notes of a conflict count."""
        ends = self._writer.notes.by_rows([conflict.a, conflict.b])
        return len(ends) == 2 and all(note.live for note in ends.values())

    def hide(self, note: Note) -> Note:
        """Hide a note."""
        return self.change_note(note, note._replace(archived_at=self.now))

    def restore(self, note: Note) -> Note:
        """Bring a hidden note back."""
        return self.change_note(note, note._replace(archived_at=None))

    def unsuperseded(self, note: Note) -> Note:
        """Return *note* as it is if no other stands for it: it holds as long as it did before it was superseded."""
        return unsuperseded(note, reversed(self._writer.log.of_note(note.row))) if note.superseded_by else note

    def put_link(self, link: Link, nugget: str, *, is_restored: bool = False) -> LinkStatus:
        """Add *link*, or let an existing one take over what *link* says of it; return which of these it was.

        What it said before is in the log. One that was removed before has to be younger than that, for other copies of
        the shelf know of the removal; but one whose removal is taken back, *is_restored*, is as it was.
        """
        old = self._writer.links.get(link.source, link.target, link.relation)
        if old is not None:
            merged = link._replace(
                created_at=old.created_at,
                reason=link.reason or old.reason,
                valid_from=old.valid_from if link.valid_from is None else link.valid_from,
                valid_to=old.valid_to if link.valid_to is None else link.valid_to,
                seq_to=old.seq_to,
            )
            if merged == old:
                return "unchanged"
            link = merged
        elif (gone := self._writer.meta.get(gone_link(link))) is not None and int(gone) >= link.created_at:
            if is_restored:
                self._writer.meta.put(restored_link(link), str(int(gone) + 1))
            else:
                link = link._replace(created_at=int(gone) + 1)
        self._writer.links.put(link, is_new=old is None)
        before: Mapping[str, Any] = {"link": list(link)} if old is None else {"link": list(link), "old": list(old)}
        self.log(Entry("link.added", nugget, (link.source, link.target), None, before))
        return "added" if old is None else "updated"

    def delete_link(self, link: Link, nugget: str) -> None:
        """Remove *link*."""
        self._writer.links.delete(link)
        # A copy of the shelf may still have it, and have made it by a clock that is ahead.
        self._writer.meta.put(gone_link(link), str(max(self.now, link.created_at)))
        self.log(Entry("link.removed", nugget, (link.source, link.target), None, {"link": list(link)}))

    def nugget(self, name: str) -> Nugget | None:
        """Return a nugget; read once, for most transactions ask for theirs several times."""
        if name not in self._nuggets and (found := self._writer.nuggets.get(name)) is not None:
            self._nuggets[name] = found
        return self._nuggets.get(name)

    def knows(self, name: str) -> bool:
        """Return whether a nugget is known to be there; one that was not asked for may be, too."""
        return name in self._nuggets

    def count_turns(self, nugget: Nugget, number: int) -> None:
        """Set how many turns a nugget has seen. No change of what it holds, so it has no log row."""
        self._put_nugget(nugget._replace(turn_count=number))

    def _put_nugget(self, nugget: Nugget) -> None:
        self._writer.nuggets.put(nugget)
        self._nuggets[nugget.name] = nugget

    def create_nugget(self, nugget: Nugget, *, again: bool = False) -> None:
        """Add a nugget, *again* if it was removed and that is taken back."""
        self._put_nugget(nugget)
        self.log(Entry("nugget.created", nugget.name, (), None, {"again": True} if again else None))

    def change_nugget(self, nugget: Nugget) -> None:
        """Replace the nugget of this name by *nugget*, if they differ."""
        old = self._writer.nuggets.get(nugget.name)
        if old is None or old == nugget:
            return
        self._put_nugget(nugget)
        names = [name for name, was, now in zip(Nugget._fields, old, nugget, strict=True) if was != now]
        before = {"old": {name: getattr(old, name) for name in names}, "new": {n: getattr(nugget, n) for n in names}}
        self.log(Entry("nugget.updated", nugget.name, (), None, before))

    def redact(self, note: Note, is_secret: Callable[[Mapping[str, Any]], bool]) -> None:
        """Take out of the log what *note* was wherever that holds a secret, this transaction included."""

        def holds(before: Mapping[str, Any] | None) -> bool:
            return before is not None and is_secret(before)

        self._writer.log.redact([row.seq for row in self._writer.log.of_note(note.row) if holds(row.before)])
        self.entries = [
            entry._replace(before=REDACTED) if entry.row == note.row and holds(entry.before) else entry
            for entry in self.entries
        ]

    def log(self, entry: Entry) -> None:
        """Add a change to the log."""
        self.entries.append(entry if self._of_turn is None else entry._replace(of_turn=self._of_turn))

    @property
    def ids(self) -> Sequence[str]:
        """Notes touched so far."""
        return tuple(self.touched)
