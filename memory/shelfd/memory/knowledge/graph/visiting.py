"""The nodes of the graph of entities that lie around one, each by the shortest way."""

from collections import deque
from typing import NamedTuple, TypeAlias

from shelfd.memory.knowledge.graph.walking import GraphReader
from shelfd.memory.ports.entities import EntityNode, StoredEntity

#: A node that was come to: from which of those before it, -1 for where the walk began; whether the edge leads from
#: there to it, and what it says; the node; the note that says so. A plain row: a record takes twice the time, and
#: there may be a thousand.
ReachedRow: TypeAlias = tuple[int, bool, str, EntityNode, str]


class NodesAround(NamedTuple):
    """What was come to, in this order, and whether there is more than might be read."""

    reached: list[ReachedRow]
    is_truncated: bool


async def visit(reader: GraphReader, start: EntityNode, *, max_depth: int, most_nodes: int) -> NodesAround:
    """Visit the nodes around one breadth first, each once.

    Args:
        reader: Whose notes and bounds count.
        start: Where it begins.
        max_depth: Steps.
        most_nodes: Nodes it comes to, beside the first.
    """
    reached: list[ReachedRow] = []
    known = {start.name}
    waiting: deque[tuple[EntityNode, int, int, StoredEntity | None]] = deque([(start, -1, 0, None)])
    while waiting and (at := waiting.popleft())[2] < max_depth:
        node, origin, depth, via = at
        is_last = depth + 1 == max_depth
        async for leads in reader.leads(node, via=via):
            placed = reader.placed([row[2] for _, rows in leads for row in rows])
            for is_outgoing, rows in leads:
                for _, note_id, number, relation in rows:
                    # Its note is not wanted, or the entity is gone since.
                    if note_id is None or (there := placed.get(number)) is None:
                        continue
                    entity, found, name = there
                    if name in known:
                        continue
                    if len(reached) == most_nodes:
                        return NodesAround(reached, is_truncated=True)
                    known.add(name)
                    if not is_last:
                        waiting.append((found, len(reached), depth + 1, entity))
                    reached.append((origin, is_outgoing, relation, found, note_id))
        await reader.rest()
        if reader.is_spent:
            return NodesAround(reached, is_truncated=True)
    return NodesAround(reached, is_truncated=False)
