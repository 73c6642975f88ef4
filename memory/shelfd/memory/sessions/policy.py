"""What a graph has to know of the types of notes, and of the relations of links."""

from typing import Final

from shelfd.memory.ports.view import View
from shelfd.memory.sessions.graph import Policy

#: Both notes stand in them to each other.
SYMMETRIC: Final = frozenset({"partner_of", "family_of", "allied_with", "hostile_to"})
#: They say what follows from the tree.
INTERNAL: Final = frozenset({"contains", "semantic_contains"})

_BUILT_IN: Final = Policy(frozenset({"event"}), {})


def policy_of(view: View, nugget: str) -> Policy:
    """Return what a graph has to know of the types that hold in a nugget."""
    del view, nugget
    return _BUILT_IN
