"""The twin's notes, links and nuggets: plain loops, so that they can be seen to be right."""
# ruff: noqa: D102 (the port documents these methods)

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from shelfd.memory.errors import DuplicateId, DuplicateKey, DuplicateNugget, NoteNotFound
from shelfd.memory.notes.filter import NoteFilter
from shelfd.memory.notes.names import names_of
from shelfd.memory.notes.note import MERGED_INTO, Link, Note, Nugget, fold_key
from shelfd.memory.ports.log import LogRow
from shelfd.memory.ports.notes import (
    CAUSES,
    LinksWriter,
    NotesWriter,
    NuggetCounts,
    NuggetsWriter,
)
from shelfd.storage.encoding import decode_extra, encode_extra
from shelfd.storage.inmemory.edges import forget_edges
from shelfd.storage.inmemory.entities import forget_entities
from shelfd.storage.inmemory.evolution import forget_statements, rename_conflicts
from shelfd.storage.inmemory.log import redact
from shelfd.storage.inmemory.tables import InMemoryRows, Tables

_ORDERS: Final[dict[str, Callable[[Note], int]]] = {
    "updated_at": lambda note: note.updated_at,
    "row": lambda note: note.row,
}


class InMemoryNotes(InMemoryRows, NotesWriter):
    """Notes."""

    def get(self, note_id: str) -> Note | None:
        row = self._tables.note_rows.get(note_id)
        return None if row is None else self._tables.notes[row]

    def existing(self, ids: Sequence[str]) -> set[str]:
        return {note_id for note_id in ids if note_id in self._tables.note_rows}

    def by_ids(self, ids: Sequence[str]) -> dict[str, Note]:
        return {note_id: note for note_id in ids if (note := self.get(note_id)) is not None}

    def by_rows(self, rows: Sequence[int]) -> dict[int, Note]:
        return {row: self._tables.notes[row] for row in rows if row in self._tables.notes}

    def ids(self, rows: Sequence[int], wanted: NoteFilter) -> dict[int, str | None]:
        notes = {row: self._tables.notes.get(row) for row in rows}
        return {row: note.id if note is not None and wanted.admits(note) else None for row, note in notes.items()}

    def fact(self, nugget: str, key: str) -> Note | None:
        row = self._tables.facts.get((key, nugget))
        return None if row is None else self._tables.notes[row]

    def named(self, nugget: str, type_: str | None, names: Sequence[str]) -> list[Note]:
        return [
            note
            for note in self._tables.notes.values()
            if note.nugget == nugget and type_ in (None, fold_key(note.type)) and not names_of(note).isdisjoint(names)
        ]

    def count_typed(self, type_: str, nugget: str | None, *, limit: int) -> int:
        notes = (note for note in self._tables.notes.values() if note.type == type_ and not note.hidden)
        return min(sum(nugget in (None, note.nugget) for note in notes), limit)

    def facts(self, key: str) -> list[Note]:
        return [note for note in self._tables.notes.values() if note.key == key]

    def page(
        self, wanted: NoteFilter, *, order: str, descending: bool, after: tuple[int, int] | None, limit: int
    ) -> list[Note]:
        if order not in _ORDERS:
            raise ValueError(f"notes are not ordered by {order!r}")
        value = _ORDERS[order]

        def place(note: Note) -> tuple[int, int]:
            return value(note), note.row

        found = sorted(self._wanted(wanted), key=place, reverse=descending)
        if after is not None:
            # By row, the first of the two is ignored: it says nothing more.
            mark = (after[1], after[1]) if order == "row" else after
            found = [note for note in found if (place(note) < mark if descending else place(note) > mark)]
        return found[: max(limit, 0)]

    def count(self, wanted: NoteFilter) -> int:
        return len(self._wanted(wanted))

    def changed_positions(self, nugget: str | None, *, after: tuple[int, int], limit: int) -> list[tuple[int, int]]:
        notes = (note for note in self._tables.notes.values() if nugget in (None, note.nugget))
        positions = sorted((note.updated_at, note.row) for note in notes)
        return [position for position in positions if position > after][:limit]

    def scan(self, *, before_row: int | None, limit: int) -> list[Note]:
        rows = (row for row in reversed(self._tables.notes) if before_row is None or row < before_row)
        return [self._tables.notes[row] for _, row in zip(range(limit), rows, strict=False)]

    def superseded_by(self, note_id: str) -> list[str]:
        return [note.id for note in self._tables.notes.values() if note.superseded_by == note_id]

    def children(self, ids: Sequence[str], *, after: int = 0, limit: int | None = None) -> list[Note]:
        found = [note for note in self._tables.notes.values() if note.parent_id in ids and note.row > after]
        return found if limit is None else found[: max(limit, 0)]

    def expired(self, now: int, *, limit: int) -> list[Note]:
        places = sorted((at, row) for row, at in self._tables.expiring.items() if at <= now)
        return [self._tables.notes[row] for _, row in places[: max(limit, 0)]]

    def with_hits(self, *, after: tuple[int, int], limit: int) -> list[tuple[int, int]]:
        places = sorted((usage.hits, row) for row, usage in self._tables.usage.items() if usage.hits >= 3)
        return [place for place in places if place > after][:limit]

    def _wanted(self, wanted: NoteFilter) -> list[Note]:
        return [note for note in self._tables.notes.values() if wanted.admits(note)]

    def next_row(self) -> int:
        row = self._tables.last_row + 1
        self._tables.last_row = row
        return row

    def insert(self, note: Note) -> None:
        if note.id in self._tables.note_rows:
            raise DuplicateId(note.id)
        _put_note(self._tables, note)

    def insert_many(self, notes: Sequence[Note]) -> None:
        for note in notes:
            self.insert(note)

    def update(self, old: Note, note: Note) -> None:
        if old.row not in self._tables.notes:
            raise NoteNotFound(note.id)
        if self._tables.note_rows.get(note.id, note.row) != note.row:
            raise DuplicateId(note.id)
        _put_note(self._tables, note, old)

    def forget_expiry(self, notes: Sequence[Note]) -> None:
        for note in notes:
            self._tables.remove(self._tables.expiring, note.row)

    def redact(self, note: Note, *, after: int, limit: int) -> int | None:
        tables = self._tables
        seqs = [seq for seq, entry in tables.log.items() if seq > after and _is_about(entry, note)][:limit]
        redact(tables, seqs)
        links = [key for key in tables.links if note.id in key[:2]][:limit]
        for key in links:
            tables.remove(tables.links, key)
        if max(len(seqs), len(links)) < limit:
            return None
        return seqs[-1] if seqs else after

    def delete(self, note: Note) -> None:
        tables = self._tables
        tables.remove(tables.notes, note.row)
        tables.remove(tables.note_rows, note.id)
        if note.key is not None:
            tables.remove(tables.facts, (note.key, note.nugget))
        tables.remove(tables.usage, note.row)
        tables.remove(tables.expiring, note.row)
        tables.remove(tables.hit_sessions, note.row)
        forget_edges(tables, note.row)
        tables.remove(tables.read_mentions, note.row)
        forget_entities(tables, note.row)
        forget_statements(tables, note.row)
        for number in [number for number, one in tables.feedback.items() if one.note == note.row]:
            tables.remove(tables.feedback, number)
        tables.remove(tables.vectors, note.row)


