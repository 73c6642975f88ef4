"""What notes and links are without the changes that do not count: read from the log, nothing is written.

A change counts unless its turn was taken back. Three more do not: a rollup, or a merge, made from something that does
not count (what else it was made of returns), and a reference to a note that is not there. A note that was made by such
a change is hidden, unless it was asserted again.
"""

from collections.abc import Iterator
from itertools import takewhile
from typing import Any, Final, NamedTuple

from shelfd.memory.log.history import with_log
from shelfd.memory.notes.note import EMPTY, Link, Note
from shelfd.memory.notes.text import render_fields
from shelfd.memory.ports.log import LogRow
from shelfd.memory.ports.view import View
from shelfd.memory.sessions.dead import Dead, is_tending
from shelfd.memory.sessions.merging import merged
from shelfd.memory.sessions.moments import Played, moments_of
from shelfd.memory.sessions.succession import Succession

#: Fields that name another note.
REFERENCES: Final = ("parent_id", "superseded_by")
#: Links read back at once to see whether a merge made them; one gives its target no more.
_PAGE: Final = 1_024


class Counted(NamedTuple):
    """A note as it is by the changes that count."""

    note: Note
    is_absent: bool  #: that which created it does not count: it is hidden


class Replay:
    """Notes and links of one shelf by the changes that count. Knows what it has read once; of no use after a write.

    Args:
        view: The shelf.
        dead: Which changes do not count.
        until: Later changes do not count either.
    """

    def __init__(self, view: View, dead: Dead, *, until: int | None = None) -> None:
        self.view = view
        self.dead = dead
        self._end = (view.log.last_seq if until is None else until) + 1
        self._known: dict[str, tuple[Note, list[Played]] | None] = {}
        self._counted: dict[tuple[str, int], Counted] = {}
        self._gone: dict[str, bool] = {}
        self._succession: Succession | None = None

    def note(self, note_id: str) -> Note | None:
        """Return a note as it stands."""
        found = self._find(note_id)
        return None if found is None else found[0]

    def moments(self, note_id: str) -> list[Played]:
        """Return a note's changes that may matter, in order."""
        found = self._find(note_id)
        return [] if found is None else found[1]

    def target(self, note_id: str) -> Note | None:
        """Return what a note is by the changes that count; None if it is purged, or was created later."""
        found = self._find(note_id)
        if found is None:
            return None
        note, moments = found
        if moments and moments[0].is_creation and moments[0].row.seq >= self._end:
            return None
        if not all(moment.is_known for moment in moments):
            return self._redacted(note, moments)
        now = self._play(note_id, self._end, references=True).note
        if any("superseded_by" in (moment.row.before or EMPTY) for moment in moments):
            now = self.succession.applied(now)
        if not now.hidden and self.is_gone(note_id):
            now = now._replace(archived_at=now.updated_at)
        now = now._replace(rev=note.rev, updated_at=note.updated_at)
        if now.hidden and note.hidden:
            now = now._replace(archived_at=note.archived_at)
        return _rendered(now, note, moments)

    @property
    def succession(self) -> Succession:
        """Which notes stand for others."""
        if self._succession is None:  # of most none has changed that
            self._succession = Succession(self)
        return self._succession

    def is_played(self, row: LogRow) -> bool:
        """Return whether a change is one of those that count or were taken back, and not how that was done."""
        return row.seq < self._end and not self.dead.is_rewinding(row)

    def is_redacted(self, note_id: str) -> bool:
        """Return whether a purge took out of the log what a note was."""
        return not all(moment.is_known for moment in self.moments(note_id))

    def _redacted(self, note: Note, moments: list[Played]) -> Note:
        """A note of which not all is known stays as it is, unless what created it does not count."""
        if moments[0].is_creation and self.dead.has(moments[0].row) and not note.hidden:
            return note._replace(archived_at=note.updated_at)
        return note

    def _find(self, note_id: str) -> tuple[Note, list[Played]] | None:
        if note_id not in self._known:
            found = with_log(self.view, note_id, since_seq=self.dead.floor - 1)
            self._known[note_id] = None if found is None else (found[0], moments_of(*found))
        return self._known[note_id]

    # ------------------------------------------------------------- notes

    def _play(self, note_id: str, end: int, *, references: bool = False) -> Counted:
        """A note by those of its changes before *end* that count, its references left out unless asked for."""
        note = self.note(note_id)
        assert note is not None
        moments = self.moments(note_id)
        now = moments[0].before if moments else note
        is_absent = is_hidden_by_us = False
        for moment in takewhile(lambda moment: moment.row.seq < end, moments):
            if self.dead.is_rewinding(moment.row):
                if "archived_at" in (moment.row.before or ()):
                    is_hidden_by_us = moment.after.hidden
                continue
            was_hidden_by_us = is_hidden_by_us
            is_hidden_by_us = is_hidden_by_us and "archived_at" not in (moment.row.before or ())
            if self._is_void(note_id, moment):
                if moment.is_creation:
                    is_absent, now = True, now._replace(archived_at=moment.row.at)
                continue
            names = {
                name: None
                for name in (moment.row.before or ())
                if name not in REFERENCES or (references and not self._refers_to_nothing(moment.after, name))
            }
            if is_absent:
                was_taken_back = was_hidden_by_us or self.dead.was_dead(moments[0].row, moment.row.seq)
                is_absent = not _asserts(moment, was_taken_back=was_taken_back)
                names.pop("archived_at", None)
                if not is_absent:
                    now = now._replace(archived_at=None)
            now = merged(now, moment.before, moment.after, names, if_same=is_tending(moment.row))
        return Counted(now, is_absent)

    def _refers_to_nothing(self, note: Note, name: str) -> bool:
        other = getattr(note, name)
        return other is not None and self.is_gone(other)

    def _said(self, note_id: str, end: int) -> Counted:
        if (note_id, end) not in self._counted:
            self._counted[note_id, end] = self._play(note_id, end)
        return self._counted[note_id, end]

    def is_gone(self, note_id: str) -> bool:
        """Return whether what created a note does not count, or comes later, or others represent its children since."""
        if note_id not in self._gone:
            self._gone[note_id] = False  # while it is found out: rollups may have displaced each other in turn
            moments = self.moments(note_id)
            if self.note(note_id) is None:
                self._gone[note_id] = True
            elif not moments or not moments[0].is_creation:
                self._gone[note_id] = False
            elif moments[0].row.seq >= self._end:
                self._gone[note_id] = True
            else:
                is_absent = self._said(note_id, self._end).is_absent
                self._gone[note_id] = is_absent or self._is_displaced(note_id, moments[0])
        return self._gone[note_id]

    def _is_displaced(self, rollup_id: str, creation: Played) -> bool:
        """Whether one of a rollup's children is represented by another since, or is gone for that reason."""
        if not creation.after.extra.is_rollup:
            return False
        children = self.children_of(rollup_id)
        made = max(
            moment.row.seq
            for moment in self.moments(rollup_id)
            if moment is creation or (self._is_restoring(moment) and moment.row.seq < self._end)
        )
        return any(map(self.is_gone, children)) or any(
            moment.row.seq > made
            and moment.row.seq < self._end
            and "parent_id" in (moment.row.before or ())
            and moment.after.parent_id not in (None, rollup_id)
            and not self.dead.is_rewinding(moment.row)
            and not self.dead.has(moment.row)
            and not self.is_gone(moment.after.parent_id or "")
            for child in children
            for moment in self.moments(child)
        )

    def _is_restoring(self, moment: Played) -> bool:
        """Whether somebody brought a note back, and that counts."""
        is_restored = "archived_at" in (moment.row.before or ()) and not moment.after.hidden
        return is_restored and not self.dead.is_rewinding(moment.row) and not self.dead.has(moment.row)

    # ----------------------------------------------------- made of others

    def _is_void(self, note_id: str, moment: Played) -> bool:
        """Whether a change does not count: it was taken back, or is a rollup or merge made of what does not."""
        row = moment.row
        if self.dead.has(row):
            return True
        if moment.is_creation and moment.after.extra.is_rollup:
            return any(self._is_stale(child, row.seq) for child in self.children_of(note_id))
        if row.kind == "note.merged":
            other = self._merged_at(row.seq + 1, row)
            return other is not None and self._is_merge_void(note_id, other, row.seq)
        if row.kind == "note.hidden":
            other = self._merged_at(row.seq - 1, row)
            return other is not None and self._is_merge_void(other, note_id, row.seq - 1)
        return False

    def children_of(self, rollup_id: str) -> list[str]:
        """Return the notes that a rollup was made of, if it may matter."""
        moments = self.moments(rollup_id)
        if not moments or not moments[0].is_creation or not moments[0].after.extra.is_rollup:
            return []
        row = moments[0].row
        found = []
        for other in self.view.log.page(since_seq=row.tx - 1, limit=row.tx_size):
            if other.row is not None and "parent_id" in (other.before or ()):
                made = next((one for one in self.moments(other.ids[0]) if one.row.seq == other.seq), None)
                if made is not None and made.after.parent_id == rollup_id:
                    found.append(other.ids[0])
        return found

    def _merged_at(self, seq: int, row: LogRow) -> str | None:
        """The other note of a merge, whose change stands right beside: it writes what stays, then hides the other."""
        wanted = "note.hidden" if row.kind == "note.merged" else "note.merged"
        for other in self.view.log.page(since_seq=seq - 1, limit=1):
            if other.seq == seq and other.tx == row.tx and other.kind == wanted:
                return other.ids[0]
        return None

    def _is_merge_void(self, target: str, source: str, seq: int) -> bool:
        return seq >= self.dead.floor and (self._is_stale(target, seq) or self._is_stale(source, seq))

    def _is_stale(self, note_id: str, seq: int) -> bool:
        """Whether a note said something else right before *seq* than the changes that count give."""
        found = self._find(note_id)
        if found is None or self.is_redacted(note_id):
            return False
        note, moments = found
        earlier = [moment for moment in moments if moment.row.seq < seq]
        actual = earlier[-1].after if earlier else moments[0].before if moments else note
        return _says(actual) != _says(self._said(note_id, seq).note)

    def made_with(self, note_id: str) -> Iterator[str]:
        """Yield the notes that may stand or fall with a note: rollups of it, and what it was merged with."""
        for moment in self.moments(note_id):
            if (parent := moment.after.parent_id) is not None and "parent_id" in (moment.row.before or ()):
                yield parent
            if moment.row.kind in ("note.merged", "note.hidden"):
                step = 1 if moment.row.kind == "note.merged" else -1
                if (other := self._merged_at(moment.row.seq + step, moment.row)) is not None:
                    yield other

    def links_of_merges(self, note_id: str) -> Iterator[LogRow]:
        """Yield the links that merges into a note made."""
        for moment in self.moments(note_id):
            row = moment.row
            if row.kind != "note.merged" or self._merged_at(row.seq + 1, row) is None:
                continue
            left = row.tx + row.tx_size - row.seq - 2
            for other in self.view.log.page(since_seq=row.seq + 1, limit=max(left, 0)):
                if other.kind != "link.added":
                    break
                yield other

    # ------------------------------------------------------------- links

    def link(self, source: str, target: str, relation: str) -> Link | None:
        """Return what a link is by the changes that count; None if there is none."""
        rows = [
            row
            for row in self.view.log.of_link(source, target)
            if row.seq >= self.dead.floor and row.before and row.before.get("link", EMPTY_LINK)[2] == relation
        ]
        now = _link_before(rows[0]) if rows else self.view.links.get(source, target, relation)
        for row in rows:
            if row.seq < self._end and not self.dead.is_rewinding(row) and not self._is_link_void(row):
                now = _linked(now, row)
        if now is None or self.note(source) is None or self.note(target) is None:
            return None
        return now

    def _is_link_void(self, row: LogRow) -> bool:
        if self.dead.has(row) or row.kind != "link.added" or row.tx_size == 1:
            return self.dead.has(row)
        since = max(row.tx - 1, row.seq - 1 - _PAGE)
        earlier = self.view.log.page(since_seq=since, limit=row.seq - 1 - since)
        while earlier and earlier[-1].kind == "link.added":
            earlier.pop()
        if len(earlier) < 2 or earlier[-1].kind != "note.hidden" or earlier[-2].kind != "note.merged":
            return False
        kept, gone = earlier[-2], earlier[-1]
        return self.dead.has(kept) or self._is_merge_void(kept.ids[0], gone.ids[0], kept.seq)


