"""Text cut into whole sentences, and into chunks of these. One pass, without nested repetition."""

import asyncio
import re
from collections.abc import Iterator
from itertools import chain
from typing import Final

from shelfd.memory.notes.sentences import ends_sentence
from shelfd.memory.notes.text import Fences

#: Longest sentence; what is longer is cut at a blank.
LONGEST_SENTENCE: Final = 2_000
_END: Final = re.compile("[.!?\u2026]+[\"'\u201d\u2019\u00bb)\\]]*(?=\\s|$)|[\u3002\uff01\uff1f]+[\u300d\u300f\u201d]*")
_BULLET: Final = re.compile(r"\s*(?:[-*+\u2022\u2013>]|#{1,6}|\d{1,3}[.)])\s+")
#: Characters that are looked at together.
_BLOCK: Final = 4_000
#: Characters of a text that is not cut at once.
_LONG: Final = 16_000
#: A line so long, without an end of its own, goes on in the next one.
_WRAPPED: Final = 55


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences of *text* in order, each on one line with its mark at the end; code in fences is left out.

    A full stop ends none after an abbreviation or an initial, and none before a small letter. A line is its own unless
    it is long, as wrapped text is, or the next one goes on in small letters.
    """
    for block in _blocks(text):
        start = 0
        for match in _END.finditer(block):
            if not _is_end(block, start, match):
                continue
            yield from _bounded(block[start : match.end()])
            start = match.end()
        yield from _bounded(block[start:])


def _blocks(text: str) -> Iterator[str]:
    """Lines that belong together, joined by blanks; so many that each block is a few milliseconds' work."""
    fences = Fences()
    gathered: list[str] = []
    size = 0
    for line in chain.from_iterable(map(_parts, text.split("\n"))):
        bullet = _BULLET.match(line)
        bare = line[bullet.end() :].strip() if bullet else line.strip()
        is_code = fences.encloses(line)
        ends = is_code or not bare or bullet or size > _BLOCK
        if gathered and (ends or not _goes_on(gathered[-1], bare)):
            yield " ".join(gathered)
            gathered, size = [], 0
        if bare and not is_code:
            gathered.append(bare)
            size += len(bare)
    if gathered:
        yield " ".join(gathered)


def _parts(line: str) -> Iterator[str]:
    """A line, or one that is very long in parts, cut at blanks."""
    start = 0
    while len(line) - start > _BLOCK:
        blank = line.rfind(" ", start + 1, start + _BLOCK)
        end = blank if blank > 0 else start + _BLOCK
        yield line[start:end]
        start = end
    yield line[start:]


def _goes_on(line: str, following: str) -> bool:
    return len(line) >= _WRAPPED or following[0].islower()


def _is_end(block: str, start: int, match: re.Match[str]) -> bool:
    if match[0] != ".":
        return True
    after = match.end() + 1
    return ends_sentence(block, start, match.start(), after) and not block[after : after + 1].islower()


def _bounded(sentence: str) -> Iterator[str]:
    rest = " ".join(sentence.split())
    while len(rest) > LONGEST_SENTENCE:
        blank = rest.rfind(" ", 1, LONGEST_SENTENCE)
        end = blank if blank > 0 else LONGEST_SENTENCE
        yield rest[:end]
        rest = rest[end:].strip()
    if any(sign.isalnum() for sign in rest):
        yield rest


def chunks(text: str, size: int) -> list[str]:
    """Return all of *text* in chunks of at most *size* characters, which end where sentences do if that is possible."""
    found: list[str] = []
    start = 0
    while len(text) - start > size:
        end = start + _cut_in(text[start : start + size])
        found.append(text[start:end].strip())
        start = end
    found.append(text[start:].strip())
    return [chunk for chunk in found if chunk]


async def cut_chunks(text: str, size: int) -> list[str]:
    """Return what :func:`chunks` does; a long text is cut in a thread, for that takes longer than the loop may."""
    return chunks(text, size) if len(text) < _LONG else await asyncio.to_thread(chunks, text, size)


def _cut_in(window: str) -> int:
    """Where in a *window* of text it is cut best: after a sentence, a line or a word of its second half."""
    half = len(window) // 2
    ends = [match.end() for match in _END.finditer(window, half) if _is_end(window, 0, match)]
    if ends:
        return ends[-1]
    for sign in ("\n", " "):
        if (at := window.rfind(sign, half)) > 0:
            return at + 1
    return len(window)
