"""The nodes of the graph of entities that lie around one, each by the shortest way."""

from typing import NamedTuple, TypeAlias

from shelfd.memory.knowledge.graph.walking import GraphReader, Leads, NodeVia
from shelfd.memory.ports.entities import EntityNode

#: A node that was come to: from which of those before it, -1 for where the walk began; whether the edge leads from
#: there to it, and what it says; the node as it is told; the note that says so. A plain row: a record takes twice the
#: time, and there may be a thousand.
ReachedRow: TypeAlias = tuple[int, bool, str, str, str]


class NodesAround(NamedTuple):
    """What was come to, in this order, and whether there is more than might be read."""

    reached: list[ReachedRow]
    is_truncated: bool


class _Level:
    """Nodes that are as many steps away.

    Attributes:
        nodes: These, to go on from.
        places: Which of all that were come to each is.
    """

    def __init__(self) -> None:
        self.nodes: list[NodeVia] = []
        self.places: list[int] = []


async def visit(reader: GraphReader, start: EntityNode, *, max_depth: int, most_nodes: int) -> NodesAround:
    """Visit the nodes around one breadth first, each once.

    Args:
        reader: Whose notes and bounds count.
        start: Where it begins.
        max_depth: Steps.
        most_nodes: Nodes it comes to, beside the first.
    """
    reached: list[ReachedRow] = []
    known = {start.id}
    level = _Level()
    level.nodes, level.places = [(start, None)], [-1]
    for depth in range(1, max_depth + 1):
        following = _Level() if depth < max_depth else None
        leads = reader.leads(level.nodes)
        while (some := reader.some_leads(leads, known)) is not None:
            if not _follow(some, level, following, known, reached, most_nodes):
                return NodesAround(reached, is_truncated=True)
            await reader.rest()
        if reader.is_spent:
            return NodesAround(reached, is_truncated=True)
        if following is None:
            break
        level = following
    return NodesAround(reached, is_truncated=False)


def _follow(
    some: Leads, level: _Level, following: _Level | None, known: set[str], reached: list[ReachedRow], most_nodes: int
) -> bool:
    """Come to where edges lead; return whether that was allowed of all."""
    leads, placed, ids = some
    for at, is_outgoing, rows in leads:
        origin = level.places[at]
        for note, number, relation in rows:
            # Its note is not wanted, or leads back; or the entity is gone since.
            if (note_id := ids.get(note)) is None or (there := placed.get(number)) is None:
                continue
            entity, node, id_, said = there
            if id_ in known:
                continue
            if len(reached) == most_nodes:
                return False
            known.add(id_)
            if following is not None:
                following.nodes.append((node, entity))
                following.places.append(len(reached))
            reached.append((origin, is_outgoing, relation, said, note_id))
    return True
