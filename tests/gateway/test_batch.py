"""Batches: one after another, one reply array."""

import json
from typing import Any

import pytest

from fakes import until
from gateway.fakes import Client, House, Open
from shelfd.memory.errors import ShelfError


def member(request_id: Any, method: str, **params: Any) -> dict[str, Any]:
    message: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": params}
    return message if request_id is None else {**message, "id": request_id}


def batch(*members: Any) -> bytes:
    return json.dumps(members).encode() + b"\n"


async def test_members_run_in_array_order_each_for_itself(client: Client, house: House) -> None:
    house.service.failures["b"] = ShelfError("no")
    client.raw(batch(*(member(i, "remember", content=text) for i, text in enumerate("abc"))))
    replies = await client.read()
    assert [reply["id"] for reply in replies] == [0, 1, 2]
    assert ["result" in reply for reply in replies] == [True, False, True]
    assert house.service.begun == ["a", "b", "c"]


async def test_the_next_member_begins_when_the_one_before_has_ended(client: Client, house: House) -> None:
    held = house.service.hold("a")
    client.raw(batch(member(1, "remember", content="a"), member(2, "recall", query="b")))
    await held.reached()
    await client.settled()
    assert house.service.begun == ["a"]
    held.release()
    assert len(await client.read()) == 2


async def test_notifications_and_bad_members_in_a_batch(client: Client, house: House) -> None:
    client.raw(
        batch(member(None, "remember", content="quiet"), 5, [], member(7, "no.such"), member(8, "recall", query="q"))
    )
    replies = await client.read()
    assert [(reply["id"], reply.get("error", {}).get("code")) for reply in replies] == [
        (None, -32600),
        (None, -32600),
        (7, -32601),
        (8, None),
    ]
    assert house.service.applied == ["quiet"]


async def test_batch_of_notifications_gets_no_reply(client: Client, house: House) -> None:
    client.raw(batch(member(None, "remember", content="a"), member(None, "remember", content="b")))
    assert await client.call("recall", query="x") == {"label": "x"}
    assert house.service.applied == ["a", "b"]


@pytest.mark.parametrize("count", [1000, 3])
async def test_batch_count_is_limited(open_house: Open, count: int) -> None:
    house = await open_house(batch_count=count)
    client = await house.connect()
    client.raw(batch(*(member(i, "system.health") for i in range(count))))
    assert [reply["id"] for reply in await client.read()] == list(range(count))
    client.raw(batch(*(member(i, "system.health") for i in range(count + 1))))
    reply = await client.read()
    assert reply["id"] is None
    assert reply["error"]["code"] == -32602
    assert (reply["error"]["data"]["field"], reply["error"]["data"]["limit"]) == ("batch", count)


async def test_changes_after_a_batch_wait_for_all_of_it_and_keep_their_order(client: Client, house: House) -> None:
    held = house.service.hold("first")
    client.raw(batch(member(1, "remember", content="first"), member(2, "remember", content="second")))
    for text in ("third", "fourth"):
        client.send("remember", content=text)
    await held.reached()
    await client.settled()
    client.send("remember", content="fifth")
    held.release()
    for _ in range(4):
        await client.read()
    assert house.service.applied == ["first", "second", "third", "fourth", "fifth"]


async def test_a_read_after_a_batch_waits_for_it(client: Client, house: House) -> None:
    held = house.service.hold("a")
    client.raw(batch(member(1, "recall", query="r"), member(2, "remember", content="a")))
    client.send("recall", query="after")
    await held.reached()
    await client.settled()
    assert house.service.begun == ["r", "a"]
    held.release()
    await client.read()
    await client.read()
    assert house.service.begun == ["r", "a", "after"]


async def test_a_member_that_waits_can_be_cancelled(client: Client, house: House) -> None:
    held = house.service.hold("a")
    client.raw(batch(member("a", "remember", content="a"), member("b", "remember", content="b")))
    await held.reached()
    assert await client.call("$/cancel", id="b") == {"cancelled": True}
    held.release()
    replies = await client.read()
    assert "result" in replies[0]
    assert replies[1]["error"]["code"] == -32011
    assert house.service.applied == ["a"]


async def test_the_reply_array_stays_within_the_line_limit(open_house: Open) -> None:
    house = await open_house(line_bytes=2000)
    client = await house.connect()
    house.service.results["x"] = {"text": "y" * 900}
    client.raw(batch(*(member(i, "recall", query="x") for i in range(3))))
    replies = await client.read()
    assert [reply.get("error", {}).get("code") for reply in replies] == [None, None, -32005]


async def test_subscribing_in_a_batch_sends_events_after_the_reply(client: Client, house: House) -> None:
    client.raw(batch(member(1, "events.subscribe"), member(2, "remember", content="a")))
    replies = await client.read()
    assert replies[0]["result"]["seq"] == 0
    assert (await client.read())["params"]["seq"] == 1


async def test_a_member_whose_result_is_no_json_spoils_only_its_own_reply(client: Client, house: House) -> None:
    house.service.results["bad"] = {"text": object()}
    client.raw(batch(member(1, "recall", query="bad"), member(2, "recall", query="good")))
    replies = await client.read()
    assert [reply.get("error", {}).get("code") for reply in replies] == [-32603, None]


async def test_a_batch_waits_until_the_client_has_read_what_the_one_before_it_came_to(house: House) -> None:
    slow, other = await house.connect(), await house.connect()
    slow.stop_reading()
    for number in range(30):
        house.service.results[str(number)] = {"label": "x" * 400_000}
    members = [member(number, "remember", content=str(number)) for number in range(30)]
    for number in range(0, 30, 3):
        slow.raw(batch(*members[number : number + 3]))
    await until(lambda: len(house.service.applied) >= 3)
    for _ in range(20):
        await other.settled()
    assert house.service.applied == ["0", "1", "2"]

    slow.read_on()
    replies = [reply["id"] for _ in range(10) for reply in await slow.read()]
    assert replies == list(range(30))
