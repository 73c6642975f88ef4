"""Large messages that are parsed in several turns: what the parser says of the whole, and nobody waits long."""

import json
import random
import string
import tracemalloc
from collections.abc import Callable, Generator
from time import thread_time
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic_core import from_json

from shelfd.gateway import slices
from shelfd.gateway.envelope import Refusal, parse, parse_in_turns
from shelfd.protocol import Limits

LIMITS = Limits()
DEPTH = LIMITS.json_depth


def ended(turns: Generator[None, None, Any]) -> Any:
    while True:
        try:
            next(turns)
        except StopIteration as stop:
            return stop.value


def said(data: bytes) -> object:
    """What is read of a message in turns: its value or its refusal."""
    try:
        return ended(parse_in_turns(data, LIMITS))
    except Refusal as refusal:
        return refusal.error


def whole(data: bytes) -> object:
    try:
        return parse(data, LIMITS)
    except Refusal as refusal:
        return refusal.error


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have everything but a few bytes be large."""
    monkeypatch.setattr(slices, "_LOOKED_AT", 7)
    monkeypatch.setattr(slices, "_PARSED", 5)
    monkeypatch.setattr(slices, "_LONG", 9)


def random_value(draw: random.Random, depth: int = 0) -> Any:
    kind = draw.randrange(6 if depth < 5 else 4)
    if kind == 0:
        return draw.choice([None, True, False, 0, -1, 1.5, 2**60, 1e300])
    if kind in (1, 2, 3):
        return "".join(draw.choices('ab\\"\\{}[],:\n\t éß日🦊', k=draw.randrange(12)))
    if kind == 4:
        return [random_value(draw, depth + 1) for _ in range(draw.randrange(7))]
    return {str(random_value(draw, 9)): random_value(draw, depth + 1) for _ in range(draw.randrange(5))}


@pytest.mark.usefixtures("tiny")
def test_a_message_is_what_the_parser_makes_of_the_whole() -> None:
    draw = random.Random(5)
    for _ in range(500):
        value = [random_value(draw) for _ in range(draw.randrange(1, 8))]
        data = json.dumps(value, ensure_ascii=draw.random() < 0.5, indent=draw.choice([None, 1])).encode()
        assert ended(slices.parsed_in_turns(data, DEPTH)) == from_json(data) == value


@pytest.mark.usefixtures("tiny")
def test_what_is_no_json_is_refused_as_the_parser_refuses_the_whole() -> None:
    draw = random.Random(6)
    refused = 0
    for _ in range(1_500):
        value = [random_value(draw) for _ in range(draw.randrange(1, 8))]
        data = bytearray(json.dumps(value, ensure_ascii=draw.random() < 0.5).encode())
        for _ in range(draw.randrange(1, 4)):
            at = draw.randrange(len(data) + 1)
            data[at : at + draw.randrange(2)] = draw.choice(
                [b"", b",", b"[", b"]", b"{", b"}", b'"', b"\\", b" ", b"\xff", b"1"]
            )
        found = said(bytes(data))
        assert repr(found) == repr(whole(bytes(data)))
        refused += isinstance(found, dict) and "code" in found
    assert refused > 500


@pytest.mark.parametrize(
    "data",
    [
        b"", b" ", b"1", b'"x"', b"[]", b"[1,]", b"[,1]", b"[1,,2]", b"[" + b" " * 99 + b"]", b"[" + b"1," * 99 + b"]",
        b"{[1,2,3,4,5,6,7,8]:1}", b'{"a":[1,2,3,4,5,6,7],"a":[7,8,9,10,11,12]}', b"[1,2,3,4,5,6,7,8",
        b"1,2,3,4,5,6,7,8]",
        b"[1,2,3,4,5,6,7,8]]", b"[1,2,3,4,5,6,7,NaN]", b"[[1,2,3,4,5,6],[1,2,3,4,5,6,7],[],[[1,2,3,4,5,6,7]]]",
        b'["\\\\","\\\\\\"",",,,,,,,,,,,,"]', b"\\" * 20, b'"' + b"\\" * 21 + b'"', b'["\xff\xfe",1,2,3,4,5,6,7]',
        b"[" * 33 + b"]" * 33, b"[" * 32 + b"1,2,3,4,5,6" + b"]" * 32, b"[" * 4_000, b"]" * 400,
    ],
)  # fmt: skip
@pytest.mark.usefixtures("tiny")
def test_odd_messages_are_read_as_the_parser_reads_the_whole(data: bytes) -> None:
    assert repr(said(data)) == repr(whole(data))


SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text(max_size=12)
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(st.text(max_size=3), inner, max_size=4),
    max_leaves=30,
)
#: What stands at the edge of what JSON is, as the text of a value.
TEXTS = st.one_of(
    VALUES.map(json.dumps),
    VALUES.map(lambda value: json.dumps(value, ensure_ascii=False, indent=1)),
    st.sampled_from((
        "1e999", "-1e-999", "1" * 5_000, "-0", "1.", ".5", "01", "+1", "NaN", "-Infinity", "tru", "''",
        r'"\ud800"', r'"\udc00\ud800"', r'"\ud83e\udd8a"', r'"\u12"', r'"\x"', r'"\\"', r'"\""', '"\t"', '"\x00"', '"',
        '{"a":1,"a":[2]}', '{"a":[1,2,3,4,5,6],"b":[1,2,3,4,5,6],"a":[7,8,9]}', "{,}", '{"a"}', "{1:2}", "[1 2]",
        "[]]", "[[]", "[}", "{]", " ", "", "[,]", "[" * 40 + "]" * 40,
    )),
)  # fmt: skip


@given(texts=st.lists(TEXTS, max_size=8), cut=st.integers(0, 200) | st.none(), put=st.binary(max_size=3))
@settings(deadline=None, max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture])
@pytest.mark.usefixtures("tiny")
def test_whatever_is_sent_is_read_as_the_parser_reads_the_whole(texts: list[str], cut: int | None, put: bytes) -> None:
    data = b"[%b]" % ",".join(texts).encode("utf-8", "surrogatepass")
    if cut is not None:
        data = data[:cut] + put + data[cut + len(put) :]
    found = said(data)
    assert repr(found) == repr(whole(data))
    if not (isinstance(found, dict) and "code" in found):
        assert found == json.loads(data)


@pytest.mark.usefixtures("tiny")
@pytest.mark.parametrize("text", ["🦊", r"\ud83e\udd8a", "\\" * 8, r"\\\"" * 4, "é日", "\ufffd"])
def test_a_sign_of_several_bytes_may_lie_across_slices(text: str) -> None:
    for before in range(16):
        data = f'["{"x" * before}{text}",{before},[1,2,3,4,5,6]]'.encode()
        assert ended(slices.parsed_in_turns(data, DEPTH)) == json.loads(data)
        for at in range(len(data)):
            broken = data[:at] + b"\xff" + data[at + 1 :]
            assert repr(said(broken)) == repr(whole(broken))


@pytest.mark.parametrize("value", [b"1,", b'"",', b"[],", b"{},", b"[[[[]]]],"])
def test_what_is_kept_beside_a_message_is_no_more_than_some_times_its_length(value: bytes) -> None:
    data = b"[%b1]" % (value * ((1 << 21) // len(value)))
    parsed = _peak(lambda: parse(data, LIMITS))
    assert _peak(lambda: ended(slices.parsed_in_turns(data, DEPTH))) < parsed + 16 * len(data)


def _peak(do: Callable[[], object]) -> int:
    tracemalloc.start()
    try:
        do()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_no_turn_of_a_request_of_the_largest_size_is_long() -> None:
    fields = dict.fromkeys(string.ascii_lowercase, 7)
    note = {"content": "The crane stands still. " * 8, "fields": fields, "tags": ["a", "b"]}
    notes = [note] * 10_000
    data = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "remember_many", "params": {"notes": notes}}).encode()
    assert 4 << 20 < len(data) <= LIMITS.line_bytes

    began = thread_time()
    parse(data, LIMITS)
    at_once = thread_time() - began
    longest, turns = 0.0, slices.parsed_in_turns(data, DEPTH)
    message = None
    while message is None:
        began = thread_time()
        try:
            next(turns)
        except StopIteration as stop:
            message = stop.value
        longest = max(longest, thread_time() - began)
    assert message["params"]["notes"] == notes
    assert longest < at_once / 3
