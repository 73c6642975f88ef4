"""Patterns of the configuration: regular expressions of which none takes for ever.

A part of Python's syntax with its meaning: characters, classes, groups, alternatives, repeats with an end. In how many
ways a pattern can be laid over a text is counted before it is used; one with too many is refused, and so is whatever
has no such number: repeats without end, references to what was found, conditions on what stands around it.
"""

import re
from typing import Final, NamedTuple

#: Ways in which one pattern, and all of a configuration together, may be laid over what begins at one place.
MOST_WAYS: Final = 1_000
#: Characters of the longest text that a pattern may fit.
_LONGEST: Final = 256
#: Groups inside each other.
_DEEPEST: Final = 8

_CLASSES: Final = frozenset("dDwWsS")
_SPECIAL: Final = frozenset("\\^$.|?*+()[]{}")
#: What begins a set operation inside a class, in one version of Python or another.
_SET_SIGNS: Final = frozenset("[&~|")
_REPEAT: Final = re.compile(r"\{(\d{1,3})(?:,(\d{1,3}))?\}")


class PatternError(ValueError):
    """A pattern that is not used; its text says where and why."""


class _Reach(NamedTuple):
    """What a part of a pattern can fit: in how many ways, and texts of what lengths."""

    ways: int
    shortest: int
    longest: int


class Pattern(NamedTuple):
    """A pattern that can be used.

    Attributes:
        expression: Finds it where it is no part of a longer word; case makes no difference.
        ways: In how many ways it can be laid over what begins at one place, at most.
    """

    expression: re.Pattern[str]
    ways: int


def compile_pattern(text: str, others: int = 0) -> Pattern:
    """Return a pattern that is sure to come to an end.

    Args:
        text: It.
        others: In how many ways the patterns beside it can be tried.

    Raises:
        PatternError: If it is none, or not sure to.
    """
    reader = _Reader(text)
    reach = reader.alternatives(0)
    if reader.sign:
        raise reader.error(") without (")
    if not reach.shortest:
        raise PatternError("fits an empty text")
    if reach.ways + others > MOST_WAYS:
        raise PatternError(f"with those before it there are more than {MOST_WAYS} ways to try; make repeats shorter")
    try:
        return Pattern(re.compile(rf"(?<!\w)(?:{text})(?!\w)", re.IGNORECASE), reach.ways)
    except re.error as error:  # such as a range from z to a
        raise PatternError(error.msg) from None


class _Reader:
    """Reads a pattern from left to right and counts."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    @property
    def sign(self) -> str:
        """The sign that is next; nothing at the end."""
        return self._text[self._at : self._at + 1]

    def error(self, why: str) -> PatternError:
        """Return an error at the sign that is next."""
        return PatternError(f"at character {self._at + 1}: {why}")

    def alternatives(self, depth: int) -> _Reach:
        if depth > _DEEPEST:
            raise self.error(f"more than {_DEEPEST} groups inside each other")
        found = [self._sequence(depth)]
        while self.sign == "|":
            self._at += 1
            found.append(self._sequence(depth))
        ways, shortest, longest = zip(*found, strict=True)
        return self._bounded(sum(ways), min(shortest), max(longest))

    def _sequence(self, depth: int) -> _Reach:
        reach = _Reach(1, 0, 0)
        while self.sign not in {"", "|", ")"}:
            part = self._repeated(self._atom(depth))
            reach = self._bounded(reach.ways * part.ways, reach.shortest + part.shortest, reach.longest + part.longest)
        return reach

    def _bounded(self, ways: int, shortest: int, longest: int) -> _Reach:
        if ways > MOST_WAYS:
            raise self.error(f"could be tried in more than {MOST_WAYS} ways; make repeats shorter or fewer")
        if longest > _LONGEST:
            raise self.error(f"could fit more than {_LONGEST} characters; make repeats shorter")
        return _Reach(ways, shortest, longest)

    def _atom(self, depth: int) -> _Reach:
        sign = self.sign
        if sign == "(":
            return self._group(depth)
        if sign == "[":
            self._class()
        elif sign == "\\":
            self._escape()
        elif sign == "." or sign not in _SPECIAL:
            self._at += 1
        else:
            raise self.error(f"{sign} has no place here; \\{sign} is the character")
        return _Reach(1, 1, 1)

    def _group(self, depth: int) -> _Reach:
        self._at += 1
        if self.sign == "?":
            if not self._text.startswith("?:", self._at):
                raise self.error("of groups there are ( ) and (?: ) only")
            self._at += 2
        reach = self.alternatives(depth + 1)
        if self.sign != ")":
            raise self.error("( without )")
        self._at += 1
        return reach

    def _escape(self) -> None:
        self._at += 1
        sign = self.sign
        if sign not in _CLASSES and (not sign or sign.isalnum() or sign == "_" or not sign.isascii()):
            raise self.error("after \\ stands one of d D w W s S or a sign that is meant as it is")
        self._at += 1

    def _class(self) -> None:
        self._at += 1
        if self.sign == "^":
            self._at += 1
        is_empty = True
        while self.sign != "]" or is_empty:
            sign = self.sign
            if not sign:
                raise self.error("[ without ]")
            if sign == "\\":
                self._escape()
            elif sign in _SET_SIGNS or sign == "]":
                raise self.error(f"in a class, {sign} is written \\{sign}")
            elif self._text.startswith("--", self._at):
                raise self.error("in a class, - is written \\-")
            else:
                self._at += 1
            is_empty = False
        self._at += 1

    def _repeated(self, reach: _Reach) -> _Reach:
        sign = self.sign
        if sign in {"*", "+"}:
            raise self.error(f"{sign} repeats without end; say how often at most, such as {{1,20}}")
        if sign == "?":
            least, most = 0, 1
            self._at += 1
        elif sign == "{":
            found = _REPEAT.match(self._text, self._at)
            if found is None:
                raise self.error("repeats are written {3} or {1,20}")
            least, most = int(found[1]), int(found[2] or found[1])
            if most < least:
                raise self.error("the first number of a repeat is the smaller one")
            self._at = found.end()
        else:
            return reach
        if self.sign in {"?", "+", "*", "{"}:
            raise self.error("one repeat after another")
        ways = 0
        for times in range(least, most + 1):
            ways += reach.ways**times
            if ways > MOST_WAYS:
                break
        return self._bounded(ways, least * reach.shortest, most * reach.longest)
