"""Which notes are worth nothing."""

from typing import Any

import pytest

from memory.tending.reflection.scenes import a_note
from shelfd.memory.tending.reflection.archiving import is_low_value

TEXT = "a text that says something"


@pytest.mark.parametrize(
    ("content", "fields"),
    [
        ("", {}),
        (" \n ", {}),
        ("ok", {}),
        ("茶", {}),
        ("", {"kind": "fact", "title": "colour", "key": "colour"}),
        (TEXT, {"title": "tmp"}),
        (TEXT, {"title": "scratchpad"}),
        (TEXT, {"title": "project:tmpfile"}),
        (TEXT, {"title": "TMP note"}),
        (TEXT, {"title": "temp_3"}),
        (TEXT, {"title": "temp2"}),
        (TEXT, {"title": "tmp/build"}),
        (TEXT, {"title": "tempfile list"}),
        (TEXT, {"title": "Scratchpad"}),
        (TEXT, {"title": "scratch: ideas"}),
        (TEXT, {"title": "tmp:x", "kind": "fact", "key": "tmp:x"}),
    ],
)
def test_worth_nothing(content: str, fields: dict[str, Any]) -> None:
    note = a_note(content, **fields)
    assert is_low_value(note, 0)
    assert not is_low_value(note, 1)
    assert not is_low_value(note._replace(pinned=True), 0)
    assert not is_low_value(note._replace(scope="self"), 0)


@pytest.mark.parametrize(
    ("content", "fields"),
    [
        ("tea", {}),
        ("42", {"kind": "fact", "title": "answer", "key": "answer"}),
        ("UK", {"kind": "fact", "title": "country", "key": "country"}),
        (TEXT, {"title": "temperature"}),
        (TEXT, {"title": "Template for letters"}),
        (TEXT, {"title": "scratched records"}),
        (TEXT, {"title": "about tmp"}),
        (TEXT, {"title": "tempting"}),
        (TEXT, {"title": "Temp", "type": "character_sheet"}),
        (TEXT, {}),
    ],
)
def test_worth_something(content: str, fields: dict[str, Any]) -> None:
    assert not is_low_value(a_note(content, **fields), 0)
