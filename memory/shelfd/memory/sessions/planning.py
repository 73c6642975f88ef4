"""What a rewind has to make of notes and links, found out from the log. Nothing is written here."""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from shelfd.memory.notes.note import Link, Note
from shelfd.memory.ports.log import LogRow
from shelfd.memory.ports.sessions import Retraction
from shelfd.memory.ports.view import View
from shelfd.memory.sessions.dead import Dead, covers
from shelfd.memory.sessions.merging import changed_names
from shelfd.memory.sessions.replaying import REFERENCES, Replay

EDITED: Final = "edited"
LATER_RUN: Final = "later_run"
PURGED: Final = "purged"
#: Notes and links looked at in one step, and log rows: some milliseconds of the writer.
NOTES_AT_ONCE: Final = 20
_LINKS_AT_ONCE: Final = 100
_ROWS_AT_ONCE: Final = 256
#: Log rows read at once: few, for of a turn that was taken back before, only the first is looked at.
_ROWS_READ: Final = 32
#: What it costs to read them, in rows that are looked at.
_READING: Final = 8
#: Fields that say where and when a note was last touched: that these changed is not worth a word.
_STAMPS: Final = frozenset({"session_id", "turn", "seq_to", "rev", "updated_at", "last_rewritten_at"})

LinkName: TypeAlias = tuple[str, str, str]


class Kept(NamedTuple):
    """A field that stays as it is, and why: ``edited``, ``later_run`` or ``purged``."""

    note_id: str
    field: str
    why: str


class Scope(NamedTuple):
    """The changes that a rewind is about.

    Attributes:
        ranges: They count no more, or again.
        runs: Earlier rewinds that are taken back with this one: what they changed is looked at, too.
        dead: Which changes do not count, with all of that.
    """

    ranges: Sequence[Retraction]
    runs: Sequence[str]
    dead: Dead

    def names(self, row: LogRow) -> bool:
        """Return whether a change counts no more, or again, because of this rewind."""
        return (
            any(covers(one, row) for one in self.ranges)
            and not self.dead.is_rewinding(row)
            and not self.is_dead_anyway(row)
        )

    def is_dead_anyway(self, row: LogRow) -> Retraction | None:
        """Return what else took a change back, if anything did."""
        others = (one for one in self.dead.retractions if one not in self.ranges)
        return next((one for one in others if covers(one, row)), None)


