"""One request on its way through the use cases, whatever transport it came by."""

from dataclasses import dataclass, field
from typing import Any

from shelfd.memory.log import Origin
from shelfd.memory.ports import Ticket
from shelfd.protocol import Limits, Method, Params


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
    """

    method: Method
    params: Params
    principal: str
    request_id: str
    ticket: Ticket
    limits: Limits = field(default_factory=Limits)

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
        )
