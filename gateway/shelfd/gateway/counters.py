"""What the gateway counts, for ``system.metrics``."""

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class Counters:
    """Counts since start, shared by every transport.

    Attributes:
        requests: By method and outcome; the method of a request that could not be parsed is ``?``.
    """

    requests: defaultdict[tuple[str, str], int] = field(default_factory=lambda: defaultdict(int))
    connections_open: int = 0
    connections_accepted: int = 0
    connections_refused: int = 0
    subscriptions_open: int = 0
    events_sent: int = 0
    subscribers_lagged: int = 0

    def snapshot(self) -> dict[str, Any]:
        """Return the counts as JSON: ``requests`` is {method: {outcome: count}}."""
        requests: dict[str, dict[str, int]] = {}
        for (method, outcome), count in sorted(self.requests.items()):
            requests.setdefault(method, {})[outcome] = count
        return {
            "requests": requests,
            "connections_open": self.connections_open,
            "connections_accepted": self.connections_accepted,
            "connections_refused": self.connections_refused,
            "subscriptions_open": self.subscriptions_open,
            "events_sent": self.events_sent,
            "subscribers_lagged": self.subscribers_lagged,
        }
