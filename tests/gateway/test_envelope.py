"""Bad lines, bad envelopes, bad params: each is answered with what is wrong and the connection goes on."""

import json
from typing import Any

import pytest

from gateway.fakes import NOT_FOUND, Client, House, Open, request
from shelfd.protocol import METHODS

LINES: list[tuple[bytes, int, str]] = [
    (b"garbage", -32700, "ParseError"),
    (b'{"jsonrpc":"2.0","id":1,"method":"recall"', -32700, "ParseError"),
    (b'{"jsonrpc":"2.0","id":1,"method":"rec\xff\xfeall"}', -32700, "ParseError"),
    (b'{"jsonrpc":"2.0","id":1,"method":"recall","params":{"query":"a","min_score":NaN}}', -32700, "ParseError"),
    (b'{"jsonrpc":"2.0","id":1,"method":"recall","params":{"query":"a","min_score":Infinity}}', -32700, "ParseError"),
    (b'{"jsonrpc":"2.0","id":1,"method":"remember","params":{"content":"\\ud800"}}', -32700, "ParseError"),
    (b"\x00", -32700, "ParseError"),
    (b"1", -32600, "InvalidRequest"),
    (b'"recall"', -32600, "InvalidRequest"),
    (b"null", -32600, "InvalidRequest"),
    (b"{}", -32600, "InvalidRequest"),
    (b"[]", -32600, "InvalidRequest"),
]


@pytest.mark.parametrize(("line", "code", "kind"), LINES)
async def test_bad_line_is_answered_with_null_id(client: Client, line: bytes, code: int, kind: str) -> None:
    client.raw(line + b"\n")
    reply = await client.read()
    assert reply["jsonrpc"] == "2.0"
    assert reply["id"] is None
    assert reply["error"]["code"] == code
    assert reply["error"]["data"] == {"type": kind, "retryable": False}
    assert await client.call("system.health") == {"status": "ok"}


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"jsonrpc": "1.0"}, "jsonrpc"),
        ({"jsonrpc": 2}, "jsonrpc"),
        ({"method": 5}, "method"),
        ({"method": None}, "method"),
        ({"params": "x"}, "params"),
        ({"params": None}, "params"),
        ({"params": ["text"]}, "positional"),
    ],
)
async def test_invalid_request_keeps_its_id(client: Client, changed: dict[str, Any], told: str) -> None:
    client.raw(json.dumps({"jsonrpc": "2.0", "id": "abc", "method": "recall", **changed}).encode() + b"\n")
    reply = await client.read()
    assert reply["id"] == "abc"
    assert reply["error"]["code"] == -32600
    assert told in reply["error"]["message"]


@pytest.mark.parametrize("bad_id", ["true", "{}", "[1]", str(2**53 + 1), str(-(2**53) - 1), "1e300", "1e999"])
async def test_bad_id_is_refused(client: Client, bad_id: str) -> None:
    client.raw(f'{{"jsonrpc":"2.0","id":{bad_id},"method":"system.health"}}\n'.encode())
    reply = await client.read()
    assert reply["id"] is None
    assert reply["error"]["code"] == -32600
    assert "id" in reply["error"]["message"]


@pytest.mark.parametrize("good_id", ["null", "0", str(2**53), "1.5", '""', '"é\\u0000"'])
async def test_good_id_comes_back(client: Client, good_id: str) -> None:
    client.raw(f'{{"jsonrpc":"2.0","id":{good_id},"method":"system.health"}}\n'.encode())
    assert (await client.read())["id"] == json.loads(good_id)


def nested(depth: int) -> bytes:
    return b'{"jsonrpc":"2.0","id":1,"method":"system.health","x":' + b"[" * (depth - 1) + b"]" * (depth - 1) + b"}\n"


@pytest.mark.parametrize("depth", [33, 100, 250, 100_000])
async def test_too_deep_json_is_refused(client: Client, depth: int) -> None:
    client.raw(nested(depth))
    reply = await client.read()
    assert reply["id"] is None
    assert reply["error"]["code"] == -32005
    assert reply["error"]["data"] == {"type": "TooLarge", "retryable": False, "field": "json", "limit": 32}


async def test_deep_enough_and_many_brackets_in_text_are_fine(client: Client) -> None:
    client.raw(nested(32))
    assert "result" in await client.read()
    assert await client.call("recall", query="[{" * 200) == {"label": "[{" * 200}


