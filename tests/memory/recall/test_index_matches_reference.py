"""The index against the plain reference: any edits, any filters, dense and in two stages."""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from memory.recall.reference import Reference
from shelfd.memory.notes.filter import RECALLABLE, NoteFilter
from shelfd.memory.ports.image import Frozen
from shelfd.memory.recall import Analyzer, Document, Ranking, RecallIndex
from shelfd.memory.recall.compiled import CompiledLoops
from shelfd.memory.recall.engine import engine
from shelfd.memory.recall.meaning import ANSWER_TYPES
from shelfd.memory.recall.renumbering import Renumbering

DAY = 86_400_000_000
MAY_7_2023 = 19_484 * DAY
WORDS = [
    "tea",
    "cup",
    "cups",
    "went",
    "harbour",
    "yesterday",
    "ana",
    "bo",
    "what",
    "the",
    "2023",
    "käse",
    "日本語",
    "🙂",
    "get_cup",
    "teaCup",
]
QUERIES = [
    "tea on 7 May 2023",
    "when did Ana go",
    "what is the",
    "unseen words only",
    "bo ana tea",
    "Ana Lee cup",
    "日本",
    "本",
    "TeaCup 🙂",
]

texts = st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join)
queries = st.one_of(st.sampled_from(QUERIES), texts)
maybe = st.booleans()
kinds = st.sampled_from([0, 0, ANSWER_TYPES["time"], ANSWER_TYPES["number"] | ANSWER_TYPES["name"]])
documents = st.builds(
    Document,
    row=st.integers(1, 14),
    id=st.just(""),
    nugget=st.sampled_from(["n1", "n1", "n2"]),
    session=st.sampled_from([None, "s1", "s1", "s2"]),
    turn=st.sampled_from([None, 1, 2, 3, 4]),
    author=st.sampled_from([None, "Ana", "ana lee", "Bo", "🙂"]),
    when=st.sampled_from([MAY_7_2023, MAY_7_2023 + DAY, MAY_7_2023 + 9 * DAY, 30 * DAY]),
    text=st.tuples(texts, st.sampled_from(["", "?", "\ncup"])).map("".join),
    kind=st.just("note"),
    type=st.sampled_from(["fact", "task"]),
    subject=st.sampled_from(["", "x"]),
    scope=st.sampled_from(["shelf", "session"]),
    domain=st.sampled_from(["", "work"]),
    tags=st.sampled_from([(), ("a",), ("a", "b")]),
    hidden=st.sampled_from([False, False, True]),
    superseded=st.sampled_from([False, False, True]),
    expires_at=st.sampled_from([None, None, 5]),
    title=st.just(""),
    boost=st.just(0.0),
    valid_from=st.sampled_from([None, None, 3, 5]),
    valid_to=st.sampled_from([None, None, 5, 6]),
    standing=st.sampled_from([15, 15, 15, 25]),
    quarantined=st.sampled_from([False, False, False, True]),
).map(lambda doc: doc._replace(id=f"{doc.row * 37 % 100:02}"))
filters = st.builds(
    RECALLABLE._replace,
    nugget=st.sampled_from([None, None, "n1"]),
    domain=st.sampled_from([None, None, "work", "unknown"]),
    scope=st.sampled_from([None, None, "session", "shelf"]),
    type=st.sampled_from([None, None, "fact"]),
    subject=st.sampled_from([None, None, "x"]),
    author=st.sampled_from([None, None, "Ana"]),
    tags=st.sampled_from([(), (), ("a",), ("b", "a")]),
    session=st.sampled_from([None, "s1"]),
    include_hidden=maybe,
    include_superseded=maybe,
    include_expired=maybe,
    now=st.sampled_from([0, 5]),
    since=st.sampled_from([None, None, MAY_7_2023]),
    as_of=st.sampled_from([None, None, None, 4, 5]),
    below=st.sampled_from([None, None, None, 9]),
    but=st.sampled_from([frozenset(), frozenset(), frozenset({2, 3})]),
)


