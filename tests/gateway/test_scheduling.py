"""What the daemon does by itself, asked for through the gateway."""

import asyncio
from typing import Any

import pytest

from fakes import FakeClock
from gateway.fakes import Client, FakeService, FakeSystem, House, request
from shelfd.gateway import Dispatcher, Lane, Reply
from shelfd.gateway.envelope import Envelope
from shelfd.protocol import Limits


async def test_the_scheduler_is_asked(client: Client) -> None:
    assert await client.call("scheduler.jobs") == {"jobs": ["default"]}
    assert await client.call("scheduler.history", job="reflection", limit=7) == {"runs": ["reflection", 7]}
    answer = await client.call("scheduler.run", job="reflection", idempotency_key="k")
    assert answer["run_id"].startswith("run-reflection-for-uid:")


@pytest.mark.parametrize(
    ("method", "params"), [("scheduler.jobs", {}), ("scheduler.run", {"job": "reflection"}), ("scheduler.history", {})]
)
async def test_only_who_may_use_the_shelf_is_answered(client: Client, method: str, params: dict[str, Any]) -> None:
    client.send(method, shelf="theirs", **params)
    assert (await client.error())["code"] == -32004


@pytest.mark.parametrize(
    ("method", "params", "field"),
    [
        ("scheduler.run", {}, "job"),
        ("scheduler.run", {"job": "Reflection!"}, "job"),
        ("scheduler.run", {"job": "reflection", "min_seq": 1}, "min_seq"),
        ("scheduler.history", {"limit": 0}, "limit"),
        ("scheduler.jobs", {"job": "reflection"}, "job"),
    ],
)
async def test_bad_params(client: Client, method: str, params: dict[str, Any], field: str) -> None:
    client.send(method, **params)
    error = await client.error()
    assert (error["code"], error["data"]["field"]) == (-32602, field)


async def test_an_answer_waits_for_the_changes_sent_before_it(client: Client, house: House) -> None:
    held = house.service.hold("first")
    first = client.send("remember", content="first")
    told = client.send("scheduler.history")
    await held.reached()
    held.release()
    assert [(await client.read())["id"] for _ in range(2)] == [first, told]


async def test_a_daemon_without_a_scheduler_says_so() -> None:
    dispatcher = Dispatcher(FakeService(), FakeSystem(), clock=FakeClock(), limits=Limits())
    replies: list[Reply] = []
    over = asyncio.Event()

    def send(reply: Reply) -> Reply:
        replies.append(reply)
        return reply

    message = dispatcher.read(request("scheduler.jobs", 1).strip())
    assert isinstance(message, Envelope)
    dispatcher.start(message, Lane("uid:1", "t"), send, over.set)
    async with asyncio.timeout(10):
        await over.wait()
    (reply,) = replies
    assert reply.error is not None
    assert (reply.error["code"], reply.error["data"]["reason"]) == (-32602, "NOT_AVAILABLE")


async def test_a_change_after_a_requested_run_waits_for_it(client: Client, house: House) -> None:
    client.raw(request("scheduler.run", 1, job="reflection") + request("remember", 2, content="x"))
    assert [(await client.read())["id"] for _ in range(2)] == [1, 2]
