"""How note text is kept: tidied where it makes no difference, untouched where it matters."""

import json
import re
from collections.abc import Mapping
from typing import Any

from shelfd.memory.notes.sentences import sentences

_CONTEXT_CHARACTERS = 150

_BLANKS = re.compile(r"(?<=\S)[ \t\u00a0]{2,}")
_LEADING = re.compile(r"^[ \t]{2,3}(?=\S)(?![-*+>|]|\d+[.)])")
_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})")
_INDENTED = re.compile(r"^(?: {4}|\t)")


class Fences:
    """Follows a text line by line and knows which lines are code between fences, or a fence.

    A fence is closed by one of the same sign, at least as long and with nothing after it; one that is never closed
    reaches to the end.
    """

    def __init__(self) -> None:
        self._closing: re.Pattern[str] | None = None

    @property
    def is_open(self) -> bool:
        """Whether a fence is open after the last line."""
        return self._closing is not None

    def encloses(self, line: str) -> bool:
        """Return whether the next *line* is a fence or stands between two."""
        if self._closing is not None:
            if self._closing.match(line):
                self._closing = None
            return True
        if mark := _FENCE.match(line):
            self._closing = re.compile(rf" {{0,3}}{mark[1][0]}{{{len(mark[1])},}}[ \t]*$")
        return mark is not None


def tidy_content(content: str) -> str:
    """Return *content* as it is kept.

    CRLF becomes LF; blanks at line ends and outer blank lines go; three or more line breaks become two; runs of
    blanks become one outside of code. Code is what stands between fences or is indented by four blanks or a tab.
    """
    if (
        content == content.strip()
        and "\n" not in content
        and "  " not in content
        and "\r" not in content
        and "\t" not in content
        and "\u00a0" not in content
    ):
        return content  # most notes: a search for each sign is ten times faster than one expression for all
    lines: list[str] = []
    fences = Fences()
    for raw in content.replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        line = raw.rstrip()
        if not fences.encloses(line) and not _INDENTED.match(line):
            line = _LEADING.sub(" ", _BLANKS.sub(" ", line))
            if not line and len(lines) > 0 and not lines[-1]:
                continue
        lines.append(line)
    while lines and not lines[0]:
        del lines[0]
    while lines and not lines[-1]:
        del lines[-1]
    return "\n".join(lines)


def render_fields(fields: Mapping[str, Any]) -> str:
    """Return a typed note's fields as text, a ``column: value`` line each, so that recall finds them."""
    lines = []
    for column, value in fields.items():
        if value in (None, "", [], {}):
            continue
        text = ", ".join(map(_plain, value)) if isinstance(value, list) else _plain(value)
        lines.append(f"{column}: {text}")
    return "\n".join(lines)


def _plain(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def first_sentence(content: str) -> str:
    """Return the first sentence of *content*, at most 150 characters, cut at a word."""
    text = content.strip()
    return cut(next(sentences(text)).rstrip(), _CONTEXT_CHARACTERS)


def cut(text: str, characters: int) -> str:
    """Return *text* if it is short enough, else its beginning up to a word's end, marked with "..."."""
    if len(text) <= characters:
        return text
    if characters <= 3:
        return text[:characters]
    head = text[: characters - 3]
    if not text[characters - 3].isspace() and " " in head:
        head = head[: head.rindex(" ")]
    return head.rstrip() + "..."
