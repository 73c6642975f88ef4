"""Fakes for the gateway's tests: a memory that applies changes in order and can be held at any point."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self, cast

from fakes import FakeClock, until
from shelfd.gateway import Counters, Dispatcher, Listener, ServicePort, UnixServer, Wanted
from shelfd.memory.call import Call, work_in_task
from shelfd.memory.errors import Forbidden, HistoryTrimmed, NoteNotFound, ShelfNotFound
from shelfd.memory.ports.store import OnDone
from shelfd.memory.shelf.access import Access, Rule
from shelfd.protocol import Limits

Json = Any
SOON = 20.0  # seconds after which a test that waits for something is stuck


class FakeShelf:
    """A log of events that can be followed; every change is one note.created in nugget ``memory``."""

    def __init__(self) -> None:
        self.log: list[tuple[str, str | None, str]] = []
        self.first_seq = 1
        self._followers: list[Callable[[int], None]] = []

    @property
    def seq(self) -> int:
        return len(self.log)

    @property
    def followers(self) -> int:
        return len(self._followers)

    def follow(self, callback: Callable[[int], None]) -> Callable[[], None]:
        self._followers.append(callback)
        return lambda: self._followers.remove(callback)

    def apply(self, *titles: str, kind: str = "note.created", nugget: str | None = "memory") -> None:
        """Apply one group of changes."""
        self.log += [(kind, nugget, title) for title in titles]
        for follower in list(self._followers):
            follower(self.seq)

    def events(self, since_seq: int, limit: int, wanted: Wanted, matches: int = 0) -> tuple[list[dict[str, Any]], int]:
        assert matches == 0
        if since_seq + 1 < self.first_seq:
            raise HistoryTrimmed("the log begins later", first_seq=self.first_seq)
        found: list[dict[str, Any]] = []
        seq = since_seq
        for kind, nugget, title in self.log[since_seq:]:
            seq += 1
            if wanted(kind, nugget):
                found.append(event(seq, kind, title))
            if len(found) == limit:
                break
        return found, seq


def event(seq: int, kind: str, title: str) -> dict[str, Any]:
    return {"id": f"default:{seq}", "type": f"shelfd.{kind}.v1", "seq": seq, "prev_seq": 0, "data": {"title": title}}


@dataclass
class Held:
    """A place where a request stops until it is let go."""

    arrived: asyncio.Event = field(default_factory=asyncio.Event)
    go_on: asyncio.Event = field(default_factory=asyncio.Event)

    async def reached(self) -> None:
        async with asyncio.timeout(SOON):
            await self.arrived.wait()

    async def stop_here(self) -> None:
        self.arrived.set()
        await self.go_on.wait()

    def release(self) -> None:
        self.go_on.set()


class FakeService:
    """Names a request by its content or query. Changes apply one after another, in the order they were queued."""

    def __init__(self) -> None:
        self.access = Access(
            owner_of=lambda shelf: "uid:4711",
            administrators=frozenset(),
            rules={"open": Rule(write=frozenset({"*"}))},
        )
        self.calls: list[Call] = []
        self.begun: list[str] = []
        self.applied: list[str] = []
        self.read: list[str] = []  #: reads whose answers were made
        self.results: dict[str, dict[str, Any]] = {}
        self.failures: dict[str, Exception] = {}
        self.default = FakeShelf()
        self._queued: dict[str, Held] = {}
        self._started: dict[str, Held] = {}
        self._last: asyncio.Future[None] | None = None
        self._changing: set[asyncio.Task[None]] = set()

    def hold(self, label: str) -> Held:
        """Stop the request before it starts (a read: while it reads)."""
        return self._queued.setdefault(label, Held())

    def hold_started(self, label: str) -> Held:
        """Stop the change after its ticket is started."""
        return self._started.setdefault(label, Held())

    def release_all(self) -> None:
        for held in (*self._queued.values(), *self._started.values()):
            held.release()

    def submit(self, call: Call, on_done: OnDone[dict[str, Any]]) -> None:
        params: Any = call.params
        label = str(getattr(params, "content", None) or getattr(params, "query", None) or call.method.name)
        try:
            self.access.check(call.principal, call.shelf, call.method.need)
        except Forbidden as error:
            asyncio.get_running_loop().call_soon(on_done, error)
            return
        self.calls.append(call)
        self.begun.append(label)
        if not call.method.is_change:
            work_in_task(call, partial(self._read, call, label), on_done)
            return
        previous, self._last = self._last, asyncio.get_running_loop().create_future()
        task = asyncio.get_running_loop().create_task(self._change(call, label, previous, self._last, on_done))
        self._changing.add(task)
        task.add_done_callback(self._changing.discard)

    async def _read(self, call: Call, label: str) -> dict[str, Any]:
        if label in self._queued:
            await self._queued[label].stop_here()
        if call.room is not None and (wait := call.room()) is not None:
            await wait
        self.read.append(label)
        return self._result(label)

    def _result(self, label: str) -> dict[str, Any]:
        if label in self.failures:
            raise self.failures[label]
        return self.results.get(label, {"label": label})

    async def _change(
        self,
        call: Call,
        label: str,
        previous: asyncio.Future[None] | None,
        ended: asyncio.Future[None],
        on_done: OnDone[dict[str, Any]],
    ) -> None:
        result: dict[str, Any] | Exception
        try:
            if previous is not None:
                await previous
            if label in self._queued:
                await self._queued[label].stop_here()
            call.ticket.start()
            if label in self._started:
                await self._started[label].stop_here()
            self.applied.append(label)
            self.default.apply(label)
            result = self._result(label)
        except Exception as error:  # noqa: BLE001
            result = error
        ended.set_result(None)
        on_done(result)

    async def shelf(self, call: Call) -> FakeShelf:
        if call.shelf not in ("default", "open"):
            raise ShelfNotFound(call.shelf or "")
        return self.default


class FakeSystem:
    """A daemon that is well."""

    def health(self, principal: str) -> dict[str, Any]:
        del principal
        return {"status": "ok"}

    def version(self) -> dict[str, Any]:
        return {"version": "1.2.3"}

    async def doctor(self) -> dict[str, Any]:
        return {"ok": True, "findings": []}

    def config(self) -> dict[str, Any]:
        return {"settings": {}, "origins": {}, "file": None}

    def log_level(self, level: str | None) -> dict[str, Any]:
        return {"level": level or "info", "configured": "info"}

    def metrics(self) -> dict[str, Any]:
        return {"metrics": {}}


class FakeScheduling:
    """Answers ``scheduler.*`` with what it was asked."""

    async def jobs(self, call: Call) -> dict[str, Any]:
        return {"jobs": [call.shelf]}

    async def run(self, call: Call) -> dict[str, Any]:
        params: Any = call.params
        call.ticket.start()
        return {"run_id": f"run-{params.job}-for-{call.principal}"}

    async def history(self, call: Call) -> dict[str, Any]:
        params: Any = call.params
        return {"runs": [params.job, params.limit]}


class Client:
    """Speaks lines of JSON with the server."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer
        self.last_id = 0

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self.writer.close()

    def stop_reading(self) -> None:
        """Leave what the server sends in the socket."""
        cast("asyncio.Transport", self.writer.transport).pause_reading()

    def read_on(self) -> None:
        cast("asyncio.Transport", self.writer.transport).resume_reading()

    def raw(self, data: bytes) -> None:
        self.writer.write(data)

    def send(self, method: str, *, notify: bool = False, **params: Json) -> int:
        """Send a request and return its id."""
        self.last_id += 1
        self.raw(request(method, None if notify else self.last_id, **params))
        return self.last_id

    async def read(self) -> Json:
        """Return the next message."""
        async with asyncio.timeout(SOON):
            line = await self.reader.readline()
        assert line.endswith(b"\n"), f"connection closed after {line!r}"
        return json.loads(line)

    async def read_eof(self) -> bytes:
        async with asyncio.timeout(SOON):
            return await self.reader.read()

    async def error(self) -> Json:
        return (await self.read())["error"]

    async def call(self, method: str, **params: Json) -> Json:
        """Send a request and return the next message's result."""
        sent = self.send(method, **params)
        reply = await self.read()
        assert reply["id"] == sent, reply
        assert "result" in reply, reply
        return reply["result"]

    async def settled(self) -> None:
        """Wait until the server has taken everything sent so far and run it as far as it gets."""
        await self.call("system.health")


