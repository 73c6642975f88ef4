"""Who may do what is asked when a call's turn has come, after the changes sent before it."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from fakes import Api, memory
from gateway.fakes import Client, Open, request
from gateway.mqtt.requesting import desk
from shelfd.memory.shelf.access import Access
from shelfd.storage import SqliteStores
from shelfd.storage.inmemory import InMemoryStores


@pytest.fixture(params=["inmemory", "sqlite"])
async def api(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Api]:
    """A memory in which nobody, root neither, may do more than rules say."""
    stores = InMemoryStores if request.param == "inmemory" else lambda clock: SqliteStores(tmp_path / "shelves", clock)
    async with memory(stores) as real:
        real.service.access = Access(real.shelves.owner)
        yield real


async def outcomes(client: Client, count: int) -> list[str]:
    """Of each request, in order of their ids: its error's type, or ok."""
    replies = sorted([await client.read() for _ in range(count)], key=lambda reply: int(reply["id"]))
    return [outcome(reply) for reply in replies]


def outcome(reply: dict[str, Any]) -> str:
    return str(reply["error"]["data"]["type"]) if "error" in reply else "ok"


async def test_a_shelf_can_be_made_and_used_without_waiting_for_the_reply(api: Api, open_house: Open) -> None:
    client = await (await open_house(memory=api.service)).connect()
    client.raw(
        request("shelf.create", 1, shelf="mine")
        + request("remember", 2, shelf="mine", content="tea")
        + request("remember_many", 3, shelf="mine", notes=[{"content": "coffee"}])
        + request("note.list", 4, shelf="mine")
        + request("remember", 5, content="elsewhere")
        + request("events.subscribe", 6, shelf="mine")
    )
    assert await outcomes(client, 6) == ["ok"] * 6
    assert sorted(note["content"] for note in (await client.call("note.list", shelf="mine"))["notes"]) == [
        "coffee",
        "tea",
    ]


async def test_a_shelf_that_is_gone_is_nobodys(api: Api, open_house: Open) -> None:
    client = await (await open_house(memory=api.service)).connect()
    client.raw(
        request("shelf.create", 1, shelf="mine")
        + request("shelf.drop", 2, shelf="mine", confirm="mine")
        + request("remember", 3, shelf="mine", content="tea")
        + request("shelf.create", 4, shelf="mine")
        + request("remember", 5, shelf="mine", content="tea")
    )
    assert await outcomes(client, 5) == ["ok", "ok", "Forbidden", "ok", "ok"]


async def test_a_foreign_shelf_is_refused_like_one_that_is_not_there(api: Api, open_house: Open) -> None:
    await api.call("shelf.create", shelf="theirs", principal="uid:4711")
    client = await (await open_house(memory=api.service)).connect()
    replies = []
    for shelf in ("theirs", "nobodys"):
        client.raw(request("shelf.create", 1, shelf="mine") + request("remember", 2, shelf=shelf, content="tea"))
        found = sorted([await client.read() for _ in range(2)], key=lambda reply: int(reply["id"]))
        replies.append(json.dumps(found[1]).replace(shelf, "x"))
    assert replies[0] == replies[1]
    assert "Forbidden" in replies[0]


async def test_by_mqtt_too(api: Api) -> None:
    async with desk(api=api) as at:
        at.link.ask("alice", "shelf.create", 1, shelf="mine")
        for number in range(2, 5):
            at.link.ask("alice", "remember", number, shelf="mine", content=f"tea {number}")
            at.link.ask("bob", "remember", number + 10, shelf="mine", content="tea")
        await at.idle()
        told = {reply["id"]: outcome(reply) for reply in at.link.replies()}
        assert told == {1: "ok", **dict.fromkeys((2, 3, 4), "ok"), **dict.fromkeys((12, 13, 14), "Forbidden")}
        assert at.link.acknowledged == [1, 2, 3, 4, 5, 6, 7]
