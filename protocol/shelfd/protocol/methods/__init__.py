
from shelfd.protocol.methods import (
    events,
    graph,
    links,
    notes,
    nuggets,
    promotion,
    recall,
    reflection,
    scheduler,
    search,
    shelves,
    system,
    undo,
)

__all__ = [
    "events",
    "graph",
    "links",
    "notes",
    "nuggets",
    "promotion",
    "recall",
    "reflection",
    "scheduler",
    "search",
    "shelves",
    "system",
    "undo",
]
