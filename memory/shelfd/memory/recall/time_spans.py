"""Times that a query speaks of as seen from today: "yesterday", "last week", "since Monday", "before 2024"."""

from calendar import monthrange
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from typing import Final, NamedTuple

from shelfd.memory.recall.dates import GradedDays, date_line, graded, side_before

#: Days up to which a time is looked for by its months; a longer one by its year.
_MONTHS_LONG: Final = 62


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
    "hoy": 0, "ayer": 1, "anoche": 1, "anteayer": 2, "aujourd": 0,
    "今天": 0, "今日": 0, "昨天": 1, "昨日": 1, "昨晚": 1, "明天": -1, "明日": -1,
}  # fmt: skip
#: Words before "yesterday" that make it the day before: "the day before yesterday", "avant-hier", "一昨日".
_THE_DAY_BEFORE: Final = (["day", "before"], ["avant"], ["一昨"])
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
#: Words that say a unit and which one of them, as units ago.
_WHICH: Final = {
    **dict.fromkeys(("上周", "上週", "先週"), ("week", 1)), **dict.fromkeys(("本周", "本週", "今週"), ("week", 0)),
    "先月": ("month", 1), **dict.fromkeys(("今月", "本月"), ("month", 0)),
    "去年": ("year", 1), "今年": ("year", 0),
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
#: Folded words that, beside a time, ask for whatever there is: "what happened", "notes of".
ASKS_FOR_ANYTHING: Final = frozenset(
    "happen happens happened happening occur occurred note notes news entry entries"
    " passiert passierte geschehen geschah ereignet los notiz notizen neues eintrage"
    " paso pasado ocurrio ocurrido sucedio sucedido nota notas passe arrive note notes".split()
)
#: Folded words without which a text tells of no day as seen from its own.
TELLING: Final = frozenset((*_DAYS, *_WHICH, *_WEEKDAYS, *_UNITS, _YESTERDAY_IN_FRENCH))
_CUES: Final = TELLING.union(_MONTHS, ["night"])


class RelativeSpan(NamedTuple):
    """A time as a query says it."""

    what: str  #: a unit, ``weekday`` or ``month of``
    number: int  #: units ago, or which weekday or month
    side: str | None = None  #: ``before``, ``after`` or ``since`` that time
    length: int = 1  #: units
    #: The places of the words that say nothing else; none if notes may well say it in the same words.
    places: range = range(0)

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


def asked_dates(span: RelativeSpan, today: date) -> list[str]:
    """Return by which dates notes of a time are found: its day, its months or its year; none if it has no beginning.

    A time that goes on, such as "since Monday", ends *today*.
    """
    try:
        first, last = span.bounds(today)
    except (ValueError, OverflowError):
        return []
    if span.side is not None:
        first, last = (last if span.side == "after" else first), today
    if span.side == "before" or first > last:
        return []
    if first == last:
        return [date_line(first)]
    if (last - first).days > _MONTHS_LONG:
        return [str(first.year)] if first.year == last.year else []
    return list(dict.fromkeys(date_line(day).split(" ", 1)[1] for day in (first, last)))


def told_spans(
    words: list[str], *, is_french: bool = False, places: Sequence[int] | None = None
) -> tuple[RelativeSpan, ...]:
    """Return the times of which folded *words* tell as seen from when they were written, if it is clear which.

    "On Friday" may be the last one or the next, and a week is no date; a week ago was seven days ago.

    Args:
        words: All words.
        is_french: Whether they are French.
        places: Of those that are among :data:`TELLING`, if that is known.
    """
    found = [at for at, word in enumerate(words) if word in TELLING] if places is None else places
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


def _told(words: list[str], places: Sequence[int], *, is_french: bool) -> Iterator[RelativeSpan]:
    for at in places:
        word = words[at]
        last = words[at - 1] if at else ""
        after = words[at + 1] if at + 1 < len(words) else ""
        is_past = last in _PAST or after in _PASSED
        if word in _DAYS or (is_french and word == _YESTERDAY_IN_FRENCH):
            if not (word == "heute" and after == "vor"):
                yield RelativeSpan("day", _DAYS.get(word, 1) + (_first_word(words, at) < at))
        elif word in _WHICH:
            if _WHICH[word][0] != "week":
                yield RelativeSpan(*_WHICH[word])
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
                first = _first_word(words, at)
                number = _DAYS.get(word, 1) + (first < at)
                yield RelativeSpan("day", number, side_before(words[:first]), places=range(first, at + 1))
        elif word in _WHICH:
            which, number = _WHICH[word]
            yield RelativeSpan(which, number, side_before(before), places=range(at, at + 1))
        elif word == "night" and last == "last":
            yield RelativeSpan("day", 1, side_before(before[:-1]), places=range(at - 1, at + 1))
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
    if last in _NEXT:  # what is to come is told in these words
        yield RelativeSpan(unit, -1, side_before(words[: at - 1]))
    elif last in _PAST or last in _THIS or after in _PASSED:
        places = range(at, at + 2) if after in _PASSED else range(at - 1, at + 1)
        yield RelativeSpan(unit, 0 if last in _THIS else 1, side_before(words[: places.start]), places=places)
    elif number is not None and at >= 2 and words[at - 2] in _PAST:  # "the last three days" end today
        yield RelativeSpan(unit, number, None, number + 1, range(at - 2, at + 1))
    elif ago is not None and after == "ago":
        side = side_before([word for word in words[: at - 1] if word != "of"])
        yield RelativeSpan(unit, ago, side, places=range(at - 1, at + 2))
    elif ago is not None and unit == "week" and words[at - 3 : at - 2] == ["heute"]:  # that very day
        yield RelativeSpan("day", 7 * ago, places=range(at - 3, at + 1))
    elif ago is not None:
        yield RelativeSpan(unit, ago, places=range(at - 1, at + 1))


def _first_word(words: list[str], at: int) -> int:
    """Return where begins what says a day: with "yesterday", or with what makes it the day before."""
    for before in _THE_DAY_BEFORE if _DAYS.get(words[at], 1) == 1 else ():
        if at >= len(before) and words[at - len(before) : at] == before:
            return at - len(before)
    return at


def _ago(words: list[str], at: int) -> int | None:
    """Return how many of the units at a place ago is said: "three days ago", "vor drei Tagen"; None if it is not."""
    number = _NUMBERS.get(words[at - 1]) if at else None
    if number is None:
        return None
    before = words[max(0, at - 4) : at - 1]
    is_ago = words[at + 1 : at + 2] == ["ago"] or before[-1:] in (["vor"], ["hace"]) or before[-3:] == ["il", "y", "a"]
    return number if is_ago else None
