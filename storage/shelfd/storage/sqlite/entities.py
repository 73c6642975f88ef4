"""Entities as rows: what the store's port says of them, in SQL."""
# ruff: noqa: D102 (the port documents these methods)

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any, Final

from shelfd.memory.ports.entities import (
    EntitiesWriter,
    EntityCount,
    MentionedEntity,
    NoteEntities,
    StoredAlias,
    StoredEntity,
)
from shelfd.storage.encoding import decode, encode, encode_integers, encode_strings
from shelfd.storage.sqlite.database import AMONG, Columns, Database, SqliteRows, placeholders

# Table and column names are ours.
ALIAS_COLUMNS: Final = ", ".join(StoredAlias._fields)
_PUT_ALIAS: Final = f"INSERT OR REPLACE INTO alias ({ALIAS_COLUMNS}) VALUES ({placeholders(ALIAS_COLUMNS)})"  # noqa: S608
_ALIASES: Final = f"SELECT {ALIAS_COLUMNS} FROM alias ORDER BY note, family, alias LIMIT ?"  # noqa: S608
_SAID: Final = f"SELECT {ALIAS_COLUMNS} FROM alias WHERE note = ? AND note > 0 ORDER BY family, alias"  # noqa: S608
_NAMED: Final = f"SELECT {ALIAS_COLUMNS} FROM alias WHERE alias IN ({{}})"  # noqa: S608
_UNUSED: Final = (
    f"DELETE FROM entity WHERE number {AMONG}"  # noqa: S608
    " AND NOT EXISTS (SELECT 1 FROM mention WHERE mention.entity = entity.number)"
    " AND NOT EXISTS (SELECT 1 FROM edge WHERE edge.source = entity.number)"
    " AND NOT EXISTS (SELECT 1 FROM edge WHERE edge.target = entity.number) RETURNING type, number"
)
#: Counts are kept beside the rows: to count those takes as long as there are many.
_COUNT: Final = (
    "INSERT INTO entity_count VALUES (?1, ?2, ?3)"
    " ON CONFLICT (type) DO UPDATE SET entities = entities + ?2, mentions = mentions + ?3"
)
_ADD: Final = "INSERT OR REPLACE INTO mention VALUES (?, ?, ?)"
_READ: Final = f"SELECT note, text, mentioned FROM mention_read WHERE note {AMONG}"  # noqa: S608
_OF_NOTES: Final = f"SELECT number, type, key FROM mention JOIN entity ON number = entity WHERE note {AMONG}"  # noqa: S608
_FIND_ALL: Final = (
    "SELECT number, entity.type, entity.key, entity.value FROM json_each(?) AS wanted CROSS JOIN entity"
    " ON entity.type = json_extract(wanted.value, '$[0]') AND entity.key = json_extract(wanted.value, '$[1]')"
)
_NUMBERED: Final = f"SELECT number, type, key, value FROM entity WHERE number {AMONG}"  # noqa: S608
#: The last number given away: that of an entity, or of the last one that is gone if that is beyond.
_LAST_NUMBER: Final = (
    "SELECT max(coalesce((SELECT max(number) FROM entity), 0),"
    " coalesce((SELECT CAST(value AS INTEGER) FROM meta WHERE name = 'entities.last'), 0))"
)
_KEEP_LAST_NUMBER: Final = f"INSERT OR REPLACE INTO meta SELECT 'entities.last', ?1 WHERE ?1 > ({_LAST_NUMBER})"
_FIND: Final = "SELECT number, type, key, value FROM entity WHERE type = ? AND key = ?"
_BEGINNING: Final = (
    "SELECT number, type, key, value FROM entity WHERE type = ? AND key >= ? AND key < ? ORDER BY key LIMIT ?"
)
#: Aliases whose names a writer keeps in memory: some hundred kilobytes.
_NAMES_KEPT: Final = 4_000
#: Comes after every character that continues a key.
_LAST: Final = "\U0010ffff"


#: By what aliases are sorted: of few SQLite would make a table first.
_PLACE: Final = attrgetter("note", "family", "alias")


