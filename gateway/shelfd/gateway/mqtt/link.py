"""What the MQTT gateway needs of a connection to a broker, and nothing of the library behind it."""
# A port's method is its docstring; there is nothing to return.
# pyright: reportReturnType=false

from collections.abc import AsyncIterator, Sequence
from typing import NamedTuple, Protocol


class Arrived(NamedTuple):
    """One message from the broker. It is not acknowledged before :meth:`Link.acknowledge` is called with it."""

    topic: str
    payload: bytes
    qos: int
    is_retained: bool
    number: int  #: packet id, for the acknowledgement
    response_topic: str | None = None  #: MQTT 5 only
    correlation: bytes | None = None  #: MQTT 5 only


class Link(Protocol):
    """One connection to a broker, alive until a call raises BrokerUnreachable."""

    @property
    def is_v5(self) -> bool:
        """Whether the broker speaks MQTT 5; otherwise it is 3.1.1."""

    async def subscribe(self, filters: Sequence[str]) -> None:
        """Subscribe to *filters* with QoS 1.

        Raises:
            BrokerUnreachable: If the connection is lost or the broker refuses.
        """

    def messages(self) -> AsyncIterator[Arrived]:
        """Yield messages in the order of arrival until the connection is lost, which raises BrokerUnreachable."""

    def acknowledge(self, message: Arrived) -> None:
        """Tell the broker that *message* need not come again. On a dead connection nothing happens."""

    async def publish(
        self,
        topic: str,
        payload: bytes,
        *,
        qos: int = 1,
        is_retained: bool = False,
        correlation: bytes | None = None,
        content_type: str | None = None,
        expiry_s: int | None = None,
    ) -> None:
        """Publish; with QoS 1 return once the broker has taken it over. The last three need MQTT 5, else are left out.

        Raises:
            BrokerUnreachable: If the connection is lost first.
        """
