"""A session: a conversation, known by the id its caller gave it, and the nugget it works on."""

from typing import Final

from shelfd.memory.errors import HistoryTrimmed, InvalidParams, SessionElsewhere, SessionFrozen, SessionNotFound
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.ports.log import Entry, Origin
from shelfd.memory.ports.sessions import Session
from shelfd.memory.ports.view import View
from shelfd.memory.shelf.shelf import Shelf
from shelfd.memory.shelf.turns import check_turn, stamp_turn

_HOUR: Final = 3_600_000_000  # microseconds, as all of these
_DAY: Final = 24 * _HOUR
#: A session that was not used for so long has to be opened again.
IDLE_MICROS: Final = 30 * _DAY


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


def read_session(shelf: Shelf, session_id: str) -> Session:
    """Return the open session that a read is made in; that it is in use is written down once a day.

    Raises:
        SessionNotFound: As :func:`get_session` does.
    """
    now = shelf.clock.now()
    session = get_session(shelf.view, session_id, now)
    if now - session.last_used_at > _DAY:
        origin = Origin("daemon", "session.used", session_id=session_id)
        shelf.unattended.submit(origin, lambda tx: _mark_used(tx, session_id))
    return session


def _mark_used(tx: Transaction, session_id: str) -> None:
    session = tx.rows.sessions.get(session_id)
    if session is not None and is_open(session, tx.now):
        tx.rows.sessions.put(session._replace(last_used_at=tx.now))


def write_session(tx: Transaction, session_id: str, turn: int | None = None) -> Session:
    """Return the open session that a change is made in; that it is in use is written down once an hour.

    Raises:
        SessionNotFound: As :func:`get_session` does.
        SessionFrozen: If it shows the shelf as it was.
        InvalidParams: If *turn* is far beyond the last one.
    """
    session = get_session(tx.rows, session_id, tx.now)
    if session.at_seq is not None:
        raise SessionFrozen(session_id, session.at_seq)
    check_turn(tx.rows, session.nugget, session_id, turn)
    if tx.now - session.last_used_at > _HOUR:
        session = session._replace(last_used_at=tx.now)
        tx.rows.sessions.put(session)
    return session


def open_session(tx: Transaction, wanted: Session, *, turn: int | None, keeps_nugget: bool) -> tuple[Session, bool]:
    """Open a session, or open it again; return it, and whether it was not open before.

    Args:
        tx: The transaction.
        wanted: What it shall be; without an actor it keeps the one it had.
        turn: The turn the conversation has come to; a nugget that exists counts it.
        keeps_nugget: Whether one that is there keeps its nugget, whatever *wanted* says.

    Raises:
        SessionElsewhere: If it works on another nugget.
        InvalidParams: If the turn, or the change it shall be frozen at, is beyond the last one.
        HistoryTrimmed: If the log no longer reaches back to that change.
    """
    before = tx.rows.sessions.get(wanted.session_id)
    if before is not None and keeps_nugget:
        wanted = wanted._replace(nugget=before.nugget)
    if before is not None and before.nugget != wanted.nugget:
        raise SessionElsewhere(wanted.session_id, before.nugget)
    check_turn(tx.rows, wanted.nugget, wanted.session_id, turn)
    _check_at(tx, wanted.at_seq)
    was_open = before is not None and is_open(before, tx.now)
    session = wanted._replace(
        actor=wanted.actor or (before and before.actor),
        opened_at=before.opened_at if before is not None and was_open else tx.now,
        last_used_at=tx.now,
        closed_at=None,
    )
    tx.rows.sessions.put(session)
    if turn is not None and session.at_seq is None and (nugget := tx.nugget(session.nugget)) is not None:
        stamp_turn(tx, nugget, session.session_id, turn)
    if before is None or not was_open or before.at_seq != session.at_seq:
        details = {"actor": session.actor, "at_seq": session.at_seq}
        said = {name: value for name, value in details.items() if value is not None}
        tx.log(Entry("session.opened", session.nugget, (), None, said or None))
    return session, not was_open


def _check_at(tx: Transaction, at_seq: int | None) -> None:
    if at_seq is None:
        return
    last, first = tx.rows.log.last_seq, tx.rows.log.first_seq
    if at_seq > last:
        raise InvalidParams(f"at_seq: the last change is {last}", field="at_seq", limit=last)
    if at_seq < first - 1:
        raise HistoryTrimmed(f"at_seq: the change log begins at {first}", field="at_seq", first_seq=first)


def close_session(tx: Transaction, session_id: str) -> bool:
    """Close a session; return whether it was open.

    Raises:
        SessionNotFound: If there never was one.
    """
    session = tx.rows.sessions.get(session_id)
    if session is None:
        raise SessionNotFound(session_id)
    if session.closed_at is not None:
        return False
    tx.rows.sessions.put(session._replace(closed_at=tx.now))
    tx.log(Entry("session.closed", session.nugget, ()))
    return True
