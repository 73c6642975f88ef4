"""The methods of the wire contract, one module per subject; importing this package fills the table."""

from shelfd.protocol.methods import events, links, notes, nuggets, recall, shelves, system

__all__ = ["events", "links", "notes", "nuggets", "recall", "shelves", "system"]
