"""The methods of the wire contract, one module per subject; importing this package fills the table."""

from shelfd.protocol.methods import (
    events,
    graph,
    importing,
    jobs,
    links,
    notes,
    nuggets,
    promotion,
    recall,
    reflection,
    scheduler,
    search,
    sessions,
    shelves,
    system,
    undo,
)

__all__ = [
    "events",
    "graph",
    "importing",
    "jobs",
    "links",
    "notes",
    "nuggets",
    "promotion",
    "recall",
    "reflection",
    "scheduler",
    "search",
    "sessions",
    "shelves",
    "system",
    "undo",
]
