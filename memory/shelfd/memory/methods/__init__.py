"""What can be done with the memory: one function per method, in one table by name.

Importing this package registers all of them.
"""

from shelfd.memory.methods import (
    forget,
    graph,
    importing,
    jobs,
    links,
    merging,
    notes,
    nuggets,
    promotion,
    recall,
    reflection,
    reflections,
    remember,
    removal,
    search,
    shelves,
    undo,
)
from shelfd.memory.methods.registry import USE_CASES

__all__ = [
    "USE_CASES",
    "forget",
    "graph",
    "importing",
    "jobs",
    "links",
    "merging",
    "notes",
    "nuggets",
    "promotion",
    "recall",
    "reflection",
    "reflections",
    "remember",
    "removal",
    "search",
    "shelves",
    "undo",
]
