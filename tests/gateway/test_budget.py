"""What callers share: bytes held for slow readers and long lines, connections, requests at work."""

import asyncio
import gc
import json
import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import uvloop

from fakes import memory, until
from gateway.fakes import Client, House, Open, opener, request
from shelfd.gateway import connection as connection_module
from shelfd.gateway import lines as lines_module
from shelfd.gateway.budget import OWN_BYTES, Account, Budget
from shelfd.protocol import Limits

MIB = 1024 * 1024
LINE = 4 * MIB


@pytest.fixture
def as_principals(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Let connections that are made from now on be those of a user."""

    def as_(uid: int) -> None:
        monkeypatch.setattr(connection_module, "peer", lambda _socket: (1, uid))

    return as_


@pytest.fixture
def without_collector() -> Iterator[None]:
    """Memory is to come back by itself, without the garbage collector."""
    gc.collect()
    gc.disable()
    tracemalloc.start()
    try:
        yield
    finally:
        tracemalloc.stop()
        gc.enable()


def big(house: House, label: str = "big", size: int = LINE - 1000) -> None:
    house.service.results[label] = {"text": "x" * size}


async def idle(house: House, client: Client) -> None:
    """Let others have their turns until nothing more comes about."""
    seen = -1
    while seen != len(house.service.read):
        seen = len(house.service.read)
        for _ in range(20):
            await client.settled()


# ---------------------------------------------------------------------- what a connection leaves behind


async def gone(house: House) -> None:
    await until(lambda: house.counters.connections_open == 0 and not house.server._connections)


async def hang_ups(folder: Any, send: Callable[[Client], None]) -> int:
    """Return the bytes that eight connections leave behind which sent something and hung up."""
    async with opener(folder) as open_:
        house = await open_()
        house.service.failures["fails"] = RuntimeError("gone")
        before = 0
        for number in range(10):
            client = await house.connect()
            send(client)
            client.writer.write_eof()
            await client.read_eof()
            client.close()
            await gone(house)
            house.clients.clear()
            house.service.calls.clear()
            house.service.begun.clear()
            del client
            if number == 1:
                before = tracemalloc.get_traced_memory()[0]
        return tracemalloc.get_traced_memory()[0] - before


SENT: dict[str, Callable[[Client], None]] = {
    "half a line": lambda client: client.raw(b"x" * MIB),
    "a line that is no JSON": lambda client: client.raw(b"x" * MIB + b"\n"),
    "a change": lambda client: client.raw(request("remember_many", 1, notes=[{"content": "x" * 250_000}] * 4)),
    "a foreign shelf": lambda client: client.raw(
        request("remember_many", 1, shelf="foreign", notes=[{"content": "x" * 250_000}] * 4)
    ),
    "wrong params": lambda client: client.raw(request("remember_many", 1, bogus="x" * MIB)),
    "a batch": lambda client: client.raw(b"[" + request("recall", 1, query="q", bogus="x" * MIB).strip() + b"]\n"),
    "a deadline": lambda client: client.raw(
        request("remember_many", 1, notes=[{"content": "x" * 250_000}] * 4, timeout_ms=60_000)
    ),
    "a fault of ours": lambda client: client.raw(request("recall", 1, query="fails")),
}


@pytest.mark.parametrize("what", SENT)
@pytest.mark.parametrize("run", [asyncio.run, uvloop.run], ids=["asyncio", "uvloop"])
@pytest.mark.usefixtures("without_collector")
def test_a_connection_that_ends_leaves_nothing_behind(tmp_path: Any, run: Callable[..., int], what: str) -> None:
    assert run(hang_ups(tmp_path, SENT[what])) < MIB


NOTES = [{"content": "x" * 250_000}] * 8


@pytest.mark.parametrize(
    "params",
    [
        {"shelf": "nowhere", "notes": NOTES},
        {"notes": [*NOTES, {"content": "x", "links": [{"to": "note-x"}]}], "atomic": True},
    ],
)
@pytest.mark.usefixtures("without_collector")
async def test_a_request_that_is_refused_leaves_nothing_behind(open_house: Open, params: dict[str, Any]) -> None:
    async with memory() as api:
        client = await (await open_house(memory=api.service)).connect()
        before = 0
        for number in range(6):
            await client.writer.drain()
            client.send("remember_many", **params)
            reply = await client.read()
            assert "error" in reply or reply["result"]["rejected"]
            if number == 1:
                before = tracemalloc.get_traced_memory()[0]
        assert tracemalloc.get_traced_memory()[0] - before < 2 * MIB


# ---------------------------------------------------------------------- replies that nobody reads


async def test_requests_after_unread_replies_are_not_carried_out(open_house: Open) -> None:
    house = await open_house(line_bytes=LINE)
    big(house)
    held = house.service.hold("big")
    slow, other = await house.connect(), await house.connect()
    slow.stop_reading()
    for _ in range(50):
        slow.send("recall", query="big")
    await until(lambda: house.service.begun.count("big") == 50)
    held.release()
    await idle(house, other)
    assert len(house.service.read) == 1
    slow.read_on()
    for _ in range(50):
        await slow.read()
    assert len(house.service.read) == 50


async def test_many_that_do_not_read_hold_no_more_than_the_budget_and_others_go_on(open_house: Open) -> None:
    house = await open_house(line_bytes=LINE, buffer_bytes=32 * MIB)
    big(house)
    hogs = [await house.connect() for _ in range(20)]
    for hog in hogs:
        hog.stop_reading()
        for _ in range(10):
            hog.send("recall", query="big")
    other = await house.connect()
    await idle(house, other)
    assert 0 < house.server._budget.free < 20 * MIB
    assert await other.call("recall", query="small") == {"label": "small"}
    other.send("recall", query="big")
    error = await other.error()
    assert (error["code"], error["data"]) == (
        -32003,
        {"type": "Unavailable", "retryable": True, "field": "result"},
    )
    for hog in hogs:
        hog.close()
    await until(lambda: house.counters.connections_open == 1)
    await until(lambda: house.server._budget.free == 32 * MIB)
    assert await other.call("recall", query="big") == house.service.results["big"]


async def test_one_principal_leaves_room_for_another(open_house: Open, as_principals: Callable[[int], None]) -> None:
    house = await open_house(line_bytes=LINE, buffer_bytes=32 * MIB)
    big(house)
    as_principals(1)
    for _ in range(10):
        hog = await house.connect()
        hog.stop_reading()
        hog.send("recall", query="big")
    as_principals(2)
    other = await house.connect()
    await idle(house, other)
    assert await other.call("recall", query="big") == house.service.results["big"]


async def test_replies_of_a_batch_count_while_they_wait_for_each_other(open_house: Open) -> None:
    house = await open_house(line_bytes=LINE, buffer_bytes=32 * MIB)
    big(house, "part", MIB)
    held = house.service.hold("last")
    client = await house.connect()
    members = [json.loads(request("recall", number, query="part")) for number in range(3)]
    client.raw(json.dumps([*members, json.loads(request("recall", 9, query="last"))]).encode() + b"\n")
    await held.reached()
    assert house.server._budget.free < 30 * MIB
    held.release()
    assert [reply["id"] for reply in await client.read()] == [0, 1, 2, 9]
    await until(lambda: house.server._budget.free == 32 * MIB)


async def test_a_read_that_is_taken_back_gives_its_place_to_the_next(open_house: Open) -> None:
    house = await open_house(line_bytes=LINE)
    big(house)
    client, other = await house.connect(), await house.connect()
    client.stop_reading()
    held = house.service.hold("big")
    ids = [client.send("recall", query="big") for _ in range(3)]
    client.send("recall", query="next")
    await until(lambda: house.service.begun.count("big") == 3)
    held.release()
    await idle(house, other)
    client.raw(request("$/cancel", 99, id=ids[1]) + request("$/cancel", 98, id=ids[2]))
    client.read_on()
    replies = {reply["id"]: reply for reply in [await client.read() for _ in range(6)]}
    assert "result" in replies[ids[0]]
    assert replies[ids[2] + 1]["result"] == {"label": "next"}


# ---------------------------------------------------------------------- long lines


def long_line(number: int, size: int = LINE - 1000) -> bytes:
    """A request of nearly *size* bytes, with blanks that JSON allows."""
    return request("system.health", number).replace(b"\n", b" " * (size - 100) + b"\n")


async def sent(client: Client, data: bytes) -> None:
    client.raw(data)
    await client.writer.drain()


async def test_long_lines_beyond_the_budget_wait_for_each_other(open_house: Open) -> None:
    house = await open_house(line_bytes=LINE, buffer_bytes=2 * LINE)  # half of it for one principal: one long line
    clients = [await house.connect() for _ in range(4)]
    other = await house.connect()
    sending = [asyncio.create_task(sent(client, long_line(1)[: 3 * MIB])) for client in clients]
    await sending[0]
    await until(lambda: house.server._budget.is_wanted)
    for _ in range(50):
        await other.settled()
    assert house.server._budget.free >= 0
    rest = [asyncio.create_task(sent(client, long_line(1)[3 * MIB :])) for client in clients]
    for client in clients:
        assert (await client.read())["result"] == {"status": "ok"}
    await asyncio.gather(*sending, *rest)
    await until(lambda: house.server._budget.free == 2 * LINE)


async def test_a_long_line_that_does_not_end_makes_room_for_those_that_wait(
    open_house: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    house = await open_house(line_bytes=LINE, buffer_bytes=2 * LINE)
    stalled, other = await house.connect(), await house.connect()
    await sent(stalled, b" " * 2 * MIB)
    await until(lambda: house.server._budget.free < 2 * LINE)
    monkeypatch.setattr(lines_module, "LARGE_LINE_S", 0.01)
    lines = next(c for c in house.server._connections if c._lines._timer is not None)._lines
    sending = asyncio.create_task(sent(other, long_line(1)))
    await until(lambda: house.server._budget.is_wanted)
    lines._look()
    error = await stalled.error()
    assert (error["code"], error["data"]["retryable"], error["data"]["field"]) == (-32003, True, "line")
    reply = await other.read()
    assert reply.get("result") == {"status": "ok"} or reply["error"]["code"] == -32003
    await sending
    stalled.raw(b" " * MIB + b"\n" + request("system.health", 7))
    assert (await stalled.read())["id"] == 7


async def test_a_long_line_for_which_there_is_no_room_is_refused_in_the_end(
    open_house: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines_module, "LARGE_LINE_S", 0.01)
    house = await open_house(line_bytes=LINE, buffer_bytes=LINE)  # half of it is less than a line
    client = await house.connect()
    sending = asyncio.create_task(sent(client, long_line(1) + request("system.health", 2)))
    assert (await client.error())["data"]["type"] == "Unavailable"
    assert (await client.read())["id"] == 2
    await sending


async def test_a_long_line_at_work_counts_until_it_is_done(open_house: Open) -> None:
    house = await open_house(line_bytes=LINE, buffer_bytes=32 * MIB)
    client = await house.connect()
    held = house.service.hold("remember_many")
    client.raw(request("remember_many", 1, notes=[{"content": "x" * 200_000}] * 15))
    await held.reached()
    assert house.server._budget.free < 31 * MIB
    held.release()
    assert "result" in await client.read()
    await until(lambda: house.server._budget.free == 32 * MIB)


def test_an_account_takes_from_the_budget_what_is_beyond_its_own() -> None:
    budget = Budget(Limits(buffer_bytes=100))
    first, second = Account(budget, budget.share("uid:1")), Account(budget, budget.share("uid:2"))
    assert first.fits(OWN_BYTES + 50)
    assert not first.fits(OWN_BYTES + 51)
    first.hold(OWN_BYTES)
    assert (budget.free, first.fits(50), first.fits(51)) == (100, True, False)
    first.hold(50)
    second.hold(OWN_BYTES)
    assert (budget.free, first.fits(1), second.fits(25), second.fits(26)) == (50, False, True, False)
    found: list[int] = []
    budget.wait(first, 10, lambda: found.append(1))
    budget.wait(second, 30, lambda: found.append(2))
    first.hold(-20)
    assert (found, budget.is_wanted) == ([1, 2], False)
    first.hold(-OWN_BYTES - 30)
    second.hold(-OWN_BYTES)
    assert (budget.free, first.held, second.held) == (100, 0, 0)


# ---------------------------------------------------------------------- connections and requests of one principal


async def test_one_principal_cannot_take_all_connections(
    open_house: Open, as_principals: Callable[[int], None]
) -> None:
    house = await open_house(principal_connections_count=2)
    as_principals(4711)
    first, second = await house.connect(), await house.connect()
    await first.settled()
    await second.settled()
    third = await house.connect()
    reply = await third.read()
    assert reply["id"] is None
    assert reply["error"]["code"] == -32010
    assert reply["error"]["data"] == {
        "type": "QuotaExceeded", "retryable": False, "field": "connections", "limit": 2,
    }  # fmt: skip
    assert await third.read_eof() == b""
    as_principals(4712)
    other = await house.connect()
    await other.settled()
    first.close()
    await until(lambda: house.counters.connections_open == 2)
    as_principals(4711)
    fourth = await house.connect()
    await fourth.settled()
    assert house.counters.connections_refused == 1


async def test_requests_of_one_principal_wait_for_each_other_on_all_its_connections(
    open_house: Open, as_principals: Callable[[int], None]
) -> None:
    house = await open_house(principal_requests_count=3)
    as_principals(4711)
    first, second = await house.connect(), await house.connect()
    held = house.service.hold("slow")
    for client in (first, second):
        for _ in range(4):
            client.send("recall", query="slow")
    await until(lambda: len(house.service.begun) == 3)
    second.raw(request("$/cancel", 99, id=1234))  # a cancellation after requests that wait is taken in its turn
    as_principals(4712)
    other = await house.connect()
    assert await other.call("recall", query="fast") == {"label": "fast"}
    assert house.service.begun.count("slow") == 3
    held.release()
    assert {(await first.read())["id"] for _ in range(4)} == {1, 2, 3, 4}
    assert {(await second.read())["id"] for _ in range(5)} == {1, 2, 3, 4, 99}


async def test_who_waited_and_went_keeps_no_place(open_house: Open) -> None:
    house = await open_house(principal_requests_count=1)
    first, gone_, last = [await house.connect() for _ in range(3)]
    held = house.service.hold("slow")
    first.send("recall", query="slow")
    await held.reached()
    for client, query in ((gone_, "went"), (last, "last")):
        client.send("recall", query=query)
        await client.writer.drain()
    await until(lambda: sum(len(share.waiting) for share in house.server._budget._shares.values()) == 2)
    gone_.writer.transport.abort()
    held.release()
    assert (await first.read())["id"] == 1
    assert (await last.read())["result"] == {"label": "last"}


async def test_a_client_that_does_not_read_holds_up_no_other_of_its_principal(open_house: Open) -> None:
    house = await open_house(line_bytes=LINE, principal_requests_count=8)
    big(house)
    held = house.service.hold("big")
    slow, other = await house.connect(), await house.connect()
    slow.stop_reading()
    for _ in range(8):
        slow.send("recall", query="big")
    await until(lambda: house.service.begun.count("big") == 8)
    held.release()
    await until(lambda: len(house.service.read) == 1)
    assert await other.call("recall", query="small") == {"label": "small"}


async def test_a_principal_that_is_gone_leaves_no_share(open_house: Open, as_principals: Callable[[int], None]) -> None:
    house = await open_house()
    for uid in range(10):
        as_principals(uid)
        client = await house.connect()
        await client.settled()
        client.close()
    await until(lambda: not house.server._budget._shares)
