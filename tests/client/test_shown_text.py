"""Which characters are shown as they were written, and which are not: a terminal is not to be steered."""

import json
import unicodedata
from collections.abc import Iterator
from contextlib import redirect_stdout

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from client.test_commands import Told
from client.test_terminal import Screen
from running import Daemon
from shelfd.client.output import clean, in_one_line, one_line, print_table
from shelfd.client.terminal import cells, escaped

REPLACED = "\N{REPLACEMENT CHARACTER}"
ORDINARY = [
    "Le loyer est de 10\u202f000\xa0€\xa0!",
    "東京\u3000大阪",
    "می\u200cخواهم",
    "क्\u200dष और क्\u200cष",
    "Donau\xaddampf\xadschiff",
    "👩\u200d👩\u200d👧 und 🏳️\u200d🌈 und 👍🏽 und 1️⃣ und 🇩🇪",
    "\U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",  # the flag of Scotland
    "שלום (\u200fabc\u200e)",
    "葛\U000e0100城",
    "e\u0301 and a\u2060b",
    "two lines\n\tand a tab",
]
HARMFUL = [*map(chr, (*range(9), *range(11, 32), *range(127, 160))), *"\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066"
           "\u2067\u2068\u2069\u206a\ufff9\U000e0001\U000e0041\U000e007f", "\ud800", "\udfff"]  # fmt: skip
#: What can do harm, and what was wrongly held to.
SIGNS = st.one_of(st.sampled_from("".join(ORDINARY)), st.sampled_from(HARMFUL), st.characters(codec=None))


@pytest.mark.parametrize("text", ORDINARY)
def test_what_is_ordinary_is_shown_as_it_was_written(text: str) -> None:
    assert clean(text) == text
    assert in_one_line(text) == text.replace("\n\t", " ")
    assert json.loads(escaped(json.dumps(text, ensure_ascii=False))) == text
    assert "\\u" not in escaped(json.dumps(text, ensure_ascii=False))


@pytest.mark.parametrize("sign", HARMFUL)
def test_what_can_do_harm_is_not_shown(sign: str) -> None:
    assert clean(f"a{sign}b") == f"a{REPLACED}b"
    assert sign not in escaped(json.dumps(f"a{sign}b", ensure_ascii=False))


@pytest.mark.parametrize("tags", ["", "\U000e0067\U000e007f", "\U000e0067" * 9 + "\U000e007f", "\U000e0041" * 4])
def test_tags_that_are_no_flag_of_a_region_are_not_shown(tags: str) -> None:
    assert clean(f"\U0001f3f4{tags}") == "\U0001f3f4" + REPLACED * len(tags)


@given(st.text(SIGNS))
@example("\U0001f3f4\U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f\U000e007f")
def test_only_what_can_do_harm_is_replaced(text: str) -> None:
    shown = clean(text)
    assert len(shown) == len(text)
    assert clean(shown) == shown
    shown.encode()  # no halves of characters
    for sign, was in zip(shown, text, strict=True):
        assert sign in (was, REPLACED)
        if sign != was:
            assert unicodedata.category(was) in ("Cc", "Cf", "Cs", "Zl", "Zp")
        assert unicodedata.category(sign) not in ("Cs", "Zl", "Zp")
        assert unicodedata.category(sign) != "Cc" or sign in "\n\t"
        assert unicodedata.bidirectional(sign) not in {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
    assert "\n" not in in_one_line(text)
    assert clean(in_one_line(text)) == in_one_line(text)


@given(st.text(SIGNS))
def test_json_on_a_terminal_says_the_same(text: str) -> None:
    line = escaped(json.dumps(text, ensure_ascii=False))
    assert json.loads(line) == text
    assert clean(line) == line


@given(st.lists(st.tuples(st.text(SIGNS, max_size=30), st.text(SIGNS, max_size=90)), min_size=1, max_size=4))
@example([(ORDINARY[5], ORDINARY[1]), ("a", "b" * 90)])
def test_a_table_of_whatever_signs_fits_the_terminal(rows: list[tuple[str, str]]) -> None:
    screen = Screen()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(screen):
        for name, value in (("TERM", "xterm"), ("COLUMNS", "100"), ("NO_COLOR", "1")):
            patch.setenv(name, value)
        print_table(rows)
        lines = screen.getvalue().split("\n")[:-1]
        assert len(lines) <= len(rows)
        assert max(map(cells, lines), default=0) <= 100
        assert all(cells(one_line(text, 9)) <= 9 for row in rows for text in row)


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Daemon]:
    with Daemon(tmp_path_factory.mktemp("shown")) as running:
        yield running


def test_every_command_shows_what_was_written(daemon: Daemon) -> None:
    told = Told(daemon)
    text = " ".join(ORDINARY[:6])
    note = told.id(f"kettle {text}", "--key", "kettle", "--occurred-at", "2026-01-31")
    hook = json.dumps({"prompt": "kettle", "session_id": "s"})
    for command in (
        ("note", note), ("notes",), ("recall", "kettle"), ("search", "kettle"), ("facts", "memory"),
        ("timeline", "kettle"), ("context", "kettle"), ("context", "--stdin-prompt"),
    ):  # fmt: skip
        done = told(*command, stdin=hook)
        assert text in done.stdout, command
        assert REPLACED not in done.stdout
    assert text in told("notes", is_terminal=True, columns=999).stdout
