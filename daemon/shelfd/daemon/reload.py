"""SIGHUP: take over what can change in a running daemon, and say what cannot."""

from collections.abc import Callable
from dataclasses import replace

import structlog

from shelfd.daemon.composition import Parts, access, scheduler_settings
from shelfd.daemon.llm import model_settings
from shelfd.daemon.logging import Threshold
from shelfd.daemon.places import Places
from shelfd.daemon.settings import Loaded, Settings
from shelfd.memory.errors import ConfigError

log = structlog.get_logger("shelfd.daemon")


_SCHEDULE = ("reflection.hour", "reflection.minute", "reflection.cron", "heartbeat.", "quiet_hours.")
_APPLIED = ("log.level",)
_APPLIED_SECTIONS = ("access.", "llm.", *_SCHEDULE)


class Reloading:
    """Reads the configuration again and applies it.

    The log level, the access rules, the schedule and the language model hold at once; everything else needs a restart.
    """

    def __init__(self, loaded: Loaded, read: Callable[[], Loaded], threshold: Threshold) -> None:
        self._current = loaded.settings
        self._read = read
        self._threshold = threshold

    def __call__(self, parts: Parts, places: Places) -> None:
        """Reload; a wrong configuration changes nothing."""
        try:
            loaded = self._read()
            wanted = loaded.settings
            model = model_settings(wanted.llm, places, loaded.environ)
        except ConfigError as error:
            parts.system.complaints = error.message.splitlines()
            log.error("config.reload_failed", complaints=parts.system.complaints)
            return
        parts.system.complaints = []
        changed = changes(self._current, wanted)
        applied = [key for key in changed if key in _APPLIED or key.startswith(_APPLIED_SECTIONS)]
        self._threshold.set(wanted.log.level)
        parts.service.access = access(wanted, parts.shelves)
        if model != parts.model.settings:  # the key may be another one in the same file
            parts.model.configure(model)
        if any(key.startswith(_SCHEDULE) for key in applied):
            parts.scheduler.reschedule(scheduler_settings(_merged(self._current, wanted)))
        ignored = [key for key in changed if key not in applied]
        if ignored:
            log.warning("config.reload_ignored", keys=ignored, why="these need a restart")
        log.info("config.reloaded", keys=applied)
        self._current = _merged(self._current, wanted)
        parts.system.settings = replace(loaded, settings=self._current)


def _merged(current: Settings, wanted: Settings) -> Settings:
    """Return the settings that hold now: what was applied is new, the rest still old."""
    log_section = current.log.model_copy(update={"level": wanted.log.level})
    reflection = wanted.reflection.model_copy(update={"max_notes": current.reflection.max_notes})
    return current.model_copy(
        update={
            "log": log_section,
            "access": wanted.access,
            "reflection": reflection,
            "heartbeat": wanted.heartbeat,
            "quiet_hours": wanted.quiet_hours,
            "llm": wanted.llm,
        }
    )


def changes(old: Settings, new: Settings) -> list[str]:
    """Return the keys, as section.key, whose values differ."""
    before, after = old.model_dump(), new.model_dump()
    return [
        f"{section}.{key}" for section in after for key in after[section] if before[section][key] != after[section][key]
    ]
