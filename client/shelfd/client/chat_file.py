"""A chat of SillyTavern: a JSON object on each line, the first about the chat, each other one a message.

It is read a line at a time, for chats can be long, and with all alternatives of their messages large.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from shelfd.client import json_lines
from shelfd.client.foreign import REFUSED, ForeignBatch, as_written
from shelfd.client.transport import as_json

#: Members of a first line that is about the chat.
HEADER: Final = frozenset({"chat_metadata", "user_name", "character_name"})
#: Messages sent together, and the longest of them in bytes.
_MESSAGES: Final = 200
_LONGEST_MESSAGE: Final = 6 * 1024 * 1024
#: Turns and alternatives beyond these are none.
_LAST_TURN: Final = 100_000
_LAST_VARIANT: Final = 1000
#: Turns of which one item says what is shown: to show another one takes its time.
_SHOWN: Final = 10
#: A message's alternatives, and what is kept about each.
_SWIPES: Final = ("swipes", "swipe_info")


class ChatLine(NamedTuple):
    """A line of a chat's file: a message, or why it is none."""

    number: int  #: counted from 1
    message: dict[str, Any] | None
    why: str = ""

    @property
    def is_turn(self) -> bool:
        """Whether it is a message of the assistant that has text, hidden or not."""
        message = self.message or {}
        text = message.get("mes")
        return message.get("is_user") is not True and isinstance(text, str) and bool(text.strip())


def lines(path: str) -> Iterator[ChatLine]:
    """Iterate over the messages of the chat at *path*, and over lines that are none.

    Raises:
        Unusable: If it cannot be read.
    """
    for line in json_lines.read(path):
        message = line.value
        if line.why:
            yield ChatLine(line.number, None, line.why)
        elif not isinstance(message, dict):
            yield ChatLine(line.number, None, "is not an object")
        elif isinstance(message.get("mes"), str):
            yield ChatLine(line.number, message)
        elif line.number > 1 or "mes" in message or not HEADER & message.keys():  # else it is about the chat
            yield ChatLine(line.number, None, "is no message: it has no text `mes`")


def shown(path: str) -> list[int]:
    """Return of each message of a chat which of its alternatives is shown.

    Raises:
        Unusable: If the chat cannot be read.
    """
    swipes = (None if line.message is None else line.message.get("swipe_id") for line in lines(path))
    return [swipe if type(swipe) is int else 0 for swipe in swipes]


def _alternatives(message: Mapping[str, Any], item: dict[str, Any]) -> list[dict[str, Any]]:
    """What is sent of a message of the assistant: first as it is shown, then its alternatives that have text."""
    swipes, about = (message.get(name) for name in _SWIPES)
    texts = swipes if isinstance(swipes, list) else []
    at = message.get("swipe_id")
    is_known = type(at) is int and 0 <= at < min(len(texts), _LAST_VARIANT + 1)
    shown = at if is_known else texts.index(message["mes"]) if message["mes"] in texts[: _LAST_VARIANT + 1] else 0
    found = [{**item, "variant": shown}]
    for number, text in enumerate(texts[: _LAST_VARIANT + 1]):
        if number != shown and isinstance(text, str) and text.strip():
            said = {name: value for name, value in item["message"].items() if name != "extra"}
            more = about[number] if isinstance(about, list) and number < len(about) else None
            if isinstance(more, dict) and more.get("send_date"):
                said["send_date"] = more["send_date"]
            found.append({**item, "message": {**said, "mes": text}, "variant": number})
    return found


class ChatFile:
    """A chat that is being read, and what of it cannot be sent.

    Args:
        path: Of its file.
        header: What goes with each of its items.

    Attributes:
        rejected: Rejections as the daemon would word them, of lines that are no messages.
        blank: Lines of messages without text.
        alternatives: How many were sent beside those that are shown.
    """

    def __init__(self, path: str, header: Mapping[str, Any]) -> None:
        self.path = path
        self.rejected: list[dict[str, Any]] = []
        self.blank: list[int] = []
        self.alternatives = 0
        self._header = header
        self._spoken = 0  # turns of the assistant so far
        self._counted = 0  # turns that were sent
        self._shown: list[list[int]] = []  # of turns that were not: which alternative is shown
        self._seen = Counter[int]()  # messages of a speaker and date, by the hash of these

    def batches(self) -> Iterator[ForeignBatch]:
        """Iterate over its messages, some at a time, each time behind the turns that they are of.

        Raises:
            Unusable: If it cannot be read.
        """
        batch = self._new_batch()
        turn = 0
        for line in lines(self.path):
            for item, written in self._items(line):
                turn = item["turn"]
                batch.add(item, line.number, written)
            if len(batch.items) >= _MESSAGES:
                yield self._turns(turn, batch)
                yield batch
                batch = self._new_batch()
        if batch.items or not self._counted:
            yield self._turns(turn, batch)
            yield batch

    def _new_batch(self) -> ForeignBatch:
        return ForeignBatch(self.path, "notes", self._header, [], [], [], "line")

    def _turns(self, last: int, batch: ForeignBatch) -> ForeignBatch:
        items: list[dict[str, Any]] = [{"turns": [min(self._counted, last) + 1, last]}]
        for at in range(0, len(self._shown), _SHOWN):
            items += [{"turns": [last + 1, last]}] if at else []
            items[-1]["variants"] = self._shown[at : at + _SHOWN]
        self._counted = max(self._counted, last)
        self._shown = []
        places = [(batch.indexes or [1])[0]] * len(items)
        return ForeignBatch(self.path, "sessions", self._header, items, places, list(map(as_json, items)), "line")

    def _items(self, line: ChatLine) -> Iterator[tuple[dict[str, Any], bytes]]:
        """Iterate over what a line becomes, a message and its alternatives, and over these as they are sent."""
        message = line.message
        if message is None:
            self._reject(line.number, line.why)
            return
        turn = self._spoken + 1
        self._spoken += line.is_turn
        if not message["mes"].strip():
            self.blank.append(line.number)
            return
        item, known_by = self._item(message, turn)
        found = _alternatives(message, item) if line.is_turn and turn <= _LAST_TURN else [item]
        sent = list(map(as_written, found))
        if sent[0] is None or len(sent[0]) > _LONGEST_MESSAGE:
            self._reject(line.number, "cannot be sent: too large, or no text")
            return
        self._seen[known_by] += 1
        if "variant" in found[0] and isinstance(message.get("swipes"), list):
            self._shown.append([turn, found[0]["variant"]])
        for one, written in zip(found, sent, strict=True):
            if written is None or len(written) > _LONGEST_MESSAGE:
                self._reject(line.number, "an alternative cannot be sent: too large, or no text")
            else:
                self.alternatives += one is not found[0]
                yield one, written

    def _item(self, message: Mapping[str, Any], turn: int) -> tuple[dict[str, Any], int]:
        """A message as it is shown, and by what it is known."""
        swipes, about = (message.get(name) for name in _SWIPES)
        kept = {name: value for name, value in message.items() if name not in _SWIPES}
        if isinstance(swipes, list):
            kept["swipes"] = len(swipes)
        item: dict[str, Any] = {"message": kept, "turn": turn}
        first = about[0] if isinstance(about, list) and about else None
        if isinstance(first, dict) and first.get("send_date"):
            item["first_said"] = first["send_date"]
        said = item.get("first_said") or message.get("send_date")
        known_by = hash(repr((message.get("is_user") is True, message.get("name"), said)))
        item["nth"] = self._seen[known_by]
        return item, known_by

    def _reject(self, number: int, why: str) -> None:
        self.rejected.append({"index": number, "error": {**REFUSED, "message": why}})
