"""When the daemon tends its shelves by itself: cron, heartbeat and the ledger of runs."""

from shelfd.scheduler.answers import Answers
from shelfd.scheduler.jobs import ScheduledJob, Work
from shelfd.scheduler.scheduler import TICK, Scheduler
from shelfd.scheduler.settings import SchedulerSettings
from shelfd.scheduler.slots import Schedule, Slot, check_cron, daily_cron
from shelfd.scheduler.waking import QuietHours

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
