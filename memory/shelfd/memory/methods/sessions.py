"""Use cases on sessions."""

from typing import Any

from shelfd.memory.call import Call
from shelfd.memory.log.idempotency import Outcome
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.methods import cursor
from shelfd.memory.methods.registry import change, read
from shelfd.memory.ports.sessions import Session
from shelfd.memory.sessions.session import IDLE_MICROS, close_session, is_open, open_session
from shelfd.memory.shelf.shelf import Changed, Shelf
from shelfd.memory.shelf.turns import last_turn
from shelfd.protocol import from_micros
from shelfd.protocol.methods.sessions import SessionCloseParams, SessionListParams, SessionOpenParams


def _show_opened(_shelf: Shelf, changed: Changed, _call: Call) -> dict[str, Any]:
    at_seq = changed.outcome["at_seq"]
    shown = {name: value for name, value in changed.outcome.items() if value is not None and name != "at_seq"}
    return {**shown, "seq": changed.last_seq if at_seq is None else at_seq}


@change("session.open", render=_show_opened)
def open_(tx: Transaction, params: SessionOpenParams, _call: Call) -> Outcome:
    """Open a session, or open it again."""
    tx.admit_name(params.nugget, "nugget")
    actor = None if params.actor is None else tx.admit_line(params.actor, "actor")
    wanted = Session(params.session_id, params.nugget, actor, params.at_seq)
    keeps_nugget = "nugget" not in params.model_fields_set
    session, opened = open_session(tx, wanted, turn=params.turn, keeps_nugget=keeps_nugget)
    return {
        "session_id": session.session_id,
        "nugget": session.nugget,
        "at_seq": session.at_seq,
        "opened": opened,
        "last_turn": last_turn(tx.rows, session.nugget, session.session_id),
    }


@change("session.close")
def close(tx: Transaction, params: SessionCloseParams, _call: Call) -> Outcome:
    """Close a session."""
    return {"session_id": params.session_id, "closed": close_session(tx, params.session_id)}


@read("session.list")
def list_sessions(shelf: Shelf, params: SessionListParams, _call: Call) -> dict[str, Any]:
    """Return a page of sessions by id."""
    now = shelf.clock.now()
    found = shelf.view.sessions.page(
        after=cursor.decode_text(params.cursor) or "",
        limit=params.limit + 1,
        nugget=params.nugget,
        used_since=None if params.include_closed else now - IDLE_MICROS,
    )
    page = found[: params.limit]
    result: dict[str, Any] = {"sessions": [_view(shelf, session, now) for session in page]}
    if len(found) > params.limit:
        result["next_cursor"] = cursor.encode(page[-1].session_id)
    return result


def _view(shelf: Shelf, session: Session, now: int) -> dict[str, Any]:
    shown = {
        "session_id": session.session_id,
        "nugget": session.nugget,
        "open": is_open(session, now),
        "opened_at": from_micros(session.opened_at),
        "last_used_at": from_micros(session.last_used_at),
    }
    optional = {
        "actor": session.actor,
        "at_seq": session.at_seq,
        "closed_at": None if session.closed_at is None else from_micros(session.closed_at),
        "last_turn": last_turn(shelf.view, session.nugget, session.session_id),
    }
    return shown | {name: value for name, value in optional.items() if value is not None}
