"""Taking requests back: by the caller, by deadline."""

from datetime import timedelta
from typing import Any

import pytest

from gateway.fakes import Client, House, Open


async def test_cancelling_a_change_that_has_not_started(client: Client, house: House) -> None:
    first = house.service.hold("first")
    client.send("remember", content="first")
    taken_back = client.send("remember", content="second")
    client.send("remember", content="third")
    await first.reached()
    cancel = client.send("$/cancel", id=taken_back)
    replies = {reply["id"]: reply for reply in [await client.read(), await client.read()]}
    assert replies[taken_back]["error"]["code"] == -32011
    assert replies[taken_back]["error"]["data"] == {"type": "Cancelled", "retryable": False}
    assert replies[cancel]["result"] == {"cancelled": True}
    first.release()
    await client.read()
    await client.read()
    assert house.service.applied == ["first", "third"]


async def test_cancelling_a_started_change_changes_nothing(client: Client, house: House) -> None:
    held = house.service.hold_started("a")
    sent = client.send("remember", content="a")
    await held.reached()
    assert await client.call("$/cancel", id=sent) == {"cancelled": False}
    held.release()
    assert (await client.read())["result"] == {"label": "a"}
    assert house.service.applied == ["a"]


async def test_cancelling_a_read(client: Client, house: House) -> None:
    held = house.service.hold("q")
    sent = client.send("recall", query="q")
    await held.reached()
    client.send("$/cancel", notify=True, id=sent)
    reply = await client.read()
    assert (reply["id"], reply["error"]["code"]) == (sent, -32011)


async def test_cancelling_a_read_that_waits_for_a_change(client: Client, house: House) -> None:
    slow = house.service.hold("slow")
    client.send("remember", content="slow")
    sent = client.send("recall", query="q")
    # In one piece with the cancellation: the read's task has not run its first step.
    client.send("$/cancel", notify=True, id=sent)
    reply = await client.read()
    assert (reply["id"], reply["error"]["code"]) == (sent, -32011)
    slow.release()
    assert "result" in await client.read()
    assert house.service.begun == ["slow"]


@pytest.mark.parametrize("unknown", [99, "1", 1.5])
async def test_cancelling_what_is_not_there(client: Client, unknown: object) -> None:
    assert await client.call("$/cancel", id=unknown) == {"cancelled": False}


@pytest.mark.parametrize("params", [{}, {"id": None}, {"id": [1]}, {"id": 1, "why": "x"}])
async def test_cancel_checks_its_params(client: Client, params: dict[str, Any]) -> None:
    client.send("$/cancel", **params)
    error = await client.error()
    assert (error["code"], error["data"]["field"]) == (-32602, "id")


async def test_a_full_connection_still_takes_a_cancellation(open_house: Open) -> None:
    house = await open_house(in_flight_count=1)
    client = await house.connect()
    held = house.service.hold("q")
    sent = client.send("recall", query="q")
    await held.reached()
    client.send("$/cancel", notify=True, id=sent)
    assert (await client.read())["error"]["code"] == -32011


async def test_a_read_past_its_deadline(client: Client, house: House) -> None:
    held = house.service.hold("q")
    client.send("recall", query="q", timeout_ms=1)
    error = await client.error()
    assert error["code"] == -32009
    assert error["data"] == {"type": "DeadlineExceeded", "retryable": False}
    assert not held.go_on.is_set()


async def test_a_change_past_its_deadline_never_starts(client: Client, house: House) -> None:
    first = house.service.hold("first")
    client.send("remember", content="first")
    client.send("remember", content="late", timeoutMs=1)
    await first.reached()
    assert (await client.error())["code"] == -32009
    first.release()
    assert "result" in await client.read()
    await client.call("recall", query="q")
    assert house.service.applied == ["first"]


async def test_a_change_whose_ticket_finds_the_deadline_passed(client: Client, house: House) -> None:
    held = house.service.hold("late")
    client.send("remember", content="late", timeout_ms=60_000)
    await held.reached()
    house.clock.advance(timedelta(seconds=61))
    held.release()
    assert (await client.error())["code"] == -32009
    assert house.service.applied == []


async def test_a_started_change_outlives_its_deadline(client: Client, house: House) -> None:
    held = house.service.hold_started("a")
    sent = client.send("remember", content="a", timeout_ms=60_000)
    await held.reached()
    lane = next(iter(house.server._connections))._lane
    assert lane is not None
    request = lane.find(sent)
    assert request is not None
    house.dispatcher._expire(request)
    await client.settled()
    held.release()
    assert (await client.read())["result"] == {"label": "a"}


async def test_a_deadline_far_away_is_fine(client: Client) -> None:
    assert await client.call("recall", query="q", timeout_ms=2**53) == {"label": "q"}
