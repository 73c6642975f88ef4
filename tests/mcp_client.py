"""The official SDK's client: over a Unix socket, and over the bridge's standard input and output."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp.shared.message import SessionMessage

from running import clean_environment

SOON_S = 20.0  # seconds after which a test that waits for something is stuck
LINE_BYTES = 2**24


@asynccontextmanager
async def over_socket(path: Path) -> AsyncIterator[Any]:
    """A transport for the SDK's client: the same lines as on standard input and output."""
    reader, writer = await asyncio.open_unix_connection(str(path), limit=LINE_BYTES)
    incoming, read_stream = anyio.create_memory_object_stream[SessionMessage | Exception](64)
    write_stream, outgoing = anyio.create_memory_object_stream[SessionMessage](64)

    async def receive() -> None:
        async with incoming:
            while line := await reader.readline():
                await incoming.send(SessionMessage(types.jsonrpc_message_adapter.validate_json(line, by_name=False)))

    async def send() -> None:
        async with outgoing:
            async for message in outgoing:
                writer.write(message.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")
                await writer.drain()

    tasks = [asyncio.create_task(receive()), asyncio.create_task(send())]
    try:
        yield read_stream, write_stream
    finally:
        for stream in (read_stream, write_stream):
            await stream.aclose()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        writer.close()
        await writer.wait_closed()


def socket_client(path: Path, *, mode: str = "auto", **more: Any) -> Client:
    """A client that speaks MCP with whatever listens at *path*."""
    return Client(over_socket(path), mode=mode, **more)


def bridge(*arguments: str, home: Path, environment: Mapping[str, str] | None = None) -> StdioServerParameters:
    """How a client starts ``shelfd mcp``."""
    return StdioServerParameters(
        command=sys.executable,
        args=["-P", "-m", "shelfd.client", "mcp", *arguments],
        env={"HOME": str(home), **bare(environment)},
    )


def bare(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """What of this process's environment a server started by an agent has, with *extra*."""
    kept = clean_environment(Path.home())
    return {name: kept[name] for name in ("PATH", "VIRTUAL_ENV") if name in kept} | dict(extra or {})


def text(result: types.CallToolResult) -> str:
    """The text of a tool's answer."""
    assert len(result.content) == 1
    block = result.content[0]
    assert isinstance(block, types.TextContent)
    return block.text


def descriptors() -> int:
    """How many files this process has open."""
    return len(os.listdir("/proc/self/fd"))  # noqa: PTH208
