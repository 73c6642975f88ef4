"""Times as other memories write them, as RFC 3339 has them."""

import math
from datetime import UTC, date, datetime
from typing import Final

#: A number of seconds since 1970 has fewer digits than that: a larger one counts milliseconds.
_FEWEST_MILLIS: Final = 100_000_000_000


def moment(value: object) -> object:
    """Return a time with its zone; what has none is of this machine's. What is no time is returned as it is.

    Numbers count seconds since 1970, or milliseconds if they are that large.
    """
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, str) and value.strip().replace(".", "", 1).isdecimal() and len(value.strip()) >= 9:
        value = float(value)
    if isinstance(value, int | float):
        return _counted(float(value))
    return _zoned(value) if isinstance(value, str) else value


def _counted(number: float) -> str | None:
    if not math.isfinite(number):
        return None
    seconds = number / 1000 if abs(number) >= _FEWEST_MILLIS else number
    try:
        return datetime.fromtimestamp(seconds, UTC).isoformat()
    except (ValueError, OverflowError, OSError):
        return None


def _zoned(text: str) -> str:
    try:
        found = datetime.fromisoformat(text.strip())
    except ValueError:
        return text
    try:
        return found.astimezone().isoformat() if found.tzinfo is None else found.isoformat()
    except (OverflowError, OSError, ValueError):  # a year that no zone knows
        return text


def day(text: str) -> str | None:
    """Return the beginning of the day that *text* names, as above; None if it names none."""
    try:
        return _zoned(f"{date.fromisoformat(text)}T00:00:00")
    except ValueError:
        return None
