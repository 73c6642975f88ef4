"""The twin's statements and conflicts."""
# ruff: noqa: D102 (the port documents these methods)

from collections.abc import Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet

from shelfd.memory.ports.evolution import (
    WITHIN_BITS,
    ConflictsWriter,
    OlderNote,
    StatementsWriter,
    StoredConflict,
    UnstoredStatements,
)
from shelfd.storage.inmemory.tables import InMemoryRows, Tables


class InMemoryStatements(InMemoryRows, StatementsWriter):
    """What notes state."""

    def unread(self, *, limit: int) -> list[int]:
        newest = max(self._tables.statements, default=0)
        return sorted((row for row in self._tables.notes if row > newest), reverse=True)[: max(limit, 0)]

    def lost(self) -> list[int]:
        return []

    def rev(self, row: int) -> int | None:
        found = self._tables.statements.get(row)
        return None if found is None else found[0]

    def in_slots(self, slots: Sequence[int], *, limit: int) -> set[int]:
        near = set[int]()
        for slot in slots:
            found = [row for row, (_, _, said) in self._tables.statements.items() if slot in said]
            near.update(sorted(found, reverse=True)[: max(limit, 0)])
        return near

    def spoken_of(self, subjects: AbstractSet[int]) -> set[int]:
        stated = {slot >> WITHIN_BITS for _, _, slots in self._tables.statements.values() for slot in slots}
        return stated.intersection(subjects)

    def older(self, rows: Sequence[int], nugget: str, *, now: int) -> list[OlderNote]:
        found = []
        for row in sorted(set(rows), reverse=True):
            note, stated = self._tables.notes.get(row), self._tables.statements.get(row)
            if note is None or stated is None or note.nugget != nugget or note.hidden or note.superseded_by is not None:
                continue
            if note.parent_id is not None or (note.expires_at is not None and note.expires_at <= now):
                continue
            written = note.created_at if note.key is None else note.updated_at
            when = written if note.occurred_at is None else note.occurred_at
            who = (note.scope, note.session_id, note.author, note.subject)
            found.append(OlderNote(row, note.id, note.key, *who, when, note.valid_to, note.rev, *stated[:2]))
        return found

    def put(self, row: int, rev: int, said: str, slots: Sequence[int]) -> None:
        self._tables.put(self._tables.statements, row, (rev, said, tuple(slots)))

    def hold(self, row: int, rev: int, said: UnstoredStatements, slots: Sequence[int]) -> None:
        self.put(row, rev, said.encoded(), slots)

    def store_held(self) -> None:
        pass


class InMemoryConflicts(InMemoryRows, ConflictsWriter):
    """Conflicts."""

    def get(self, conflict_id: str) -> StoredConflict | None:
        return self._tables.conflicts.get(conflict_id)

    def page(self, *, nugget: str | None, resolved: bool, before: int | None, limit: int) -> list[StoredConflict]:
        found = [
            conflict
            for conflict in self._tables.conflicts.values()
            if (conflict.resolved_at is not None) == resolved
            and nugget in (None, conflict.nugget)
            and (before is None or conflict.number < before)
        ]
        return _last_first(found)[: max(limit, 0)]

    def of_note(self, row: int, *, limit: int) -> list[StoredConflict]:
        found = [conflict for conflict in self._tables.conflicts.values() if row in (conflict.a, conflict.b)]
        return _last_first(found)[: max(limit, 0)]

    def disputed(self, rows: Collection[int]) -> Mapping[int, Sequence[str]]:
        found = _last_first([one for one in self._tables.conflicts.values() if one.resolved_at is None])
        disputed = {row: [one.id for one in found if row in (one.a, one.b)] for row in rows}
        return {row: ids for row, ids in disputed.items() if ids}

    def put(self, conflict: StoredConflict) -> None:
        tables = self._tables
        known = tables.conflicts.get(conflict.id)
        if known is None:
            tables.conflict_number += 1
            stored = conflict._replace(number=tables.conflict_number)
        else:
            stored = known._replace(resolved_at=conflict.resolved_at, resolution=conflict.resolution)
        tables.put(tables.conflicts, conflict.id, stored)


def _last_first(found: Sequence[StoredConflict]) -> list[StoredConflict]:
    return sorted(found, key=lambda conflict: -conflict.number)


def forget_statements(tables: Tables, row: int) -> None:
    """Delete what a note states, and its conflicts."""
    tables.remove(tables.statements, row)
    for conflict in [one for one in tables.conflicts.values() if row in (one.a, one.b)]:
        tables.remove(tables.conflicts, conflict.id)


def rename_conflicts(tables: Tables, old: str, new: str) -> None:
    """Have the conflicts of a nugget be those of another."""
    for conflict in list(tables.conflicts.values()):
        if conflict.nugget == old:
            tables.put(tables.conflicts, conflict.id, conflict._replace(nugget=new))
