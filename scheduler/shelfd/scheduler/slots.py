"""Slots: the moments a cron text names, each under a key that stays the same whatever the clock does.

croniter calculates and nothing else. It is imported when first needed, for that takes an eighth of a second.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any, Final, NamedTuple

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MINUTE: Final = 60_000_000  #: microseconds
_ALIASES: Final = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}
_EXPECTED: Final = f"expected five fields (minute hour day month weekday) or one of {', '.join(_ALIASES)}"
#: What croniter would draw at random (R) or from a name it is not given (H); letters of MAR, THU … are no match.
_DRAWN: Final = re.compile(r"(?<![a-z])[rh](?![a-z])", re.IGNORECASE)
#: A fixed day after a leap day, so that the same text is always taken or always refused.
_CHECKED_FROM: Final = datetime(2025, 3, 1, tzinfo=UTC)
_LONGEST_GAP: Final = timedelta(days=366)
#: How far to look back for the latest slot, nearest first: most texts are found in one of the first three.
_LOOK_BACK: Final = tuple(
    timedelta(minutes=minutes) // timedelta(microseconds=1)
    for minutes in (3, 180, 27 * 60, 8 * 1440, 32 * 1440, 368 * 1440)
)


class Slot(NamedTuple):
    """One moment of a schedule."""

    key: str  #: local wall-clock minute and zone, as ``2026-10-25T02:30 Europe/Berlin``, or the minute in UTC
    planned_at: int  #: microseconds since 1970 UTC


def daily_cron(hour: int, minute: int) -> str:
    """Return the cron text for every day at that local time."""
    return f"{minute} {hour} * * *"


def check_cron(text: str) -> None:
    """Refuse a cron text that is not exactly five fields or an alias, is drawn at random, or falls due too rarely.

    Five fields can name no slots closer than a minute apart.

    Raises:
        ValueError: With what was expected.
    """
    from croniter import CroniterError, croniter  # type: ignore[import-untyped]  # lazily: see the module

    fields = _five_fields(text)
    try:
        due: datetime = croniter(fields, _CHECKED_FROM, ret_type=datetime).get_next()
    except (CroniterError, ValueError) as error:
        raise ValueError(f"bad cron text {text!r}: {error}; {_EXPECTED}") from None
    if due - _CHECKED_FROM > _LONGEST_GAP:
        raise ValueError(f"bad cron text {text!r}: not due every year; expected one that is due within 366 days")


def _five_fields(text: str) -> str:
    stripped = text.strip()
    fields = _ALIASES.get(stripped.lower(), stripped).split()
    if len(fields) != 5:
        raise ValueError(f"bad cron text {text!r}: {_EXPECTED}")
    if any(_DRAWN.search(field) for field in fields):
        raise ValueError(f"bad cron text {text!r}: R and H draw times at random; {_EXPECTED}")
    return " ".join(fields)


class Schedule:
    """The slots of one cron text in one time zone.

    A text with fixed hours means wall-clock times: one that a change to summer time skips is due right after the
    gap; one that occurs twice in the change back is due the first time. A text with ``*`` or a step in the hour field
    means a rhythm, which goes on through both.

    Args:
        text: Five fields or an alias, as :func:`check_cron` takes it.
        zone: Where its hours are.

    Raises:
        ValueError: If it is not five fields.
    """

    def __init__(self, text: str, zone: tzinfo) -> None:
        self.text = text
        self.zone = zone
        self.zone_name = str(getattr(zone, "key", zone))
        self._fields = _five_fields(text)
        self._is_rhythm = any(sign in self._fields.split()[1] for sign in "*/")
        self._around: tuple[Slot, Slot | None] | None = None
        self._before: tuple[Slot, Slot | None] | None = None

    def after(self, moment: int) -> Iterator[Slot]:
        """Yield the slots later than *moment*, in order; each takes a third of a millisecond."""
        from croniter import CroniterBadDateError, croniter  # lazily: see the module

        # From the full minute: croniter calculates in floating-point seconds.
        start = (_EPOCH + timedelta(microseconds=moment - moment % _MINUTE)).astimezone(self.zone)
        walk: Any = croniter(self._fields, start, ret_type=datetime)
        last: int = moment
        while True:
            try:
                slot = self._slot(walk.get_next())
            except CroniterBadDateError:
                return
            if slot.planned_at > last:
                last = slot.planned_at
                yield slot

    def next(self, after: int) -> Slot | None:
        """Return the first slot later than *after*."""
        if self._around is not None and self._is_around(after):
            return self._around[1]
        return next(self.after(after), None)

    def latest(self, at: int) -> Slot | None:
        """Return the last slot that is not later than *at*; None if there was none in the year before."""
        if not self._is_around(at):
            self._around = self._look_around(at)
        return self._around[0] if self._around is not None else None

    def previous(self, slot: Slot) -> Slot | None:
        """Return the slot before *slot*."""
        if self._before is None or self._before[0] != slot:
            found = self._look_around(slot.planned_at - 1)
            self._before = slot, found[0] if found is not None else None
        return self._before[1]

    def _is_around(self, at: int) -> bool:
        if self._around is None:
            return False
        latest, following = self._around
        return latest.planned_at <= at and following is not None and at < following.planned_at

    def _look_around(self, at: int) -> tuple[Slot, Slot | None] | None:
        """Return the latest slot at *at* and the one after it."""
        for reach in _LOOK_BACK:
            latest: Slot | None = None
            for slot in self.after(at - reach):
                if slot.planned_at > at:
                    if latest is not None:
                        return latest, slot
                    break
                latest = slot
        return None

    def _slot(self, local: datetime) -> Slot:
        if self._is_rhythm:
            utc = local.astimezone(UTC)
            return Slot(f"{utc:%Y-%m-%dT%H:%M} UTC", (utc - _EPOCH) // timedelta(microseconds=1))
        # croniter names an hour that comes twice twice; the second time is the same slot.
        first = local.replace(fold=0)
        planned_at = (first.astimezone(UTC) - _EPOCH) // timedelta(microseconds=1)
        return Slot(f"{first:%Y-%m-%dT%H:%M} {self.zone_name}", planned_at)
