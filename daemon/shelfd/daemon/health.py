"""Which part of the daemon's health a principal may see.

Whether all is well, and ready, is for everyone. Shelves show themselves only to those who may read them; what names
files, addresses and settings is for administrators.
"""

from functools import partial
from typing import Any, Final

from shelfd.memory import Access

_SCHEDULE: Final = ("cron", "tz", "next_at", "last_tick_s")
_MQTT: Final = ("state", "protocol", "since", "embedded")


def visible(health: dict[str, Any], access: Access, principal: str) -> dict[str, Any]:
    """Return of a whole *health* what *principal* may see."""
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
    }


def _may_read(access: Access, principal: str, shown: dict[str, Any]) -> bool:
    return access.may(principal, shown["shelf"], "read")
