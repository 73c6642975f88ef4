"""The life of the daemon: start in order, serve, stop in reverse, whatever happens in between."""

import asyncio
import contextlib
import gc
import signal
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import timedelta
from importlib import import_module

import structlog

from shelfd.daemon import huge_pages, served
from shelfd.daemon.composition import Parts, build, socket_mode
from shelfd.daemon.host import SystemClock
from shelfd.daemon.logging import Threshold
from shelfd.daemon.notify import Notifier
from shelfd.daemon.places import Places
from shelfd.daemon.served import Served
from shelfd.daemon.settings import Loaded
from shelfd.gateway import Listener
from shelfd.memory import DEFAULT_SHELF
from shelfd.memory.methods.loading import common, rest
from shelfd.protocol.lazy_table import importing

log = structlog.get_logger("shelfd.daemon")

Reload = Callable[[Parts, Places], None]


#: Allocations between two looks of the garbage collector at what is young. Requests leave few cycles, and
#: Python's default of 700 costs a tenth of a remember.
_GC_THRESHOLD = 50_000


async def serve(
    loaded: Loaded,
    places: Places,
    origin: Served,
    *,
    activated: socket.socket | None,
    notifier: Notifier,
    watchdog_s: float | None,
    reload: Reload,
    threshold: Threshold,
) -> None:
    """Serve until SIGTERM or SIGINT.

    Args:
        loaded: The settings.
        places: Where data and socket are.
        origin: What this daemon is remembered as, beside its socket.
        activated: The listening socket the service manager handed over; None to bind one.
        notifier: Speaks to the service manager.
        watchdog_s: How often to ping it; None for never.
        reload: Called on SIGHUP with the daemon's parts and places.
        threshold: Of what is logged.

    Raises:
        ConfigError: If the socket cannot be listened on.
        OSError: If the data directory cannot be used.
    """
    stop = asyncio.Event()
    async with AsyncExitStack() as stack:
        parts = build(loaded.settings, places, loaded.environ)
        stack.push_async_callback(parts.model.close)
        stack.push_async_callback(parts.embedder.close)
        stack.push_async_callback(parts.shelves.close)
        await parts.shelves.start()
        listener = _listener(loaded, places, activated)
        drain = timedelta(seconds=loaded.settings.daemon.drain_s)
        await parts.server.start(listener)
        stack.push_async_callback(_stop_gateways, parts, drain)
        stack.push_async_callback(parts.scheduler.stop)
        if parts.backups is not None:
            stack.push_async_callback(parts.backups.stop)
        stack.callback(notifier.stopping)
        _on_signals(stop, lambda: _reload(reload, parts, places, notifier))
        _collect_less()
        parts.system.is_ready = True
        parts.system.settings = loaded
        parts.system.threshold = threshold
        _compare_with_last(parts, places, origin)
        stack.callback(_remember, parts, places, origin)
        _say_ready(loaded, places, parts, notifier)
        loading = asyncio.create_task(_load(loaded, places, parts), name="shelfd.daemon.load")
        loading.add_done_callback(lambda done: done.cancelled() or done.result())  # the log has what went wrong
        stack.callback(loading.cancel)
        if parts.mqtt is not None:
            parts.mqtt.start()
        await _start_metrics(loaded, parts, stack)
        await parts.scheduler.start()
        if parts.backups is not None:
            await parts.backups.start()
        async with _watched(notifier, watchdog_s, parts):
            await stop.wait()
        parts.system.is_ready = False
        log.info("daemon.stopping", drain_s=loaded.settings.daemon.drain_s)
    log.info("daemon.stopped")


def _collect_less() -> None:
    """Have the garbage collector look at what is new alone, and seldom.

    What exists now lives as long as the daemon, but for some hundred objects. To find those first took a tenth of the
    start.
    """
    gc.freeze()
    gc.enable()  # it was off while the daemon was imported
    gc.set_threshold(_GC_THRESHOLD, 20, 50)


async def _load(loaded: Loaded, places: Places, parts: Parts) -> None:
    """Load what the start leaves out: what most requests need, then what recall knows, then what few requests need.

    Of two threads that need the interpreter each takes more than twice as long, and so do requests meanwhile. Hence
    one after the other, and the code module by module: in between, requests have the interpreter for themselves.
    From then on memory is kept in huge pages.
    """
    for load in common():
        await asyncio.to_thread(load)
    if (shelf := parts.shelves.opened(DEFAULT_SHELF)) is not None:
        await shelf.image.loaded()
    for load in rest():
        await asyncio.to_thread(load)
    await asyncio.to_thread(_import_beside, loaded, places)
    gc.freeze()
    await huge_pages.follow(SystemClock())


