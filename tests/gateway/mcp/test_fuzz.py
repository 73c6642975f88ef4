"""Whatever an MCP client sends, each request is answered once, none by a fault of ours, and the session goes on."""

import asyncio
import json
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from structlog.testing import capture_logs

from fakes import memory
from gateway.fakes import Client, opener
from shelfd.gateway.envelope import MCP_METHODS
from shelfd.gateway.mcp import tools
from shelfd.gateway.mcp.options import OPTIONS

_NAMES = [tool["name"] for name in tools.TOOLSETS for tool in tools.listed(name)]
_VERSION = "io.modelcontextprotocol/protocolVersion"
_LEAF = st.one_of(
    st.none(), st.booleans(), st.integers(-2, 2**54), st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=8), st.sampled_from(["memory://notes/x", "memory://nuggets/memory", "memory://knowledge-graph"]),
)  # fmt: skip
_JSON = st.recursive(
    _LEAF,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=4), inner, max_size=3)),
    max_leaves=6,
)
_META = st.one_of(
    st.none(),
    _JSON,
    st.fixed_dictionaries(
        {},
        optional={
            _VERSION: st.sampled_from(["2026-07-28", "x", 7]),
            OPTIONS: st.one_of(_JSON, st.fixed_dictionaries({"tools": st.lists(st.sampled_from(tools.TOOLSETS))})),
            "progressToken": _LEAF,
        },
    ),
)
_PARAMS = st.fixed_dictionaries(
    {},
    optional={
        "_meta": _META,
        "name": st.one_of(st.sampled_from(_NAMES), _JSON),
        "arguments": st.one_of(_JSON, st.dictionaries(st.sampled_from(["query", "content", "id", "entities"]), _JSON)),
        "uri": _JSON,
        "cursor": _JSON,
        "level": _JSON,
        "notifications": st.one_of(_JSON, st.fixed_dictionaries({"resourceSubscriptions": _JSON})),
        "requestId": _LEAF,
        "protocolVersion": _JSON,
    },
)
_MESSAGE = st.tuples(st.sampled_from(sorted(MCP_METHODS)), st.one_of(_PARAMS, _PARAMS, _JSON), st.booleans())


@settings(max_examples=12, deadline=None)
@given(st.lists(_MESSAGE, max_size=12))
def test_whatever_is_sent_is_answered(sent: list[tuple[str, Any, bool]]) -> None:
    with tempfile.TemporaryDirectory() as folder, capture_logs() as lines:
        asyncio.run(_talk(Path(folder), sent))
    assert not [line for line in lines if line["event"] == "rpc.failed"]


async def _talk(folder: Path, sent: list[tuple[str, Any, bool]]) -> None:
    async with memory() as api, opener(folder) as open_:
        client: Client = await (await open_(memory=api.service)).connect()
        assert await client.call("ping") == {}
        asked = set()
        for number, (method, params, is_request) in enumerate(sent, 100):
            # What is open until it is cancelled, or is cancelled, need not be answered.
            if is_request and method not in ("subscriptions/listen", "notifications/cancelled"):
                asked.add(number)
            message = {"jsonrpc": "2.0", "method": method, "params": params} | ({"id": number} if is_request else {})
            client.raw(json.dumps(message).encode() + b"\n")
        cancelled = {params.get("requestId") for _, params, _ in sent if isinstance(params, dict) if _is_id(params)}
        answers: list[int] = []
        last = client.send("ping")
        while not (asked - cancelled <= set(answers)) or last not in answers:
            message = await client.read()
            if "id" in message:
                answers.append(message["id"])
        known = [one for one in answers if one is not None]
        assert len(known) == len(set(known))


def _is_id(params: dict[str, Any]) -> bool:
    return isinstance(params.get("requestId"), int)
