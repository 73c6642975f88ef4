"""Connections: framing, limits, back-pressure, half-close, hang-up."""

import asyncio
import json
from collections.abc import Generator

import pytest

from fakes import until
from gateway.fakes import SOON, Client, House, Open, request
from shelfd.gateway.dispatch import Message
from shelfd.gateway.large import LargeMessages


async def test_lines_may_end_with_crlf_and_blank_ones_are_skipped(client: Client) -> None:
    client.raw(b"\n\r\n  \n" + request("system.health", 1).replace(b"\n", b"\r\n"))
    assert (await client.read())["id"] == 1


async def test_a_line_may_come_in_pieces(client: Client) -> None:
    line = request("recall", 1, query="é" * 50)
    for index in range(len(line)):
        client.raw(line[index : index + 1])
        await client.writer.drain()
    assert (await client.read())["result"] == {"label": "é" * 50}


async def test_too_long_line_is_refused_and_the_next_one_answered(open_house: Open) -> None:
    house = await open_house(line_bytes=200)
    client = await house.connect()
    for filler in (201, 100_000):
        client.raw(b"x" * filler + b"\n")
        reply = await client.read()
        assert reply["id"] is None
        assert reply["error"]["code"] == -32005
        assert reply["error"]["data"] == {"type": "TooLarge", "retryable": False, "field": "line", "limit": 200}
        await client.settled()


async def test_a_line_of_just_the_limit_is_taken(open_house: Open) -> None:
    house = await open_house(line_bytes=200)
    client = await house.connect()
    for end in (b"\n", b"\r\n"):
        client.raw(request("system.health", 1).strip().ljust(200) + end)
        assert "result" in await client.read()


async def test_too_long_line_is_answered_before_its_end(open_house: Open) -> None:
    house = await open_house(line_bytes=200)
    client = await house.connect()
    client.raw(b"x" * 300)
    assert (await client.error())["code"] == -32005
    client.raw(b"x" * 300 + b"\n" + request("system.health", 5))
    assert (await client.read())["id"] == 5


async def test_half_a_line_and_hang_up_does_nothing(house: House) -> None:
    client = await house.connect()
    client.raw(request("remember", 1, content="half").strip())
    client.writer.write_eof()
    assert await client.read_eof() == b""
    assert house.service.begun == []
    await until(lambda: house.counters.connections_open == 0)


async def test_in_flight_requests_are_limited_and_more_wait(open_house: Open) -> None:
    house = await open_house()
    client = await house.connect()
    held = house.service.hold("q")
    for _ in range(100):
        client.send("recall", query="q")
    await until(lambda: len(house.service.calls) == 64)
    other = await house.connect()
    await other.settled()
    assert len(house.service.calls) == 64
    held.release()
    assert {(await client.read())["id"] for _ in range(100)} == set(range(1, 101))


async def test_replies_may_come_out_of_order(client: Client, house: House) -> None:
    held = house.service.hold("slow")
    slow = client.send("recall", query="slow")
    fast = client.send("recall", query="fast")
    assert (await client.read())["id"] == fast
    held.release()
    assert (await client.read())["id"] == slow


async def test_half_close_still_gets_every_reply(open_house: Open) -> None:
    house = await open_house(in_flight_count=2)
    client = await house.connect()
    held = house.service.hold("0")
    for number in range(5):
        client.send("remember", content=str(number))
    client.writer.write_eof()
    await held.reached()
    held.release()
    replies = (await client.read_eof()).splitlines()
    assert [json.loads(reply)["id"] for reply in replies] == [1, 2, 3, 4, 5]
    assert house.service.applied == ["0", "1", "2", "3", "4"]


async def test_after_a_hang_up_changes_go_on_and_reads_end(open_house: Open) -> None:
    house = await open_house(in_flight_count=3)
    client = await house.connect()
    change, read = house.service.hold("change"), house.service.hold("read")
    client.send("recall", query="read")
    client.send("remember", content="change")
    client.send("recall", query="behind the change")
    client.send("remember", notify=True, content="read and not begun")
    client.send("recall", query="read and not begun")
    await read.reached()
    await change.reached()
    client.writer.transport.abort()
    # Without reading on, the server would not see the end before there is room: reads end, and there is.
    change.release()
    read.release()
    await until(lambda: house.counters.connections_open == 0)
    await until(lambda: house.service.applied == ["change", "read and not begun"])


async def test_a_hang_up_ends_a_read(house: House) -> None:
    client = await house.connect()
    held = house.service.hold("read")
    client.send("recall", query="read")
    await held.reached()
    # A reply that nobody takes makes the server notice that the client is gone.
    client.send("system.health")
    client.writer.transport.abort()
    await until(lambda: house.counters.connections_open == 0)
    assert not held.go_on.is_set()
    assert house.counters.requests["recall", "Cancelled -32011"] == 1


