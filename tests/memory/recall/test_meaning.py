"""Which types of answer a text holds."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shelfd.memory.recall import Analyzer
from shelfd.memory.recall.meaning import ANSWER_TYPES, meaning_lists

_ANALYZER = Analyzer()
_TIME = ANSWER_TYPES["time"]


def types_in(text: str) -> set[str]:
    bits = _ANALYZER.parse_text(text).answer_types
    return {name for name, bit in ANSWER_TYPES.items() if bits & bit}


@pytest.mark.parametrize(
    ("text", "types"),
    [
        ("the harbour is quiet", set()),
        ("two cranes stand there", {"number"}),
        ("17 cranes and 3 ships", {"number", "numbers"}),
        ("½ a crane", {"number", "numbers"}),
        ("open by 5", {"number", "time"}),
        ("open by about five", {"number", "time"}),
        ("gate 12:30", {"number", "numbers", "time"}),
        ("built in 1987", {"number", "time", "year"}),
        ("part 19870", {"number"}),
        ("her train leaves on May 3", {"number", "time", "name"}),
        ("open from 3 May on", {"number", "time", "name"}),
        ("she may lift 3 of them", {"number"}),
        ("paid 40 eur", {"number", "money"}),
        ("paid 40 $", {"number", "money"}),
        ("paid in $", set()),
        ("a crane of 12 t", {"number", "weight"}),
        ("call 030/1234 56", {"number", "numbers", "phone"}),
        ("call 030/12", {"number", "numbers"}),
        ("steered by Hanna", {"name"}),
        ("Steered by hand", set()),
    ],
)
def test_what_a_text_holds(text: str, types: set[str]) -> None:
    assert types_in(text) == types


_HOURS = "[0-9]|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
#: The patterns as one would write them if nothing depended on how fast a text is searched.
_PLAIN = {
    "year": re.compile(r"\b(?:19|20)[0-9][0-9]\b"),
    "phone": re.compile(r"[0-9](?:[ ()/-]{0,2}[0-9]){5,}"),
    "name": re.compile(r"(?<=[a-z0-9,;] )[A-Z][a-z]+"),
    "time": re.compile(
        r"\b(?:19|20)[0-9][0-9]\b|\b[0-9]?[0-9]:[0-9][0-9]\b|[0-9](?:st|nd|rd|th|am|pm)\b|\bo'clock\b|\bpast\b"
        r"|\bMay [0-9]{1,2}\b|[0-9] May\b"
        rf"|\b(?:at|by|before|after|until|till|from|around) (?:about |around )?(?:{_HOURS})"
    ),
}
_PIECES = st.sampled_from(
    [
        *"at by before after until till from around about five seventh ten twelve 1 2 19 20 99 3 : 30 st nd".split(),
        *"th am pm o'clock o' clock past A Anna b a _ - , ; $ € é eur ( ) / ’ Mon May".split(),
        *(" ", " ", " ", "  ", "\n", "m "),
    ]
)


@settings(max_examples=500)
@given(st.lists(_PIECES, max_size=14).map("".join))
def test_patterns_made_to_be_searched_fast_find_what_plain_ones_find(text: str) -> None:
    found = types_in(text)
    assert ("name" in found) == (_PLAIN["name"].search(text) is not None)
    if "number" in found:
        told = {word for word in _ANALYZER.words(text) if meaning_lists("english").answer_types.get(word, 0) & _TIME}
        expected = {name for name, pattern in _PLAIN.items() if pattern.search(text) is not None}
        assert found & _PLAIN.keys() == expected | ({"time"} if told else set())
