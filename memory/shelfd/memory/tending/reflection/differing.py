"""Whether two texts that are nearly alike still say different things.

What makes a difference: a number, a date, a unit, a name, a negation. Where a script has no capitals, any word may be
a name. What is left out here is distinguished by nothing but its words, and nothing of those is ever lost in a merge.
"""

import re
import unicodedata
from collections import Counter
from typing import Final

from shelfd.memory.tending.reflection.words import words_of

_NUMBER: Final = re.compile(
    r"[-+\u2212]?\d+(?:[.,:/\u2013-]\d+)*|[%\u2030\u20ac$\u00a3\u00a5\u20b9\u20bd\u00b0<>=\u2264\u2265\u2260]"
)
#: What stands right after a number, whose unit it may be.
_MEASURED: Final = re.compile(r"\d[ \u00a0]?([^\W\d_]+(?:/[^\W\d_]+)?)|\d")
_CONTRACTED: Final = re.compile(r"n['\u2019\u02bc`\u00b4]t\b", re.IGNORECASE)
_ROMAN: Final = re.compile(r"(?=..)m{0,3}(cm|cd|d?c{0,3})(xc|xl|l?x{0,3})(ix|iv|v?i{0,3})")
_SPELLED: Final = re.compile(r"[^\W\d_]+")
#: After these a word has a capital whatever it is.
_BEGINS: Final = re.compile(r"[.!?:;\u2026\n][^\w,]*$")
_BEFORE: Final = 8  # characters in which such a sign is looked for
_NEGATING_PREFIXES: Final = ("un", "in", "im", "il", "ir", "dis", "non", "mis", "de")


def _folded(words: str) -> frozenset[str]:
    return frozenset(words_of(words))


_NEGATIONS: Final = _folded(
    "no not never none nor neither nobody nothing nowhere without cannot dont doesnt isnt wont cant aint "
    "hardly barely scarcely except unless false off disabled unable forbidden refuses refused lacks lacking "
    "nicht nix kein keine keinen keinem keiner nie niemals ohne nichts pas jamais sans aucun aucune rien "
    "sin nunca ningun ninguna ninguno nada tampoco nao nem sem non mai senza niente inte ingen aldrig utan ikke aldri "
    "niet geen nooit zonder nie bez degil yok hayir не нет ни никогда без ничего нельзя nu fara nem soha ei δεν όχι "
    "μην"
)
_NUMBER_WORDS: Final = _folded(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion half "
    "quarter dozen once twice thrice single double triple both fifth sixth seventh eighth ninth tenth eleventh twelfth "
    "thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth thirtieth hundredth "
    "billion trillion first second third fourth fifth last next previous every all some "
    "null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf hundert tausend "
    "un une deux trois quatre cinq six sept huit neuf dix uno una dos tres cuatro cinco seis siete ocho nueve "
    "diez"
)
_DATE_WORDS: Final = _folded(
    "decade decades century centuries fortnight quarterly annual annually christmas easter ramadan "
    "today tomorrow yesterday tonight morning noon afternoon evening night midnight am pm "
    "monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri sat sun weekend "
    "january february march april may june july august september october november december "
    "jan feb mar apr jun jul aug sep sept oct nov dec spring summer autumn fall winter "
    "lundi mardi mercredi jeudi vendredi samedi dimanche lunes martes miercoles jueves viernes sabado domingo "
    "janvier fevrier mars avril mai juin juillet aout septembre octobre novembre decembre "
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre"
)
_UNITS: Final = _folded(
    "ms s sec secs second seconds min mins minute minutes h hr hrs hour hours d day days daily week weeks weekly month "
    "months monthly year years yearly hourly mm cm m km mile miles inch inches ft foot feet yard yards mg g gram grams "
    "kg kilo kilos lb lbs pound pounds oz ton tons ml cl l liter liters litre litres gallon gallons b kb mb gb tb kib "
    "acre acres hectare hectares nautical knot knots bar psi cal kcal "
    "mib gib bit bits byte bytes hz khz mhz ghz w kw mw kwh v volt volts amp amps percent degree degrees celsius "
    "fahrenheit kelvin c f k usd eur gbp jpy chf dollar dollars euro euros yen px pt em rem kph mph"
)
_TELLING: Final = _NEGATIONS | _NUMBER_WORDS | _DATE_WORDS | _UNITS