class SqliteEntities(SqliteRows, EntitiesWriter):
    """Entities."""

    def get(self, type_: str, key: str) -> StoredEntity | None:
        columns = self._database.one(_FIND, (type_, key))
        return None if columns is None else StoredEntity._make(columns)

    def called(self, names: Sequence[tuple[str, str]]) -> list[StoredEntity]:
        return [StoredEntity._make(columns) for columns in self._database.all(_FIND_ALL, (_encode_names(names),))]

    def numbered(self, numbers: Sequence[int]) -> list[StoredEntity]:
        return [StoredEntity._make(columns) for columns in self._database.all(_NUMBERED, (encode_integers(numbers),))]

    def beginning(self, type_: str, key: str, *, limit: int) -> list[StoredEntity]:
        found = self._database.all(_BEGINNING, (type_, key, key + _LAST, max(limit, 0)))
        return [StoredEntity._make(columns) for columns in found]

    def of_note(self, row: int) -> list[MentionedEntity]:
        found = self._database.all(
            "SELECT type, key, value, weight FROM mention JOIN entity ON number = entity WHERE note = ?"
            " ORDER BY type, key",
            (row,),
        )
        return [MentionedEntity._make(columns) for columns in found]

    def notes(self, number: int, *, weight: int, before: int | None, limit: int) -> list[int]:
        found = self._database.all(
            "SELECT note FROM mention WHERE entity = ? AND weight = ? AND note < ? ORDER BY note DESC LIMIT ?",
            (number, weight, 2**62 if before is None else before, max(limit, 0)),
        )
        return [columns[0] for columns in found]

    def counts(self) -> list[EntityCount]:
        found = self._database.all("SELECT type, entities, mentions FROM entity_count WHERE entities > 0 ORDER BY type")
        return [EntityCount._make(columns) for columns in found]

    def aliases(self, *, limit: int) -> list[StoredAlias]:
        return [StoredAlias._make(columns) for columns in self._database.all(_ALIASES, (max(limit, 0),))]

    def said_by(self, row: int) -> list[StoredAlias]:
        return [StoredAlias._make(columns) for columns in self._database.all(_SAID, (row,))]

    def named(self, aliases: Sequence[str]) -> list[StoredAlias]:
        wanted = ", ".join("?" * len(aliases))
        found = self._database.all(_NAMED.format(wanted), tuple(aliases))
        return sorted(map(StoredAlias._make, found), key=_PLACE) if found else []

    def position(self) -> Mapping[str, Any] | None:
        columns = self._database.one("SELECT position FROM enrichment")
        return None if columns is None else decode(columns[0])

    def put(self, found: Sequence[NoteEntities]) -> None:
        rows = encode_integers(one.row for one in found)
        read = {row: (text, said) for row, text, said in self._database.all(_READ, (rows,))}
        mentioned = {one.row: [*one.mentioned, *self._stays(one, read.get(one.row))] for one in found}
        keep = {each[:2] for some in mentioned.values() for each in some}
        _forget(self._database, rows, keep)
        self._add(mentioned)
        for one in found:
            for alias in one.learned:
                self.put_alias(alias._replace(note=one.row))

    def put_read(self, row: int, mentioned: Sequence[MentionedEntity], *, text: int) -> None:
        sql = "INSERT OR REPLACE INTO mention_read VALUES (?, ?, ?)"
        self._database.run(sql, (row, text, encode({"found": [list(one) for one in mentioned]})))
        known = {one[:2] for one in self.of_note(row)}
        self._add({row: [one for one in mentioned if one[:2] not in known]})

    def _add(self, mentioned: Mapping[int, Sequence[MentionedEntity]]) -> None:
        database = self._database
        every = [(row, one) for row, some in mentioned.items() for one in some]
        numbers = numbers_of(database, {(one.type, one.key): one.value for _, one in reversed(every)})
        database.run_many(_ADD, [(numbers[one.type, one.key], one.weight, row) for row, one in every])
        counted = Counter(one.type for _, one in every)
        database.run_many(_COUNT, [(type_, 0, count) for type_, count in counted.items()])

    def _stays(self, note: NoteEntities, read: tuple[int, str] | None) -> list[MentionedEntity]:
        """What a model found in this text of a note, but for what rules found; of another text it is dropped."""
        if read is None:
            return []
        text, mentioned = read
        if text != note.text:
            forget_read(self._database, note.row)
            return []
        beside = {one[:2] for one in note.mentioned}
        found = [MentionedEntity._make(one) for one in decode(mentioned)["found"]]
        return [one for one in found if one[:2] not in beside]

    def put_alias(self, alias: StoredAlias) -> None:
        self._database.run(_PUT_ALIAS, alias)

    def delete_aliases(self, family: str, alias: str) -> int:
        return self._database.run("DELETE FROM alias WHERE family = ? AND alias = ?", (family, alias))

    def put_position(self, position: Mapping[str, Any]) -> None:
        self._database.run("INSERT OR REPLACE INTO enrichment VALUES (1, ?)", (encode(position),))


