"""Which rows hold which word: what is read is what a dictionary of sets would hold."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shelfd.memory.facts.mentions import Mentions


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 9)), max_size=80))
def test_mentions_are_what_sets_would_be(steps: list[tuple[int, int]]) -> None:
    mentions, model = Mentions(), dict[int, set[int]]()
    for word, row in steps:
        rows = model.setdefault(word, set())
        if row in rows:
            mentions.discard(word, row)
            rows.remove(row)
        else:
            mentions.add(word, row)
            rows.add(row)
    for word in range(7):
        found = mentions.of(word).tolist()
        assert sorted(found) == sorted(model.get(word, set()))


def test_what_was_read_stays_as_it_was_while_rows_come_and_go() -> None:
    mentions = Mentions()
    for row in range(100):
        mentions.add(0, row)
    read = mentions.of(0)
    for row in range(100):
        mentions.discard(0, row)
        mentions.add(0, row + 1000)
    assert read.tolist() == list(range(100))


def test_a_row_that_does_not_hold_the_word_cannot_let_go_of_it() -> None:
    mentions = Mentions()
    mentions.add(3, 1)
    for word, row in ((3, 2), (2, 1)):
        with pytest.raises(ValueError, match="does not hold"):
            mentions.discard(word, row)