def differ(one: str, other: str, stop: frozenset[str]) -> bool:
    """Return whether the texts differ in a number, date, unit, name or negation.

    Args:
        stop: Words that are no names, even with a capital letter.
    """
    if _numbers(one) != _numbers(other) or _negations(one) != _negations(other):
        return True
    if _units_differ(one, other) or _signs(one) != _signs(other) or _spelled_differently(one, other, stop):
        return True
    own, others = frozenset(words_of(one)), frozenset(words_of(other))
    different = own ^ others
    if not _TELLING.isdisjoint(different) or any(_ROMAN.fullmatch(word) for word in different):
        return True
    if _negates_any(own - others, others) or _negates_any(others - own, own):
        return True
    return _names_any(one, different, stop) or _names_any(other, different, stop)


def _numbers(text: str) -> list[str]:
    """Numbers, dates and their signs in the order they stand in; two texts may hold the same ones the other way."""
    return _NUMBER.findall(unicodedata.normalize("NFKC", text))


def _negations(text: str) -> Counter[str]:
    found = Counter(word for word in words_of(text) if word in _NEGATIONS)
    found["n't"] = len(_CONTRACTED.findall(text))
    return found


def _units_differ(one: str, other: str) -> bool:
    """Whether a word after a number is another one in the other text, even by its capitals."""
    pairs = zip(_MEASURED.findall(one), _MEASURED.findall(other), strict=False)
    return any(unit and theirs and unit != theirs for unit, theirs in pairs)


def _signs(text: str) -> set[str]:
    """Signs that are no letters and may mean something by themselves: of currencies, of mathematics, pictures."""
    return {letter for letter in text if letter == "#" or unicodedata.category(letter) in ("Sc", "Sm", "So")}


def _spelled_differently(one: str, other: str, stop: frozenset[str]) -> bool:
    """Whether a word has capitals in one text only, or words with capitals stand in another order."""
    own, others = _capitalised(one, stop), _capitalised(other, stop)
    if own == others:
        return False
    if sorted(own) == sorted(others):
        return True
    plain, theirs = frozenset(_SPELLED.findall(one)), frozenset(_SPELLED.findall(other))
    return any(word.lower() in theirs for word in own if word not in theirs) or any(
        word.lower() in plain for word in others if word not in plain
    )


def _capitalised(text: str, stop: frozenset[str]) -> list[str]:
    """The words that are written with capitals where others are not, in order."""
    found = []
    for match in _SPELLED.finditer(text):
        word, start = match.group(), match.start()
        before = text[start - _BEFORE : start] if start > _BEFORE else "\n" + text[:start]
        begins_name = word[0].isupper() and word.lower() not in stop and not _BEGINS.search(before)
        if begins_name or (len(word) > 1 and word.lower() != word and not word[1:].islower()):
            found.append(word)
    return found


def _negates_any(words: frozenset[str], others: frozenset[str]) -> bool:
    """Whether one of *words* is one of *others* with a prefix that says no."""
    return any(
        word.startswith(prefix) and len(word) > len(prefix) + 2 and word[len(prefix) :] in others
        for word in words
        for prefix in _NEGATING_PREFIXES
    )


def _names_any(text: str, different: frozenset[str], stop: frozenset[str]) -> bool:
    """Whether one of the *different* words of *text* may be a name."""
    if not different:
        return False
    for piece in text.split():
        words = different.intersection(words_of(piece))
        if words - stop and any(_may_begin_name(letter) for letter in piece):
            return True
    return False


def _may_begin_name(letter: str) -> bool:
    """Whether *letter* is a capital, a digit, or of a script that has no capitals."""
    if letter.isupper() or letter.isdigit() or letter == "_":
        return True
    return letter.isalpha() and letter.lower() == letter.upper()
