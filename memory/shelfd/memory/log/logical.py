"""The logical hash: one number for what a shelf says, whatever happened to it on the way there.

It covers notes, links, nuggets and facts with their aliases; not usage, nor when and how often something was written.
"""

import json
from collections.abc import Iterator
from hashlib import sha256
from typing import Any, Final

from shelfd.memory.notes.filter import NoteFilter
from shelfd.memory.notes.note import BOOKKEEPING, NOTHING_KNOWN, Note
from shelfd.memory.ports.view import View

#: When it was hidden is no part of what a note says; that it is hidden is.
_LEFT_OUT: Final = BOOKKEEPING | {"archived_at"}
_PAGE: Final = 1000


def logical_hash(view: View) -> str:
    """Return the hash of the shelf as hexadecimal digits, whatever order it is in.

    Reads every row: for checks and tests.
    """
    total = 0
    for line in _lines(view):
        text = json.dumps(line, ensure_ascii=False, sort_keys=True, default=list)
        total += int.from_bytes(sha256(text.encode()).digest())
    return f"{total % 2**256:064x}"


def _lines(view: View) -> Iterator[list[Any]]:
    for note in _notes(view):
        yield ["note", _said(note)]
        for link in sorted(view.links.leaving([note.id]).get(note.id, ())):
            yield ["link", list(link)]
    after = ""
    while nuggets := view.nuggets.page(after=after, limit=_PAGE):
        for nugget in nuggets:
            yield ["nugget", list(nugget)]
        after = nuggets[-1].name


def _notes(view: View) -> Iterator[Note]:
    after: tuple[int, int] | None = None
    wanted = NoteFilter(include_hidden=True)
    while notes := view.notes.page(wanted, order="row", descending=False, after=after, limit=_PAGE):
        yield from notes
        after = (notes[-1].row, notes[-1].row)


def _said(note: Note) -> dict[str, Any]:
    said = {name: value for name, value in note._asdict().items() if name not in _LEFT_OUT}
    said["hidden"] = note.hidden
    extra = note.extra._replace(last_rewritten_at=None, promoted_at=None, lineage=NOTHING_KNOWN)
    said["extra"] = extra.as_mapping()
    return said
