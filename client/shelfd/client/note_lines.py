"""Notes one a line, as ZettelForge's older store and a snapshot of a shelf have them, and its newer store's rows.

What the members of a note mean is for the daemon to know. Here it is known only which of them is sent when: links need
both of their ends, so they come after the notes.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any, Final

from shelfd.client import json_lines, snapshot_line
from shelfd.client.beginnings import is_database
from shelfd.client.foreign import LARGEST_ITEM, REFUSED, ForeignBatch, as_written

#: Notes of a format sent together, which are one step of the import.
_TOGETHER: Final = {"zettelforge": 168, "shelfd": 336, "merge": 168}
#: The same of the first ones of a kind, where they go by themselves: the daemon opens the shelf, and begins with notes,
#: while the others are read.
_FIRST: Final = {"shelfd": {"nuggets": 1, "notes": 84}}
#: Lines of a file's beginning that are looked at for one that is a note.
_LOOKED_AT: Final = 10
#: Kinds of items by format, in the order in which they are sent.
_PARTS: Final = {
    "zettelforge": ("notes", "links"),
    "shelfd": ("nuggets", "notes", "links"),
    "merge": ("gone", "nuggets", "notes", "links"),
}
#: Members of a note's links that are sent.
_LINKED: Final = ("related", "causal_chain", "superseded_by", "causal_edges")
_TIMES: Final = ("created_at", "updated_at")
_METADATA_TIMES: Final = ("last_accessed", "ttl_anchor")


def format_of(path: str) -> str | None:
    """Return of which of these formats the file at *path* is; None if it is of none.

    Raises:
        Unusable: If it cannot be read.
    """
    for looked_at, line in enumerate(json_lines.read(path), 1):
        if isinstance(line.value, dict) and _is_item(line.value):
            return "shelfd" if isinstance(line.value.get("shelfd"), dict) else "zettelforge"
        if looked_at == _LOOKED_AT:
            return None
    return None


def _is_note(value: Mapping[str, Any]) -> bool:
    content = value.get("content")
    return isinstance(content, dict) and "raw" in content


def _is_item(value: Mapping[str, Any]) -> bool:
    """Whether a line is a note, or a nugget without notes."""
    rest = value.get("shelfd")
    return _is_note(value) or (isinstance(rest, dict) and bool({"nugget", "gone"} & rest.keys()))


def count(path: str) -> int:
    """Return about how many notes a file has.

    Raises:
        Unusable: If it cannot be read.
    """
    if not is_database(path):
        return json_lines.count(path)
    from shelfd.client import zettelforge_db  # only for a store: with sqlite3 it takes 2 ms

    return zettelforge_db.count(path)


class NoteLines:
    """A file that is being read, and what of it cannot be sent.

    Args:
        path: Of the file.
        format_: Of which format it is.
        header: What goes with each of its items.

    Attributes:
        unit: What its places count.
        rejected: Rejections as the daemon would word them.
    """

    def __init__(self, path: str, format_: str, header: Mapping[str, Any]) -> None:
        self.path = path
        self.unit = "row" if is_database(path) else "line"
        self.rejected: list[dict[str, Any]] = []
        self._format = format_
        self._header = header
        self._may_have_links = _ITEMS[format_] is not _restored  # else it is known from the lines of notes

    def batches(self) -> Iterator[ForeignBatch]:
        """Iterate over its items, some at a time: nuggets, then notes, then links.

        For each of these the file is read once more, but of a snapshot only lines that may have some are parsed, and
        most notes are cut out of their lines as they are.

        Raises:
            Unusable: If it cannot be read.
        """
        for part in _PARTS[self._format]:
            if part == "links" and not self._may_have_links:
                break
            batch, together = self._new_batch(part), _TOGETHER[self._format]
            most = _FIRST.get(self._format, {}).get(part, together)
            for line in self._lines(part):
                self._add(batch, line)
                if len(batch.items) == most:
                    yield batch
                    batch, most = self._new_batch(part), together
            if batch.items:
                yield batch

    def _lines(self, part: str) -> Iterator[json_lines.JsonLine]:
        if self.unit == "row":
            from shelfd.client import zettelforge_db

            return zettelforge_db.read(self.path)
        if _ITEMS[self._format] is not _restored:
            return json_lines.read(self.path)
        if part == "notes":
            return json_lines.read(self.path, cut=snapshot_line.note_of)
        return json_lines.read(self.path, may_have=partial(_may_have, *_LOOKS[part]))

    def _new_batch(self, part: str) -> ForeignBatch:
        return ForeignBatch(self.path, part, self._header, [], [], [], self.unit)

    def _add(self, batch: ForeignBatch, line: json_lines.JsonLine) -> None:
        """Add what a line has for a batch; reject it, with the notes, if it is no note."""
        is_cut = type(line.value) is bytes
        item, written, why = (None, line.value, "") if is_cut else self._parsed(batch.part, line)
        if written is None or len(written) > LARGEST_ITEM:
            why = "cannot be sent: too large, or no text"
        if why and batch.part == "notes":
            self.rejected.append({"index": line.number, "error": {**REFUSED, "message": why}})
        elif written and not why:
            batch.add(item, line.number, written)

    def _parsed(self, part: str, line: json_lines.JsonLine) -> tuple[dict[str, Any] | None, bytes | None, str]:
        """Return what a line has for a part, how that is sent, and why the line is no item."""
        if line.why or not isinstance(line.value, dict) or not _is_item(line.value):
            return None, b"", line.why or "is no note"
        rest = line.value.get("shelfd")
        self._may_have_links |= isinstance(rest, dict) and "links" in rest
        item = _ITEMS[self._format](part, line.value)
        return item, b"" if item is None else as_written(item), ""


def _zettel(part: str, note: Mapping[str, Any]) -> dict[str, Any] | None:
    if part == "links":
        given = note.get("links")
        links = {name: given[name] for name in _LINKED if given.get(name)} if isinstance(given, dict) else {}
        if not links:
            return None
        return {"id": note.get("id"), "updated_at": _zoned(note.get("updated_at")), "links": links}
    item = {name: value for name, value in note.items() if name not in ("embedding", "links")}
    _give_zones(item, _TIMES)
    if isinstance(item.get("metadata"), dict):
        item["metadata"] = dict(item["metadata"])
        _give_zones(item["metadata"], _METADATA_TIMES)
    return item


def _give_zones(members: dict[str, Any], names: tuple[str, ...]) -> None:
    members |= {name: _zoned(members[name]) for name in names if name in members}


def _zoned(time: object) -> object:
    """A time with this machine's zone, if it has none: that is how ZettelForge writes it."""
    if not isinstance(time, str):
        return time
    try:
        moment = datetime.fromisoformat(time)
    except ValueError:
        return time
    try:
        return moment.astimezone().isoformat() if moment.tzinfo is None else time
    except (OverflowError, OSError):  # a year that no zone knows
        return time


