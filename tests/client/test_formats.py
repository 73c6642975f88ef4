"""What cuts foreign files into items, without a daemon: arrays of any size, front matter, times, columns."""

import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shelfd.client.formats import front_matter, json_array, mapping
from shelfd.client.formats.moments import moment

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


@given(st.lists(VALUES, max_size=6), st.integers(1, 40), st.booleans())
def test_an_array_is_read_whatever_the_blocks_are(members: list[Any], block: int, indented: bool) -> None:
    text = json.dumps(members, ensure_ascii=False, indent=2 if indented else None).encode("utf-8", "surrogatepass")
    before = json_array._BLOCK
    json_array._BLOCK = block  # type: ignore[misc]
    try:
        found = list(json_array.read(io.BytesIO(text)))
    finally:
        json_array._BLOCK = before  # type: ignore[misc]
    assert [member.value for member in found] == members
    assert [member.number for member in found] == list(range(len(members)))


def test_a_member_that_is_too_long_harms_none_of_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_array, "LONGEST", 1000)
    monkeypatch.setattr(json_array, "_BLOCK", 100)
    long = {"text": 'quoted \\" and "braces" ] } ' * 100, "list": list(range(2000))}
    found = list(json_array.read(io.BytesIO(json.dumps([1, long, {"a": "b"}]).encode())))
    assert [(member.value, member.why) for member in found] == [
        (1, ""),
        (None, "is longer than 1000 bytes"),
        ({"a": "b"}, ""),
    ]
    broken = list(json_array.read(io.BytesIO(b'[1, {"a": }, 2')))
    assert [(member.value, member.why) for member in broken] == [
        (1, ""),
        (None, "is not JSON"),
        (None, "is cut off: the file ends within it"),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: b", {"a": "b"}),
        ("a: 'it''s'\nb: \"x\\ny\"", {"a": "it's", "b": "x\ny"}),
        ("tags: [one, 'two, three', \"four\"]", {"tags": ["one", "two, three", "four"]}),
        ("tags:\n  - one\n  - two", {"tags": ["one", "two"]}),
        ("tags:\n- one\n- two\nnext: 1", {"tags": ["one", "two"], "next": "1"}),
        ("text: |\n  a\n  b\nmore: >\n  c\n  d", {"text": "a\nb", "more": "c d"}),
        ("metadata:\n  type: user\n  x: 1", {"metadata": {"type": "user", "x": "1"}}),
        ("on: true\noff: ~\nempty:", {"on": True, "off": None, "empty": None}),
        ('shelfd: {"content": "ab"}', {"shelfd": {"content": "ab"}}),
        ("a: b # comment\n# c: d", {"a": "b"}),
        ("url: https://example.org/a#b", {"url": "https://example.org/a#b"}),
        ("broken [", {}),
    ],
)
def test_front_matter(text: str, expected: dict[str, Any]) -> None:
    assert front_matter.split(f"---\n{text}\n---\nbody\n---\n") == (expected, "body\n---\n")


def test_what_is_no_front_matter_is_text() -> None:
    for text in ("", "no", "---", "---\na: b", "x\n---\na: b\n---\n"):
        assert front_matter.split(text) == ({}, text)


@given(st.text())
def test_no_text_breaks_front_matter(text: str) -> None:
    front_matter.split(f"---\n{text}\n---\n")


def test_times() -> None:
    assert moment(1714557600) == moment(1714557600000) == moment("1714557600") == "2024-05-01T10:00:00+00:00"
    assert moment("2024-05-01T10:00:00Z") == "2024-05-01T10:00:00+00:00"
    assert "T" in str(moment("2024-05-01"))
    assert moment("last week") == "last week"
    assert moment(float("nan")) is moment(10**30) is moment(None) is moment(True) is None


@pytest.mark.parametrize("given_", ["text", "text=", "=content", "text=words", "a=content,b=content"])
def test_a_mapping_that_is_none(given_: str) -> None:
    with pytest.raises(ValueError, match=r"expected COLUMN=MEMBER|two columns"):
        mapping.parsed_map(given_)


def test_a_text_that_goes_on_is_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_array, "_BLOCK", 64)
    text = json.dumps(["a\\\\" * 2000 + '"', 7])
    looked_at = 0
    match = json_array._REST.match

    class Counted:
        def match(self, buffer: bytes, at: int) -> Any:
            nonlocal looked_at
            looked_at += len(buffer) - at
            return match(buffer, at)

    monkeypatch.setattr(json_array, "_REST", Counted())
    assert [member.value for member in json_array.read(io.BytesIO(text.encode()))] == json.loads(text)
    assert looked_at < 2 * len(text)
