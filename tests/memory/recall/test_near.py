"""Which notes are near a text: those with its rarest words."""

import pytest

from memory.recall.notes import index_of, note
from shelfd.memory.notes.filter import RECALLABLE
from shelfd.memory.notes.words import fold, split
from shelfd.memory.recall import RecallIndex


def near(
    index: RecallIndex, text: str, *, terms: int = 8, missing: int | None = None, limit: int = 10, **filters: object
) -> list[int]:
    words = split(fold(text))
    found = index.near(words, RECALLABLE._replace(**filters), terms=terms, missing=missing, limit=limit)  # type: ignore[arg-type]
    return [int(note_id[1:]) for note_id in found]


def test_the_rarer_the_shared_word_the_nearer() -> None:
    index = index_of(note(1, "tea cup"), note(2, "tea harbour"), note(3, "tea crane"), note(4, "crane harbour tea"))

    assert near(index, "tea harbour crane") == [4, 2, 3, 1]


def test_word_forms_are_the_same_word() -> None:
    index = index_of(note(1, "the cups went"), note(2, "a cup goes"), note(3, "milk"))

    assert near(index, "cup") == [1, 2]


def test_a_word_of_one_document_or_none_finds_nothing() -> None:
    index = index_of(note(1, "tea zeppelin"), note(2, "milk"))

    assert near(index, "zeppelin unheard") == []
    assert near(index, "") == []
    assert near(index_of(), "tea") == []


@pytest.mark.parametrize(
    ("missing", "expected"), [(0, [1, 2]), (1, [1, 2, 3]), (2, [1, 2, 3, 4]), (None, [1, 2, 3, 4])]
)
def test_a_document_may_lack_so_many_words(missing: int | None, expected: list[int]) -> None:
    index = index_of(note(1, "red tea cup"), note(2, "red tea cup"), note(3, "red tea"), note(4, "red"), note(5, "x"))

    assert near(index, "red tea cup", missing=missing) == expected


def test_words_that_nobody_else_has_are_lacking() -> None:
    index = index_of(note(1, "red tea zeppelin"), note(2, "red tea"))

    assert near(index, "red tea zeppelin", missing=0) == []
    assert near(index, "red tea zeppelin", missing=1) == [1, 2]


def test_filters_and_limit() -> None:
    index = index_of(
        note(1, "tea", nugget="a"), note(2, "tea", nugget="a", hidden=True), note(3, "tea", nugget="b"),
        note(4, "tea", nugget="a", superseded=True), note(5, "tea", nugget="a", expires_at=5),
        note(6, "tea", nugget="a"),
    )  # fmt: skip

    assert near(index, "tea", nugget="a", now=5) == [1, 6]
    assert near(index, "tea", nugget="a", now=5, limit=1) == [1]
    assert near(index, "tea", nugget="none") == []


@pytest.mark.parametrize("compact", [False, True])
def test_replaced_documents_are_gone(compact: bool) -> None:
    index = index_of(note(1, "tea"), note(2, "tea"), note(3, "tea"))
    index.put(note(2, "milk"))
    if compact:
        index.compact()
    index.put(note(4, "tea milk"))

    assert near(index, "tea") == [1, 3, 4]
    assert near(index, "milk") == [2, 4]


def test_of_a_word_in_thousands_of_documents_some_are_seen() -> None:
    index = index_of()
    index.extend(note(n, "tea") for n in range(1, 15_000))
    found = near(index, "tea", limit=15_000)

    assert 0 < len(found) <= 6000
    assert max(found) == 14_999