class SqliteEntitiesWriter(SqliteEntities):
    """Entities by the writer's connection, which alone adds aliases: it knows which names may be one.

    What a rolled back change added, and what was deleted, stays among them: then a name is looked up for nothing.
    """

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._names: set[str] | None = None  #: None while they were not read, and if they are too many
        self._are_many = False

    def named(self, aliases: Sequence[str]) -> list[StoredAlias]:
        if self._names is None and not self._are_many:
            self._read_names()
        if self._names is not None and self._names.isdisjoint(aliases):  # as most
            return []
        return super().named(aliases)

    def put_alias(self, alias: StoredAlias) -> None:
        super().put_alias(alias)
        if self._names is not None:
            self._names.add(alias.alias)
            self._limit()

    def _read_names(self) -> None:
        found = self._database.all("SELECT alias FROM alias LIMIT ?", (_NAMES_KEPT + 1,))
        self._names = {columns[0] for columns in found}
        self._limit()

    def _limit(self) -> None:
        if self._names is not None and len(self._names) > _NAMES_KEPT:
            self._names, self._are_many = None, True


def forget_read(database: Database, row: int) -> None:
    """Delete what a model found in a note."""
    database.run("DELETE FROM mention_read WHERE note = ?", (row,))


def forget_entities(database: Database, row: int) -> None:
    """Delete what a note mentions, entities that nothing else keeps, and the aliases it says."""
    _forget(database, encode_integers([row]), ())


def _forget(database: Database, rows: str, keep: Collection[tuple[object, ...]]) -> None:
    """Delete what some notes mention and say, but for the entities to *keep*: they will be mentioned again."""
    database.run(f"DELETE FROM alias WHERE note {AMONG} AND note > 0", (rows,))  # noqa: S608
    found = database.all(_OF_NOTES, (rows,))
    if not found:
        return
    database.run(f"DELETE FROM mention WHERE note {AMONG}", (rows,))  # noqa: S608
    database.run_many(_COUNT, [(type_, 0, -1) for _, type_, _ in found])
    drop_unused(database, {number for number, *name in found if tuple(name) not in keep})


def numbers_of(database: Database, values: Mapping[tuple[str, str], str]) -> dict[tuple[str, str], int]:
    """Return the numbers of entities by type and key; those that are not there are added, with their *values*."""
    found = database.all(_FIND_ALL, (_encode_names(values),))
    numbers = {(type_, key): number for number, type_, key, _ in found}
    new = [name for name in values if name not in numbers]
    if new:
        numbers |= {name: number for number, name in enumerate(new, database.value(_LAST_NUMBER) + 1)}
        rows = [(numbers[name], *name, values[name]) for name in new]
        database.run_many("INSERT INTO entity (number, type, key, value) VALUES (?, ?, ?, ?)", rows)
    counted = Counter(type_ for type_, _ in new)
    database.run_many(_COUNT, [(type_, count, 0) for type_, count in counted.items()])
    return numbers


def _encode_names(names: Iterable[tuple[str, str]]) -> str:
    return f"[{','.join(map(encode_strings, names))}]"


def drop_unused(database: Database, numbers: Collection[int]) -> None:
    """Delete those of some entities that no note mentions and that have no edge."""
    if numbers:
        removed = database.all(_UNUSED, (encode_integers(sorted(numbers)),))
        if removed:
            database.run_many(_COUNT, [(type_, -1, 0) for type_, _ in removed])
            database.run(_KEEP_LAST_NUMBER, (max(number for _, number in removed),))


def forget_edges(database: Database, row: int) -> None:
    """Delete what a note says of entities, whoever read it; those that nothing else keeps go with it."""
    drop_unused(database, remove_edges(database, "note = ?", (row,)))


def remove_edges(database: Database, condition: str, params: Columns) -> set[int]:
    """Delete the edges of which a *condition* holds; return the numbers of their ends."""
    found = database.all(f"DELETE FROM edge WHERE {condition} RETURNING source, target", params)  # noqa: S608
    return {number for columns in found for number in columns}
