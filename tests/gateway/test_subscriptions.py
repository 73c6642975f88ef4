"""Event subscriptions."""

from typing import Any

from fakes import until
from gateway.fakes import Client, House, Open
from shelfd.gateway.subscriptions import LAG_CHANGES, SLICE_EVENTS


async def event(client: Client) -> dict[str, Any]:
    message = await client.read()
    assert message["method"] == "event"
    assert message["jsonrpc"] == "2.0"
    assert "id" not in message
    params: dict[str, Any] = message["params"]
    return params


async def test_events_come_after_the_reply_in_order(client: Client, house: House) -> None:
    house.service.default.apply("old")
    subscribed = await client.call("events.subscribe")
    assert subscribed["seq"] == 1
    house.service.default.apply("a", "b")
    house.service.default.apply("c")
    events = [await event(client) for _ in range(3)]
    assert [e["seq"] for e in events] == [2, 3, 4]
    assert [e["prev_seq"] for e in events] == [0, 2, 3]
    assert house.counters.events_sent == 3


async def test_since_seq_begins_in_the_past(client: Client, house: House) -> None:
    house.service.default.apply(*(str(i) for i in range(3 * SLICE_EVENTS)))
    sent = client.send("events.subscribe", since_seq=5)
    reply = await client.read()
    assert (reply["id"], reply["result"]["seq"]) == (sent, 5)
    for seq in range(6, 3 * SLICE_EVENTS + 1):
        received = await event(client)
        assert (received["seq"], received["prev_seq"]) == (seq, seq - 1)
    house.service.default.apply("new")
    assert (await event(client))["seq"] == 3 * SLICE_EVENTS + 1


async def test_types_and_nugget_are_filtered(client: Client, house: House) -> None:
    shelf = house.service.default
    await client.call("events.subscribe", types=["note.*", "link.added"], nugget="Memory")
    shelf.apply("1")
    shelf.apply("2", nugget="other")
    shelf.apply("3", kind="link.removed")
    shelf.apply("4", kind="link.added")
    shelf.apply("5", kind="note.hidden")
    shelf.apply("6", kind="session.opened", nugget=None)
    shelf.apply("7")
    events = [await event(client) for _ in range(4)]
    assert [e["seq"] for e in events] == [1, 4, 5, 7]
    assert [e["prev_seq"] for e in events] == [0, 1, 4, 5]


async def test_unsubscribing_twice_is_fine(client: Client, house: House) -> None:
    name = (await client.call("events.subscribe"))["subscription"]
    house.service.default.apply("a")
    await event(client)
    assert await client.call("events.unsubscribe", subscription=name) == {"removed": True}
    assert await client.call("events.unsubscribe", subscription=name) == {"removed": False}
    house.service.default.apply("b")
    await client.settled()
    assert house.service.default.followers == 0


async def test_subscriptions_end_with_the_connection(house: House) -> None:
    client = await house.connect()
    await client.call("events.subscribe")
    await client.call("events.subscribe")
    assert house.counters.subscriptions_open == 2
    client.close()
    await until(lambda: house.service.default.followers == 0)
    assert house.counters.subscriptions_open == 0


async def test_subscriptions_are_limited(open_house: Open) -> None:
    house = await open_house(subscriptions_count=1)
    client = await house.connect()
    name = (await client.call("events.subscribe"))["subscription"]
    client.send("events.subscribe")
    error = await client.error()
    assert error["code"] == -32010
    assert error["data"] == {"type": "QuotaExceeded", "retryable": False, "field": "subscriptions", "limit": 1}
    await client.call("events.unsubscribe", subscription=name)
    await client.call("events.subscribe")


async def test_positions_the_log_does_not_have(client: Client, house: House) -> None:
    house.service.default.apply("a", "b", "c")
    client.send("events.subscribe", since_seq=4)
    error = await client.error()
    assert (error["code"], error["data"]["field"], error["data"]["limit"]) == (-32602, "since_seq", 3)
    house.service.default.first_seq = 3
    client.send("events.subscribe", since_seq=0)
    assert (await client.error())["code"] == -32013
    await client.call("events.subscribe", since_seq=2)


async def test_unknown_shelf(client: Client) -> None:
    client.send("events.subscribe", shelf="nowhere")
    assert (await client.error())["code"] == -32004


async def test_an_own_change_is_answered_and_published(client: Client) -> None:
    await client.call("events.subscribe")
    client.send("remember", content="x")
    messages = [await client.read() for _ in range(2)]
    assert {message.get("method") for message in messages} == {None, "event"}


async def test_a_slow_subscriber_is_dropped_and_can_resume(house: House) -> None:
    client, shelf = await house.connect(), house.service.default
    name = (await client.call("events.subscribe"))["subscription"]
    # The client does not read: first the buffers fill, then the subscription falls behind.
    client.stop_reading()
    other = await house.connect()
    while shelf.followers:
        shelf.apply(*("x" * 2000 for _ in range(LAG_CHANGES // 8)))
        await other.settled()
    assert house.counters.subscribers_lagged == 1
    behind = shelf.seq
    client.read_on()
    last = 0
    while (message := await client.read())["method"] == "event":
        assert message["params"]["seq"] == last + 1
        last += 1
    assert message["method"] == "events.lagged"
    assert message["params"] == {"subscription": name, "seq": last}
    assert last < behind
    assert (await client.call("events.subscribe", since_seq=last))["seq"] == last
    for seq in range(last + 1, behind + 1):
        received = await event(client)
        assert (received["seq"], received["prev_seq"]) == (seq, seq - 1)


async def test_a_reader_that_keeps_up_is_not_dropped_by_a_burst(house: House) -> None:
    client, shelf = await house.connect(), house.service.default
    await client.call("events.subscribe")
    burst = 4 * LAG_CHANGES
    shelf.apply(*("x" * 500 for _ in range(burst)))
    for seq in range(1, burst + 1):
        assert (await event(client))["seq"] == seq


async def test_a_log_trimmed_under_a_subscription_ends_it(client: Client, house: House) -> None:
    shelf = house.service.default
    name = (await client.call("events.subscribe"))["subscription"]
    shelf.log += [("note.created", "memory", "unseen")] * 5
    shelf.first_seq = 5
    shelf.apply("a")
    message = await client.read()
    assert message["method"] == "events.lagged"
    assert message["params"] == {"subscription": name, "seq": 0}


async def test_large_events_are_held_back_one_by_one(house: House, client: Client) -> None:
    await client.call("events.subscribe")
    await client.settled()
    client.stop_reading()
    house.service.default.apply(*(f"{number:03}" + "x" * 250_000 for number in range(64)))
    other = await house.connect()
    for _ in range(20):
        await other.settled()
    assert 0 < house.counters.events_sent < 8
    client.read_on()
    seqs = [(await client.read())["params"]["seq"] for _ in range(64)]
    assert seqs == list(range(1, 65))
