"""What the log and the wire say about a request, and what they do not."""

from typing import Any

import pytest
from structlog.testing import capture_logs

from gateway.fakes import Client, House

SECRET = "the colour of the door is green"


async def test_an_internal_error_leaks_nothing(house: House, client: Client) -> None:
    house.service.failures[SECRET] = RuntimeError(f"/srv/private.db: {SECRET}")
    client.send("recall", query=SECRET)
    error = await client.error()
    assert error == {
        "code": -32603,
        "message": "internal error",
        "data": {"type": "InternalError", "retryable": False},
    }
    assert await client.call("system.health") == {"status": "ok"}


async def test_an_internal_error_is_logged_with_its_cause(house: House, client: Client) -> None:
    fault = RuntimeError(SECRET)
    house.service.failures["x"] = fault
    with capture_logs() as lines:
        client.send("recall", query="x")
        await client.error()
    failed = next(line for line in lines if line["event"] == "rpc.failed")
    assert failed["error"] == "RuntimeError"
    assert failed["where"]
    assert SECRET not in repr(lines)
    assert failed["log_level"] == "error"
    assert failed["method"] == "recall"


async def test_an_unserialisable_result_is_an_internal_error(house: House, client: Client) -> None:
    house.service.results["x"] = {"odd": object()}
    client.send("recall", query="x")
    assert (await client.error())["code"] == -32603


async def lines_of(client: Client, method: str, **params: Any) -> list[Any]:
    with capture_logs() as lines:
        client.send(method, **params)
        await client.read()
    return [line for line in lines if line["event"] == "rpc.handled"]


async def test_one_line_per_request_without_params(house: House, client: Client) -> None:
    lines = await lines_of(client, "remember", content=SECRET, shelf="open")
    assert len(lines) == 1
    line = lines[0]
    assert SECRET not in repr(line)
    assert (line["method"], line["shelf"], line["outcome"]) == ("remember", "open", "ok")
    assert line["principal"].startswith("uid:")
    assert line["request_id"] == house.service.calls[0].request_id
    assert line["duration_ms"] == 0.0


@pytest.mark.parametrize(
    ("method", "params", "named", "outcome"),
    [
        ("remember", {"content": 5}, "remember", "InvalidParams -32602"),
        (SECRET, {}, "?", "MethodNotFound -32601"),
        ("remember", {"content": SECRET, "shelf": "private"}, "remember", "Forbidden -32004"),
    ],
)
async def test_refused_requests_are_logged_too(
    client: Client, method: str, params: dict[str, Any], named: str, outcome: str
) -> None:
    lines = await lines_of(client, method, **params)
    assert [(line["method"], line["outcome"]) for line in lines] == [(named, outcome)]
    assert SECRET not in repr(lines)


@pytest.mark.parametrize(
    "line", [SECRET.encode(), b'{"jsonrpc":"2.0","id":7,"method":"remember","params":{"content":"' + SECRET.encode()]
)
async def test_bad_lines_are_not_repeated(client: Client, line: bytes) -> None:
    with capture_logs() as lines:
        client.raw(line + b"\n")
        reply = await client.read()
    assert SECRET not in repr(reply) + repr(lines)


@pytest.mark.parametrize(
    "params", [{"content": "x", "scope": SECRET}, {"content": "x", "nugget": SECRET}, {"content": "x", "turn": SECRET}]
)
async def test_validation_does_not_repeat_values(client: Client, params: dict[str, Any]) -> None:
    client.send("remember", **params)
    assert SECRET not in repr(await client.error())


async def test_counters(house: House, client: Client) -> None:
    await client.call("remember", content="a")
    await client.call("recall", query="a")
    client.send("recall")
    await client.read()
    client.raw(b"garbage\n")
    await client.read()
    counts = house.counters.snapshot()
    assert counts["requests"] == {
        "?": {"ParseError -32700": 1},
        "recall": {"InvalidParams -32602": 1, "ok": 1},
        "remember": {"ok": 1},
    }
    assert (counts["connections_open"], counts["connections_accepted"]) == (1, 1)
