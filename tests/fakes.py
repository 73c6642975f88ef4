"""Fakes that tests of several components share: a clock that stands still, and the memory without a transport."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from heapq import heappop, heappush
from typing import Any, Final

from pydantic import ValidationError

from shelfd.memory import (
    PROJECTIONS,
    Access,
    Call,
    Clock,
    MemorySettings,
    Rule,
    Service,
    Shelf,
    ShelfError,
    Shelves,
    Stores,
    Ticket,
)
from shelfd.memory.ports.embedder import ABSENT_EMBEDDER, Embedder
from shelfd.memory.ports.language_model import NO_MODEL, LanguageModel
from shelfd.protocol import METHODS, Limits, error_object, from_validation
from shelfd.storage.inmemory import InMemoryStores

NEW_YEAR: Final = datetime(2026, 1, 1, tzinfo=UTC)
ALICE: Final = "uid:1000"
BOB: Final = "uid:2000"
ROOT: Final = "uid:0"
SOON_S: Final = 60.0  #: seconds after which a test that waits for something is stuck
_OFTEN: Final = 500  #: looks without a pause


class FakeClock(Clock):
    """Time that only tests move.

    Args:
        stands_still: If false, ``sleep`` returns at once, having moved time on and yielded once. If true,
            sleepers wait until :meth:`advance` has moved time far enough: for code that sleeps in a loop.
    """

    def __init__(self, start: datetime = NEW_YEAR, *, stands_still: bool = False) -> None:
        self._now = round(start.timestamp() * 1_000_000)
        self._seconds = 0.0
        self._stands_still = stands_still
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []
        self._count = 0

    def now(self) -> int:
        """Return the wall clock in microseconds since 1970 UTC."""
        return self._now

    def monotonic(self) -> float:
        """Return seconds that never go backwards."""
        return self._seconds

    async def sleep(self, delay: timedelta) -> None:
        """Let *delay* pass."""
        if not self._stands_still:
            self.advance(delay)
            await asyncio.sleep(0)
            return
        self._count += 1
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heappush(self._sleepers, (self._seconds + delay.total_seconds(), self._count, future))
        await future

    def advance(self, delta: timedelta) -> None:
        """Move time on and wake whoever has slept long enough."""
        self._now += delta // timedelta(microseconds=1)
        self._seconds += delta.total_seconds()
        while self._sleepers and self._sleepers[0][0] <= self._seconds:
            future = heappop(self._sleepers)[2]
            if not future.done():
                future.set_result(None)

    def set_back(self, delta: timedelta) -> None:
        """Set the wall clock back, as somebody may do; monotonic time is not touched."""
        self._now -= delta // timedelta(microseconds=1)


class Refused(Exception):
    """What a caller is told instead of a result, as any transport would tell it."""

    def __init__(self, error: dict[str, Any]) -> None:
        super().__init__(f"{error['code']} {error['message']} {error['data']}")
        self.error = error
        self.code: int = error["code"]
        self.message: str = error["message"]
        self.data: dict[str, Any] = error["data"]

    @property
    def field(self) -> str | None:
        """The param at fault."""
        return self.data.get("field")

    @property
    def limit(self) -> int | None:
        """The limit that was passed."""
        return self.data.get("limit")

    @property
    def reason(self) -> str | None:
        """The machine-readable reason."""
        return self.data.get("reason")

    @property
    def kind(self) -> str:
        """The error's class."""
        return str(self.data["type"])


