"""Links on aiomqtt: the one file that knows it and paho, the library below it.

aiomqtt connects, subscribes, keeps the connection alive and says farewell. Messages and their answers go past it and
paho, which it keeps in ``_client``: it would acknowledge on receipt, drop the reason for which a broker refuses a
message, and queue without bound; and it is slow, see :mod:`shelfd.gateway.mqtt.packing`.
"""

import asyncio
import logging
import socket
import ssl
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from typing import Any, Final

import aiomqtt
from paho.mqtt.client import Client
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.subscribeoptions import SubscribeOptions

from shelfd.gateway.mqtt.inbox import Inbox
from shelfd.gateway.mqtt.link import Address, Arrived, Trouble, Will, check_code, lost, not_let_in
from shelfd.gateway.mqtt.outgoing import ANSWER_S, Outgoing
from shelfd.gateway.mqtt.packing import PUBACK, acknowledgement, general, read_answer, read_published
from shelfd.gateway.mqtt.wire import CodecSocket, SocketReader, SocketWriter
from shelfd.memory.errors import BrokerUnreachable
from shelfd.memory.ports.store import Clock

#: Requests the broker may send before the first of them is acknowledged.
RECEIVE_MAXIMUM: Final = 256
_FAREWELL_S: Final = 2.0
_KEEPALIVE: Final = timedelta(seconds=30)
_TRY_V5_AGAIN: Final = timedelta(hours=1)

# What it has to say reaches us as exceptions; its own lines would bypass the daemon's log.
_silence = logging.getLogger("shelfd.gateway.mqtt.library")
_silence.addHandler(logging.NullHandler())
_silence.propagate = False


class AiomqttBroker:
    """A broker reached by TCP or TLS, by MQTT 5 if it can and 3.1.1 if not.

    Args:
        address: Where it is.
        identifier: The client identifier, the same after a restart: the broker keeps its session by it.
        clock: Decides when MQTT 5 is tried again after it was refused, and when a message expires.
        password: For ``address.user``.
        tls: TLS settings; needed if the address asks for TLS.
        session_expiry: How long the broker keeps what arrives while we are away.
        keepalive: How long a connection may be silent before either side asks whether the other is there.
    """

    def __init__(
        self,
        address: Address,
        *,
        identifier: str,
        clock: Clock,
        password: str | None = None,
        tls: ssl.SSLContext | None = None,
        session_expiry: timedelta = timedelta(days=7),
        keepalive: timedelta = _KEEPALIVE,
    ) -> None:
        self.url = str(address)
        self._address = address
        self._identifier = identifier
        self._clock = clock
        self._password = password
        self._tls = tls
        self._session_expiry = session_expiry
        self._keepalive = keepalive
        self._v5_again_at = float("-inf")

    @asynccontextmanager
    async def connect(self, will: Will) -> AsyncIterator["AiomqttLink"]:
        """Open a link; see :meth:`shelfd.gateway.mqtt.link.Broker.connect`."""
        link = await self._open(will)
        try:
            yield link
        finally:
            await link.close()

    async def _open(self, will: Will) -> "AiomqttLink":
        if self._clock.monotonic() < self._v5_again_at:
            return await self._open_as(will, is_v5=False)
        try:
            return await self._open_as(will, is_v5=True)
        except BrokerUnreachable as error:
            if error.data["reason"] != Trouble.VERSION_REFUSED:
                raise
        link = await self._open_as(will, is_v5=False)
        # Not before that worked: a broker that is being restarted hangs up on all clients.
        self._v5_again_at = self._clock.monotonic() + _TRY_V5_AGAIN.total_seconds()
        return link

    async def _open_as(self, will: Will, *, is_v5: bool) -> "AiomqttLink":
        session: dict[str, Any] = {"protocol": aiomqtt.ProtocolVersion.V311, "clean_session": False}
        if is_v5:
            expiry_s = round(self._session_expiry.total_seconds())
            agreed = general(PacketTypes.CONNECT, SessionExpiryInterval=expiry_s, ReceiveMaximum=RECEIVE_MAXIMUM)
            session = {"protocol": aiomqtt.ProtocolVersion.V5, "clean_start": False, "properties": agreed}
        delay = general(PacketTypes.WILLMESSAGE, WillDelayInterval=will.delay_s) if is_v5 else None
        client = aiomqtt.Client(
            self._address.host,
            self._address.port,
            username=self._address.user,
            password=self._password,
            identifier=self._identifier,
            will=aiomqtt.Will(will.topic, will.payload, qos=1, retain=True, properties=delay),
            keepalive=round(self._keepalive.total_seconds()),
            timeout=ANSWER_S,
            tls_context=self._tls,
            # Without it Nagle's algorithm and delayed acknowledgements add 45 ms to each request.
            socket_options=[(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)],
            logger=_silence,
            **session,
        )
        link = AiomqttLink(client, self._clock, is_v5=is_v5)
        await link.open()
        return link


