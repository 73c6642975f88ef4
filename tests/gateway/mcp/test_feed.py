"""Subscriptions to resources: what changes is told, together, to those who want it."""

from collections.abc import AsyncIterator
from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp.shared.exceptions import MCPError
from mcp.shared.subscriptions import ResourcesListChanged, ResourceUpdated

from fakes import Api, memory, until
from gateway.fakes import Client, House, Open
from mcp_client import SOON_S, socket_client
from shelfd.gateway.mcp import feed

Json = Any

#: The SDK says that the older kind of subscription is older.
pytestmark = pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning")


@pytest.fixture
async def api() -> AsyncIterator[Api]:
    async with memory() as running:
        yield running


@pytest.fixture
async def real(api: Api, open_house: Open, monkeypatch: pytest.MonkeyPatch) -> House:
    """A server over a real memory, whose feeds look at once."""
    monkeypatch.setattr(feed, "MOMENT_S", 0.0)
    return await open_house(memory=api.service)


async def told(client: Client) -> list[str]:
    """What a client was told until its ping is answered."""
    sent = client.send("ping")
    messages = []
    while (message := await client.read()).get("id") != sent:
        messages.append(message["params"].get("uri") or message["method"])
    return messages


async def test_a_client_of_the_older_kind_is_notified(real: House, api: Api) -> None:
    seen: list[str] = []
    heard = anyio.Event()

    async def listen(message: Any) -> None:
        if isinstance(message, types.ResourceUpdatedNotification):
            seen.append(message.params.uri)
        elif isinstance(message, types.ResourceListChangedNotification):
            seen.append("list")
        if {"list", "memory://nuggets/home"} <= set(seen):
            heard.set()

    async with socket_client(real.path, mode="legacy", message_handler=listen) as client:
        await client.subscribe_resource("memory://nuggets/home")
        await api.call("remember", content="tea", nugget="home")
        with anyio.fail_after(SOON_S):
            await heard.wait()
        await client.unsubscribe_resource("memory://nuggets/home")
        seen.clear()
        await api.call("remember", content="coffee", nugget="home")
        await until(lambda: seen == ["list"])


async def test_a_client_of_the_newer_kind_listens(real: House, api: Api) -> None:
    note = (await api.call("remember", content="tea", nugget="home"))["note"]["id"]
    uri = f"memory://notes/{note}"
    async with (
        socket_client(real.path) as client,
        client.listen(resources_list_changed=True, resource_subscriptions=[uri]) as changes,
    ):
        assert changes.honored.resource_subscriptions == [uri]
        with anyio.fail_after(SOON_S):
            await api.call("note.edit", id=note, content="green tea")
            assert await anext(changes) == ResourceUpdated(uri)
            await api.call("remember", content="coffee", nugget="office")
            assert await anext(changes) == ResourcesListChanged()


async def test_who_stops_listening_is_told_no_more(real: House, api: Api) -> None:
    async with socket_client(real.path) as client:
        async with client.listen(resources_list_changed=True):
            pass
        async with client.listen(resources_list_changed=True) as changes:
            await api.call("remember", content="tea")
            with anyio.fail_after(SOON_S):
                assert await anext(changes) == ResourcesListChanged()
        await client.list_tools()


async def test_what_happens_together_is_told_once(real: House, api: Api) -> None:
    client = await real.connect()
    await client.call("resources/subscribe", uri="memory://nuggets/Home")
    await api.call("remember_many", notes=[{"content": f"cup {n}", "nugget": "home"} for n in range(200)])
    assert (await client.read())["params"] == {"uri": "memory://nuggets/home"}
    assert await told(client) == []


async def test_who_subscribes_to_nothing_is_told_nothing(real: House, api: Api) -> None:
    client = await real.connect()
    await client.call("initialize", protocolVersion="2025-06-18")
    await api.call("remember", content="tea")
    assert await told(client) == []


async def test_one_that_lags_far_behind_is_told_that_all_changed(
    real: House, api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feed, "_BEHIND", 3)
    client = await real.connect()
    await client.call("logging/setLevel", level="info")
    await client.call("resources/subscribe", uri="memory://nuggets/elsewhere")
    await api.call("remember_many", notes=[{"content": f"cup {n}"} for n in range(9)])
    assert (await client.read())["params"] == {"uri": "memory://nuggets/elsewhere"}
    assert (await client.read())["params"]["level"] == "notice"


async def test_a_slow_reader_is_told_later(real: House, api: Api) -> None:
    client = await real.connect()
    await client.call("resources/subscribe", uri="memory://nuggets/home")
    client.stop_reading()
    big = "x" * 200_000
    await api.call("remember", content=big, nugget="elsewhere")
    wanted = [client.send("resources/read", uri="memory://nuggets/elsewhere") for _ in range(3)]
    wanted += [client.send("prompts/get", name="what_do_you_know_about", arguments={"topic": big[:9]})]
    await api.call("remember", content="tea", nugget="home")
    client.read_on()
    messages = [await client.read() for _ in range(len(wanted) + 1)]
    assert sorted(message["id"] for message in messages if "id" in message) == wanted
    assert [message["params"] for message in messages if "method" in message] == [{"uri": "memory://nuggets/home"}]


async def test_too_many_subscriptions_are_refused(real: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feed, "URIS_COUNT", 2)
    async with socket_client(real.path, mode="legacy") as client:
        for name in ("a", "b", "a"):
            await client.subscribe_resource(f"memory://nuggets/{name}")
        with pytest.raises(MCPError) as refused:
            await client.subscribe_resource("memory://nuggets/c")
        assert refused.value.code == -32010
        await client.unsubscribe_resource("memory://nuggets/a")
        await client.subscribe_resource("memory://nuggets/c")


async def test_too_many_listeners_are_refused(api: Api, open_house: Open) -> None:
    house = await open_house(memory=api.service, subscriptions_count=2)
    client = await house.connect()
    version = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}
    for number in range(3):
        client.send("subscriptions/listen", notifications={"resourcesListChanged": True}, _meta=version)
        answer = await client.read()
        assert ("error" in answer) == (number == 2)
    client.send("notifications/cancelled", notify=True, requestId=1)
    client.send("subscriptions/listen", notifications={"resourcesListChanged": True}, _meta=version)
    assert (await client.read())["method"] == "notifications/subscriptions/acknowledged"


async def test_a_shelf_that_is_not_there_cannot_be_listened_to(real: House) -> None:
    client = await real.connect()
    options = {"shelfd/options": {"shelf": "nowhere"}}
    client.send("resources/subscribe", uri="memory://notes/x", _meta=options)
    assert (await client.error())["code"] == -32001
    version = {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}
    client.send("subscriptions/listen", notifications={"resourcesListChanged": True}, _meta={**version, **options})
    assert (await client.error())["code"] == -32001
    for notifications in (None, {"resourceSubscriptions": 7}, {"resourceSubscriptions": ["file:///x"]}):
        client.send("subscriptions/listen", notifications=notifications, _meta=version)
        assert (await client.error())["code"] == -32602


async def test_nothing_is_left_of_a_client_that_goes_away(house: House) -> None:
    client = await house.connect()
    await client.call("resources/subscribe", uri="memory://nuggets/home")
    await client.call("resources/subscribe", uri="memory://notes/n")
    assert house.service.default.followers == 1
    client.close()
    await until(lambda: house.service.default.followers == 0)
