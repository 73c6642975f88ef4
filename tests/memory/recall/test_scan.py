"""Ranking in another thread: the same results, and a change waits until it has ended."""

from threading import Event, Thread

import pytest

from memory.recall.notes import note
from shelfd.memory.notes.filter import RECALLABLE
from shelfd.memory.recall import Analyzer, RecallIndex
from shelfd.memory.recall.compiled import CompiledLoops
from shelfd.memory.recall.engine import engine
from shelfd.memory.recall.search import Search


@pytest.fixture
def index(monkeypatch: pytest.MonkeyPatch) -> RecallIndex:
    """An index of 300 documents that counts as large."""
    monkeypatch.setattr("shelfd.memory.recall.search._WIDE", 300)
    monkeypatch.setattr("shelfd.memory.recall.search._WHOLE", 0)
    index = RecallIndex(Analyzer(), two_stage_from=10, delta=100)
    index.extend(note(row, f"the harbour has berth {row % 40} and crane {row % 7}") for row in range(1, 301))
    return index


def test_a_small_index_is_ranked_where_it_is_asked(index: RecallIndex) -> None:
    small = RecallIndex(Analyzer(), two_stage_from=10)
    small.extend(note(row, "the harbour") for row in range(1, 300))

    assert not small.is_large
    assert small.scan(small.analyzer.parse_query("harbour"), RECALLABLE, 10) is None
    assert index.is_large
    assert index.scan(index.analyzer.parse_query("berth39x"), RECALLABLE, 10) is None  # nothing to look through


def test_a_small_nugget_of_a_large_index_is_ranked_where_it_is_asked(index: RecallIndex) -> None:
    index.extend(note(row, "the harbour has a berth", nugget="harbour") for row in range(301, 401))
    parsed, inside = index.analyzer.parse_query("berth"), RECALLABLE._replace(nugget="harbour")

    assert index.scan(parsed, RECALLABLE, 5) is not None
    assert index.scan(parsed, inside, 5) is None
    index.put(note(401, "the harbour has a berth"))
    index.extend(note(row, "the harbour has a berth", nugget="harbour") for row in range(402, 602))
    assert index.scan(parsed, inside, 5) is not None  # which is among 301 documents now


def test_a_change_waits_for_a_scan_and_a_read_does_not(index: RecallIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, may_go_on, done = Event(), Event(), list[str]()
    run = Search.run

    def held(*args: object, **kwargs: object) -> object:
        begun.set()
        assert may_go_on.wait(30)
        found = run(*args, **kwargs)  # type: ignore[arg-type]
        done.append("ranked")
        return found

    parsed = index.analyzer.parse_query("berth 17")
    expected = index.rank(parsed, RECALLABLE, 5)
    scan = index.scan(parsed, RECALLABLE, 5)
    assert scan is not None
    with monkeypatch.context() as patched:
        patched.setattr(Search, "run", held)
        scanning = Thread(target=lambda: done.append(repr(scan())))
        scanning.start()
        assert begun.wait(30)
    assert index.rank(parsed, RECALLABLE, 5) == expected  # its own thread reads meanwhile

    def put() -> None:
        index.put(note(301, "berth 17"))
        done.append("put")

    changing = Thread(target=put)
    changing.start()
    may_go_on.set()
    changing.join(30)
    scanning.join(30)
    assert done.index("ranked") < done.index("put")
    assert repr(expected) in done
    assert index.rank(parsed, RECALLABLE, 1).hits[0].row == 301


def test_two_threads_have_room_of_their_own_in_compiled_loops(
    index: RecallIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "loops", CompiledLoops(lambda function: function))
    queries = [index.analyzer.parse_query(f"berth {berth} crane {berth % 7}") for berth in range(20)]
    expected = [index.rank(parsed, RECALLABLE, 8) for parsed in queries]
    scans = [index.scan(parsed, RECALLABLE, 8) for parsed in queries]
    assert None not in scans
    found: list[object] = []
    beside = Thread(target=lambda: found.extend(scan() for scan in scans if scan is not None))
    beside.start()
    here = [index.rank(parsed, RECALLABLE, 8) for parsed in queries]
    beside.join(60)

    assert here == found == expected
