"""What one promotion is about to do, its preview and its answer."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from shelfd.memory.notes.note import Usage
from shelfd.memory.ports.tending import Promoted
from shelfd.memory.shelf.shelf import Shelf
from shelfd.memory.tending.promotion.entries import TOKEN_CHARACTERS, line_of, section_of, section_order
from shelfd.memory.tending.promotion.merge import Merged
from shelfd.memory.tending.promotion.ports import Target
from shelfd.protocol import from_micros


@dataclass(frozen=True, slots=True)
class PromotionPlan:
    """What one promotion is about to do.

    Attributes:
        path: The file.
        old: Its bytes as they were read; None is no file.
        new: Its bytes as they shall be; equal to *old* if nothing changes there.
        recorded: What the shelf had on record of the file.
        first_time: Notes that were never promoted before.
        revs: Of the notes whose lines shall stand in the file, by id, as they were read.
        is_recorded: Whether the shelf has just this on record, and nothing else under way.
    """

    path: str
    old: bytes | None
    new: bytes | None
    recorded: Sequence[Promoted]
    merged: Merged
    first_time: tuple[str, ...]
    revs: Mapping[str, int]
    is_recorded: bool

    @property
    def changes_file(self) -> bool:
        """Whether the file is to be replaced."""
        return self.new != self.old

    @property
    def is_settled(self) -> bool:
        """Whether everything is as it shall be already."""
        return not self.changes_file and not self.first_time and self.is_recorded


_COUNTS: Final = ("added", "updated", "removed", "fell_out")


def counts_of(merged: Merged) -> dict[str, int]:
    """Return how many lines came, changed and went, and how many notes had no room."""
    return {name: getattr(merged, name) for name in _COUNTS}


def result_of(plan: PromotionPlan) -> dict[str, Any]:
    """Return what a promotion answers that did what was planned."""
    return {**counts_of(plan.merged), "path": plan.path, "sections": plan.merged.sections}


def nothing(target: Target) -> dict[str, Any]:
    """Return what a promotion answers that has no file to write to."""
    return {**dict.fromkeys(_COUNTS, 0), "path": None, "sections": {}, "reason": target.reason}


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
            continue  # purged a moment ago
        is_own = status == "leaves" and row is not None
        section, line = (row.section, row.line) if is_own and row is not None else (section_of(note), line_of(note))
        line_view = {
            "note_id": note_id,
            "section": section,
            "line": line,
            "sessions": usage.get(note.row, _NEVER_USED).hits,
            "since": None if row is None else from_micros(row.promoted_at),
            "status": status,
        }
        found.append((section_order(section), note.row, line_view))
    for _, _, line_view in sorted(found, key=lambda one: one[:2]):
        yield line_view
