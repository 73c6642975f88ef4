"""When the daemon tends its shelves by itself: cron, heartbeat and the ledger of runs."""

from shelfd.scheduler.answers import Answers
from shelfd.scheduler.scheduler import TICK, Scheduler
from shelfd.scheduler.settings import QuietHours, ScheduledJob, SchedulerSettings, Work
from shelfd.scheduler.slots import Schedule, Slot, check_cron, daily_cron

__all__ = [
    "TICK",
    "Answers",
    "QuietHours",
    "Schedule",
    "ScheduledJob",
    "Scheduler",
    "SchedulerSettings",
    "Slot",
    "Work",
    "check_cron",
    "daily_cron",
]
