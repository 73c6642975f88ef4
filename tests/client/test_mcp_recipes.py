"""Every recipe of docs/mcp.md, as an agent would use it."""

import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters

from mcp_client import bare, text
from running import TIMEOUT_S, Daemon

PAGE = Path(__file__).resolve().parents[2] / "docs" / "mcp.md"
_BLOCK = re.compile(r"^```(json|toml|sh)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks() -> list[tuple[str, str]]:
    return _BLOCK.findall(PAGE.read_text())


def servers() -> Iterator[tuple[str, list[str]]]:
    """The command of each server that a recipe configures."""
    for kind, code in blocks():
        if kind == "sh":
            if " -- " in code:
                command, *arguments = shlex.split(code.split(" -- ")[1])
                yield command, arguments
            continue
        found: dict[str, Any] = json.loads(code) if kind == "json" else tomllib.loads(code)
        for server in (found.get("mcpServers") or found["mcp_servers"]).values():
            yield server["command"], server["args"]


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    with Daemon(tmp_path_factory.mktemp("recipes")) as running:
        yield running


def environment(daemon: Daemon) -> dict[str, str]:
    beside = str(Path(sys.executable).parent)  # where the command is, for whoever installed it
    path = os.pathsep.join([beside, os.environ["PATH"]])
    return {**bare(), "HOME": str(daemon.directory), "SHELFD_SOCKET": daemon.socket, "PATH": path}


def test_there_are_recipes() -> None:
    assert len(list(servers())) == 5


async def test_each_configured_server_is_one(daemon: Daemon) -> None:
    for number, (command, arguments) in enumerate(servers()):
        server = StdioServerParameters(command=command, args=arguments, env=environment(daemon))
        async with Client(server) as client:
            tools = [tool.name for tool in (await client.list_tools()).tools]
            if "read_graph" in tools:
                entity = {"name": "Ada", "entityType": "person", "observations": ["likes tea"]}
                await client.call_tool("create_entities", {"entities": [entity]})
                assert "likes tea" in text(await client.call_tool("search_nodes", {"query": "TEA"}))
            else:
                await client.call_tool("remember", {"content": f"Recipe number {number} works."})
                found = await client.call_tool("recall", {"query": f"recipe number {number}"})
                assert f"Recipe number {number} works." in text(found)


def test_lines_by_hand(daemon: Daemon) -> None:
    code = next(code for kind, code in blocks() if kind == "sh" and "printf" in code)
    ended = subprocess.run(
        ["/bin/bash", "-c", code], env=environment(daemon), capture_output=True, timeout=TIMEOUT_S, check=True
    )
    answers = {message["id"]: message for message in map(json.loads, ended.stdout.splitlines()) if "id" in message}
    assert sorted(answers) == [1, 2, 3]
    assert "The kettle is green." in answers[3]["result"]["content"][0]["text"]
