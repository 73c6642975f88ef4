"""Which format a file is of that another memory left."""

import os
from typing import Final, NamedTuple

from shelfd.client import chat_file, foreign, luker_file, note_lines, nugget_files
from shelfd.client.foreign import Unusable
from shelfd.client.nugget_files import ForeignFile

#: Names of the formats, on the command line and on the wire.
FORMATS: Final = ("nuggets", "luker", "sillytavern", "zettelforge", "shelfd")
_OF_NOTES: Final = ("zettelforge", "shelfd")
#: Lines of a chat's beginning that are looked at for one that is a message.
_LOOKED_AT: Final = 10


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


def recognise(path: str, asked: str | None) -> ForeignSource | None:
    """Return of which format the file at *path* is; None if it says nothing by itself.

    Args:
        path: Of the file.
        asked: The format that it has to be of; None for any.

    Raises:
        Unusable: If it cannot be read, or is of no such format.
    """
    if asked is None or asked in _OF_NOTES:
        found = note_lines.format_of(path)
        if found is not None and asked in (None, found):
            return ForeignSource(path, found)
        if asked is not None:
            raise Unusable(path, f"{foreign.EXPECTED}; of this, no line is a note of {asked}", os.EX_DATAERR)
    if asked == "sillytavern" or (asked is None and path.endswith(".jsonl")):
        if _is_chat(path):
            return ForeignSource(path, "sillytavern")
        if asked is not None or path.endswith(".jsonl"):
            raise Unusable(path, f"{foreign.EXPECTED}; of this, no line is a message", os.EX_DATAERR)
    document = foreign.load(path)
    if asked != "nuggets" and luker_file.is_log(document):
        return ForeignSource(path, "luker")
    if asked != "luker" and nugget_files.part_of(document) is not None:
        return ForeignSource(path, "nuggets", nugget_files.file_of(path, document))
    if asked is None and isinstance(document, dict) and isinstance(document.get("mes"), str):
        return ForeignSource(path, "sillytavern")  # a chat of a single message
    if asked != "nuggets" and luker_file.is_meta(document):
        return None
    raise Unusable(path, foreign.unexpected(document), os.EX_DATAERR)


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
