"""Which notes a run looked at, nugget by nugget, and where the next run goes on."""

from dataclasses import dataclass, field
from typing import Final

from shelfd.memory.notes.note import Note
from shelfd.memory.ports.tending import ReflectionProgress

_LAST_ROW: Final = 2**63 - 1

#: (updated_at, row): the order in which notes are looked at.
Position = tuple[int, int]


def position_of(note: Note) -> Position:
    """Return where *note* stands in the order in which notes are looked at."""
    return note.updated_at, note.row


@dataclass(slots=True)
class Visit:
    """What a run looked at in one nugget.

    Attributes:
        tended: How far runs before it had come.
        changed: The last note of those that are new or changed since; all up to it were looked at.
        again: Position and id of notes looked at once more, in order, hidden ones included.
        ids: Every visible note looked at, in order.
        is_round: Whether the second look came round to where it began.
    """

    tended: ReflectionProgress
    changed: Position
    again: list[tuple[Position, str]] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    is_round: bool = False

    @classmethod
    def of(cls, tended: ReflectionProgress) -> "Visit":
        """Return the visit that begins where *tended* says."""
        return cls(tended, tended.changed)

    def outcome(self, inspected: frozenset[str], left: frozenset[str], now: int) -> ReflectionProgress:
        """Return how far runs have come after this one.

        The second look goes on at the first note that had to be left; when it went all the way round, behind the
        last one inspected, which so goes to the back. A nugget that got nothing while it needs something comes
        first next time.
        """
        again = self.tended.again
        for position, note_id in self.again:
            if note_id in left:
                break
            if not self.is_round or note_id in inspected:
                again = position
        waits = not left.isdisjoint(self.ids) and inspected.isdisjoint(self.ids)
        served_at = self.tended.served_at if waits else now
        # Not behind the clock: what is changed after it was set back would stand before that and be passed over.
        latest: Position = (now, _LAST_ROW)
        return ReflectionProgress(self.tended.nugget, min(self.changed, latest), min(again, latest), served_at)
