"""Times that a query speaks of as seen from today: "yesterday", "last week", "since Monday", "before 2024"."""

from calendar import monthrange
from collections.abc import Iterator
from datetime import date, timedelta
from typing import Final, NamedTuple

from shelfd.memory.recall.dates import GradedDays, date_line, graded, side_before


def _numbered(names: str, start: int) -> dict[str, int]:
    return {name: number for number, name in enumerate(names.split(), start)}


_NUMBERS: Final = {
    **_numbered("one two three four five six seven eight nine ten", 1),
    **_numbered("ein zwei drei vier funf sechs sieben acht neun zehn", 1),
    **_numbered("un dos tres cuatro cinco seis siete ocho nueve diez", 1),
    **_numbered("un deux trois quatre cinq six sept huit neuf dix", 1),
    **{str(number): number for number in range(1, 100)},
    "a": 1, "an": 1, "eine": 1, "einem": 1, "einer": 1, "einen": 1, "una": 1, "une": 1,
    "couple": 2, "few": 3, "paar": 3,
}  # fmt: skip
_WEEKDAYS: Final = {
    **_numbered("monday tuesday wednesday thursday friday saturday sunday", 0),
    **_numbered("montag dienstag mittwoch donnerstag freitag samstag sonntag", 0),
    **_numbered("lunes martes miercoles jueves viernes sabado domingo", 0),
    **_numbered("lundi mardi mercredi jeudi vendredi samedi dimanche", 0),
}
_MONTHS: Final = {
    **_numbered("january february march april may june july august september october november december", 1),
    **_numbered("januar februar marz april mai juni juli august september oktober november dezember", 1),
    **_numbered("enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre", 1),
    **_numbered("janvier fevrier mars avril mai juin juillet aout septembre octobre novembre decembre", 1),
}
#: Words of days, and how many days ago those are.
_DAYS: Final = {
    "today": 0, "tonight": 0, "heute": 0, "yesterday": 1, "gestern": 1, "vorgestern": 2, "tomorrow": -1, "morgen": -1,
    "hoy": 0, "ayer": 1, "anteayer": 2, "aujourd": 0,
}  # fmt: skip
_UNITS: Final = {
    name: unit
    for unit, names in {
        "day": "day days tag tage tagen dia dias jour jours",
        "week": "week weeks woche wochen semana semanas semaine semaines", "weekend": "weekend wochenende",
        "month": "month months monat monate monaten mes meses mois",
        "year": "year years jahr jahre jahren ano anos ans annee",
    }.items()
    for name in names.split()
}  # fmt: skip
_PAST: Final = frozenset(
    "last past previous letzte letzten letzter letztes letztem vergangene vergangenen".split()
)  #: before what they speak of
_PASSED: Final = frozenset("pasado pasada dernier derniere".split())  #: after it
_THIS: Final = frozenset("this current diese diesen dieser dieses diesem".split())
_NEXT: Final = frozenset("next nachste nachsten nachster nachstes kommende kommenden".split())
_IN: Final = frozenset("in during im within of".split())
#: In German that is "here".
_YESTERDAY_IN_FRENCH: Final = "hier"
#: Folded words without which a text tells of no day as seen from its own.
TELLING: Final = frozenset((*_DAYS, *_WEEKDAYS, *_UNITS, _YESTERDAY_IN_FRENCH))
_CUES: Final = TELLING.union(_MONTHS)


class RelativeSpan(NamedTuple):
    """A time as a query says it."""

    what: str  #: a unit, ``weekday`` or ``month of``
    number: int  #: units ago, or which weekday or month
    side: str | None = None  #: ``before``, ``after`` or ``since`` that time
    length: int = 1  #: units

    @property
    def is_date(self) -> bool:
        """Whether it is a day or a month, neither several nor all before or after one."""
        return self.side is None and self.length == 1 and self.what in ("day", "weekday", "month", "month of")

    def days(self, today: date) -> GradedDays | None:
        """Return the days that are meant on the day *today*; None if the calendar has none."""
        try:
            first, last = self.bounds(today)
        except (ValueError, OverflowError):
            return None
        return graded(first.toordinal(), last.toordinal(), self.side)

    def bounds(self, today: date) -> tuple[date, date]:
        """Return the first and the last of the days that are meant on the day *today*.

        Raises:
            ValueError: If the calendar has none.
            OverflowError: Likewise.
        """
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


def relative_spans(words: list[str], *, is_french: bool = False) -> tuple[RelativeSpan, ...]:
    """Return the times that folded *words* speak of as seen from today."""
    if _CUES.isdisjoint(words):
        return ()
    return tuple(_spans(words, is_french=is_french))


