"""A visit to the nodes of the graph of entities that lie around one, each by the shortest way."""

from collections import deque
from typing import Final, NamedTuple

from shelfd.memory.knowledge.graph.walking import GraphReader
from shelfd.memory.ports.edges import LeadRow
from shelfd.memory.ports.entities import EntityNode, StoredEntity

#: Makes a named tuple of what is known to have its length: in a third of the time, and a visit makes a thousand.
_new: Final = tuple.__new__


class NodeReached(NamedTuple):
    """A node that was come to.

    Attributes:
        origin: From where: which one of those that were come to before, -1 for where the visit began.
        node: The node.
        is_outgoing: Whether the edge leads from there to it.
        relation: What that says.
        note_id: The note that says so.
    """

    origin: int
    node: EntityNode
    is_outgoing: bool
    relation: str
    note_id: str


class NodesAround(NamedTuple):
    """What was come to, in this order, and whether there is more than might be read."""

    reached: list[NodeReached]
    is_truncated: bool


async def visit(reader: GraphReader, start: EntityNode, *, max_depth: int, most_nodes: int) -> NodesAround:
    """NodesAround the nodes around one breadth first, each once.

    Args:
        reader: Whose notes and bounds count.
        start: Where it begins.
        max_depth: Steps.
        most_nodes: Nodes it comes to, beside the first.
    """
    reached: list[NodeReached] = []
    known = {start[:2]}
    come_to = set[int]()  # entities: what else leads to them says nothing new
    waiting: deque[tuple[EntityNode, int, int, StoredEntity | None]] = deque([(start, -1, 0, None)])
    while waiting and (at := waiting.popleft())[2] < max_depth:
        node, origin, depth, via = at
        is_last = depth + 1 == max_depth
        async for leads in reader.leads(node, via=via):
            new = [
                (is_outgoing, row)
                for is_outgoing, rows in leads
                for row in rows
                if row[1] is not None and row[2] not in come_to
            ]
            if len(leads) > 1:
                new.sort(key=_newest_first)
            numbers = [row[2] for _, row in new]
            placed = reader.placed(numbers)
            come_to.update(numbers)
            for is_outgoing, (_, note_id, number, relation) in new:
                if (there := placed.get(number)) is None:  # gone since its edges were read
                    continue
                entity, found = there
                if (name := found[:2]) in known:
                    continue
                if len(reached) == most_nodes:
                    return NodesAround(reached, is_truncated=True)
                known.add(name)
                if not is_last:
                    waiting.append((found, len(reached), depth + 1, entity))
                reached.append(_new(NodeReached, (origin, found, is_outgoing, relation, note_id)))
        await reader.rest()
        if reader.is_spent:
            return NodesAround(reached, is_truncated=True)
    return NodesAround(reached, is_truncated=False)


def _newest_first(lead: tuple[bool, LeadRow]) -> int:
    return -lead[1][0]
