"""The turns that a prompt still holds in full: what was written in them need not be told again."""

from typing import NamedTuple

from shelfd.memory.ports.sessions import Session
from shelfd.memory.ports.view import View


class RecentTurns(NamedTuple):
    """Turns by their nugget's numbers: all from ``first`` on, or only some if other conversations have turns, too."""

    first: int
    only: frozenset[int] | None = None

    def holds(self, seq_to: int | None) -> bool:
        """Return whether a note that was last touched in turn number *seq_to* was touched in one of these."""
        if seq_to is None or seq_to < self.first:
            return False
        return self.only is None or seq_to in self.only


def last_turns(view: View, session: Session, count: int) -> RecentTurns | None:
    """Return the last *count* turns of a conversation; None if that is none.

    Turns of other conversations in its nugget are no part of them. Numbers that came without a turn, as a replay's
    do, count as one turn each.
    """
    nugget = view.nuggets.get(session.nugget)
    if count < 1 or nugget is None:
        return None
    seen = view.nuggets.last_turns(nugget.name, session.session_id, limit=count + 1)
    if not seen:
        is_shared = view.nuggets.has_turns_beside(nugget.name, session.session_id)
        return None if is_shared else RecentTurns(nugget.turn_count - count + 1)
    begin = seen[0][0] - count + 1
    within = frozenset(number for turn, number in seen if turn >= begin)
    if view.nuggets.has_turns_beside(nugget.name, session.session_id):
        return RecentTurns(min(within), within)
    before = [number for turn, number in seen if turn < begin]
    return RecentTurns(before[0] + 1 if before else max(within) - count + 1)
