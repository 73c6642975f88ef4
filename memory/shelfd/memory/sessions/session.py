"""A session: a conversation, known by the id its caller gave it, and the nugget it works on."""

from typing import Final

from shelfd.memory.errors import SessionNotFound
from shelfd.memory.ports.sessions import Session
from shelfd.memory.ports.view import View

#: A session that was not used for so long has to be opened again: 30 days, in microseconds.
IDLE_MICROS: Final = 30 * 86_400_000_000


def is_open(session: Session, now: int) -> bool:
    """Return whether a session was neither closed nor left idle for too long, as of *now*."""
    return session.closed_at is None and now - session.last_used_at <= IDLE_MICROS


def get_session(view: View, session_id: str, now: int) -> Session:
    """Return a session that must be open.

    Args:
        view: The shelf's rows, in a transaction those that it sees.
        session_id: The conversation.
        now: Microseconds since 1970 UTC: the transaction's, or of the shelf's clock.

    Raises:
        SessionNotFound: If there is none, it was closed, or it was idle for 30 days.
    """
    session = view.sessions.get(session_id)
    if session is None or not is_open(session, now):
        raise SessionNotFound(session_id)
    return session
