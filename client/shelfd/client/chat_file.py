"""A chat of SillyTavern: a JSON object on each line, the first about the chat, each other one a message.

It is read a line at a time, for chats can be long, and with all alternatives of their messages large.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from shelfd.client import json_lines
from shelfd.client.foreign import REFUSED, ForeignBatch, size_of

#: Members of a first line that is about the chat.
HEADER: Final = frozenset({"chat_metadata", "user_name", "character_name"})
#: Messages sent together, and the longest of them in bytes.
_MESSAGES: Final = 200
_LONGEST_MESSAGE: Final = 6 * 1024 * 1024
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


class ChatFile:
    """A chat that is being read, and what of it cannot be sent.

    Args:
        path: Of its file.
        header: What goes with each of its items.

    Attributes:
        rejected: Rejections as the daemon would word them, of lines that are no messages.
        blank: Lines of messages without text.
    """

    def __init__(self, path: str, header: Mapping[str, Any]) -> None:
        self.path = path
        self.rejected: list[dict[str, Any]] = []
        self.blank: list[int] = []
        self._header = header
        self._spoken = 0  # turns of the assistant so far
        self._counted = 0  # turns that were sent
        self._seen = Counter[int]()  # messages of a speaker and date, by the hash of these

    def batches(self) -> Iterator[ForeignBatch]:
        """Iterate over its messages, some at a time, each time behind the turns that they are of.

        Raises:
            Unusable: If it cannot be read.
        """
        batch = self._new_batch()
        turn = 0
        for line in lines(self.path):
            item = self._item(line)
            if item is None:
                continue
            turn = item["turn"]
            batch.add(item, line.number, size_of(item) or 0)
            if len(batch.items) == _MESSAGES:
                yield self._turns(turn, batch)
                yield batch
                batch = self._new_batch()
        if batch.items or not self._counted:
            yield self._turns(turn, batch)
            yield batch

    def _new_batch(self) -> ForeignBatch:
        return ForeignBatch(self.path, "notes", self._header, [], [], [], "line")

    def _turns(self, last: int, batch: ForeignBatch) -> ForeignBatch:
        item = {"turns": [min(self._counted, last) + 1, last]}
        self._counted = max(self._counted, last)
        return ForeignBatch(self.path, "sessions", self._header, [item], [(batch.indexes or [1])[0]], [64], "line")

    def _item(self, line: ChatLine) -> dict[str, Any] | None:
        message = line.message
        if message is None:
            self._reject(line.number, line.why)
            return None
        turn = self._spoken + 1
        self._spoken += line.is_turn
        if not message["mes"].strip():
            self.blank.append(line.number)
            return None
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
        size = size_of(item)
        if size is None or size > _LONGEST_MESSAGE:
            self._reject(line.number, "cannot be sent: too large, or no text")
            return None
        self._seen[known_by] += 1
        return item

    def _reject(self, number: int, why: str) -> None:
        self.rejected.append({"index": number, "error": {**REFUSED, "message": why}})
