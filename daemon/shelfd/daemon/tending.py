"""What the daemon does by itself, as jobs of the scheduler that go through the memory's front door like any call."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final

from shelfd.daemon.settings import Settings
from shelfd.daemon.zones import zone
from shelfd.memory import Call, Clock, Service, Ticket
from shelfd.memory.ports.ledger import SCHEDULER
from shelfd.protocol import METHODS, Limits
from shelfd.scheduler import Job, QuietHours, SchedulerSettings, daily_cron

#: Of a result, what the ledger keeps.
_COUNTS: Final = (
    "inspected", "rewritten", "merged", "hidden", "tagged", "linked", "held_back", "remaining",
    "added", "updated", "removed", "fell_out",
)  # fmt: skip


def jobs(service: Service, clock: Clock, limits: Limits) -> tuple[Job, Job]:
    """Return the jobs: reflection, and promotion behind it in the same slot, also when reflection failed."""

    async def run(method: str, shelf: str, run_id: str) -> Mapping[str, Any]:
        wanted = METHODS[method]
        validated = wanted.params.model_validate({"shelf": shelf}, context=limits)
        result = await service.handle(
            Call(wanted, validated, SCHEDULER, run_id, Ticket(clock), limits=limits, run_id=run_id)
        )
        return {name: result[name] for name in _COUNTS if name in result}

    async def reflect(shelf: str, run_id: str, _reason: str) -> Mapping[str, Any]:
        return await run("reflect", shelf, run_id)

    async def promote(shelf: str, run_id: str, _reason: str) -> Mapping[str, Any]:
        return await run("promote", shelf, run_id)

    return Job("reflection", reflect), Job("promotion", promote, follows="reflection")


def scheduler_settings(settings: Settings) -> SchedulerSettings:
    """Return what the scheduler wants to know of the settings."""
    section = settings.reflection
    interval_ms = settings.heartbeat.interval_ms
    return SchedulerSettings(
        cron=section.cron or daily_cron(section.hour, section.minute),
        zone=zone(settings.memory.timezone),
        heartbeat=timedelta(milliseconds=interval_ms) if interval_ms > 0 else None,
        quiet=QuietHours(settings.quiet_hours.start, settings.quiet_hours.end),
    )
