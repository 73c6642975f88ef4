"""Use case note.search: the published formula over the notes that have something of the query."""

import asyncio
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from shelfd.memory.call import Call
from shelfd.memory.facts import Candidates, Scored, is_in, shares_of
from shelfd.memory.facts.note_memory import fields_of
from shelfd.memory.methods.nuggets import existing_nugget
from shelfd.memory.methods.registry import read
from shelfd.memory.methods.render import NoteRenderer
from shelfd.memory.notes.filter import RECALLABLE, NoteFilter
from shelfd.memory.recall.largest import largest
from shelfd.memory.shelf.shelf import Shelf
from shelfd.protocol.methods.search import NoteSearchParams

#: Notes that recall finds by words and that are taken in at once, while most of a shelf is not yet.
_FOUND: Final = 256
#: Notes whose texts are looked at for the whole query, those first that score best without it.
_LOOKED_AT: Final = 512
#: Of these, how many without giving others a turn: some 2 ms.
_AT_ONCE: Final = 64
#: Results taken in reserve for those that go while others have their turn.
_RESERVE: Final = 8


@read("note.search")
async def search(shelf: Shelf, params: NoteSearchParams, _call: Call) -> dict[str, Any]:
    """Return the notes most like a query; looking for notes is no use of them."""
    if params.nugget is not None:
        existing_nugget(shelf, params.nugget)
    filters = RECALLABLE._replace(
        nugget=params.nugget,
        scope=params.scope,
        type=params.type,
        subject=params.subject,
        include_hidden=params.include_hidden,
        include_superseded=not params.exclude_superseded,
        now=shelf.clock.now(),
    )
    if not await shelf.vectors.catch_up():
        await shelf.vectors.learn([hit.id for hit in shelf.index.search(params.query, filters, _FOUND).hits])
    found = shelf.vectors.candidates(params.query)
    await asyncio.sleep(0)  # of 100,000 notes that have a common word, each of these steps takes 10 to 20 ms
    found = found.take(np.flatnonzero(shelf.index.admitted(found.rows, filters)))
    await asyncio.sleep(0)
    found = found.settled(await _contained(shelf, params.query, found))
    return {"results": _results(shelf, found, filters, params.limit)}


async def _contained(shelf: Shelf, query: str, found: Candidates) -> npt.NDArray[np.bool_]:
    """In which of the candidates the whole query stands: where that is unsure, their texts are looked at."""
    contained = found.contained.copy()
    ids: list[str] = found.ids.tolist()
    raw = found.scored().raw
    best = largest(_LOOKED_AT, np.flatnonzero(found.unsure), raw.__getitem__, lambda places: -places)
    best_first: list[int] = best[np.lexsort((best, -raw[best]))].tolist()
    for start in range(0, len(best_first), _AT_ONCE):
        if start:
            await asyncio.sleep(0)
        places = best_first[start : start + _AT_ONCE]
        notes = shelf.hot.get([ids[place] for place in places])
        for place in places:
            note = notes.get(ids[place])
            contained[place] = note is not None and is_in(query, fields_of(note).text)
    return contained


def _results(shelf: Shelf, found: Candidates, filters: NoteFilter, limit: int) -> list[dict[str, Any]]:
    scored = found.scored()
    shares = shares_of(scored.raw)
    best = _best(found, scored, limit + _RESERVE)
    # While others had their turn a note may have gone or changed: what is shown is as it is now.
    now = shelf.hot.get([found.ids[place] for place in best])
    shown = [(place, note) for place in best if (note := now.get(found.ids[place])) and filters.admits(note)][:limit]
    notes = [note for _, note in shown]
    links = shelf.view.links.leaving([note.id for note in notes])
    renderer = NoteRenderer(shelf.view, shelf.usage.of(notes), links, full=False)
    return [
        {
            "note": renderer(note),
            "score": round(float(shares[place]), 6),
            "raw_score": round(float(scored.raw[place]), 6),
            "vector_score": round(float(scored.vector[place]), 6),
            "text_score": round(float(scored.text[place]), 6),
        }
        for place, note in shown
    ]


def _best(found: Candidates, scored: Scored, count: int) -> list[int]:
    """Places of the *count* best, in order; among equals, those updated last first."""
    raw, updated_at, rows = scored.raw, found.updated_at, found.rows
    places = largest(count, np.arange(len(raw)), raw.__getitem__, updated_at.__getitem__, rows.__getitem__)
    return [int(place) for place in places[np.lexsort((-rows[places], -updated_at[places], -raw[places]))]]
