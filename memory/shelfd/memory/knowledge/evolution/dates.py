"""Dates, and times of the day, among the words of a sentence."""

from typing import Final

from shelfd.memory.knowledge.evolution.lexicon import AlphabeticLexicon

_HOURS: Final = frozenset(("uhr", "am", "pm", "oclock", "o'clock"))


def clock_time(hour: str, minutes: str = "00", half: str = "") -> str:
    """Return a time of the day in 24 hours: however it was written, the same time is the same word."""
    number = int(hour)
    if half:
        number = number % 12 + (12 if half == "pm" else 0)
    return f"~{number}:{minutes}"


def date_at(word: str, words: list[str], at: int, found: list[str], lexicon: AlphabeticLexicon) -> int | None:
    """Append the time of which the number *word* is a part, and return where it ends."""
    following = words[at] if at < len(words) else ""
    if (following in _HOURS or lexicon.language in _CLOCKS) and (
        clock := _time_of_day(word, words, at, found, lexicon)
    ):
        said, end = clock
        found.append(said)
        return end
    if following == "de" and at + 1 < len(words) and words[at + 1][1:] in lexicon["months"]:
        at, following = at + 1, words[at + 1]
    if following.startswith("~") and following[1:] in lexicon["months"]:
        found.append(f"~{word}{following[1:]}")
        return at + 1
    if found and found[-1].startswith("~") and found[-1][1:] in lexicon["months"]:
        found[-1] = f"~{word}{found[-1][1:]}"
        return at
    if len(word) == 4 and word.isdigit() and found[-1:] in _IN_YEAR and word[0] == "1":
        found.append("~" + word)
        return at
    if len(word) == 4 and word.isdigit() and word[:2] in ("19", "20"):
        if found[-1:] == ["de"] and _is_day(found[-2:-1]):
            found[-1] = "~" + word  # "20 de noviembre de 2025"
            return at
        is_last = not following or following in lexicon["prepositions"] or following[0] in ",:"
        is_last = is_last or _is_day(found[-1:])
        if is_last or (found and (found[-1] in lexicon["prepositions"] or found[-1] in lexicon["parts"])):
            found.append("~" + word)
            return at
    return None


def _is_day(said: list[str]) -> bool:
    """Return whether what was said last is a day of a month: "~2october"."""
    return said != [] and said[0][0] == "~" and said[0][-1].isalpha() and said[0][1:2].isdecimal()


def _time_of_day(
    word: str, words: list[str], at: int, found: list[str], lexicon: AlphabeticLexicon
) -> tuple[str, int] | None:
    """Return the time of which the number *word* is the hour, and where it ends; None if it is no hour."""
    hour = _hour(word, lexicon)
    following, after = (words[place] if place < len(words) else "" for place in (at, at + 1))
    if not hour:
        return None
    if following in _PARTING and len(after) == _DIGITS and after.isdecimal():  # "8 h 30"
        return clock_time(hour, after), at + 2
    if following in _HOURS:
        return clock_time(hour, half=following if following in _HALVES else ""), at + 1
    if not _tellsclock(following, found, lexicon):
        return None
    if following == "y" and after in _PARTS_OF_HOUR:
        return clock_time(hour, _PARTS_OF_HOUR[after]), at + 2
    return clock_time(hour), at + (following in _CLOCK_HOURS)


def _hour(word: str, lexicon: AlphabeticLexicon) -> str:
    """Return an hour of the day in digits, "" if *word* is none."""
    said = word if word.isdecimal() else f"{lexicon.numbers[word]:g}" if word in lexicon.numbers else ""
    return said if said and int(said) <= _DAY else ""


def _tellsclock(following: str, found: list[str], lexicon: AlphabeticLexicon) -> bool:
    """Return whether the number before *following* is an hour: "a las dos", "à 9 h"."""
    if lexicon.language == "es":
        return found[-1:] in (["las"], ["la"]) and found[-2:-1] in (["a"], ["hasta"], ["desde"], ["son"])
    return following in _CLOCK_HOURS and found[-1:] in (["a"], ["vers"], ["des"], ["est"])


_IN_YEAR: Final = (["in"], ["im"], ["en"])  #: what stands before a year
_DAY: Final = 24  #: hours
_DIGITS: Final = 2  #: of minutes
_PARTS_OF_HOUR: Final = {"media": "30", "cuarto": "15"}
_PARTING: Final = ("uhr", "h")  #: what stands between hours and minutes
_HALVES: Final = ("am", "pm")
_CLOCKS: Final = ("es", "fr")
_CLOCK_HOURS: Final = ("h", "heure", "heures", "horas")


def tell_from_when(found: list[str], amounts: dict[int, float]) -> None:
    """Make an hour of the number before one: "from 1 to ~3:00", "de 2 h à ~4:00"."""
    for at in [*amounts]:
        joining, until, *_ = (*found[at + 1 : at + 3], "", "")
        if joining not in _UNTIL or until[:1] != "~" or ":" not in until or found[at] not in ("#", "#time"):
            continue
        hour = amounts[at] / (_HOUR_SECONDS if found[at] == "#time" else 1)
        if hour.is_integer() and hour <= _DAY:
            del amounts[at]
            found[at] = clock_time(f"{hour:.0f}")


_HOUR_SECONDS: Final = 3_600
#: What stands between two hours.
_UNTIL: Final = ("to", "until", "till", "and", "bis", "und", "a", "y", "et", "jusqu'a")