def assert_same(ranking: Ranking, reference: Reference, query: str, wanted: NoteFilter, wants: int = 0) -> None:
    """Same documents and scores; neighbours closer than 2e-5 may change places."""
    expected = reference.search(query, wanted, ranking.hits[0].id if ranking.hits else None, wants)
    scores = {hit.id: hit.score for hit in ranking.hits}
    assert scores == pytest.approx({found.id: found.score for found in expected}, abs=1e-5)
    totals = {found.id: found.total for found in expected}
    for hit, found in zip(ranking.hits, expected, strict=True):
        assert hit.id == found.id or abs(totals[hit.id] - found.total) < 2e-5
        assert not hit.signals or sum(hit.signals.values()) == pytest.approx(hit.score, abs=1e-6)


def _in_a_thread(scan: Callable[[], Ranking]) -> Ranking:
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(scan).result()


class IndexMatchesReference(RuleBasedStateMachine):
    has_signals = True
    options: dict[str, Any] = {}  # as the product has it: all that is written here is in the delta

    def __init__(self) -> None:
        super().__init__()
        self.analyzer = Analyzer()
        self.index = RecallIndex(self.analyzer, **self.options)
        self.model: dict[int, Document] = {}

    @rule(document=documents)
    def put(self, document: Document) -> None:
        self.index.put(document)
        self.model[document.row] = document

    @rule(batch=st.lists(documents, min_size=3, max_size=12))
    def extend(self, batch: list[Document]) -> None:
        self.index.extend(batch)
        self.model.update({document.row: document for document in batch})

    @precondition(lambda self: self.model)
    @rule(data=st.data(), hidden=maybe)
    def hide_or_restore(self, data: st.DataObject, hidden: bool) -> None:
        row = data.draw(st.sampled_from(sorted(self.model)))
        self.put(self.model[row]._replace(hidden=hidden))

    @rule(row=st.integers(1, 14))
    def remove(self, row: int) -> None:
        self.index.remove(row)
        self.model.pop(row, None)

    @rule()
    def compact(self) -> None:
        self.index.compact()

    @rule(steps=st.integers(1, 12))
    def merge_some(self, steps: int) -> None:
        for _ in range(steps):
            self.index.merge_some()

    @rule()
    def restart(self) -> None:
        facts, parts = self.index.freeze(())()
        copies = {name: {key: array.copy() for key, array in (arrays or {}).items()} for name, arrays in parts.items()}
        self.index = RecallIndex(self.analyzer, **self.options)
        self.index.restore(Frozen(json.loads(json.dumps(facts)), copies))

    @rule(row=st.integers(1, 14))
    def erase(self, row: int) -> None:
        self.index.erase([row])
        self.model.pop(row, None)

    @rule(query=queries, chosen=filters, wants=kinds)
    def search(self, query: str, chosen: NoteFilter, wants: int = 0) -> None:
        reference = Reference(self.analyzer, list(self.model.values()))
        parsed = self.analyzer.parse_query(query)._replace(wants=wants)
        for wanted in (RECALLABLE, chosen):
            ranking = self.index.rank(parsed, wanted, 50, explain=self.has_signals)
            assert_same(ranking, reference, query, wanted, wants)
            first, *others = (self.index.rank(parsed, wanted, 50) for _ in range(3))  # of the first nothing is kept
            assert_same(first, reference, query, wanted, wants)
            assert others == [first, first]
            scan = self.index.scan(parsed, wanted, 50, explain=self.has_signals)
            assert scan is None or _in_a_thread(scan) == ranking

    @rule(planned=st.lists(documents, min_size=1, max_size=4), query=queries, chosen=filters)
    def ask_what_if(self, planned: list[Document], query: str, chosen: NoteFilter) -> None:
        overlay = self.index.overlay(planned)
        reference = Reference(self.analyzer, list((self.model | {one.row: one for one in planned}).values()))
        for wanted in (RECALLABLE, chosen):
            assert_same(overlay.search(query, wanted, 50, explain=self.has_signals), reference, query, wanted)
        self.search(query, chosen)  # as it would be found without that question

    @invariant()
    def holds_the_same_rows(self) -> None:
        assert len(self.index) == len(self.model)
        assert all((row in self.index) == (row in self.model) for row in range(16))


