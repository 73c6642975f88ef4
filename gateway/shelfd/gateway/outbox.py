"""What a connection has to send: replies and events, held back when the client is slow to read."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from shelfd.gateway.budget import Account, Budget, Share, Window

#: Unsent bytes from which on a connection takes no new requests and sends no further events.
HIGH_WATER_BYTES: Final = 256 * 1024


class Room:
    """Room for the reply of one request.

    Args:
        outbox: Where it goes.
        size: The largest reply, in bytes.
    """

    __slots__ = ("_has_room", "_outbox", "_size")

    def __init__(self, outbox: "Outbox", size: int) -> None:
        self._outbox = outbox
        self._size = size
        self._has_room: bool | None = None  #: None before and after; False: the reply is made without

    def take(self) -> Awaitable[None] | None:
        """Take room for the reply; return what waits for it if that has to be."""
        if self._has_room is not None:
            return None
        if self._outbox.take_room(self._size):
            self._has_room = True
            return None
        return self._wait()

    async def _wait(self) -> None:
        self._has_room = await self._outbox.wait_for_room(self._size)

    def settle(self, size: int) -> bool:
        """Give back what was taken; return whether there is room for the *size* of the finished reply."""
        has_room, self._has_room = self._has_room, None
        if has_room is None:
            return True
        if has_room:
            self._outbox.leave_room(self._size)
            return True
        return self._outbox.leave_spare(size)


class Outbox:
    """Messages on their way to one client.

    Args:
        transport: Where they go.
        budget: The bytes of all connections.
        account: This connection's.
        share: Its principal's.
        go_on: Called when the client has caught up after it had fallen behind.
    """

    def __init__(
        self,
        transport: asyncio.Transport,
        budget: Budget,
        account: Account,
        share: Share,
        go_on: Callable[[], None],
    ) -> None:
        transport.set_write_buffer_limits(high=HIGH_WATER_BYTES)
        self._transport = transport
        self._budget = budget
        self._account = account
        self._share = share
        self._go_on = go_on
        self._loop = asyncio.get_running_loop()
        self._messages: list[bytes] = []
        self._bytes = 0
        self._held = 0  #: what the account holds for what is unsent
        self._is_flush_due = False
        self._is_paused = False
        self._is_lost = False
        self._door = Window(1)
        self._drained: asyncio.Future[None] | None = None

    def send(self, message: bytes, *, is_urgent: bool) -> None:
        """Send a message.

        Args:
            message: One line, without its end.
            is_urgent: Whether nothing else is about to be sent. Otherwise what one turn of the loop brings goes
                out in one write.
        """
        if self._is_lost:
            return
        self._messages += (message, b"\n")
        self._bytes += len(message) + 1
        if self._bytes > HIGH_WATER_BYTES:
            self._settle()
        if is_urgent and not self._is_flush_due:
            self.flush()
        elif not self._is_flush_due:
            self._is_flush_due = True
            self._loop.call_soon(self.flush)

    def flush(self) -> None:
        """Hand everything to the transport."""
        self._is_flush_due = False
        if not self._messages or self._is_lost:
            return
        data = b"".join(self._messages)
        self._messages.clear()
        was_backed_up = self.is_backed_up()
        self._bytes = 0
        self._transport.write(data)
        if was_backed_up or self._is_paused:
            self._settle()
            if not self._is_paused:
                self._resumed()

    def pause(self) -> None:
        """Take note that the client does not read."""
        self._is_paused = True

    def resume(self) -> None:
        """Take note that it has read nearly everything."""
        self._is_paused = False
        self._settle()
        self._resumed()

    def end(self) -> None:
        """Discard everything: the client is gone."""
        self._is_lost = True
        self._is_paused = False
        self._messages.clear()
        self._bytes = 0
        self._settle()

    def hold(self, size: int) -> None:
        """Count *size* bytes more, or less if negative, of replies that wait for others to be sent with them."""
        self._account.hold(size)

    def is_backed_up(self) -> bool:
        """Return whether the client has to read before it is sent more."""
        return self._is_paused or self._bytes > HIGH_WATER_BYTES

    # ------------------------------------------------------------------ room for an answer

    def take_room(self, size: int) -> bool:
        """Take room for an answer of up to *size* bytes if there is room now and the client reads."""
        if self._is_paused or self._bytes > HIGH_WATER_BYTES or not self._door.is_free:
            return False
        return self._account.reserve(size)

    async def wait_for_room(self, size: int) -> bool:
        """Wait until an answer of up to *size* bytes may be made; return whether room for it was taken.

        It waits until the client has read what it was sent. When there is no room in the budget, answers are made
        one at a time, for most are small, and False is returned.
        """
        if self.is_backed_up() or not self._door.is_free:
            await self._until_read()
        if self._account.reserve(size):
            return True
        await self._budget.spare.wait()
        return False

    def leave_room(self, size: int) -> None:
        """Give back room that was taken for an answer."""
        self._account.give_back(size)

    def leave_spare(self, size: int) -> bool:
        """End the making of an answer without room; return whether there is room for its *size* bytes."""
        self._budget.spare.leave()
        return self._account.fits(size)

    async def _until_read(self) -> None:
        self._share.leave()  # while it waits for its own client it is not at work, and must not take up a place
        try:
            await self._door.wait()  # in the order in which they came
            try:
                while self.is_backed_up():
                    self._drained = self._loop.create_future()
                    await self._drained
            finally:
                self._door.leave()
        finally:
            self._share.at_work += 1

    def _resumed(self) -> None:
        if self._drained is not None and not self._drained.done():
            self._drained.set_result(None)
        self._go_on()

    def _settle(self) -> None:
        """Have the account hold what is unsent."""
        unsent = self._bytes
        if self._is_paused:
            unsent += self._transport.get_write_buffer_size()
        more, self._held = unsent - self._held, unsent
        if more:
            self._account.hold(more)
