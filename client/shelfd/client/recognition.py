"""Which format a file is of that another memory left."""

import os
from typing import Final, NamedTuple

from shelfd.client import chat_file, foreign, json_lines, luker_file, note_lines, nugget_files
from shelfd.client.beginnings import is_database
from shelfd.client.foreign import Unusable
from shelfd.client.formats import opening
from shelfd.client.nugget_files import ForeignFile

#: Of these formats notes are cut out in the same way.
PLAIN: Final = (
    *("jsonl", "csv", "markdown", "basic-memory", "mcp-memory", "mem0", "claude-code", "mcp-memory-service"),
    *("chatgpt", "claude"),
)
#: Names of the formats, on the command line and on the wire.
FORMATS: Final = ("nuggets", "luker", "sillytavern", "zettelforge", "shelfd", *PLAIN)
_OF_NOTES: Final = ("zettelforge", "shelfd")
#: Lines of a chat's beginning that are looked at for one that is a message.
_LOOKED_AT: Final = 10
_BEGINNING: Final = 65_536  #: bytes of a file by which it is known to hold nothing


class ForeignSource(NamedTuple):
    """A file to import.

    Attributes:
        path: Of it.
        format: One of ``FORMATS``.
        file: What it holds, if it is one of Nuggets: of these, one counts before another.
    """

    path: str
    format: str
    file: ForeignFile | None = None


def recognise(path: str, asked: str | None, *, is_mapped: bool = False) -> ForeignSource | None:
    """Return of which format the file at *path* is; None if it says nothing by itself.

    Args:
        path: Of the file.
        asked: The format that it has to be of; None for any.
        is_mapped: Whether it was said what its columns are.

    Raises:
        Unusable: If it cannot be read, or is of no such format.
    """
    if asked in PLAIN:
        return ForeignSource(path, asked)
    if is_database(path):
        return _database(path, asked)
    if asked is None and (plain := opening.of_text(path, is_mapped=is_mapped)) is not None:
        return ForeignSource(path, plain)
    found = _by_lines(path, asked)
    return _document(path, asked) if found is None else ForeignSource(path, found)


def _by_lines(path: str, asked: str | None) -> str | None:
    """Of which format a file is that has an object on each line; None if it may be one document."""
    if asked is None or asked in _OF_NOTES:
        found = note_lines.format_of(path)
        if found is not None and asked in (None, found):
            return found
        if asked is not None:
            raise Unusable(path, f"{foreign.EXPECTED}; of this, no line is a note of {asked}", os.EX_DATAERR)
    if asked == "sillytavern" or (asked is None and path.endswith(".jsonl")):
        if _is_chat(path):
            return "sillytavern"
        if asked is None and _has_text(path):
            return "jsonl"
        with open(path, "rb") as file:  # noqa: PTH123 - pathlib costs 5 ms here
            foreign.refuse_blank(path, file.read(_BEGINNING))
        raise Unusable(path, f"{foreign.EXPECTED}; of this, no line is a message", os.EX_DATAERR)
    return None


def _document(path: str, asked: str | None) -> ForeignSource | None:
    """Of which format a file is that holds one JSON document; None if it says nothing by itself."""
    from shelfd.client.formats import mem0

    document = foreign.load(path)
    if asked != "nuggets" and luker_file.is_log(document):
        return ForeignSource(path, "luker")
    if asked != "luker" and nugget_files.part_of(document) is not None:
        return ForeignSource(path, "nuggets", nugget_files.file_of(path, document))
    if asked is None and mem0.is_export(document):
        return ForeignSource(path, "mem0")
    if asked is None and isinstance(document, dict) and isinstance(document.get("mes"), str):
        return ForeignSource(path, "sillytavern")  # a chat of a single message
    if asked != "nuggets" and luker_file.is_meta(document):
        return None
    raise Unusable(path, foreign.unexpected(document), os.EX_DATAERR)


def _database(path: str, asked: str | None) -> ForeignSource:
    from shelfd.client import sqlite_file, zettelforge_db

    found = opening.of_database(path)
    if found is None and (asked == "zettelforge" or zettelforge_db.is_store(path)):
        found = "zettelforge"
    if found is None:
        tables = ", ".join(sqlite_file.tables(path)[:_LOOKED_AT]) or "no tables"
        raise Unusable(path, f"{foreign.EXPECTED}; this is a SQLite file with {tables}", os.EX_DATAERR)
    if asked not in (None, found):
        raise Unusable(path, f"{foreign.EXPECTED}; this is a SQLite file, and none of {asked}", os.EX_DATAERR)
    return ForeignSource(path, found)


def _has_text(path: str) -> bool:
    """Whether one of the first lines has what a note says, under a name that is known for it."""
    from shelfd.client.formats import records

    for line in json_lines.read(path):
        if isinstance(line.value, dict) and records.has_text(line.value):
            return True
        if line.number >= _LOOKED_AT:
            break
    return False


def _is_chat(path: str) -> bool:
    """Whether a file is empty but for what is said about a chat, or has a message early on."""
    broken = 0
    for line in chat_file.lines(path):
        if line.message is not None:
            return True
        broken += 1
        if broken == _LOOKED_AT:
            return False
    return not broken and os.stat(path).st_size > 0  # noqa: PTH116
