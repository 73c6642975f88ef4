"""What the daemon does by itself: kinds of jobs that the scheduler has carried out in each slot."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from shelfd.daemon.settings import Settings
from shelfd.daemon.zones import zone
from shelfd.memory import Service
from shelfd.scheduler import QuietHours, ScheduledJob, SchedulerSettings, daily_cron


def jobs(service: Service) -> tuple[ScheduledJob, ScheduledJob]:
    """Return the jobs: reflection, and promotion behind it in the same slot, also when reflection failed."""

    async def perform(shelf: str, run_id: str, _reason: str) -> Mapping[str, Any]:
        return await service.perform(shelf, run_id)

    return (
        ScheduledJob("reflection", perform, method="reflect"),
        ScheduledJob("promotion", perform, follows="reflection", method="promote"),
    )


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
