"""What a graph has to know of the types of notes."""

from functools import cache

from shelfd.memory.sessions.graph import Policy
from shelfd.memory.sessions.schema import BUILT_IN, Schema


def policy_of(schema: Schema) -> Policy:
    """Return what a graph has to know of the types that hold in its nugget."""
    return _built_in() if schema.types is BUILT_IN else _policy_of(schema)


@cache
def _built_in() -> Policy:
    """Asked for by every read: most nuggets have no types of their own."""
    return _policy_of(Schema(BUILT_IN))


def _policy_of(schema: Schema) -> Policy:
    types = schema.types.values()
    keys = {kind.name: tuple(name for name in kind.primary_key_columns if name != "title") for kind in types}
    return Policy(
        frozenset(kind.name for kind in types if kind.is_hierarchical),
        {name: columns for name, columns in keys.items() if columns},
    )
