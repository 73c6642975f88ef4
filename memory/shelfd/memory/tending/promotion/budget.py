"""What of the entries fits into the file: the most valuable first."""

from collections.abc import Sequence
from typing import Final

from shelfd.memory.tending.promotion.document import MemoryFile
from shelfd.memory.tending.promotion.entries import PromotionLine

TITLE: Final = "# Memory"
NOTICE: Final = "Auto-promoted from nuggets graph notes (3+ recalls across sessions)."
#: Characters of a token, on average.
TOKEN_CHARACTERS: Final = 4


def choose(
    document: MemoryFile, entries: Sequence[PromotionLine], *, separators: int, characters: int
) -> frozenset[str]:
    """Return the notes whose entries fit. The whole file counts, what people wrote in it included.

    What is written for an entry is counted the same whether it is there already or not, so that a second look at
    the same file comes to the same choice.

    Args:
        document: With promotion's own lines and headings marked.
        entries: Those to be written or kept, the most valuable first.
        separators: Blank lines that promotion put before its entries in people's sections.
        characters: How many the file may have.
    """
    end = len(document.newline)
    used = _size_of_others(document) - separators * end
    if document.is_blank:
        used += len(TITLE) + len(NOTICE) + 3 * end
    sections = {part.section for part in document.parts if part.level == 2 and not document.may_remove(part)}
    opened: set[str] = set()
    chosen: set[str] = set()
    for entry in entries:
        cost = len(entry.line) + end
        if entry.section not in opened:
            cost += end if entry.section in sections else len(heading_of(entry.section)) + 3 * end
        if used + cost <= characters:
            used += cost
            opened.add(entry.section)
            chosen.add(entry.note_id)
    return frozenset(chosen)


def heading_of(section: str) -> str:
    """Return the heading of a section as promotion writes it."""
    return f"## {section}"


def _size_of_others(document: MemoryFile) -> int:
    """Characters of everything but what promotion wrote and may take away."""
    size, end = len(document.text()), len(document.newline)
    for part in document.parts:
        if part.made is not None and document.may_remove(part):
            size -= len(part.made.strip("\n")) + end * (1 + part.made.count("\n"))
        size -= sum(len(line.text) + len(document.end_of(line)) for line in part.body if line.owner is not None)
    return size
