"""The end: what is at work is finished, what is new is refused, and the socket file goes."""

import asyncio
import json
from datetime import timedelta

import pytest

from fakes import until
from gateway.fakes import SOON, House, Open
from shelfd.gateway import Listener
from shelfd.gateway.dispatch import Message
from shelfd.gateway.large import LargeMessages

DRAIN = timedelta(seconds=SOON)


async def test_requests_at_work_are_finished_and_new_ones_refused(house: House) -> None:
    client = await house.connect()
    held = house.service.hold("a")
    client.send("remember", content="a")
    await held.reached()
    stopping = asyncio.create_task(house.server.stop(drain=DRAIN))
    await until(lambda: not house.path.exists())
    client.send("remember", content="b")
    error = await client.error()
    assert error["code"] == -32003
    assert error["data"] == {"type": "ShuttingDown", "retryable": True}
    held.release()
    assert (await client.read())["result"] == {"label": "a"}
    assert await client.read_eof() == b""
    await stopping
    assert house.service.applied == ["a"]


async def test_a_large_message_that_is_being_read_is_answered(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    begun = asyncio.Event()
    go_on = LargeMessages._go_on

    def noted(messages: LargeMessages[Message]) -> None:
        begun.set()
        go_on(messages)

    monkeypatch.setattr(LargeMessages, "_go_on", noted)
    client = await house.connect()
    client.send("remember_many", notes=[{"content": "The crane stands still. " * 20} for _ in range(4_000)])
    await begun.wait()
    stopping = asyncio.create_task(house.server.stop(drain=timedelta(minutes=5)))
    assert (await client.error())["data"]["type"] == "ShuttingDown"
    assert await client.read_eof() == b""
    await asyncio.wait_for(stopping, SOON)
    assert house.service.applied == []


async def test_what_has_not_happened_in_time_is_refused(house: House) -> None:
    client = await house.connect()
    started, queued = house.service.hold_started("started"), house.service.hold("queued")
    reading = house.service.hold("q")
    client.send("recall", query="q")
    client.send("remember", content="started")
    client.send("remember", content="queued")
    await started.reached()
    await reading.reached()
    await house.server.stop(drain=timedelta(0))
    lines = (await client.read_eof()).splitlines()
    assert len(lines) == 2
    assert all(b"ShuttingDown" in line for line in lines)
    started.release()
    queued.release()
    await until(lambda: house.service.applied == ["started"])


async def test_a_change_that_was_started_in_time_is_answered_with_its_result(house: House) -> None:
    client = await house.connect()
    started = house.service.hold_started("started")
    first = {"jsonrpc": "2.0", "id": 1, "method": "remember", "params": {"content": "first"}}
    members = [first, {**first, "id": 2, "params": {"content": "started"}}, {**first, "id": 3}]
    client.raw(json.dumps(members).encode() + b"\n")
    await started.reached()
    stopping = asyncio.create_task(house.server.stop(drain=timedelta(0)))
    await until(lambda: any("ShuttingDown" in outcome for _, outcome in house.counters.requests))
    started.release()
    replies = await client.read()
    await stopping

    assert ["result" in reply for reply in replies] == [True, True, False]
    assert house.service.applied == ["first", "started"]


async def test_a_reader_that_takes_nothing_does_not_hold_up_the_end(house: House) -> None:
    client = await house.connect()
    house.service.results["big"] = {"text": "x" * 4_000_000}
    client.send("recall", query="big")
    await until(lambda: house.counters.requests["recall", "ok"] == 1)
    await house.server.stop(drain=timedelta(milliseconds=10))
    assert house.counters.connections_open == 0


async def test_an_idle_connection_is_closed(house: House) -> None:
    client = await house.connect()
    await client.settled()
    await house.server.stop(drain=DRAIN)
    assert await client.read_eof() == b""
    await house.server.stop(drain=DRAIN)


async def test_changes_of_a_client_that_is_gone_are_waited_for(house: House) -> None:
    client = await house.connect()
    held = house.service.hold("a")
    client.send("remember", content="a")
    await held.reached()
    client.close()
    await until(lambda: house.counters.connections_open == 0 or client.writer.transport.is_closing())
    stopping = asyncio.create_task(house.server.stop(drain=DRAIN))
    await until(lambda: not house.path.exists())
    assert not stopping.done()
    held.release()
    await stopping
    assert house.service.applied == ["a"]


async def test_another_servers_socket_file_is_left_alone(open_house: Open) -> None:
    house = await open_house()
    house.path.unlink()
    newer = Listener.bind(house.path, mode=0o600)
    await house.server.stop(drain=DRAIN)
    assert house.path.exists()
    newer.listening.close()
    newer.remove_file()
    assert not house.path.exists()
    newer.remove_file()
