"""The nine tools of MCP's reference memory server, as one of its users would call them."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp.client.client import Client as McpClient
from mcp.shared.subscriptions import ResourceUpdated

from fakes import Api, memory
from gateway.fakes import House, Open
from mcp_client import SOON_S, socket_client, text
from shelfd.gateway.mcp import feed, tools
from shelfd.gateway.mcp.options import OPTIONS

Json = dict[str, Any]
COMPAT = {OPTIONS: {"tools": ["compat"]}}
ADA = {"name": "Ada", "entityType": "person", "observations": ["speaks Spanish"]}
ACME = {"name": "Acme", "entityType": "organization", "observations": []}
WORKS = {"from": "Ada", "to": "Acme", "relationType": "works_at"}


@pytest.fixture
async def api() -> AsyncIterator[Api]:
    async with memory() as running:
        yield running


@pytest.fixture
async def real(api: Api, open_house: Open, monkeypatch: pytest.MonkeyPatch) -> House:
    """A server over a real memory, whose feeds look at once."""
    monkeypatch.setattr(feed, "MOMENT_S", 0.0)
    return await open_house(memory=api.service)


@asynccontextmanager
async def speaking(house: House) -> AsyncIterator[McpClient]:
    """A client that knows the tools' schemas, and so checks each answer against them."""
    async with socket_client(house.path) as client:
        await client.session.list_tools(params=types.PaginatedRequestParams(_meta=COMPAT))
        yield client


async def call(client: McpClient, name: str, **arguments: Any) -> tuple[str, Json]:
    """Call a tool that must succeed; the client checks its answer against the tool's output schema."""
    answer = await client.call_tool(name, arguments, meta=COMPAT)  # type: ignore[arg-type]
    assert not answer.is_error, answer
    assert answer.structured_content is not None
    return text(answer), answer.structured_content


async def refused(client: McpClient, name: str, **arguments: Any) -> str:
    answer = await client.call_tool(name, arguments, meta=COMPAT)  # type: ignore[arg-type]
    assert answer.is_error
    return text(answer)


async def test_the_nine_tools_alone_are_listed(real: House) -> None:
    async with speaking(real) as client:
        listed = await client.session.list_tools(params=types.PaginatedRequestParams(_meta=COMPAT))
        assert [tool.name for tool in listed.tools] == [
            *("create_entities", "create_relations", "add_observations", "delete_entities", "delete_observations"),
            *("delete_relations", "read_graph", "search_nodes", "open_nodes"),
        ]
        assert all(tool.output_schema for tool in listed.tools)


async def test_every_tool_answers_in_the_references_shapes(real: House) -> None:
    async with speaking(real) as client:
        said, data = await call(client, "create_entities", entities=[ADA, ACME])
        assert data == {"entities": [ADA, ACME]}
        assert said == json.dumps([ADA, ACME], indent=2)
        assert await call(client, "create_entities", entities=[ADA]) == ("[]", {"entities": []})
        said, data = await call(client, "create_relations", relations=[WORKS])
        assert (json.loads(said), data) == ([WORKS], {"relations": [WORKS]})
        more = [{"entityName": "Ada", "contents": ["speaks Spanish", "likes tea"]}]
        said, data = await call(client, "add_observations", observations=more)
        assert data == {"results": [{"entityName": "Ada", "addedObservations": ["likes tea"]}]}
        assert json.loads(said) == data["results"]
        graph: Json = {
            "entities": [{**ADA, "observations": ["speaks Spanish", "likes tea"]}, ACME],
            "relations": [WORKS],
        }
        said, data = await call(client, "read_graph", random_string="")  # what some clients send where nothing is taken
        assert (json.loads(said), data) == (graph, graph)
        assert said == json.dumps(graph, indent=2)
        _, data = await call(client, "search_nodes", query="TEA")
        assert data == {"entities": graph["entities"][:1], "relations": [WORKS]}
        _, data = await call(client, "open_nodes", names=["Acme", "Bob"])
        assert data == {"entities": [ACME], "relations": [WORKS]}


