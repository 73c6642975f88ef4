"""Times in a text: dates, days, spans, as they are said."""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Final

from shelfd.memory.knowledge.entities.kinds import EntityMention, mention
from shelfd.memory.knowledge.entities.segment import Segment, word_lists

_MONTH: Final = (
    r"(?:january|february|march|april|may|june|july|august|september|october|november|december"
    r"|(?:jan|feb|mar|apr|jun|jul|aug|sept|sep|oct|nov|dec)\b\.?)"
)
#: No name of people, no verb.
_CLEAR_MONTH: Final = r"(?-i:January|February|July|September|October|November|December)"
_DAY: Final = r"(?:monday|tuesday|wednesday|thursday|friday|saturday|sunday)"
_NUMBER: Final = (
    r"(?:\d{1,4}|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|a\sfew|a\scouple\sof"
    r"|several|some)"
)
_UNIT: Final = r"(?:second|minute|hour|day|weekday|night|week|weekend|month|quarter|year|decade|centur(?:y|ie))s?"
_CLOCK: Final = (
    r"(?:(?:[01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d)?(?:\s?[ap]\.?m\b\.?)?"
    r"|(?:1[0-2]|[1-9])\s?(?:am|pm)\b|(?:1[0-2]|[1-9])\so['’]clock)"
)
_PART: Final = r"(?:morning|afternoon|evening|night|noon|midnight)"
_HOUR: Final = r"(?:noon|midnight|dawn|dusk|sunrise|sunset)"
_SEASON: Final = r"(?:spring|summer|autumn|winter)"
_HOLIDAY: Final = (
    r"(?:christmas(?:\seve|\sday)?|easter(?:\ssunday|\smonday)?|halloween"
    r"|thanksgiving|new\syear['’]s\s(?:eve|day)|ramadan|hanukkah|diwali)"
)
_BEFORE_TIME: Final = r"(?:in|since|until|till|by|during|from|before|after|of)"
_YEAR: Final = r"(?:19|20)\d\d"

_TIME: Final = rf"""(?<![\w.:/-])(?:
      {_YEAR}-(?:0\d|1[0-2])-(?:[0-2]\d|3[01])(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?
    | {_YEAR}-(?:0[1-9]|1[0-2])(?![\d-])
    | (?:0?[1-9]|[12]\d|3[01])[./](?:0?[1-9]|[12]\d|3[01])[./]{_YEAR}
    | (?:0[1-9]|[12]\d|3[01])[./](?:0[1-9]|1[0-2])[./]\d\d(?![\d.])
    | \d{{1,2}}/\d{{1,2}}/\d\d(?!\d)
    | (?:{_DAY},?\s)?(?:the\s)?\d{{1,2}}(?:st|nd|rd|th)?\s(?:of\s)?{_MONTH}(?:,?\s{_YEAR})?
    | (?:{_DAY},?\s)?(?:early|mid|late)?[-\s]?{_MONTH}\s\d{{1,2}}(?:st|nd|rd|th)?\b(?!:)(?:,?\s{_YEAR})?
    | (?:(?:early|mid|late|last|next|this)[-\s])?{_MONTH},?\s(?:of\s)?{_YEAR}
    | (?:the\s)?(?:first|second|third|fourth|last)\s{_DAY}\s(?:of|in)\s{_MONTH}(?:\s{_YEAR})?(?![\w-])
    | (?:early|mid|late|last|next|this|every|each)[-\s]{_MONTH}\b
    | {_CLEAR_MONTH}\b(?!['’-]|\s\w)
    | {_CLEAR_MONTH}(?=['’]s\b|\s(?-i:[a-z]))
    | q[1-4](?:\s(?:of\s)?{_YEAR})?
    | (?:the\s)?(?:day\s(?:after\s(?:tomorrow)|before\syesterday))
    | (?:(?:the|this|next|last|past|early|late|mid|every)[-\s])?{_SEASON}(?:\s(?:of\s)?{_YEAR})\b
    | (?:this|next|last|past|every|each|early|late)\s{_SEASON}\b
    | (?:in|since|until|till|by|during|before|after)\s(?:(?:early|late|mid)[-\s])?{_SEASON}\b(?!\s(?:of\s)?{_YEAR})
    | (?:(?:this|next|last|past|every|early|late)\s)?{_HOLIDAY}(?:\s{_YEAR})?\b
    | (?:this|next|last|past|previous|coming|following|every|each)\s
        (?:(?:\d{{1,3}}|two|three|four|five|six|few|couple\sof|other|second|third)\s)?
        (?:{_UNIT}|{_DAY}s?|{_PART})(?:\s{_PART})?(?:\sat\s{_CLOCK})?\b
    | {_NUMBER}\s{_UNIT}\s(?:ago|later|earlier|from\snow)\b
    | in\s(?:about\s)?{_NUMBER}\s{_UNIT}\b(?!['’])
    | (?:for|over|within|after|during)\s(?:the\s)?(?:(?:past|last|next)\s)?{_NUMBER}\s{_UNIT}\b(?!['’-])
    | (?:yesterday|today|tomorrow|tonight)(?:\s{_PART})?(?:\sat\s{_CLOCK})?\b
    | {_DAY}s?(?:\s{_PART}s?)?(?:\sat\s{_CLOCK})?\b
    | (?:at\s|by\s)?{_CLOCK}
    | at\snight\b
    | (?:at|until|till|by|before|after|since|around)\s{_HOUR}\b
    | (?:in\sthe\s)(?:(?:early|late)\s)?(?:morning|afternoon|evening)s?\b
    | (?:the\s)?(?:early|mid|late)?[-\s]?{_YEAR}s\b
    | (?:{_BEFORE_TIME}|around|early|mid|late|for)[-\s](?:(?:early|late|mid)[-\s])?{_YEAR}\b(?![-/.]\d)
    | {_BEFORE_TIME}\s(?:(?:early|late|mid)[-\s])?{_MONTH}(?:,?\s{_YEAR})?(?![\w-])
    | between\s{_YEAR}\b(?=\sand\s\d)
    | (?<=[12]\d\d\d\s)(?:and|to|until|till)\s{_YEAR}\b(?![-/.]\d)
    | (?:in|since|until|before|after)\s(?:1\d|2[1-9])\d\d(?=[.,;:!?)]|$)
    | \({_YEAR}\)
    | (?:daily|weekly|monthly|yearly|annually)\b
    )"""
