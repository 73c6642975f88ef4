"""Every recipe of docs/mcp.md, as an agent would use it."""

import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
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


def bring(daemon: Daemon, lines: Sequence[dict[str, Any]]) -> None:
    """Import a file of the reference server."""
    file = daemon.directory / "memory.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    command = [sys.executable, "-P", "-m", "shelfd.client", "import", str(file), "--nugget", "people"]
    subprocess.run(command, env=environment(daemon), check=True, capture_output=True, timeout=TIMEOUT_S)


async def test_a_file_of_the_reference_server_is_a_graph_here(daemon: Daemon) -> None:
    entities = [
        {"name": "Ada", "entityType": "person", "observations": ["speaks Spanish", "likes tea"]},
        {"name": "Acme", "entityType": "organization", "observations": []},
    ]
    relations = [{"from": "Ada", "to": "Acme", "relationType": "works_at"}]
    lines = [{"type": "entity", **one} for one in entities] + [{"type": "relation", **one} for one in relations]
    bring(daemon, lines)
    arguments = ["mcp", "--tools", "compat", "--graph", "people"]
    server = StdioServerParameters(command="shelfd", args=arguments, env=environment(daemon))
    async with Client(server) as client:
        graph = (await client.call_tool("read_graph", {})).structured_content
        assert graph == {"entities": entities, "relations": relations}
        more = [{"entityName": "Acme", "contents": ["builds lighthouses"]}]
        await client.call_tool("add_observations", {"observations": more})
        found = (await client.call_tool("search_nodes", {"query": "lighthouse"})).structured_content
        assert found == {"entities": [{**entities[1], "observations": ["builds lighthouses"]}], "relations": relations}
