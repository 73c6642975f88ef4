"""The file of the MCP reference memory server: on each line an entity with its observations, or a relation."""

from collections.abc import Iterator
from typing import Any, Final

from shelfd.client import json_lines
from shelfd.client.formats.entries import EntryFile, ForeignEntry

_LOOKED_AT: Final = 10


def is_graph(path: str) -> bool:
    """Return whether one of the first lines of a file is an entity or a relation.

    Raises:
        Unusable: If it cannot be read.
    """
    for line in json_lines.read(path):
        if line.why or _kind(line.value) in ("entity", "relation"):
            return not line.why
        if line.number >= _LOOKED_AT:
            break
    return False


def _kind(value: object) -> str | None:
    if not isinstance(value, dict):
        return None
    kind = value.get("type")
    if kind == "entity" and isinstance(value.get("name"), str):
        return "entity"
    return "relation" if kind == "relation" and isinstance(value.get("relationType"), str) else None


class McpGraph(EntryFile):
    """A graph of entities and relations. An entity is a note, its observations are the note's lines."""

    format = "mcp-memory"

    def count(self) -> int:
        """Return about how many lines it has."""
        return json_lines.count(self.path)

    def entries(self, part: str) -> Iterator[ForeignEntry]:
        """Iterate over its lines."""
        for line in json_lines.read(self.path):
            kind = _kind(line.value)
            if line.why or kind is None:
                yield ForeignEntry(line.number, why=line.why or "is neither an entity nor a relation")
            elif kind == "relation":
                yield self._relation(line.number, line.value)
            elif part == "notes":
                yield self._entity(line.number, line.value)

    def _entity(self, number: int, entity: dict[str, Any]) -> ForeignEntry:
        name, given = entity["name"], entity.get("observations")
        said = [one for one in given if isinstance(one, str) and one.strip()] if isinstance(given, list) else []
        if isinstance(given, list) and len(said) != len(given):
            self.leave_out("notes", "observations", "what is no text is left out", [number])
        note: dict[str, Any] = {"name": name, "title": name, "content": "\n".join(said) or name}
        if isinstance(kind := entity.get("entityType"), str) and kind:
            note["type"] = kind
        return ForeignEntry(number, note)

    def _relation(self, number: int, relation: dict[str, Any]) -> ForeignEntry:
        source, target = relation.get("from"), relation.get("to")
        if not isinstance(source, str) or not isinstance(target, str):
            return ForeignEntry(number, why="a relation does not say from where to where")
        link = {"to": target, "relation": "_".join(relation["relationType"].split())}
        return ForeignEntry(number, links={"name": source, "links": [link]})
