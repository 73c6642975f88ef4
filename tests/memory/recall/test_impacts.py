"""What is kept of terms between queries: it changes no result, has a bound, and is kept only if it is of use."""

from itertools import permutations
from typing import Any

import pytest

from memory.recall.notes import index_of, note
from shelfd.memory.notes.filter import RECALLABLE
from shelfd.memory.recall import RecallIndex
from shelfd.memory.recall.fields import added_by

WORDS = "tea cup harbour morning lamp boat letter".split()
QUERIES = [" ".join(some) for some in permutations(WORDS, 3)]


@pytest.fixture
def worked_out(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many terms were worked out to be kept, one number for each time."""
    counts: list[int] = []

    def counted(*arguments: Any) -> Any:
        found = added_by(*arguments)
        counts.append(len(found))
        return found

    monkeypatch.setattr("shelfd.memory.recall.impacts.added_by", counted)
    return counts


def some_notes() -> RecallIndex:
    texts = (f"{WORDS[row % 7]} {WORDS[row * row % 5]} day{row}{'?' * (row % 4 == 1)}" for row in range(90))
    return index_of(*(note(row, text, session=f"s{row // 9}", turn=row) for row, text in enumerate(texts)))


def test_whatever_is_kept_scores_are_the_same_to_the_last_bit() -> None:
    asked, fresh = some_notes(), some_notes()
    for at, query in enumerate(QUERIES):
        found = asked.search(query, RECALLABLE, 50)
        fresh.put(note(200 + at, "elsewhere"))
        fresh.remove(200 + at)  # which makes what is known out of date
        assert found == fresh.search(query, RECALLABLE, 50)
        assert found.hits


def test_a_term_is_worked_out_once_until_something_changes(worked_out: list[int]) -> None:
    index = some_notes()
    for query in ("tea cup", "tea cup", "cup boat", "boat tea"):
        index.search(query, RECALLABLE, 10)
    assert worked_out == [2, 1]

    index.put(note(1, "a boat of tea"))
    assert index.search("boat tea", RECALLABLE, 1).hits[0].row == 1
    index.remove(1)
    assert index.search("boat tea", RECALLABLE, 1).hits[0].row != 1
    assert worked_out == [2, 1]
    index.search("boat tea", RECALLABLE, 1)
    assert worked_out == [2, 1, 2]


def test_where_something_is_written_between_any_two_queries_nothing_is_kept(worked_out: list[int]) -> None:
    index = some_notes()
    for row in range(100, 110):
        index.put(note(row, "tea"))
        assert index.search("tea cup", RECALLABLE, 10).hits
    assert worked_out == []


def test_what_is_kept_has_a_bound(monkeypatch: pytest.MonkeyPatch, worked_out: list[int]) -> None:
    expected = [some_notes().search(query, RECALLABLE, 10) for query in QUERIES[:10]]
    monkeypatch.setattr("shelfd.memory.recall.impacts._BYTES", 4_000)  # two terms
    index = some_notes()
    index.search("tea", RECALLABLE, 10)

    assert [index.search(query, RECALLABLE, 10) for query in QUERIES[:10]] == expected
    assert sum(worked_out) > len(WORDS)
