"""What goes over MQTT besides params and results: envelopes of requests and replies, and what the daemon publishes."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from shelfd.protocol.base import Instant
from shelfd.protocol.errors import ErrorObject

Timestamp = str  #: RFC 3339 UTC


class MqttHeaders(BaseModel):
    """Properties of MQTT 5. With 3.1.1 the payload's members say the same."""

    responseTopic: str | None = Field(  # noqa: N815 - as MQTT's documents spell it
        default=None, description="Where the reply goes: below rep/<user>/, without wildcards; else reply_to."
    )
    correlationData: str | None = Field(  # noqa: N815
        default=None, description="Comes back with the reply; else correlation."
    )


class MqttRequestBody(BaseModel):
    """A JSON-RPC request whose `jsonrpc` and `method` may be left out: the topic names the method."""

    id: str | int | None = Field(
        default=None,
        description="Comes back. From 16 characters on it makes a repeated change harmless, as a key does.",
    )
    params: dict[str, Any] = Field(default_factory=dict)
    reply_to: str | None = Field(default=None, description="The reply's topic, for those without a Response Topic.")
    correlation: str | None = Field(
        default=None, max_length=1024, description="Comes back, for those without Correlation Data."
    )
    exp: Instant | None = Field(default=None, description="When the request is pointless: it is then ignored.")
    jsonrpc: Literal["2.0"] = "2.0"
    method: str | None = Field(default=None, description="The topic's, if it is given.")


class MqttReply(BaseModel):
    """A JSON-RPC response: a result or an error."""

    jsonrpc: Literal["2.0"] = "2.0"
    id: str | int | None
    result: dict[str, Any] | None = None
    error: ErrorObject | None = None
    correlation: str | None = Field(default=None, description="The request's, if it had one in its payload.")


class StatusMessage(BaseModel):
    """How the daemon is, retained. The broker itself says `offline` when the daemon vanishes."""

    model_config = ConfigDict(extra="allow")

    state: Literal["online", "draining", "offline"]
    instance: str
    version: str
    boot: str = Field(description="Another one after each start.")
    at: Timestamp | None = Field(default=None, description="Absent in the broker's own word.")
    reason: str | None = None


class HealthMessage(BaseModel):
    """What ``system.health`` returns to every caller, retained, every 60 seconds."""

    model_config = ConfigDict(extra="allow")

    at: Timestamp
    status: str
    ready: bool


class MissedEvents(BaseModel):
    """The changes that will not be published."""

    model_config = ConfigDict(extra="forbid")

    from_seq: int
    to_seq: int
    reason: str = Field(description="too_large or history_trimmed")


class GapEvent(BaseModel):
    """A CloudEvent without a sequence number, in place of events that could not be delivered."""

    model_config = ConfigDict(extra="forbid")

    specversion: str = "1.0"
    id: str
    source: str
    type: Literal["shelfd.events.gap.v1"]
    subject: str
    time: Timestamp
    cause_seq: int
    datacontenttype: str = "application/json"
    data: MissedEvents


class WatchEvent(BaseModel):
    """A CloudEvent without a sequence number: a note that entered a standing query's results."""

    model_config = ConfigDict(extra="forbid")

    specversion: str = "1.0"
    id: str
    source: str
    type: Literal["shelfd.watch.matched.v1"]
    subject: str = Field(description="The standing query's id; the note's is in `data`.")
    time: Timestamp
    cause_seq: int
    datacontenttype: str = "application/json"
    data: dict[str, Any]
