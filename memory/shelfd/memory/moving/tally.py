"""The account of an import: what became of each item, and what was lost."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from shelfd.memory.moving.record import Loss

Status = Literal["created", "updated", "unchanged"]


@dataclass(slots=True)
class Tally:
    """The outcome of the items of one part.

    Attributes:
        kept: (index, note's id, facets) of notes that stay as they are although their item says something else.
        losses: By what was lost, the indexes of the items concerned.
    """

    created: int = 0
    updated: int = 0
    unchanged: int = 0
    kept: list[tuple[int, str, tuple[str, ...]]] = field(default_factory=list)
    losses: dict[Loss, list[int]] = field(default_factory=dict)

    def count(self, status: Status, number: int = 1) -> None:
        """Count *number* items or links."""
        setattr(self, status, getattr(self, status) + number)

    def record_loss(self, index: int, losses: Iterable[Loss]) -> None:
        """Record what of item *index* is not kept."""
        for loss in losses:
            indexes = self.losses.setdefault(loss, [])
            if index not in indexes[-1:]:
                indexes.append(index)
