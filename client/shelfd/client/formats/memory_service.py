"""The store of mcp-memory-service, a SQLite file; its vectors, which need an extension, are not read."""

import json
from collections.abc import Iterator
from typing import Any, Final

from shelfd.client import sqlite_file
from shelfd.client.formats.entries import EntryFile, ForeignEntry
from shelfd.client.formats.moments import moment

NEEDED: Final = frozenset({"content_hash", "content"})
_COLUMNS: Final = (
    "content_hash",
    "content",
    "tags",
    "memory_type",
    "metadata",
    "created_at",
    "updated_at",
    "deleted_at",
)
_GRAPH: Final = ("source_hash", "target_hash", "relationship_type", "created_at")


class MemoryService(EntryFile):
    """A store of memories and the associations between them."""

    format = "mcp-memory-service"
    unit = "row"

    def count(self) -> int:
        """Return how many memories it has."""
        return sqlite_file.count(self.path, "SELECT count(*) FROM memories")

    def entries(self, part: str) -> Iterator[ForeignEntry]:
        """Iterate over its memories, then over its associations."""
        yield from self._memories() if part == "notes" else self._associations()

    def _memories(self) -> Iterator[ForeignEntry]:
        there = sqlite_file.columns(self.path, "memories")
        named = ", ".join(name if name in there else "NULL" for name in _COLUMNS)
        gone: list[int] = []
        for number, *values in sqlite_file.rows(self.path, f"SELECT rowid, {named} FROM memories ORDER BY rowid"):  # noqa: S608 (names of ours)
            row: dict[str, Any] = dict(zip(_COLUMNS, values, strict=True))
            if row["deleted_at"] is not None:
                gone.append(number)
                continue
            yield self._memory(number, row)
        if gone:
            self.leave_out("notes", "deleted_at", "was deleted there, and is left out", gone)

    def _memory(self, number: int, row: dict[str, Any]) -> ForeignEntry:
        content, hash_ = row["content"], row["content_hash"]
        if not isinstance(content, str) or not content.strip() or not isinstance(hash_, str):
            return ForeignEntry(number, why="has no text, or no hash")
        note: dict[str, Any] = {"id": hash_, "content": content}
        tags = _tags(row["tags"])
        fields = _object(row["metadata"])
        if isinstance(row["memory_type"], str) and row["memory_type"]:
            note["type"] = row["memory_type"]
        for column in ("created_at", "updated_at"):
            if row[column] is not None:
                note[column] = moment(row[column])
        if tags:
            note["tags"] = tags
        if fields:
            note["fields"] = fields
        return ForeignEntry(number, note)

    def _associations(self) -> Iterator[ForeignEntry]:
        there = sqlite_file.columns(self.path, "memory_graph")
        if not {"source_hash", "target_hash"} <= there:
            return
        named = ", ".join(name if name in there else "NULL" for name in _GRAPH)
        for number, source, target, relation, at in sqlite_file.rows(
            self.path,
            f"SELECT rowid, {named} FROM memory_graph ORDER BY rowid",  # noqa: S608 (names of ours)
        ):
            link = {"to": target, "relation": relation or "related"}
            yield ForeignEntry(number, links={"id": source, "created_at": moment(at), "links": [link]})


def _tags(value: object) -> list[str]:
    if not isinstance(value, str):
        return []
    if value.lstrip().startswith("["):
        try:
            return [str(tag) for tag in json.loads(value)]
        except (ValueError, TypeError, RecursionError):
            pass
    return [tag.strip() for tag in value.split(",") if tag.strip()]


def _object(value: object) -> dict[str, Any]:
    try:
        found = json.loads(value) if isinstance(value, str) else None
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