class InMemoryLinks(InMemoryRows, LinksWriter):
    """Links."""

    def get(self, source: str, target: str, relation: str) -> Link | None:
        found = self._tables.links.get((source, target, relation))
        return None if found is None else found[1]

    def between(self, source: str, target: str) -> list[Link]:
        return [link for _, link in self._all() if (link.source, link.target) == (source, target)]

    def leaving(self, ids: Sequence[str]) -> dict[str, list[Link]]:
        return {note_id: [link for _, link in self._all() if link.source == note_id] for note_id in ids}

    def causing(self, note_id: str, *, limit: int) -> list[str]:
        found = [link.source for _, link in self._all() if link.target == note_id and link.relation in CAUSES]
        return list(dict.fromkeys(found[: max(limit, 0)]))

    def count(self) -> int:
        return len(self._tables.links)

    def count_leaving(self, note_id: str) -> int:
        return sum(1 for _, link in self._all() if link.source == note_id)

    def page(self, *, note_id: str | None, relation: str | None, after: int, limit: int) -> list[tuple[int, Link]]:
        found = [
            (row, link)
            for row, link in self._all()
            if row > after
            and (note_id is None or note_id in (link.source, link.target))
            and (relation is None or link.relation == relation)
        ]
        return found[: max(limit, 0)]

    def merged_rows(self, note_id: str, *, limit: int) -> list[int]:
        tables = self._tables
        found: dict[str, int] = {}
        waiting = [note_id]
        for target in waiting:
            ids = [link.source for _, link in self._all() if (link.target, link.relation) == (target, MERGED_INTO)]
            notes = [tables.notes[tables.note_rows[source]] for source in ids if source in tables.note_rows]
            hidden = [note for note in notes if note.hidden and note.id not in (*found, note_id)]
            found |= {note.id: note.row for note in hidden}
            waiting += [note.id for note in hidden]
        return list(found.values())[: max(limit, 0)]

    def merge_targets(self, *, after: str, limit: int) -> list[str]:
        targets = {link.target for _, link in self._all() if link.relation == MERGED_INTO}
        return sorted(target for target in targets if target > after)[: max(limit, 0)]

    def _all(self) -> list[tuple[int, Link]]:
        return sorted(self._tables.links.values(), key=lambda numbered: numbered[0])

    def put(self, link: Link, *, is_new: bool = False) -> None:  # noqa: ARG002
        old = self._tables.links.get(link[:3])
        if old is None:
            self._tables.link_row += 1
        self._tables.put(self._tables.links, link[:3], (self._tables.link_row if old is None else old[0], link))

    def delete(self, link: Link) -> None:
        self._tables.remove(self._tables.links, link[:3])


