"""Lines of a snapshot: what is parsed of them, and what need not be."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from shelfd.client import json_lines
from shelfd.client.note_lines import NoteLines

NUGGET = {"name": "garden", "dimension": 1024}
LINK = {"source": "a", "target": "b", "relation": "related"}


def written(note_id: str, rest: dict[str, Any], **shown: object) -> str:
    line = {"id": note_id, "content": {"raw": 'says "nugget" and "links"'}, **shown, "shelfd": {"format": 1, **rest}}
    return json.dumps(line, separators=(",", ":"))


LINES = [
    written("plain", {"note": {"author": "Ada"}}, links={"related": []}),
    written("lean", {"note": {}}),
    written("elsewhere", {"note": {"nugget": "garden"}}, links={"related": ["b"]}),
    written("first", {"note": {"nugget": "garden"}, "nugget": NUGGET, "types": {}}, links={"related": []}),
    written("linked", {"note": {"nugget": "garden"}, "links": [LINK]}, links={"related": ["b"]}),
    written("both", {"nugget": NUGGET, "links": [LINK]}),
    written("odd", {"nugget": "no object", "links": "no list"}),
    json.dumps({"id": "spaced", "content": {"raw": "x"}, "shelfd": {"nugget": NUGGET, "links": [LINK]}}, indent=1),
    written("escaped", {"nugget": NUGGET, "links": [LINK]}).replace("nugget", "n\\u0075gget"),
    written("escaped", {"nugget": NUGGET, "links": [LINK]}).replace("links", "lin\\u006bs"),
    '{"id":"empty","shelfd":{"format":1,"nugget":{"name":"empty"}}}',
    '{"shelfd":{"format":1,"gone":[["gone note x",1]]}}',
    'no JSON with "nugget"',
    "no JSON",
    "",
]  # fmt: skip


def found(path: Path, format_: str) -> tuple[list[tuple[str, list[Any], list[Any]]], list[dict[str, Any]]]:
    lines = NoteLines(str(path), format_, {})
    sent = [(one.part, [json.loads(item) for item in one.written], one.indexes) for one in lines.batches()]
    return sent, lines.rejected


@pytest.mark.parametrize("format_", ["shelfd", "merge"])
def test_lines_that_are_not_parsed_have_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, format_: str) -> None:
    path = tmp_path / "notes.jsonl"
    path.write_text("\n".join(line.replace("\n", " ") for line in LINES) + "\n")
    looked_at = found(path, format_)
    read = json_lines.read
    monkeypatch.setattr(json_lines, "read", lambda path, **_: read(path))
    assert looked_at == found(path, format_)
    parts = {part for part, *_ in looked_at[0]}
    assert parts == {"nuggets", "notes", "links"} | ({"gone"} if format_ == "merge" else set())


@pytest.mark.parametrize("format_", ["shelfd", "merge"])
def test_of_most_lines_of_a_snapshot_nothing_is_parsed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, format_: str
) -> None:
    path = tmp_path / "notes.jsonl"
    path.write_text("\n".join(LINES[:4]) + "\n")
    parsed: list[int] = []
    parse = json_lines._parsed

    def counted(number: int, raw: bytes) -> json_lines.JsonLine:
        parsed.append(number)
        return parse(number, raw)

    monkeypatch.setattr(json_lines, "_parsed", counted)
    assert [part for part, *_ in found(path, format_)[0]] == ["nuggets", "notes"]
    assert parsed == [4, 4]


def test_links_are_looked_for_only_if_a_note_has_some(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "notes.jsonl"
    reads: list[str] = []
    read = json_lines.read

    def counted(path: str, **looks: Any) -> Iterator[json_lines.JsonLine]:
        reads.append(path)
        return read(path, **looks)

    monkeypatch.setattr(json_lines, "read", counted)
    for lines, times in ((LINES[:4], 2), (LINES[:5], 3)):
        path.write_text("\n".join(lines) + "\n")
        reads.clear()
        assert ("links" in [part for part, *_ in found(path, "shelfd")[0]]) is (times == 3)
        assert len(reads) == times


@pytest.mark.parametrize("block", [1, 100, 1000])
def test_lines_are_the_same_whatever_is_looked_at_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
    path = tmp_path / "notes.jsonl"
    some = [line.replace("\n", " ") for line in LINES]
    lines = [*some, *some[:2] * 9, *some, "x" * 2000, *some[:5] * 5]
    path.write_text("\n".join(lines))
    wanted = [number for number, line in enumerate(lines, 1) if "dimension" in line]
    monkeypatch.setattr(json_lines, "_BLOCK", block)
    for longest in (json_lines.LONGEST_LINE, 1000):
        monkeypatch.setattr(json_lines, "LONGEST_LINE", longest)
        looked_at = json_lines.read(str(path), may_have=lambda raw: b"dimension" in raw)
        assert [line.number for line in looked_at if not line.why.startswith("is longer")] == wanted


def test_blocks_in_which_no_line_may_be_wanted_are_not_looked_at_line_by_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "notes.jsonl"
    path.write_text("\n".join([*LINES[:3] * 100, LINES[3], *LINES[:3] * 100]) + "\n")
    monkeypatch.setattr(json_lines, "_BLOCK", path.stat().st_size // 10)
    looked_at: list[int] = []

    def may_have(raw: bytes) -> bool:
        looked_at.append(raw.count(b"\n"))
        return b'"dimension"' in raw

    assert [line.number for line in json_lines.read(str(path), may_have=may_have)] == [301]
    assert 10 <= len(looked_at) <= 80
    assert sum(looked_at) <= 601 + 70