class AiomqttLink:
    """One connection; see :class:`shelfd.gateway.mqtt.link.MqttLink`."""

    def __init__(self, client: aiomqtt.Client, clock: Clock, *, is_v5: bool) -> None:
        self.is_v5 = is_v5
        self._client = client
        self._clock = clock
        self._loop = asyncio.get_running_loop()
        self._paho: Client = client._client  # noqa: SLF001 - see the module's docstring
        self._reader = SocketReader(self._paho._sock_recv)  # noqa: SLF001 - see the module's docstring
        self._writer = SocketWriter(self._paho._sock_send)  # noqa: SLF001 - see the module's docstring
        self._wire = CodecSocket(self._paho, self._reader, self._writer, self._on_packet, self._on_broken)
        self._inbox = Inbox(self._wire.hold_back, self._wire.read_on)
        self._failure: BrokerUnreachable | None = None
        self._ended: asyncio.Future[None] = self._loop.create_future()
        self._outgoing = Outgoing(self._wire.send, is_v5=is_v5, is_held_back=lambda: self._inbox.is_held_back)
        self._is_answered = False
        self._hung_up: asyncio.Future[None] = self._loop.create_future()
        self._take_over()

    def _take_over(self) -> None:
        """Put our callbacks in the place of aiomqtt's."""
        paho: Any = self._paho  # its callbacks' types leave out what it really hands over
        self._tell_connected, self._tell_disconnected = paho.on_connect, paho.on_disconnect
        self._tell_opened = paho.on_socket_open
        paho._sock_recv, paho._sock_send = self._reader.receive, self._writer.put  # noqa: SLF001
        paho.on_connect = self._on_connect
        paho.on_disconnect = self._on_disconnect
        paho.on_socket_open = self._on_socket_open
        paho.on_socket_register_write = lambda _paho, _data, _socket: self._wire.write_soon()
        paho.on_socket_unregister_write = lambda _paho, _data, sock: self._wire.written(sock)

    # ------------------------------------------------------------------ life

    async def open(self) -> None:
        """Connect.

        Raises:
            BrokerUnreachable: If that fails; then nothing is left open.
        """
        entering = self._loop.create_task(self._client.__aenter__())
        try:
            await asyncio.wait((entering, self._hung_up), return_when=asyncio.FIRST_COMPLETED)
            if self._hung_up.done() and not self._is_answered:
                entering.cancel()
            await entering
        except aiomqtt.MqttError as error:
            self._drop()
            raise _unreachable(error) from None
        except asyncio.CancelledError:
            is_ours = entering.cancelled()
            # It connects on a thread that cannot be interrupted; what it opens must be closed.
            await asyncio.wait((entering, self._wire.begun), return_when=asyncio.FIRST_COMPLETED)
            entering.cancel()
            await asyncio.gather(entering, return_exceptions=True)
            self._drop()
            if not is_ours:
                raise
            # So do brokers that take MQTT 5 for nonsense.
            trouble = Trouble.VERSION_REFUSED if self.is_v5 else Trouble.LOST
            raise BrokerUnreachable("the broker hung up without an answer", reason=trouble) from None
        self._client._disconnected.add_done_callback(self._on_lost)  # noqa: SLF001 - see the module's docstring

    async def close(self) -> None:
        """Say farewell if the link is up, and release everything."""
        try:
            async with asyncio.timeout(_FAREWELL_S):
                await self._client.__aexit__(None, None, None)
        except (aiomqtt.MqttError, TimeoutError):
            pass  # the connection is gone, which is what was wanted
        finally:
            self._drop()

    def _drop(self) -> None:
        """Close the socket by whatever way is left."""
        self._fail(BrokerUnreachable("the connection is closed", reason=Trouble.LOST))
        with suppress(OSError):
            self._paho.disconnect()
            self._paho.loop_write()
        rest: Any = self._paho.socket()
        if rest is not None:
            with suppress(OSError):
                rest.shutdown(socket.SHUT_RDWR)
            with suppress(OSError):
                self._paho.loop_write()  # fails, upon which paho cleans up

    # ------------------------------------------------------------------ the port

    async def subscribe(self, filters: Sequence[str]) -> None:
        """Subscribe with QoS 1; see the port."""
        wanted: Any = [(one, SubscribeOptions(qos=1, retainAsPublished=True) if self.is_v5 else 1) for one in filters]
        asking = self._loop.create_task(self._client.subscribe(wanted))
        try:
            # aiomqtt would wait its time out on a connection that is gone.
            await asyncio.wait((asking, self._ended), return_when=asyncio.FIRST_COMPLETED)
            if self._failure is not None:
                raise self._failure
            codes = await asking
        except aiomqtt.MqttError as error:
            raise _unreachable(error) from None
        finally:
            asking.cancel()
        for code in codes:
            check_code(_number(code))

    def messages(self) -> AsyncIterator[Arrived]:
        """Yield messages in the order of arrival; see the port."""
        return self._inbox.messages()

    def deliver_to(self, take: Callable[[Arrived], bool] | None) -> None:
        """Hand messages over as they arrive; see the port."""
        self._inbox.take = take

    def acknowledge(self, message: Arrived) -> None:
        """Acknowledge; see the port."""
        if self._failure is None and message.qos:
            self._wire.send(acknowledgement(message.number))

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
        """Publish; see the port."""
        await self._outgoing.publish(
            topic,
            payload,
            qos=qos,
            is_retained=is_retained,
            correlation=correlation,
            content_type=content_type,
            expiry_s=expiry_s,
            is_event=is_event,
        )

    def post(
        self,
        topic: str,
        payload: bytes,
        *,
        correlation: bytes | None = None,
        content_type: str | None = None,
        is_event: bool = False,
        is_urgent: bool = False,
    ) -> asyncio.Future[None] | None:
        """Begin to publish at once; see the port."""
        sending = self._outgoing.post(topic, payload, correlation, content_type, is_event=is_event)
        if is_urgent and sending is not None:
            self._wire.write_now()
        return sending

    # ------------------------------------------------------------------ called by paho

    def _on_connect(self, *details: Any) -> None:  # noqa: ANN401 - handed on as they came
        self._is_answered = True
        properties = details[-1]
        self._outgoing.agreed(
            largest=getattr(properties, "MaximumPacketSize", None),
            at_a_time=getattr(properties, "ReceiveMaximum", None),
        )
        self._tell_connected(*details)

    def _on_socket_open(self, *details: Any) -> None:  # noqa: ANN401 - handed on as they came
        # On the thread that connects. Our reader takes the place of aiomqtt's, which bypasses our buffer.
        self._tell_opened(*details)
        self._loop.call_soon_threadsafe(self._wire.read_on)

    def _on_disconnect(self, *details: Any) -> None:  # noqa: ANN401 - handed on as they came
        if not self._hung_up.done():
            self._hung_up.set_result(None)
        self._tell_disconnected(*details)

    # ------------------------------------------------------------------ called by the socket

    def _on_packet(self, first: int, body: bytes) -> None:
        """Take a message, which may come with the first answer, before we are connected, or the answer to one."""
        if first >> 4 == PUBACK:
            self._outgoing.answered(*read_answer(body))
            return
        message = read_published(first, body, is_v5=self.is_v5)
        self._outgoing.received()
        self._inbox.put(
            Arrived(
                topic=message.topic,
                payload=message.payload,
                qos=message.qos,
                is_retained=message.is_retained,
                number=message.number,
                response_topic=message.response_topic,
                correlation=message.correlation,
                expires_at=None if message.expiry_s is None else self._clock.monotonic() + message.expiry_s,
            )
        )

    # ------------------------------------------------------------------ the end

    def _on_broken(self) -> None:
        self._fail(BrokerUnreachable("the connection to the broker broke", reason=Trouble.LOST))

    def _on_lost(self, ended: asyncio.Future[None]) -> None:
        error = None if ended.cancelled() else ended.exception()
        self._fail(lost(_number(error.rc) if isinstance(error, aiomqtt.MqttCodeError) else None))

    def _fail(self, failure: BrokerUnreachable) -> None:
        """Notify all waiting callers that nothing more will come."""
        if self._failure is not None:
            return
        self._failure = failure
        self._ended.set_result(None)
        self._inbox.end(failure)
        self._outgoing.fail(failure)


def _number(code: object) -> int:
    value: Any = getattr(code, "value", code)
    return int(value)


def _unreachable(error: aiomqtt.MqttError) -> BrokerUnreachable:
    """Translate what keeps a connection from coming about."""
    if isinstance(error, aiomqtt.MqttCodeError):
        return not_let_in(_number(error.rc), str(error.rc))
    cause = error.__context__
    if isinstance(cause, ssl.SSLError):
        return BrokerUnreachable(f"TLS with the broker failed: {cause.reason}", reason=Trouble.TLS_FAILED)
    trouble = Trouble.TIMED_OUT if isinstance(cause, TimeoutError) else Trouble.UNREACHABLE
    return BrokerUnreachable(f"the broker cannot be reached: {error}", reason=trouble)
