"""Lines of JSON, members of a JSON array and rows of CSV, whose columns become members of a note."""

import csv
import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from shelfd.client import json_lines
from shelfd.client.beginnings import is_array
from shelfd.client.foreign import LARGEST_ITEM, Unusable
from shelfd.client.formats import json_array, mem0
from shelfd.client.formats.entries import EntryFile, ForeignEntry
from shelfd.client.formats.mapping import MEMBERS
from shelfd.client.formats.moments import moment

#: Other names that columns have, by the member that they are if no other column is.
_ALSO: Final[Mapping[str, tuple[str, ...]]] = {
    "content": ("text", "memory", "note", "body", "fact", "value", "observation", "message"),
    "title": ("subject_line", "heading"),
    "id": ("uuid", "_id", "memory_id", "note_id"),
    "tags": ("labels", "keywords", "categories"),
    "created_at": ("created", "timestamp", "date", "time", "createdAt"),
    "updated_at": ("updated", "modified", "updatedAt"),
    "author": ("user", "user_id"),
}
_TIMES: Final = ("occurred_at", "created_at", "updated_at")
_LISTS: Final = ("tags", "aliases")
_NUMBERS: Final = {"confidence": float, "importance": int}
#: Characters from which on an id is taken to be unique beyond its file.
_SHORTEST_ID: Final = 8
_LOOKED_AT: Final = 10


class RecordFile(EntryFile):
    """A file of records, with what its columns become."""

    def __init__(self, path: str, header: Mapping[str, Any], format_: str, mapping: Mapping[str, str]) -> None:
        super().__init__(path, header)
        self.format = format_
        self.unit = "row" if format_ == "csv" else "item" if is_array(path) else "line"
        self._mapping = mapping
        self._names: dict[tuple[str, ...], dict[str, str]] = {}

    def entries(self, part: str) -> Iterator[ForeignEntry]:
        """Iterate over its records."""
        seen = False
        for number, record, why in self._records():
            if why:
                yield ForeignEntry(number, why=why)
            elif not isinstance(record, dict):
                yield ForeignEntry(number, why="is not an object")
            else:
                seen = seen or self._mapping.keys() <= record.keys()
                yield self._entry(number, record)
            if part == "notes" and number > _LOOKED_AT and not seen:
                break
        if part == "notes" and self._mapping and not seen:
            missing = ", ".join(self._mapping)
            raise Unusable(self.path, f"no record has the columns that --map names: {missing}", os.EX_DATAERR)

    def count(self) -> int:
        """Return about how many records it has."""
        return 0 if self.unit == "item" else json_lines.count(self.path)

    def _records(self) -> Iterator[tuple[int, Any, str]]:
        if self.unit == "row":
            yield from rows(self.path)
        elif self.unit == "item":
            with Path(self.path).open("rb") as file:
                yield from json_array.read(file)
        else:
            yield from json_lines.read(self.path)

    def _entry(self, number: int, record: Mapping[str, Any]) -> ForeignEntry:
        note = self._note(record)
        if not isinstance(note.get("content"), str) or not note["content"].strip():
            columns = ", ".join(map(repr, list(record)[:8]))
            return ForeignEntry(
                number, why=f"has no text; its columns are {columns}: --map COLUMN=content says which it is"
            )
        linked = {name: note[name] for name in ("id", "name", "links") if note.get(name)}
        return ForeignEntry(number, note, linked if linked.get("links") else None)

    def _note(self, record: Mapping[str, Any]) -> dict[str, Any]:
        names = self._members(tuple(record))
        note: dict[str, Any] = {}
        fields: dict[str, Any] = {}
        for column, value in record.items():
            if value is None or value == "":
                continue
            member = names.get(column)
            if member is None:
                fields[column] = value
            elif member == "fields" and isinstance(value, dict):
                fields |= value
            else:
                note[member] = _converted(member, value)
        if fields:
            note["fields"] = fields
        if "name" in note:
            note.setdefault("title", note["name"])
        _name(note)
        return note

    def _members(self, columns: tuple[str, ...]) -> dict[str, str]:
        """What each column becomes: as it was mapped, by its name, or by another name for it."""
        if (known := self._names.get(columns)) is None:
            known = {column: member for column, member in self._mapping.items() if column in columns}
            for column in columns:
                if column not in known and column in MEMBERS and column not in known.values():
                    known[column] = column
            for member, also in _ALSO.items():
                free = [name for name in also if name in columns and name not in known]
                if free and member not in known.values():
                    known[free[0]] = member
            if len(self._names) < 64:  # records of ever new columns are not remembered
                self._names[columns] = known
        return known


