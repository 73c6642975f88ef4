"""What a typed note says, by the columns of its type."""

from typing import Any

import pytest

from shelfd.memory.errors import InvalidParams, TooLarge
from shelfd.memory.notes.note import BLANK
from shelfd.memory.sessions.columns import (
    Row,
    Said,
    check_required,
    fields_shown,
    missing_columns,
    row_of,
    summary_of,
    write,
)
from shelfd.memory.sessions.schema import BUILT_IN, NoteType
from shelfd.protocol import Limits

EVENT, PERSON, THREAD = BUILT_IN["event"], BUILT_IN["character_sheet"], BUILT_IN["thread"]
LIMITS = Limits()


def made(kind: NoteType | None, **said: Any) -> Row:
    given = Said(**said)
    row = write(kind, None, given, LIMITS)
    check_required(kind, None, row, given)
    return row


def edited(kind: NoteType | None, old: Row, **said: Any) -> Row:
    given = Said(name="set_fields", **said)
    row = write(kind, old, given, LIMITS)
    check_required(kind, old, row, given)
    return row


@pytest.mark.parametrize("column", ["title", "name", "id", "key", "label"])
def test_a_missing_title_comes_from_a_field(column: str) -> None:
    assert made(PERSON, fields={column: " Eileen  Grey\n"}).title == "Eileen Grey"


def test_of_several_the_first_gives_the_title() -> None:
    assert made(PERSON, fields={"label": "c", "key": 7, "name": ""}).title == "7"
    with pytest.raises(InvalidParams) as refused:
        made(PERSON, fields={"name": True, "goal": "x"})
    assert refused.value.data["missing"] == ["title"]


def test_a_summary_is_the_content_and_its_lines_stay() -> None:
    row = made(EVENT, fields={"summary": "one\ntwo  three ", "who": ["A", "B"]})
    assert (row.content, row.rendered) == ("one\ntwo three", False)
    assert row.fields == {"summary": "one\ntwo three", "who": ["A", "B"]}
    assert made(EVENT, content="one").fields == {}


def test_without_either_the_fields_are_the_content_in_the_order_of_the_table() -> None:
    row = made(THREAD, title="Door", fields={"note": "who has the key?", "x": 1, "status": "active"})
    assert (row.content, row.rendered) == ("status: active\nnote: who has the key?\nx: 1", True)
    assert made(EVENT, title="Rain").content == "Rain"


def test_a_missing_summary_comes_from_the_content_else_from_the_title() -> None:
    for row, summary in (
        (made(EVENT, content="it rained", title="Rain"), "it rained"),
        (made(EVENT, title="Rain", fields={"what": "drops"}), "Rain"),
        (made(EVENT, fields={"summary": "wet"}, title="Rain"), "wet"),
    ):
        note = row.on(BLANK)
        assert (summary_of(note), fields_shown(note, EVENT)["summary"]) == (summary, summary)
    assert fields_shown(made(PERSON, title="E").on(BLANK), PERSON) == {"title": "E"}
    assert summary_of(made(None, fields={"a": 1}).on(BLANK)) == "a: 1"


@pytest.mark.parametrize(
    ("kind", "said", "field"),
    [
        (EVENT, {}, "content"),
        (EVENT, {"fields": {"what": "x"}}, "fields.summary"),
        (EVENT, {"fields": {"summary": " "}}, "fields.summary"),
        (EVENT, {"fields": {"summary": 1}}, "fields.summary"),
        (EVENT, {"content": "a", "fields": {"summary": "b"}}, "fields.summary"),
        (PERSON, {"title": ""}, "title"),
        (PERSON, {"title": "A", "fields": {"title": "B"}}, "fields.title"),
        (THREAD, {"title": "A", "fields": {"status": "active", "note": ""}}, "fields.note"),
        (EVENT._replace(additional_columns=False), {"title": "A", "fields": {"what": "x"}}, "fields.what"),
        (PERSON, {"title": "A", "aliases": [f"a{number}" for number in range(33)]}, "aliases"),
    ],
)
def test_what_a_type_does_not_allow_is_refused(kind: NoteType, said: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidParams) as refused:
        made(kind, **said)
    assert refused.value.data["field"] == field


def test_too_long_a_title_or_alias_is_refused() -> None:
    for said, field in (
        ({"fields": {"name": "x" * 513}}, "fields.name"),
        ({"title": "A", "aliases": ["é" * 257]}, "aliases"),
    ):
        with pytest.raises(TooLarge) as refused:
            made(PERSON, **said)
        assert refused.value.data["field"] == field


def test_setting_and_clearing_clears_and_what_was_required_stays() -> None:
    row = made(THREAD, title="Door", fields={"status": "active", "note": "n", "x": 1})
    assert "x" not in edited(THREAD, row, fields={"x": 2}, cleared=["x"]).fields
    assert "x" not in edited(THREAD, row, fields={"x": None}).fields
    with pytest.raises(InvalidParams) as refused:
        edited(THREAD, row, cleared=["status"])
    assert refused.value.data["field"] == "set_fields.status"


def test_what_a_note_lacked_before_need_not_be_given_by_an_edit() -> None:
    old = Row("Door", "x", {"x": 1})
    assert missing_columns(THREAD, old) == ["status", "note"]
    assert edited(THREAD, old, fields={"x": 2}).content == "x: 2"


def test_clearing_the_summary_lets_the_content_follow_the_fields_again() -> None:
    row = made(EVENT, title="Rain", fields={"summary": "wet", "what": "drops"})
    assert (again := edited(EVENT, row, cleared=["summary"])).content == "what: drops"
    assert again.rendered


def test_the_title_and_the_column_title_are_one_thing() -> None:
    row = made(PERSON, fields={"title": "Eileen", "goal": "x"})
    assert (row.title, row.fields["title"]) == ("Eileen", "Eileen")
    assert edited(PERSON, row, title="Grey").fields["title"] == "Grey"
    assert edited(PERSON, row, fields={"title": "Grey"}).title == "Grey"


@pytest.mark.parametrize("given", [["艾琳", "E"], "艾琳, E", "艾琳，E", "艾琳;E", "艾琳 |  E"])
def test_aliases_follow_their_field(given: object) -> None:
    row = made(PERSON, title="Eileen", fields={"aliases": given}, aliases=["Lady"])
    assert sorted(row.aliases) == ["E", "Lady", "艾琳"]
    assert sorted(edited(PERSON, row, fields={"aliases": ["E"]}).aliases) == ["E", "Lady"]
    assert edited(PERSON, row, cleared=["aliases"]).aliases == ("Lady",)


def test_a_note_is_read_as_it_was_written() -> None:
    row = made(PERSON, title="Eileen", fields={"aliases": ["E"], "goal": "x"})
    assert row_of(row.on(BLANK)) == row
