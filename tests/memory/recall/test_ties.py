"""Many documents that score the same: who comes first, and how many of them are scored exactly."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from memory.recall.notes import DAY, MAY_7_2023, index_of, note
from memory.recall.reference import Reference
from shelfd.memory.notes.filter import RECALLABLE
from shelfd.memory.recall import Analyzer, Document, RecallIndex
from shelfd.memory.recall.candidates import members_of_best_sessions
from shelfd.memory.recall.columns import Columns
from shelfd.memory.recall.fields import base_scores
from shelfd.memory.recall.ranking import Totals, best_first, largest

MANY = 6_000


def alone(row: int) -> Document:
    """Equal notes; a few speak of a time, are a question, are Ana's, or of another day."""
    text = {1: "tea today indeed", 2: "green tea indeed?"}.get(row % 1000, "green tea indeed")
    author = "Ana" if row % 1500 == 7 else "Bob"
    return note(row, text, author=author, when=MAY_7_2023 + DAY * (row % 900 == 11))


def in_one_session(row: int) -> Document:
    return alone(row)._replace(session="always", turn=row)


def in_sessions(row: int) -> Document:
    return alone(row)._replace(session=f"s{row // 4}", turn=row)


@pytest.mark.parametrize("made", [alone, in_sessions, in_one_session])
@pytest.mark.parametrize("query", ["tea", "when was tea", "indeed Ana", "tea on 8 May 2023", "tea unheard"])
def test_two_stages_cut_equal_documents_as_the_whole_scan_does(made: Callable[[int], Document], query: str) -> None:
    documents = [made(row) for row in range(MANY)]
    whole, staged = RecallIndex(Analyzer(), two_stage_from=100 * MANY), RecallIndex(Analyzer(), two_stage_from=0)
    whole.extend(documents)
    staged.extend(documents)

    assert staged.search(query, RECALLABLE, 20, explain=True) == whole.search(query, RECALLABLE, 20, explain=True)


@pytest.mark.parametrize("options", [{}, {"two_stage_from": 0, "candidates": 20}])
def test_of_equal_documents_the_newest_are_found_as_the_formula_says(options: dict[str, int]) -> None:
    documents = [alone(row) for row in range(400)]
    expected = Reference(Analyzer(), documents).search("indeed", RECALLABLE)
    index = index_of(*documents, **options)

    found = index.search("indeed", RECALLABLE, 10).hits
    assert [hit.id for hit in found] == [hit.id for hit in expected[:10]]


@pytest.mark.parametrize("made", [alone, in_sessions, in_one_session])
def test_no_more_are_scored_exactly_however_many_are_equal(
    made: Callable[[int], Document], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shelfd.memory.recall.search.MEMBERS", 1000)
    monkeypatch.setattr("shelfd.memory.recall.candidates.MEMBERS", 1000)
    scored: list[int] = []

    def counted(view: Any, *rest: Any, **options: Any) -> Any:
        scored.append(view.size)
        return base_scores(view, *rest, **options)

    monkeypatch.setattr("shelfd.memory.recall.search.base_scores", counted)
    index = index_of(two_stage_from=0, candidates=500)
    index.extend(made(row) for row in range(MANY))

    assert len(index.search("tea", RECALLABLE, 10).hits) == 10
    assert 250 <= scored[0] <= 1000 + 3 * 250


@pytest.mark.parametrize(("whole", "wanted"), [(0, [100, 100]), (1_000, [])])
def test_only_what_reaches_many_documents_of_a_large_shelf_is_scored_in_two_stages(
    whole: int, wanted: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    staged: list[int] = []
    monkeypatch.setattr("shelfd.memory.recall.search._WHOLE", whole)

    def watched(*arguments: Any) -> Any:
        staged.append(len(arguments[1].reached()))
        return members_of_best_sessions(*arguments)

    monkeypatch.setattr("shelfd.memory.recall.search.members_of_best_sessions", watched)
    index = index_of(
        *(note(row, "tea cup" if row < 30 else "tea") for row in range(100)), two_stage_from=100, candidates=20
    )

    for query in ("cup", "tea", "tea cup"):
        assert index.search(query, RECALLABLE, 10).hits
    assert staged == wanted


@pytest.mark.parametrize("made", [in_sessions, in_one_session])
def test_a_common_term_is_looked_up_where_other_terms_are_found(
    made: Callable[[int], Document], monkeypatch: pytest.MonkeyPatch
) -> None:
    documents = [made(row)._replace(text=f"green tea{' cup' * (row % 20 == 3)}") for row in range(600)]
    monkeypatch.setattr("shelfd.memory.recall.search._FEW", 40)
    monkeypatch.setattr("shelfd.memory.recall.search._MANY", 1)
    monkeypatch.setattr("shelfd.memory.recall.search._ENOUGH", 1)
    whole, staged = RecallIndex(Analyzer()), RecallIndex(Analyzer(), two_stage_from=0)
    whole.extend(documents)
    staged.extend(documents)
    for query in ("tea cup", "green cup tea"):
        expected = whole.search(query, RECALLABLE, 12, explain=True)
        assert [hit.row % 20 for hit in expected.hits] == [3] * 12
        assert staged.search(query, RECALLABLE, 12, explain=True) == expected
    # What they do not find is found by the common ones, if there is too little.
    assert len(staged.search("tea cup", RECALLABLE, 200).hits) == 200


def test_a_very_long_query_reads_so_many_postings_and_those_of_its_rarest_terms(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("shelfd.memory.recall.search._POSTINGS", 50)
    index = index_of(*(note(row, f"tea cup number{row}") for row in range(40)))

    assert index.search("tea cup number7", RECALLABLE, 5).hits[0].id == "n0007"
    assert len(index.search("tea", RECALLABLE, 40).hits) == 40
    assert len(index.search("tea cup", RECALLABLE, 40).hits) == 40


def test_the_largest_are_cut_by_one_key_after_another() -> None:
    asked: list[Sequence[int]] = []

    def second(positions: Any) -> Any:
        asked.append(positions.tolist())
        return -positions

    values, at = np.array([5, 7, 7, 9, 7, 1]), np.arange(6)
    assert sorted(largest(3, at, values.__getitem__, second).tolist()) == [1, 2, 3]
    assert asked == [[1, 2, 4]]
    assert largest(9, at, second).tolist() == at.tolist()


@pytest.mark.parametrize("digits", [1, 2, 6, 9])
@pytest.mark.parametrize("count", [1, 60, 700, 5_000])
def test_the_best_are_found_among_any_number(count: int, digits: int) -> None:
    dice = np.random.default_rng(count)
    columns = Columns()
    rows = dice.permutation(count)
    columns.extend(count, {"row": rows.tolist(), "standing": dice.integers(0, 3, count).tolist()})
    values = dice.random(count).round(digits)
    standing = columns.standing[:count].astype(np.int64)
    expected = np.lexsort((-rows, -standing, -values.round(6)))
    for k in (1, 10, 26, 300):
        found = best_first(Totals(1.0, {}, values), np.arange(count), columns, k)
        assert found.tolist() == expected[:k].tolist()
