"""A sentence as words: folded, with its amounts in base units and its times marked."""

import re
from functools import lru_cache
from typing import Final, NamedTuple

from shelfd.memory.knowledge.evolution.articles import is_article
from shelfd.memory.knowledge.evolution.dates import clock_time, date_at, tell_from_when
from shelfd.memory.knowledge.evolution.lexicon import ALPHABETIC, AlphabeticLexicon, lexicon, units
from shelfd.memory.knowledge.evolution.statement import NOBODY
from shelfd.memory.knowledge.evolution.titles import with_titles, without_genitives
from shelfd.memory.notes.words import fold

#: Words; a comma or colon inside one belongs to it, as in "60,000" and "10:00".
TOKEN: Final = re.compile(r"[^\s,;:!?()\"“”„«»¿¡]+(?:[,:][^\s,;:!?()\"“”„«»¿¡]+)*|[,:]")
#: Makes a named tuple of what is known to have its length, in a third of the time.
_new: Final = tuple.__new__
#: What parts words beside blanks: in plain text, and in other text.
_SIGNS: Final = ';!?()"'
_QUOTES: Final = re.compile("[“”„«»¿¡]")
_NUMBER: Final = re.compile(r"([€$£])?(-?\d+(?:[.,]\d+)*)(%|°?[a-zµ]{1,3}|[€$£])?")
_THOUSANDS: Final = re.compile(r"-?\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_THOUSANDS_BY_DOTS: Final = re.compile(r"-?\d{1,3}(?:\.\d{3})+(?:,\d+)?")
_BEFORE_NUMBER: Final = "-€$£"
_OF_MEASURES: Final = ("#", "~")  #: with what amounts and times begin among the words of a sentence
_CLOCK: Final = re.compile(r"0?(\d{1,2})(?:[:h](\d\d))(?::\d\d)?(am|pm)?|0?(\d{1,2})(am|pm)")
_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d|\d{1,2}[./]\d{1,2}[./]\d{2,4}")
_ORDINAL: Final = re.compile(r"(\d{1,2})(?:st|nd|rd|th|er)")
_DIGIT: Final = re.compile(r"\d")
#: The end of a contracted word, and what it stands for after what comes before it.
_CONTRACTED: Final = {
    each[0]: each
    for each in (("n't", ("not",)), ("'ve", ("have",)), ("'re", ("are",)), ("'m", ("am",)), ("'ll", ("will",)))
}
#: A French word that lost its end to the next one, as in "l'adresse".
_ELIDED: Final = re.compile(r"\b([ldjncsmt]|qu|jusqu|lorsqu|puisqu)'(?=\w)", re.IGNORECASE)
#: Words that no list has of which it is kept how they are folded: the same names come again and again.
_WORDS: Final = 4_096
_LONGEST: Final = 40  #: letters of such a word
_KNOWN: Final[dict[str, dict[str, tuple[str, bool]]]] = {language: {} for language in ALPHABETIC}
#: Of which the words are kept: those of a note are asked for by whoever reads it, one after the other.
_SENTENCES: Final = 16
_SHOUTED: Final = 3  #: blanks of a sentence, and of no code


class SentenceWords(NamedTuple):
    """The words of a sentence; ``proper`` are those that have a capital inside the sentence, or a digit."""

    words: list[str]
    amounts: dict[int, float]  #: by position in ``words``
    proper: frozenset[str]


def _decimal(text: str, language: str) -> float | None:
    """Read a number as the language writes it; None if it is none, as a version's."""
    if language == "en":
        if "," in text and _THOUSANDS.fullmatch(text):
            text = text.replace(",", "")
    elif "." in text and _THOUSANDS_BY_DOTS.fullmatch(text):
        text = text.replace(".", "").replace(",", ".")
    else:
        text = text.replace(",", ".")
    try:
        return float(text)
    except ValueError:
        return None


def _of_letters(raw: str, lexicon: AlphabeticLexicon) -> tuple[str, bool] | None:
    """Return a word of nothing but letters folded, and whether it has a capital; None for any other, and for a time's.

    It is kept, that it need not be worked out again.
    """
    if not raw.isalpha() or len(raw) > _LONGEST:
        return None
    low = fold(raw)
    if not raw.isascii() and (told := raw.lower()) in lexicon.lists.get("with_tilde", NOBODY):
        low = told  # "campaña" is no "campana"
    if not low.isalpha() or raw == "A" or low in lexicon.marked:
        return None
    found = (_in_the_past(low, lexicon) if raw[-1] == "ó" else low), not raw.islower()
    if raw.isupper() and len(raw) > 1 and _is_function_word(low, lexicon):
        found = raw, True  # MIT is no German "mit", and the US not "us"
    known = _KNOWN[lexicon.language]
    if len(known) >= _WORDS:
        known.clear()
    known[raw] = found
    return found


def _is_function_word(low: str, lexicon: AlphabeticLexicon) -> bool:
    """Return whether a word is one of those that say nothing by themselves, as articles and pronouns."""
    return low in lexicon.nameless or low in lexicon.spoken or low in lexicon.lists["pronouns"]


def _plain(low: str) -> str:
    """Return a folded word without what marks a possessor, the end of an abbreviation, or a channel or a path."""
    low = low.strip(".'")
    if low[:1] in _OF_MEASURES and not low[1:2].isdecimal():
        low = low[1:]  # "#kite-dev" is no amount, "~/.kite" no time
    return low[:-2] if low[-2:] == "'s" else low


def _apart(low: str, lexicon: AlphabeticLexicon) -> list[str] | None:
    """Return the words that a contracted one stands for; None if it is not contracted."""
    apart = _CONTRACTED.get(low[low.index("'") - (low[-3:] == "n't") :])
    if apart is None:
        return None
    verb = low[: -len(apart[0])]
    return [verb, *apart[1]] if verb in lexicon.lists["spoken_before"] else [*apart[1]]


def _numeric(low: str) -> str:
    """Return a word with digits marked as a time if it is one, an ordinal as its number."""
    if low.isdigit():  # as most
        return low
    if (clock := _CLOCK.fullmatch(low)) is not None:
        return clock_time(clock[1] or clock[4], clock[2] or "00", clock[3] or clock[5] or "")
    if _DATE.fullmatch(low):
        return "~" + low
    ordinal = _ORDINAL.fullmatch(low)
    return ordinal[1] if ordinal else low


def _may_be_amount(word: str) -> bool:
    """Return whether a word begins as an amount does; a name with a digit inside does not."""
    return word[:1].isdecimal() or word[:1] in _BEFORE_NUMBER


def tokenise(sentence: str, lexicon: AlphabeticLexicon) -> SentenceWords:
    """Return the words of *sentence*."""
    words: list[str] = []
    proper: set[str] = set()
    first = -1  # of what may be an amount, the place
    plain, add = lexicon.plain, words.append
    language = lexicon.language
    sentence = _prepared(sentence, language)
    known = _KNOWN[language]
    parts = split(sentence)
    if parts and (low := parts[0].lower()) in plain:
        parts[0] = low  # a capital says nothing there
    for raw in parts:  # every word of every note comes by here: what most are is asked first
        if raw in plain:
            add(raw)
        elif (found := known.get(raw) or _of_letters(raw, lexicon)) is not None:
            low, is_name = found
            if is_name and words:
                proper.add(low)
            add(low)
        elif raw == "A" and words and words[-1] != ":":
            add(raw)  # a name, as in "vitamin A", and no article
        elif raw.isdecimal() and raw.isascii():
            proper.add(raw)  # unless it turns out to be an amount
            first = len(words) if first < 0 else first
            add(raw)
        elif _add_unusual(raw, words, proper, lexicon) and first < 0:
            first = len(words) - 1
    return _joined(words, first, lexicon, proper)


def _prepared(sentence: str, language: str) -> str:
    """Return a sentence as it is split into words: without its full stop, and one that is shouted in small letters."""
    if sentence.isupper() and sentence.count(" ") > _SHOUTED:
        sentence = sentence.lower()  # then a capital says nothing
    if not sentence.isascii():
        sentence = sentence.replace("’", "'")
    if language == "fr" and "'" in sentence:
        sentence = _ELIDED.sub(r"\1e ", sentence)
    if sentence[-1:] == "." and sentence[-2:-1].isalnum() and sentence[-2] != "A":
        sentence = sentence[:-1]  # as most: then the last word is like the others
    return with_titles(sentence)


def _in_the_past(low: str, lexicon: AlphabeticLexicon) -> str:
    """Return a form of a Spanish verb that tells of the past without an accent: "trabajaba" for "trabajó"."""
    infinitive, is_told = lexicon.verbs.get(low, ("", True))
    if is_told or not infinitive.endswith("ar") or low in lexicon.lists["triggers"] or low in lexicon.patterns_of:
        return low
    return f"{infinitive[:-1]}ba"


def _joined(words: list[str], first: int, lexicon: AlphabeticLexicon, proper: set[str]) -> SentenceWords:
    """Return words whose amounts are joined with their units, from the *first* place where there may be one."""
    language = lexicon.language
    if "uhr" in words:
        words, first = _without_oclock(words), min(first, 0)
    if language == "de" and proper:
        words, proper = without_genitives(words, proper, lexicon)
    if first < 0:
        return _new(SentenceWords, (words, {}, frozenset(proper)))
    if language != "en":
        words = _as_one(words, lexicon)
    return _amounts(words, first, lexicon, frozenset(proper))


def _add_unusual(raw: str, words: list[str], proper: set[str], lexicon: AlphabeticLexicon) -> bool:
    """Add a word with signs, digits or a capital, or of a list; return whether an amount may begin with it."""
    low = raw.lower() if raw.isascii() else fold(raw)
    if not low.isalnum():
        low = _plain(low)
        if not low:
            return False
        if "'" in low and (apart := _apart(low, lexicon)) is not None:
            words += apart
            return False
    is_capital = bool(words) and (raw[0] == "#" or not raw.islower())
    begins = False
    if low in lexicon.marked:
        if low in lexicon.lists["times"] and (low != "may" or (raw[0] == "M" and words)):
            low = _of_month(words, "~" + low, lexicon)
        else:
            begins = low in lexicon.numbers
            if is_capital:
                proper.add(low)  # "Echo Two"
    elif not low.isalpha() and (low[-1].isdecimal() or _DIGIT.search(low) is not None):
        proper.add(low)  # a name, unless it turns out to be an amount
        if low[0].isdecimal():
            low = _numeric(low)
            begins = low[0] != "~"
        else:
            begins = low[0] in _BEFORE_NUMBER
    elif is_capital or "@" in low or "/" in low:
        proper.add(low)
    words.append(low)
    return begins


@lru_cache(_SENTENCES)
def words_in(sentence: str, language: str) -> SentenceWords:
    """Return the words of *sentence*, which are nobody's to change: what a note states is read from them, and more."""
    return tokenise(sentence, lexicon(language))


def _of_month(words: list[str], day: str, lexicon: AlphabeticLexicon) -> str:
    """Return a weekday together with the number before it, which it takes away: "the last Thursday" of a month."""
    if len(words) > 1 and words[-1] in lexicon.lists["ordinals"] and words[-2] in lexicon.lists["determiners"]:
        return f"~{words.pop()} {day[1:]}"
    return day


def _without_oclock(words: list[str]) -> list[str]:
    """Return words without "Uhr" after a time of the day."""
    return [word for at, word in enumerate(words) if word != "uhr" or not at or words[at - 1][0] != "~"]


def split(sentence: str) -> list[str]:
    """Return what stands between blanks and signs, and commas and colons that belong to no word."""
    if not sentence.isascii() and _QUOTES.search(sentence) is not None:
        return TOKEN.findall(sentence)
    if "," in sentence or ":" in sentence:
        if sentence.count(",") + sentence.count(":") > sentence.count(", ") + sentence.count(": "):
            return TOKEN.findall(sentence)
        sentence = sentence.replace(", ", " , ").replace(": ", " : ")
    # A look for each takes a tenth of the time of the pattern, and half that of translate; most sentences have none.
    if "(" in sentence or '"' in sentence or "?" in sentence or "!" in sentence or ";" in sentence or ")" in sentence:
        for sign in _SIGNS:
            sentence = sentence.replace(sign, " ")
    return sentence.split()


def _amounts(words: list[str], first: int, lexicon: AlphabeticLexicon, proper: frozenset[str]) -> SentenceWords:
    """Join numbers with their units, and days with their months, from the *first* place where there may be one."""
    found = words[:first]
    amounts: dict[int, float] = {}
    numbers = lexicon.numbers
    at, end = first, len(words)
    while at < end:
        word = words[at]
        if word.isalpha() and word not in numbers:  # as most
            found.append(word)
            at += 1
            continue
        value, match = _number_at(words, at, found, proper, lexicon)
        if value is not None and found and found[-1] in _MINUS:
            value, found = _signed(value, found)
        # What follows is the code of a door, and no year, or that of a seat, and no temperature.
        is_code = value is not None and not lexicon.lists["coded"].isdisjoint(found)
        if value is None or (match is not None and match[3] and (is_code or match[3] not in units())):
            found.append(word)
            at += 1
            continue
        at += 1
        if match is None and found and found[-1] in lexicon.lists.get("numbered", ()) and value.is_integer():
            found.append(f"{value:g}")  # chapter nine is chapter 9
            continue
        following = words[at] if at < len(words) else ""
        if not (is_code and _is_said_of(word, found, lexicon)) and (date := date_at(word, words, at, found, lexicon)):
            at = date
            continue
        if following in lexicon.multipliers:
            value *= lexicon.multipliers[following]
            at += 1
            following = words[at] if at < len(words) else ""
            if following in ("de", "d'") and at + 1 < len(words) and words[at + 1] in units():
                at, following = at + 1, words[at + 1]  # "2 millones de dólares"
        unit = (match[1] or match[3]) if match is not None else None
        if unit is None and following in units():
            unit = following
            at += 1
        elif (
            unit is None
            and match is not None
            and _is_label(found, proper, lexicon)
            and not _is_counted(found[-1], following, lexicon)
        ):
            found.append(word)
            continue
        family, factor = units()[unit] if unit else ("", 1.0)
        amounts[len(found)] = round(value * factor, 9)
        found.append("#" + family)
    tell_from_when(found, amounts)
    return _new(SentenceWords, (found, amounts, proper))


def _as_one(words: list[str], lexicon: AlphabeticLexicon) -> list[str]:
    """Return words, of a number that is written in several of them one: "900 000", "treinta y cinco"."""
    found: list[str] = []
    at = 0
    while at < len(words):
        end = at + 1
        if words[at].isdecimal():
            while end < len(words) and words[end].isdecimal():
                end += 1
            parts = words[at:end]
            is_one = len(parts[0]) <= _THOUSAND and all(len(part) == _THOUSAND for part in parts[1:])
            is_one = is_one and (not at or words[at - 1][0] != "+")  # else a telephone number
            found += ["".join(parts)] if is_one else parts
        elif words[at + 1 : at + 2] == ["y"] and (joined := "_".join(words[at : at + 3])) in lexicon.numbers:
            end = at + 3
            found.append(joined)
        else:
            found.append(words[at])
        at = end
    return found


_THOUSAND: Final = 3  #: digits of a group
_MINUS: Final = frozenset(("minus", "menos", "moins"))


def _number_at(
    words: list[str], at: int, found: list[str], proper: frozenset[str], lexicon: AlphabeticLexicon
) -> tuple[float | None, re.Match[str] | None]:
    """Return the number at a place, and how it is written in digits; None where there is none, or it is in words."""
    word = words[at]
    value = lexicon.numbers.get(word)
    if value is not None and word in proper and found and found[-1] in proper:
        value = None  # a part of a name: "Echo Two"
    if value == 1 and word in lexicon.lists["determiners"] and is_article(found, words[at + 1 :], proper, lexicon):
        return None, None
    if value is None and _may_be_amount(word) and (match := _NUMBER.fullmatch(word)) is not None:
        return _decimal(match[2], lexicon.language), match
    return value, None


def _signed(value: float, found: list[str]) -> tuple[float, list[str]]:
    """Return a number behind "minus" with its sign, and the words before that; after "al menos" it has none."""
    return (value, found) if found[-2:-1] in (["al"], ["au"]) else (-value, found[:-1])


def _is_said_of(number: str, found: list[str], lexicon: AlphabeticLexicon) -> bool:
    """Return whether a *number* is what a code is, and no year: "the code is 2098", "le code est désormais le 2098"."""
    lists = lexicon.lists
    is_like_year = len(number) == _YEAR
    before = next((word for word in reversed(found) if word not in lists["dull"]), "") if is_like_year else found[-1]
    return before in lists["be"]


_YEAR: Final = 4  #: digits


def _is_counted(before: str, following: str, lexicon: AlphabeticLexicon) -> bool:
    """Return whether a number after an English word that may be a verb counts what follows: "enrols 240 patients"."""
    if lexicon.language != "en" or before[-1] != "s" or before[-2:] == "ss" or before in lexicon["nouns"]:
        return False
    return (
        following.isalpha() and following[-1] == "s" and following[-2:] != "ss" and following not in lexicon["no_nouns"]
    )


def _is_label(found: list[str], proper: frozenset[str], lexicon: AlphabeticLexicon) -> bool:
    """Return whether a number without a unit is a part of a name: it follows a noun, as in "port 443"."""
    if not found:
        return False
    last = found[-1]
    if last[0] in "#~,:" or last in lexicon["no_nouns"]:
        return False
    if lexicon.language == "de":  # where nouns have capitals
        return last in proper or len(found) == 1 or len(last) == 1 or last in lexicon["nouns"]
    return last in proper or lexicon.verbs.get(last) is None
