"""What a graph has to know of the types of notes."""

from shelfd.memory.sessions.graph import Policy
from shelfd.memory.sessions.schema import Schema


def policy_of(schema: Schema) -> Policy:
    """Return what a graph has to know of the types that hold in its nugget."""
    types = schema.types.values()
    keys = {kind.name: tuple(name for name in kind.primary_key_columns if name != "title") for kind in types}
    return Policy(
        frozenset(kind.name for kind in types if kind.is_hierarchical),
        {name: columns for name, columns in keys.items() if columns},
    )
