"""ZettelForge's newer store, a SQLite file: its rows in the shape of the older one's lines."""

import json
import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from typing import Any, Final

from shelfd.client import sqlite_file
from shelfd.client.foreign import Unusable
from shelfd.client.json_lines import JsonLine
from shelfd.client.sqlite_file import opened, unreadable

#: Where a column's value stands in a line. Of the vector nothing is read.
_PLACES: Final[Mapping[str, tuple[str, ...]]] = {
    "id": ("id",),
    "version": ("version",),
    "created_at": ("created_at",),
    "updated_at": ("updated_at",),
    "evolved_from": ("evolved_from",),
    "evolved_by": ("evolved_by",),
    "content_raw": ("content", "raw"),
    "content_source_type": ("content", "source_type"),
    "content_source_ref": ("content", "source_ref"),
    "content_previous_raw": ("content", "previous_raw"),
    "tags": ("semantic", "tags"),
    "superseded_by": ("links", "superseded_by"),
    "related": ("links", "related"),
    "causal_chain": ("links", "causal_chain"),
    "vuln_meta": ("metadata", "vuln"),
    **{
        name: ("metadata", name)
        for name in (
            *("access_count", "last_accessed", "evolution_count", "confidence", "ttl", "domain", "tier", "importance"),
            *("persistence_semantics", "ttl_anchor", "tlp", "stix_confidence"),
        )
    },
}
#: Columns that hold JSON.
_JSON: Final = frozenset({"evolved_by", "tags", "related", "causal_chain", "vuln_meta"})
_IS_CAUSAL: Final = "edge_type = 'causal'"
_CAUSAL: Final = (
    "SELECT note_id, source.entity_type, source.entity_value, relationship, target.entity_type, target.entity_value"  # noqa: S608
    " FROM kg_edges JOIN kg_nodes AS source ON source.node_id = from_node_id"
    f" JOIN kg_nodes AS target ON target.node_id = to_node_id WHERE {_IS_CAUSAL} ORDER BY kg_edges.rowid"
)
_UNSAID: Final = f"SELECT count(*) FROM kg_edges WHERE {_IS_CAUSAL} AND note_id NOT IN (SELECT id FROM notes)"  # noqa: S608
_NEEDED: Final = frozenset({"id", "content_raw"})


def is_store(path: str) -> bool:
    """Return whether a SQLite file has notes as this store keeps them.

    Raises:
        Unusable: If it cannot be read.
    """
    return sqlite_file.columns(path, "notes") >= _NEEDED


def read(path: str) -> Iterator[JsonLine]:
    """Iterate over the notes of the store at *path*, in the order in which they were made.

    Raises:
        Unusable: If it is no such store, or cannot be read.
    """
    with closing(opened(path)) as connection:
        try:
            columns = _columns(path, connection)
            named = ", ".join(columns)
            rows = connection.execute(f"SELECT rowid, {named} FROM notes ORDER BY rowid")  # noqa: S608 (names of ours)
            edges = _causal_edges(connection)
            for number, *values in rows:
                line = _line(dict(zip(columns, values, strict=True)))
                if said := edges.get(line.get("id")):
                    line.setdefault("links", {})["causal_edges"] = said
                yield JsonLine(number, line)
        except sqlite3.Error as error:
            raise unreadable(path, error) from error


def count(path: str) -> int:
    """Return how many notes the store at *path* has.

    Raises:
        Unusable: As :func:`read` does.
    """
    return _count(path, "SELECT count(*) FROM notes")


def _causal_edges(connection: sqlite3.Connection) -> dict[Any, list[list[Any]]]:
    """What notes say of causes, as far as it is known which one does: that cannot be derived from their text again."""
    try:
        rows = connection.execute(_CAUSAL).fetchall()
    except sqlite3.Error:  # a version without such tables
        return {}
    found: dict[Any, list[list[Any]]] = {}
    for note, *edge in rows:
        found.setdefault(note, []).append(edge)
    return found


def count_unsaid(path: str) -> int:
    """Return how many of its edges that say what causes what are no note's; 0 if it has none of these.

    Raises:
        Unusable: As :func:`read` does.
    """
    try:
        return _count(path, _UNSAID)
    except Unusable:
        return 0


def _count(path: str, sql: str) -> int:
    with closing(opened(path)) as connection:
        try:
            (found,) = connection.execute(sql).fetchone()
        except sqlite3.Error as error:
            raise unreadable(path, error) from error
    return int(found)


def _columns(path: str, connection: sqlite3.Connection) -> list[str]:
    there = {name for _, name, *_ in connection.execute("PRAGMA table_info(notes)")}
    if not there >= _NEEDED:
        raise Unusable(path, "is a SQLite file, and none of ZettelForge: it has no notes", os.EX_DATAERR)
    return [name for name in _PLACES if name in there]


def _line(row: Mapping[str, Any]) -> dict[str, Any]:
    line: dict[str, Any] = {}
    for name, value in row.items():
        if value is None or value == "":
            continue
        *above, last = _PLACES[name]
        members = line.setdefault(above[0], {}) if above else line
        members[last] = _parsed(value) if name in _JSON else value
    line.setdefault("content", {}).setdefault("raw", "")
    return line


def _parsed(value: object) -> object:
    """What a column holds as JSON; if it is none, the column as it is, for the daemon to refuse."""
    try:
        return json.loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        return value
