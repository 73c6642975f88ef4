"""Which changes of conversations count: all but those whose turn was taken back, or whose variant was put away.

Rewinding only ever changes what is said here; what notes and links then are follows from the log.
"""

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from shelfd.memory.ports.job import SCHEDULER
from shelfd.memory.ports.log import LogRow
from shelfd.memory.ports.sessions import Retraction
from shelfd.memory.ports.view import View

#: Up to this change reach the rows of a rewind that is still under way.
OPEN: Final = 2**62


def covers(retraction: Retraction, row: LogRow) -> bool:
    """Return whether a change is one of those that were taken back."""
    origin = row.origin
    return (
        origin.session_id == retraction.session_id
        and origin.turn is not None
        and retraction.from_turn <= origin.turn
        and (retraction.until_turn is None or origin.turn <= retraction.until_turn)
        and (retraction.variant is None or retraction.variant == (origin.variant or 0))
        and row.seq <= retraction.up_to_seq
    )


class Dead(NamedTuple):
    """Which changes do not count, among those from ``floor`` on.

    Before ``floor`` every note and link was what the log without dead changes gives: nothing that was taken back since
    lies before it.
    """

    retractions: Sequence[Retraction]  #: those that stand
    runs: frozenset[str]  #: that rewound, or took that back: what they wrote follows from the rest
    floor: int
    #: Those that stand no more, each with the change up to which it stood.
    former: Sequence[tuple[Retraction, int]] = ()

    def was_dead(self, row: LogRow, at: int) -> bool:
        """Return whether a change was already taken back when change *at* was made."""
        return any(covers(one, row) and one.done_seq < at for one in self.retractions) or any(
            covers(one, row) and one.done_seq < at <= until for one, until in self.former
        )

    def has(self, row: LogRow) -> bool:
        """Return whether a change does not count."""
        return any(covers(retraction, row) for retraction in self.retractions)

    def is_rewinding(self, row: LogRow) -> bool:
        """Return whether a change is how rewinding made notes and links what they should be."""
        return row.origin.run_id is not None and row.origin.run_id in self.runs

    def beside(self, retraction: Retraction) -> "Dead":
        """Return this with another retraction."""
        return self._replace(retractions=(*self.retractions, retraction))


def dead_since(view: View, floor: int, *, before: Iterable[Retraction] = ()) -> Dead:
    """Return which changes do not count, from *floor* or as much earlier as is needed.

    Args:
        before: Retractions that are looked at as well, although they are not stored yet.
    """
    floor = min([floor, *(retraction.since_seq for retraction in before)])
    while True:
        numbered = view.rewinds.since(floor)
        found = [retraction for _, retraction in numbered]
        lowest = min([floor, *(retraction.since_seq for retraction in found)])
        if lowest == floor:
            break
        floor = lowest
    standing = [retraction for retraction in (*found, *before) if retraction.stands]
    ended = {one.revives: one.done_seq for one in found if one.revives is not None}
    former = [(one, ended[number]) for number, one in numbered if number in ended]
    return Dead(standing, frozenset(retraction.run_id for retraction in (*found, *before)), floor, former)


def is_tending(row: LogRow) -> bool:
    """Return whether a change only follows from what was there: such a one counts only where that still is."""
    return row.origin.principal == SCHEDULER or row.origin.method.startswith("reflect")
