"""Text as it is kept and cut."""

from base64 import urlsafe_b64encode

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shelfd.memory.errors import InvalidParams
from shelfd.memory.methods import cursor
from shelfd.memory.notes.note import fold_key
from shelfd.memory.notes.text import cut, first_sentence, render_fields, tidy_content

LINES = st.lists(
    st.sampled_from(
        [
            "",
            " ",
            "  ",
            "   a",
            "    a  b",
            "\ta",
            "a   b",
            "a \t",
            "```",
            "~~~",
            "- x",
            "  - y",
            "1) z",
            "\u00a0\u00a0",
        ]
    )
).map("\n".join)


@settings(derandomize=True)
@given(st.one_of(st.text(), LINES))
def test_tidying_twice_is_tidying_once(text: str) -> None:
    once = tidy_content(text)

    assert tidy_content(once) == once


@settings(derandomize=True)
@given(st.one_of(st.text(), LINES))
def test_tidying_touches_blanks_only(text: str) -> None:
    assert tidy_content(text).split() == text.split()


@settings(derandomize=True)
@given(LINES.filter(lambda text: "```" not in text and "~~~" not in text))
def test_tidied_text_has_no_blank_ends_and_no_holes(text: str) -> None:
    tidy = tidy_content(text)

    assert "\n\n\n" not in tidy
    assert not tidy.startswith("\n")
    assert tidy == "\n".join(line.rstrip() for line in tidy.split("\n")).rstrip()


@settings(derandomize=True)
@given(st.text(), st.integers(0, 20))
def test_a_cut_fits(text: str, characters: int) -> None:
    short = cut(text, characters)

    assert len(short) <= characters
    assert short == text or text.startswith(short.removesuffix("..."))


@pytest.mark.parametrize(
    ("text", "characters", "expected"),
    [
        ("one two three", 13, "one two three"),
        ("one two three", 12, "one two..."),
        ("one two three", 10, "one two..."),
        ("one two three", 9, "one..."),
        ("onetwothree", 9, "onetwo..."),
        ("one", 2, "on"),
    ],
)
def test_a_cut_ends_at_a_word(text: str, characters: int, expected: str) -> None:
    assert cut(text, characters) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two.", "One."),
        ("Really? Yes.", "Really?"),
        ("version 1.2 is out", "version 1.2 is out"),
        ("Heading\nBody", "Heading"),
        ("一つ目。 二つ目。", "一つ目。"),
        ("一つ目。二つ目。", "一つ目。"),
        ("  \n One. Two", "One."),
        ("Lesson at six with Mr. Szabo. Bring the bow.", "Lesson at six with Mr. Szabo."),
        ("The key is with J. R. Hale. He is in.", "The key is with J. R. Hale."),
        ("It is in room No. 7. Knock twice.", "It is in room No. 7."),
        ("They said no. Then they left.", "They said no."),
        ("Booked with Acme Inc. The contract is signed.", "Booked with Acme Inc."),
        ("1. Buy milk. Then go home.", "1. Buy milk."),
        ("The party is in room 12. The key is here.", "The party is in room 12."),
        ("Der Elternabend ist am 3. Dezember um 7. Danach nichts.", "Der Elternabend ist am 3. Dezember um 7."),
        ("Der Drucker steht im 2. Stock. Er ist neu.", "Der Drucker steht im 2. Stock."),
        ("I am 30. My brother is 25.", "I am 30."),
        ("Oma mag z. B. Marzipan. Opa nicht.", "Oma mag z. B. Marzipan."),
    ],
)
def test_the_first_sentence(text: str, expected: str) -> None:
    assert first_sentence(text) == expected


@settings(derandomize=True)
@given(st.text())
def test_the_first_sentence_has_at_most_150_characters(text: str) -> None:
    assert len(first_sentence(text)) <= 150


def test_fields_are_lines_in_their_order_and_empty_ones_are_left_out() -> None:
    fields = {"b": "x", "a": [1, "y", None], "n": None, "e": [], "d": {"k": True}, "z": 0, "f": False}

    assert render_fields(fields) == 'b: x\na: 1, y, null\nd: {"k": true}\nz: 0\nf: false'


@settings(derandomize=True)
@given(st.text())
def test_folding_twice_is_folding_once(key: str) -> None:
    assert fold_key(fold_key(key)) == fold_key(key)


@pytest.mark.parametrize("key", ["Pet  name", " pet name\n", "ＰＥＴ\u3000name", "pet\u00a0NAME"])
def test_a_key_is_one_whatever_its_case_form_and_blanks(key: str) -> None:
    assert fold_key(key) == "pet name"


@settings(derandomize=True)
@given(st.lists(st.integers(0, 2**63 - 1), min_size=1, max_size=3))
def test_a_cursor_gives_back_its_numbers(numbers: list[int]) -> None:
    assert cursor.decode_numbers(cursor.encode(*numbers), len(numbers)) == tuple(numbers)


@settings(derandomize=True)
@given(st.text())
def test_a_cursor_gives_back_its_text(text: str) -> None:
    assert cursor.decode_text(cursor.encode(text)) == text


def test_no_cursor_is_no_position() -> None:
    assert cursor.decode_numbers(None, 2) is None
    assert cursor.decode_text(None) is None


def of(text: str) -> str:
    return urlsafe_b64encode(text.encode()).decode()


BAD_CURSORS = [
    *("", "x", "ä", "!!!"),
    *map(of, ("{}", "1", "[1.5]", "[true]", "[-1]", "[" * 700, "[1" + "0" * 30 + "]", "[1,2,3]")),
]


@pytest.mark.parametrize("text", BAD_CURSORS)
def test_what_is_no_cursor_is_refused(text: str) -> None:
    with pytest.raises(InvalidParams) as numbers:
        cursor.decode_numbers(text, 1)
    with pytest.raises(InvalidParams):
        cursor.decode_text(text)
    assert numbers.value.data["field"] == "cursor"


@settings(derandomize=True)
@given(st.text(max_size=60))
def test_no_text_makes_the_cursor_fail_otherwise(text: str) -> None:
    for decode in (lambda: cursor.decode_numbers(text, 2), lambda: cursor.decode_text(text)):
        try:
            decode()
        except InvalidParams as error:
            assert error.message == "cursor: is not one that this method gave"  # noqa: PT017 - and nothing of the text


@pytest.mark.parametrize(
    "text",
    ["````\n```\na  b\n\n\n\nc\n```\n````", "```\n```python\na  b\n```", "~~~~\n~~~\na  b\n~~~~"],
)
def test_a_fence_is_closed_by_its_like(text: str) -> None:
    assert tidy_content(text) == text


def test_code_within_a_line_opens_no_fence() -> None:
    assert tidy_content("```x``` is code\na  b") == "```x``` is code\na b"
