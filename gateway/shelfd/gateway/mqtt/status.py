"""What is said of the daemon over MQTT, and what the daemon says of its connection and counts of MQTT."""

from collections import Counter
from collections.abc import Callable
from enum import StrEnum
from typing import Any, Final

from pydantic_core import to_json

from shelfd.gateway.mqtt.link import MqttLink, Trouble, Will
from shelfd.gateway.mqtt.topics import Topics
from shelfd.memory.ports.store import Clock
from shelfd.protocol.base import from_micros

_WILL_DELAY_S: Final = 5
_HEALTH_EXPIRY_S: Final = 180
_JSON: Final = "application/json"


class ConnectionState(StrEnum):
    """Of the connection."""

    OFF = "off"
    CONNECTING = "connecting"
    CONNECTED = "connected"
    REFUSED = "refused"
    DOWN = "down"


class Presence(StrEnum):
    """Of the daemon, as the status topic says it."""

    ONLINE = "online"
    DRAINING = "draining"
    OFFLINE = "offline"


class Announcer:
    """Says on the status and health topics how the daemon is.

    Args:
        topics: The instance's topics.
        clock: Dates what is said.
        instance: The daemon's name.
        version: Its version.
        boot: Unique for this start of it.
        health: Returns what is published on the health topic, a JSON-like dict.
    """

    def __init__(
        self,
        topics: Topics,
        clock: Clock,
        *,
        instance: str,
        version: str,
        boot: str,
        health: Callable[[], dict[str, Any]],
    ) -> None:
        self._topics = topics
        self._clock = clock
        self._who = {"instance": instance, "version": version, "boot": boot}
        self._health = health

    def will(self) -> Will:
        """Return what the broker says when the daemon vanishes. It cannot know when that will be."""
        payload = to_json({"state": Presence.OFFLINE, **self._who, "reason": "connection lost"})
        return Will(self._topics.status, payload, _WILL_DELAY_S)

    async def announce(self, link: MqttLink, presence: Presence) -> None:
        """Publish *presence*, retained.

        Raises:
            BrokerUnreachable: If the broker did not take it over.
        """
        payload = to_json({"state": presence, **self._who, "at": from_micros(self._clock.now())})
        await link.publish(self._topics.status, payload, is_retained=True, content_type=_JSON)

    async def publish_health(self, link: MqttLink) -> None:
        """Publish the daemon's health, retained for as long as it says something.

        Raises:
            BrokerUnreachable: If the link is lost.
        """
        payload = to_json({"at": from_micros(self._clock.now()), **self._health()})
        await link.publish(
            self._topics.health, payload, qos=0, is_retained=True, content_type=_JSON, expiry_s=_HEALTH_EXPIRY_S
        )


class LinkStatus:
    """How the connection is, since when, and why.

    Attributes:
        state: How it is now.
        protocol: ``5`` or ``3.1.1`` while connected.
    """

    def __init__(self, url: str, clock: Clock) -> None:
        self.state = ConnectionState.OFF
        self.protocol: str | None = None
        self._url = url
        self._clock = clock
        self._since = clock.now()
        self._trouble: Trouble | None = None
        self._message: str | None = None

    def enter(
        self,
        state: ConnectionState,
        *,
        is_v5: bool | None = None,
        trouble: Trouble | None = None,
        message: str | None = None,
    ) -> bool:
        """Note how it is now; return whether the state is another one than before."""
        self._trouble, self._message = trouble, message
        self.protocol = None if is_v5 is None else "5" if is_v5 else "3.1.1"
        if state is self.state:
            return False
        self.state = state
        self._since = self._clock.now()
        return True

    def snapshot(self) -> dict[str, Any]:
        """Return it as JSON; ``reason`` and ``message`` only while something is wrong."""
        wrong = {} if self._trouble is None else {"reason": str(self._trouble), "message": self._message}
        return {
            "state": str(self.state),
            "url": self._url,
            "protocol": self.protocol,
            "since": from_micros(self._since),
            **wrong,
        }


class Ignored(StrEnum):
    """Why a message is acknowledged to the broker and otherwise ignored."""

    RETAINED = "retained"
    EXPIRED = "expired"
    BAD_TOPIC = "bad_topic"  #: no user and method in it
    FOREIGN_REPLY = "foreign_response_topic"  #: replies would go to another user, or the topic holds wildcards
    UNANSWERABLE = "read_without_reply"  #: nothing to change and no address for a reply


class MqttCounters:
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
            **vars(self),
            "ignored": {str(reason): self.ignored[reason] for reason in Ignored},
            "refused": dict(sorted(self.refused.items())),
        }
