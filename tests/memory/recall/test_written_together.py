"""Documents that are put together stand where they stand if each is put alone."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory.recall.notes import note
from shelfd.memory.recall import Analyzer, Document, RecallIndex

_ANALYZER = Analyzer()
_WORDS = st.sampled_from(["tea", "pier crane", "the lock at seven", "tea and tea", "crane"])
_WHERE = st.tuples(
    st.sampled_from(["memory", "work"]),
    st.sampled_from([None, "s1", "s2"]),
    st.sampled_from([None, 1, 2, 3]),
    st.sampled_from([None, "Ada", "Ada Byron", "Bo"]),
)
_ROUNDS = st.lists(
    st.lists(st.tuples(_WHERE, _WORDS, st.integers(0, 9).map(lambda n: n == 0)), min_size=1, max_size=14),
    min_size=1,
    max_size=4,
)


def documents(rounds: Any, gaps: list[int]) -> list[list[Document]]:
    """Batches with rising rows, some of which are left out; some end with rows that were there before, also in them."""
    found: list[list[Document]] = []
    row = 0
    for number, some in enumerate(rounds):
        row += gaps[number % len(gaps)]
        batch = []
        for (nugget, session, turn, author), text, hidden in some:
            row += 1
            batch.append(note(row, text, nugget=nugget, session=session, turn=turn, author=author, hidden=hidden))
        if number and number % 2 == 0:
            batch.append(found[0][0]._replace(text="crane again"))
        if number % 3 == 0:
            batch.append(batch[0]._replace(text="tea once more"))
        found.append(batch)
    return found


def state(index: RecallIndex) -> dict[str, Any]:
    """What documents are to each other, by rows."""
    contents = index._contents
    columns = contents.columns
    size = columns.size
    rows = [*columns.row[:size].tolist(), None]
    alive = [index._living.get(row) == at for at, row in enumerate(rows[:-1]) if row is not None]
    beside = {
        row: (rows[columns.previous[at]], rows[columns.following[at]], columns.span[at], columns.length[at])
        for at, row in enumerate(rows[:-1])
        if alive[at]
    }
    groups: dict[int, list[int]] = {}
    for at, row in enumerate(rows[:-1]):
        if alive[at]:
            groups.setdefault(int(columns.group[at]), []).append(row)
    statistics = contents.statistics
    return {
        "beside": beside,
        "groups": sorted(groups.values()),
        "counts": (statistics.documents, statistics.own_tokens, statistics.previous_tokens),
        "terms": {
            term: (statistics.own[at], statistics.previous[at])
            for at, term in enumerate(contents.vocabulary.stored()[0])
        },
        "authors": [contents.authors.named(words) for words in (["ada"], ["ada", "byron"], ["bo"], ["crane"])],
        "length": len(index),
    }


@pytest.fixture(autouse=True)
def short_look(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the place of a note looked for among all of its session."""
    monkeypatch.setattr("shelfd.memory.recall.links._PASSED", 1)


@given(_ROUNDS, st.lists(st.integers(0, 2), min_size=1, max_size=3))
@settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_together_or_alone(rounds: Any, gaps: list[int]) -> None:
    together, alone = RecallIndex(_ANALYZER), RecallIndex(_ANALYZER)
    for batch in documents(rounds, gaps):
        together.extend(batch)
        for document in batch:
            alone.put(document)
        assert state(together) == state(alone)
