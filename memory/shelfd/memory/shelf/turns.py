"""Turns of conversations: which a nugget has seen, and under which number."""

from typing import Final

from shelfd.memory.errors import InvalidParams
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.notes.note import Nugget
from shelfd.memory.ports.view import View

#: How far a turn may lie beyond the last one that is known of its conversation: more is a mistake.
TURNS_AHEAD: Final = 10_000


def stamp_turn(tx: Transaction, nugget: Nugget, session_id: str | None, turn: int | None) -> int | None:
    """Return the nugget's number of a conversation's turn, counted on when the turn is new.

    Raises:
        InvalidParams: If the turn is far beyond the last one that is known of the conversation.
    """
    if session_id is None or turn is None:
        return None
    check_far_turn(tx, nugget.name, session_id, turn)
    fresh = nugget.turn_count + 1
    number = tx.claim_turn(nugget.name, session_id, turn, fresh)
    if number == fresh:
        tx.count_turns(nugget, number)
    return number


def check_far_turn(tx: Transaction, nugget: str, session_id: str | None, turn: int | None) -> None:
    """Do what :func:`check_turn` does; rows are read only if the turn is so far on that they matter.

    Raises:
        InvalidParams: As that does.
    """
    if session_id is not None and turn is not None and turn > TURNS_AHEAD:
        check_turn(tx.rows, nugget, session_id, turn)


def check_turn(view: View, nugget: str, session_id: str, turn: int | None, *, field: str = "turn") -> None:
    """Raise if a turn cannot be one of a conversation.

    Args:
        field: The name of the param that gave it.

    Raises:
        InvalidParams: If it is more than ``TURNS_AHEAD`` beyond the last one.
    """
    if turn is None or turn <= TURNS_AHEAD:
        return
    last = last_turn(view, nugget, session_id) or 0
    if turn > last + TURNS_AHEAD:
        text = f"{field}: is more than {TURNS_AHEAD} beyond the conversation's last one, {last}"
        raise InvalidParams(text, field=field, reason="TURN_OUT_OF_RANGE", limit=last + TURNS_AHEAD)


def last_turn(view: View, nugget: str, session_id: str) -> int | None:
    """Return the highest turn of a conversation that is known: written in, or reported by what its prompt held."""
    shown = view.injections.last(session_id)
    turns = (view.nuggets.last_turn(nugget, session_id), shown and shown.turn)
    return max(filter(None, turns), default=None)
