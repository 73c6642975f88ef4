"""How notes spell a name that is asked for with other accents."""

import asyncio
from collections.abc import Sequence

from shelfd.memory.knowledge.entities.kinds import IDENTIFIER_TYPES, key_of, related_types
from shelfd.memory.knowledge.entities.phrases import FOUND_BY_SURROUNDINGS, said_as, words_of
from shelfd.memory.notes.filter import NoteFilter
from shelfd.memory.notes.words import fold
from shelfd.memory.recall import ShelfIndex
from shelfd.memory.shelf.shelf import Shelf

#: Notes that have the words of a name and may spell it otherwise.
_LOOKED_AT = 32


async def as_spelled(shelf: Shelf, type_: str, value: str, wanted: NoteFilter) -> str:
    """Return the name that differs from *value* in accents alone, as an alias or the newest of *wanted* notes has it.

    Where something is called exactly so, or nothing almost so, that is *value*: "Muller" and "Müller" are two if there
    are both.
    """
    entities = shelf.view.entities
    if type_ in IDENTIFIER_TYPES or entities.called(shelf.enrichment.same(type_, value)):
        return value
    if (alias := shelf.enrichment.accented(type_, value)) is not None:
        return alias
    types, plain = related_types(type_), fold(key_of(type_, value))
    index = shelf.projection(ShelfIndex).index
    words = index.analyzer.words(value)
    rows = index.having(words, wanted, _LOOKED_AT) if words else []
    for row in rows:
        for one in entities.of_note(row):
            if one.type in types and fold(one.key) == plain:
                return one.value
    return await _as_said(shelf, value, rows) if type_ in FOUND_BY_SURROUNDINGS else value


async def _as_said(shelf: Shelf, value: str, rows: Sequence[int]) -> str:
    """Return how notes say a name of several words where nothing shows what it is; *value* if one says it so."""
    exact = words_of(value)
    name, other = tuple(fold(word) for word in exact), value
    if len(name) < 2:
        return value
    for _, note in sorted(shelf.view.notes.by_rows(rows).items(), reverse=True):
        written = said_as(f"{note.title}\n{note.content}", name)
        if written is not None and words_of(written) == exact:
            return value
        if written is not None and other == value:
            other = written
        await asyncio.sleep(0)
    return other
