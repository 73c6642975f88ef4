"""An asyncio client: any number of requests at once on one connection, matched by their id."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing, suppress
from types import TracebackType
from typing import Any, Self, TypeVar, overload

from shelfd.client.endpoint import advice, candidates
from shelfd.client.events import FIRST_RETRY_S, LONGEST_RETRY_S, is_over, jittered, subscription
from shelfd.client.failure import NotRunning, ProtocolError, RpcFailure
from shelfd.client.transport import REPLY_BYTES, Into, decode, encode, result_of

M = TypeVar("M")


class AsyncClient:
    """One connection. Made by :meth:`connect`; use as an async context manager, or call :meth:`close`.

    Attributes:
        notifications: What the daemon sent without being asked, in order: ``{"method", "params"}``; None is put
            after the last one when the connection ends.
    """

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.notifications: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()
        self._reader = reader
        self._writer = writer
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._last_id = 0
        self._lost: ConnectionError | None = None
        self._task = asyncio.create_task(self._read_replies(), name="shelfd.client.replies")

    @classmethod
    async def connect(cls, path: str | None = None) -> Self:
        """Connect to the daemon at *path*, or where one usually listens.

        Raises:
            NotRunning: If no daemon listens there; the message says what was tried.
        """
        tried: list[tuple[str, str]] = []
        for candidate in candidates(path):
            try:
                return cls(*await asyncio.open_unix_connection(candidate, limit=REPLY_BYTES))
            except OSError as error:
                tried.append((candidate, error.strerror or str(error)))
        raise NotRunning(tried, advice([one for one, _ in tried]))

    def submit(self, method: str, params: Mapping[str, Any] | None = None) -> asyncio.Future[Any]:
        """Send a request now and return the future of its result; requests leave in the order of these calls.

        Raises:
            ConnectionError: If the connection has ended.
            Unsendable: If *params* hold what JSON or UTF-8 cannot say.
        """
        if self._lost is not None:
            raise self._lost
        self._last_id += 1
        line = encode({"jsonrpc": "2.0", "id": self._last_id, "method": method, "params": dict(params or {})})
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting[self._last_id] = answer
        self._writer.write(line)
        return answer

    @overload
    async def call(
        self, method: str, params: Mapping[str, Any] | None = None, *, timeout_s: float | None = None
    ) -> Any: ...  # noqa: ANN401
    @overload
    async def call(
        self, method: str, params: Mapping[str, Any] | None = None, *, timeout_s: float | None = None, into: Into[M]
    ) -> M: ...
    async def call(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        *,
        timeout_s: float | None = None,
        into: Into[Any] | None = None,
    ) -> Any:
        """Call *method* and return its result, read *into* a model if one is given.

        Raises:
            RpcFailure: If the daemon answers with an error.
            ConnectionError: If the connection ends first; whether the call was carried out is then unknown.
            TimeoutError: If no reply came within *timeout_s* seconds; a late one is discarded.
        """
        answer = self.submit(method, params)
        await self._writer.drain()
        async with asyncio.timeout(timeout_s):
            result = await answer
        return result if into is None else into.model_validate(result)

    async def notify(self, method: str, params: Mapping[str, Any] | None = None) -> None:
        """Send a notification, which has no answer."""
        self._writer.write(encode({"jsonrpc": "2.0", "method": method, "params": dict(params or {})}))
        await self._writer.drain()

    async def events(
        self,
        *,
        types: Sequence[str] = (),
        nugget: str | None = None,
        shelf: str = "default",
        since_seq: int | None = None,
    ) -> AsyncGenerator[dict[str, Any], None]:
        """Subscribe to a shelf's events and yield notifications as they come, as :meth:`Client.events` does.

        They are taken from :attr:`notifications`, which nobody else may read meanwhile.

        Raises:
            RpcFailure: If the subscription is refused.
            ConnectionError: If the connection ends.
        """
        wanted = subscription(types, nugget, shelf)
        await self.call("events.subscribe", wanted if since_seq is None else wanted | {"since_seq": since_seq})
        while (message := await self.notifications.get()) is not None:
            yield message
        assert self._lost is not None
        raise self._lost

    async def close(self) -> None:
        """End the connection; calls under way fail. A second call is harmless."""
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        self._writer.close()
        # The other side may be gone already; closed is closed.
        await asyncio.gather(self._writer.wait_closed(), return_exceptions=True)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def _read_replies(self) -> None:
        try:
            while line := await self._reader.readline():
                self._take(decode(line))
            self._end(ConnectionResetError("the daemon closed the connection"))
        except (ConnectionError, ValueError) as error:  # ValueError: a line beyond the limit
            self._end(error if isinstance(error, ConnectionError) else ConnectionResetError(str(error)))
        except asyncio.CancelledError:
            self._end(ConnectionResetError("the client was closed"))
            raise

    def _take(self, message: dict[str, Any]) -> None:
        if message.get("method"):
            self.notifications.put_nowait(message)
            return
        answer = self._waiting.pop(message.get("id", 0), None)
        if answer is None or answer.done():
            return
        try:
            answer.set_result(result_of(message))
        except (RpcFailure, ProtocolError) as error:
            answer.set_exception(error)

    def _end(self, error: ConnectionError) -> None:
        self._lost = error
        for answer in self._waiting.values():
            if not answer.done():
                answer.set_exception(error)
                answer.exception()  # its caller may be gone
        self._waiting.clear()
        self.notifications.put_nowait(None)


async def follow_async(
    path: str | None = None,
    *,
    types: Sequence[str] = (),
    nugget: str | None = None,
    shelf: str = "default",
    since_seq: int | None = None,
    on_trouble: Callable[[str], None] = lambda _: None,
) -> AsyncGenerator[dict[str, Any], None]:
    """Subscribe to a shelf's events and yield them for ever, as :func:`shelfd.client.follow` does.

    Raises:
        NotRunning: If no daemon is there at the first try.
        RpcFailure: If the subscription is refused.
    """
    wanted = subscription(types, nugget, shelf)
    position, is_known, delay_s = since_seq, False, FIRST_RETRY_S
    while True:
        try:
            async with await AsyncClient.connect(path) as client:
                start = wanted if position is None else wanted | {"since_seq": position}
                first = await client.call("events.subscribe", start)
                position = first["seq"] if position is None else position
                is_known, delay_s = True, FIRST_RETRY_S
                while (message := await client.notifications.get()) is not None:
                    if message["method"] == "event":
                        position = max(position, message["params"].get("seq", position))
                        yield message["params"]
                    elif is_over(message, on_trouble):
                        break
                else:
                    raise ConnectionResetError("the daemon closed the connection")
        except (ConnectionError, RpcFailure) as error:
            if not is_known or (isinstance(error, RpcFailure) and not error.is_retryable):
                raise
            if delay_s == FIRST_RETRY_S:
                on_trouble("connection lost; waiting for the daemon")
            await asyncio.sleep(jittered(delay_s))
            delay_s = min(LONGEST_RETRY_S, delay_s * 2)


async def watch_async(
    query: str,
    path: str | None = None,
    *,
    nugget: str | None = None,
    shelf: str = "default",
    on_trouble: Callable[[str], None] = lambda _: None,
) -> AsyncGenerator[dict[str, Any], None]:
    """Yield an event for each note that enters the results of *query*, as :func:`shelfd.client.watch` does.

    The standing query is taken away when the generator is closed: leave the loop under ``contextlib.aclosing``.

    Raises:
        NotRunning: If no daemon is there at the first try.
        RpcFailure: If the query is refused.
    """
    wanted = {"query": query, "shelf": shelf, **({} if nugget is None else {"nugget": nugget})}
    async with await AsyncClient.connect(path) as client:
        made = (await client.call("watch.create", wanted))["watch"]
    types = ["watch.matched"]
    following = follow_async(path, types=types, shelf=shelf, since_seq=made["since_seq"], on_trouble=on_trouble)
    try:
        async with aclosing(following):
            async for event in following:
                if event["data"]["watch"] == made["id"]:
                    yield event
    finally:
        with suppress(OSError, RpcFailure):
            async with await AsyncClient.connect(path) as client:
                await client.call("watch.delete", {"id": made["id"], "shelf": shelf})
