"""The Unix socket server: accepts connections, and drains them when the daemon ends."""

import asyncio
import secrets
from collections.abc import Callable
from datetime import timedelta
from typing import Final

import structlog

from shelfd.gateway.binding import BACKLOG, Listener
from shelfd.gateway.budget import Budget
from shelfd.gateway.connection import Admission, Connection
from shelfd.gateway.dispatch import Dispatcher, Message
from shelfd.gateway.large import LargeMessages
from shelfd.memory.errors import QuotaExceeded, ShelfError, Unavailable

_LAST_S: Final = 1.0  #: how long changes that were started may take, when the time of the drain is over
_ABORT_S: Final = 1.0  #: how long aborted transports may take to say that they are closed


class UnixServer:
    """Serves one listening socket.

    ::

        server = UnixServer(dispatcher)
        await server.start(Listener.bind(path, mode=0o600))
        ...
        await server.stop(drain=timedelta(seconds=10))
    """

    def __init__(self, dispatcher: Dispatcher) -> None:
        self._dispatcher = dispatcher
        self._limits = dispatcher.limits
        self._counters = dispatcher.counters
        self._log = structlog.get_logger().bind(component="gateway.unix")
        self._budget = Budget(dispatcher.limits)
        self._large = LargeMessages[Message]()
        self._listener: Listener | None = None
        self._server: asyncio.Server | None = None
        self._connections: set[Connection] = set()
        # Request ids end up in the change log: connection numbers of different runs must not look alike.
        self._run = secrets.token_hex(3)
        self._open = 0
        self._changed = asyncio.Event()

    async def start(self, listener: Listener) -> None:
        """Accept connections on *listener*."""
        self._listener = listener
        # The loop listens once more, and its own backlog would make a burst of clients fail to connect.
        loop = asyncio.get_running_loop()
        self._server = await loop.create_unix_server(self._connection, sock=listener.listening, backlog=BACKLOG)

    async def stop(self, *, drain: timedelta) -> None:
        """Stop accepting, give what is at work *drain* to end, then close every connection.

        Requests that arrive meanwhile are answered with ShuttingDown, and so is, when the time is over, all that
        has not happened yet. A change that has been started then gets another second; it may still be at work in the
        store, which finishes it. Replies that a client has not read by then are dropped. A second call does nothing.
        """
        if self._server is None or self._listener is None:
            return
        self._dispatcher.refuse_new()
        self._server.close()
        self._listener.remove_file()
        self._server = None
        deadline = asyncio.get_running_loop().time() + drain.total_seconds()
        if not await self._wait(self._is_at_rest, deadline):
            self._log.warning("drain.timed_out", drain_s=drain.total_seconds(), connections=len(self._connections))
            for connection in list(self._connections):
                connection.abandon()
            # What the store has begun takes milliseconds, unless it is a job, and its caller should get the reply.
            await self._wait(self._is_at_rest, deadline + _LAST_S)
        for connection in list(self._connections):
            connection.close()
        if not await self._wait(lambda: self._open == 0, deadline):
            for connection in list(self._connections):
                connection.abort()
            # Aborting takes effect in the loop's next turns; it waits for no client.
            await self._wait(lambda: self._open == 0, deadline + _ABORT_S)

    def _is_at_rest(self) -> bool:
        return not any(connection.is_busy for connection in self._connections)

    async def _wait(self, condition: Callable[[], bool], deadline: float) -> bool:
        """Wait until *condition* holds; return False if *deadline*, in loop time, comes first."""
        while not condition():
            self._changed.clear()
            try:
                async with asyncio.timeout_at(deadline):
                    await self._changed.wait()
            except TimeoutError:
                return condition()
        return True

    def _connection(self) -> Connection:
        return Connection(self, self._dispatcher, self._limits, self._counters)

    # ------------------------------------------------------------------ called by connections

    def opened(self, connection: Connection, principal: str) -> Admission:
        """Let a connection in.

        Raises:
            Unavailable: If there are too many.
            QuotaExceeded: If its principal has too many.
        """
        counters = self._counters
        try:
            self._check_room(principal)
        except ShelfError as full:
            counters.connections_refused += 1
            self._log.warning("connection.refused", principal=principal, limit=full.data["limit"])
            raise
        share = self._budget.share(principal)
        share.connections += 1
        self._open += 1
        counters.connections_open += 1
        counters.connections_accepted += 1
        self._connections.add(connection)
        return Admission(f"{self._run}-{counters.connections_accepted}", share, self._budget, self._large)

    def _check_room(self, principal: str) -> None:
        limit = self._limits.connections_count
        if self._open >= limit:
            raise Unavailable(f"all {limit} connections are taken", field="connections", limit=limit)
        limit = self._limits.principal_connections_count
        if self._budget.share(principal).connections >= limit:
            message = f"{principal} has {limit} connections, and no principal may have more: close one"
            raise QuotaExceeded(message, field="connections", limit=limit)

    def lost(self, connection: Connection) -> None:
        """Note that a connection's transport is gone."""
        self._budget.share(connection.principal).connections -= 1
        self._open -= 1
        self._counters.connections_open -= 1
        self._changed.set()

    def ended(self, connection: Connection) -> None:
        """Forget a connection that is gone and has nothing at work."""
        self._connections.discard(connection)
        self._budget.forget(connection.principal)
        self._changed.set()

    def rested(self) -> None:
        """Note that a connection has nothing at work for the moment."""
        self._changed.set()