async def test_unknown_method_suggests_near_ones(client: Client) -> None:
    client.send("remembr")
    error = await client.error()
    assert error["code"] == -32601
    assert "remember" in error["data"]["near"]
    assert "remember" in error["message"]
    client.send("x" * 10_000)
    error = await client.error()
    assert error["code"] == -32601
    assert "xx" not in error["message"]


@pytest.mark.parametrize(
    ("params", "code", "field", "reason"),
    [
        ({"content": "x", "colour": "red"}, -32602, "colour", "BAD_ARGS"),
        ({}, -32602, "content", "BAD_ARGS"),
        ({"content": 5}, -32602, "content", "BAD_ARGS"),
        ({"content": "x", "importance": "7"}, -32602, "importance", "BAD_ARGS"),
        ({"content": "x", "tags": ["a", 1]}, -32602, "tags.1", "BAD_ARGS"),
        ({"content": "x", "timeout_ms": 0}, -32602, "timeout_ms", "BAD_ARGS"),
        ({"content": "x", "shelf": "../etc"}, -32602, "shelf", "BAD_ARGS"),
    ],
)
async def test_bad_params_name_the_field(
    client: Client, params: dict[str, Any], code: int, field: str, reason: str
) -> None:
    client.send("remember", **params)
    error = await client.error()
    assert (error["code"], error["data"]["field"], error["data"]["reason"]) == (code, field, reason)
    assert error["data"]["retryable"] is False


async def test_two_spellings_at_once_are_refused_and_one_is_fine(client: Client, house: House) -> None:
    client.send("remember", content="x", sessionId="a", session_id="a")
    error = await client.error()
    assert error["code"] == -32602
    assert "two spellings" in error["message"]
    await client.call("remember", content="x", sessionId="abc")
    assert house.service.calls[0].params.model_dump()["session_id"] == "abc"


@pytest.mark.parametrize(
    ("method", "param", "limit"), [("remember", "content", "content_bytes"), ("recall", "query", "query_bytes")]
)
async def test_configured_limits_hold(open_house: Open, method: str, param: str, limit: str) -> None:
    house = await open_house(**{limit: 100})
    client = await house.connect()
    too_much: dict[str, Any] = {param: "é" * 51}
    client.send(method, **too_much)
    error = await client.error()
    assert error["code"] == -32005
    assert (error["data"]["field"], error["data"]["limit"]) == (param, 100)
    await client.call(method, **{param: "é" * 50})


async def test_errors_of_the_memory_keep_code_type_and_data(client: Client, house: House) -> None:
    house.service.failures["x"] = NOT_FOUND
    client.send("recall", query="x")
    error = await client.error()
    assert error["code"] == -32001
    assert error["data"] == {
        "type": "NoteNotFound", "retryable": False, "id": "note-x", "reason": "NODE_NOT_FOUND",
    }  # fmt: skip


async def test_notifications_get_no_reply_even_when_wrong(client: Client, house: House) -> None:
    client.send("remember", notify=True, content="quiet")
    client.send("remember", notify=True, colour="red")
    client.send("no.such.method", notify=True)
    await client.call("recall", query="x")
    assert house.service.applied == ["quiet"]


async def test_discover_describes_every_method(house: House) -> None:
    client = await house.connect()
    document = await client.call("rpc.discover")
    assert {method["name"] for method in document["methods"]} == set(METHODS)
    assert document["info"]["version"] == "1.2.3"


async def test_own_methods_answer(client: Client) -> None:
    assert await client.call("system.version") == {"version": "1.2.3"}
    assert await client.call("system.metrics") == {"metrics": {}}


async def test_doctor_needs_admin(client: Client) -> None:
    client.send("system.doctor")
    assert (await client.error())["code"] == -32004


async def test_too_large_result_says_what_to_ask_for(open_house: Open) -> None:
    house = await open_house(line_bytes=1000)
    client = await house.connect()
    house.service.results["x"] = {"results": "y" * 1000}
    client.send("recall", query="x")
    error = await client.error()
    assert error["code"] == -32005
    assert error["data"]["limit"] == 1000
    assert " k," in error["message"]
    assert "max_content_chars" in error["message"]
    client.send("remember", content="x")
    assert "change is made" in (await client.error())["message"]


async def test_one_message_in_two_lines_is_two_bad_lines(client: Client) -> None:
    client.raw(request("system.health", 1).replace(b", ", b",\n", 1))
    assert (await client.error())["code"] == -32700
    assert (await client.error())["code"] == -32700
