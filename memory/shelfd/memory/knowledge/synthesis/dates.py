"""Which day, month or year a sentence speaks of."""

import re
from collections.abc import Iterator
from datetime import date, timedelta
from typing import Final

from shelfd.memory.recall.dates import MONTHS

_MONTH_NUMBERS: Final = {name[:3].lower(): number for number, name in enumerate(MONTHS, start=1)}
_MONTH: Final = "(?:" + "|".join(f"{name[:3]}(?:{name[3:]})?" if len(name) > 3 else name for name in MONTHS) + "|Sept)"
_YEAR: Final = r"(?:19|20)\d\d"
_DAY_NUMBER: Final = r"(?:0?[1-9]|[12]\d|3[01])"
_TH: Final = r"(?:st|nd|rd|th)?"
_UNITS: Final = {"day": 1, "week": 7}
_NUMBERS: Final = {
    **{word: number for number, word in enumerate("one two three four five six seven eight nine ten".split(), start=1)},
    "a": 1, "an": 1, "a couple of": 2,
}  # fmt: skip
_NUMBER: Final = "|".join(sorted(_NUMBERS, key=len, reverse=True)).replace(" ", r"\s")
_DAYS: Final = {"the day before yesterday": -2, "yesterday": -1, "today": 0, "tonight": 0, "tomorrow": 1}
_DAY_WORDS: Final = "|".join(_DAYS).replace(" ", r"\s")
_SAID: Final = re.compile(
    rf"""(?<![\w/.:-])(?:
      (?P<iso>{_YEAR}-(?:0[1-9]|1[0-2])(?:-(?:0[1-9]|[12]\d|3[01]))?)(?![\d-])
    | (?P<dotted>(?:0?[1-9]|[12]\d|3[01])[./](?:0?[1-9]|1[0-2])[./]{_YEAR})(?!\d)
    | (?P<dmy_day>{_DAY_NUMBER}){_TH}\s(?:of\s)?(?P<dmy_month>{_MONTH})\b\.?(?:,?\s(?P<dmy_year>{_YEAR})\b)?
    | (?P<mdy_month>{_MONTH})\.?\s(?P<mdy_day>{_DAY_NUMBER}){_TH}\b(?![:.]\d)(?:,?\s(?P<mdy_year>{_YEAR})\b)?
    | (?P<my_month>{_MONTH})\.?,?\s(?:of\s)?(?P<my_year>{_YEAR})\b
    | (?:in|since|until|till|by|during|from|before|after|of|last|next|this)\s
        (?P<month>{_MONTH})\b(?!\.?,?\s(?:of\s)?\d)
    | (?:in|since|until|till|by|during|from|before|after|of|around|early|late|mid)[\s-](?P<year>{_YEAR})\b(?![-/.]\d)
    | (?P<day>{_DAY_WORDS})\b
    | (?P<ago>\d{{1,3}}|{_NUMBER})\s(?P<ago_unit>day|week|month|year)s?\sago\b
    | (?P<near>last|next|this)\s(?P<near_unit>week|month|year)\b
    )""",
    re.VERBOSE | re.IGNORECASE,
)

#: What happened, and what is to happen.
_TOLD: Final = re.compile(
    r"\b(?:was|were|had|did|went|came|got|gave|took|made|met|saw|said|told|found|bought|sold|sent|left|lost|won|broke|began"
    r"|became|wrote|drove|flew|fell|built|paid|kept|held|ran|spent|taught|stole|grew|chose|hired|quit|died"
    r"|(?!need|feed|seed|speed|weed|breed|exceed|proceed|succeed|indeed|hundred|planned|scheduled|expected|booked)[a-z]{2,}ed)\b",
    re.IGNORECASE,
)
_TO_COME: Final = re.compile(
    r"\b(?:will|won't|shall|going\sto|due|upcoming|plan(?:s|ned)?|scheduled|expect(?:s|ed)?|booked|invited|supposed"
    r"|(?:by|until|till|to)\s(?:" + _MONTH + r")"
    r"|(?:postponed|rescheduled|deferred|delayed|extended|pushed|moved|put\soff|brought\sforward)\b[^.;]{0,40}?"
    r"\b(?:to|until|till)\s(?:the\s)?(?:"
    + _DAY_NUMBER
    + _TH
    + r"\s(?:of\s)?)?"
    + _MONTH
    + r"|begins?|starts?|opens?|ends?|expires?)\b|'ll\b",
    re.IGNORECASE,
)


def days_said(sentence: str, spoken: date) -> Iterator[str]:
    """Yield the times in *sentence*, as ``2026-03-04``, ``2026-03`` or ``2026``, in its order.

    Args:
        sentence: English words and numbers are known.
        spoken: The day on which it was said. A day or month without a year is the one nearest to it; where the
            sentence tells what happened, the last one, and where it tells what will, the next.
    """
    tense: int | None = None
    for match in _SAID.finditer(sentence):
        parts = {name.rpartition("_")[2]: value for name, value in match.groupdict().items() if value is not None}
        if tense is None:
            tense = bool(_TO_COME.search(sentence)) - bool(_TOLD.search(sentence))
        try:
            found = _resolved(parts, spoken, is_relative="unit" in parts, tense=tense)
        except (ValueError, OverflowError):  # 31 June; before the year 1
            continue
        yield found


def _resolved(parts: dict[str, str], spoken: date, *, is_relative: bool, tense: int) -> str:
    if is_relative:
        return _relative(parts, spoken)
    if iso := parts.get("iso"):
        return date.fromisoformat(iso).isoformat() if len(iso) > 7 else iso
    if dotted := parts.get("dotted"):
        return date(*(int(part) for part in reversed(re.split(r"[./]", dotted)))).isoformat()
    if (word := parts.get("day", "").lower()) in _DAYS:
        return (spoken + timedelta(days=_DAYS[word])).isoformat()
    year = parts.get("year", "")
    if "month" not in parts:
        return year
    number = _MONTH_NUMBERS[parts["month"][:3].lower()]
    if "day" not in parts:
        # The present month may be told of, and to come.
        nearest = _nearest(spoken, number, {-1: 1, 0: 15, 1: 28}[tense], tense)
        return (date(int(year), number, 1) if year else nearest).isoformat()[:7]
    day = int(parts["day"])
    return (date(int(year), number, day) if year else _nearest(spoken, number, day, tense)).isoformat()


def _nearest(spoken: date, month: int, day: int, tense: int) -> date:
    """The day of this month and number that is nearest to *spoken*: before it if *tense* is -1, after if 1."""
    found: list[date] = []
    for year in (spoken.year - 1, spoken.year, spoken.year + 1):
        try:
            found.append(date(year, month, day))
        except ValueError:  # 29 February, or beyond the calendar
            continue
    likely = [one for one in found if tense * (one - spoken).days >= 0]
    return min(likely or found, key=lambda one: abs(one - spoken))


def _relative(parts: dict[str, str], spoken: date) -> str:
    unit = parts["unit"].lower()
    if "ago" in parts:
        said = parts["ago"].lower()
        count = -(int(said) if said.isdecimal() else _NUMBERS[said])
    else:
        count = {"last": -1, "this": 0, "next": 1}[parts["near"].lower()]
    if unit == "year":
        return str(date(spoken.year + count, 1, 1).year)
    if unit == "month":
        months = spoken.year * 12 + spoken.month - 1 + count
        return date(months // 12, months % 12 + 1, 1).isoformat()[:7]
    return (spoken + timedelta(days=_UNITS[unit] * count)).isoformat()
