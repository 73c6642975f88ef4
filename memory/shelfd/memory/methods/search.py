"""Use case note.search: the published formula over the notes that have something of the query."""

import asyncio
import math
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from shelfd.memory.call import Call
from shelfd.memory.methods.registry import read
from shelfd.memory.methods.render import NoteRenderer
from shelfd.memory.notes.filter import RECALLABLE, NoteFilter
from shelfd.memory.notes.note import Note
from shelfd.memory.recall import ShelfIndex
from shelfd.memory.recall.note_score import NoteQuestion, NoteScore, score_of, shares_of, stands_in
from shelfd.memory.recall.note_search import Candidates
from shelfd.memory.shelf.nuggets import get_nugget
from shelfd.memory.shelf.shelf import Shelf
from shelfd.protocol.methods.search import NoteSearchParams

#: Notes whose texts are looked at together, and after how many other tasks run: some 0.3 and 2 ms.
_AT_ONCE: Final = 8
_TURN: Final = 64
#: How much too low the estimate of a score may be, at most, for want of the note's text.
_UNSURE: Final = 0.002
#: Spare results for those that are deleted while other tasks run.
_RESERVE: Final = 3


class _Match(NamedTuple):
    note: Note
    score: NoteScore


@read("note.search")
async def search(shelf: Shelf, params: NoteSearchParams, _call: Call) -> dict[str, Any]:
    """Return the notes most like a query; looking for notes is no use of them."""
    if params.nugget is not None:
        get_nugget(shelf.view, params.nugget)
    filters = RECALLABLE._replace(
        nugget=params.nugget,
        scope=params.scope,
        type=params.type,
        subject=params.subject,
        include_hidden=params.include_hidden,
        include_superseded=not params.exclude_superseded,
        now=shelf.clock.now(),
    )
    notes = shelf.projection(ShelfIndex).index.notes
    question, matches, rest = await _found(shelf, params, filters)
    # The index seldom gives its terms new numbers; it may also have been rebuilt.
    if not notes.is_current(question) or notes is not shelf.projection(ShelfIndex).index.notes:
        _, matches, rest = await _found(shelf, params, filters)
    return {"results": _results(shelf, matches, rest, filters, params.limit)}


async def likely(shelf: Shelf, query: str, filters: NoteFilter) -> list[Note]:
    """Return the notes that have most of *query*, best first, not more than are worth a look.

    A note in which it stands entirely, be it within words, comes before all others.
    """
    while True:
        notes = shelf.projection(ShelfIndex).index.notes
        question, found = await _candidates(shelf, query, filters)
        if notes.is_current(question) and notes is shelf.projection(ShelfIndex).index.notes:
            break
    there = shelf.hot.get(found.ids) if found else {}
    return [note for id_ in (found.ids if found else ()) if (note := there.get(id_)) and filters.admits(note)]


async def _found(
    shelf: Shelf, params: NoteSearchParams, filters: NoteFilter
) -> tuple[NoteQuestion, list[_Match], npt.NDArray[np.float64]]:
    question, found = await _candidates(shelf, params.query, filters)
    if found is None:
        return question, [], np.zeros(0)
    return question, *await _looked_at(shelf, question, found, params.limit)


async def _candidates(shelf: Shelf, query: str, filters: NoteFilter) -> tuple[NoteQuestion, Candidates | None]:
    notes = shelf.projection(ShelfIndex).index.notes
    is_ready = notes.follow()
    while not is_ready:
        await asyncio.sleep(0)
        is_ready = notes.follow()
    question = notes.question(query)
    found: Candidates | None = None
    for found in notes.candidates(question, filters):  # noqa: B007 - the last one has them all
        await asyncio.sleep(0)
    return question, found


async def _looked_at(
    shelf: Shelf, question: NoteQuestion, found: Candidates, limit: int
) -> tuple[list[_Match], npt.NDArray[np.float64]]:
    """Return the scores of the best, from their texts, best first; and about those of the others."""
    matches: list[_Match] = []
    passed_over: list[float] = []
    errors: list[float] = []
    needed = -math.inf
    for at in range(0, len(found.ids), _AT_ONCE):
        if at >= limit + _RESERVE and len(matches) >= limit:
            needed = matches[limit - 1].score.raw - _UNSURE
        if found.bounds[at] <= needed:
            passed_over += found.estimates[at:].tolist()
            break
        if at and at % _TURN == 0:
            await asyncio.sleep(0)
        ids = found.ids[at : at + _AT_ONCE]
        notes = shelf.hot.get(ids)
        for note_id, estimate in zip(ids, found.estimates[at : at + _AT_ONCE].tolist(), strict=True):
            note = notes.get(note_id)
            if note is None:
                continue
            if estimate <= needed and not stands_in(note, question):  # it might have been among the best only if so
                passed_over.append(estimate)
            elif (score := score_of(note, question, shelf.projection(ShelfIndex).index.notes.known)).is_match:
                matches.append(_Match(note, score))
                errors.append(score.raw - estimate)
        matches.sort(key=lambda match: (-match.score.raw, -match.note.updated_at, -match.note.row))
    # The others are ranked by their estimates, which are as wrong as those of the notes that were looked at.
    rest = np.concatenate([passed_over, found.rest])
    return matches, rest + (float(np.median(errors)) if errors else 0.0)


def _results(
    shelf: Shelf, matches: list[_Match], rest: npt.NDArray[np.float64], filters: NoteFilter, limit: int
) -> list[dict[str, Any]]:
    shares = shares_of(np.concatenate([[match.score.raw for match in matches], rest])).tolist()
    # While other tasks ran a note may have gone or changed: what is shown is as it is now.
    best = list(zip(matches[: limit + _RESERVE], shares, strict=False))
    now = shelf.hot.get([match.note.id for match, _ in best])
    shown = [
        (note, match.score, share) for match, share in best if (note := now.get(match.note.id)) and filters.admits(note)
    ][:limit]
    notes = [note for note, _, _ in shown]
    links = shelf.view.links.leaving([note.id for note in notes])
    renderer = NoteRenderer(shelf.view, shelf.usage.of(notes), links, full=False)
    return [
        {
            "note": renderer(note),
            "score": round(share, 6),
            "raw_score": round(score.raw, 6),
            "vector_score": round(score.vector, 6),
            "text_score": round(score.text, 6),
        }
        for note, score, share in shown
    ]
