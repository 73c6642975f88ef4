"""What stands in every prompt: the visible notes of some types, but for what is told already or too long past."""

import asyncio
from itertools import islice
from typing import Final, NamedTuple

from shelfd.memory.sessions.listing import types_named
from shelfd.memory.sessions.reading import Reading
from shelfd.memory.sessions.recent import RecentTurns, last_turns

#: Places of an order looked at before other tasks have their turn: some milliseconds.
_AT_ONCE: Final = 2_048


class Bounds(NamedTuple):
    """Which notes of the types that always stand in a prompt do so now.

    Attributes:
        raw: Turns that the prompt holds in full: what they touched last is left out, unless only the latest note of
            each thing is visible, which says more than its last turn.
        since: Number of the turn before which nothing was touched that still counts; None for all. What no turn
            touched is long past.
    """

    raw: RecentTurns | None = None
    since: int | None = None


def bounds_of(reading: Reading, *, recent_raw_turns: int, max_seq_distance: int) -> Bounds:
    """Return the bounds for a prompt that holds the last *recent_raw_turns*; a distance of 0 bounds nothing."""
    since = None if max_seq_distance < 1 else max(1, _latest(reading) - max_seq_distance + 1)
    return Bounds(last_turns(reading.shelf.view, reading.session, recent_raw_turns), since)


def _latest(reading: Reading) -> int:
    """The number of the last turn that the nugget has seen, or had when the session was frozen."""
    nugget = reading.shelf.view.nuggets.get(reading.session.nugget)
    if nugget is not None and reading.session.at_seq is None:
        return nugget.turn_count
    return max((reading.graph.seq_to(node) for _, node in islice(reading.graph.frontier(), 1)), default=0)


async def always_injected(
    reading: Reading, bounds: Bounds, *, after: int | None = None, limit: int | None = None
) -> list[tuple[int, int]]:
    """Return the notes that always stand in the prompt, in the order of time; of each its key there and its node.

    Args:
        reading: The read.
        bounds: Which of them do.
        after: The key of the one before; None begins with the first.
        limit: How many at most; None for all.
    """
    graph = reading.graph
    kinds = [kind for kind in reading.schema.types.values() if kind.is_in_every_prompt]
    types = types_named(reading, [kind.name for kind in kinds])
    exempt = types_named(reading, [kind.name for kind in kinds if kind.latest_only]) or ()

    def admits(node: int) -> bool:
        seq_to = graph.seq_to(node)
        if not graph.is_in_frontier(node) or not reading.is_open(node):
            return False
        if bounds.since is not None and seq_to < bounds.since:
            return False
        return bounds.raw is None or not bounds.raw.holds(seq_to) or graph.type(node) in exempt

    found: list[tuple[int, int]] = []
    while some := list(islice(graph.timeline(types, after=after, from_seq=bounds.since), _AT_ONCE)):
        found += [one for one in some if admits(one[1])]
        if limit is not None and len(found) >= limit:
            return found[:limit]
        after = some[-1][0]
        await asyncio.sleep(0)
    return found


async def frontier_ids(reading: Reading) -> list[str]:
    """Return the ids of all notes of the frontier, in its order."""
    graph, after = reading.graph, None
    found: list[str] = []
    while some := list(islice(graph.frontier(after=after), _AT_ONCE)):
        found += [graph.id(node) for _, node in some if reading.is_open(node)]
        after = some[-1][0]
        await asyncio.sleep(0)
    return found