async def test_a_slow_reader_is_held_back(house: House) -> None:
    client = await house.connect()
    house.service.results["big"] = {"text": "x" * 100_000}
    client.stop_reading()
    sent = 600

    async def send() -> None:
        for _ in range(sent):
            client.send("recall", query="big")
            await client.writer.drain()

    sending = asyncio.create_task(send())
    # It takes what fits into the buffers, and then nothing more however often others are served.
    other = await house.connect()
    taken = -1
    while taken != len(house.service.calls):
        taken = len(house.service.calls)
        for _ in range(20):
            await other.settled()
    assert taken < 100
    client.read_on()
    for _ in range(sent):
        await client.read()
    await sending
    assert len(house.service.calls) == sent


async def test_half_close_after_unread_replies_ends_when_all_is_read(house: House) -> None:
    client = await house.connect()
    house.service.results["big"] = {"text": "x" * 2_000_000}
    client.stop_reading()
    client.send("recall", query="big")
    other = await house.connect()
    for _ in range(20):
        await other.settled()
    client.send("no.such.method")
    client.writer.write_eof()
    for _ in range(20):
        await other.settled()
    client.read_on()
    assert [json.loads(line)["id"] for line in (await client.read_eof()).splitlines()] == [1, 2]


async def test_one_connection_too_many(open_house: Open) -> None:
    house = await open_house(connections_count=2)
    first, second = await house.connect(), await house.connect()
    await first.settled()
    await second.settled()
    third = await house.connect()
    reply = await third.read()
    assert reply["id"] is None
    assert reply["error"]["code"] == -32003
    assert reply["error"]["data"] == {
        "type": "Unavailable", "retryable": True, "field": "connections", "limit": 2,
    }  # fmt: skip
    assert await third.read_eof() == b""
    first.close()
    await until(lambda: house.counters.connections_open == 1)
    fourth = await house.connect()
    await fourth.settled()
    assert house.counters.connections_refused == 1


async def test_replies_of_one_turn_go_out_together(client: Client) -> None:
    for _ in range(50):
        client.send("system.health")
    async with asyncio.timeout(SOON):
        data = await client.reader.read(2**16)
    assert data.count(b"\n") == 50


def large(label: str) -> bytes:
    """A request that is parsed in several turns, and known by its label."""
    notes = [{"content": "The crane stands still. " * 10, "fields": {"at": number}} for number in range(6_000)]
    padding = json.dumps(notes).encode()
    line = request("remember", 1, content=label, fields={"notes": []})
    return line.replace(b"[]", padding, 1)


async def test_a_large_message_lets_others_have_their_turn(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    turns: list[None] = []
    go_on = LargeMessages._go_on

    def noted(messages: LargeMessages[Message]) -> None:
        turns.append(None)
        go_on(messages)

    monkeypatch.setattr(LargeMessages, "_go_on", noted)
    client, other = await house.connect(), await house.connect()
    client.raw(large("large") + request("system.health", 2) + large("next"))
    await until(lambda: bool(turns))
    other.send("system.health")
    assert "result" in await other.read()
    at_once = len(turns)
    replies = [await client.read() for _ in range(3)]
    assert [reply["id"] for reply in replies] == [1, 2, 1]
    # Both are read as far as to say what is wrong with them: typed fields may not be that large.
    assert [reply.get("error", {}).get("data", {}).get("field") for reply in replies] == ["fields", None, "fields"]
    assert at_once < len(turns) > 6


async def test_large_messages_of_many_are_parsed_one_after_the_other() -> None:
    done: list[str] = []

    def reading(label: str) -> Generator[None, None, str]:
        for _ in range(3):
            done.append(label)
            yield
        return f"{label} is read"

    messages = LargeMessages[str]()
    messages.read(reading("a"), done.append)
    messages.read(reading("b"), lambda read: messages.read(reading(read), done.append))
    await until(lambda: len(done) == 11)
    assert done == [*"aaa", "a is read", *"bbb", *["b is read"] * 3, "b is read is read"]


async def test_a_large_message_is_carried_out_for_who_hangs_up_or_closes_half(open_house: Open) -> None:
    house = await open_house()
    for ends in ("half", "whole"):
        client = await house.connect()
        notes = [{"content": "The crane stands still. " * 20} for _ in range(3_000)]
        client.raw(request("remember_many", 1, notes=notes))
        await client.writer.drain()
        if ends == "half":
            client.writer.write_eof()
            assert json.loads(await client.read_eof())["id"] == 1
        else:
            client.writer.transport.abort()
        await until(lambda: house.counters.connections_open == 0)
    await until(lambda: house.service.applied == ["remember_many"] * 2)


async def test_a_large_message_that_is_no_json_is_refused_as_any_other(client: Client) -> None:
    broken = large("broken").replace(b'{"at": 5000}', b'{"at": 5000')
    client.raw(broken + request("system.health", 2))
    refused = await client.error()
    assert refused["code"] == -32700
    assert str(refused["message"]).startswith("not JSON: ")
    assert (await client.read())["id"] == 2
