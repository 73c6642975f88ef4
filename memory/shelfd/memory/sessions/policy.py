"""What a graph has to know of the types of notes."""

from shelfd.memory.ports.view import View
from shelfd.memory.sessions.graph import Policy
from shelfd.memory.sessions.schema import schema_of


def policy_of(view: View, nugget: str) -> Policy:
    """Return what a graph has to know of the types that hold in a nugget."""
    types = schema_of(view, nugget).types.values()
    keys = {kind.name: tuple(name for name in kind.primary_key_columns if name != "title") for kind in types}
    return Policy(
        frozenset(kind.name for kind in types if kind.is_hierarchical),
        {name: columns for name, columns in keys.items() if columns},
    )
