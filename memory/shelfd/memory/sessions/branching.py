"""Job: branch a conversation. Its nugget is copied as it was at a turn, for a session of its own."""

from typing import Final

from shelfd.memory.ports.view import View

#: Under this method stand the copies in the log, as of the turn at which the session branched.
METHOD: Final = "session.branch"


def branched_at(view: View, session_id: str) -> int | None:
    """Return up to which turn a session was copied from another; None if it was not."""
    first = view.log.first_of_turns(session_id, from_turn=1)
    if first is None:
        return None
    row = view.log.page(since_seq=first - 1, limit=1)[0]
    return row.origin.turn if row.origin.method == METHOD else None
