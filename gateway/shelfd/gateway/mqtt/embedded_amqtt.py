"""The broker's library, amqtt: the only module that imports it, and that only once a broker is wanted.

It is handed connections whose CONNECT was read and found good, because of what it does with others: it takes a
session over before it asks for the password, delivers wills without asking whether their topic is allowed, and
checks passwords by a hash that stops the event loop for tens of milliseconds.
"""

import asyncio
import logging
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Final

import structlog
from amqtt.adapters import ReaderAdapter, StreamWriterAdapter
from amqtt.broker import Broker
from amqtt.contexts import Action, BrokerConfig, ListenerConfig, ListenerType
from amqtt.errors import AMQTTError, BrokerError, CodecError, MQTTError, NoDataError, ProtocolHandlerError
from amqtt.mqtt.protocol.broker_handler import BrokerProtocolHandler
from amqtt.plugins.base import BaseAuthPlugin, BaseTopicPlugin
from amqtt.session import Session

from shelfd.gateway.mqtt.embedded_access import GRANTS, MayRead, may, may_receive

#: The largest packet, as the shipped broker file has it.
PACKET_BYTES: Final = 2 * 1024 * 1024
#: How long a session without a connection is kept, in seconds.
SESSION_EXPIRY_S: Final = 3600

_LISTENER: Final = "default"
_LOGGERS: Final = ("amqtt", "transitions")


class Members(BaseAuthPlugin):
    """Lets known users in; their passwords were checked before."""

    async def authenticate(self, *, session: Session) -> bool | None:
        """Return whether the session's user is one of ours."""
        return session.username in GRANTS


class Grants(BaseTopicPlugin):
    """Which topics a user may read and write, and which messages they get."""

    @dataclass
    class Config(BaseTopicPlugin.Config):
        """What the rules need to know."""

        may_read: Any  # MayRead, which the library cannot check

    async def topic_filtering(
        self, *, session: Session | None = None, topic: str | None = None, action: Action | None = None
    ) -> bool | None:
        """Return whether the session's user may do *action* on *topic*."""
        if session is None or not topic:
            return False
        if action == Action.RECEIVE:
            may_read: MayRead = self.config.may_read
            return may_receive(session.username, topic, may_read)
        return may(session.username, "write" if action == Action.PUBLISH else "read", topic)


_is_subscribing: ContextVar[bool] = ContextVar("is_subscribing", default=False)


class _Broker(Broker):
    """Sends retained messages for a client's own new subscriptions only.

    The library also does so when a client connects, and then for every client's subscriptions.
    """

    async def _handle_subscription(
        self,
        client_session: Session,
        handler: BrokerProtocolHandler,
        subscribe_waiter: "asyncio.Future[Any]",
    ) -> None:
        token = _is_subscribing.set(True)
        try:
            await super()._handle_subscription(client_session, handler, subscribe_waiter)
        finally:
            _is_subscribing.reset(token)

    async def _publish_retained_messages_for_subscription(
        self, subscription: tuple[str, int], session: Session
    ) -> None:
        if _is_subscribing.get():
            await super()._publish_retained_messages_for_subscription(subscription, session)


class Library:
    """A broker that takes over connections that others have accepted.

    Args:
        may_read: Says which shelves' events a user gets.
    """

    def __init__(self, may_read: MayRead) -> None:
        _hush()
        plugins: dict[str, Any] = {
            f"{__name__}.{Members.__name__}": {},
            f"{__name__}.{Grants.__name__}": {"may_read": may_read},
        }
        self._broker = _Broker(
            BrokerConfig(
                listeners={_LISTENER: ListenerConfig(type=ListenerType.EXTERNAL)},
                session_expiry_interval=SESSION_EXPIRY_S,
                plugins=plugins,
            )
        )

    async def start(self) -> None:
        """Begin."""
        await self._broker.start()

    async def serve(self, greeting: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection until it ends; *greeting* is its CONNECT.

        Raises:
            ConnectionError: If what the client sends or how it leaves is beyond the library.
        """
        try:
            reading = _Replayed(greeting, reader, writer.transport)
            await self._broker.external_connected(reading, StreamWriterAdapter(writer), _LISTENER)
        except (AMQTTError, BrokerError, CodecError, MQTTError, NoDataError, ProtocolHandlerError) as error:
            raise ConnectionError(type(error).__name__) from error

    async def stop(self) -> None:
        """End every connection and forget everything."""
        await self._broker.shutdown()


class _Replayed(ReaderAdapter):
    """Reads what was read already, then the rest; and no packet that is too large."""

    def __init__(self, first: bytes, reader: asyncio.StreamReader, transport: asyncio.WriteTransport) -> None:
        self._first = first
        self._reader = reader
        self._transport = transport

    async def read(self, n: int = -1) -> bytes:
        """Read exactly *n* bytes; none at all once the connection has ended."""
        if self._first:
            data, self._first = self._first[:n], self._first[n:]
            return data
        if not 0 <= n <= PACKET_BYTES:
            structlog.get_logger().warning("broker.packet_refused", component="gateway.mqtt", limit=PACKET_BYTES)
            self._transport.abort()
        # What follows a packet that was refused is the rest of it.
        return b"" if self._transport.is_closing() else await self._reader.readexactly(n)

    def feed_eof(self) -> None:
        """End it."""
        self._reader.feed_eof()


class _Discreet(logging.Handler):
    """Logs where the library complained and the kind of error, but not its text: that may hold payloads."""

    def emit(self, record: logging.LogRecord) -> None:
        kind = record.exc_info[0].__name__ if record.exc_info and record.exc_info[0] else None
        log = structlog.get_logger().bind(component="gateway.mqtt", where=f"{record.name}:{record.lineno}")
        if record.levelno >= logging.ERROR:
            log.warning("broker.failed", error=kind)
        else:
            log.debug("broker.complained", error=kind)


def _hush() -> None:
    for name in _LOGGERS:
        logger = logging.getLogger(name)
        logger.setLevel(logging.WARNING)
        logger.propagate = False
        logger.handlers[:] = [_Discreet()]
