"""What can be done with the memory: one function per method, in one table by name.

Importing this package registers all of them.
"""

from shelfd.memory.methods import (
    branching,
    deleting,
    extraction,
    graph,
    importing,
    injection,
    jobs,
    merging,
    notes,
    nuggets,
    promotion,
    recall,
    reflection,
    remember,
    rewinding,
    rollups,
    schema,
    search,
    session_reading,
    session_writing,
    sessions,
    shelves,
    undo,
)
from shelfd.memory.methods.registry import USE_CASES

__all__ = [
    "USE_CASES",
    "branching",
    "deleting",
    "extraction",
    "graph",
    "importing",
    "injection",
    "jobs",
    "merging",
    "notes",
    "nuggets",
    "promotion",
    "recall",
    "reflection",
    "remember",
    "rewinding",
    "rollups",
    "schema",
    "search",
    "session_reading",
    "session_writing",
    "sessions",
    "shelves",
    "undo",
]
