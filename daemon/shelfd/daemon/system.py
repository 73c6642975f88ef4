"""What the daemon says of itself: health, version, metrics, and a doctor who says what to do."""

import asyncio
import os
import platform
import resource
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

from shelfd.daemon.places import Places
from shelfd.gateway import Counters
from shelfd.memory import Clock, Shelves
from shelfd.protocol import WIRE_VERSION

_LOW_SPACE_BYTES = 256 * 1024 * 1024
_FEW_FILES = 1024

#: A shelf that is not served, by its state: what to do about it.
_REMEDIES = {
    "corrupt": "its file is damaged and was left untouched; any call on the shelf says what to do",
    "failed": "it could not be opened; the log says why",
}


class Finding(NamedTuple):
    """One thing that was looked at; *detail* says what to do when it is not ok."""

    check: str
    ok: bool
    detail: str


class System:
    """Implements the gateway's ``System`` port."""

    def __init__(
        self,
        *,
        instance: str,
        places: Places,
        shelves: Shelves,
        counters: Counters,
        clock: Clock,
        connections_count: int,
        socket_mode: int,
    ) -> None:
        self._instance = instance
        self._places = places
        self._shelves = shelves
        self._counters = counters
        self._clock = clock
        self._connections_count = connections_count
        self._socket_mode = socket_mode
        self._started = clock.monotonic()
        self.is_ready = False

    def health(self) -> dict[str, Any]:
        """Answer ``system.health``: degraded when a shelf is not served."""
        shelves = self._shelves.status()
        return {
            "status": "ok" if all(shelf["state"] not in _REMEDIES for shelf in shelves) else "degraded",
            "ready": self.is_ready,
            "uptime_s": self._uptime_s(),
            "connections": self._counters.connections_open,
            "shelves": shelves,
        }

    def version(self) -> dict[str, Any]:
        """Answer ``system.version``."""
        return {
            "version": package_version(),
            "wire": WIRE_VERSION,
            "instance": self._instance,
            "python": platform.python_version(),
            "sqlite": sqlite3.sqlite_version,
        }

    async def doctor(self) -> dict[str, Any]:
        """Answer ``system.doctor``."""
        # A data directory on a network mount that hangs must not stop the loop.
        found = await asyncio.to_thread(lambda: list(self._look_at_files()))
        found += self._look_at_shelves()
        return {"ok": all(finding.ok for finding in found), "findings": [finding._asdict() for finding in found]}

    def metrics(self) -> dict[str, Any]:
        """Answer ``system.metrics``: counters since start, memory in bytes, processor time in seconds."""
        times = os.times()
        return {
            "metrics": {
                **self._counters.snapshot(),
                "uptime_s": self._uptime_s(),
                "cpu_s": round(times.user + times.system, 3),
                "rss_bytes": resident_bytes(),
                "shelves_open": sum(shelf["state"] == "open" for shelf in self._shelves.status()),
            }
        }

    def _uptime_s(self) -> float:
        return round(self._clock.monotonic() - self._started, 3)

    def _look_at_files(self) -> Iterator[Finding]:
        looks: tuple[Callable[[], Finding], ...] = (self._data_dir, self._free_space, self._socket, self._open_files)
        for look in looks:
            yield look()

    def _data_dir(self) -> Finding:
        data = self._places.data
        is_writable = os.access(data, os.W_OK | os.X_OK)
        is_private = data.exists() and not data.stat().st_mode & 0o077
        detail = "writable and private" if is_writable and is_private else "writable; others can look in: chmod 700"
        return Finding(
            "data_dir", is_writable and is_private, detail if is_writable else "not writable: see its owner and mode"
        )

    def _free_space(self) -> Finding:
        free = shutil.disk_usage(self._places.data).free
        advice = "" if free >= _LOW_SPACE_BYTES else f"; less than {_LOW_SPACE_BYTES >> 20} MiB, make room"
        return Finding("free_space", free >= _LOW_SPACE_BYTES, f"{free >> 20} MiB{advice}")

    def _socket(self) -> Finding:
        try:
            mode = self._places.socket.stat().st_mode & 0o777
        except OSError:
            return Finding("socket", False, "the socket's file is gone: restart the daemon")
        is_right = self._places.activated or mode == self._socket_mode
        advice = "" if is_right else f", expected {self._socket_mode:04o}: somebody changed it"
        return Finding("socket", is_right, f"mode {mode:04o}{advice}")

    def _open_files(self) -> Finding:
        soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        needed = max(_FEW_FILES, self._connections_count * 2)
        advice = "" if soft >= needed else f"; at least {needed} are wanted: LimitNOFILE or ulimit -n"
        return Finding("open_files", soft >= needed, f"limit {soft}{advice}")

    def _look_at_shelves(self) -> Iterator[Finding]:
        for shelf in self._shelves.status():
            remedy = _REMEDIES.get(shelf["state"])
            detail = f"{shelf['state']}, index {shelf['index']}, seq {shelf['seq']}" if remedy is None else remedy
            yield Finding(f"shelf {shelf['shelf']}", remedy is None, detail)


def resident_bytes() -> int:
    """Return how much memory this process occupies now."""
    pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


@cache
def package_version() -> str:
    """Return the installed version of shelfd."""
    return metadata.version("shelfd")
