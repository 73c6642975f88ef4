"""Notes that name an entity anywhere, whether rules found that or not: what a purge of it takes, and what stays."""

import asyncio
from collections.abc import AsyncIterator, Collection, Sequence
from typing import Final, NamedTuple

from shelfd.memory.knowledge.entities.naming import SoughtName, names_any, sought_names
from shelfd.memory.methods.entities import mentioning_any
from shelfd.memory.notes.filter import NoteFilter
from shelfd.memory.notes.words import fold, split
from shelfd.memory.recall import ShelfIndex
from shelfd.memory.recall.particulars import ShelfParticulars
from shelfd.memory.shelf.shelf import Shelf

#: Notes looked at without yielding to other tasks: some milliseconds.
_PAGE: Final = 32
_LONG: Final = 64 * 1024  #: characters
_EVERY_NOTE: Final = NoteFilter(include_hidden=True)


class NamedNotes(NamedTuple):
    """Notes by what they have of an entity's names.

    Attributes:
        ids: Of those that name it, the most about it first.
        others: Ids of those that have the words of a name otherwise, the newest first.
    """

    ids: Sequence[str]
    others: Sequence[str]


async def notes_naming(shelf: Shelf, type_: str, value: str) -> NamedNotes:
    """Return which notes of a shelf name an entity by any of its names, and which only have the words of one."""
    taken: dict[int, str] = {}
    async for notes in mentioning_any(shelf, type_, value, _EVERY_NOTE, most=None):
        taken |= {note.row: note.id for note in notes}
    known = shelf.view.entities.called(shelf.enrichment.same(type_, value))
    names = sought_names(type_, [*shelf.enrichment.spellings(type_, value), *(one.value for one in known)])
    others: dict[int, str] = {}
    found: set[int] = set()
    for words in dict.fromkeys(words for name in names for words in _forms(name)):
        async for some in _having(shelf, " ".join(words)):
            found.update(some)
            await asyncio.sleep(0)
    rows = sorted(found.difference(taken), reverse=True)
    for begin in range(0, len(rows), _PAGE):
        size = 0
        for row, note in sorted(shelf.view.notes.by_rows(rows[begin : begin + _PAGE]).items(), reverse=True):
            (taken if names_any(names, note) else others)[row] = note.id
            size += len(note.content)
            if size > _LONG:
                size = await asyncio.sleep(0, 0)
        await asyncio.sleep(0)
    return NamedNotes(list(taken.values()), list(others.values()))


def _forms(name: SoughtName) -> Sequence[tuple[str, ...]]:
    """The words of a name, and with the "s" that makes it somebody's."""
    *before, last = name.words
    return name.words, (*before, f"{last}s")


async def _having(shelf: Shelf, words: str) -> AsyncIterator[Collection[int]]:
    """Yield the rows of the notes that have all of some words: in their text, and beside it."""
    index = shelf.projection(ShelfIndex).index
    if said := index.analyzer.words(words):
        yield index.having(said, _EVERY_NOTE, None)
    yield shelf.projection(ShelfParticulars).having(split(fold(words)))
