"""Where in a conversation something was written: the turns a nugget has seen, by number."""

from typing import Final, NamedTuple

from shelfd.memory.errors import InvalidParams
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.notes.note import Nugget
from shelfd.memory.shelf.turns import stamp_turn

#: How far a number given for a replay may lie beyond the last one of its nugget: more is a mistake.
NUMBERS_AHEAD: Final = 1_000_000


class Moment(NamedTuple):
    """When in a conversation something is written."""

    turn: int | None = None
    max_seq: int | None = None  #: the nugget's number of the turn, where it is given and not counted
    from_seq: int | None = None  #: that of the first turn it comes from, if that is another one


def number_of(tx: Transaction, nugget: Nugget, session_id: str, moment: Moment) -> int:
    """Return the nugget's number of the turn in which something is written; without a turn, that of the last one.

    A number that is given for a replay is taken as it is, and what is counted later lies above it.

    Raises:
        InvalidParams: If it is far beyond all turns seen.
    """
    number = stamp_turn(tx, nugget, session_id, moment.turn)
    if moment.max_seq is None:
        return nugget.turn_count if number is None else number
    now = tx.nugget(nugget.name) or nugget
    if moment.max_seq > now.turn_count + NUMBERS_AHEAD:
        text = f"max_seq: is more than {NUMBERS_AHEAD} turns ahead of the nugget's last one"
        raise InvalidParams(text, field="max_seq", limit=NUMBERS_AHEAD)
    if moment.max_seq > now.turn_count:
        tx.count_turns(now, moment.max_seq)
    return moment.max_seq
