"""What a text mentions. Pure and linear; a long text comes in steps of some milliseconds."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from shelfd.memory.knowledge.entities.gazetteer import Gazetteer, known_names
from shelfd.memory.knowledge.entities.identifiers import find_identifiers
from shelfd.memory.knowledge.entities.kinds import EntityMention
from shelfd.memory.knowledge.entities.names import find_names
from shelfd.memory.knowledge.entities.occasions import find_occasions
from shelfd.memory.knowledge.entities.own import OwnTypes
from shelfd.memory.knowledge.entities.segment import Segment, segments
from shelfd.memory.knowledge.entities.times import find_times

#: Different entities that are kept of one text; one with more is a list and about none of them.
MOST_ENTITIES: Final = 256

_NO_NAMES: Final = Gazetteer(())
_NO_TYPES: Final = OwnTypes()


def mentions_in(segment: Segment, own: Gazetteer = _NO_NAMES, types: OwnTypes = _NO_TYPES) -> list[EntityMention]:
    """Return the entities in a segment by where they begin; none lies in another.

    Args:
        segment: It is marked with what was found.
        own: Names that the shelf knows beside those that all know.
        types: What the configuration says; it counts before all else.
    """
    found = list(types.find(segment))
    is_plain = not found
    for mention in find_identifiers(segment):
        if is_plain or segment.is_free(mention.start, mention.end):
            segment.take_span(mention.start, mention.end)
            found.append(mention)
    if own:
        found += own.find(segment)
    for mention in find_times(segment):
        if segment.is_free(mention.start, mention.end):
            segment.take_span(mention.start, mention.end)
            found.append(mention)
    found += find_occasions(segment)
    found += known_names().find(segment)
    found += find_names(segment)
    offset = segment.offset
    if not offset:
        return list(_apart(found))
    return [one._replace(start=one.start + offset, end=one.end + offset) for one in _apart(found)]


def _apart(found: Iterable[EntityMention]) -> Iterator[EntityMention]:
    """Those of *found* that do not begin inside an earlier one; of two that begin together the longer."""
    until = -1
    for one in sorted(found, key=_place):
        if one.start >= until:
            yield one
            until = one.end


def _place(mention: EntityMention) -> tuple[int, int]:
    return mention.start, -mention.end


def extract(text: str, own: Gazetteer = _NO_NAMES, types: OwnTypes = _NO_TYPES) -> list[EntityMention]:
    """Return the entities in *text* by where they begin, of at most :data:`MOST_ENTITIES` different ones."""
    return bounded(mention for segment in segments(text) for mention in mentions_in(segment, own, types))


def bounded(mentions: Iterable[EntityMention], most: int = MOST_ENTITIES) -> list[EntityMention]:
    """Return *mentions* up to the one that would be of one entity too many."""
    if isinstance(mentions, list) and len(mentions) <= most:
        return mentions
    kept: list[EntityMention] = []
    known: set[tuple[str, str]] = set()
    for mention in mentions:
        name = mention.type, mention.key
        if name not in known:
            if len(known) == most:
                break
            known.add(name)
        kept.append(mention)
    return kept


def weights(head: Sequence[EntityMention], body: Sequence[EntityMention]) -> dict[tuple[str, str], int]:
    """Return how much a note is about each entity, by type and key.

    That is 3 if it is in its title or tags, 2 if in several places or first, else 1.
    """
    found: dict[tuple[str, str], int] = {}
    for at, mention in enumerate(body):
        name = mention.type, mention.key
        found[name] = 2 if at == 0 or name in found else 1
    for mention in head:
        found[mention.type, mention.key] = 3
    return found if len(found) <= MOST_ENTITIES else dict(list(found.items())[:MOST_ENTITIES])
