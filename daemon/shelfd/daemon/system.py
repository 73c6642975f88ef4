"""What the daemon says about itself: health, version, metrics, and a doctor that says what to do."""

import asyncio
import os
import platform
import sqlite3
from collections.abc import Awaitable, Callable, Iterator
from functools import cache, partial
from importlib import metadata
from pathlib import Path
from shlex import quote
from typing import Any, Final

import structlog

from shelfd.daemon.logging import Threshold
from shelfd.daemon.looks import Finding, look_at_files
from shelfd.daemon.places import Places
from shelfd.daemon.served import Served
from shelfd.daemon.settings import Loaded
from shelfd.daemon.shown import rows_of
from shelfd.gateway import Counters
from shelfd.memory import DEFAULT_SHELF, Access, Clock, Service, Shelf, Shelves
from shelfd.memory.errors import ShelfError
from shelfd.memory.ports.embedder import Embedder
from shelfd.memory.recall.engine import engine
from shelfd.models import ConfiguredModel
from shelfd.protocol import WIRE_VERSION, from_micros

#: A shelf that is not served, by its state: what to do about it.
_REMEDIES = {
    "corrupt": "its file is damaged and was left untouched; any call on the shelf says what to do",
    "newer": "a newer shelfd wrote it and nothing is wrong with it: install a newer shelfd",
    "failed": "it could not be opened; the log says why",
}


#: The same for MQTT.
_MQTT_REMEDIES = {
    "refused": "see user, password file and the broker's ACL; tried again every minute",
    "down": "is the broker running, and is this its address? Tried again by itself",
}
#: The same for the language model. What is asked of it is answered without it meanwhile.
_LLM_REMEDIES = {
    "resting": "it failed several times in a row; tried again by itself",
    "on_trial": "it failed several times in a row; the next question is a trial",
    "spent": "llm.tokens_per_day is used up until midnight",
}
log = structlog.get_logger("shelfd.daemon")

_RUNS: Final = 20  #: looked through for the last of each job
_STUCK_S = 60.0  #: a commit that takes this long will not come back
_LATE_TICK_S = 180.0  #: three times the scheduler's longest sleep


#: Reports the state of a part of the daemon.
Status = Callable[[], dict[str, Any]]


#: Tries something; returns whether it went well, and what to say of it.
Probe = Callable[[], Awaitable[tuple[bool, str]]]


