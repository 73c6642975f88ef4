"""Order within a connection: changes as they came, reads after the changes before them."""

import json
import os
from typing import Any

import pytest

from gateway.fakes import Client, House, request


async def test_changes_are_queued_in_order_of_arrival(client: Client, house: House) -> None:
    held = house.service.hold("0")
    for number in range(20):
        client.send("remember", content=str(number))
    await held.reached()
    await client.settled()
    # All are queued after the slow one: that is what makes a group commit.
    assert house.service.begun == [str(number) for number in range(20)]
    assert house.service.applied == []
    held.release()
    for _ in range(20):
        await client.read()
    assert house.service.applied == [str(number) for number in range(20)]


async def test_a_read_waits_for_the_changes_before_it(client: Client, house: House) -> None:
    slow = house.service.hold("slow")
    client.send("remember", content="slow")
    read_id = client.send("recall", query="q")
    subscribe_id = client.send("events.subscribe")
    client.send("remember", content="later")
    await slow.reached()
    await client.settled()
    assert house.service.begun == ["slow", "later"]
    slow.release()
    replies = [await client.read() for _ in range(4)]
    assert house.service.begun == ["slow", "later", "q"]
    assert {reply["id"] for reply in replies} >= {read_id, subscribe_id}


async def test_a_read_does_not_wait_for_changes_after_it(client: Client, house: House) -> None:
    slow = house.service.hold("slow")
    reads = house.service.hold("q")
    client.send("recall", query="q")
    client.send("remember", content="slow")
    await slow.reached()
    reads.release()
    assert (await client.read())["result"] == {"label": "q"}


async def test_a_read_waits_also_for_a_change_that_fails(client: Client, house: House) -> None:
    slow = house.service.hold("slow")
    house.service.failures["slow"] = RuntimeError("gone")
    client.send("remember", content="slow")
    client.send("recall", query="q")
    await slow.reached()
    slow.release()
    assert [("error" in await client.read()) for _ in range(2)] == [True, False]


async def test_later_changes_wait_for_one_that_prepares(client: Client, house: House) -> None:
    held = house.service.hold("promote")
    client.send("promote")
    client.send("remember", content="later")
    await held.reached()
    await client.settled()
    assert house.service.begun == ["promote"]
    held.release()
    for _ in range(2):
        await client.read()
    assert house.service.applied == ["promote", "later"]


@pytest.mark.parametrize("is_batch", [False, True])
async def test_a_dry_run_knows_the_changes_before_it(client: Client, house: House, is_batch: bool) -> None:
    slow = house.service.hold("slow")
    rehearsal = request("reflect", 2, dry_run=True)
    client.raw(request("remember", 1, content="slow"))
    client.raw(b"[" + rehearsal.strip() + b"]\n" if is_batch else rehearsal)
    await slow.reached()
    await client.settled()
    assert house.service.begun == ["slow"]
    slow.release()
    for _ in range(2):
        await client.read()
    assert house.service.begun == ["slow", "reflect"]


async def test_connections_do_not_wait_for_each_other(house: House) -> None:
    first, second = await house.connect(), await house.connect()
    slow = house.service.hold("slow")
    first.send("remember", content="slow")
    await slow.reached()
    assert await second.call("recall", query="q") == {"label": "q"}


async def test_the_daemons_own_methods_wait_for_nothing(client: Client, house: House) -> None:
    slow = house.service.hold("slow")
    client.send("remember", content="slow")
    await slow.reached()
    assert await client.call("system.health") == {"status": "ok"}
    assert await client.call("events.unsubscribe", subscription="sub-1") == {"removed": False}


async def test_peer_credentials_reach_the_service(client: Client, house: House) -> None:
    await client.call("recall", query="q")
    assert house.service.calls[0].principal == f"uid:{os.getuid()}"


async def test_forbidden_shelf(client: Client, house: House) -> None:
    params: list[tuple[str, dict[str, Any]]] = [
        ("remember", {"content": "x"}),
        ("recall", {"query": "x"}),
        ("events.subscribe", {}),
    ]
    for method, given in params:
        client.send(method, shelf="private", **given)
        error = await client.error()
        assert error["code"] == -32004
        assert error["data"] == {"type": "Forbidden", "retryable": False}
    assert house.service.calls == []


async def test_request_ids_differ(house: House) -> None:
    for _ in range(2):
        client = await house.connect()
        await client.call("recall", query="q")
        await client.call("recall", query="q")
    ids = {call.request_id for call in house.service.calls}
    assert len(ids) == 4


async def test_changes_of_every_kind_keep_their_order(client: Client, house: House) -> None:
    client.raw(
        request("remember_many", 1, notes=[{"content": "first"}])
        + request("remember", 2, content="second")
        + request("remember_many", 3, notes=[{"content": "third"}])
        + request("remember", 4, content="fourth")
    )
    for _ in range(4):
        await client.read()

    assert house.service.applied == ["remember_many", "second", "remember_many", "fourth"]


async def test_changes_that_are_refused_at_once_are_answered_in_order(client: Client) -> None:
    client.raw(b"".join(request("remember", number, content="x", shelf="private") for number in range(50)))
    replies = [await client.read() for _ in range(50)]

    assert [reply["id"] for reply in replies] == list(range(50))
    assert {reply["error"]["data"]["type"] for reply in replies} == {"Forbidden"}


async def test_a_batch_of_changes_that_are_refused_at_once(client: Client) -> None:
    members = [json.loads(request("remember", number, content="x", shelf="private")) for number in range(1000)]
    client.raw(json.dumps(members).encode() + b"\n")
    replies = await client.read()

    assert [reply["id"] for reply in replies] == list(range(1000))
    assert {reply["error"]["data"]["type"] for reply in replies} == {"Forbidden"}


async def test_the_requests_of_a_connection_have_one_sender(house: House) -> None:
    first, second = await house.connect(), await house.connect()
    for client in (first, second, first):
        await client.call("remember", content="c")
    senders = [call.sender for call in house.service.calls]
    assert senders[0] == senders[2] != senders[1]
    assert None not in senders
