"""What mem0 keeps: an export as JSON, and the local store, of which the history of memories is read.

The vector store beside it holds Python objects, which are not loaded: doing so would run what the file says.
"""

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from shelfd.client import foreign, sqlite_file
from shelfd.client.beginnings import begins_array
from shelfd.client.foreign import Unusable
from shelfd.client.formats import json_array
from shelfd.client.formats.entries import EntryFile, ForeignEntry
from shelfd.client.formats.moments import moment

NEEDED: Final = frozenset({"memory_id", "new_memory", "event"})
#: Members that have a place here, or say nothing to keep.
_KNOWN: Final = frozenset({"id", "memory", "hash", "metadata", "created_at", "updated_at", "categories", "score"})
_LATEST: Final = (
    "SELECT rowid, memory_id, new_memory, event, created_at, updated_at FROM history"
    " WHERE rowid IN (SELECT max(rowid) FROM history GROUP BY memory_id) ORDER BY rowid"
)
_FIRST: Final = "SELECT min(created_at) FROM history WHERE memory_id = ?"


def is_memory(value: object) -> bool:
    """Return whether *value* is a memory as an export has it."""
    return isinstance(value, Mapping) and isinstance(value.get("memory"), str) and "id" in value


def is_export(document: object) -> bool:
    """Return whether *document* is an object with a list of memories."""
    results = _listed(document)
    return results is not None and (not results or is_memory(results[0]))


def _listed(document: object) -> list[Any] | None:
    if not isinstance(document, Mapping):
        return None
    lists = (document.get(name) for name in ("results", "memories"))
    return next((one for one in lists if isinstance(one, list)), None)


class Mem0Store(EntryFile):
    """The history of a local store: the last that was said of each memory counts."""

    format = "mem0"
    unit = "row"

    def count(self) -> int:
        """Return how many memories it speaks of."""
        return sqlite_file.count(self.path, "SELECT count(DISTINCT memory_id) FROM history")

    def entries(self, part: str) -> Iterator[ForeignEntry]:
        """Iterate over its memories."""
        if part != "notes":
            return
        gone: list[int] = []
        for number, id_, memory, event, created_at, updated_at in sqlite_file.rows(self.path, _LATEST):
            if event == "DELETE":
                gone.append(number)
            elif not isinstance(memory, str) or not memory.strip() or not isinstance(id_, str):
                yield ForeignEntry(number, why="has no text, or no id")
            else:
                note = {"id": id_, "content": memory, "created_at": moment(created_at)}
                yield ForeignEntry(number, {**note, "updated_at": moment(updated_at or created_at)})
        if gone:
            self.leave_out("notes", "event", "was deleted there, and is left out", gone)
        why = "whose memory it is and its metadata are in the vector store, which is not read: import an export instead"
        self.leave_out("notes", "metadata", why)


class Mem0Export(EntryFile):
    """An export: a list of memories, or an object with one, and maybe with relations between entities."""

    format = "mem0"
    unit = "memory"

    def count(self) -> int:
        """Return 0: it is not known before it is read."""
        return 0

    def entries(self, part: str) -> Iterator[ForeignEntry]:
        """Iterate over its memories."""
        if part != "notes":
            return
        for number, value, why in self._members():
            if why or not is_memory(value):
                yield ForeignEntry(number, why=why or "is no memory: it has no id, or no text `memory`")
            else:
                yield ForeignEntry(number, _note(value))

    def _members(self) -> Iterator[tuple[int, Any, str]]:
        try:
            with Path(self.path).open("rb") as file:
                if begins_array(file.read(256)):
                    file.seek(0)
                    yield from json_array.read(file)
                    return
        except OSError as error:
            raise Unusable(self.path, error.strerror or str(error), os.EX_NOINPUT) from error
        document = foreign.load(self.path)
        if isinstance(document, Mapping) and document.get("relations"):
            self.leave_out("notes", "relations", "relations of entities are derived anew from what the notes say")
        for number, value in enumerate(_listed(document) or []):
            yield number, value, ""


def _note(memory: Mapping[str, Any]) -> dict[str, Any]:
    note: dict[str, Any] = {"id": str(memory["id"]), "content": memory["memory"]}
    for name in ("created_at", "updated_at"):
        if memory.get(name) is not None:
            note[name] = moment(memory[name])
    if isinstance(tags := memory.get("categories"), list):
        note["tags"] = [str(tag) for tag in tags]
    metadata = memory.get("metadata")
    fields = {name: value for name, value in memory.items() if name not in _KNOWN and value is not None}
    if isinstance(metadata, Mapping):
        fields |= metadata
    if fields:
        note["fields"] = json.loads(json.dumps(fields))
    return note
