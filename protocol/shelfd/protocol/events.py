"""Events: CloudEvents 1.0 in JSON structured mode, rendered from the change log."""

from typing import Any, Final

from pydantic import BaseModel, ConfigDict

#: Every type of event that has a sequence number.
EVENT_TYPES: Final = (
    "note.created", "note.updated", "note.superseded", "note.hidden", "note.restored", "note.merged", "note.purged",
    "note.promoted", "link.added", "link.removed", "conflict.found", "conflict.resolved", "nugget.created",
    "nugget.renamed", "nugget.removed", "reflection.started", "reflection.completed", "reflection.undone",
    "promotion.completed", "context.changed", "session.opened", "session.closed", "session.retracted",
    "schedule.missed",
)  # fmt: skip


class CloudEvent(BaseModel):
    """One committed change of a shelf, told to whoever may know.

    ``prev_seq`` is the last sequence number that matched the subscription, so that a gap can be seen.
    """

    model_config = ConfigDict(extra="forbid")

    specversion: str = "1.0"
    id: str
    source: str
    type: str
    subject: str
    time: str
    seq: int
    tx: int
    tx_size: int
    prev_seq: int
    datacontenttype: str = "application/json"
    data: dict[str, Any]