EMPTY_LINK: Final = ("", "", None)


def _says(note: Note) -> tuple[object, ...]:
    return note.content, note.title, note.extra.fields, note.hidden


def _asserts(moment: Played, *, was_taken_back: bool) -> bool:
    """Whether a change brings back a note that is absent: it restores it, or is another value of its key."""
    names = moment.row.before or EMPTY
    if "archived_at" in names and not moment.after.hidden:
        return was_taken_back or moment.after.kind == "fact"
    is_value = moment.after.kind == "fact" and "content" in names and not moment.after.hidden
    return is_value and not is_tending(moment.row)


def _rendered(now: Note, note: Note, moments: list[Played]) -> Note:
    """*now* with a content that follows from its fields as they are."""
    if not now.extra.rendered:
        return now
    for state in (note, *(one for moment in moments for one in (moment.before, moment.after))):
        if state.extra.rendered and state.extra.fields == now.extra.fields:
            return now._replace(content=state.content)
    return now._replace(content=render_fields(now.extra.fields))


def _link_before(row: LogRow) -> Link | None:
    """The link before a change of it."""
    before = row.before or EMPTY
    if row.kind == "link.removed":
        return Link(*before["link"])
    return Link(*before["old"]) if "old" in before else None


def _linked(now: Link | None, row: LogRow) -> Link | None:
    """The link after a change of it: of one that was there already, only what the change said differently."""
    before = row.before or EMPTY
    if row.kind == "link.removed":
        return None
    new = Link(*before["link"])
    if now is None:
        return new
    old = Link(*before["old"]) if "old" in before else now._replace(reason="", valid_from=None, valid_to=None)
    kept = {"created_at", "seq_to"}
    said: dict[str, Any] = {
        name: value for name, was, value in zip(Link._fields, old, new, strict=True) if was != value
    }
    return now._replace(**{name: value for name, value in said.items() if name not in kept})
