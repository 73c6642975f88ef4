"""What one promotion is about to do, and what it answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from shelfd.memory.ports.tending import Promoted
from shelfd.memory.tending.promotion.merge import Merged
from shelfd.memory.tending.promotion.ports import Target


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


def counts_of(merged: Merged) -> dict[str, int]:
    """Return how many lines came, changed and went, and how many notes had no room."""
    return {
        "added": merged.added,
        "updated": merged.updated,
        "removed": merged.removed,
        "fell_out": merged.fell_out,
    }


def result_of(plan: PromotionPlan) -> dict[str, Any]:
    """Return what a promotion answers that did what was planned."""
    return {**counts_of(plan.merged), "path": plan.path, "sections": plan.merged.sections}


def nothing(target: Target) -> dict[str, Any]:
    """Return what a promotion answers that has no file to write to."""
    return {
        "added": 0,
        "updated": 0,
        "removed": 0,
        "fell_out": 0,
        "path": None,
        "sections": {},
        "reason": target.reason,
    }