def _import_beside(loaded: Loaded, places: Places) -> None:
    """Import how agents speak, and what may compile the loops of recall."""
    with importing:
        import_module("shelfd.gateway.mcp")
        compiled = import_module("shelfd.memory.recall.compiled")
    compiled.offer(loaded.settings.recall.engine, places.data / "compiled")


async def _start_metrics(loaded: Loaded, parts: Parts, stack: AsyncExitStack) -> None:
    """Let Prometheus ask, if that is wanted; without it everything else works all the same."""
    if parts.metrics is None:
        return
    host, _, port = loaded.settings.metrics.listen.rpartition(":")
    try:
        await parts.metrics.start(host.strip("[]"), int(port))
    except OSError as error:
        parts.system.metrics_complaint = f"cannot listen on {loaded.settings.metrics.listen}: {error.strerror}"
        log.error("metrics.listen_failed", listen=loaded.settings.metrics.listen, why=error.strerror)
    else:
        stack.push_async_callback(parts.metrics.stop)


async def _stop_gateways(parts: Parts, drain: timedelta) -> None:
    """Stop both at a time: they share the drain, and a request by either is answered within it."""
    stopping = [parts.server.stop(drain=drain)]
    if parts.mqtt is not None:
        stopping.append(parts.mqtt.stop(drain))
    await asyncio.gather(*stopping)


def _listener(loaded: Loaded, places: Places, activated: socket.socket | None) -> Listener:
    if activated is not None and places.activated:
        return Listener.adopt(activated)
    return Listener.bind(places.socket, mode=socket_mode(loaded.settings, places))


def _compare_with_last(parts: Parts, places: Places, origin: Served) -> None:
    """Find out whether what was remembered lies elsewhere, and if not, be what belongs to this socket from now on."""
    before = served.last(places.socket)
    if before is not None and before.data.resolve() != origin.data.resolve() and before.has_shelves():
        parts.system.before = before
    _remember(parts, places, origin)
    if parts.system.elsewhere() is not None:
        log.warning("data.elsewhere", data_dir=str(places.data), advice=parts.system.elsewhere())


def _remember(parts: Parts, places: Places, origin: Served) -> None:
    # A daemon that was started by mistake must not take the place of the one that has the memory.
    if parts.system.elsewhere() is None:
        served.remember(places.socket, origin)


def _on_signals(stop: asyncio.Event, reload: Callable[[], None]) -> None:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    loop.add_signal_handler(signal.SIGHUP, reload)


def _reload(reload: Reload, parts: Parts, places: Places, notifier: Notifier) -> None:
    notifier.reloading()
    reload(parts, places)
    notifier.ready(_status(places))


def _status(places: Places) -> str:
    return f"serving at {places.socket}"


def _say_ready(loaded: Loaded, places: Places, parts: Parts, notifier: Notifier) -> None:
    log.info(
        "daemon.ready",
        socket=str(places.socket),
        socket_origin=places.socket_origin,
        data_dir=str(places.data),
        data_origin=places.data_origin,
        config=str(loaded.file) if loaded.file else None,
        shelves=len(parts.shelves.status()),
    )
    served.announce(places, has_mqtt=loaded.settings.mqtt.embedded_broker, warning=parts.system.elsewhere())
    notifier.ready(_status(places))


@asynccontextmanager
async def _watched(notifier: Notifier, interval_s: float | None, parts: Parts) -> AsyncIterator[None]:
    """Ping the service manager for the length of a block, while the daemon's parts are alive.

    A blocked loop cannot ping; nor is there a ping while a shelf's writer or the scheduler is stuck. Either way
    the service manager restarts the daemon.
    """
    if interval_s is None:
        yield
        return

    async def ping() -> None:
        while True:
            if stuck := parts.system.stuck():
                log.error("watchdog.withheld", stuck=stuck)
            else:
                notifier.watchdog()
            await SystemClock().sleep(timedelta(seconds=interval_s))

    task = asyncio.create_task(ping(), name="shelfd.daemon.watchdog")
    try:
        yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
