"""Notes of a snapshot that are like others before are read as if each were the first."""

import random
from typing import Any

import pytest
from pydantic import ValidationError

from shelfd.memory.errors import ShelfError
from shelfd.memory.moving import lines
from shelfd.memory.moving.reading import ItemOrigin
from shelfd.memory.notes.note import NO_EXTRA
from shelfd.protocol import Limits
from shelfd.protocol.limits import MAX_INTEGER

ORIGIN = ItemOrigin("notes.jsonl", {}, Limits(), 1_700_000_000_000_000)
#: Values of a note's fields, right ones first.
VALUES: dict[str, list[Any]] = {
    "nugget": ["garden", "memory", "", "no nugget/", 7],
    "kind": ["note", "fact", "other", None],
    "title": ["", "Tea", 1],
    "key": [None, "tea", "coffee"],
    "tags": [["a", "b"], [], ["a", 1], "a", None],
    "type": ["preference", "note", "", "x" * 200],
    "scope": ["project", "nowhere"],
    "confidence": [0.5, 1, 2.0, -0.1, "1"],
    "importance": [5, 10, 11, True, 5.0],
    "author": ["Ada", None, 3],
    "session_id": ["s-1", None, []],
    "turn": [3, None, MAX_INTEGER + 1, -MAX_INTEGER - 1, 3.5],
    "archived_at": [None, 5, "5"],
    "pinned": [True, False, 1],
    "created_at": [1_700_000_000_000_000, 0, 10**30, 1.0],
    "rev": [3, None],
    "extra": [{"aliases": ["x"]}, {}, {"no": 1}, 7],
    "unheard_of": [1],
}
IDS: list[Any] = ["note-1", "n" * 129, "n" * 600, "line\nbreak", "", None, 7]
CONTENTS: list[Any] = [
    {"raw": "Tea."}, {"raw": " \n"}, {"raw": ""}, {"raw": "ä" * 300_000}, {"raw": 1}, {"raw": None}, {}, None, "Tea.",
]  # fmt: skip
OTHERS: list[dict[str, Any]] = [{}, {"usage": {"hits": 2}}, {"usage": 1}, {"state": {"now": ["1"], "past": []}}]


def drawn(draw: random.Random) -> dict[str, Any]:
    """A line, of which little is wrong."""

    def one(values: list[Any]) -> Any:
        return draw.choice(values) if draw.random() < 0.1 else values[0]

    names = draw.sample(list(VALUES)[:-1], draw.randrange(4)) + ["author", "created_at"] * (draw.random() < 0.9)
    fields = {name: one(VALUES[name]) for name in names + ["unheard_of"] * (draw.random() < 0.02)}
    note: Any = fields if draw.random() < 0.98 else draw.choice([None, [], "x"])
    return {"id": one(IDS), "content": one(CONTENTS), "shelfd": {"format": 1, "note": note, **one(OTHERS)}}


def told(item: dict[str, Any]) -> Any:
    """What a line is read as, or why it is not."""
    try:
        record = lines.read_note(item, ORIGIN)
    except ShelfError as error:
        return str(error), error.data
    except ValidationError as error:
        return error.errors(include_url=False, include_context=False)
    return record, tuple(map(type, record.note)), record.note.extra is NO_EXTRA


@pytest.mark.parametrize("seed", range(4))
def test_a_line_like_others_is_read_as_if_it_were_the_first(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    draw = random.Random(seed)
    items = [drawn(draw) for _ in range(2_000)]
    monkeypatch.setattr(lines, "_SHAPES", {})
    as_seen = [told(item) for item in items]
    assert lines._SHAPES
    assert sum(len(one) == 3 for one in as_seen) > 500
    monkeypatch.setattr(lines, "_SHAPES_KEPT", 0)
    monkeypatch.setattr(lines, "_SHAPES", {})
    assert as_seen == [told(item) for item in items]


def test_of_many_lines_alike_only_the_first_is_validated(monkeypatch: pytest.MonkeyPatch) -> None:
    item = {"id": "a", "content": {"raw": "Tea."}, "shelfd": {"format": 1, "note": {"author": "Ada", "tags": ["x"]}}}
    monkeypatch.setattr(lines, "_SHAPES", {})
    first = lines.read_note(item, ORIGIN)
    monkeypatch.setattr(lines, "_NOTE", None)
    assert lines.read_note(item, ORIGIN) == first
