"""What the formats of conversations share: whose turns an item is from, and what stands for them here."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

from pydantic import TypeAdapter

from shelfd.memory.errors import InvalidParams
from shelfd.memory.moving.reading import Item, ItemOrigin, plain_name
from shelfd.memory.moving.record import Chat, TurnsRecord
from shelfd.protocol.base import Token

#: Turns of one conversation that are counted; what is said to be later than that has none.
LAST_TURN: Final = 100_000
#: The highest number of an alternative of a turn.
LAST_VARIANT: Final = 1000
#: Turns that one item may have counted.
_MOST_TURNS: Final = 1000
#: Turns of which one item may say which alternative is shown, and what it costs to show another, in turns.
_MOST_SHOWN: Final = 50
_SWITCH: Final = 8

#: The nugget of a conversation whose id has nothing that a name could have.
_UNNAMED: Final = "chat"
_TOKEN: Final = TypeAdapter[str](Token)


def chat_of(item: Item, origin: ItemOrigin) -> Chat:
    """Return the conversation that the header of a file names, and the nugget that it asks for.

    Raises:
        ValidationError: If its id, or the nugget's name, is none.
    """
    session_id, asked = origin.header.get("session_id"), origin.header.get("nugget")
    chat = _unasked(session_id if isinstance(session_id, str) else "")
    if not isinstance(asked, str):
        usual = origin.header.get("usual")
        return chat._replace(nugget=item.nugget(usual)) if isinstance(usual, str) else chat
    return chat._replace(nugget=item.nugget(asked), is_named=True)


@lru_cache(maxsize=64)  # each item of a file has the same
def _unasked(session_id: str) -> Chat:
    name = "-".join(filter(None, plain_name(session_id).split("-")))
    return Chat(_TOKEN.validate_python(session_id), name or _UNNAMED, is_named=False)


def read_turns(given: object, origin: ItemOrigin) -> TurnsRecord:
    """Read which turns a conversation has had: ``turns``, the first and the last of some of them.

    Of those with alternatives, ``variants`` has pairs of the turn and the number of the one that is shown.

    Raises:
        InvalidParams: If they are none.
        ValidationError: As :func:`chat_of` does.
    """
    item = Item(given, origin.limits)
    turns = item.take("turns")
    if (
        not isinstance(turns, list)
        or [type(turn) for turn in turns] != [int, int]
        or not 1 <= turns[0] <= turns[1] + 1 <= LAST_TURN + 1
        or turns[1] - turns[0] >= _MOST_TURNS
    ):
        text = f"turns: are not a first and a last turn from 1 to {LAST_TURN}, at most {_MOST_TURNS} apart"
        raise InvalidParams(text, field="turns")
    return TurnsRecord(chat_of(item, origin), turns[0], turns[1], _shown(item, turns[1]))


def _shown(item: Item, last: int) -> list[tuple[int, int]]:
    given = item.take("variants")
    if given is None:
        return []
    pairs = given if isinstance(given, list) and len(given) <= _MOST_SHOWN else [None]
    shown: list[tuple[int, int]] = []
    for pair in pairs:
        if not isinstance(pair, list) or [type(number) for number in pair] != [int, int]:
            raise InvalidParams(f"variants: are not pairs of numbers, at most {_MOST_SHOWN}", field="variants")
        turn, variant = pair
        if not (1 <= turn <= last and 0 <= variant <= LAST_VARIANT):
            raise InvalidParams("variants: one is of no turn, or has no number", field="variants")
        shown.append((turn, variant))
    return shown


def weigh(part: str, item: object) -> int:
    """Return about how many links, or turns with their alternatives, an item makes."""
    given: Any = item.get("turns" if part == "sessions" else "links") if isinstance(item, Mapping) else None
    if not isinstance(given, list):
        return 0
    if part != "sessions":
        return len(given) if part == "links" else 0
    variants: Any = item.get("variants") if isinstance(item, Mapping) else None
    more = _SWITCH * len(variants) if isinstance(variants, list) else 0
    return given[1] - given[0] + more if [type(turn) for turn in given] == [int, int] else 0
