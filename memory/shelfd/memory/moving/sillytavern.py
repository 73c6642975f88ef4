"""Chats of SillyTavern: a message of a chat's file becomes a note, as it was said.

A turn is a message of the assistant that has text, with what was said to it before.
"""

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Final

from pydantic import TypeAdapter, ValidationError

from shelfd.memory.errors import InvalidParams
from shelfd.memory.moving.chats import LAST_TURN, LAST_VARIANT, chat_of, read_turns, weigh
from shelfd.memory.moving.placing import identity
from shelfd.memory.moving.reading import Format, Item, ItemOrigin, past
from shelfd.memory.moving.record import NoteRecord
from shelfd.memory.notes.inference import Traits, infer
from shelfd.memory.notes.note import NO_EXTRA
from shelfd.memory.notes.text import tidy_content
from shelfd.memory.ports.log import EVERY_VARIANT
from shelfd.protocol.base import Content, Instant, Word, to_micros

_WORD: Final = TypeAdapter[str](Word)
_CONTENT: Final = TypeAdapter[str](Content)
_INSTANT: Final = TypeAdapter[int](Instant)
_SAYS: Final = frozenset({"content", "hidden", "turn", "origin"})
#: How the interface shows a message, which is nothing that was said.
_SHOWN: Final = ("swipe_id", "swipe_info", "gen_started", "gen_finished", "force_avatar", "original_avatar", "title")

_MONTHS: Final = {
    name: number for number, name in enumerate("jan feb mar apr may jun jul aug sep oct nov dec".split(), 1)
}
#: "June 19, 2023 2:20pm"
_WRITTEN: Final = re.compile(r"([A-Za-z]{3})[a-z]*\.? (\d{1,2}),? (\d{4}),? (\d{1,2}):(\d\d)(?::(\d\d))? ?([AaPp])[Mm]")
#: "2023-10-5 @14h 30m 15s 123ms"
_STAMPED: Final = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2}) ?@ ?(\d{1,2})h ?(\d{1,2})m ?(\d{1,2})s(?: ?(\d{1,3})ms)?")
#: Milliseconds since 1970, or seconds where there are too few digits.
_COUNTED: Final = re.compile(r"\d{9,14}(?:\.\d+)?")
_FEWEST_MILLIS: Final = 100_000_000_000


def read_message(given: object, origin: ItemOrigin) -> NoteRecord:
    """Read a message: ``message`` as the chat has it, its ``turn``, and by what it is known again.

    That is when it was said, of a message with alternatives when the first was (``first_said``), how many of that
    speaker and date there were before (``nth``), and which alternative it is (``variant``); without that it belongs to
    its turn whichever of them is live. Of ``swipes`` there is only their number.
    """
    item = Item(given, origin.limits)
    chat = chat_of(item, origin)
    message = Item(item.take("message"), origin.limits)
    turn, nth = item.take("turn"), item.take("nth")
    if type(turn) is not int or type(nth) is not int or turn < 1 or nth < 0:
        raise InvalidParams("turn: is no turn, or nth no number", field="turn")
    if turn > LAST_TURN:
        item.record_loss("turn", f"is later than turn {LAST_TURN}, and left out")
        turn = None
    variant = _variant(item, turn)
    content = tidy_content(str(_CONTENT.validate_python(message.take("mes"), strict=True, context=origin.limits)))
    said_at = _said_at(message, origin)
    message.take(*_SHOWN)
    if (message.take("swipes") or 1) != 1 and variant == EVERY_VARIANT:
        message.record_loss("swipes", "of alternatives only the one that is shown is taken")
    if message.take("extra"):
        message.record_loss("extra", "what the interface keeps beside a message: models, tokens, images")
    who = f"{message.flag('is_user')}\n{message.take('name')}"
    known_by = f"{who}\n{item.take('first_said') or message.take('send_date')}\n{nth}"
    return NoteRecord(
        id=None,
        identity=identity(chat, f"{known_by}\nswipe {variant}" if variant > 0 else known_by),
        has_id=False,
        nugget=chat.nugget,
        origin=chat.session_id,
        kind="note",
        title="",
        content=content,
        tags=(),
        traits=infer("note", "", content, (), Traits(type="conversation")),
        says=_SAYS,
        archived_at=origin.now if message.flag("is_system") else None,
        created_at=origin.now if said_at is None else said_at,
        updated_at=origin.now if said_at is None else said_at,
        extra=NO_EXTRA._replace(level="episodic", variant=max(variant, 0)),
        author=message.checked(_WORD, "name"),
        occurred_at=said_at,
        chat=chat,
        turn=turn,
        variant=variant,
        last_turn=turn,
        losses=(*item.losses, *message.all_losses()),
    )


def _variant(item: Item, turn: int | None) -> int:
    variant = item.take("variant")
    if variant is None:
        return EVERY_VARIANT
    if type(variant) is not int or not 0 <= variant <= LAST_VARIANT or (variant and turn is None):
        raise InvalidParams(f"variant: is no alternative of a turn, from 0 to {LAST_VARIANT}", field="variant")
    return variant


def _said_at(message: Item, origin: ItemOrigin) -> int | None:
    """When a message was said; a time without a zone is taken as UTC, for the file does not say which it was."""
    given = message.take("send_date")
    if given is None or given == "":
        return None
    try:
        return past(message, "send_date", _INSTANT.validate_python(given), origin)
    except ValidationError:
        pass
    text = str(given).strip()
    for pattern, reckon in _FORMS.items():
        if match := pattern.fullmatch(text):
            try:
                moment = reckon(match)
            except (ValueError, OverflowError):
                break
            if pattern is not _COUNTED:
                message.record_loss("send_date", "is without a zone and taken as UTC")
            return past(message, "send_date", to_micros(moment), origin)
    message.record_loss("send_date", "is in no known form")
    return None


def _written(match: re.Match[str]) -> datetime:
    month = _MONTHS.get(match[1].lower())
    if month is None:
        raise ValueError(match[1])
    hour = int(match[4]) % 12 + (12 if match[7] in "Pp" else 0)
    return datetime(int(match[3]), month, int(match[2]), hour, int(match[5]), int(match[6] or 0), tzinfo=UTC)


def _stamped(match: re.Match[str]) -> datetime:
    year, month, day, hour, minute, second = map(int, match.groups()[:6])
    return datetime(year, month, day, hour, minute, second, int(match[7] or 0) * 1000, tzinfo=UTC)


def _counted(match: re.Match[str]) -> datetime:
    number = float(match[0])
    seconds = number / 1000 if number >= _FEWEST_MILLIS else number
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=round(seconds, 6))


def _zoneless(match: re.Match[str]) -> datetime:
    return datetime.fromisoformat(match[0]).replace(tzinfo=UTC)


_FORMS: Final[Mapping[re.Pattern[str], Callable[[re.Match[str]], datetime]]] = {
    _WRITTEN: _written,
    _STAMPED: _stamped,
    _COUNTED: _counted,
    re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?)?"): _zoneless,
}


#: The complete format.
SILLYTAVERN: Final = Format(name="sillytavern", readers={"sessions": read_turns, "notes": read_message}, weigh=weigh)