class InMemoryNuggets(InMemoryRows, NuggetsWriter):
    """Nuggets and their turns."""

    def get(self, name: str) -> Nugget | None:
        return self._tables.nuggets.get(name)

    def page(self, *, after: str, limit: int) -> list[Nugget]:
        names = sorted(name for name in self._tables.nuggets if name > after)
        return [self._tables.nuggets[name] for name in names[: max(limit, 0)]]

    def count(self) -> int:
        return len(self._tables.nuggets)

    def counts(self, name: str) -> NuggetCounts:
        notes = [note for note in self._tables.notes.values() if note.nugget == name]
        return NuggetCounts(visible_facts(notes), len(notes), sum(note.hidden for note in notes))

    def turn_number(self, nugget: str, session_id: str, turn: int) -> int | None:
        return self._tables.turns.get((nugget, session_id, turn))

    def last_turn(self, nugget: str, session_id: str) -> int | None:
        return max((turn for *seen, turn in self._tables.turns if seen == [nugget, session_id]), default=None)

    def last_turns(self, nugget: str, session_id: str, *, limit: int) -> list[tuple[int, int]]:
        turns = self._tables.turns.items()
        found = sorted(
            ((turn, number) for (*seen, turn), number in turns if seen == [nugget, session_id]), reverse=True
        )
        return found[: max(limit, 0)]

    def has_turns_beside(self, nugget: str, session_id: str) -> bool:
        return any(seen == nugget and other != session_id for seen, other, _ in self._tables.turns)

    def put(self, nugget: Nugget) -> None:
        self._tables.put(self._tables.nuggets, nugget.name, nugget)

    def delete(self, name: str) -> None:
        self._tables.remove(self._tables.nuggets, name)

    def rename(self, old: str, new: str) -> None:
        if old == new:
            return
        if new in self._tables.nuggets:
            raise DuplicateNugget(new)
        notes = [note for note in self._tables.notes.values() if note.nugget == old]
        if any(note.key is not None and (note.key, new) in self._tables.facts for note in notes):
            raise DuplicateKey(new, "")
        for note in notes:
            _put_note(self._tables, note._replace(nugget=new), note)
        if old in self._tables.nuggets:
            self._tables.put(self._tables.nuggets, new, self._tables.nuggets[old]._replace(name=new))
            self._tables.remove(self._tables.nuggets, old)
        for (nugget, session_id, turn), number in list(self._tables.turns.items()):
            if nugget == old:
                self._tables.put(self._tables.turns, (new, session_id, turn), number)
                self._tables.remove(self._tables.turns, (old, session_id, turn))
        for nugget, name in [key for key in self._tables.note_types if key[0] == old]:
            self._tables.put(self._tables.note_types, (new, name), self._tables.note_types[nugget, name])
            self._tables.remove(self._tables.note_types, (nugget, name))
        rename_conflicts(self._tables, old, new)
        for session in list(self._tables.sessions.values()):
            if session.nugget == old:
                self._tables.put(self._tables.sessions, session.session_id, session._replace(nugget=new))

    def claim_turn(self, nugget: str, session_id: str, turn: int, number: int) -> int:
        known = self.turn_number(nugget, session_id, turn)
        if known is not None:
            return known
        self._tables.put(self._tables.turns, (nugget, session_id, turn), number)
        return number


def _is_about(entry: LogRow, note: Note) -> bool:
    return entry.row == note.row or (entry.kind in ("link.added", "link.removed") and note.id in entry.ids)


def visible_facts(notes: Iterable[Note]) -> int:
    """Return how many of *notes* are facts that are not hidden."""
    return sum(note.key is not None and not note.hidden for note in notes)


def _put_note(tables: Tables, note: Note, old: Note | None = None) -> None:
    if note.key is not None:
        other = tables.facts.get((note.key, note.nugget), note.row)
        if other != note.row:
            raise DuplicateKey(note.nugget, tables.notes[other].id)
    if old is not None:
        tables.remove(tables.note_rows, old.id)
        if old.key is not None:
            tables.remove(tables.facts, (old.key, old.nugget))
    if note.expires_at != (None if old is None else old.expires_at):
        tables.remove(tables.expiring, note.row)
        if note.expires_at is not None:
            tables.put(tables.expiring, note.row, note.expires_at)
    stored = note._replace(extra=decode_extra(encode_extra(note.extra)))
    tables.put(tables.notes, note.row, stored)
    tables.put(tables.note_rows, note.id, note.row)
    if note.key is not None:
        tables.put(tables.facts, (note.key, note.nugget), note.row)
