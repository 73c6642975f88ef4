"""What is counted of MQTT, for health: everything that was not simply carried out among it."""

from collections import Counter
from enum import StrEnum
from typing import Any


class Ignored(StrEnum):
    """Why a message is acknowledged to the broker and otherwise passed over in silence."""

    RETAINED = "retained"
    EXPIRED = "expired"
    BAD_TOPIC = "bad_topic"  #: no user and method in it
    FOREIGN_REPLY = "foreign_response_topic"  #: replies would go to somebody else, or hold wildcards
    UNANSWERABLE = "read_without_reply"  #: nothing to change and nobody to tell


class Counts:
    """Counts since start.

    Attributes:
        received: Messages taken from the broker, redelivered ones included.
        refused: Requests that could not be understood, by the ``reason`` of the error they were answered with.
        replies_lost: Replies that the broker did not take over; the caller asks again with the same key.
        left: Requests that were left with the broker because the daemon was ending.
    """

    def __init__(self) -> None:
        self.received = 0
        self.ignored: Counter[Ignored] = Counter()
        self.refused: Counter[str] = Counter()
        self.replies_sent = 0
        self.replies_lost = 0
        self.left = 0

    def snapshot(self) -> dict[str, Any]:
        """Return the counts as JSON."""
        return {
            "received": self.received,
            "ignored": {str(reason): self.ignored[reason] for reason in Ignored},
            "refused": dict(sorted(self.refused.items())),
            "replies_sent": self.replies_sent,
            "replies_lost": self.replies_lost,
            "left": self.left,
        }
