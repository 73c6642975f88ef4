"""Links as rows: what the store's port says of them, in SQL."""
# ruff: noqa: D102 (the port documents these methods)

from collections.abc import Sequence
from typing import Any, Final

from shelfd.memory.notes.note import Link
from shelfd.memory.ports.notes import CAUSES, LinksWriter
from shelfd.storage.encoding import encode_strings
from shelfd.storage.sqlite.database import AMONG, SqliteRows, placeholders

LINK_COLUMNS: Final = ", ".join(Link._fields)
_LINK: Final = f"SELECT {LINK_COLUMNS} FROM link"  # noqa: S608 (column names of ours)
_INSERT: Final = f"INSERT INTO link ({LINK_COLUMNS}) VALUES ({placeholders(LINK_COLUMNS)})"  # noqa: S608
_IDENTITY: Final = "source = ? AND target = ? AND relation = ?"
_UPDATE: Final = (
    f"UPDATE link SET reason = ?, created_at = ?, valid_from = ?, valid_to = ?, seq_to = ? WHERE {_IDENTITY}"  # noqa: S608
)

#: In the words of the index of such links.
_CAUSING: Final = (
    "SELECT source FROM link WHERE target = ?"  # noqa: S608 (words of ours)
    f" AND relation IN ({', '.join(map(repr, CAUSES))}) ORDER BY row LIMIT ?"
)

#: Hidden notes that became part of a note, those of these, and so on; each once, even around a circle.
_MERGED: Final = """
WITH RECURSIVE part (id, row) AS (
    SELECT ?1, NULL
    UNION
    SELECT note.id, note.row FROM part
    CROSS JOIN link ON link.target = part.id AND link.relation = 'merged_into'
    CROSS JOIN note ON note.id = link.source
    WHERE note.archived_at IS NOT NULL AND note.id <> ?1
)
SELECT row FROM part WHERE row IS NOT NULL LIMIT ?2
"""


class SqliteLinks(SqliteRows, LinksWriter):
    """Links."""

    def get(self, source: str, target: str, relation: str) -> Link | None:
        columns = self._database.one(f"{_LINK} WHERE {_IDENTITY}", (source, target, relation))
        return None if columns is None else Link._make(columns)

    def between(self, source: str, target: str) -> list[Link]:
        found = self._database.all(f"{_LINK} WHERE source = ? AND target = ? ORDER BY row", (source, target))
        return [Link._make(columns) for columns in found]

    def leaving(self, ids: Sequence[str]) -> dict[str, list[Link]]:
        links: dict[str, list[Link]] = {note_id: [] for note_id in ids}
        for columns in self._database.all(f"{_LINK} WHERE source {AMONG} ORDER BY row", (encode_strings(ids),)):
            links[columns[0]].append(Link._make(columns))
        return links

    def causing(self, note_id: str, *, limit: int) -> list[str]:
        found = self._database.all(_CAUSING, (note_id, max(limit, 0)))
        return list(dict.fromkeys(columns[0] for columns in found))

    def count(self) -> int:
        return int(self._database.value("SELECT count(*) FROM link"))

    def count_leaving(self, note_id: str) -> int:
        return int(self._database.value("SELECT count(*) FROM link WHERE source = ?", (note_id,)))

    def page(self, *, note_id: str | None, relation: str | None, after: int, limit: int) -> list[tuple[int, Link]]:
        condition, params = "row > ?", [after]
        narrowing: list[Any] = []
        if note_id is not None:
            condition += " AND (source = ? OR target = ?)"
            narrowing += [note_id, note_id]
        if relation is not None:
            condition += " AND relation = ?"
            narrowing.append(relation)
        found = self._database.all(
            f"SELECT row, {LINK_COLUMNS} FROM link WHERE {condition} ORDER BY row LIMIT ?",  # noqa: S608
            (*params, *narrowing, max(limit, 0)),
        )
        return [(columns[0], Link._make(columns[1:])) for columns in found]

    def merged_rows(self, note_id: str, *, limit: int) -> list[int]:
        return [columns[0] for columns in self._database.all(_MERGED, (note_id, max(limit, 0)))]

    def merge_targets(self, *, after: str, limit: int) -> list[str]:
        # The relation in so many words lets SQLite use the index of such links.
        found = self._database.all(
            "SELECT DISTINCT target FROM link WHERE relation = 'merged_into' AND target > ? ORDER BY target LIMIT ?",
            (after, max(limit, 0)),
        )
        return [columns[0] for columns in found]

    def put(self, link: Link, *, is_new: bool = False) -> None:
        # No upsert: that would use up a row number each time.
        if is_new or not self._database.run(_UPDATE, (*link[3:], *link[:3])):
            self._database.run(_INSERT, link)

    def delete(self, link: Link) -> None:
        self._database.run(f"DELETE FROM link WHERE {_IDENTITY}", link[:3])  # noqa: S608
