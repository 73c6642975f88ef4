"""What a link has on its way to the broker: so many at a time, each until the broker has answered."""

import asyncio
from collections.abc import Callable
from itertools import cycle
from typing import Final

from shelfd.gateway.budget import Window
from shelfd.gateway.mqtt.link import Trouble, check_code
from shelfd.gateway.mqtt.packing import FIRST_NUMBER, LAST_NUMBER, common, packed, publish_packet
from shelfd.memory.errors import BrokerUnreachable

ANSWER_S: Final = 10.0  #: how long the broker may take to answer anything
#: Messages of ours that wait for the broker's acknowledgement: replies and what else is published, and events.
#: Each has places of its own, so that neither a backlog of requests nor one of events holds up the other.
_REPLIES: Final = 64
_EVENTS: Final = 32
_HEADER_BYTES: Final = 256  #: of a packet beside topic and payload, generously


class Outgoing:
    """Publishes on one connection.

    Args:
        send: Sends a packet; returns False if the connection is gone.
        is_v5: Whether it is MQTT 5.
        is_held_back: Says whether we are not reading, and so cannot receive an answer.
    """

    def __init__(self, send: Callable[[bytes], bool], *, is_v5: bool, is_held_back: Callable[[], bool]) -> None:
        self._send = send
        self._numbers = cycle(range(FIRST_NUMBER, LAST_NUMBER + 1))
        self._is_v5 = is_v5
        self._is_held_back = is_held_back
        self._loop = asyncio.get_running_loop()
        self._window = Window(_REPLIES)
        self._event_window = Window(_EVENTS)
        self._largest: int | None = None  #: bytes of a packet the broker takes
        self._pending: dict[int, asyncio.Future[None]] = {}
        self._received = 0  #: what the broker has sent, counted
        self._silence: asyncio.TimerHandle | None = None
        self._failure: BrokerUnreachable | None = None

    # ------------------------------------------------------------------ publishing

    async def publish(
        self,
        topic: str,
        payload: bytes,
        *,
        qos: int,
        is_retained: bool,
        correlation: bytes | None,
        content_type: str | None,
        expiry_s: int | None,
        is_event: bool,
    ) -> None:
        """Publish; see the port."""
        window = self._event_window if is_event else self._window
        properties = self._properties(correlation, content_type, expiry_s)
        self._check_size(topic, payload)
        if qos == 0:
            self._begin(topic, payload, 0, is_retained, properties)
            return
        await window.wait()
        await self._in_window(window, topic, payload, qos, is_retained, properties)

    def post(
        self, topic: str, payload: bytes, correlation: bytes | None, content_type: str | None, *, is_event: bool
    ) -> asyncio.Future[None] | None:
        """Begin to publish at once; see the port."""
        window = self._event_window if is_event else self._window
        if not window.take():
            return None
        return self._in_window(window, topic, payload, 1, False, self._properties(correlation, content_type, None))

    def _properties(self, correlation: bytes | None, content_type: str | None, expiry_s: int | None) -> bytes | None:
        if not self._is_v5:
            return None
        if correlation is None:
            return common(content_type, expiry_s)
        return packed(correlation, content_type, expiry_s)

    def _check_size(self, topic: str, payload: bytes) -> None:
        if self._largest is not None and len(payload) + len(topic) + _HEADER_BYTES > self._largest:
            # The broker would hang up, and again whenever it is tried.
            raise BrokerUnreachable("the broker takes no message of this size", reason=Trouble.TOO_LARGE)

    def _in_window(
        self,
        window: Window,
        topic: str,
        payload: bytes,
        qos: int,
        is_retained: bool,
        properties: bytes | None,
    ) -> asyncio.Future[None]:
        """Publish in a place of *window* that was taken; it is free again when the answer is there."""
        answer: asyncio.Future[None] = self._loop.create_future()
        answer.add_done_callback(lambda _: window.leave())
        try:
            self._check_size(topic, payload)
            number = self._begin(topic, payload, qos, is_retained, properties)
        except BrokerUnreachable as error:
            answer.set_exception(error)
            return answer
        self._pending[number] = answer
        if self._silence is None:
            self._silence = self._loop.call_later(ANSWER_S, self._look_for_silence, self._received, {number})
        return answer

    def _begin(self, topic: str, payload: bytes, qos: int, is_retained: bool, properties: bytes | None) -> int:
        if self._failure is not None:
            raise self._failure
        number = next(self._numbers) if qos else 0
        try:
            packet = publish_packet(topic, payload, number, is_retained=is_retained, properties=properties)
        except ValueError:
            raise BrokerUnreachable("no broker takes this message", reason=Trouble.REFUSED) from None
        if not self._send(packet):
            raise BrokerUnreachable("the connection to the broker is lost", reason=Trouble.LOST)
        return number

    # ------------------------------------------------------------------ called by the link

    def agreed(self, *, largest: int | None, at_a_time: int | None) -> None:
        """Take note of what the broker takes: bytes of a packet, messages at a time."""
        self._largest = largest
        if at_a_time is not None:
            self._event_window = Window(max(1, min(_EVENTS, at_a_time // 3)))
            self._window = Window(max(1, min(_REPLIES, at_a_time - at_a_time // 3)))

    def received(self) -> None:
        """Take note of a sign of life."""
        self._received += 1

    def answered(self, number: int, code: int) -> None:
        """Take note of the broker's answer to a message."""
        self._received += 1
        answer = self._pending.pop(number, None)
        if answer is None or answer.done():
            return
        try:
            check_code(code)
        except BrokerUnreachable as error:
            answer.set_exception(error)
        else:
            answer.set_result(None)

    def _look_for_silence(self, received: int, waiting: set[int]) -> None:
        """Give up on answers that were already due when the broker last sent anything.

        As long as anything arrives there is hope: an answer may come after thousands of requests.
        """
        self._silence = None
        if received == self._received and not self._is_held_back():
            for number in waiting:
                answer = self._pending.pop(number, None)
                if answer is not None and not answer.done():
                    late = BrokerUnreachable("the broker did not answer in time", reason=Trouble.TIMED_OUT)
                    answer.set_exception(late)
        still = {number for number, answer in self._pending.items() if not answer.done()}
        if still:
            self._silence = self._loop.call_later(ANSWER_S, self._look_for_silence, self._received, still)

    def fail(self, failure: BrokerUnreachable) -> None:
        """End everything on its way."""
        self._failure = failure
        if self._silence is not None:
            self._silence.cancel()
        pending, self._pending = self._pending, {}
        for answer in pending.values():
            if not answer.done():
                answer.set_exception(failure)
