"""Whatever is sent, the connection goes on."""

import json
import tempfile
from pathlib import Path
from typing import Any

import uvloop
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway.fakes import House, request
from shelfd.protocol import METHODS, Limits

VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
# Methods that answer by themselves, so that a fuzzed line cannot hold up the good one behind it.
NAMES = st.sampled_from([*METHODS, "$/cancel", "nothing", "undo"]) | st.text(max_size=5)
PARAMS = VALUES | st.dictionaries(
    st.sampled_from(["content", "query", "id", "shelf", "nugget", "timeout_ms", "since_seq", "types", "k"]), VALUES
)
ENVELOPE = st.fixed_dictionaries(
    {}, optional={"jsonrpc": st.just("2.0") | VALUES, "id": VALUES, "method": NAMES | VALUES, "params": PARAMS}
)
JSON_LINE = (ENVELOPE | st.lists(ENVELOPE, max_size=3) | VALUES).map(lambda value: json.dumps(value).encode())
CUT_LINE = st.tuples(JSON_LINE, st.integers(0, 60)).map(lambda cut: cut[0][: cut[1]])
GARBAGE = st.lists(JSON_LINE | CUT_LINE | st.binary(max_size=60), max_size=6).map(b"\n".join)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(GARBAGE, min_size=1, max_size=8))
def test_after_any_garbage_a_good_request_is_answered(rounds: list[bytes]) -> None:
    async def run(folder: Path) -> None:
        house = House(folder / "s", Limits(line_bytes=4096))
        await house.open()
        client = await house.connect()
        for number, garbage in enumerate(rounds):
            client.raw(garbage + b"\n" + request("recall", f"good-{number}", query="x"))
            while True:
                reply = await client.read()
                if isinstance(reply, dict) and reply.get("id") == f"good-{number}":
                    break
            assert reply["result"] == {"label": "x"}
        await house.close()

    with tempfile.TemporaryDirectory() as folder:
        uvloop.run(run(Path(folder)))
