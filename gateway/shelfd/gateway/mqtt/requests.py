"""Requests by MQTT: each user's on a lane of their own, never too many at once.

A change is acknowledged when it is done, everything else when it is taken: a read that is lost with the daemon has
changed nothing and is sent again, while an acknowledgement that waits for it would hold back all those after it.
"""

import asyncio
import secrets
from collections import deque
from datetime import timedelta
from functools import partial
from typing import Any, Final

from shelfd.gateway.dispatch import Dispatcher
from shelfd.gateway.envelope import Envelope, Refusal
from shelfd.gateway.lane import Lane
from shelfd.gateway.mqtt.inbox import Receipt, Receipts
from shelfd.gateway.mqtt.link import Arrived, MqttLink
from shelfd.gateway.mqtt.request import MqttRequest, ReplyTo, read
from shelfd.gateway.mqtt.status import Ignored, MqttCounters
from shelfd.gateway.mqtt.topics import Topics
from shelfd.gateway.reply import Reply, fitted
from shelfd.memory.errors import BrokerUnreachable, QuotaExceeded, ShelfError, ShuttingDown, error_of
from shelfd.memory.ports.store import Clock
from shelfd.protocol import METHODS

_JSON: Final = "application/json"
_PROBE: Final = "system.version"  #: what a probe would ask for, if it reached another daemon
REPLY_BYTES: Final = 900 * 1024
#: Requests of all users together that were taken from the broker and are not done, and their bytes. Of changes the
#: broker sends no more than the link agreed on with it; the rest is room for several users' reads.
AT_WORK_COUNT: Final = 1024
AT_WORK_BYTES: Final = 16 * 1024 * 1024
#: Replies the broker has not taken over; beyond either, replies go by QoS 0 and take up their request's place.
_UNSENT_COUNT: Final = 256
_UNSENT_BYTES: Final = 16 * 1024 * 1024


class _Pending:
    """One request between the broker and the dispatcher."""

    __slots__ = ("bytes", "ends", "is_change", "receipt", "request", "user")

    def __init__(self, request: MqttRequest, receipt: Receipt, user: "_User") -> None:
        self.request = request
        self.user = user
        self.receipt = receipt
        self.is_change = _is_change(request.message)
        self.bytes = len(receipt.message.payload)
        self.ends = 1  #: what must end before its place is free: the work, and perhaps its reply


def _is_change(message: Envelope | Refusal) -> bool:
    method = METHODS.get(message.method) if isinstance(message, Envelope) else None
    return method is not None and method.is_change


class _User:
    """One user's requests."""

    __slots__ = ("at_work", "is_starting", "lane", "taken", "waiting")

    def __init__(self, lane: Lane) -> None:
        self.lane = lane
        self.at_work = 0
        self.taken = 0  #: at work, waiting, or with a reply that takes up a place
        self.waiting: deque[_Pending] = deque()
        self.is_starting = False


