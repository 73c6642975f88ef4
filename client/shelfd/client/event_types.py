"""What happens on a shelf, by name: the protocol is not loaded by a command that has to end soon."""

from typing import Final

#: Every type of event; a test holds it to the protocol's.
EVENT_TYPES: Final = (
    "note.created", "note.updated", "note.superseded", "note.hidden", "note.restored", "note.merged", "note.purged",
    "note.promoted", "note.expired", "link.added", "link.removed", "conflict.found", "conflict.resolved",
    "nugget.created", "nugget.updated", "nugget.renamed", "nugget.removed", "reflection.started",
    "reflection.completed", "reflection.undone", "promotion.completed", "context.changed", "session.opened",
    "session.closed", "session.retracted", "session.extracted", "schedule.missed", "alias.added", "alias.removed",
)  # fmt: skip
