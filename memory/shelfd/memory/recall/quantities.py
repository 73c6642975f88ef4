"""Numbers with units, and versions: the same however they are written."""

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Final

_DIGIT: Final = re.compile("[0-9]")
#: A number is looked for by itself, and what stands on either side then: patterns that begin with a set are quick.
_NUMBER: Final = re.compile(r"[0-9]+(?:[.,][0-9]+)*")
_UNIT: Final = re.compile(r"[ -]?(?:degrees? )?(\u00b0?[a-z]+|[%\u20ac\u00a3])")
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
    return [] if _DIGIT.search(folded) is None else list(_found(folded))


def _found(folded: str) -> Iterator[str]:
    units, money = _units()
    has_version, done = False, 0
    for match in _NUMBER.finditer(folded):
        begin, end = match.span()
        before = folded[begin - 1 : begin]
        has_version = has_version or before == "v" or match[0].count(".") > 1
        at = begin - 2 if before == " " else begin - 1
        sign = folded[at : at + 1] if at >= done else ""
        if sign in money:
            yield _plain(match[0]) + money[sign]
            continue
        if before.isalnum() or before in _JOINED or (unit := _UNIT.match(folded, end)) is None:
            continue
        done = unit.end()
        if (name := units.get(unit[1])) is not None:
            word = _plain(match[0]) + name
            if word != folded[begin : unit.end()]:
                yield word
            else:  # a word of the text, which has the parts only together
                yield from (match[0], unit[1])
    if has_version:
        for match in _VERSION.finditer(folded):
            yield match[0].removeprefix("v")


def _plain(number: str) -> str:
    """Return *number* without separators of thousands, with a point before decimals."""
    parts = re.split("[.,]", number)
    if len(parts) == 1:
        return number
    if all(len(part) == 3 for part in parts[1:]) and parts[0] != "0":
        return "".join(parts)
    return "".join(parts[:-1]) + "." + parts[-1]
