"""The daemon's figures over HTTP, for Prometheus: a few lines of the protocol, on loopback, and nothing but two reads.

Names are those of ``system.metrics`` and ``system.health``, with ``shelfd_`` before them.
"""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from importlib import import_module
from typing import Any, Final

import structlog

log = structlog.get_logger("shelfd.gateway")

_REQUEST_BYTES: Final = 8192
_PATIENCE_S: Final = 5.0
#: Requests at a time; a scraper sends one.
_AT_ONCE: Final = 8
#: Ends of the names of figures that only grow; others go up and down.
_COUNTERS: Final = (
    "_accepted", "_refused", "_sent", "_lagged", "_calls", "_failures", "_replies", "_retries", "_in", "_out", "cpu_s",
)  # fmt: skip
_REASONS: Final = {200: "OK", 404: "Not Found", 405: "Method Not Allowed", 503: "Service Unavailable"}

Figures = Callable[[], Mapping[str, Any]]


class MetricsServer:
    """Answers ``GET /metrics`` and ``GET /health``.

    Args:
        metrics: Returns what ``system.metrics`` answers.
        health: Returns what everyone may know of ``system.health``.
    """

    def __init__(self, metrics: Figures, health: Figures) -> None:
        self._metrics = metrics
        self._health = health
        self._server: asyncio.Server | None = None
        self._at_work = 0
        self.address: tuple[str, int] | None = None  #: where it listens

    async def start(self, host: str, port: int) -> None:
        """Listen.

        Raises:
            OSError: If that is not possible.
        """
        await asyncio.to_thread(import_module, "prometheus_client")  # which would hold up everything else
        self._server = await asyncio.start_server(self._answer, host, port, limit=_REQUEST_BYTES)
        self.address = self._server.sockets[0].getsockname()[:2]
        log.info("metrics.listening", host=self.address[0], port=self.address[1])

    async def stop(self) -> None:
        """Listen no longer."""
        if self._server is not None:
            self._server.close()
            self._server = None

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._at_work += 1
        try:
            async with asyncio.timeout(_PATIENCE_S):
                if self._at_work <= _AT_ONCE:
                    head = await reader.readuntil(b"\r\n\r\n")
                    writer.write(self._response(head))
                    await writer.drain()
        except (TimeoutError, OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass  # a client that goes away, or never says what it wants
        finally:
            self._at_work -= 1
            with suppress(OSError):
                writer.close()

    def _response(self, head: bytes) -> bytes:
        verb, _, rest = head.partition(b" ")
        path = rest.partition(b" ")[0].partition(b"?")[0]
        if verb not in (b"GET", b"HEAD"):
            return _reply(405, "text/plain", b"only GET\n")
        if path == b"/metrics":
            return _reply(200, _content_type(), exposed(self._metrics()["metrics"], self._health()), verb)
        if path == b"/health":
            status = str(self._health()["status"])
            return _reply(200 if status == "ok" else 503, "text/plain", f"{status}\n".encode(), verb)
        return _reply(404, "text/plain", b"/metrics or /health\n", verb)


def _reply(status: int, kind: str, body: bytes, verb: bytes = b"GET") -> bytes:
    head = f"HTTP/1.1 {status} {_REASONS[status]}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n"
    return head.encode() + b"Connection: close\r\n\r\n" + (b"" if verb == b"HEAD" else body)


def _content_type() -> str:
    from prometheus_client import CONTENT_TYPE_LATEST  # an extra, and a tenth of a second

    return CONTENT_TYPE_LATEST


def exposed(metrics: Mapping[str, Any], health: Mapping[str, Any]) -> bytes:
    """Return figures in Prometheus' text format.

    Args:
        metrics: What ``system.metrics`` counts.
        health: What everyone may know of ``system.health``.
    """
    from prometheus_client import CollectorRegistry, generate_latest  # as above
    from prometheus_client.registry import Collector

    class Figured(Collector):
        def collect(self) -> Iterator[Any]:
            return _families(metrics, health)

    registry = CollectorRegistry()
    registry.register(Figured())
    return bytes(generate_latest(registry))


def _families(metrics: Mapping[str, Any], health: Mapping[str, Any]) -> Iterator[Any]:
    from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily  # as above

    requests = CounterMetricFamily("shelfd_requests", "Requests by method and outcome.", labels=("method", "outcome"))
    for method, outcomes in metrics["requests"].items():
        for outcome, count in outcomes.items():
            requests.add_metric((method, outcome), count)
    yield requests
    for name, value in metrics.items():
        if isinstance(value, bool) or not isinstance(value, int | float):
            continue
        family = CounterMetricFamily if name.endswith(_COUNTERS) else GaugeMetricFamily
        yield family(f"shelfd_{name}", f"{name} of system.metrics.", value=value)
    yield GaugeMetricFamily(
        "shelfd_health_ok", "Whether status of system.health is ok.", value=health["status"] == "ok"
    )
    yield GaugeMetricFamily("shelfd_health_ready", "ready of system.health.", value=bool(health["ready"]))
    if health["mqtt"] is not None:
        connected = health["mqtt"]["state"] == "connected"
        yield GaugeMetricFamily("shelfd_health_mqtt_connected", "Whether state of mqtt is connected.", value=connected)
    tick = health["scheduler"]["last_tick_s"]
    yield GaugeMetricFamily("shelfd_health_scheduler_last_tick_s", "last_tick_s of the scheduler.", value=tick)
