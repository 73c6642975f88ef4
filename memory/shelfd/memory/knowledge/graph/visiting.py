"""The nodes of the graph of entities that lie around one, each by the shortest way, as JSON."""

from collections.abc import Mapping
from json.encoder import encode_basestring as _json  # a text as JSON, not only in ASCII
from typing import Any, NamedTuple

from pydantic_core import to_json

from shelfd.memory.knowledge.graph.leads import Leads, leads_of, some_leads
from shelfd.memory.knowledge.graph.walking import GraphReader, NodeVia
from shelfd.memory.ports.entities import EntityNode


class Visited(NamedTuple):
    """What was come to.

    Attributes:
        nodes: Each as JSON with the steps of the way there, in the order in which it was come to.
        is_truncated: Whether there is more than might be read.
    """

    nodes: list[str]
    is_truncated: bool

    def json(self, index: Mapping[str, Any]) -> bytes:
        """Return it as the JSON of the result of ``traverse_graph``.

        Args:
            index: How far notes were read for it.
        """
        truncated = "true" if self.is_truncated else "false"
        head = f'{{"nodes":[{",".join(self.nodes)}],"truncated":{truncated},"index":'.encode()
        return head + to_json(index) + b"}"


class _Level:
    """Nodes that are as many steps away.

    Attributes:
        nodes: These, to go on from.
        ways: The steps to each as JSON, a comma after each step.
    """

    def __init__(self) -> None:
        self.nodes: list[NodeVia] = []
        self.ways: list[str] = []


class _Begun(dict[str, str]):
    """The beginning of a step in a direction as JSON, by relation."""

    def __init__(self, direction: str) -> None:
        super().__init__()
        self._direction = direction

    def __missing__(self, relation: str) -> str:
        begun = self[relation] = f'{{"relationship":{_json(relation)},"direction":"{self._direction}",'
        return begun


async def visit(reader: GraphReader, start: EntityNode, *, max_depth: int, most_nodes: int) -> Visited:
    """Visit the nodes around one breadth first, each once.

    Args:
        reader: Whose notes and bounds count.
        start: Where it begins.
        max_depth: Steps.
        most_nodes: Nodes it comes to, beside the first.
    """
    visiting = _Visiting(start, most_nodes)
    level = _Level()
    level.nodes, level.ways = [(start, None)], [""]
    for depth in range(1, max_depth + 1):
        following = _Level() if depth < max_depth else None
        leads = leads_of(reader, level.nodes, visiting.seen)
        while (some := some_leads(reader, leads)) is not None:
            if not visiting.follow(some, depth, level, following):
                return Visited(visiting.told, is_truncated=True)
            await reader.rest()
        if reader.is_spent:
            return Visited(visiting.told, is_truncated=True)
        if following is None:
            break
        level = following
    return Visited(visiting.told, is_truncated=False)


class _Visiting:
    """A visit under way.

    Attributes:
        told: What was come to, as JSON: to make a record of each first takes longer than to read the edges.
        seen: Numbers of entities that are known to be where it was.
    """

    def __init__(self, start: EntityNode, most_nodes: int) -> None:
        self.told: list[str] = []
        self.seen: set[int] = set()
        self._known = {start.id}
        self._most_nodes = most_nodes
        self._begun = (_Begun("incoming"), _Begun("outgoing"))

    def follow(self, some: Leads, depth: int, level: _Level, following: _Level | None) -> bool:
        """Come to where edges lead, *depth* steps away; return whether that was allowed of all."""
        leads, placed, ids = some
        known, seen, told = self._known, self.seen, self.told
        before_way = f',"depth":{depth},"path":['
        for at, is_outgoing, rows in leads:
            steps, begun = level.ways[at], self._begun[is_outgoing]
            for note, number, relation in rows:
                # Its note is not wanted, or is not needed; or the entity is gone since.
                if (note_id := ids.get(note)) is None or (there := placed.get(number)) is None:
                    continue
                entity, node, id_, said = there
                seen.add(number)
                if id_ in known:
                    continue
                if len(told) == self._most_nodes:
                    return False
                known.add(id_)
                way = f'{steps}{begun[relation]}{said},"note_id":{_json(note_id)}}}'
                told.append(f"{{{said}{before_way}{way}]}}")
                if following is not None:
                    following.nodes.append((node, entity))
                    following.ways.append(f"{way},")
        return True
