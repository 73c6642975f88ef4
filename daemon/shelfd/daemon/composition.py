"""The composition root: which part is made of what. Nothing here runs yet."""

import os
from dataclasses import dataclass
from datetime import timedelta, tzinfo
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from shelfd.daemon.clock import SystemClock
from shelfd.daemon.places import Places
from shelfd.daemon.settings import Settings
from shelfd.daemon.system import System
from shelfd.gateway import Counters, Dispatcher, UnixServer
from shelfd.memory import Access, MemorySettings, Rule, Service, Shelves
from shelfd.storage import SqliteStores

SERVICE_MODE = 0o660
USER_MODE = 0o600


@dataclass(frozen=True, slots=True)
class Parts:
    """The daemon's parts, in the order they are started in."""

    shelves: Shelves
    service: Service
    system: System
    server: UnixServer


def build(settings: Settings, places: Places) -> Parts:
    """Make all parts; opens nothing but the directory of shelves.

    Raises:
        OSError: If the directory of shelves cannot be made.
    """
    clock = SystemClock()
    counters = Counters()
    stores = SqliteStores(root=places.data / "shelves", clock=clock)
    shelves = Shelves(stores, clock, memory_settings(settings))
    service = Service(shelves, access(settings, shelves))
    system = System(
        instance=settings.daemon.instance,
        places=places,
        shelves=shelves,
        counters=counters,
        clock=clock,
        connections_count=settings.limits.connections_count,
        socket_mode=socket_mode(settings, places),
    )
    dispatcher = Dispatcher(service, system, clock=clock, limits=settings.limits, counters=counters)
    return Parts(shelves, service, system, UnixServer(dispatcher))


def memory_settings(settings: Settings) -> MemorySettings:
    """Return what the memory wants to know of the settings."""
    return MemorySettings(
        instance=settings.daemon.instance,
        language=settings.memory.language,
        timezone=zone(settings.memory.timezone),
        event_content=settings.events.content,
        idle_close=timedelta(seconds=settings.memory.idle_close_s),
        idempotency_retention=timedelta(days=settings.memory.idempotency_days),
        shelves_count=settings.memory.shelves_count,
    )


def access(settings: Settings, shelves: Shelves) -> Access:
    """Return the access rules: root, the daemon's own user and configured administrators may do everything."""
    own = {"uid:0", f"uid:{os.getuid()}"}
    rules = {
        name: Rule(*(frozenset(grantees) for grantees in (rule.read, rule.write, rule.admin, rule.deny)))
        for name, rule in settings.access.shelves.items()
    }
    return Access(owner_of=shelves.owner, administrators=frozenset({*own, *settings.access.admins}), rules=rules)


def socket_mode(settings: Settings, places: Places) -> int:
    """Return the permission bits of the socket's file: a service's group may use it, nobody else a user's."""
    if settings.daemon.socket_mode != "auto":
        return int(settings.daemon.socket_mode, 8)
    return SERVICE_MODE if places.is_service else USER_MODE


def zone(name: str, localtime: Path = Path("/etc/localtime"), named: Path = Path("/etc/timezone")) -> tzinfo:
    """Return the time zone *name*; ``system`` is the machine's, or UTC when it does not say which it has."""
    return ZoneInfo(name if name != "system" else system_zone(localtime, named))


def system_zone(localtime: Path, named: Path) -> str:
    """Return the name of the machine's time zone, UTC when it has none."""
    # The link's target ends in the zone's name: /usr/share/zoneinfo/Europe/Berlin.
    candidates = [str(localtime.resolve()).partition("zoneinfo/")[2].removeprefix("posix/")]
    if named.is_file():
        candidates.append(named.read_text(encoding="utf-8", errors="replace").strip())
    for candidate in filter(None, candidates):
        try:
            return ZoneInfo(candidate).key
        except (ZoneInfoNotFoundError, ValueError, OSError):
            continue
    return "UTC"