def request(method: str, request_id: Json = None, **params: Json) -> bytes:
    message: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": params}
    if request_id is not None:
        message["id"] = request_id
    return json.dumps(message).encode() + b"\n"


class House:
    """A running server with its fakes, or over a real memory."""

    def __init__(self, path: Path, limits: Limits, memory: ServicePort | None = None) -> None:
        self.path = path
        self.limits = limits
        self.has_fakes = memory is None
        self.clock = FakeClock()
        self.service = FakeService()
        self.counters = Counters()
        self.dispatcher = Dispatcher(
            memory or self.service,
            FakeSystem(),
            clock=self.clock,
            limits=limits,
            counters=self.counters,
            scheduling=FakeScheduling(),
        )
        self.server = UnixServer(self.dispatcher)
        self.clients: list[Client] = []
        self.others = asyncio.all_tasks()

    async def open(self) -> None:
        await self.server.start(Listener.bind(self.path, mode=0o600))

    async def connect(self) -> Client:
        # Room for the longest line: a full reply, the OpenRPC document.
        reader, writer = await asyncio.open_unix_connection(str(self.path), limit=2**23)
        client = Client(reader, writer)
        self.clients.append(client)
        return client

    async def close(self) -> None:
        self.service.release_all()
        for client in self.clients:
            client.close()
        await self.server.stop(drain=timedelta(seconds=SOON))
        for client in self.clients:
            try:
                await client.writer.wait_closed()
            except ConnectionError:
                continue
        # Everything the server started must have ended by itself; a real memory has tasks of its own.
        if self.has_fakes:
            await until(lambda: len(asyncio.all_tasks() - self.others - {asyncio.current_task()}) == 0)


Open = Callable[..., Awaitable[House]]


@asynccontextmanager
async def opener(folder: Path) -> AsyncIterator[Open]:
    """Give a function that opens a server with some limits lowered; close it in the end."""
    houses: list[House] = []

    async def open_(*, memory: ServicePort | None = None, **limits: Any) -> House:
        house = House(folder / "rpc.sock", Limits(**limits), memory)
        houses.append(house)
        await house.open()
        return house

    try:
        yield open_
    finally:
        for house in houses:
            await house.close()


NOT_FOUND = NoteNotFound("note-x")
