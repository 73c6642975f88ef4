"""What is found in a shorter way for most queries is the same as in the longer one."""

import re

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memory.recall.notes import index_of, note
from shelfd.memory.recall.columns import Columns
from shelfd.memory.recall.intents import is_exploratory
from shelfd.memory.recall.inverted import invert
from shelfd.memory.recall.question import _capitals
from shelfd.memory.recall.ranking import Totals, best_first

#: A word that does not begin the query and begins with a capital: looked for at every place.
LATER_CAPITAL = re.compile(r"(?<!^)\b[A-Z][A-Za-z]*")


@given(st.text("AbC dE_'3-.\n", max_size=14))
@example("iPhone A1 _B C_d 'Eve' 3F -Gg")
def test_capitals_are_those_at_the_beginning_of_later_words(query: str) -> None:
    assert _capitals(query) == {word.lower() for word in LATER_CAPITAL.findall(query)}


@pytest.mark.parametrize(
    "query",
    [
        "Tell me of tea", "an OVERVIEW, please", "everything", "anything?", "a summary", "summarize it", "summarise",
        "what do we know", "what do YOU know of it", "was wissen wir", "alles über Tee", "ein Überblick",
    ],
)  # fmt: skip
def test_who_asks_for_all_that_is_known_is_understood(query: str) -> None:
    assert is_exploratory(query)


@pytest.mark.parametrize("query", ["who told me", "a storyteller me", "I know", "tell us", "what is anything-else1"])
def test_some_of_its_words_alone_do_not_ask_for_all(query: str) -> None:
    assert is_exploratory(query) is ("anything" in query)


@given(st.lists(st.integers(0, 12), min_size=1, max_size=300), st.integers(1, 12))
def test_the_best_come_first_whether_some_are_equal_or_none(values: list[int], k: int) -> None:
    columns = Columns()
    columns.extend(
        len(values), {"row": list(range(len(values))), "standing": [value % 3 for value in range(len(values))]}
    )
    totals = Totals(1.0, {}, np.array([value / 7 for value in values]))
    at = np.arange(len(values))

    def key(place: int) -> tuple[int, int, int]:
        return round(values[place] / 7 * 1_000_000), place % 3, place

    expected = sorted(at.tolist(), key=key, reverse=True)[:k]
    assert best_first(totals, at, columns, k).tolist() == expected


def test_postings_of_unknown_keys_are_none_wherever_they_would_stand() -> None:
    keys, documents = np.array([3, 5, 5, 9], np.int32), np.array([0, 1, 2, 3], np.int32)
    inverted = invert(keys, documents, np.ones(4, np.uint8))
    assert inverted.spans([9, 2, 5, 4, 10, 3]) == [(3, 4), (0, 0), (1, 3), (0, 0), (0, 0), (0, 1)]
    assert inverted.spans([]) == []
    empty = invert(keys[:0], documents[:0], np.zeros(0, np.uint8))
    assert empty.spans([1, 2]) == [(0, 0), (0, 0)]


def test_words_of_several_documents_are_those_of_each() -> None:
    index = index_of(*(note(row, f"tea {'cup' * (row % 2)} day{row}", session="s", turn=row) for row in range(6)))
    asked = index.numbers(["tea", "cup"])
    assert index.words_of_all([3, 0, 4], asked) == [index.words_of(row, asked) for row in (3, 0, 4)]
    assert [len(words.own) for words in index.words_of_all(range(4), asked)] == [1, 2, 1, 2]
    assert index.words_of(0, asked).previous == frozenset()
    assert index.words_of(2, asked).previous == asked
