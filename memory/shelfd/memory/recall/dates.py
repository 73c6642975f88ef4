"""Explicit dates: reading them from a query and grading a document's date against them."""

import re
from calendar import monthrange
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
OF_A_DAY: Final = 3  #: numbers that a day in figures has
_MONTH_NUMBERS = {name[:3].lower(): number for number, name in enumerate(MONTHS, start=1)}
#: Names of months in German, Spanish and French, folded, that are not English.
OTHER_MONTHS: Final = {
    name: number
    for names in (
        "januar februar marz - mai juni juli - - oktober - dezember",
        "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
        "janvier fevrier mars avril mai juin juillet aout septembre octobre novembre decembre",
    )
    for number, name in enumerate(names.split(), start=1)
    if name != "-"
}
_NAME = (
    "(?:"
    + "|".join(sorted(OTHER_MONTHS, key=lambda name: -len(name)))
    + "|"
    + "|".join(f"{n[:3]}(?:{n[3:]})?" for n in (m.lower() for m in MONTHS))
    + "|sept)"
)
_YEAR = r"(?:19\d\d|20\d\d|2100)"
_TH = r"(?:st|nd|rd|th|er|\.)?"
_OF = r"(?:of\s+|del?\s+)?"
_EXPLICIT = re.compile(
    rf"\b(?:(?P<iso_year>{_YEAR})-(?P<iso_month>\d\d?)(?:-(?P<iso_day>\d\d?))?(?![\d-])"
    rf"|(?P<dot_day>\d\d?)\.(?P<dot_month>\d\d?)\.(?P<dot_year>{_YEAR})(?![\d.])"
    rf"|(?P<dmy_day>\d\d?){_TH}\s+{_OF}(?P<dmy_month>{_NAME})\.?,?\s+{_OF}(?P<dmy_year>{_YEAR})\b"
    rf"|(?P<mdy_month>{_NAME})\.?\s+(?P<mdy_day>\d\d?){_TH},?\s+(?P<mdy_year>{_YEAR})\b"
    rf"|(?P<my_month>{_NAME})\.?,?\s+{_OF}(?P<my_year>{_YEAR})\b"
    rf"|(?P<year>{_YEAR})\b)"
)
#: A day in figures, perhaps. What stands around it is looked at then: patterns that begin with a set are quick.
_IN_FIGURES = re.compile(r"([0-9][0-9]{0,3})([-/.])([0-9]{1,2})\2([0-9]{1,4})")
#: A day in Chinese or Japanese: 2026年12月3日.
_IN_CHARACTERS = re.compile(r"(?:(?<!\d)(\d{4})年)?(?<!\d)(\d\d?)月(\d\d?)[日号號]")
_YEARS: Final = range(1900, 2101)
_DIGIT = re.compile(r"\d")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST_DAY: Final = date.min.toordinal()
_LAST_DAY: Final = date.max.toordinal()
#: What is within a span of this many days is what was asked for; of longer ones it is only likely.
_EXACT_DAYS: Final = 31
_LIKELY: Final = 0.5

#: Which side of a time is meant.
_SIDES: Final = {
    "before": "before", "until": "before", "till": "before", "vor": "before", "bis": "before",
    "after": "after", "nach": "after",
    "since": "since", "seit": "since",
}  # fmt: skip
_STRETCHES: Final = frozenset("day days week weeks weekend month months year years tag tage woche monat jahr".split())
#: Words between what says the side and the time: "since the 7th", "before last week".
_FILLERS: Final = frozenset("the der dem den die on am year jahr end beginning early late".split())


class GradedDays(NamedTuple):
    """The days *first* to *last*, both included, as proleptic ordinals, and their grade.

    That is 0 to 1, and more if the query asks for nothing else.
    """

    first: int
    last: int
    grade: float


def local_day(when: int, zone: tzinfo) -> date:
    """Return the day of *when* (microseconds since 1970 UTC) in *zone*, clamped to years 1 to 9999."""
    try:
        return (_EPOCH + timedelta(microseconds=when)).astimezone(zone).date()
    except OverflowError:
        return date.min if when < 0 else date.max


def date_line(day: date) -> str:
    """Return *day* as ``8 May 2023``, the form in which it is indexed."""
    return f"{day.day} {MONTHS[day.month - 1]} {day.year}"


def date_line_counts(days: npt.NDArray[np.int32], word: str) -> npt.NDArray[np.int64] | int:
    """Return how often the date lines of *days* (proleptic ordinals) have a folded *word*; 0 if none ever has it."""
    month = _MONTH_NUMBERS.get(word[:3], 0)
    if not word.isdecimal() and (not month or MONTHS[month - 1].lower() != word):
        return 0
    dates = (days.astype(np.int64) - _EPOCH.toordinal()).astype("M8[D]")
    months = dates.astype("M8[M]")
    if month:
        return np.asarray(months.astype(np.int64) % 12 == month - 1, np.int64)
    years = dates.astype("M8[Y]").astype(np.int64) + _EPOCH.year
    of_month = (dates - months).astype(np.int64) + 1
    return np.asarray((of_month == int(word)).astype(np.int64) + (years == int(word)), np.int64)


