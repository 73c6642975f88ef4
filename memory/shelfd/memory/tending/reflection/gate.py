"""The recall gate: what callers found lately, they must find after a reflection, too.

Before a run carries out its plan, recent queries are replayed with and without it. A step that would push a note out
of the results it was returned in is taken out of the plan. A note that becomes part of another is found by that one.
"""

import asyncio
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Final, TypeAlias

from pydantic import ValidationError

from shelfd.memory.notes.note import Link, Note
from shelfd.memory.ports.usage import RecentQuery
from shelfd.memory.recall.shelf_index import NOTHING_PLANNED, Planned
from shelfd.memory.shelf.queries import KEPT, RECENT, params_of
from shelfd.memory.shelf.shelf import Shelf
from shelfd.memory.tending.reflection.action import Action
from shelfd.protocol.methods.recall import RecallParams

#: Queries replayed in one run.
REPLAYED: Final = 50
#: Actions tried in one replay, which indexes their notes twice: all of a usual run, for even far ones shift weights.
_AT_ONCE: Final = 64
#: How often all queries are gone through, as one step taken out may leave another one to do harm.
_PASSES: Final = 3
_MICROSECOND: Final = RECENT.resolution

#: Returns the ids a recall would find on the shelf as planned; counts no hit.
Replay: TypeAlias = Callable[[Shelf, RecallParams, Planned], list[str]]


async def hold_back(shelf: Shelf, actions: list[Action], replay: Replay) -> list[Action]:
    """Take out of *actions* each one that would push a recalled note out of its top k; return those taken out."""
    if not actions:
        return []
    await shelf.write_usage()  # the queries of the last second, too
    queries = list(_affected(shelf, actions))
    out: set[int] = set()
    for _ in range(_PASSES):
        known = len(out)
        for query, params in queries:
            await shelf.reach(None)  # others write meanwhile
            recalled = [note_id for note_id in replay(shelf, params, NOTHING_PLANNED) if note_id in query.ids]
            trial = _Trial(shelf, params, recalled, replay)
            for start in range(0, len(actions), _AT_ONCE):
                tried = [i for i in range(start, min(start + _AT_ONCE, len(actions))) if i not in out]
                out |= resting_on(actions, await trial.culprits(actions, tried))
        if len(out) == known:
            break  # else what stays must do without what was taken out
    taken = [action for i, action in enumerate(actions) if i in out]
    actions[:] = [action for i, action in enumerate(actions) if i not in out]
    return taken


def resting_on(actions: Sequence[Action], out: Collection[int]) -> set[int]:
    """Return the numbers *out* and those of all actions that were planned on what these would leave."""
    found: set[int] = set()
    gone: set[str] = set()
    for i, action in enumerate(actions):
        if i in out or any(note.id in gone for note in action.rests_on()):
            found.add(i)
            gone.update(revision.new.id for revision in action.revisions)
    return found


def _affected(shelf: Shelf, actions: Sequence[Action]) -> Iterator[tuple[RecentQuery, RecallParams]]:
    """The recent queries that found a note of *actions*, the last ones first."""
    changed = _ids_of(actions)
    since = shelf.clock.now() - RECENT // _MICROSECOND
    left = REPLAYED
    for query in shelf.view.queries.recent(KEPT):
        if not left or query.at < since:
            return
        if changed.isdisjoint(query.ids):
            continue
        try:
            params = params_of(query)
        except ValidationError:
            continue  # stored by another version
        left -= 1
        yield query, params


def _ids_of(actions: Iterable[Action]) -> set[str]:
    """The notes whose place in results *actions* may change."""
    revised = {revision.new.id for action in actions for revision in action.revisions}
    return revised | {end for action in actions for link in action.links for end in (link.source, link.target)}


class _Trial:
    """One query tried on what is planned."""

    def __init__(self, shelf: Shelf, params: RecallParams, recalled: Sequence[str], replay: Replay) -> None:
        self._shelf = shelf
        self._params = params
        self._recalled = recalled
        self._replay = replay

    async def culprits(self, actions: Sequence[Action], tried: list[int]) -> set[int]:
        """Return which of the *tried* actions must not be done: single ones if that helps, else all."""
        lost = await self._lost([actions[i] for i in tried])
        out: set[int] = set()
        for i in reversed(tried):
            if not lost:
                return out
            without = resting_on(actions, out | {i})
            fewer = await self._lost([actions[j] for j in tried if j not in without])
            if fewer < lost:
                out, lost = without, fewer
        return set(tried) if lost else out

    async def _lost(self, actions: Sequence[Action]) -> int:
        """How many notes that were recalled neither are found any more nor what they were merged into."""
        if not actions or not self._recalled:
            return 0
        after = frozenset(self._replay(self._shelf, self._params, _planned(actions)))
        await asyncio.sleep(0)
        became = {a.other.id: a.note.id for a in actions if a.type == "merge" and a.other is not None}
        return sum(_end_of(note_id, became) not in after for note_id in self._recalled)


def _end_of(note_id: str, became: dict[str, str]) -> str:
    while note_id in became:
        note_id = became[note_id]
    return note_id


def _planned(actions: Sequence[Action]) -> Planned:
    notes: dict[str, Note] = {}
    links: dict[str, list[Link]] = {}
    for action in actions:
        notes |= {revision.new.id: revision.new for revision in action.revisions}
        for link in action.links:
            links.setdefault(link.source, []).append(link)
    return Planned(notes=notes, links=links)
