"""A language model's server for tests: HTTP on this machine that speaks the protocol of chat completions, or does not.

It runs in a thread of its own, so that a daemon in another process, the loop of a test and a test without one can all
use it. What it was sent is kept, byte for byte.
"""

import asyncio
import json
import threading
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self, TypeAlias

_OPEN = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"


@dataclass(slots=True)
class Received:
    """One request."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> dict[str, Any]:
        """Its body."""
        read: dict[str, Any] = json.loads(self.body)
        return read

    @property
    def data(self) -> dict[str, Any]:
        """What the model was shown."""
        shown: dict[str, Any] = json.loads(self.json["messages"][-1]["content"])
        return shown

    @property
    def form(self) -> str:
        """How JSON was asked for."""
        if "tools" in self.json:
            return "tool"
        kind: str = self.json.get("response_format", {}).get("type", "text")
        return kind


Behaviour: TypeAlias = Callable[[Received, asyncio.StreamWriter], Awaitable[None]]


# -------------------------------------------------------------------- how it behaves


def replies(message: Mapping[str, Any], *, finish: str = "stop", usage: object = None) -> bytes:
    """The body of a chat completion."""
    counted = {"prompt_tokens": 100, "completion_tokens": 20} if usage is None else usage
    choice = {"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}
    return json.dumps({"id": "c-1", "object": "chat.completion", "choices": [choice], "usage": counted}).encode()


def sends(body: bytes, status: str = "200 OK", **headers: str) -> Behaviour:
    """Answer with these bytes."""

    async def behave(_received: Received, writer: asyncio.StreamWriter) -> None:
        extra = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
        head = f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n{extra}\r\n"
        writer.write(head.encode() + body)

    return behave


def says(value: object) -> Behaviour:
    """Answer with an object as a good model does."""
    return sends(replies({"content": json.dumps(value)}))


def says_text(text: str) -> Behaviour:
    """Answer with any text."""
    return sends(replies({"content": text}))


def calls_tool(value: object) -> Behaviour:
    """Answer by a tool call."""
    call = {"id": "t-1", "type": "function", "function": {"name": "answer", "arguments": json.dumps(value)}}
    return sends(replies({"content": None, "tool_calls": [call]}, finish="tool_calls"))


def thinks(answer: Callable[[dict[str, Any]], object]) -> Behaviour:
    """Answer with what a function makes of the data it is shown."""

    async def behave(received: Received, writer: asyncio.StreamWriter) -> None:
        await says(answer(received.data))(received, writer)

    return behave


def knows_only(form: str, value: object) -> Behaviour:
    """Answer one form of request, and refuse the others as unknown."""

    async def behave(received: Received, writer: asyncio.StreamWriter) -> None:
        known = calls_tool(value) if form == "tool" else says(value)
        await (known if received.form == form else sends(b"{}", "400 Bad Request"))(received, writer)

    return behave


def refuses(status: str, **headers: str) -> Behaviour:
    """Answer with an error."""
    return sends(b'{"error": {"message": "no"}}', status, **headers)


async def drops(_received: Received, writer: asyncio.StreamWriter) -> None:
    """Close the connection without an answer."""
    writer.transport.abort()


async def hangs(_received: Received, _writer: asyncio.StreamWriter) -> None:
    """Never answer."""
    await asyncio.Event().wait()


async def truncates(_received: Received, writer: asyncio.StreamWriter) -> None:
    """Break off in the middle of the body."""
    writer.write(_OPEN + b'Content-Length: 5000\r\n\r\n{"choices": [{"mess')
    await writer.drain()
    writer.transport.abort()


async def drips(_received: Received, writer: asyncio.StreamWriter) -> None:
    """Send a byte now and then, for ever: each arrives well within any time limit for a single read."""
    writer.write(_OPEN + b"Transfer-Encoding: chunked\r\n\r\n")
    while True:
        writer.write(b"1\r\n \r\n")
        await writer.drain()
        await asyncio.sleep(0.02)  # the pace of a slow server, which nothing waits for


async def never_ends(_received: Received, writer: asyncio.StreamWriter) -> None:
    """Send as fast as it is read, for ever."""
    writer.write(_OPEN + b"Transfer-Encoding: chunked\r\n\r\n")
    piece = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
    while True:
        writer.write(piece)
        await writer.drain()


# -------------------------------------------------------------------- the server


@dataclass
class ModelServer:
    """The server; as a context manager it is gone on exit.

    Attributes:
        otherwise: What it does when nothing is scripted.
        received: Every request for a completion so far.
        models: Names it lists.
        most_at_once: How many requests it was at work on at a time, at most.
    """

    otherwise: Behaviour = field(default_factory=lambda: refuses("500 Nothing Scripted"))
    received: list[Received] = field(default_factory=list)
    models: list[str] = field(default_factory=lambda: ["test-model"])
    most_at_once: int = 0

    def __post_init__(self) -> None:
        self._script: deque[Behaviour] = deque()
        self._at_once = 0
        self._ready = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._port = 0
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), name="model-server", daemon=True)

    @property
    def url(self) -> str:
        """What ``llm.url`` is set to."""
        return f"http://127.0.0.1:{self._port}/v1"

    @property
    def forms(self) -> list[str]:
        """How JSON was asked for, request by request."""
        return [received.form for received in self.received]

    @property
    def everything(self) -> str:
        """All that was ever sent to it."""
        return "\n".join(one.body.decode() + str(one.headers) + one.path for one in self.received)

    def then(self, *behaviours: Behaviour) -> Self:
        """Behave like this for the next requests, one each."""
        self._script.extend(behaviours)
        return self

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._ready.wait(30)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._loop is not None
        assert self._stop is not None
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(30)

    async def _serve(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        connections: set[asyncio.Task[None]] = set()

        def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.get_running_loop().create_task(self._converse(reader, writer))
            connections.add(task)
            task.add_done_callback(connections.discard)

        server = await asyncio.start_server(connected, "127.0.0.1", 0)
        self._port = server.sockets[0].getsockname()[1]
        self._ready.set()
        await self._stop.wait()
        server.close()
        for task in connections:
            task.cancel()
        await asyncio.gather(*connections, return_exceptions=True)

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while (received := await _read(reader)) is not None:
                await self._answer(received, writer)
                await writer.drain()
        except (OSError, asyncio.IncompleteReadError):
            pass  # the client went away
        finally:
            writer.transport.abort()

    async def _answer(self, received: Received, writer: asyncio.StreamWriter) -> None:
        if received.method == "GET":
            listed = {"object": "list", "data": [{"id": name} for name in self.models]}
            await sends(json.dumps(listed).encode())(received, writer)
            return
        self.received.append(received)
        behaviour = self._script.popleft() if self._script else self.otherwise
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            await behaviour(received, writer)
        finally:
            self._at_once -= 1


async def _read(reader: asyncio.StreamReader) -> Received | None:
    first = (await reader.readline()).decode().split()
    if not first:
        return None
    headers = {}
    while line := (await reader.readline()).decode().strip():
        name, _, value = line.partition(":")
        headers[name.lower()] = value.strip()
    return Received(first[0], first[1], headers, await reader.readexactly(int(headers.get("content-length", 0))))
