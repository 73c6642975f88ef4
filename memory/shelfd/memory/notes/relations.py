"""What is known of the relations of links: which hold both ways, which have an inverse, which no caller can write.

A relation is a free word. This table only adds meaning to some.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from shelfd.memory.errors import InvalidParams

#: Both notes stand in them to each other: such a link is stored once, from the older note.
SYMMETRIC: Final = frozenset({"partner_of", "family_of", "allied_with", "hostile_to"})

#: They follow from a note's rollup and cannot be written: as a link, what represents a note would be said twice.
INTERNAL: Final = frozenset({"contains", "semantic_contains"})

_PAIRS: Final = (
    ("mentor_of", "mentored_by"),
    ("debt_owed_to", "is_owed_by"),
    ("sworn_to", "has_oath_of"),
    ("involved_in", "involves"),
    ("located_in", "location_of"),
    ("occurred_at", "scene_of"),
    ("mentions", "mentioned_by"),
    ("updates", "updated_by"),
    ("evidence", "supported_by"),
)

#: What the other note of a link says of the same thing.
INVERSE: Final[Mapping[str, str]] = MappingProxyType({**dict(_PAIRS), **{back: there for there, back in _PAIRS}})

#: Offered to whoever extracts memories from a conversation, and neither all there is nor all that is allowed.
OFFERED: Final = (
    "related",
    "involved_in",
    "occurred_at",
    "located_in",
    "mentions",
    "about",
    "evidence",
    "updates",
    "advances",
    "partner_of",
    "family_of",
    "allied_with",
    "hostile_to",
    "mentor_of",
    "sworn_to",
    "debt_owed_to",
    "deceiving",
)


def directed(one: str, other: str, relation: str, direction: str, *, one_is_older: bool) -> list[tuple[str, str]]:
    """Return between which notes the links lead that a relation of *one* to *other* is.

    A symmetric relation is one link, from the older note, whatever *direction* says.
    """
    there, back = (one, other), (other, one)
    if relation in SYMMETRIC:
        return [there if one_is_older else back]
    return {"bidirectional": [there, back], "outgoing": [there], "incoming": [back]}[direction]


def check_writable(relation: str, field: str) -> None:
    """Raise if no caller can write the relation.

    Raises:
        InvalidParams: If it follows from rollups.
    """
    if relation in INTERNAL:
        raise InvalidParams(f"{field}: {relation} follows from a note's rollup and cannot be written", field=field)


class KnownRelation(NamedTuple):
    """What is known of one."""

    name: str
    symmetric: bool
    internal: bool
    inverse: str | None


def known_relations() -> tuple[KnownRelation, ...]:
    """Return what is known of each relation of which anything is."""
    names = dict.fromkeys((*OFFERED, *(name for pair in _PAIRS for name in pair), *sorted(INTERNAL)))
    return tuple(KnownRelation(name, name in SYMMETRIC, name in INTERNAL, INVERSE.get(name)) for name in names)
