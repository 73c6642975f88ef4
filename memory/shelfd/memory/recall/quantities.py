"""Numbers with units, and versions: the same however they are written."""

import json
import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Final

#: A number and what may be its unit. What stands before is looked at then: patterns that begin with a set are quick,
#: and three times as slow if the set is a repeated one.
_NUMBER: Final = re.compile(r"([0-9][0-9]*(?:[.,][0-9]+)*)(?:[ -]?(?:degrees? )?(\u00b0?[a-z]+|[%\u20ac\u00a3]))?")
_VERSION: Final = re.compile(r"(?<![\w.])(?:v[0-9]+(?:\.[0-9]+)+|[0-9]+(?:\.[0-9]+){2,})(?![\w])")
#: What stands before a digit that is not the first of a number.
_JOINED: Final = ("_", ".", ",")


@cache
def _units() -> tuple[Mapping[str, str], Mapping[str, str]]:
    """Signs by the names of units, and by the signs of money; read when a text first has a number."""
    path = files("shelfd.memory.recall").joinpath("lexicon", "units.json")
    data = json.loads(path.read_text(encoding="utf-8"))
    return {name: sign for sign, names in data["units"].items() for name in names.split()}, data["money"]


#: Of units; what it says of how hot it is may stand before them.
_DEGREES: Final = frozenset(("degree", "degrees"))


@cache
def unit_words() -> frozenset[str]:
    """Return the words of a to z with which the name of a unit may begin."""
    return _DEGREES.union(_units()[0])


def quantities(folded: str) -> list[str]:
    """Return the quantities and versions in *folded* text, each as one word.

    "5 km" and "5 kilometres" are ``5km``; where it is written so it is a word of the text already, and two here. "$20"
    and "20 dollars" are ``20usd``; "v1.2.3" is ``1.2.3``. Separators of thousands are left out.
    """
    numbers = list(_NUMBER.finditer(folded))
    if not numbers:
        return []
    units, money = _units()
    has_money = any([sign in folded for sign in money])  # noqa: C419 (half the time of a generator)
    found: list[str] = []
    has_version, done = False, 0
    for match in numbers:
        number, unit = match.groups()
        begin = match.start()
        before = folded[begin - 1 : begin]
        has_version = has_version or before == "v" or number.count(".") > 1
        if has_money:
            at = begin - 2 if before == " " else begin - 1
            sign = folded[at : at + 1] if at >= done else ""
            if sign in money:
                found.append(_plain(number) + money[sign])
                continue
        if unit is None or before.isalnum() or before in _JOINED:
            continue
        done = match.end()
        if (name := units.get(unit)) is not None:
            word = _plain(number) + name
            if word != folded[begin:done]:
                found.append(word)
            else:  # a word of the text, which has the parts only together
                found += (number, unit)
    if has_version:
        found += [match[0].removeprefix("v") for match in _VERSION.finditer(folded)]
    return found


def _plain(number: str) -> str:
    """Return *number* without separators of thousands, with a point before decimals."""
    if number.isdecimal():
        return number
    parts = re.split("[.,]", number)
    if all(len(part) == 3 for part in parts[1:]) and parts[0] != "0":
        return "".join(parts)
    return "".join(parts[:-1]) + "." + parts[-1]
