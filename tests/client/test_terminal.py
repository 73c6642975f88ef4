"""What a person sees on a terminal, and a program in a pipe: widths, colours, progress."""

import io
from contextlib import redirect_stdout

import pytest

from shelfd.client.output import print_json, print_table
from shelfd.client.progress import ProgressLine, progress_text, span
from shelfd.client.terminal import cells, cut, padded

ROWS = [("note-1", "2026-01-31", "茶の時間は四時です", "tea at four"), ("note-22", "2026-02-01", "ab", "b" * 90)]
HEADER = ("id", "updated", "title", "content")


class Screen(io.StringIO):
    """A terminal's end of stdout."""

    encoding = "utf-8"

    def isatty(self) -> bool:
        return True


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> Screen:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.delenv("NO_COLOR", raising=False)
    return Screen()


def shown(screen: Screen) -> str:
    """What a table of the rows looks like on *screen*."""
    screen.seek(0)
    screen.truncate()
    with redirect_stdout(screen):
        print_table(ROWS, header=HEADER)
    return screen.getvalue()


def test_a_table_fits_the_terminal_and_its_columns_stand_below_each_other(
    screen: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    lines = shown(screen).splitlines()
    assert [line.split()[0] for line in lines] == ["id", "note-1", "note-22"]
    with redirect_stdout(screen):
        assert max(map(cells, lines)) == 80
        starts = {cells(line[: line.index(last)]) for line, last in zip(lines, ("content", "tea", "bbb"), strict=True)}
    assert len(starts) == 1


def test_colours_are_for_terminals_and_for_those_who_want_them(
    screen: Screen, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert shown(screen).startswith("\x1b[1mid")
    for name, value in (("NO_COLOR", "1"), ("TERM", "dumb")):
        with monkeypatch.context() as patch:
            patch.setenv(name, value)
            assert "\x1b" not in shown(screen)
    print_table(ROWS, header=HEADER)
    assert capsys.readouterr().out.splitlines()[0] == "note-1   2026-01-31  茶の時間は四時です  tea at four"


def test_a_terminal_of_twenty_columns_keeps_ids_whole(screen: Screen, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    assert "note-22" in shown(screen)
    assert f"{'b' * 19}…" in shown(screen)


def test_json_on_a_terminal_cannot_steer_it(screen: Screen) -> None:
    with redirect_stdout(screen):
        print_json({"content": "a\x9b2J\u202eb\U000e0001 ü\n"})
    text = screen.getvalue()
    assert text.replace("\n", "").isprintable()
    assert "\\u009b2J\\u202eb\\udb40\\udc01 ü\\n" in text


@pytest.mark.parametrize(
    ("text", "columns", "kept"),
    [
        ("abc", 3, "abc"),
        ("abcd", 3, "ab…"),
        ("茶茶茶", 4, "茶…"),
        ("e\u0301e\u0301e\u0301", 2, "e\u0301…"),
        ("", 0, ""),
    ],
)
def test_text_is_cut_by_columns_and_not_by_characters(screen: Screen, text: str, columns: int, kept: str) -> None:
    with redirect_stdout(screen):
        assert cut(text, columns) == kept
        assert cells(padded(text, 9)) == cells(padded(text, 9, right=True)) == 9


class Ticks:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_progress_is_shown_after_a_second_with_rate_and_time_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    screen, clock = Screen(), Ticks()
    with ProgressLine("notes", stream=screen, monotonic=clock) as line:
        clock.now += 0.9
        line.update(900, 5000)
        assert screen.getvalue() == ""
        clock.now += 0.1
        line.update(1000, 5000)
        assert screen.getvalue() == "\r[####----------------]  1,000/5,000 notes  20%  1,000/s  4 s left\x1b[K"
        clock.now += 0.05
        line.update(1050, 5000)
        assert screen.getvalue().count("\r") == 1
    assert screen.getvalue().endswith("\r\x1b[K")


def test_progress_that_nobody_sees_writes_nothing() -> None:
    stream, clock = io.StringIO(), Ticks()
    with ProgressLine(stream=stream, monotonic=clock) as line:
        clock.now += 5
        line.update(1, 2)
    assert stream.getvalue() == ""


@pytest.mark.parametrize(
    ("columns", "text"),
    [
        (70, "[##########----------]  50/100 notes  50%  5.0/s  10 s left"),
        (40, "50/100 notes  50%  5.0/s  10 s left"),
        (30, "50/100 notes  50%  10 s left"),
        (20, "10 s left"),
        (5, "10 s "),
    ],
)
def test_progress_keeps_what_matters_most_in_a_narrow_terminal(columns: int, text: str) -> None:
    assert progress_text(50, 100, 5.0, "notes", columns) == text


def test_progress_of_work_whose_length_is_not_known() -> None:
    assert progress_text(1234, None, 0.0, "", 80) == "1,234"
    assert progress_text(150, 100, 12.3, "notes", 40) == "150/150 notes  100%  12/s"


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.4, "0 s"), (61, "1 min 1 s"), (3600, "1 h"), (93784, "1 d 2 h"), (7325, "2 h 2 min")]
)
def test_spans(seconds: float, text: str) -> None:
    assert span(seconds) == text