class DaemonSystem:
    """Implements the gateway's ``System`` port."""

    def __init__(
        self,
        *,
        instance: str,
        places: Places,
        shelves: Shelves,
        service: Service,
        counters: Counters,
        clock: Clock,
        backup_directory: Path,
        connections_count: int,
        socket_mode: int,
        scheduler: Status,
        backups: Status | None,
        clock_status: Status,
        model: ConfiguredModel,
        embedder: Embedder,
    ) -> None:
        self._instance = instance
        self._places = places
        self._shelves = shelves
        self._service = service
        self._counters = counters
        self._clock = clock
        self._backup_directory = backup_directory
        self._connections_count = connections_count
        self._socket_mode = socket_mode
        self._scheduler = scheduler
        self._backups = backups
        self._clock_status = clock_status
        self._model = model
        self._embedder = embedder
        self._started = clock.monotonic()
        self.is_ready = False
        self.mqtt: Status | None = None  #: of the MQTT side, if there is one
        self.mqtt_probe: Probe | None = None  #: checks whether requests arrive by MQTT
        self.metrics_complaint: str | None = None  #: why nobody can scrape them
        self.threshold: Threshold | None = None  #: of what is logged
        self.settings: Loaded | None = None  #: for where they come from
        self.before: Served | None = None  #: what served our socket last, if its data is not ours
        self.complaints: list[str] = []  #: what was wrong with the configuration when it was last reloaded

    def health(self, principal: str) -> dict[str, Any]:
        """Answer ``system.health``: degraded when a shelf is not served, or something else is not as configured.

        Args:
            principal: The caller; what it may not know is left out.
        """
        return visible(self._health(), self._service.access, principal)

    def _health(self) -> dict[str, Any]:
        shelves = self._shelves.status()
        scheduler = self._scheduler()
        mqtt = None if self.mqtt is None else self.mqtt()
        llm, embedder = self._model.status(), self._embedder.status()
        is_well = (
            all(shelf["state"] not in _REMEDIES and "index_complaint" not in shelf for shelf in shelves)
            and (mqtt is None or (mqtt["state"] not in _MQTT_REMEDIES and not _held_up(mqtt)))
            and llm["state"] not in _LLM_REMEDIES
            and embedder["state"] not in ("failed", "resting", "spent")
            and not scheduler["complaint"]
            and not self.complaints
        )
        return {
            "status": "ok" if is_well else "degraded",
            "ready": self.is_ready,
            "uptime_s": self._uptime_s(),
            "connections": self._counters.connections_open,
            "shelves": shelves,
            "scheduler": scheduler,
            "backups": None if self._backups is None else self._backups(),
            "clock": self._clock_status(),
            "mqtt": mqtt,
            "llm": llm,
            "embedder": embedder,
            "recall": {"engine": engine.name, "problem": engine.problem},
            "config": {"complaints": self.complaints, **self._origins()},
            "data_dir": str(self._places.data),
            "socket": str(self._places.socket),
            "warning": self.elsewhere(),
        }

    def _origins(self) -> dict[str, Any]:
        """Return where settings that are not the default come from, by their key."""
        origins = {} if self.settings is None else {".".join(key): at for key, at in self.settings.origins.items()}
        origins |= {"daemon.data_dir": self._places.data_origin, "daemon.socket": self._places.socket_origin}
        file = None if self.settings is None else self.settings.file
        return {"file": None if file is None else str(file), "origins": dict(sorted(origins.items()))}

    def elsewhere(self) -> str | None:
        """Return where memories may be that are missed here; None once anything is remembered here."""
        if self.before is None or any(shelf["seq"] for shelf in self._shelves.status()):
            return None
        if self._shelves.names() != [DEFAULT_SHELF]:
            return None
        return (
            f"nothing is remembered here yet; the daemon that last listened at this socket has its data in"
            f" {self.before.data}. To go on with that, stop this one and run: {self.before.command}"
        )

    def stuck(self) -> list[str]:
        """Return the parts that are stuck: shelves whose writer does not return, the scheduler."""
        stuck = [f"shelf {name}" for name in self._shelves.stuck(_STUCK_S)]
        schedulers = (self._scheduler,) if self._backups is None else (self._scheduler, self._backups)
        if any(status()["last_tick_s"] > _LATE_TICK_S for status in schedulers):
            stuck.append("scheduler")
        return stuck

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
        look = partial(look_at_files, self._places, self._backup_directory, self._connections_count, self._clock.now())
        found = await asyncio.to_thread(look)
        found.append(self._socket())
        found.append(self._left_over())
        found += self._look_at_shelves()
        found += self._look_at_parts()
        if self.mqtt is not None and self.mqtt_probe is not None and self.mqtt()["state"] == "connected":
            found.append(Finding("mqtt requests", *await self.mqtt_probe()))
        if self._model.is_configured:
            found += await self._look_at_model()
        if self._embedder.model:
            found.append(await self._look_at_embedder())
        return {"ok": all(finding.ok for finding in found), "findings": [finding.view() for finding in found]}

    def config(self) -> dict[str, Any]:
        """Answer ``system.config``."""
        assert self.settings is not None
        rows = list(rows_of(self.settings, self._places))
        file = self.settings.file
        return {
            "settings": {key: value for key, value, _ in rows},
            "origins": {key: origin for key, _, origin in rows},
            "file": None if file is None else str(file),
        }

    def log_level(self, level: str | None) -> dict[str, Any]:
        """Answer ``system.log_level``."""
        assert self.settings is not None
        assert self.threshold is not None
        if level is not None and level != self.threshold.name:
            self.threshold.set(level)
            log.warning("log.level_set", level=level)
        return {"level": self.threshold.name, "configured": self.settings.settings.log.level}

    def metrics(self) -> dict[str, Any]:
        """Answer ``system.metrics``: counters since start, memory in bytes, processor time in seconds."""
        times = os.times()
        return {
            "metrics": {
                **self._counters.snapshot(),
                **self._model.metrics(),
                "uptime_s": self._uptime_s(),
                "cpu_s": round(times.user + times.system, 3),
                "rss_bytes": resident_bytes(),
                "shelves_open": sum(shelf["state"] == "open" for shelf in self._shelves.status()),
            }
        }

    def _uptime_s(self) -> float:
        return round(self._clock.monotonic() - self._started, 3)

    def _socket(self) -> Finding:
        try:
            mode = self._places.socket.stat().st_mode & 0o777
        except OSError:
            return Finding("socket", False, "the socket's file is gone: restart the daemon", "systemctl restart shelfd")
        is_right = self._places.activated or mode == self._socket_mode
        advice = "" if is_right else f", expected {self._socket_mode:04o}: it was changed"
        fix = None if is_right else f"chmod {self._socket_mode:04o} {quote(str(self._places.socket))}"
        return Finding("socket", is_right, f"mode {mode:04o}{advice}", fix)

    def _look_at_parts(self) -> Iterator[Finding]:
        if (elsewhere := self.elsewhere()) is not None:
            yield Finding("data", False, elsewhere)
        scheduler = self._scheduler()
        complaint = scheduler["complaint"]
        yield Finding("scheduler", not complaint, complaint or f"{scheduler['cron']} {scheduler['tz']}")
        if self.complaints:
            yield Finding(
                "config", False, "; ".join(self.complaints) + ": the settings before hold on", "shelfd config check"
            )
        if engine.problem is not None:
            yield Finding("recall", False, f"numpy ranks notes, not what was compiled: {engine.problem}")
        if self.metrics_complaint is not None:
            yield Finding("metrics", False, self.metrics_complaint, "ss -ltnp")
        if self.mqtt is not None:
            mqtt = self.mqtt()
            remedy = _MQTT_REMEDIES.get(mqtt["state"])
            detail = mqtt["state"] if remedy is None else f"{mqtt.get('message') or mqtt['state']}: {remedy}"
            yield Finding("mqtt", remedy is None, f"{mqtt['url']}: {detail}")
            if remedy is None:
                for shelf, reason in _held_up(mqtt):
                    advice = "the broker does not take them: see its ACL for the daemon's user"
                    yield Finding(f"events of {shelf}", False, f"{reason}: {advice}")

    async def _look_at_model(self) -> list[Finding]:
        status = self._model.status()
        found = [Finding("llm", *await self._model.probe())]
        if (remedy := _LLM_REMEDIES.get(status["state"])) is not None:
            last = status["last_error"]
            found.append(Finding("llm questions", False, remedy if last is None else f"{last}: {remedy}"))
        return found

    async def _look_at_embedder(self) -> Finding:
        try:
            await self._embedder.query("shelf")
        except ShelfError as error:
            problem = self._embedder.status()["last_error"]
            return Finding("embedder", False, f"{self._embedder.model}: {problem or error.message}")
        return Finding("embedder", True, f"{self._embedder.model}: makes vectors")

    def _left_over(self) -> Finding:
        removed = self._shelves.cleaned_up
        detail = f"{removed} unfinished files and directories of an earlier daemon were removed at start"
        return Finding("left_over", True, detail if removed else "nothing of an earlier daemon")

    def _look_at_shelves(self) -> Iterator[Finding]:
        for shelf in self._shelves.status():
            remedy = _REMEDIES.get(shelf["state"])
            detail = f"{shelf['state']}, index {shelf['index']}, seq {shelf['seq']}" if remedy is None else remedy
            complaint = shelf.get("index_complaint")
            if remedy is None and complaint:
                detail = f"{detail}: {complaint}"
            name = shelf["shelf"]
            fix = f"shelfd restore --latest --shelf {name}" if shelf["state"] == "corrupt" else None
            yield Finding(f"shelf {name}", not (remedy or complaint), detail, fix)
            if (opened := self._shelves.opened(name)) is not None:
                yield from _runs(opened)