def _restored(part: str, line: Mapping[str, Any]) -> dict[str, Any] | None:
    rest = line.get("shelfd")
    if not isinstance(rest, dict):
        rest = {}
    if part == "notes":
        if not _is_note(line):
            return None
        kept = {name: value for name, value in rest.items() if name not in ("links", "nugget", "types")}
        return {"id": line.get("id"), "content": line["content"], "shelfd": kept}
    names = {"gone": ("gone",), "nuggets": ("nugget", "types")}.get(part, ("links",))
    if names[0] not in rest:
        return None
    return {"id": line.get("id"), "shelfd": {name: rest[name] for name in ("format", *names) if name in rest}}


def _may_have(member: bytes, elsewhere: Sequence[bytes], raw: bytes) -> bool:
    """Return whether lines, as they are written, may have a member that does not just stand *elsewhere*."""
    if (count := raw.count(member)) and count > sum(map(raw.count, elsewhere)):
        return True
    return b"\\" in raw and b"\\u00" in raw  # that may be a letter of its name


#: Members of which most lines have none, by the part that they are for, and where others of the same name stand.
_LOOKS: Final = {
    "gone": (b'"gone"', ()),
    "nuggets": (b'"nugget"', (b'"note":{"nugget":"',)),
    "links": (b'"links"', (b'"links":{"related":',)),
}
_ITEMS: Final = {"zettelforge": _zettel, "shelfd": _restored, "merge": _restored}
