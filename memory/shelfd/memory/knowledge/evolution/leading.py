"""By which words it is seen that a pattern cannot fit, sooner than by the pattern."""

import re
from typing import Final

#: One word, and no part of one; nothing else follows in its alternative, or a blank does.
_WORD: Final = re.compile(r"([^\W_]+|,)(?: |$)")
_ANYTHING: Final = "^(?P<s>.+?) "


def leading_words(pattern: str) -> frozenset[str]:
    """Return words one of which stands in all that *pattern* fits, if it is tried where a word begins.

    It begins with alternatives that are words, perhaps after somebody that it is said of and after what may be missing.
    Of any other nothing is returned: it has to be tried.
    """
    rest = pattern.removeprefix(_ANYTHING)
    while rest.startswith("(?:"):
        alternatives, rest = _group(rest)
        is_optional, are_apart = rest[:1] in ("?", "*"), all(each.endswith(" ") for each in alternatives)
        if not is_optional and ((found := _first(alternatives, rest)) or not are_apart):
            return found
        if not are_apart or rest[:1] in ("+", "{"):
            return frozenset()
        rest = rest[is_optional:]
    return _first([rest], "")


#: One sign of a pattern: escaped, a set, where a group begins or ends, how often what stands before may stand, another.
_SIGN: Final = re.compile(
    r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\((?:\?(?:P<\w+>|<?[=!]|[-\w]*:))?|(?:[?*]|\{[^}]*\})[?+]?|\+[?+]?|.", re.DOTALL
)


def needed_part(pattern: str) -> str:
    """Return a text that stands in all that *pattern* fits: the longest that is in no group of it."""
    parts, depth = [""], 0
    for sign in _SIGN.findall(pattern):
        depth += (sign[0] == "(") - (sign == ")")
        if depth:
            continue
        if sign == "|":
            return ""
        if sign[0] in "?*{":
            parts[-1] = parts[-1][:-1]  # what may be missing
        if len(sign) == 1 and sign not in _SPECIAL:
            parts[-1] += sign
        else:
            parts.append("")
    return max(parts, key=len)


_SPECIAL: Final = "^$.()?*+"


def _first(alternatives: list[str], following: str) -> frozenset[str]:
    """Return the first words of *alternatives*; none if one begins otherwise, or goes on in what follows."""
    words = set[str]()
    for each in alternatives:
        match = _WORD.match(each)
        if match is None or (match.end() == len(each) and each[-1] != " " and following[:1] not in ("", " ", "$")):
            return frozenset()
        words.add(match[1])
    return frozenset(words)


def _group(pattern: str) -> tuple[list[str], str]:
    """Return the alternatives of the group that a pattern begins with, and what follows it."""
    depth, begin, found = 0, len("(?:"), list[str]()
    for at, sign in enumerate(pattern):
        depth += (sign == "(") - (sign == ")")
        if depth == 0 or (sign == "|" and depth == 1):
            found.append(pattern[begin:at])
            begin = at + 1
        if depth == 0:
            return found, pattern[begin:]
    raise ValueError(pattern)