def _converted(member: str, value: Any) -> Any:  # noqa: ANN401
    if member in _TIMES:
        return moment(value)
    if member in _LISTS or member == "links":
        return _links(_list(value)) if member == "links" else _list(value)
    if member in _NUMBERS and isinstance(value, str):
        try:
            return _NUMBERS[member](value)
        except ValueError:
            return value
    if member == "hidden" and isinstance(value, str):
        return value.strip().lower() in ("true", "1", "yes")
    if member == "fields" and isinstance(value, str):
        try:
            return json.loads(value)
        except ValueError:
            return {"fields": value}
    return str(value) if member in ("id", "name", "key", "title", "content") and not isinstance(value, str) else value


def _list(value: Any) -> list[Any]:  # noqa: ANN401
    if isinstance(value, list):
        return value
    if not isinstance(value, str):
        return [value]
    if value.lstrip().startswith("["):
        try:
            return list(json.loads(value))
        except (ValueError, TypeError, RecursionError):
            pass
    return [part.strip() for part in value.replace(";", ",").split(",") if part.strip()]


def _links(given: list[Any]) -> list[Any]:
    return [one if isinstance(one, dict) else {"to": str(one)} for one in given]


def _name(note: dict[str, Any]) -> None:
    """Give a note by which it is known again: its id, its name, its key, else what it says."""
    id_ = note.get("id")
    if isinstance(id_, str) and (len(id_) < _SHORTEST_ID or not id_.isprintable() or " " in id_):
        del note["id"]
        note.setdefault("name", id_)
    if "id" not in note and "name" not in note:
        known_by = note.get("key") or f"{note.get('title')}\n{note.get('content')}"
        note["name"] = hashlib.blake2b(str(known_by).encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


def rows(path: str) -> Iterator[tuple[int, Any, str]]:
    """Iterate over the rows of a CSV file by its header, with the numbers of their first lines.

    Raises:
        Unusable: If it cannot be read, or has no header.
    """
    try:
        with Path(path).open("r", encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
            lines = _Bounded(iter(lambda: file.readline(json_lines.LONGEST_LINE), ""))
            sample = file.read(64 * 1024)
            file.seek(0)
            yield from _rows(path, csv.reader(lines, _dialect(path, sample)), lines)
    except OSError as error:
        raise Unusable(path, error.strerror or str(error), os.EX_NOINPUT) from error


class _Bounded:
    """Lines of a file; one whose text csv cannot take is replaced by an empty one and remembered."""

    def __init__(self, lines: Iterator[str]) -> None:
        self._lines = lines
        self.number = 0
        self.broken: dict[int, str] = {}

    def __iter__(self) -> "Iterator[str]":
        for line in self._lines:
            self.number += 1
            if len(line) >= json_lines.LONGEST_LINE:
                self.broken[self.number] = f"is longer than {json_lines.LONGEST_LINE} bytes"
            elif "\0" in line:
                self.broken[self.number] = "holds a NUL"
            elif not line.isascii() and any("\ud800" <= c <= "\udfff" for c in line):
                self.broken[self.number] = "is not UTF-8"
            else:
                yield line
                continue
            yield "\n"


def _dialect(path: str, sample: str) -> type[csv.Dialect] | str:
    if path.lower().endswith(".tsv"):
        return "excel-tab"
    head = sample.partition("\n")[0]
    return _semicolons() if head.count(";") > head.count(",") else "excel"


def _semicolons() -> type[csv.Dialect]:
    class Semicolons(csv.excel):
        delimiter = ";"

    return Semicolons


def _rows(path: str, reader: Any, lines: _Bounded) -> Iterator[tuple[int, Any, str]]:  # noqa: ANN401
    csv.field_size_limit(LARGEST_ITEM)
    header: list[str] | None = None
    first = 1
    while True:
        try:
            row = next(reader)
        except StopIteration:
            break
        except csv.Error:
            yield first, None, "is no row of CSV: too large, or its quotes do not end"
            first = reader.line_num + 1
            continue
        broken = [lines.broken[number] for number in range(first, reader.line_num + 1) if number in lines.broken]
        if broken:
            yield first, None, broken[0]
        elif header is None:
            header = row
        elif row and len(row) > len(header):
            yield first, None, f"has {len(row)} values, and the header {len(header)}"
        elif row:
            yield first, dict(zip(header, row, strict=False)), ""
        first = reader.line_num + 1
    if header is None:
        raise Unusable(path, "is empty: expected a line that names the columns", os.EX_DATAERR)


def format_of(path: str, *, is_mapped: bool) -> str | None:
    """Return of which format the members of an array are; None if they are of none.

    Raises:
        Unusable: If it cannot be read.
    """
    with Path(path).open("rb") as file:
        for member in json_array.read(file):
            if mem0.is_memory(member.value):
                return "mem0"
            if isinstance(member.value, dict) and (is_mapped or has_text(member.value)):
                return "jsonl"
            if member.number >= _LOOKED_AT:
                break
    return None


def has_text(record: Mapping[str, Any]) -> bool:
    """Return whether one of the columns is known to be what a note says."""
    return any(isinstance(record.get(name), str) and record[name].strip() for name in ("content", *_ALSO["content"]))
