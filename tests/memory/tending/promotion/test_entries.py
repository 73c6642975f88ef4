"""From notes to lines: sections, titles, and text that would break a line."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shelfd.memory.notes.note import BLANK, Note, Usage
from shelfd.memory.tending.promotion.entries import entries_of, line_of, one_line, section_of, section_order, title_of


def note(row: int = 1, **changes: Any) -> Note:
    made = BLANK._replace(row=row, id=f"note-{row}", title="title", content="content")
    return made._replace(**changes)


@pytest.mark.parametrize(
    ("changes", "section"),
    [
        ({"type": "preference", "tags": ("learnings",)}, "preferences"),
        ({"tags": ("preferences", "learnings"), "scope": "project"}, "preferences"),
        ({"tags": ("learnings",), "subject": "assistant:self"}, "learnings"),
        ({"subject": "assistant:self", "scope": "shared"}, "assistant-self"),
        ({"scope": "shared"}, "shared-context"),
        ({"scope": "project", "subject": "user:me"}, "shared-context"),
        ({"subject": "user:anybody"}, "user"),
        ({"subject": "ship:one", "nugget": "fleet"}, "fleet"),
    ],
)
def test_the_first_rule_that_fits_gives_the_section(changes: dict[str, Any], section: str) -> None:
    assert section_of(note(**changes)) == section


def test_sections_have_an_order() -> None:
    sections = ["user", "preferences", "memory", "learnings", "assistant-self"]
    assert sorted(sections, key=section_order) == ["learnings", "preferences", "assistant-self", "memory", "user"]


@pytest.mark.parametrize(
    ("title", "content", "line"),
    [
        ("user:theme", "dark", "- **user:theme**: dark"),
        ("t", "one\ntwo\r\n\r\n  three\u2028four\x0bfive", "- **t**: one two three four five"),
        ("t", "a  b\tc", "- **t**: a  b\tc"),
        ("**bold** `x` *", "**y**", r"- **\*\*bold\*\* \`x\` \***: **y**"),
        ("C:\\temp\\", "x", "- **C:\\temp\\\\**: x"),
        ("t", "<!-- hidden --> # not a heading", r"- **t**: \<!-- hidden --\> # not a heading"),
        ("t", "", "- **t**:"),
        ("", "Tea is at four, in the garden.", "- **Tea is at four, in**: Tea is at four, in the garden."),
        ("", "word", "- **word**: word"),
        ("", "…\n", "- **…**: …"),
        ("", "...", "- **note**: ..."),
    ],
)  # fmt: skip
def test_a_note_is_one_line(title: str, content: str, line: str) -> None:
    assert line_of(note(title=title, content=content)) == line


@given(st.text(max_size=40), st.text(max_size=60))
def test_every_line_is_one_line_that_can_be_read_back(title: str, content: str) -> None:
    line = line_of(note(title=title, content=content))

    assert line.startswith("- **")
    assert len(line.splitlines()) <= len(line.replace("\x85", "").split("\n")) == 1
    assert "-->" not in line
    assert title_of(line) is not None
    assert title_of(line_of(note(title=title, content="else"))) == title_of(line) or not one_line(title)


@pytest.mark.parametrize(
    ("line", "title"),
    [
        ("- **Theme**: dark", "theme"),
        ("* **Theme:** dark", "theme"),
        ("  + **a  b**", "a b"),
        (r"- **\*x\***: y", "*x*"),
        ("- plain", None),
        ("**bold** prose", None),
        ("    - **code**: x", None),
    ],
)
def test_a_title_is_read_from_what_people_write(line: str, title: str | None) -> None:
    assert title_of(line) == title


def test_the_most_valuable_come_first() -> None:
    notes = [note(1, title="a"), note(2, title="b"), note(3, title="c"), note(4, title="d", pinned=True)]
    usage = {1: Usage(3, 9, 500), 2: Usage(5, 5, 100), 3: Usage(3, 3, 900), 4: Usage(3, 3, 1)}

    assert [entry.row for entry in entries_of(notes, usage, now=0)] == [4, 2, 3, 1]


def test_equal_lines_are_written_once_and_expired_or_session_notes_never() -> None:
    notes = [note(1), note(2), note(3, title="x", expires_at=10), note(4, title="y", scope="session")]

    assert [entry.row for entry in entries_of(notes, {2: Usage(9)}, now=10)] == [2]
    assert [entry.row for entry in entries_of(notes, {}, now=9)] == [3, 2]
