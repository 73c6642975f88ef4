"""What the MQTT gateway needs of a connection to a broker: where it is, what it does, how it fails.

It imports nothing of the library, so that reading a setting loads none. The codes are MQTT 5's; for 3.1.1 the library
gives the one that says the same.
"""
# A port's method is its docstring; there is nothing to return.
# pyright: reportReturnType=false
# ruff: noqa: ARG002

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from enum import StrEnum
from typing import Final, NamedTuple, Protocol
from urllib.parse import urlsplit

from shelfd.memory.errors import BrokerUnreachable


class Arrived(NamedTuple):
    """One message from the broker. It is not acknowledged before :meth:`MqttLink.acknowledge` is called with it."""

    topic: str
    payload: bytes
    qos: int
    is_retained: bool
    number: int  #: packet id, for the acknowledgement
    response_topic: str | None = None  #: MQTT 5 only
    correlation: bytes | None = None  #: MQTT 5 only
    expires_at: float | None = None  #: MQTT 5 only; by the clock's monotonic seconds


class MqttLink(Protocol):
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
        """Acknowledge *message* to the broker: it need not come again. On a dead connection nothing happens."""

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
        is_event: bool = False,
    ) -> None:
        """Publish; with QoS 1 return once the broker has taken it over. The last three need MQTT 5, else are left out.

        Raises:
            BrokerUnreachable: If the connection is lost first, or with reason NOT_AUTHORIZED or REFUSED if the broker
                does not take this message, which says nothing about the next one. MQTT 3.1.1 does not report that.
        """

    def post(
        self,
        topic: str,
        payload: bytes,
        *,
        correlation: bytes | None = None,
        content_type: str | None = None,
        is_event: bool = False,
        is_urgent: bool = False,
    ) -> "asyncio.Future[None] | None":
        """Begin to publish with QoS 1 at once; None if :meth:`publish` would have to wait for its turn first.

        Args:
            is_event: Whether it is one of a shelf's events, which have places of their own on the way.
            is_urgent: Whether nothing else is about to be sent, so that there is no use in waiting for it.

        Returns:
            Done when the broker has taken it over; BrokerUnreachable when it did not.
        """
        return None  # a link may know no such way

    def deliver_to(self, take: Callable[[Arrived], bool] | None) -> None:
        """Hand messages to *take* as they arrive, as long as it takes them and none waits in :meth:`messages`.

        What it returns False for goes there.
        """
        return  # a link may know no such way


class Will(NamedTuple):
    """What the broker publishes, retained, when the connection ends without a farewell."""

    topic: str
    payload: bytes
    delay_s: int  #: MQTT 5 only: how long it waits for the client to come back


class MqttBroker(Protocol):
    """Where links come from."""

    @property
    def url(self) -> str:
        """Its address, without a password."""

    def connect(self, will: Will) -> AbstractAsyncContextManager[MqttLink]:
        """Open a link, the same client to the broker each time; leaving the block says farewell and closes it.

        Raises:
            BrokerUnreachable: On entering; ``data["reason"]`` is one of :class:`Trouble`.
        """


class LinkUser(Protocol):
    """A user of a session's links beside its requests, such as the publisher of events."""

    def attached(self, link: MqttLink, /) -> None:
        """Take over a new link that is subscribed and announced."""

    def detached(self) -> None:
        """Stop using the link: it is gone."""


class Trouble(StrEnum):
    """Why a broker is not reached, as BrokerUnreachable's ``reason`` and health say it."""

    UNREACHABLE = "UNREACHABLE"
    LOST = "CONNECTION_LOST"
    TIMED_OUT = "TIMED_OUT"
    TLS_FAILED = "TLS_FAILED"
    BAD_CREDENTIALS = "BAD_CREDENTIALS"
    NOT_AUTHORIZED = "NOT_AUTHORIZED"
    VERSION_REFUSED = "VERSION_REFUSED"
    TAKEN_OVER = "SESSION_TAKEN_OVER"
    REFUSED = "REFUSED"
    TOO_LARGE = "TOO_LARGE"

    @property
    def is_refusal(self) -> bool:
        """Whether the configuration has to change before it can work: trying again soon is pointless."""
        return self in (Trouble.BAD_CREDENTIALS, Trouble.NOT_AUTHORIZED, Trouble.REFUSED)


_REFUSED_FROM: Final = 0x80  #: codes from here on are failures
_NOT_AUTHORIZED: Final = 0x87
_TROUBLES: Final = {
    0x84: Trouble.VERSION_REFUSED,
    0x86: Trouble.BAD_CREDENTIALS,
    _NOT_AUTHORIZED: Trouble.BAD_CREDENTIALS,  # what most brokers say of a wrong password
    0x8A: Trouble.NOT_AUTHORIZED,  # banned
    0x8E: Trouble.TAKEN_OVER,
    0x95: Trouble.TOO_LARGE,
}


def check_code(code: int) -> None:
    """Let pass what a broker took.

    Raises:
        BrokerUnreachable: If *code* is the refusal of one message or subscription.
    """
    if code >= _REFUSED_FROM:
        trouble = Trouble.NOT_AUTHORIZED if code == _NOT_AUTHORIZED else Trouble.REFUSED
        raise BrokerUnreachable(f"the broker refused it with code {code}; look at its ACL", reason=trouble)


def not_let_in(code: int, name: str) -> BrokerUnreachable:
    """Return the error for a connection that the broker refused with *code*, called *name*."""
    return BrokerUnreachable(f"the broker refused the connection: {name}", reason=_trouble(code, Trouble.UNREACHABLE))


def lost(code: int | None) -> BrokerUnreachable:
    """Return the error for a connection that ended, with *code* if the broker gave one."""
    trouble = _trouble(code, Trouble.LOST)
    why = "another client connected under the same name" if trouble is Trouble.TAKEN_OVER else "it ended"
    return BrokerUnreachable(f"the connection to the broker is lost: {why}", reason=trouble)


def _trouble(code: int | None, default: Trouble) -> Trouble:
    return default if code is None else _TROUBLES.get(code, default)


_PORTS = {"mqtt": 1883, "mqtts": 8883}


class Address(NamedTuple):
    """A broker's address.

    Attributes:
        user: The user to log in as; None for a broker without logins.
    """

    host: str
    port: int
    is_tls: bool = False
    user: str | None = None

    @classmethod
    def parse(cls, url: str) -> "Address":
        """Take ``mqtt[s]://[user@]host[:port]`` apart.

        Raises:
            ValueError: If it is not of this form; the message does not repeat it.
        """
        parts = urlsplit(url)
        if parts.scheme not in _PORTS or not parts.hostname or parts.password is not None:
            raise ValueError("must be mqtt[s]://[user@]host[:port], without a password")
        return cls(parts.hostname, parts.port or _PORTS[parts.scheme], parts.scheme == "mqtts", parts.username)

    def __str__(self) -> str:
        scheme, user = "mqtts" if self.is_tls else "mqtt", f"{self.user}@" if self.user else ""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{scheme}://{user}{host}:{self.port}"


def tls_context(ca_file: str | None = None) -> ssl.SSLContext:
    """Return the TLS settings for a broker whose certificate *ca_file*, or one of the system's, vouches for.

    Raises:
        OSError: If the file cannot be read or holds no certificate.
    """
    context = ssl.create_default_context(cafile=ca_file or None)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context
