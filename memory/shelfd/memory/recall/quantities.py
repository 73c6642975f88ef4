"""Numbers with units, and versions: the same however they are written."""

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Final

_DIGIT: Final = re.compile("[0-9]")


@cache
def _units() -> tuple[Mapping[str, str], Mapping[str, str]]:
    """Signs by the names of units, and by the signs of money; read when a text first has a number."""
    path = files("shelfd.memory.recall").joinpath("lexicon", "units.json")
    data = json.loads(path.read_text(encoding="utf-8"))
    return {name: sign for sign, names in data["units"].items() for name in names.split()}, data["money"]


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """A number with what may be its unit, on either side; and a version."""
    quantity = re.compile(
        r"(?P<money>[$\u20ac\u00a3\u00a5]) ?(?P<sum>[0-9]+(?:[.,][0-9]+)*)"
        r"|(?<![\w.,])(?P<number>[0-9]+(?:[.,][0-9]+)*)[ -]?(?:degrees? )?(?P<unit>\u00b0?[a-z]+|[%\u20ac\u00a3])"
    )
    version = re.compile(r"(?<![\w.])(?:v[0-9]+(?:\.[0-9]+)+|[0-9]+(?:\.[0-9]+){2,})(?![\w])")
    return quantity, version


def quantities(folded: str) -> list[str]:
    """Return the quantities and versions in *folded* text, each as one word.

    "5 km" and "5 kilometres" are ``5km``; where it is written so it is a word of the text already, and two here. "$20"
    and "20 dollars" are ``20usd``; "v1.2.3" is ``1.2.3``. Separators of thousands are left out.
    """
    return [] if _DIGIT.search(folded) is None else list(_found(folded))


def _found(folded: str) -> Iterator[str]:
    units, money = _units()
    quantity, version = _patterns()
    for match in quantity.finditer(folded):
        if match["money"] is not None:
            yield _plain(match["sum"]) + money[match["money"]]
        elif (sign := units.get(match["unit"])) is not None:
            word = _plain(match["number"]) + sign
            if word != match[0]:
                yield word
            else:  # a word of the text, which has the parts only together
                yield from (match["number"], match["unit"])
    if "." in folded:
        for match in version.finditer(folded):
            yield match[0].removeprefix("v")


def _plain(number: str) -> str:
    """Return *number* without separators of thousands, with a point before decimals."""
    parts = re.split("[.,]", number)
    if len(parts) == 1:
        return number
    if all(len(part) == 3 for part in parts[1:]) and parts[0] != "0":
        return "".join(parts)
    return "".join(parts[:-1]) + "." + parts[-1]