async def test_deleting_says_what_was_there(real: House) -> None:
    async with speaking(real) as client:
        await call(client, "create_entities", entities=[ADA, ACME])
        await call(client, "create_relations", relations=[WORKS])
        for name, arguments, message in (
            (
                "delete_observations",
                {
                    "deletions": [
                        {"entityName": "Ada", "observations": ["speaks Spanish", "x"]},
                        {"entityName": "Bob", "observations": ["y"]},
                    ]
                },
                "Deleted 1 of 3 observations. Entities not found: Bob",
            ),
            ("delete_observations", {"deletions": []}, "Observations deleted successfully"),
            ("delete_relations", {"relations": [WORKS]}, "Relations deleted successfully"),
            ("delete_relations", {"relations": [WORKS]}, "Deleted 0 of 1 relations. The rest matched nothing."),
            ("delete_entities", {"entityNames": ["Ada", "Bob"]}, "Deleted 1 of 2 entities. Not found: Bob"),
            ("delete_entities", {"entityNames": ["Acme"]}, "Entities deleted successfully"),
        ):
            assert await call(client, name, **arguments) == (message, {"success": True, "message": message})
        assert (await call(client, "read_graph"))[1] == {"entities": [], "relations": []}


async def test_errors_say_what_the_references_do(real: House) -> None:
    async with speaking(real) as client:
        await call(client, "create_entities", entities=[ADA])
        nobody = [{"entityName": "Bob", "contents": ["x"]}]
        assert await refused(client, "add_observations", observations=nobody) == "Entity with name Bob not found"
        assert await refused(client, "create_relations", relations=[WORKS]) == "Entity with name Acme not found"
        for name, arguments in (
            ("create_entities", {}),
            ("create_entities", {"entities": "Ada"}),
            ("create_entities", {"entities": ["Ada"]}),
            ("create_entities", {"entities": [{"name": "Ada"}]}),
            ("create_relations", {"relations": [{"from": 7, "to": "Ada", "relationType": "x"}]}),
            ("delete_entities", {}),
            ("delete_observations", {"deletions": [{"entityName": "Ada", "observations": "x"}]}),
            ("search_nodes", {"query": "x" * 2049}),
            ("open_nodes", {"names": [7]}),
        ):
            assert await refused(client, name, **arguments)
        assert (await call(client, "read_graph"))[1] == {"entities": [ADA], "relations": []}


async def test_the_graph_is_a_resource_that_says_when_it_changes(real: House) -> None:
    async with speaking(real) as client:
        async with client.listen(resource_subscriptions=["memory://knowledge-graph"]) as changes:
            await call(client, "create_entities", entities=[ADA])
            with anyio.fail_after(SOON_S):
                assert await anext(changes) == ResourceUpdated("memory://knowledge-graph")
        read = await client.read_resource("memory://knowledge-graph")
        assert json.loads(read.contents[0].text) == {"entities": [ADA], "relations": []}  # type: ignore[union-attr]
        assert (await client.list_resources()).resources[0].uri == "memory://knowledge-graph"


async def test_what_one_set_of_tools_stores_the_other_finds(real: House) -> None:
    async with speaking(real) as client:
        await call(client, "create_entities", entities=[ADA])
        assert "speaks Spanish" in text(await client.call_tool("recall", {"query": "who speaks Spanish"}))
        await client.call_tool("remember", {"content": "keeps the lighthouse", "title": "Eve"})
        names = [one["name"] for one in (await call(client, "read_graph"))[1]["entities"]]
        assert names == ["Ada", "Eve"]


def test_sets_of_tools_are_chosen_by_name() -> None:
    assert tools.chosen([]) == ["memory"]
    assert tools.chosen(["graph"]) == ["memory", "graph"]
    assert tools.chosen(["compat"]) == ["compat"]
    assert tools.chosen(["compat", "memory"]) == ["memory", "compat"]
