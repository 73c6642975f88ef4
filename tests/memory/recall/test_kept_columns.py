"""What is kept of rules and filters between queries: it changes no result, has a bound, and is kept only if of use."""

from itertools import product
from typing import Any

import pytest

from memory.recall.notes import MAY_7_2023, index_of, note
from shelfd.memory.notes.filter import RECALLABLE, NoteFilter
from shelfd.memory.recall import RecallIndex
from shelfd.memory.recall.document import Ranking
from shelfd.memory.recall.kept_columns import KeptColumns
from shelfd.memory.recall.meaning import ANSWER_TYPES

HOUR = 3_600_000_000
QUERIES = [
    f"{begin} {rest}"
    for begin, rest in product(
        ["", "when did Ada", "how many cups did Bert", "who", "how long did Ada", "what on 7 May 2023"],
        ["drink tea", "row the boat", "tea in the morning", "letter harbour lamp"],
    )
]
FILTERS = [
    RECALLABLE._replace(now=MAY_7_2023),
    RECALLABLE._replace(now=MAY_7_2023 + 2 * HOUR),
    RECALLABLE._replace(now=MAY_7_2023, type="event"),
    RECALLABLE._replace(now=MAY_7_2023, tags=("new",)),
    RECALLABLE._replace(now=MAY_7_2023, author="Ada"),
    RECALLABLE._replace(now=MAY_7_2023, include_superseded=False),
    RECALLABLE._replace(now=MAY_7_2023, session="s2"),
    RECALLABLE._replace(now=MAY_7_2023, since=MAY_7_2023 - HOUR),
    RECALLABLE._replace(now=MAY_7_2023, below=40),
    RECALLABLE._replace(now=MAY_7_2023, but=frozenset({3, 4, 5})),
]

WANTS = [0, ANSWER_TYPES["time"], ANSWER_TYPES["number"] | ANSWER_TYPES["name"]]


def some_notes(*, expiring: bool = False) -> RecallIndex:
    words = "tea cup harbour morning lamp boat letter".split()
    signs = ["", " at 9 o'clock", "?", " 3 cups", " with Carla"]
    return index_of(
        *(
            note(
                row, f"{words[row % 7]} {words[row * row % 5]} day{row}{signs[row % 5]}",
                session=f"s{row // 9}", turn=row, author=("Ada", "Bert")[row % 2], type=("fact", "event")[row % 3 == 0],
                tags=("new",) if row % 4 == 0 else (), superseded=row % 11 == 0,
                when=MAY_7_2023 - row * HOUR // 30,
                expires_at=MAY_7_2023 + HOUR if expiring and row % 6 == 0 else None,
            )
            for row in range(90)
        )
    )  # fmt: skip


def changed(index: RecallIndex, at: int) -> RecallIndex:
    """The same notes, so that nothing that was kept may be used."""
    index.put(note(200 + at, "elsewhere"))
    index.remove(200 + at)
    return index


@pytest.mark.parametrize("expiring", [False, True])
def test_whatever_is_kept_scores_are_the_same_to_the_last_bit(*, expiring: bool) -> None:
    asked, fresh = some_notes(expiring=expiring), some_notes(expiring=expiring)
    found = 0
    for at, (filters, query) in enumerate(product(FILTERS, QUERIES)):
        parsed = asked.analyzer.parse_query(query).wanting(WANTS[at % len(WANTS)])
        hits = asked.rank(parsed, filters, 50)
        assert hits == changed(fresh, at).rank(parsed, filters, 50)
        found += len(hits.hits)
    assert found > 1_000


def test_filters_that_differ_in_the_time_alone_let_other_notes_through_once_some_expire() -> None:
    index = some_notes(expiring=True)
    early, late = ([hit.row for hit in searched(index, now).hits] for now in (MAY_7_2023, MAY_7_2023 + 2 * HOUR))
    assert {row for row in early if row % 6 == 0}
    assert not {row for row in late if row % 6 == 0}

    index = some_notes()
    searched(index, MAY_7_2023)
    index.put(note(300, "tea", expires_at=MAY_7_2023 + HOUR))
    assert 300 in {hit.row for hit in searched(index, MAY_7_2023).hits}
    assert 300 not in {hit.row for hit in searched(index, MAY_7_2023 + 2 * HOUR).hits}


def searched(index: RecallIndex, now: int) -> Ranking:
    index.search("tea", RECALLABLE, 1)  # from the second query on something is kept
    return index.search("tea", RECALLABLE._replace(now=now), 100)


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Columns that were asked for, by name."""
    asked: list[str] = []
    rule, admitted = KeptColumns.rule, KeptColumns.admitted

    def counted_rule(self: KeptColumns, name: str, value: int = 0) -> Any:
        asked.append(name)
        return rule(self, name, value)

    def counted_admitted(self: KeptColumns, filters: NoteFilter) -> Any:
        asked.append("admitted")
        return admitted(self, filters)

    monkeypatch.setattr(KeptColumns, "rule", counted_rule)
    monkeypatch.setattr(KeptColumns, "admitted", counted_admitted)
    return asked


def test_where_something_is_written_between_any_two_queries_nothing_is_kept(made: list[str]) -> None:
    index = some_notes()
    for at in range(5):
        assert changed(index, at).search("when did Ada drink tea", RECALLABLE, 10).hits
    assert made == []
    index.search("when did Ada drink tea", RECALLABLE, 10)
    assert sorted(made) == ["admitted", "author", "question", "telling", "when"]


def test_what_is_kept_has_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = [some_notes().search(query, FILTERS[0], 10) for query in QUERIES]
    monkeypatch.setattr("shelfd.memory.recall.kept_columns._COLUMNS", 2)
    index = some_notes()
    index.search("tea", FILTERS[0], 10)
    kept = index._search._kept
    for query, found in zip(QUERIES, expected, strict=True):
        assert index.search(query, FILTERS[0], 10) == found
        assert len(kept._rules) <= 2
