"""Patterns of the configuration: what they fit, and that none is taken that could take for ever."""

import re
import warnings
from collections import Counter
from importlib import import_module
from itertools import product
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from shelfd.memory.knowledge.entities.patterns import MOST_WAYS, PatternError, compile_pattern

PARSER = import_module("re._parser")  # Python's own reading of a pattern, by which another count is made


def found(pattern: str, text: str) -> list[str]:
    return [match[0] for match in compile_pattern(pattern).expression.finditer(text)]


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        (r"(?:INC|CHG)-?\d{4,8}", "INC-2044, chg1234 and INC12 and XINC2044", ["INC-2044", "chg1234"]),
        (r"[A-Z]{2,4}-\d{1,6}", "see AB-12 and ABCDE-12 and SR-1234567", ["AB-12"]),
        (r"room [0-9]{3}[a-f]?", "Room 204b, room 20", ["Room 204b"]),
        (r"\w{1,20}@lab", "mail ada@lab now", ["ada@lab"]),
        (r"(a|bc){1,3}", "abca abcabca", ["abca"]),
        (r"[^\s\-]{3}\.x", "abc.x", ["abc.x"]),
        (r"\[\d\]", "see [1] and [22]", ["[1]"]),
    ],
)
def test_a_pattern_is_found_where_it_is_no_part_of_a_word(pattern: str, text: str, expected: list[str]) -> None:
    assert found(pattern, text) == expected


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        (r"(a+)+$", r"at character 3: \+ repeats without end"),
        (r"a*", r"\* repeats without end"),
        (r"a{2,}", "repeats are written"),
        (r"(a{1,30}){1,30}", "more than 1000 ways"),
        (r"\w{1,40}\w{1,40}x", "more than 1000 ways"),
        (r"(?:a|a){1,12}", "more than 1000 ways"),
        (r"(?:a?){30}", "more than 1000 ways"),
        (r"(?:(?:a{10}){10}){10}", "more than 256 characters"),
        (r"(a)\1", "after .* stands one of"),
        (r"(?=a)a", "of groups there are"),
        (r"(?P<x>a)", "of groups there are"),
        (r"(?i)a", "of groups there are"),
        (r"^a$", r"\^ has no place here"),
        (r"\ba", "stands one of"),
        (r"a??", "one repeat after another"),
        (r"a{3}{3}", "one repeat after another"),
        (r"a{5,2}", "the smaller one"),
        (r"(a", r"\( without \)"),
        (r"a)", r"\) without \("),
        (r"[a", r"\[ without \]"),
        (r"[]a]", r"\] is written"),
        (r"[a&&b]", "& is written"),
        (r"[z-a]", "bad character range"),
        (r"a?", "fits an empty text"),
        (r"a|", "fits an empty text"),
        ("a\\", "stands one of"),
        ("(" * 9 + "a" + ")" * 9, "more than 8 groups"),
    ],
)
def test_what_could_take_for_ever_or_is_none_is_refused_with_the_reason(pattern: str, why: str) -> None:
    with pytest.raises(PatternError, match=why):
        compile_pattern(pattern)


def test_patterns_share_what_may_be_tried() -> None:
    assert compile_pattern(r"a{1,30}b{1,30}", 50).ways == 900
    with pytest.raises(PatternError, match="with those before it"):
        compile_pattern(r"a{1,30}b{1,30}", 200)


atoms = st.sampled_from(["a", "b", r"\d", r"\w", "[ab]", "[^a]", "."])
patterns = st.recursive(
    atoms,
    lambda inner: st.one_of(
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner).map(lambda two: f"(?:{two[0]}|{two[1]})"),
        st.tuples(inner, st.integers(0, 3), st.integers(0, 20)).map(lambda p: f"(?:{p[0]}){{{p[1]},{p[1] + p[2]}}}"),
        inner.map(lambda one: f"({one})?"),
    ),
    max_leaves=8,
)


@given(patterns)
@example(r"(?:a{1,30})(?:a{1,30})b")
@example(r"(?:\w|a){1,8}b")
@settings(deadline=None, max_examples=150)
def test_whatever_is_taken_comes_to_an_end(pattern: str) -> None:
    """At one place it is tried in no more ways than were counted, whatever the text."""
    try:
        expression, ways = compile_pattern(pattern)
    except PatternError:
        return
    assert sum(ways_to_fit(PARSER.parse(pattern)).values()) <= ways <= MOST_WAYS
    # A line of one letter is the worst there is: every place begins a word of it, or all of it is one.
    for text in ("a" * 4096, "a " * 2048, "ab" * 2048):
        for _ in expression.finditer(text):
            pass


def ways_to_fit(parsed: Any) -> Counter[int]:
    """In how many ways a pattern fits so many characters, of a text of which each fits every class and letter."""
    found = Counter({0: 1})
    for operation, argument in parsed:
        before = found
        match str(operation):
            case "BRANCH":
                part = sum(map(ways_to_fit, argument[1]), Counter[int]())
            case "SUBPATTERN":
                part = ways_to_fit(argument[-1])
            case "MAX_REPEAT":
                least, most, repeated = argument
                part = sum((ways_to_fit([*repeated] * times) for times in range(least, most + 1)), Counter[int]())
            case _:
                part = Counter({1: 1})
        found = Counter[int]()
        for (length, one), (more, other) in product(before.items(), part.items()):
            found[length + more] += one * other
    return found


@given(st.text(alphabet=r"ab0\dw[]()^-{}|?*+.,1&~ ", max_size=24))
@settings(deadline=None, max_examples=500)
def test_any_text_is_a_pattern_or_refused(text: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            pattern = compile_pattern(text)
        except PatternError:
            return
    assert pattern.ways <= MOST_WAYS
    assert re.compile(text).fullmatch("") is None