class RewindPlan:
    """What some notes and links have to become.

    Args:
        view: The shelf.
        scope: The changes that it is about.
        seen: Notes that were looked at before.
    """

    def __init__(self, view: View, scope: Scope, seen: Iterable[str] = ()) -> None:
        self.notes: dict[str, tuple[Note, Note]] = {}
        self.links: dict[LinkName, tuple[Link | None, Link | None]] = {}
        self.kept: list[Kept] = []
        self.pending: deque[str] = deque()
        self.seen: set[str] = set(seen)
        self._scope = scope
        self._view = view
        self._replay = Replay(view, scope.dead)
        self._looked_at = 0
        self._links_seen: set[LinkName] = set()

    @property
    def is_full(self) -> bool:
        """Whether it is more than enough for one step: what is just enough is to be found complete."""
        return self._looked_at > NOTES_AT_ONCE or len(self._links_seen) >= _LINKS_AT_ONCE

    @property
    def undone(self) -> int:
        """How many fields and links change; a note that comes or goes counts once."""
        return len(self.links) + sum(_weight(*states) for states in self.notes.values())

    def go_on(self, cursor: dict[str, Any]) -> None:
        """Go on through the changes, until there is enough for one step or no more is left.

        Args:
            cursor: All changes of the first ``place`` ranges and runs were looked at, and of the next those up to
                ``after`` (turn, seq), ``done`` in all; ``pending`` are notes that depend on others; ``is_over`` says
                that nothing is left.
        """
        self.pending.extend(cursor["pending"])
        self._drain()
        looked = 0
        while not self.is_full and looked < _ROWS_AT_ONCE and cursor["place"] < self._places:
            looked += self._look(cursor)
        cursor["pending"] = list(self.pending)
        cursor["is_over"] = cursor["place"] == self._places and not self.pending

    @property
    def _places(self) -> int:
        return len(self._scope.ranges) + len(self._scope.runs)

    def _look(self, cursor: dict[str, Any]) -> int:
        """Look at the next changes; return how many those were, with some for having read them."""
        rows = self._rows(cursor)
        looked = _READING
        for row in rows:
            if self.is_full:
                return looked
            if [row.origin.turn or 0, row.seq] <= cursor["after"] and cursor["place"] < len(self._scope.ranges):
                continue  # taken back before with one of its turn
            looked += 1
            cursor["after"] = [row.origin.turn or 0, row.seq]
            cursor["done"] += 1
            if cursor["place"] >= len(self._scope.ranges):
                self._add(row, is_named=False)
            elif self._scope.names(row):
                self._add(row, is_named=True)
            elif (other := self._scope.is_dead_anyway(row)) is not None and other.variant is None:
                cursor["after"][1] = max(row.seq, other.up_to_seq)  # as are all of this turn up to there
            self._drain()
        if len(rows) < _ROWS_READ:
            cursor["place"] += 1
            cursor["after"] = [0, 0]
        return looked

    def _rows(self, cursor: dict[str, Any]) -> list[LogRow]:
        place: int = cursor["place"]
        if place >= len(self._scope.ranges):
            run_id: str = self._scope.runs[place - len(self._scope.ranges)]
            return self._view.log.of_run(run_id, since_seq=cursor["after"][1], limit=_ROWS_READ)
        one = self._scope.ranges[place]
        return self._view.log.of_turns(
            one.session_id,
            from_turn=one.from_turn,
            until_turn=one.until_turn,
            variant=one.variant,
            after=tuple(cursor["after"]),
            limit=_ROWS_READ,
        )

    def _add(self, row: LogRow, *, is_named: bool) -> None:
        if row.kind.startswith("link."):
            self._add_link(row)
        elif row.row is not None and (not is_named or self._is_first(row)):
            self._add_note(row.ids[0], is_named=is_named)

    def _is_first(self, row: LogRow) -> bool:
        """Whether a change is the first of its note's that it is about, at which the note is looked at."""
        moments = self._replay.moments(row.ids[0])
        return next((one.row.seq for one in moments if self._scope.names(one.row)), row.seq) == row.seq

    def _drain(self) -> None:
        while self.pending and not self.is_full:
            self._add_note(self.pending.popleft(), is_named=False)

    def _add_note(self, note_id: str, *, is_named: bool) -> None:
        if note_id in self.seen:
            return
        self.seen.add(note_id)
        self._looked_at += 1
        old, new = self._replay.note(note_id), self._replay.target(note_id)
        if old is None or new is None:
            if is_named:
                self.kept.append(Kept(note_id, "note", PURGED))
            return
        if old != new:
            self.notes[note_id] = (old, new)
        if is_named:
            self.kept += self._left(old, new)
        if is_named or old != new:
            self._follow(old, new)

    def _follow(self, old: Note, new: Note) -> None:
        """Have those looked at that depend on a note."""
        self.pending.extend(self._replay.made_with(old.id))
        for row in self._replay.links_of_merges(old.id):
            self._add_link(row)
        if old.superseded_by != new.superseded_by:
            if new.superseded_by is not None:
                self.pending.extend(self._replay.succession.circle(old.id))
            if old.hidden and new.hidden and self._replay.is_gone(old.id):  # else they are told of it below
                self.pending.extend(self._replay.succession.predecessors(old.id))
        if old.hidden != new.hidden:
            self.pending.extend(self._view.notes.superseded_by(old.id))
            self.pending.extend(self._replay.children_of(old.id))

    def _add_link(self, row: LogRow) -> None:
        if not row.before or "link" not in row.before:
            self.kept.append(Kept(row.ids[0], "links", PURGED))
            return
        name = (row.ids[0], row.ids[1], row.before["link"][2])
        if name in self._links_seen:
            return
        self._links_seen.add(name)
        old, new = self._view.links.get(*name), self._replay.link(*name)
        if old != new:
            self.links[name] = (old, new)
        elif old is not None and row.kind == "link.added" and self._scope.dead.has(row):
            self.kept.append(Kept(row.ids[0], "links", EDITED))

    def _left(self, old: Note, new: Note) -> Iterator[Kept]:
        """The fields that changes wrote which count no more, and others since."""
        if self._replay.is_redacted(old.id):
            if old == new:
                yield Kept(old.id, "note", PURGED)
            return
        changed = changed_names(old, new)
        named: dict[str, Note] = {}  # with what there was before
        for moment in self._replay.moments(old.id):
            row = moment.row
            written = changed_names(moment.before, moment.after)
            if self._scope.names(row) and self._scope.dead.has(row):
                for field in {"note"} if moment.is_creation else written - _STAMPS:
                    named.setdefault(field, moment.before)
            elif named and not self._scope.dead.is_rewinding(row) and not self._scope.dead.has(row):
                fields = written & named.keys()
                why = EDITED if row.origin.run_id is None else LATER_RUN
                yield from (Kept(old.id, one, why) for one in sorted(fields - changed) if _stays(one, named[one], new))
                named = {field: before for field, before in named.items() if field not in fields}
        if "note" in named and not new.hidden:
            yield Kept(old.id, "note", EDITED)


def _stays(field: str, before: Note, now: Note) -> bool:
    """Whether something is left of a field: a reference that is what it was before may have come and gone since."""
    return field not in REFERENCES or getattr(now, field) != getattr(before, field)


def _weight(old: Note, new: Note) -> int:
    return 1 if old.hidden != new.hidden else len(changed_names(old, new) - _STAMPS) or 1
