"""A link whose far end a test plays, and the memory with a publisher on it."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any, NamedTuple

from fakes import Api, FakeClock, memory
from shelfd.gateway.mqtt.feed import SINK
from shelfd.gateway.mqtt.link import Arrived, MqttLink, Trouble
from shelfd.gateway.mqtt.publisher import EventPublisher
from shelfd.gateway.mqtt.topics import Topics
from shelfd.memory import Stores
from shelfd.memory.errors import BrokerUnreachable
from shelfd.storage.inmemory import InMemoryStores

SOON = 20.0  #: seconds after which a test that waits for something is stuck
TICK = timedelta(milliseconds=5)  #: how far time moves while a test waits


class Sent(NamedTuple):
    """One message the broker was given."""

    topic: str
    payload: bytes
    qos: int
    is_retained: bool
    content_type: str | None

    @property
    def event(self) -> dict[str, Any]:
        event: dict[str, Any] = json.loads(self.payload)
        return event

    @property
    def seq(self) -> int:
        seq: int = self.event["seq"]
        return seq


class FakeLink(MqttLink):
    """A connection to a broker that takes everything over at once, or on command, until it breaks."""

    is_v5 = True

    def __init__(self, *, holds: bool = False) -> None:
        self.sent: list[Sent] = []
        self.taken: list[Sent] = []
        self.held: list[tuple[Sent, asyncio.Future[None]]] = []
        self.holds = holds  #: whether acknowledgements wait for :meth:`take`
        self.is_broken = False
        self.refuses: Callable[[Sent], Trouble | None] = lambda _: None

    async def subscribe(self, filters: Sequence[str]) -> None:
        raise NotImplementedError

    def messages(self) -> AsyncIterator[Arrived]:
        raise NotImplementedError

    def acknowledge(self, message: Arrived) -> None:
        raise NotImplementedError

    async def publish(
        self,
        topic: str,
        payload: bytes,
        *,
        qos: int = 1,
        is_retained: bool = False,
        correlation: bytes | None = None,
        content_type: str | None = None,
        expiry_s: int | None = None,
        is_event: bool = False,
    ) -> None:
        if self.is_broken:
            raise BrokerUnreachable("the connection is lost", reason=Trouble.LOST)
        message = Sent(topic, payload, qos, is_retained, content_type)
        self.sent.append(message)
        if self.holds:
            answer: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self.held.append((message, answer))
            await answer
        else:
            await asyncio.sleep(0)
        if (trouble := self.refuses(message)) is not None:
            raise BrokerUnreachable("the broker does not take it", reason=trouble)
        self.taken.append(message)

    def take(self, *places: int) -> None:
        """Acknowledge what is held, by its places in the order of sending; all of it when none is given."""
        for place in sorted(places or range(len(self.held)), reverse=True):
            _, answer = self.held.pop(place)
            if not answer.done():
                answer.set_result(None)

    def release(self) -> None:
        """Take everything from now on."""
        self.holds = False
        self.take()

    def break_off(self) -> None:
        """Lose the connection: nothing that is held is taken over any more."""
        self.is_broken = True
        for _, answer in self.held:
            if not answer.done():
                answer.set_exception(BrokerUnreachable("the connection is lost", reason=Trouble.LOST))
        self.held.clear()

    @property
    def seqs(self) -> list[int]:
        """Sequence numbers of the events sent, in order."""
        return [message.seq for message in self.sent]


class Press:
    """The memory, a publisher that follows it, and time that moves while somebody waits."""

    def __init__(self, api: Api) -> None:
        self.api = api
        self.clock: FakeClock = api.clock
        self.publisher = EventPublisher(api.shelves, Topics(api.settings.instance), api.clock)
        self.publisher.start()

    async def until(self, condition: Callable[[], bool]) -> None:
        """Let work go on and time pass until *condition* holds."""
        async with asyncio.timeout(SOON):
            while not condition():
                self.clock.advance(TICK)
                await asyncio.sleep(0)

    async def pass_time(self, delta: timedelta) -> None:
        """Let *delta* pass in small steps, with turns for everybody in between."""
        for _ in range(delta // TICK):
            self.clock.advance(TICK)
            for _ in range(3):
                await asyncio.sleep(0)

    async def waiting(self, work: Awaitable[Any]) -> Any:
        """Let time pass until *work* is done, and return what it gave."""
        task = asyncio.ensure_future(work)
        await self.until(task.done)
        return task.result()

    def attach(self, *, holds: bool = False) -> FakeLink:
        link = FakeLink(holds=holds)
        self.publisher.attached(link)
        return link

    def lag(self, shelf: str = "default") -> int:
        """Events of an open shelf that the broker does not have."""
        (found,) = (one for one in self.publisher.status()["shelves"] if one["shelf"] == shelf)
        return int(found["lag"])

    async def delivered(self, shelf: str = "default") -> None:
        """Wait until the broker has everything of an open shelf."""
        await self.until(lambda: self.last_seq(shelf) == self.api.shelf(shelf).seq and self.lag(shelf) == 0)

    def last_seq(self, shelf: str = "default") -> int:
        return self.api.shelf(shelf).view.log.last_seq

    def cursor(self, shelf: str = "default") -> int | None:
        """How far events were delivered, as the shelf has it on record."""
        return self.api.shelf(shelf).view.sinks.get(SINK)

    async def remember(self, count: int, *, shelf: str = "default", first: int = 0) -> None:
        await asyncio.gather(*(self.api.remember(f"thing {first + n}", shelf=shelf) for n in range(count)))

    async def crash(self) -> "Press":
        """Start again without what was not on record: nothing is written on the way out."""
        for feed in list(self.publisher._feeds.values()):
            feed._end()
        self.publisher._feeds.clear()
        self.publisher._unhook()
        await self.api.reopen()
        return Press(self.api)

    async def restart(self) -> "Press":
        """Stop as a daemon does and start again."""
        await self.waiting(self.publisher.close())
        await self.api.reopen()
        return Press(self.api)


@asynccontextmanager
async def press(stores: Callable[[FakeClock], Stores] = InMemoryStores, **options: Any) -> AsyncIterator[Press]:
    """Run the memory with a publisher, without a connection."""
    async with memory(stores, **options) as api:
        running = Press(api)
        try:
            yield running
        finally:
            await running.waiting(running.publisher.close(drain=timedelta(0)))
