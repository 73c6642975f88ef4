"""Where edges lead, for a walk that wants to come to what lies around: most lead to where it was, as it turns out."""

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import chain, groupby
from operator import itemgetter
from typing import Final, NamedTuple, TypeAlias

from shelfd.memory.knowledge.graph import walking
from shelfd.memory.knowledge.graph.walking import GraphReader, NodeVia, whole
from shelfd.memory.ports.edges import LeadRow
from shelfd.memory.ports.entities import PlacedRow, StoredEntity

#: Nodes whose names are looked up together.
_NODES: Final = 32
#: Entities whose edges are read together.
_ENTITIES: Final = 8

#: Which of some nodes it is, whether edges leave it, and where they lead.
Lead: TypeAlias = tuple[int, bool, Sequence[LeadRow]]
#: Edges of an entity: those that leave it and those that reach it follow each other.
_Page: TypeAlias = Sequence[LeadRow]


class Leads(NamedTuple):
    """Where some edges lead.

    Attributes:
        rows: These.
        placed: What the entities there are in the graph, by number.
        ids: Of notes that say so, by row; None if one is not wanted. Of several that lead to one entity, the others
            were only looked at if the first is not wanted.
    """

    rows: list[Lead]
    placed: Mapping[int, PlacedRow]
    ids: Mapping[int, str | None]


def leads_of(reader: GraphReader, nodes: Sequence[NodeVia], seen: AbstractSet[int]) -> Iterator[Lead | None]:
    """Yield where the edges of nodes lead, of one after the other in the order of :meth:`GraphReader.edges`.

    For :func:`some_leads`: None is yielded where it has read, so that others may have their turn.

    Args:
        reader: Whose bounds count.
        nodes: These nodes.
        seen: Numbers of entities to which nobody wants to be led, as of then.
    """
    for begin in range(0, len(nodes), _NODES):
        every = reader.entities(nodes[begin : begin + _NODES])
        waiting, pages = list(chain.from_iterable(every)), list[_Page]()
        for at, entities in enumerate(every, begin):
            size = 2 * len(entities)
            while len(pages) < size:
                pages += _pages(reader, waiting[:_ENTITIES], None)
                del waiting[:_ENTITIES]
                yield None
            some, pages = pages[:size], pages[size:]
            while some:
                reader.count(sum(map(len, some)))
                some, before = whole(some)
                for is_outgoing, rows in _in_order(some, seen):  # of most nodes nothing
                    for first in range(0, len(rows), walking.TURN):
                        yield at, is_outgoing, rows[first : first + walking.TURN]
                if reader.is_spent:
                    return
                some = []
                while before is not None and len(some) < size:
                    some += _pages(reader, entities[len(some) // 2 :][:_ENTITIES], before)
                    yield None


def _pages(reader: GraphReader, entities: Sequence[StoredEntity], before: int | None) -> Sequence[_Page]:
    return reader.view.edges.leads([entity.number for entity in entities], before=before, limit=walking.PAGE)


def _in_order(pages: Sequence[_Page], seen: AbstractSet[int]) -> Sequence[tuple[bool, Sequence[LeadRow]]]:
    """Of pages of one node what leads to what nobody has *seen*, the newest notes first, and whether it leaves."""
    found = [
        (at % 2 == 0, rows)
        for at, page in enumerate(pages)
        if page and (rows := [row for row in page if row[1] not in seen])
    ]
    if len(found) < 2:  # as of most nodes
        return found
    every = [(is_outgoing, row) for is_outgoing, rows in found for row in rows]
    every.sort(key=lambda one: -one[1][0])
    return [(is_outgoing, [row for _, row in some]) for is_outgoing, some in groupby(every, key=itemgetter(0))]


def some_leads(reader: GraphReader, leads: Iterator[Lead | None]) -> Leads | None:
    """Return as much of *leads*, from :func:`leads_of`, as one turn takes; None if there are no more."""
    rows, size, before = list[Lead](), 0, reader.read
    with reader.view.one_state():
        for some in leads:
            if some is not None:
                rows.append(some)
                size += len(some[2])
            if max(size, reader.read - before) >= walking.TURN:
                break
        else:
            if not rows:
                return None
        reader.follow(size)
        every = [row for _, _, found in rows for row in found]
        placed = reader.names.placed([number for _, number, _ in every], reader.view.entities)
        return Leads(rows, placed, _ids(reader, every))


def _ids(reader: GraphReader, rows: Sequence[LeadRow]) -> Mapping[int, str | None]:
    """Of notes that say where it goes, by row; the first for each entity, and others if that is not wanted."""
    first = {number: note for note, number, _ in reversed(rows)}
    if not first:
        return {}
    notes, wanted = reader.view.notes, reader.wanted
    # Nearly in the order in which they lie in the file: in another one they take longer to be found.
    ids = notes.ids(list(dict.fromkeys(first.values())), wanted)
    if None in ids.values():
        left = {note for note, number, _ in rows if note not in ids and ids[first[number]] is None}
        ids |= notes.ids(sorted(left), wanted)
    return ids