def explicit_dates(folded: str) -> list[GradedDays]:
    """Return the graded days around every explicit date in *folded* text.

    Read are ``2023-05-07``, ``2023-05``, ``7.5.2023``, ``7 May 2023``, ``May 7th, 2023``, ``May 2023``
    and years from 1900 to 2100. A day that does not exist counts as its month,
    such a month as its year. "before 2024", "after May 2023" and "since" mean all days on that side.
    """
    found: list[GradedDays] = []
    if _DIGIT.search(folded) is None:  # in a tenth of the time
        return found
    for match in _EXPLICIT.finditer(folded):
        spans = list(_graded(match.groupdict()))
        side = side_before(folded[: match.start()].split())
        found += spans if side is None else [graded(spans[0].first, spans[0].last, side)]
    return found


def days_in_figures(folded: str) -> Iterator[str]:
    """Yield what a :func:`date_line` has and the days in figures of *folded* text have not: months, days without a 0.

    ``2023-05-07``, ``2023/05/07``, ``2023-05-07t10:30`` and ``07.05.2023`` have ``may`` and ``7``. "5/7/2023" has
    nothing, for it is one day in London and another in Boston. ``2026年5月7日`` has all three.
    """
    for match in _IN_CHARACTERS.finditer(folded) if "月" in folded else ():
        if 1 <= int(match[2]) <= 12:
            yield from (
                MONTHS[int(match[2]) - 1].lower(),
                match[3].removeprefix("0"),
                *([match[1]] if match[1] else ()),
            )
    for match in _IN_FIGURES.finditer(folded):
        first, separator, month, last = match.groups()
        year, day = (last, first) if separator == "." and len(last) == 4 else (first, last)
        if int(year) not in _YEARS or len(day) > 2 or not 1 <= int(month) <= 12:
            continue
        before, after = folded[match.start() - 1 : match.start()], folded[match.end() : match.end() + 2]
        has_time = after[:1] == "t" and after[1:].isdecimal()
        goes_on = after[:1].isalnum() or after[:1] in ("_", "-") or (after[:1] in (".", "/") and after[1:].isdecimal())
        if before.isalnum() or before in ("_", ".") or (goes_on and not has_time):
            continue
        yield MONTHS[int(month) - 1].lower()
        if has_time or day[0] == "0":
            yield day.removeprefix("0")


def graded(first: int, last: int, side: str | None) -> GradedDays:
    """Return the days from *first* to *last* (proleptic ordinals), or those on a *side* of them, with a grade."""
    if side == "before":
        return GradedDays(_FIRST_DAY, max(first - 1, _FIRST_DAY), _LIKELY)
    if side == "after":
        return GradedDays(min(last + 1, _LAST_DAY), _LAST_DAY, _LIKELY)
    if side == "since":
        return GradedDays(first, _LAST_DAY, _LIKELY)
    return GradedDays(first, last, 1.0 if last - first < _EXACT_DAYS else _LIKELY)


def side_before(words: list[str]) -> str | None:
    """Return which side of what follows *words* they ask for.

    None for "the week before 9 June": what happened then is told around that day.
    """
    for at in reversed(range(max(0, len(words) - 3), len(words))):
        if words[at] in _SIDES:
            return None if at and words[at - 1] in _STRETCHES else _SIDES[words[at]]
        if words[at] not in _FILLERS:
            return None
    return None


def date_grades(days: npt.NDArray[np.int32], wanted: list[GradedDays]) -> npt.NDArray[np.float64]:
    """Return the best grade (0 to 1) of each of *days* (proleptic ordinals)."""
    grades = np.zeros(len(days))
    for span in wanted:
        inside = (days >= span.first) & (days <= span.last)
        grades[inside] = np.maximum(grades[inside], span.grade)
    return grades


def _graded(parts: dict[str, str | None]) -> Iterator[GradedDays]:
    found = {name.rpartition("_")[2]: value for name, value in parts.items() if value is not None}
    year, name = int(found["year"]), found.get("month", "0")
    month = int(name) if name.isdigit() else OTHER_MONTHS.get(name) or _MONTH_NUMBERS[name[:3]]
    day = int(found.get("day", "0"))
    if not 1 <= month <= 12:
        yield GradedDays(date(year, 1, 1).toordinal(), date(year, 12, 31).toordinal(), 0.5)
    elif not 1 <= day <= monthrange(year, month)[1]:
        first = date(year, month, 1).toordinal()
        after = first + monthrange(year, month)[1]
        yield GradedDays(first, after - 1, 1.0)
        yield GradedDays(after, after + 14, 0.3)
    else:
        exact = date(year, month, day).toordinal()
        yield GradedDays(exact, exact + 1, 1.0)
        yield GradedDays(exact - 1, exact + 10, 0.6)
