"""Use case topic.list: what a shelf knows something about, by the beginning of its name."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any, Final

from shelfd.memory.call import Call
from shelfd.memory.knowledge.entities.kinds import key_of, shown
from shelfd.memory.methods.entities import mentioning
from shelfd.memory.methods.registry import read
from shelfd.memory.notes.filter import RECALLABLE
from shelfd.memory.shelf.shelf import Shelf
from shelfd.protocol.methods.entities import TopicListParams

#: Entities of a type that are looked at for one whose notes may be recalled.
_LOOKED_AT: Final = 200
#: Pages of its notes that are looked at.
_PAGES: Final = 6


@read("topic.list")
async def topics(shelf: Shelf, params: TopicListParams, _call: Call) -> dict[str, Any]:
    """Return nuggets, and entities of notes that a recall may return, whose names begin so."""
    found: list[dict[str, str]] = [{"name": name, "kind": "nugget"} for name in _nuggets(shelf, params)]
    for count in shelf.view.entities.counts():
        left = params.limit - len(found)
        if left <= 0:
            break
        values = [value async for value in _entities(shelf, count.type, params.beginning, left)]
        found += [{"name": value, "kind": "entity", "type": count.type} for value in values]
        await asyncio.sleep(0)
    return {"topics": found}


def _nuggets(shelf: Shelf, params: TopicListParams) -> list[str]:
    beginning = params.beginning.strip().casefold()
    # What begins with it comes right after it; itself is found by name.
    page = shelf.view.nuggets.page(after=beginning, limit=params.limit)
    same = shelf.view.nuggets.get(beginning)
    names = [nugget.name for nugget in ([same] if same else []) + page if nugget.name.startswith(beginning)]
    return names[: params.limit]


async def _entities(shelf: Shelf, type_: str, beginning: str, limit: int) -> AsyncIterator[str]:
    given = 0
    wanted = RECALLABLE._replace(now=shelf.clock.now())
    for entity in shelf.view.entities.beginning(type_, key_of(type_, beginning.strip()), limit=_LOOKED_AT):
        pages = 0
        async for notes in mentioning(shelf, [(type_, entity.key)], wanted):
            pages += 1
            if notes:
                given += 1
                yield shown(type_, entity.value)
            if notes or pages == _PAGES:
                break
        if given == limit:
            return
