"""What notes state, as rows: what the store's port says of it, in SQL. And in memory, until it is stored."""
# ruff: noqa: D102 (the port documents these methods)

from collections.abc import Callable, Collection, Sequence
from collections.abc import Set as AbstractSet
from typing import Final, NamedTuple

from pydantic_core import from_json

from shelfd.memory.ports.evolution import WITHIN_BITS, OlderNote, StatementsWriter, UnstoredStatements
from shelfd.storage.encoding import encode_integers
from shelfd.storage.sqlite.database import Database, SqliteRows
from shelfd.storage.sqlite.subjects import KnownSubjects

# Table and column names are ours.
_OLDER: Final = (
    "SELECT note.row, id, key, scope, session_id, author, subject,"
    " coalesce(occurred_at, iif(key IS NULL, created_at, updated_at)), valid_to, note.rev, statement.rev, said"
    # In this order: SQLite would rather walk through all notes of the nugget.
    " FROM (SELECT value AS near FROM json_each(?)) CROSS JOIN note ON note.row = near"
    " LEFT JOIN statement ON statement.note = near WHERE nugget = ?"
    " AND archived_at IS NULL AND superseded_by IS NULL AND parent_id IS NULL"
    " AND (expires_at IS NULL OR expires_at > ?)"
)
_UNREAD: Final = "SELECT row FROM note WHERE row > ? ORDER BY row DESC LIMIT ?"
_LOST: Final = (
    "SELECT row FROM note WHERE row BETWEEN ? AND ?"
    " AND NOT EXISTS (SELECT 1 FROM statement WHERE statement.note = note.row) ORDER BY row"
)
_NEWEST_READ: Final = "SELECT coalesce(max(note), 0) FROM statement"
_SLOTS_AT_ONCE: Final = 16
#: By how many slots are looked into or added. What goes for all of them is the first parameter.
_IN_SLOTS: Final = [
    " UNION ALL ".join(
        f"SELECT note FROM (SELECT note FROM slot WHERE slot = ?{at + 2} ORDER BY note DESC LIMIT ?1)"  # noqa: S608
        for at in range(count)
    )
    for count in range(_SLOTS_AT_ONCE + 1)
]
_ADD_SLOTS: Final = [
    f"INSERT INTO slot VALUES {', '.join(f'(?{at + 2}, ?1)' for at in range(count))}"  # noqa: S608
    for count in range(_SLOTS_AT_ONCE + 1)
]
_ADD: Final = "INSERT INTO statement VALUES (?, ?, ?, ?)"
_ADD_SLOT: Final = "INSERT INTO slot VALUES (?, ?)"
#: Makes a named tuple of what is known to have its length, in a fraction of the time.
_new: Final = tuple.__new__
#: Only of so many of the newest notes is it held what they state: as many are read again after a crash.
_HELD: Final = 128


class SqliteStatements(SqliteRows, StatementsWriter):
    """What notes state."""

    def unread(self, *, limit: int) -> list[int]:
        return self._newer(self._newest_read(), limit)

    def lost(self) -> list[int]:
        return []

    def rev(self, row: int) -> int | None:
        columns = self._database.one("SELECT rev FROM statement WHERE note = ?", (row,))
        return None if columns is None else columns[0]

    def in_slots(self, slots: Sequence[int], *, limit: int) -> set[int]:
        return self._stored_in(slots, limit)

    def spoken_of(self, subjects: AbstractSet[int]) -> Collection[int]:
        return subjects

    def older(self, rows: Sequence[int], nugget: str, *, now: int) -> list[OlderNote]:
        return [one for one in self._older(rows, nugget, now) if one.said_rev is not None]

    def put(self, row: int, rev: int, said: str, slots: Sequence[int]) -> None:
        database = self._database
        columns = (row, rev, encode_integers(slots), said)
        if not database.run("INSERT OR IGNORE INTO statement VALUES (?, ?, ?, ?)", columns):
            _forget_slots(database, row)
            database.run("REPLACE INTO statement VALUES (?, ?, ?, ?)", columns)
        for begin in range(0, len(slots), _SLOTS_AT_ONCE):
            some = slots[begin : begin + _SLOTS_AT_ONCE]
            database.run(_ADD_SLOTS[len(some)], (row, *some))

    def hold(self, row: int, rev: int, said: UnstoredStatements, slots: Sequence[int]) -> None:
        self.put(row, rev, said.encoded(), slots)

    def store_held(self) -> None:
        pass

    def _stored_in(self, slots: Sequence[int], limit: int) -> set[int]:
        some, others = slots[:_SLOTS_AT_ONCE], slots[_SLOTS_AT_ONCE:]
        rows = self._database.all(_IN_SLOTS[len(some)], (max(limit, 0), *some)) if some else ()
        found = {row for (row,) in rows} if rows else set[int]()  # as most
        return found | self._stored_in(others, limit) if others else found

    def _newest_read(self) -> int:
        return int(self._database.value(_NEWEST_READ))

    def _newer(self, row: int, limit: int) -> list[int]:
        return [columns[0] for columns in self._database.all(_UNREAD, (row, max(limit, 0)))]

    def _older(self, rows: Sequence[int], nugget: str, now: int) -> list[OlderNote]:
        wanted = encode_integers(sorted(set(rows), reverse=True))
        return [OlderNote._make(columns) for columns in self._database.all(_OLDER, (wanted, nugget, now))]


