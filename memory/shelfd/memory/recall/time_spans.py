"""Times that a query speaks of as seen from today: "yesterday", "last week", "since Monday", "before 2024"."""

from calendar import monthrange
from collections.abc import Iterator
from datetime import date, timedelta
from typing import Final, NamedTuple

from shelfd.memory.recall.dates import GradedDays, graded, side_before


def _numbered(names: str, start: int) -> dict[str, int]:
    return {name: number for number, name in enumerate(names.split(), start)}


_NUMBERS: Final = {
    **_numbered("one two three four five six seven eight nine ten", 1),
    **_numbered("ein zwei drei vier funf sechs sieben acht neun zehn", 1),
    **{str(number): number for number in range(1, 100)},
    "a": 1, "an": 1, "eine": 1, "einem": 1, "einer": 1, "einen": 1, "couple": 2, "few": 3, "paar": 3,
}  # fmt: skip
_WEEKDAYS: Final = {
    **{name: number for number, name in enumerate("monday tuesday wednesday thursday friday saturday sunday".split())},
    **{
        name: number
        for number, name in enumerate("montag dienstag mittwoch donnerstag freitag samstag sonntag".split())
    },
}
_MONTHS: Final = {
    **_numbered("january february march april may june july august september october november december", 1),
    **_numbered("januar februar marz april mai juni juli august september oktober november dezember", 1),
}
#: Words of days, and how many days ago those are.
_DAYS: Final = {
    "today": 0, "tonight": 0, "heute": 0, "yesterday": 1, "gestern": 1, "vorgestern": 2, "tomorrow": -1, "morgen": -1,
}  # fmt: skip
_UNITS: Final = {
    name: unit
    for unit, names in {
        "day": "day days tag tage tagen", "week": "week weeks woche wochen", "weekend": "weekend wochenende",
        "month": "month months monat monate monaten", "year": "year years jahr jahre jahren",
    }.items()
    for name in names.split()
}  # fmt: skip
_PAST: Final = frozenset("last past previous letzte letzten letzter letztes letztem vergangene vergangenen".split())
_THIS: Final = frozenset("this current diese diesen dieser dieses diesem".split())
_NEXT: Final = frozenset("next nachste nachsten nachster nachstes kommende kommenden".split())
_IN: Final = frozenset("in during im within of".split())
_CUES: Final = frozenset((*_DAYS, *_WEEKDAYS, *_MONTHS, *_UNITS))


class RelativeSpan(NamedTuple):
    """A time as a query says it."""

    what: str  #: a unit, ``weekday`` or ``month of``
    number: int  #: units ago, or which weekday or month
    side: str | None = None  #: ``before``, ``after`` or ``since`` that time
    length: int = 1  #: units

    def days(self, today: date) -> GradedDays | None:
        """Return the days that are meant on the day *today*; None if the calendar has none."""
        try:
            first, last = self._bounds(today)
        except (ValueError, OverflowError):
            return None
        return graded(first.toordinal(), last.toordinal(), self.side)

    def _bounds(self, today: date) -> tuple[date, date]:
        number = self.number
        if self.what == "weekday":
            day = today - timedelta(days=(today.weekday() - number - 1) % 7 + 1)
            return day, day
        if self.what == "month of":
            year = today.year if number <= today.month else today.year - 1
            return date(year, number, 1), date(year, number, monthrange(year, number)[1])
        if self.what == "day":
            return today - timedelta(days=number), today - timedelta(days=number - self.length + 1)
        if self.what in ("week", "weekend"):
            monday = today - timedelta(days=today.weekday() + 7 * number)
            return monday + timedelta(days=5 * (self.what == "weekend")), monday + timedelta(days=7 * self.length - 1)
        if self.what == "month":
            months = today.year * 12 + today.month - 1 - number
            end = months + self.length - 1
            return (
                date(months // 12, months % 12 + 1, 1),
                date(end // 12, end % 12 + 1, monthrange(end // 12, end % 12 + 1)[1]),
            )
        return date(today.year - number, 1, 1), date(today.year - number + self.length - 1, 12, 31)


def relative_spans(words: list[str]) -> tuple[RelativeSpan, ...]:
    """Return the times that folded *words* speak of as seen from today."""
    if _CUES.isdisjoint(words):
        return ()
    return tuple(_spans(words))


def _spans(words: list[str]) -> Iterator[RelativeSpan]:
    for at, word in enumerate(words):
        before = words[:at]
        last = before[-1] if before else ""
        if word in _DAYS:
            yield RelativeSpan("day", _DAYS[word], side_before(before))
        elif word in _WEEKDAYS and (last in _PAST or last in ("on", "am") or side_before(before)):
            yield RelativeSpan("weekday", _WEEKDAYS[word], side_before(before[:-1] if last in _PAST else before))
        elif word in _MONTHS and not any(after.isdecimal() for after in words[at + 1 : at + 3]):
            if (last in _IN or last in _PAST or last in _THIS or side_before(before)) and not last.isdecimal():
                yield RelativeSpan("month of", _MONTHS[word], side_before(before[:-1] if last in _PAST else before))
        elif word in _UNITS:
            yield from _of_unit(_UNITS[word], words, at)


def _of_unit(unit: str, words: list[str], at: int) -> Iterator[RelativeSpan]:
    last = words[at - 1] if at else ""
    number = _NUMBERS.get(last)
    if last in _PAST or last in _THIS or last in _NEXT:
        ago = 1 if last in _PAST else 0 if last in _THIS else -1
        yield RelativeSpan(unit, ago, side_before(words[: at - 1]))
    elif number is not None and at >= 2 and words[at - 2] in _PAST:  # "the last three days" end today
        yield RelativeSpan(unit, number, None, number + 1)
    elif number is not None and words[at + 1 : at + 2] == ["ago"]:
        yield RelativeSpan(unit, number, side_before([word for word in words[: at - 1] if word != "of"]))
    elif number is not None and at >= 2 and words[at - 2] == "vor":  # "vor drei Tagen"
        yield RelativeSpan(unit, number)
