"""A long reply is read as a short one is, whatever the program has loaded."""

import json
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shelfd.client.failure import ProtocolError
from shelfd.client.transport import decode

LONG = 20_000
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def line(value: Any) -> bytes:
    return json.dumps({"id": 1, "filled": "x" * LONG, "result": value}).encode() + b"\n"


@pytest.fixture(params=["with pydantic", "without"])
def loaded(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "pydantic_core" in sys.modules
    if request.param == "without":
        monkeypatch.delitem(sys.modules, "pydantic_core")


@given(values)
def test_a_long_reply_is_what_json_says(value: Any) -> None:
    assert json.dumps(decode(line(value))) == json.dumps(json.loads(line(value)))


@pytest.mark.usefixtures("loaded")
def test_what_is_nested_deeply_or_large_is_read() -> None:
    nested: Any = []
    for _ in range(400):
        nested = [nested]
    for value in (nested, 10**30, -0.0, 1e-320, "\ud800", "\u0000", [0.1, 1e22]):
        assert json.dumps(decode(line(value))["result"]) == json.dumps(value)


@pytest.mark.usefixtures("loaded")
@pytest.mark.parametrize("garbage", [b"x", b"[", b"\xff", b'{"a": ', b"[1]"])
def test_what_is_no_reply_is_refused(garbage: bytes) -> None:
    for sent in (garbage, garbage + b" " * LONG):
        with pytest.raises(ProtocolError):
            decode(sent)