class _Held(NamedTuple):
    """What a note states, while it is only in memory."""

    row: int
    rev: int
    said: UnstoredStatements
    slots: Sequence[int]


class HeldState(NamedTuple):
    """What a writer knew of statements before a change."""

    held: list[_Held]
    length: int
    read: int
    lost: tuple[int, int] | None


class SqliteStatementsWriter(SqliteStatements):
    """What notes state, by the writer's connection, which has some of it in memory only.

    Held is only what notes state that are newer than all whose statements are stored, and among the newest of all when
    a group is committed. So it is known after a crash which notes these may have been.

    Args:
        database: The connection.
        newest: Returns the highest row that was given to a note.
        subjects: Of which something is stated.
    """

    def __init__(self, database: Database, newest: Callable[[], int], subjects: KnownSubjects) -> None:
        super().__init__(database)
        self._newest = newest
        self._subjects = subjects
        self._read = self._newest_read()  #: the newest note whose statements are known
        last = newest()
        first = max(self._read, last - _HELD) + 1
        self._lost = (first, last) if first <= last else None
        self._held: list[_Held] = []  #: by row; never changed but at its end, for a change may be taken back
        self._by_row: dict[int, _Held] = {}
        self._by_subject: dict[int, list[_Held]] = {}

    def unread(self, *, limit: int) -> list[int]:
        return [] if self._read >= self._newest() else self._newer(self._read, limit)

    def lost(self) -> list[int]:
        if self._lost is None:
            return []
        rows, self._lost = self._lost, None
        return [columns[0] for columns in self._database.all(_LOST, rows)]

    def rev(self, row: int) -> int | None:
        held = self._by_row.get(row)
        return super().rev(row) if held is None else held.rev

    def in_slots(self, slots: Sequence[int], *, limit: int) -> set[int]:
        by_subject, others, found = self._by_subject, list[int](), set[int]()
        for slot in slots:
            held = by_subject.get(slot >> WITHIN_BITS, ())
            newest = [one.row for one in reversed(held) if slot in one.slots][: max(limit, 0)]
            if newest:  # all held are newer than all stored
                found.update(newest)
                found |= self._stored_in([slot], limit - len(newest))
            else:
                others.append(slot)
        return found | self._stored_in(others, limit)

    def spoken_of(self, subjects: AbstractSet[int]) -> Collection[int]:
        found, held = self._subjects.among(subjects), self._by_subject.keys() & subjects
        return held.union(found) if held else found

    def older(self, rows: Sequence[int], nugget: str, *, now: int) -> list[OlderNote]:
        held = self._by_row
        if not held or held.keys().isdisjoint(rows):
            return super().older(rows, nugget, now=now)
        found = self._older(rows, nugget, now)
        known = [
            one if (kept := held.get(one.row)) is None else one._replace(said_rev=kept.rev, said=kept.said)
            for one in found
        ]
        return [one for one in known if one.said_rev is not None]

    def put(self, row: int, rev: int, said: str, slots: Sequence[int]) -> None:
        self.store_held()
        self._subjects.add(slots)
        super().put(row, rev, said, slots)
        self._read = max(self._read, row)

    def hold(self, row: int, rev: int, said: UnstoredStatements, slots: Sequence[int]) -> None:
        if row <= self._read:
            self.put(row, rev, said.encoded(), slots)
            return
        self._add(_new(_Held, (row, rev, said, slots)))
        self._read = row

    def store_held(self) -> None:
        if not self._held:
            return
        held = self._held
        self._restart([])
        self._subjects.add(slot for one in held for slot in one.slots)
        rows = [(one.row, one.rev, encode_integers(one.slots), one.said.encoded()) for one in held]
        self._database.run_many(_ADD, rows)
        # In the order of the table: those beside each other go into one page.
        self._database.run_many(_ADD_SLOT, sorted((slot, one.row) for one in held for slot in one.slots))

    def save(self) -> None:
        """Store what is held if it is too much to be found again, at the end of a group."""
        if self._held and self._newest() - self._held[0].row >= _HELD:
            self.store_held()

    def drop(self, row: int) -> None:
        """Delete what a note states."""
        if row in self._by_row:
            self._restart([one for one in self._held if one.row != row])
        forget_statements(self._database, row)

    def begin(self) -> HeldState:
        """Begin a change; return what :meth:`take_back` needs to undo it."""
        return HeldState(self._held, len(self._held), self._read, self._lost)

    def take_back(self, state: HeldState) -> None:
        """Undo what was done since a change, or a group, began. What it stored was rolled back and is held again."""
        held, length, self._read, self._lost = state
        if self._held is not held or len(held) != length:
            self._restart(held[:length])

    def _restart(self, held: list[_Held]) -> None:
        self._held, self._by_row, self._by_subject = [], {}, {}
        for one in held:
            self._add(one)

    def _add(self, one: _Held) -> None:
        self._held.append(one)
        self._by_row[one.row] = one
        for subject in {slot >> WITHIN_BITS for slot in one.slots}:
            self._by_subject.setdefault(subject, []).append(one)


def forget_statements(database: Database, row: int) -> None:
    """Delete what a note states."""
    _forget_slots(database, row)
    database.run("DELETE FROM statement WHERE note = ?", (row,))


def _forget_slots(database: Database, row: int) -> None:
    columns = database.one("SELECT slots FROM statement WHERE note = ?", (row,))
    if columns is not None:
        database.run_many("DELETE FROM slot WHERE slot = ? AND note = ?", [(s, row) for s in from_json(columns[0])])
