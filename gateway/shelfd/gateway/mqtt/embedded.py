"""A small MQTT broker inside the daemon, for trying out: loopback only, MQTT 3.1.1, two users.

User ``shelfd`` is the daemon itself, ``agent`` every other client; their passwords are in files beside the shelves.
Nothing is kept when the daemon stops: events are taken up again from the change log.
"""

import asyncio
import errno
from importlib.util import find_spec
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Final

import structlog

from shelfd.gateway.mqtt.embedded_access import AGENT, DAEMON, Credentials, MayRead, may
from shelfd.gateway.mqtt.embedded_connect import LEVEL_3_1_1, ConnackRefusal, Greeting, Malformed, read_greeting
from shelfd.memory.errors import ConfigError

if TYPE_CHECKING:
    from shelfd.gateway.mqtt.embedded_amqtt import Library

#: Where MQTT clients look first.
USUAL_PORT: Final = 1883
CONNECTIONS_COUNT: Final = 64
CLIENT_ID_CHARACTERS: Final = 256
GREETING_S: Final = 10.0
STOP_S: Final = 3.0

_LOOPBACK: Final = ("127.0.0.1", "::1")
_FIELD: Final = "mqtt.embedded_broker"


class EmbeddedBroker:
    """The broker. :meth:`start` it before the daemon connects, :meth:`stop` it after.

    Args:
        directory: Where the password files are kept; made if it is missing.
        may_read: Says whether a principal may read a shelf; called for each event and each of its receivers.
        host: A loopback address.
        port: Where to listen; 0 takes any free port, None the usual one if it is free and else any.

    Raises:
        ConfigError: If the extra that brings the broker's library is not installed, or *host* is not loopback.
    """

    def __init__(self, directory: Path, *, may_read: MayRead, host: str = "127.0.0.1", port: int | None = None) -> None:
        if find_spec("amqtt") is None:
            raise ConfigError(
                'the embedded broker is not installed: install ".[broker]", not "."',
                field=_FIELD,
            )
        if host not in _LOOPBACK:
            raise ConfigError(f"the embedded broker listens at {' or '.join(_LOOPBACK)} only", field=_FIELD)
        self._may_read = may_read
        self._host = host
        self._port = port
        self._credentials = Credentials(directory)
        self._library: Library | None = None
        self._server: asyncio.Server | None = None
        self._connections: dict[asyncio.Task[None], asyncio.StreamWriter] = {}
        self._log = structlog.get_logger().bind(component="gateway.mqtt")

    @property
    def password_file(self) -> Path:
        """Where the daemon's own password is."""
        return self._credentials.file(DAEMON)

    @property
    def agent_password_file(self) -> Path:
        """Where the password of user ``agent`` is."""
        return self._credentials.file(AGENT)

    def url(self, user: str = DAEMON) -> str:
        """Return the running broker's address for *user*, as ``mqtt.url`` takes it."""
        assert self._server is not None, "not started"
        port = self._server.sockets[0].getsockname()[1]
        return f"mqtt://{user}@{f'[{self._host}]' if ':' in self._host else self._host}:{port}"

    async def start(self) -> str:
        """Listen, and return the address for the daemon.

        Raises:
            ConfigError: If the port is taken or the passwords cannot be kept.
        """
        # The library takes 0.3 s to load, which the event loop need not wait for.
        load, _ = await asyncio.gather(asyncio.to_thread(_load), asyncio.to_thread(self._credentials.load))
        library = load(self._may_read)
        await library.start()
        self._library = library
        try:
            self._server = await self._listen()
        except ConfigError:
            await self.stop()
            raise
        url = self.url()
        self._log.info("broker.started", url=url, password_file=str(self.agent_password_file))
        return url

    async def stop(self) -> None:
        """End every connection and the broker. A second call is harmless."""
        server, self._server = self._server, None
        library, self._library = self._library, None
        if server is not None:
            server.close()
        # Readers must see the end of their connection first: the library waits for those it has to cancel, and
        # one that was just about to read on loses the cancellation and reads for ever.
        for writer in self._connections.values():
            writer.close()
        if self._connections:
            await asyncio.wait(self._connections, timeout=STOP_S)
        try:
            async with asyncio.timeout(STOP_S):
                if library is not None:
                    await library.stop()
        except TimeoutError:
            self._log.warning("broker.stop_timed_out", after_s=STOP_S)
        for connection in self._connections:
            connection.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)
        if server is not None:
            await server.wait_closed()
            self._log.info("broker.stopped")

    async def _listen(self) -> asyncio.Server:
        wanted = USUAL_PORT if self._port is None else self._port
        try:
            return await asyncio.start_server(self._accepted, self._host, wanted)
        except OSError as error:
            if self._port is None and error.errno == errno.EADDRINUSE:
                return await asyncio.start_server(self._accepted, self._host, 0)
            raise ConfigError(f"cannot listen at {self._host}:{wanted}: {error.strerror}", field=_FIELD) from error

    def _accepted(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(self._connections) >= CONNECTIONS_COUNT:
            self._log.warning("broker.full", limit=CONNECTIONS_COUNT)
            writer.close()
            return
        task = asyncio.create_task(self._connected(reader, writer), name="shelfd.mqtt.broker.connection")
        self._connections[task] = writer
        task.add_done_callback(self._ended)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        library = self._library
        try:
            async with asyncio.timeout(GREETING_S):
                greeting = await read_greeting(reader)
            refusal = self._judge(greeting)
            if refusal is not None or library is None:
                self._log.debug("broker.client_refused", reason=refusal.name if refusal else "STOPPING")
                writer.write((refusal or ConnackRefusal.NOT_AUTHORIZED).packet())
                await writer.drain()
                return
            # A session belongs to its user: the same client id under another user is another session.
            session = f"{greeting.user}/{greeting.client_id or token_hex(16)}"
            await library.serve(greeting.packet(session), reader, writer)
        except (Malformed, TimeoutError, OSError, asyncio.IncompleteReadError) as error:
            self._log.debug("broker.client_failed", error=type(error).__name__)
        finally:
            writer.close()

    def _judge(self, greeting: Greeting) -> ConnackRefusal | None:
        if greeting.level != LEVEL_3_1_1:
            return ConnackRefusal.PROTOCOL
        if not self._credentials.admits(greeting.user, greeting.password):
            return ConnackRefusal.NOT_AUTHORIZED
        if not (greeting.client_id or greeting.is_clean) or len(greeting.client_id) > CLIENT_ID_CHARACTERS:
            return ConnackRefusal.IDENTIFIER
        will = greeting.will_topic
        if will is not None and ("#" in will or "+" in will or not may(greeting.user, "write", will)):
            return ConnackRefusal.NOT_AUTHORIZED
        return None

    def _ended(self, connection: "asyncio.Task[None]") -> None:
        self._connections.pop(connection, None)
        if not connection.cancelled() and (error := connection.exception()) is not None:
            self._log.error("broker.connection_failed", error=type(error).__name__)


def _load() -> "type[Library]":
    from shelfd.gateway.mqtt.embedded_amqtt import Library  # lazily: most daemons have no broker inside

    return Library
