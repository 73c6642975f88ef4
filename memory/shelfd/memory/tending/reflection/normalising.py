"""Step: take blanks and repetitions out of texts, and leave alone what is laid out on purpose."""

import re
from typing import Final

from shelfd.memory.notes.note import Note
from shelfd.memory.notes.text import Fences
from shelfd.memory.tending.reflection.action import Action, Revision
from shelfd.memory.tending.reflection.picture import LONGEST, Picture
from shelfd.memory.tending.reflection.step import each
from shelfd.memory.tending.reflection.words import words_of

#: Indented text; items of lists, by a sign, a number, a letter, a Roman number or a box; rows of tables; quotations.
_LAID_OUT: Final = re.compile(
    r"\s+\S|[-*+\u2013\u2014](\s|$)|[\u00b7\u2022\u2023\u2043\u25a0-\u25ff\u2610-\u2612\u2713-\u2718]"
    r"|\(?(\d{1,9}|[A-Za-z]|[ivxlcIVXLC]+)[.)](\s|$)|\[[ xX]\]\s|[>\u00bb]|.*\|"
)
_STOPS: Final = r"[.!?\u2026\u3002\uff01\uff1f\u061f\u06d4\u0964\u0965]"
_SENTENCE_END: Final = re.compile(rf"{_STOPS}[\"'\u201d\u2019\u00bb)\]\u300d]*$")
_SENTENCE_WORDS: Final = 4


def normalised(content: str) -> str:
    """Return *content* without blanks at line ends, runs of blank lines and repeated lines.

    Lines in fenced or indented code, list items, table rows and quotations stay as they are. Elsewhere a line goes
    that equals the one before; one that equals any earlier line goes if it is a sentence of four words or more.
    """
    kept: list[str] = []
    sentences: set[str] = set()
    fences = Fences()
    for raw in content.split("\n"):
        if fences.encloses(raw) or _LAID_OUT.match(raw):
            kept.append(raw)
        else:
            line = raw.rstrip()
            if not _repeats(line, kept, sentences):
                kept.append(line)
    while kept and not kept[-1] and not fences.is_open:
        del kept[-1]
    return "\n".join(kept)


def is_laid_out(content: str) -> bool:
    """Return whether *content* holds lines whose place among others means something: code, lists, tables."""
    fences = Fences()
    return any(fences.encloses(line) or _LAID_OUT.match(line) for line in content.split("\n"))


def _repeats(line: str, kept: list[str], sentences: set[str]) -> bool:
    """Whether *line* says again what was said; if not, it is remembered."""
    if not line:
        return not kept or not kept[-1]
    if line in sentences or (kept and kept[-1] == line):
        return True
    if _SENTENCE_END.search(line) and len(words_of(line)) >= _SENTENCE_WORDS:
        sentences.add(line)
    return False


def improve(note: Note, _hits: int, picture: Picture) -> Action | None:
    """Give *note* its content without repetitions."""
    if len(note.content) > LONGEST or note.extra.rendered:  # a rendering follows the fields
        return None
    content = normalised(note.content)
    if content == note.content or not content.strip():
        return None
    return Action(
        type="rewrite",
        note=note,
        detail="Normalized duplicated whitespace and repeated lines",
        revisions=(Revision(note, rewritten(note, content, picture.now)),),
    )


def rewritten(note: Note, content: str, now: int) -> Note:
    """Return *note* with another content, which its summary follows, and the time it got that."""
    return note._replace(content=content, extra=note.extra.following(content)._replace(last_rewritten_at=now))


NORMALISE: Final = each("normalise", improve)