def told_spans(words: list[str], *, is_french: bool = False) -> tuple[RelativeSpan, ...]:
    """Return the times of which folded *words* tell as seen from when they were written, if it is clear which.

    "On Friday" may be the last one or the next, and a week is no date; a week ago was seven days ago.
    """
    found = [at for at, word in enumerate(words) if word in TELLING]
    return tuple(_told(words, found, is_french=is_french)) if found else ()


def told_date(span: RelativeSpan, day: date) -> str:
    """Return of which date is told on a *day*: "5 May 2023", "May 2023" or "2023"; nothing if there is none."""
    try:
        first, last = span.bounds(day)
    except (ValueError, OverflowError):
        return ""
    if first == last:
        return date_line(first)
    return date_line(first).split(" ", 1)[1] if span.what in ("month", "month of") else str(first.year)


def _told(words: list[str], places: list[int], *, is_french: bool) -> Iterator[RelativeSpan]:
    for at in places:
        word = words[at]
        last = words[at - 1] if at else ""
        after = words[at + 1] if at + 1 < len(words) else ""
        is_past = last in _PAST or after in _PASSED
        if word in _DAYS or (is_french and word == _YESTERDAY_IN_FRENCH):
            if not (word == "heute" and after == "vor"):
                yield RelativeSpan("day", _DAYS.get(word, 1))
        elif word in _WEEKDAYS and is_past:
            yield RelativeSpan("weekday", _WEEKDAYS[word])
        elif (unit := _UNITS.get(word)) is not None:
            number = _ago(words, at)
            if number is not None:
                yield RelativeSpan("day", 7 * number) if unit == "week" else RelativeSpan(unit, number)
            elif unit in ("month", "year") and (is_past or last in _NEXT):
                yield RelativeSpan(unit, 1 if is_past else -1)


def _spans(words: list[str], *, is_french: bool) -> Iterator[RelativeSpan]:
    for at, word in enumerate(words):
        before = words[:at]
        last = before[-1] if before else ""
        after = words[at + 1] if at + 1 < len(words) else ""
        is_past = last in _PAST or after in _PASSED
        if word in _DAYS or (is_french and word == _YESTERDAY_IN_FRENCH):
            if not (word == "heute" and after == "vor"):
                yield RelativeSpan("day", _DAYS.get(word, 1), side_before(before))
        elif word in _WEEKDAYS and (is_past or last in ("on", "am", "el") or side_before(before)):
            yield RelativeSpan("weekday", _WEEKDAYS[word], side_before(before[:-1] if last in _PAST else before))
        elif word in _MONTHS and not any(after.isdecimal() for after in words[at + 1 : at + 3]):
            if (last in _IN or last in _PAST or last in _THIS or side_before(before)) and not last.isdecimal():
                yield RelativeSpan("month of", _MONTHS[word], side_before(before[:-1] if last in _PAST else before))
        elif word in _UNITS:
            yield from _of_unit(_UNITS[word], words, at)


def _of_unit(unit: str, words: list[str], at: int) -> Iterator[RelativeSpan]:
    last = words[at - 1] if at else ""
    number = _NUMBERS.get(last)
    after = words[at + 1] if at + 1 < len(words) else ""
    ago = _ago(words, at)
    if last in _PAST or last in _THIS or last in _NEXT or after in _PASSED:
        which = 0 if last in _THIS else -1 if last in _NEXT else 1
        yield RelativeSpan(unit, which, side_before(words[: at - 1]))
    elif number is not None and at >= 2 and words[at - 2] in _PAST:  # "the last three days" end today
        yield RelativeSpan(unit, number, None, number + 1)
    elif ago is not None and after == "ago":
        yield RelativeSpan(unit, ago, side_before([word for word in words[: at - 1] if word != "of"]))
    elif ago is not None and unit == "week" and words[at - 3 : at - 2] == ["heute"]:  # that very day
        yield RelativeSpan("day", 7 * ago)
    elif ago is not None:
        yield RelativeSpan(unit, ago)


def _ago(words: list[str], at: int) -> int | None:
    """Return how many of the units at a place ago is said: "three days ago", "vor drei Tagen"; None if it is not."""
    number = _NUMBERS.get(words[at - 1]) if at else None
    if number is None:
        return None
    before = words[max(0, at - 4) : at - 1]
    is_ago = words[at + 1 : at + 2] == ["ago"] or before[-1:] in (["vor"], ["hace"]) or before[-3:] == ["il", "y", "a"]
    return number if is_ago else None