@dataclass
class Api:
    """The memory's methods called the way a transport calls them, over any stores.

    Every result must be JSON and fit the method's result model.
    """

    clock: FakeClock
    stores: Stores
    settings: MemorySettings = field(default_factory=MemorySettings)
    limits: Limits = field(default_factory=Limits)
    rules: dict[str, Rule] = field(default_factory=dict)
    principal: str = ALICE
    calls: int = 0
    model: LanguageModel = NO_MODEL
    embedder: Embedder = ABSENT_EMBEDDER

    def __post_init__(self) -> None:
        self.shelves = Shelves(self.stores, self.clock, self.settings, PROJECTIONS)
        access = Access(self.shelves.owner, frozenset({ROOT}), self.rules)
        self.service = Service(self.shelves, access, limits=self.limits, model=self.model, embedder=self.embedder)

    async def call(
        self, name: str, params: dict[str, Any] | None = None, /, *, principal: str | None = None, **named: Any
    ) -> dict[str, Any]:
        """Validate, carry out and return the result as a client would read it.

        Raises:
            Refused: What the caller would be told instead.
        """
        return await self.handle(self.request(name, params, principal=principal, **named))

    def request(
        self, name: str, params: dict[str, Any] | None = None, /, *, principal: str | None = None, **named: Any
    ) -> Call:
        """Return the validated call, for tests that need its ticket."""
        method = METHODS[name]
        self.calls += 1
        try:
            validated = method.params.model_validate({**(params or {}), **named}, context=self.limits)
        except ValidationError as error:
            raise Refused(from_validation(error)) from None
        request_id = f"test-{self.calls}"
        ticket = Ticket(self.clock)
        if validated.timeout_ms is not None:
            ticket.deadline = self.clock.monotonic() + validated.timeout_ms / 1000
        return Call(method, validated, principal or self.principal, request_id, ticket, self.limits)

    async def handle(self, call: Call) -> dict[str, Any]:
        """Carry out a validated call."""
        try:
            result = await self.service.handle(call)
        except ShelfError as error:
            body = error_object(
                error.code, error.message, kind=type(error).__name__, retryable=error.retryable, **error.data
            )
            raise Refused(json.loads(json.dumps(body))) from error
        read: dict[str, Any] = json.loads(json.dumps(result, allow_nan=False))
        call.method.result.model_validate(read)
        return read

    async def refused(self, name: str, params: dict[str, Any] | None = None, /, **named: Any) -> Refused:
        """Return the error of a call that must not succeed."""
        try:
            result = await self.call(name, params, **named)
        except Refused as error:
            return error
        raise AssertionError(f"{name} was not refused: {sorted(result)}")

    async def remember(self, content: str, **named: Any) -> dict[str, Any]:
        """Remember and return the note."""
        note: dict[str, Any] = (await self.call("remember", content=content, **named))["note"]
        return note

    async def remember_typed(self, fields: dict[str, Any], **named: Any) -> dict[str, Any]:
        """Remember fields without content and return the note."""
        note: dict[str, Any] = (await self.call("remember", fields=fields, **named))["note"]
        return note

    async def note(self, note_id: str, **named: Any) -> dict[str, Any]:
        """Return a note."""
        note: dict[str, Any] = (await self.call("note.get", id=note_id, **named))["note"]
        return note

    async def found(self, query: str, **named: Any) -> list[str]:
        """Return the contents that recall finds."""
        result = await self.call("recall", query=query, **named)
        return [hit["note"]["content"] for hit in result["results"]]

    def shelf(self, name: str = "default") -> Shelf:
        """Return an open shelf."""
        shelf = self.shelves.opened(name)
        assert shelf is not None
        return shelf

    async def warmed(self, shelf: str = "default") -> None:
        """Wait until recall knows every note."""
        for _ in range(100_000):
            if self.shelf(shelf).index_state()["state"] == "ready":
                return
            await asyncio.sleep(0)
        raise AssertionError("the index does not get ready")

    async def reopen(self) -> None:
        """Close everything and open it again, as a restart does."""
        await self.shelves.close()
        self.__post_init__()
        await self.shelves.start()


async def until(condition: Callable[[], object]) -> None:
    """Let others work until *condition* holds; what other processes and threads do is looked for less often."""
    looks = 0
    async with asyncio.timeout(SOON_S):
        while not condition():
            await asyncio.sleep(0 if looks < _OFTEN else 0.002)
            looks += 1


@asynccontextmanager
async def memory(stores: Callable[[FakeClock], Stores] = InMemoryStores, **options: Any) -> AsyncIterator[Api]:
    """Run the memory over *stores*, by default in memory, with a clock that stands still."""
    clock = FakeClock(stands_still=True)
    api = Api(clock, stores(clock), **options)
    await api.shelves.start()
    try:
        yield api
    finally:
        await api.shelves.close()