class SegmentsMatchReference(IndexMatchesReference):
    options = {"delta": 3}

    @precondition(lambda self: self.index._contents.columns.size)
    @rule()
    def renumber(self) -> None:
        """Begin to, as for many dead documents; the steps are taken by the other rule."""
        writer = self.index._writer
        writer._renumbering = writer._renumbering or Renumbering(self.index._contents)


class TwoStageMatchesReference(IndexMatchesReference):
    options = {"two_stage_from": 0, "candidates": 10_000, "delta": 4}


class WholeSegmentsMatchReference(SegmentsMatchReference):
    """As most shelves of some thousand notes."""


class LoopsMatchReference(IndexMatchesReference):
    options = {"two_stage_from": 2, "candidates": 10_000, "delta": 4}
    has_signals = False


@pytest.fixture(autouse=True)
def sizes(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the place of a note looked for among all of its session, and the shelf large for its words, and at all."""
    monkeypatch.setattr("shelfd.memory.recall.search._WIDE", 1)
    monkeypatch.setattr("shelfd.memory.recall.links._PASSED", 1)
    if not {"TestDense", "TestWholeSegments"} & set(request.node.nodeid.split("::")):  # a large shelf
        monkeypatch.setattr("shelfd.memory.recall.search._WHOLE", 0)
    if "TestSegments" in request.node.nodeid:
        monkeypatch.setattr("shelfd.memory.recall.search._SPARSE", 0)
    if "TestLoops" in request.node.nodeid:  # as they are compiled, but not compiled
        monkeypatch.setattr(engine, "loops", CompiledLoops(lambda function: function))
    if "TestTwoStage" in request.node.nodeid:  # documents are looked up in postings one by one, too
        monkeypatch.setattr("shelfd.memory.recall.search._MANY", 0.3)
    monkeypatch.setattr("shelfd.memory.recall.inverted.STEP", 5)


quick = settings(
    derandomize=True, max_examples=40, stateful_step_count=25, deadline=None,
    database=None, suppress_health_check=list(HealthCheck),
)  # fmt: skip
TestDense = IndexMatchesReference.TestCase
TestDense.settings = quick
TestSegments = SegmentsMatchReference.TestCase
TestSegments.settings = quick
TestWholeSegments = WholeSegmentsMatchReference.TestCase
TestWholeSegments.settings = quick
TestTwoStage = TwoStageMatchesReference.TestCase
TestTwoStage.settings = quick
TestLoops = LoopsMatchReference.TestCase
TestLoops.settings = settings(quick, max_examples=20)


def test_renumbering_keeps_every_result(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shelfd.memory.recall.document_writer._SMALLEST_RENUMBERING", 4)
    machine = IndexMatchesReference()
    base = Document(
        1, "1", "n1", "s1", 1, "Ana", MAY_7_2023, "tea cup", "note", "fact", "x", "shelf", "", ("a",),
        hidden=False, superseded=False, expires_at=None,
    )  # fmt: skip
    for step in range(60):
        row = step % 11 + 1
        text = f"{WORDS[step % 13]} {WORDS[step % 7]} once{step}"
        machine.put(base._replace(row=row, id=f"{row}", turn=step % 4, text=text, hidden=step % 5 == 0))
        if step % 6 == 0:
            machine.remove(step % 10 + 1)
        machine.merge_some(20 * (step % 3))
        machine.search(QUERIES[step % 7], RECALLABLE._replace(tags=("a",), include_hidden=True))
    assert machine.index._contents.columns.edition > 1
