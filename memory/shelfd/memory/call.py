"""One request on its way through the use cases, whatever transport it came by."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, NamedTuple

from shelfd.memory.ports.log import Origin
from shelfd.memory.ports.store import Ticket
from shelfd.protocol import Limits, Method, Params


class Repeat(NamedTuple):
    """How a transport that may deliver a request twice makes it known again; an idempotency key says more.

    Attributes:
        key: Unique for this request of its principal and method, as an idempotency key is.
        lifetime: For how long the same key means the same request.
    """

    key: str
    lifetime: timedelta


@dataclass(slots=True)
class Call:
    """A validated request.

    Attributes:
        method: What is asked for.
        params: Its validated params, an instance of ``method.params``.
        principal: Who asks: ``uid:<n>``, ``mqtt:<user>`` or a part of the daemon such as ``scheduler``.
        request_id: For the log, unique enough to find one request again.
        ticket: Deadline and cancellation.
        limits: The configured limits.
        repeat: How a redelivery of it is recognised; None when the transport delivers once.
        run_id: The run it belongs to, for the change log.
        room: Of a read: called right before its answer is made, which can be large while the caller is behind with
            reading others; returns what is to be awaited first, if anything. None if there is always room.
        on_begun: Of a change that is a job: called when the job is durable, which can be long before its end. A
            transport that has kept the request until then need not deliver it again.
    """

    method: Method
    params: Params
    principal: str
    request_id: str
    ticket: Ticket
    limits: Limits = field(default_factory=Limits)
    repeat: Repeat | None = None
    run_id: str | None = None
    room: Callable[[], Awaitable[None] | None] | None = None
    on_begun: Callable[[], None] | None = None

    @property
    def shelf(self) -> str | None:
        """The shelf the request is about; None for methods on the daemon as a whole."""
        return getattr(self.params, "shelf", None)

    def origin(self) -> Origin:
        """Who and what this request's log rows name."""
        params: Any = self.params
        return Origin(
            principal=self.principal,
            method=self.method.name,
            request_id=self.request_id,
            session_id=getattr(params, "session_id", None),
            turn=getattr(params, "turn", None),
            run_id=self.run_id,
        )
