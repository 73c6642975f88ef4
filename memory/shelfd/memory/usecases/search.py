"""Use case note.search: the published formula over the notes that have something of the query."""

import asyncio
from typing import Any, Final, NamedTuple

from shelfd.memory.call import Call
from shelfd.memory.fhrr import note_score
from shelfd.memory.indexing import admits
from shelfd.memory.note import Note
from shelfd.memory.recall import Filters
from shelfd.memory.render import NoteRenderer
from shelfd.memory.shelf import Shelf
from shelfd.memory.usecases.nuggets import existing_nugget
from shelfd.memory.usecases.registry import read
from shelfd.protocol.methods.search import NoteSearchParams

#: Notes considered at most by words, and as many by vectors.
_CANDIDATES: Final = 256
#: Notes like the query that are looked at for those which pass the filters.
_LOOKED_AT: Final = 2_048
#: Characters compared with a query without giving others a turn: some 2 ms.
_AT_ONCE: Final = 8_000


class Match(NamedTuple):
    """A candidate and its scores."""

    note: Note
    raw: float
    vector: float
    text: float


@read("note.search")
async def search(shelf: Shelf, params: NoteSearchParams, _call: Call) -> dict[str, Any]:
    """Return the notes most like a query; looking for notes is no use of them."""
    if params.nugget is not None:
        existing_nugget(shelf, params.nugget)
    await shelf.vectors.catch_up()
    filters = Filters(
        nugget=params.nugget,
        scope=params.scope,
        type=params.type,
        subject=params.subject,
        include_hidden=params.include_hidden,
        include_superseded=not params.exclude_superseded,
        now=shelf.clock.now(),
    )
    matches = await _scored(shelf, params.query, _candidates(shelf, params.query, filters))
    # While others had their turn a note may have gone or changed: what is shown is as it is now.
    now = shelf.hot.get([match.note.id for match in matches])
    matches = [match for match in matches if (note := now.get(match.note.id)) is not None and admits(filters, note)]
    matches.sort(key=lambda match: (-match.raw, -match.note.updated_at, -match.note.row))
    shares = note_score.softmax([match.raw for match in matches])
    best = matches[: params.limit]
    notes = [now[match.note.id] for match in best]
    renderer = NoteRenderer(
        shelf.view, shelf.usage.of(notes), shelf.view.links_from([note.id for note in notes]), full=False
    )
    results = [
        {
            "note": renderer(note),
            "score": round(share, 6),
            "raw_score": round(match.raw, 6),
            "vector_score": round(match.vector, 6),
            "text_score": round(match.text, 6),
        }
        for note, match, share in zip(notes, best, shares, strict=False)
    ]
    return {"results": results}


def _candidates(shelf: Shelf, query: str, filters: Filters) -> list[Note]:
    """The notes that recall finds by words, then those whose vectors are most like the query's."""
    ids = [hit.id for hit in shelf.index.search(query, filters, _CANDIDATES).hits]
    found = {note.id: note for note in shelf.hot.get(ids).values() if admits(filters, note)}
    like = shelf.vectors.best(query, _LOOKED_AT)
    added = 0
    for start in range(0, len(like), _CANDIDATES):
        notes = shelf.hot.get(like[start : start + _CANDIDATES])
        fitting = [note for note in notes.values() if note.id not in found and admits(filters, note)]
        found.update((note.id, note) for note in fitting[: _CANDIDATES - added])
        added += len(fitting)
        if added >= _CANDIDATES:
            break
    return list(found.values())


async def _scored(shelf: Shelf, query: str, notes: list[Note]) -> list[Match]:
    """The scores of *notes*; one that has nothing of the query is no match."""
    ids = [note.id for note in notes]
    await shelf.vectors.learn(ids)
    cosines = shelf.vectors.cosines(query, ids)
    matches = []
    compared = 0
    for note in notes:
        match = _match(query, note, cosines.get(note.id, 0.0))
        if match is not None:
            matches.append(match)
        compared += len(note.content) + len(note.title)
        if compared > _AT_ONCE:
            compared = 0
            await asyncio.sleep(0)
    return matches


def _match(query: str, note: Note, cosine: float) -> Match | None:
    searched = note_score.searched_text(
        title=note.title,
        content=note.content,
        tags=note.all_tags,
        subject=note.subject,
        scope=note.scope,
        type_=note.type,
    )
    text = note_score.text_score(query, searched)
    if not text and not cosine:
        return None
    vector = note_score.vector_score(cosine)
    added = note_score.boost(stability=note.stability, scope=note.scope, confidence=note.confidence)
    return Match(note, note_score.raw_score(vector, text, added), vector, text)
