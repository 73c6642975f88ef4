"""A MEMORY.md taken apart into headings and lines, and put together again byte for byte.

Lines end at LF or CRLF and nowhere else. Code between fences and HTML comments are opaque: whatever looks like a
heading or a promoted line in there is neither.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain

_HEADING = re.compile(r" {0,3}(#{1,6})(?=[ \t]|$)")
_FENCE = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})")
_COMMENT = re.compile(r" {0,3}<!--")
_BULLET = re.compile(r"(?:[-*+]|\d{1,9}[.)])[ \t]")
_BOM = "\ufeff"


@dataclass(slots=True, eq=False)
class Line:
    """One line.

    Attributes:
        text: Without its end.
        end: As it was read; empty means the document's own.
        is_opaque: Whether it belongs to code or to a comment.
        owner: The note whose line it is; None for lines of other authors.
    """

    text: str
    end: str = ""
    is_opaque: bool = False
    owner: str | None = None

    @property
    def is_blank(self) -> bool:
        """Whether nothing can be seen of it."""
        return not self.is_opaque and not self.text.strip()


@dataclass(slots=True, eq=False)
class Part:
    """A heading and what follows up to the next one. The first part of a document has no heading.

    Attributes:
        level: 1 to 6, 0 without a heading.
        section: The second-level heading it stands under, in lower case; empty if there is none.
        made: The heading as promotion wrote it, with a line break before and after for each blank line it came
            with; None for lines of other authors.
    """

    heading: Line | None
    level: int = 0
    section: str = ""
    made: str | None = None
    body: list[Line] = field(default_factory=list)

    @property
    def size(self) -> int:
        """How many lines of the body come before its trailing blank ones."""
        size = len(self.body)
        while size and self.body[size - 1].is_blank:
            size -= 1
        return size

    def end_of_item(self, line: Line) -> int:
        """Return the position in the body after *line* and what people attached to it: nested or continued lines."""
        start = end = self.body.index(line) + 1
        for position in range(start, len(self.body)):
            other = self.body[position]
            if other.is_blank:
                continue
            follows_closely = position == end
            goes_on = other.is_opaque and self.body[position - 1].is_opaque and position > start
            continues = follows_closely and other.owner is None and not is_bullet(other)
            if not (goes_on or continues or (other.text[:1] in (" ", "\t") and other.owner is None)):
                break
            end = position + 1
        return end


class MemoryFile:
    """A text in parts."""

    def __init__(self, text: str) -> None:
        self._bom = _BOM if text.startswith(_BOM) else ""
        lines, self._ends_with_newline = _split(text[len(self._bom) :])
        self.newline = "\n"
        if lines:
            self.newline = self.end_of(lines[0])
        self.parts = _parts(lines)

    @property
    def is_blank(self) -> bool:
        """Whether nothing can be seen of it."""
        return all(line.is_blank for line in self.lines())

    def end_of(self, line: Line) -> str:
        """Return what *line* ends with when others follow."""
        if line.end:
            return line.end
        # A last line may end with a lone CR, which a mere LF after it would turn into a line end of its own.
        return "\r\n" if line.text.endswith("\r") else self.newline

    def lines(self) -> Iterator[Line]:
        """Return its lines in order."""
        for part in self.parts:
            if part.heading is not None:
                yield part.heading
            yield from part.body

    def may_remove(self, part: Part) -> bool:
        """Return whether *part* has a heading of promotion's with nothing of other authors under it."""
        if part.made is None or any(line.owner is None and not line.is_blank for line in part.body):
            return False
        behind = self.parts.index(part) + 1
        return behind == len(self.parts) or self.parts[behind].level <= 2

    def text(self) -> str:
        """Return the complete text."""
        lines = list(self.lines())
        pieces = list(chain.from_iterable((line.text, self.end_of(line)) for line in lines))
        if lines and not self._ends_with_newline:
            pieces.pop()
        return self._bom + "".join(pieces)


def is_bullet(line: Line) -> bool:
    """Return whether an item of a list begins at the beginning of *line*."""
    return not line.is_opaque and _BULLET.match(line.text) is not None


def _split(text: str) -> tuple[list[Line], bool]:
    pieces = text.split("\n")
    last = pieces.pop()
    lines = [Line(piece[:-1], "\r\n") if piece.endswith("\r") else Line(piece, "\n") for piece in pieces]
    if last:
        lines.append(Line(last))
    _mark_opaque(lines)
    return lines, not last


def _mark_opaque(lines: Sequence[Line]) -> None:
    """Mark code between fences and comments. What is never closed marks nothing, and nothing after it is looked at."""
    position = 0
    while position < len(lines):
        end = _end_of_opaque(lines, position)
        if end is None:
            return
        for line in lines[position:end]:
            line.is_opaque = True
        position = max(end, position + 1)


def _end_of_opaque(lines: Sequence[Line], start: int) -> int | None:
    """Return the position after what opens at *start*, *start* itself if nothing does, None if it stays open."""
    text = lines[start].text
    if fence := _FENCE.match(text):
        closing = re.compile(rf" {{0,3}}{fence[1][0]}{{{len(fence[1])},}}[ \t]*$")
        return next((i + 1 for i in range(start + 1, len(lines)) if closing.match(lines[i].text)), None)
    if comment := _COMMENT.match(text):
        if "-->" in text[comment.end() :]:
            return start + 1
        return next((i + 1 for i in range(start + 1, len(lines)) if "-->" in lines[i].text), None)
    return start


def _parts(lines: Sequence[Line]) -> list[Part]:
    parts = [Part(None)]
    section = ""
    for line in lines:
        found = None if line.is_opaque else _HEADING.match(line.text)
        if found is None:
            parts[-1].body.append(line)
            continue
        level = len(found[1])
        if level <= 2:
            section = _name(line.text[found.end() :]).casefold() if level == 2 else ""
        parts.append(Part(line, level, section))
    return parts


def _name(text: str) -> str:
    """The name in a heading: what stands after the signs it begins with and before those it may end with."""
    name = text.strip()
    bare = name.rstrip("#")
    return bare.rstrip() if not bare or bare[-1] in " \t" else name
