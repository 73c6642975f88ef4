"""What a promotion would do, line by line."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from shelfd.memory.notes.note import Usage
from shelfd.memory.ports.tending import Promoted
from shelfd.memory.shelf.shelf import Shelf
from shelfd.memory.tending.promotion.budget import TOKEN_CHARACTERS
from shelfd.memory.tending.promotion.entries import line_of, section_of, section_order
from shelfd.memory.tending.promotion.merge import Merged
from shelfd.memory.tending.promotion.ports import Target
from shelfd.protocol import from_micros

_NEVER_USED: Final = Usage()


def preview_of(
    shelf: Shelf, path: str, merged: Merged, recorded: Sequence[Promoted], budget_tokens: int
) -> dict[str, Any]:
    """Return the lines that *merged* speaks of, by section, with what is known of their notes.

    Args:
        recorded: What the shelf has on record of the file at *path*.
    """
    return {
        "path": path,
        "tokens": -(-len(merged.text or "") // TOKEN_CHARACTERS),
        "budget_tokens": budget_tokens,
        "lines": list(_lines(shelf, merged, recorded)),
    }


def no_preview(target: Target, budget_tokens: int) -> dict[str, Any]:
    """Return the preview where there is no file to write to."""
    return {"path": None, "tokens": 0, "budget_tokens": budget_tokens, "lines": [], "reason": target.reason}


def _lines(shelf: Shelf, merged: Merged, recorded: Sequence[Promoted]) -> Iterator[dict[str, Any]]:
    written = {row.note_id: row for row in recorded}
    notes = shelf.view.notes.by_ids(list(merged.states))
    usage = shelf.usage.of(notes.values())
    found = []
    for note_id, status in merged.states.items():
        note, row = notes.get(note_id), written.get(note_id)
        if note is None:
            continue  # purged this moment: nothing is told of it
        is_own = status == "leaves" and row is not None
        section, line = (row.section, row.line) if is_own and row is not None else (section_of(note), line_of(note))
        told = {
            "note_id": note_id,
            "section": section,
            "line": line,
            "sessions": usage.get(note.row, _NEVER_USED).hits,
            "since": None if row is None else from_micros(row.promoted_at),
            "status": status,
        }
        found.append((section_order(section), note.row, told))
    for _, _, told in sorted(found, key=lambda one: one[:2]):
        yield told