_MONTHS: Final = frozenset(
    "january february march april may june july august september october november december"
    " jan feb mar apr jun jul aug sept sep oct nov dec".split()
)
_DAYS: Final = frozenset("monday tuesday wednesday thursday friday saturday sunday".split())
_ABOUT: Final = frozenset({"early", "mid", "late"})
#: The words that begin a time of one word, beside those that have a digit.
_ALONE: Final = frozenset(
    "christmas easter halloween thanksgiving ramadan hanukkah diwali yesterday today tomorrow tonight"
    " daily weekly monthly yearly annually"
    " january february july september october november december".split()
).union(_DAYS, (f"{day}s" for day in _DAYS))
#: The words that begin one of several words.
_FIRST: Final = frozenset(
    "a an one two three four five six seven eight nine ten eleven twelve twenty thirty several some the day new"
    " spring summer autumn winter last next this past previous coming following every each around in for over within"
    " after during before since until till by from of at between and to first fourth".split()
).union(_MONTHS, _ABOUT, (about + month for about in _ABOUT for month in _MONTHS))
#: The words that follow these, beside those that have a digit.
_SECOND: Final = frozenset(
    "few couple about past last next other second third of after before year noon midnight a an one two three four five"
    " six seven eight nine ten eleven twelve twenty thirty several some spring summer autumn winter day"
    " morning afternoon evening night mornings afternoons evenings new dawn dusk sunrise sunset first fourth".split()
).union(
    _ALONE,
    _MONTHS,
    _ABOUT,
    (
        f"{unit}{s}"
        for unit in "second minute hour day weekday night week weekend month quarter year decade".split()
        for s in ("", "s")
    ),
    ("century", "centuries", "centurys", "centurie"),
)
#: What may stand before the first word and belong to it.
_BEFORE_FIRST: Final = frozenset("(-")
_LEAD: Final = re.compile(
    r"(?:in|since|until|till|by|during|from|before|after|around|of|at|for|over|within|on|between|and|to)[-\s]+(?:the\s+)?"
    r"|the\s+|about\s+|\(",
    re.IGNORECASE,
)
_SMALL_MONTHS: Final = frozenset({"may", "march", "mar", "sep", "dec", "jan", "jun", "august"})


@cache  # compiled when first used, which is after the daemon's start
def pattern() -> re.Pattern[str]:
    """Return the pattern of a time, wherever it stands."""
    return re.compile(_TIME, re.IGNORECASE | re.VERBOSE)


def find_times(segment: Segment) -> Iterator[EntityMention]:
    """Yield the times in *segment*."""
    lists = word_lists()
    low = segment.low
    if (
        lists["time_words"].isdisjoint(low)
        and lists["months"].isdisjoint(low)
        and lists["days"].isdisjoint(low)
        and not any(word[0].isdigit() for word in low)
    ):
        return
    for found in matches(segment):
        said = found[0]
        start, end = found.start(), found.end()
        lead = _LEAD.match(said)
        if lead is not None:
            start += lead.end()
        said = segment.text[start:end].rstrip(").,")
        if not said or not _is_time(said):
            continue
        end = start + len(said)
        yield mention("temporal", said, start, end, 0.85)


def matches(segment: Segment) -> Iterator[re.Match[str]]:
    """Yield where times stand, as the pattern finds them in the text: it is only tried at words that may begin one.

    It has some thirty alternatives, and to try all of them at every sign takes longer than all other rules together.
    """
    text, starts, match = segment.text, segment.starts, pattern().match
    until = 0
    for at in _places(segment.low, is_plain=text.isascii()):
        start = starts[at]
        if start < until:
            continue
        before = text[start - 1] if start > until else ""
        found = None
        if before in _BEFORE_FIRST or before.isspace():
            found = match(text, start - 1)
        if found is None:
            found = match(text, start)
        if found is not None:
            until = found.end()
            yield found


def _places(low: Sequence[str], *, is_plain: bool) -> Iterator[int]:
    """Yield the places of words that may begin a time; with others than plain letters each may be another's sign."""
    for at, word in enumerate(low):
        if word in _ALONE or not word.isalpha() or (not is_plain and not word.isascii()):
            yield at
        elif word in _FIRST and at + 1 < len(low):
            second = low[at + 1]
            if second == "the" and at + 2 < len(low):
                second = low[at + 2]
            if second in _SECOND or not second.isalpha() or not second.isascii():
                yield at


def _is_time(said: str) -> bool:
    """Whether it can be one: "may" and "march" in small letters are verbs."""
    first = said.split(maxsplit=1)[0].rstrip(".")
    return first not in _SMALL_MONTHS and said.lower() not in {"night", "second", "a second", "seconds"}