class Requests:
    """Takes requests from links and answers them.

    Args:
        dispatcher: Carries them out, as it does those of every transport.
        topics: The instance's topics.
        clock: Decides what has expired.
        at_work_count: How many may be at work for all users together.

    Attributes:
        counts: What arrived, and its outcomes.
        at_work: How many requests are taken and not done.
    """

    def __init__(
        self, dispatcher: Dispatcher, topics: Topics, clock: Clock, *, at_work_count: int = AT_WORK_COUNT
    ) -> None:
        self.counts = MqttCounters()
        self.at_work = 0
        self._dispatcher = dispatcher
        self._topics = topics
        self._clock = clock
        self._at_work_count = at_work_count
        self._bytes = 0
        self._link: MqttLink | None = None
        self._receipts: Receipts | None = None
        self._users: dict[str, _User] = {}
        self._lanes = 0
        # Request ids end up in the change log: lanes of different runs must not look alike.
        self._run = secrets.token_hex(3)
        self._replies: set[asyncio.Future[None]] = set()
        self._unsent_bytes = 0
        self._changed = asyncio.Event()
        self._is_over = False
        self._is_holding = False  #: whether a message waits for room
        self._probe: tuple[str, asyncio.Future[None]] | None = None  #: a request of our own that is under way

    # ------------------------------------------------------------------ the link

    def attached(self, link: MqttLink) -> None:
        """Answer and acknowledge on *link* from now on."""
        self._link = link
        self._receipts = Receipts(link)

    def detached(self) -> None:
        """Go on without a link: replies are lost, changes are made."""
        self._link = self._receipts = None

    async def take(self, message: Arrived) -> None:
        """Begin to carry out *message*; wait first until there is room. Must be called in the order of arrival."""
        receipts = self._receipts
        if receipts is None:
            return
        receipt = receipts.expect(message)
        self._is_holding = True  # what arrives meanwhile waits for this one
        try:
            while self._is_full(len(message.payload)):
                self._changed.clear()
                await self._changed.wait()
        finally:
            self._is_holding = False
        self._take(receipt)

    def take_at_once(self, message: Arrived) -> bool:
        """Begin to carry out *message* if there is room; return whether there was."""
        if self._receipts is None or self._is_holding or self._is_full(len(message.payload)):
            return False
        self._take(self._receipts.expect(message))
        return True

    def _take(self, receipt: Receipt) -> None:
        if self._probe is not None and receipt.message.topic == self._probe[0]:
            if not self._probe[1].done():
                self._probe[1].set_result(None)
            self._probe = None
            receipt.settle()
            return
        self.counts.received += 1
        request = read(receipt.message, self._topics, self._dispatcher.limits)
        if isinstance(request, Ignored):
            self._ignore(request, receipt)
            return
        user = self._user(request.user)
        pending = _Pending(request, receipt, user)
        self.at_work += 1
        user.taken += 1
        self._bytes += pending.bytes
        if not pending.is_change:
            receipt.settle()
            if user.taken > (limit := self._dispatcher.limits.principal_requests_count):
                self._refuse(pending, limit)
                return
        user.waiting.append(pending)
        self._start_some(user)

    def _refuse(self, pending: _Pending, limit: int) -> None:
        """Answer what changes nothing with an error: if it waited for room, so would all other users' requests."""
        message = f"mqtt:{pending.request.user} has {limit} requests under way; wait for replies before you ask more"
        self.counts.refused["QuotaExceeded"] += 1
        self._fail(pending, QuotaExceeded(message, field="requests", limit=limit))
        self._free(pending)

    def _fail(self, pending: _Pending, error: ShelfError) -> None:
        self._answer(pending, Reply(pending.request.message.id, error=error_of(error)))

    def probe_topic(self, user: str) -> str:
        """Return the topic of a request by which *user* finds out whether requests arrive."""
        return self._topics.request(user, _PROBE)

    def expect_probe(self, user: str) -> asyncio.Future[None]:
        """Return what is done when such a request of *user* arrives."""
        self._probe = self.probe_topic(user), asyncio.get_running_loop().create_future()
        return self._probe[1]

    def _is_full(self, size: int) -> bool:
        if self.at_work >= self._at_work_count:
            return True
        return self.at_work > 0 and self._bytes + size > AT_WORK_BYTES

    def _ignore(self, reason: Ignored, receipt: Receipt) -> None:
        self.counts.ignored[reason] += 1
        receipt.settle()

    # ------------------------------------------------------------------ the end

    async def drain(self, limit: timedelta) -> bool:
        """Wait at most *limit* until everything taken is done and answered; return whether it is."""
        try:
            async with asyncio.timeout(limit.total_seconds()):
                while self.at_work or self._replies:
                    self._changed.clear()
                    await self._changed.wait()
        except TimeoutError:
            return False
        return True

    def abandon(self) -> None:
        """Withdraw what has not happened yet.

        Changes are neither answered nor acknowledged: the broker keeps them for the next start. Reads, which it has
        not kept, are answered with ShuttingDown.
        """
        self._is_over = True
        for user in list(self._users.values()):
            self.counts.left += sum(pending.is_change for pending in user.waiting)
            self.counts.left += sum(request.call.method.is_change for request in user.lane.requests)
            while user.waiting:
                pending = user.waiting.popleft()
                self._fail(pending, ShuttingDown())
                self._free(pending)
            self._dispatcher.abandon_all(user.lane)
            self._dispatcher.close(user.lane)

    # ------------------------------------------------------------------ work

    def _user(self, name: str) -> _User:
        user = self._users.get(name)
        if user is None:
            self._lanes += 1
            lane = Lane(f"mqtt:{name}", f"{self._run}-m{self._lanes}")
            user = self._users[name] = _User(lane)
        return user

    def _start_some(self, user: _User) -> None:
        """Start what waits and has room. What is done at once must not start the next from within."""
        if user.is_starting:
            return
        user.is_starting = True
        while user.waiting and user.at_work < self._dispatcher.limits.in_flight_count:
            self._start(user, user.waiting.popleft())
        user.is_starting = False

    def _start(self, user: _User, pending: _Pending) -> None:
        if self._dispatcher.is_draining and pending.is_change:
            self.counts.left += 1
            self._free(pending)
            return
        if pending.request.is_over(self._clock):
            self._ignore(Ignored.EXPIRED, pending.receipt)
            self._free(pending)
            return
        if isinstance(pending.request.message, Refusal):
            data = pending.request.message.error["data"]
            self.counts.refused[data.get("reason", data["type"])] += 1
        user.at_work += 1
        self._dispatcher.start(
            pending.request.message,
            user.lane,
            partial(self._answer, pending),
            partial(self._done, user, pending),
            # Acknowledged now: otherwise no request would come through until a purge of thousands of notes has ended.
            on_begun=partial(self._begun, pending),
        )

    def _begun(self, pending: _Pending) -> None:
        if not self._is_over:
            pending.receipt.settle()

    def _done(self, user: _User, pending: _Pending) -> None:
        if pending.is_change and not self._is_over:
            pending.receipt.settle()
        user.at_work -= 1
        self._free(pending)
        self._start_some(user)

    def _free(self, pending: _Pending) -> None:
        pending.ends -= 1
        if pending.ends == 0:
            pending.user.taken -= 1
            if not pending.user.taken:
                del self._users[pending.request.user]
            self.at_work -= 1
            self._bytes -= pending.bytes
            self._changed.set()

    # ------------------------------------------------------------------ replies

    def _answer(self, pending: _Pending, reply: Reply) -> Reply:
        to = pending.request.reply_to
        if to is None or (self._is_over and pending.is_change):
            return reply
        if self._link is None:
            self.counts.replies_lost += 1
            return reply
        payload, reply = fitted(reply, REPLY_BYTES, **to.members)
        # A reply normally leaves its place to the next request. When the broker is slow to take replies over they do
        # not, and go by QoS 0: that waits for the socket only, never for an answer that comes after requests that
        # are not read because everything is taken.
        has_room = len(self._replies) < _UNSENT_COUNT and self._unsent_bytes + len(payload) <= _UNSENT_BYTES
        pending.ends += not has_room
        self._unsent_bytes += len(payload)
        sending = None
        if has_room:
            # The answer to one request alone goes out before our own bookkeeping.
            sending = self._link.post(
                to.topic, payload, correlation=to.correlation, content_type=_JSON, is_urgent=self.at_work == 1
            )
        if sending is None:
            work = self._publish(self._link, to, payload, 1 if has_room else 0)
            sending = asyncio.get_running_loop().create_task(work, name="shelfd.mqtt.reply")
        self._replies.add(sending)
        sending.add_done_callback(partial(self._sent, len(payload), None if has_room else pending))
        return reply

    @staticmethod
    async def _publish(link: MqttLink, to: ReplyTo, payload: bytes, qos: int) -> None:
        await link.publish(to.topic, payload, qos=qos, correlation=to.correlation, content_type=_JSON)

    def _sent(self, size: int, pending: _Pending | None, sending: asyncio.Future[None]) -> None:
        self._replies.discard(sending)
        self._unsent_bytes -= size
        if pending is not None:
            self._free(pending)
        if sending.cancelled() or isinstance(sending.exception(), BrokerUnreachable):
            self.counts.replies_lost += 1
        else:
            self.counts.replies_sent += 1
        self._changed.set()

    def status(self) -> dict[str, Any]:
        """Return the counts, and how much is at work."""
        return {**self.counts.snapshot(), "at_work": self.at_work, "users": len(self._users)}
