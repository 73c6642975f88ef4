"""What a link has received and not handed over yet: bounded, by holding the sender back.

What was taken is acknowledged to the broker in the order of arrival, whatever ends first.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from typing import Final

from shelfd.gateway.mqtt.link import Arrived, MqttLink
from shelfd.memory.errors import BrokerUnreachable

#: A broker that sends more than agreed, or speaks 3.1.1, is no longer read from beyond either of these.
UNREAD_COUNT: Final = 1024
UNREAD_BYTES: Final = 16 * 1024 * 1024


class Inbox:
    """Messages between the socket and the code that handles them.

    Args:
        hold_back: Called when there is enough: read no more from the socket.
        read_on: Called when half of it has been taken.
    """

    def __init__(self, hold_back: Callable[[], None], read_on: Callable[[], None]) -> None:
        self._hold_back = hold_back
        self._read_on = read_on
        self._unread: deque[Arrived] = deque()
        self._bytes = 0
        self._failure: BrokerUnreachable | None = None
        self._wake: asyncio.Future[None] | None = None
        self.is_held_back = False
        #: Takes messages as they come, if it has room for them.
        self.take: Callable[[Arrived], bool] | None = None

    def put(self, message: Arrived) -> None:
        """Take a message from the socket."""
        if self.take is not None and not self._unread and self._failure is None and self.take(message):
            return
        self._unread.append(message)
        self._bytes += len(message.payload)
        if not self.is_held_back and self._has_more_than(1.0):
            self.is_held_back = True
            self._hold_back()
        self._rouse()

    def end(self, failure: BrokerUnreachable) -> None:
        """Say that the link is gone. What is unread comes again on the next one, so it is dropped here."""
        self._failure = failure
        self._unread.clear()
        self._rouse()

    async def messages(self) -> AsyncIterator[Arrived]:
        """Yield messages in the order of arrival until :meth:`end`, whose failure is raised."""
        while self._failure is None:
            if not self._unread:
                self._wake = asyncio.get_running_loop().create_future()
                await self._wake
                continue
            message = self._unread.popleft()
            self._bytes -= len(message.payload)
            if self.is_held_back and not self._has_more_than(0.5):
                self.is_held_back = False
                self._read_on()
            yield message
        raise self._failure

    def _has_more_than(self, share: float) -> bool:
        return len(self._unread) > UNREAD_COUNT * share or self._bytes > UNREAD_BYTES * share

    def _rouse(self) -> None:
        if self._wake is not None and not self._wake.done():
            self._wake.set_result(None)


class Receipt:
    """The acknowledgement of one message, not given yet."""

    __slots__ = ("_owner", "is_due", "message")

    def __init__(self, owner: "Receipts", message: Arrived) -> None:
        self._owner = owner
        self.message = message
        self.is_due = False

    def settle(self) -> None:
        """Let it be given: the message need not come again."""
        self.is_due = True
        self._owner.give()


class Receipts:
    """The acknowledgements of one link. Those of a link that is gone are lost, and their messages come again."""

    def __init__(self, link: MqttLink) -> None:
        self._link = link
        self._open: deque[Receipt] = deque()

    def expect(self, message: Arrived) -> Receipt:
        """Take the place of *message* in the order."""
        receipt = Receipt(self, message)
        if message.qos:
            self._open.append(receipt)
        return receipt

    def give(self) -> None:
        """Acknowledge from the oldest on what is due."""
        while self._open and self._open[0].is_due:
            self._link.acknowledge(self._open.popleft().message)
