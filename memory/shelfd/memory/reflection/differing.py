"""Whether two texts that are nearly alike still say different things.

What makes a difference: a number, a date, a unit, a name, a negation. Where a script has no capitals, any word may be
a name. What is left out here is told apart by nothing but its words, and nothing of those is ever lost in a merge.
"""

import re
import unicodedata
from collections import Counter
from typing import Final

from shelfd.memory.reflection.words import words_of

_NUMBER: Final = re.compile(
    r"[-+\u2212]?\d+(?:[.,:/\u2013-]\d+)*|[%\u2030\u20ac$\u00a3\u00a5\u20b9\u20bd\u00b0<>=\u2264\u2265\u2260]"
)
_CONTRACTED: Final = re.compile(r"n['\u2019]t\b", re.IGNORECASE)


def _folded(words: str) -> frozenset[str]:
    return frozenset(words_of(words))


_NEGATIONS: Final = _folded(
    "no not never none nor neither nobody nothing nowhere without cannot dont doesnt isnt wont cant "
    "nicht kein keine keinen keinem keiner nie niemals ohne nichts pas jamais sans aucun aucune rien "
    "sin nunca ningun ninguna ninguno nada tampoco nao nem sem non mai senza niente inte ingen aldrig utan ikke aldri "
    "niet geen nooit zonder nie bez degil yok hayir не нет ни никогда без ничего нельзя nu fara nem soha ei δεν όχι "
    "μην"
)
_NUMBER_WORDS: Final = _folded(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion half "
    "quarter dozen once twice first second third fourth fifth last next previous every all some "
    "null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf hundert tausend "
    "un une deux trois quatre cinq six sept huit neuf dix uno una dos tres cuatro cinco seis siete ocho nueve "
    "diez"
)
_DATE_WORDS: Final = _folded(
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
    different = frozenset(words_of(one)) ^ frozenset(words_of(other))
    if not _TELLING.isdisjoint(different):
        return True
    return _names_any(one, different, stop) or _names_any(other, different, stop)


def _numbers(text: str) -> list[str]:
    """Numbers, dates and their signs in the order they stand in; two texts may hold the same ones the other way."""
    return _NUMBER.findall(unicodedata.normalize("NFKC", text))


def _negations(text: str) -> Counter[str]:
    found = Counter(word for word in words_of(text) if word in _NEGATIONS)
    found["n't"] = len(_CONTRACTED.findall(text))
    return found


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
