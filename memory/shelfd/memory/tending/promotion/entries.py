"""From notes to entries of MEMORY.md: which notes, in which section, as which line."""

import re
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from shelfd.memory.notes.note import Note, Usage
from shelfd.memory.notes.text import cut

#: Distinct sessions in which a note was returned before it is promoted.
MIN_HITS: Final = 3
#: Sections that come before all others.
_FIRST_SECTIONS: Final = ("learnings", "preferences")
_NEVER_USED: Final = Usage()
_TITLE_WORDS: Final = 5
_TITLE_CHARACTERS: Final = 48

#: What would end a line here or in some editor: control characters but the tab, and Unicode's line separators.
_BREAK = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029]+")
#: Signs that would end a title's bold face or begin code in it, and backslashes that would escape what follows.
_TITLE_SIGN = re.compile(r"[*`]|\\(?=[!-/:-@\[-`{-~]|$)")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_BULLET = re.compile(r" {0,3}[-*+][ \t]+\*\*((?:\\.|[^\\*]|\*(?!\*))+)\*\*")


class PromotionLine(NamedTuple):
    """One line that promotion would write for a note."""

    note_id: str
    row: int
    section: str
    line: str


def entries_of(notes: Iterable[Note], usage: Mapping[int, Usage], *, now: int) -> list[PromotionLine]:
    """Return the entries of those of *notes* that may be promoted, the most valuable first, equal lines once.

    Pinned notes come first, then those with more hits, then those used later.

    Args:
        notes: Visible notes that nothing replaced, with enough hits.
        usage: Their usage by row.
        now: Microseconds since 1970 UTC.
    """

    def value(note: Note) -> tuple[bool, int, int, int]:
        used = usage.get(note.row, _NEVER_USED)
        return (note.pinned, used.hits, used.last_accessed_at, note.row)

    found: dict[str, PromotionLine] = {}
    for note in sorted(filter(lambda note: _may_be_promoted(note, now), notes), key=value, reverse=True):
        line = line_of(note)
        found.setdefault(line, PromotionLine(note.id, note.row, section_of(note), line))
    return list(found.values())


def _may_be_promoted(note: Note, now: int) -> bool:
    return note.scope != "session" and (note.expires_at is None or note.expires_at > now)


def section_of(note: Note) -> str:
    """Return the section a note belongs to; the first rule that fits decides."""
    if note.type == "preference" or "preferences" in note.tags:
        return "preferences"
    if "learnings" in note.tags:
        return "learnings"
    if note.subject == "assistant:self":
        return "assistant-self"
    if note.scope in ("shared", "project"):
        return "shared-context"
    return "user" if note.subject.startswith("user:") else note.nugget


def section_order(section: str) -> tuple[int, str]:
    """Return the key by which sections are sorted: learnings, preferences, the others alphabetically."""
    return (_FIRST_SECTIONS.index(section) if section in _FIRST_SECTIONS else len(_FIRST_SECTIONS), section)


def line_of(note: Note) -> str:
    """Return a note as one line of Markdown: its title in bold face, a colon, its content.

    A note without a title is called by its first words. Line breaks become one blank. Comment marks are escaped,
    and so is what would end the title early.
    """
    content = one_line(note.content)
    title = one_line(note.title) or _first_words(content)
    line = f"- **{_TITLE_SIGN.sub(_escape, title)}**: {content}".rstrip()
    return line.replace("<!--", "\\<!--").replace("-->", "--\\>")


def one_line(text: str) -> str:
    """Return *text* with each run of line breaks and control characters as one blank."""
    return " ".join(part for piece in _BREAK.split(text) if (part := piece.strip()))


def title_of(line: str) -> str | None:
    """Return the title of a bullet in the form to compare it by, None if *line* has none.

    Also knows what people write: other bullets, and the colon inside the bold face.
    """
    found = _BULLET.match(line)
    if found is None:
        return None
    return " ".join(_ESCAPED.sub(r"\1", found[1]).split()).rstrip(":").rstrip().casefold()


def _escape(sign: re.Match[str]) -> str:
    return "\\" + sign[0]


def _first_words(content: str) -> str:
    words = " ".join(content.split()[:_TITLE_WORDS])
    return cut(words, _TITLE_CHARACTERS).rstrip(" .,;:!?") or "note"