def _runs(shelf: Shelf) -> Iterator[Finding]:
    """Say of each scheduled job of a shelf that its last run failed, or was missed."""
    seen: set[str] = set()
    for _, job in shelf.view.jobs.page(in_slots=True, before=None, limit=_RUNS):
        if job.kind not in seen and not job.is_unfinished:
            seen.add(job.kind)
            if job.state != "done":
                detail = f"the last run, of {from_micros(job.planned_at or job.created_at)}: {job.error or job.state}"
                params = f'{{"job": "{job.kind}", "shelf": "{shelf.name}"}}'
                yield Finding(f"{job.kind} of {shelf.name}", False, detail, f"shelfd call scheduler.run '{params}'")


def _held_up(mqtt: dict[str, Any]) -> list[tuple[str, str]]:
    """Shelves whose events the broker refuses although it is connected, and why."""
    return [(shelf["shelf"], shelf["held_up"]) for shelf in mqtt["events"]["shelves"] if shelf["held_up"]]


def resident_bytes() -> int:
    """Return how much memory this process occupies now."""
    pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


@cache
def package_version() -> str:
    """Return the installed version of shelfd."""
    return metadata.version("shelfd")


_SCHEDULE: Final = ("cron", "tz", "next_at", "last_tick_s")
_MQTT: Final = ("state", "protocol", "since", "embedded")


def visible(health: dict[str, Any], access: Access, principal: str) -> dict[str, Any]:
    """Return the part of *health* that *principal* may see.

    Whether all is well, and ready, is for everyone. Shelves show themselves only to those who may read them; what
    names files, addresses and settings is for administrators.
    """
    if access.may(principal, None, "admin"):
        return health
    may_read = partial(_may_read, access, principal)
    scheduler, mqtt = health["scheduler"], health["mqtt"]
    last = scheduler["last"]
    return {
        **{name: health[name] for name in ("status", "ready", "uptime_s", "connections", "clock")},
        "shelves": [shelf for shelf in health["shelves"] if may_read(shelf)],
        "scheduler": {
            **{name: scheduler[name] for name in _SCHEDULE},
            "last": last if last is not None and may_read(last) else None,
            "running": [run for run in scheduler["running"] if may_read(run)],
        },
        "mqtt": None
        if mqtt is None
        else {
            **{name: mqtt[name] for name in _MQTT if name in mqtt},
            "events": {"shelves": [shelf for shelf in mqtt["events"]["shelves"] if may_read(shelf)]},
        },
        "llm": {"state": health["llm"]["state"]},
        "embedder": {"state": health["embedder"]["state"]},
    }


def _may_read(access: Access, principal: str, shown: dict[str, Any]) -> bool:
    return access.may(principal, shown["shelf"], "read")
