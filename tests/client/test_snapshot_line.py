"""Notes that are cut out of their lines: what is sent of them is what would be sent if the lines were parsed."""

import json
import random
from typing import Any

import pytest

from shelfd.client import snapshot_line
from shelfd.client.json_lines import JsonLine
from shelfd.client.note_lines import NoteLines

#: As a snapshot has it.
LINE = (
    b'{"id":"note-memory-05402c69","version":1,"created_at":"2026-11-28T12:18:55.639107Z","evolved_from":null,'
    b'"evolved_by":[],"content":{"raw":"says \\"links\\" and \\\\u0041\\n","source_type":"conversation",'
    b'"source_ref":""},'
    b'"semantic":{"context":"says","keywords":["says","links"],"tags":[],"entities":["Ada"]},"embedding":{"model":"",'
    b'"vector":[],"dimensions":0,"input_hash":""},"links":{"related":[],"superseded_by":null},"metadata":'
    b'{"access_count":0,"confidence":1.0,"ttl":null},"shelfd":{"format":1,"note":{"tags":["observed","berth-4"],'
    b'"author":"Writer 4","confidence":0.25,"pinned":true,"created_at":1795868335639107,"extra":{"aliases":["a"],'
    b'"fields":{},"evolved_by":[]}},"usage":{"hits":2,"access_count":0,"last_accessed_at":0,"last_hit_session":""}}}\n'
)
#: As an export has it.
LEAN = (
    '{"id":"Größe","content":{"raw":"ein Tag – 東京"},"shelfd":{"format":1,"note":{},"said":{"tags":"9f"},'
    '"state":{"now":["1a"],"past":[],"says":"x","at":7}}}'
).encode()
NOT_CUT = (
    LINE.replace(b"says", b"\\u0073ays"),  # which could be half a surrogate pair
    LINE.replace(b"says", b"\xed\xa0\x80"),  # and that is one, if it is read at all
    LINE.replace(b"says", b"\xff"),
    LINE.replace(b"says", b"\x01"),
    LINE.replace(b'"shelfd":', b' "shelfd":'),
    LINE.replace(b'"format":1', b'"format":2'),
    LINE.replace(b'"id":', b'"it":'),
    LINE.replace(b'"version":1', b'"version":01'),
    LINE.replace(b'"version":1', b'"version":-1'),
    LINE.replace(b'"version":1', b'"version":1e400'),
    LINE.replace(b'"version":1', b'"version":NaN'),
    LINE.replace(b'"version":1', b'"version":' + b"1" * 5000),
    LINE.replace(b'"version":1', b'"version":'),
    LINE.replace(b'"version":1', b'"id":"other"'),
    LINE.replace(b'"version":1', b'"shelfd":{}'),
    LINE.replace(b'"version":1', b'"content":{"raw":""}'),
    LINE.replace(b'"embedding":', b'"id":'),
    LINE.replace(b'["observed","berth-4"]', b'[,"observed"]'),
    LINE.replace(b'["observed","berth-4"]', b'["observed",]'),
    LINE.replace(b'["observed","berth-4"]', b'["observed""berth-4"]'),
    LINE.replace(b'"note":{', b'"note":{,'),
    LINE.replace(b'"note":{', b'"links":[],"note":{'),
    LINE.replace(b'"note":{', b'"nugget":{"name":"memory"},"note":{'),
    LINE.replace(b'"note":{', b'"types":{},"note":{'),
    LINE[:-2],
    LINE[:-1] + b"}",
    LINE + b"\f",
    b"\xef\xbb\xbf" + LINE,
    b"\n",
    b"",
)
_MARKS = b'{}[],:"\\'
_PUT_IN = (
    b'"', b"\\", b",", b"{", b"}", b"[", b"]", b":", b"null", b"0", b"1.5", b"-1", b"1e5", b"\\u0041", b"\\ud800",
    b"\xff", b"\xc3\xa9", b"\n", b" ", b'"id":"x",', b'"shelfd":{},', b',"note":1', b'"links":[]', b"\x00",
    b"\xed\xa0\x80", b"{}",
)  # fmt: skip


def sent_if_parsed(raw: bytes) -> list[Any]:
    """What is sent of the note on a line that is JSON; nothing if it is none, or is rejected."""
    lines = NoteLines("", "shelfd", {})
    batch = lines._new_batch("notes")
    try:
        lines._add(batch, JsonLine(1, json.loads(raw)))
    except ValueError:
        return []
    assert not lines._may_have_links
    return [json.loads(written) for written in batch.written]


@pytest.fixture(autouse=True)
def no_database(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shelfd.client.note_lines.is_database", lambda _path: False)


@pytest.mark.parametrize("raw", [LINE, LEAN, LEAN + b" \r\n"])
def test_a_line_as_a_shelf_writes_it_is_cut(raw: bytes) -> None:
    cut = snapshot_line.note_of(raw)
    assert cut is not None
    assert [json.loads(cut)] == sent_if_parsed(raw)


@pytest.mark.parametrize("raw", NOT_CUT)
def test_any_other_line_has_to_be_parsed(raw: bytes) -> None:
    assert snapshot_line.note_of(raw) is None


@pytest.mark.parametrize("seed", range(4))
def test_whatever_a_line_has_become_what_is_cut_is_what_would_be_sent(seed: int) -> None:
    draw = random.Random(seed)
    cut = 0
    for _ in range(3_000):
        raw = bytearray(draw.choice((LINE, LEAN)))
        for _ in range(draw.choice((1, 1, 2, 3))):
            places = [at for at, byte in enumerate(raw) if byte in _MARKS] if draw.random() < 0.6 else range(len(raw))
            at, until = draw.choice(places), draw.choice((0, 0, 1, 1, 2, 5))
            raw[at : at + until] = draw.choice(_PUT_IN) if draw.random() < 0.6 else b""
        found = snapshot_line.note_of(bytes(raw))
        if found is not None:
            cut += 1
            assert [json.loads(found)] == sent_if_parsed(bytes(raw)), bytes(raw)
    assert cut > 50


def test_a_long_line_is_cut_or_not_like_any_other() -> None:
    many = LINE.replace(b'["observed","berth-4"]', b"[" + b",".join([b'"x\\n\\t\\\\y"'] * 50_000) + b"]")
    assert snapshot_line.note_of(many) is not None
    for broken in (many[:-2], many.replace(b'"dimensions":0', b'"dimensions":00'), many[:-2] + b"x}\n"):
        assert snapshot_line.note_of(broken) is None
