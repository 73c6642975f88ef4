"""Brings two copies of a shelf together that were edited apart: nothing is overwritten, whatever order copies come in.

A note has the states that no copy has left behind: see :mod:`~shelfd.memory.moving.lineage`. Mostly that is one, the
newer of two. Where both copies went on, the note shows the later state, and each other one becomes a note of its own
beside it, with an id that follows from what it says, and a conflict that somebody has to decide. What was purged stays
purged. A link is there if it was made after it was last removed.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from shelfd.memory.log.transaction import Transaction, gone_link, gone_note, restored_link
from shelfd.memory.moving.lineage import NoteState, changed_to, join, says_of, state_of
from shelfd.memory.moving.reconciling import digest
from shelfd.memory.moving.record import Gone, Loss, MergedLinks, MergedNote, MergedNugget
from shelfd.memory.moving.tally import Tally
from shelfd.memory.notes.note import Link, Note, Nugget, fold_key
from shelfd.memory.ports.evolution import EDITED_APART, ONE_KEY, StoredConflict
from shelfd.memory.ports.log import Entry
from shelfd.memory.sessions.schema import BUILT_IN, new_type
from shelfd.memory.shelf.nuggets import ensure_nugget

#: How the ids of notes begin that show another state of a note.
APART: Final = "note-apart-"
_TITLE_BYTES: Final = 480


@dataclass(slots=True)
class Merger:
    """Brings what another copy says together with what is here, within one transaction.

    Attributes:
        created: New notes.
        to_purge: Notes that have to be purged: another copy purged them, or what they show is not apart any more.
    """

    tx: Transaction
    created: int = 0
    to_purge: list[str] = field(default_factory=list)

    def merge_nugget(self, record: MergedNugget, tally: Tally) -> None:
        """Make a nugget, or give it the larger of both copies' options; types that differ alike."""
        theirs, here = record.nugget, self.tx.nugget(record.nugget.name)
        if here is None:
            self.tx.create_nugget(theirs)
        elif (both := _both(here, theirs)) != here:
            self.tx.change_nugget(both)
        there = self.tx.rows.note_types.of(theirs.name)
        for name, properties in record.types.items():
            kind = (BUILT_IN.get(name) or new_type(name)).with_properties(properties)
            wanted = max(_written(kind.as_mapping()), _written(there.get(name)))
            if wanted != _written(there.get(name)):
                self.tx.rows.note_types.put(theirs.name, kind.name, json.loads(wanted))
        tally.count("created" if here is None else "unchanged")

    def merge_note(self, record: MergedNote, index: int, tally: Tally) -> Note | None:
        """Bring a note together with the one of its id that is here; return it, None if it is not to be."""
        note, theirs = record.note, record.state
        here = self.tx.rows.notes.get(note.id)
        if self.tx.rows.meta.get(gone_note(note.id)) is not None or self._is_no_more_apart(note, theirs):
            tally.count("unchanged")
            return None
        if here is None:
            tally.count("created")
            return self._create(note, theirs)
        ours = state_of(self.tx.rows, here)
        left, right = join(ours, theirs)
        if right is None and left is not None:
            tally.count("unchanged")
            now = self._remember(here, ours, left)
            self._end_conflicts(now, left)
            return now
        if left is None and right is not None:
            now = self._change(here, note, right)
            tally.count("updated")
            self._end_conflicts(now, right)
            return now
        assert left is not None
        assert right is not None
        return self._keep_both(here, (left, note, right), index, tally)

    def _keep_both(self, here: Note, apart: tuple[NoteState, Note, NoteState], index: int, tally: Tally) -> Note:
        """Show the later of two states, and the other one beside it."""
        left, note, right = apart
        is_theirs = right.rank > left.rank
        shown, other, beside = (right, here, left) if is_theirs else (left, note, right)
        copy_id = apart_id(here.id, beside.says)
        is_new = self.tx.rows.notes.get(copy_id) is None
        now = self._change(here, note, shown) if is_theirs else self._remember(here, None, shown)
        beside_it = self._show_beside(now, other, beside, copy_id)
        if beside_it is not None and is_new:
            tally.kept.append((index, beside_it.id, ("conflict",)))
        tally.count("updated" if is_theirs else "unchanged")
        self._end_conflicts(now, shown)
        return now

    def _show_beside(self, note: Note, other: Note, state: NoteState, copy_id: str) -> Note | None:
        """Have another state of a note as a note of its own; None if that was purged."""
        if self.tx.rows.meta.get(gone_note(copy_id)) is not None:
            return None
        here = self.tx.rows.notes.get(copy_id)
        if here is None:
            extra = other.extra._replace(copied_from=note.id)
            copy = other._replace(id=copy_id, kind="note", key=None, extra=extra)
            here = self._create(copy, NoteState(says_of(copy), state.now, frozenset(), state.at))
        elif is_untouched(here):
            known = state_of(self.tx.rows, here)
            both = known._replace(now=known.now | state.now, at=max(known.at, state.at))
            here = self._remember(here, known, both)
        self._contest(note, here, EDITED_APART)
        return here

    def _is_no_more_apart(self, note: Note, theirs: NoteState) -> bool:
        """Whether a note shows a state of another one that this copy of that has behind it."""
        original = self._original(note)
        if original is None or theirs.past:
            return False
        return theirs.now <= state_of(self.tx.rows, original).past

    def _original(self, note: Note) -> Note | None:
        if not note.id.startswith(APART) or note.extra.copied_from is None:
            return None
        return self.tx.rows.notes.get(note.extra.copied_from)

    def _end_conflicts(self, note: Note, state: NoteState) -> None:
        """Let go the notes that show a state which this one has behind it by now, unless they were edited."""
        beside = [copy_id for copy_id in self.tx.rows.rewinds.copies(note.id) if copy_id.startswith(APART)]
        for other in self.tx.rows.notes.by_ids(beside).values():
            if is_untouched(other) and set(other.extra.lineage.now) <= state.past:
                self.to_purge.append(other.id)

    # ------------------------------------------------------------- rows

    def _create(self, note: Note, state: NoteState) -> Note:
        ensure_nugget(self.tx, note.nugget)
        note, state, rival = self._with_key(note, state)
        stored = self.tx.create_note(_with(note, state)._replace(row=0, rev=1))
        self.created += 1
        if rival is not None:
            self._contest(stored, rival, ONE_KEY)
        if (original := self._original(stored)) is not None:
            self.tx.rows.rewinds.add_copy(original.id, stored.id)
            self._contest(original, stored, EDITED_APART)
        return stored

    def _change(self, here: Note, note: Note, state: NoteState) -> Note:
        """Let the note that is here say what *note* does."""
        ensure_nugget(self.tx, note.nugget)
        note, state, rival = self._with_key(note, state)
        new = _with(note, state)._replace(row=here.row, rev=here.rev, updated_at=here.updated_at)
        stored = self.tx.change_note(here, new)
        if rival is not None:
            self._contest(stored, rival, ONE_KEY)
        return stored

    def _remember(self, here: Note, known: NoteState | None, state: NoteState) -> Note:
        """Remember what was learnt of a note's states, if anything was."""
        if known is not None and (known.now, known.past) == (state.now, state.past):
            return here
        return self.tx.change_note(here, _with(here, state))

    def _with_key(self, note: Note, state: NoteState) -> tuple[Note, NoteState, Note | None]:
        """A fact, its state, and another fact that had, or has, its key: the older of two keeps it."""
        holder = None if note.key is None else self.tx.rows.notes.fact(note.nugget, note.key)
        if holder is None or holder.id == note.id:
            return note, state, None
        if (holder.created_at, holder.id) < (note.created_at, note.id):
            other = _renamed(note)
            return other, changed_to(state, other, 0), holder
        renamed = _renamed(holder)
        rival = self.tx.change_note(holder, _with(renamed, changed_to(state_of(self.tx.rows, holder), renamed, 0)))
        return note, state, rival

    def _contest(self, one: Note, two: Note, reason: str) -> None:
        """Have a conflict between two notes, if both count and there is none."""
        older, newer = sorted((one, two), key=lambda note: note.row)
        id_ = f"conflict-{digest(' '.join(sorted((one.id, two.id))))[:12]}"
        if one.live and two.live and self.tx.rows.conflicts.get(id_) is None:
            self.tx.put_conflict(StoredConflict(0, id_, one.nugget, older.row, newer.row, reason, self.tx.now))

    # ------------------------------------------------------------- links, and what is gone

    def merge_links(self, record: MergedLinks, index: int, tally: Tally) -> None:
        """Make the links that leave a note there, unless they were removed since."""
        source = self.tx.rows.notes.get(record.source)
        for link in record.links:
            here = self.tx.rows.links.get(*link[:3])
            if int(self.tx.rows.meta.get(gone_link(link)) or -1) >= self._there_since(link):
                tally.count("unchanged")
            elif source is None or self.tx.rows.notes.get(link.target) is None:
                tally.record_loss(index, [Loss("links", "a note that it leads from or to is not here")])
            elif here is None or _rank(link) > _rank(here):
                self.tx.rows.links.put(link)
                before = {"link": list(link), **({} if here is None else {"old": list(here)})}
                self.tx.log(Entry("link.added", source.nugget, (link.source, link.target), None, before))
                tally.count("created" if here is None else "updated")
            else:
                tally.count("unchanged")

    def _there_since(self, link: Link) -> int:
        return max(link.created_at, int(self.tx.rows.meta.get(restored_link(link)) or -1))

    def merge_gone(self, record: Gone, tally: Tally) -> None:
        """Have what was purged or removed there be so here."""
        for name, at in record.entries:
            if int(self.tx.rows.meta.get(name) or -1) >= at:
                continue
            kind, _, what = name.removeprefix("gone ").partition(" ")
            if kind == "note":
                if self.tx.rows.notes.get(what) is not None:
                    self.to_purge.append(what)
            elif (link := self.tx.rows.links.get(*json.loads(what))) is not None and self._there_since(link) <= at:
                source = self.tx.rows.notes.get(link.source)
                self.tx.delete_link(link, "" if source is None else source.nugget)
            self.tx.rows.meta.put(name, str(at))
        tally.count("unchanged")


def apart_id(note_id: str, says: str) -> str:
    """Return the id of the note that shows another state of a note."""
    return f"{APART}{digest(f'{note_id} {says}')[:12]}"


def is_untouched(note: Note) -> bool:
    """Return whether a note that shows another one's state still says that."""
    return note.extra.lineage.says == says_of(note) and not note.extra.lineage.past


def _with(note: Note, state: NoteState) -> Note:
    return note._replace(extra=note.extra._replace(lineage=state.lineage()._replace(says=says_of(note))))


def _renamed(fact: Note) -> Note:
    kept = fact.title.encode()[:_TITLE_BYTES].decode(errors="ignore")
    title = f"{kept} ({digest(fact.id)[:8]})"
    return fact._replace(title=title, key=fold_key(title))


def _both(ours: Nugget, theirs: Nugget) -> Nugget:
    larger = [max((one is not None, one), (two is not None, two))[1] for one, two in zip(ours, theirs, strict=True)]
    return Nugget._make(larger)._replace(created_at=min(ours.created_at, theirs.created_at))


def _rank(link: Link) -> tuple[int, str]:
    return link.created_at, _written(list(link))


def _written(value: Mapping[str, Any] | list[Any] | None) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True) if value is not None else ""
