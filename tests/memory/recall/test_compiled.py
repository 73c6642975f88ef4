"""The compiled loops give what numpy gives, and are loaded when they are of use."""

import os
import random
import select
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Event
from threading import Thread as TrueThread
from typing import Any

import numpy as np
import pytest

from memory.recall.notes import index_of, note
from shelfd.memory.notes.filter import RECALLABLE
from shelfd.memory.recall import RecallIndex, compiled
from shelfd.memory.recall.engine import Engine, engine

FILTERS = [
    RECALLABLE,
    RECALLABLE._replace(nugget="n1"),
    RECALLABLE._replace(include_hidden=True),
    RECALLABLE._replace(tags=("a",), session="s3"),
]
QUERIES = [f"w{n} w{3 * n + 5} w{n % 4} ana" for n in range(24)] + ["w1", " ".join(f"w{n}" for n in range(40))]


@pytest.fixture(autouse=True)
def numpy_again() -> Iterator[None]:
    yield
    engine.loops, engine.problem, engine.prepare = None, None, None


def large() -> RecallIndex:
    """Notes of sessions, of which some are hidden, in several segments and a delta."""
    dice = random.Random(4)
    index = index_of(two_stage_from=600, delta=500, candidates=30)
    for row in range(1_700):
        words = " ".join(f"w{int(dice.paretovariate(0.6)) % 300}" for _ in range(8))
        index.put(
            note(
                row, words + "?" * (row % 9 == 0), session=f"s{row // 20}", turn=row % 20, nugget=f"n{row // 400}",
                author="Ana" if row % 3 else "Bo", hidden=row % 17 == 0, tags=("a",) if row % 4 else (),
            )
        )  # fmt: skip
    return index


@pytest.fixture
def beside(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Where another process was to compile; none is started."""
    asked: list[Path] = []
    monkeypatch.setattr(compiled, "compile_beside", asked.append)
    return asked


def found(index: RecallIndex) -> list[Any]:
    return [index.search(query, wanted, 20) for query in QUERIES for wanted in FILTERS]


def test_compiled_loops_give_the_same_as_numpy(tmp_path: Path) -> None:
    """Two seconds: numba compiles."""
    index = large()
    expected = found(index)

    engine.loops = compiled.compiled_loops(tmp_path / "compiled")

    columns = index._contents.columns
    for kind in (np.int8, np.int16, np.int32):  # as they are with few nuggets and authors, and with many
        vars(columns).update(nugget=columns.nugget.astype(kind), speaker=columns.speaker.astype(kind))
        for ours, theirs in zip(found(index), expected, strict=True):
            assert [hit.id for hit in ours.hits] == [hit.id for hit in theirs.hits]
            assert [hit.score for hit in ours.hits] == pytest.approx([hit.score for hit in theirs.hits], abs=1e-6)
    assert any((tmp_path / "compiled").rglob("*.nbc"))


def test_numpy_answers_until_a_large_shelf_asks_for_the_loops(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, beside: list[Path]
) -> None:
    loaded, asked = Event(), []

    def load(directory: Path) -> compiled.CompiledLoops:
        asked.append(directory)
        assert loaded.wait(10)
        return compiled.CompiledLoops(lambda function: function)

    monkeypatch.setattr(compiled, "compiled_loops", load)
    monkeypatch.setattr("shelfd.memory.recall.engine._LARGE", 3)
    threads: list[TrueThread] = []

    def thread(**named: Any) -> TrueThread:
        threads.append(TrueThread(**named))
        return threads[-1]

    monkeypatch.setattr(compiled, "Thread", thread)
    index = index_of(note(1, "tea"), note(2, "tea"))
    compiled.offer("auto", tmp_path)
    before = index.search("tea", RECALLABLE, 5)
    assert (asked, engine.name) == ([], "numpy")

    index.put(note(3, "cup"))
    assert [hit.id for hit in index.search("tea", RECALLABLE, 5).hits] == [hit.id for hit in before.hits]
    assert engine.name == "numpy"  # it is being loaded
    loaded.set()
    threads[0].join(10)
    assert (beside, asked, engine.name, engine.problem) == ([tmp_path], [tmp_path], "compiled", None)
    assert [hit.id for hit in index.search("tea", RECALLABLE, 5).hits] == [hit.id for hit in before.hits]


@pytest.mark.parametrize(("choice", "problem"), [("compiled", True), ("auto", False)])
def test_without_the_extra_numpy_goes_on(
    choice: Any, problem: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(compiled, "find_spec", lambda _: None)
    compiled._load(choice, tmp_path)
    assert (engine.loops, bool(engine.problem)) == (None, problem)


def test_what_was_compiled_and_is_damaged_is_compiled_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, beside: list[Path]
) -> None:
    kept = tmp_path / "compiled"
    kept.mkdir()
    (kept / "damaged").touch()

    def load(directory: Path) -> compiled.CompiledLoops:
        if (directory / "damaged").exists():
            raise EOFError
        return compiled.CompiledLoops(lambda function: function)

    monkeypatch.setattr(compiled, "compiled_loops", load)
    compiled._load("auto", kept)
    assert (engine.name, engine.problem, beside) == ("compiled", None, [kept, kept])


def test_another_process_compiles_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Some ten seconds: numba compiles."""
    kept, started = tmp_path / "compiled", []
    start = compiled.compile_beside

    def count(directory: Path) -> None:
        started.append(directory)
        start(directory)

    monkeypatch.setattr(compiled, "compile_beside", count)
    for _ in range(2):
        engine.loops = None
        compiled._load("compiled", kept)
        assert (engine.name, engine.problem) == ("compiled", None)
    assert started == [kept]
    held = {file: file.stat().st_mtime_ns for file in kept.rglob("*.nbc")}
    assert held
    compiled.compiled_loops(kept)
    assert {file: file.stat().st_mtime_ns for file in kept.rglob("*.nbc")} == held  # nothing was compiled here


#: Starts what compiles, says which process that is, and waits for it.
_WAITING: str = """
import subprocess, sys
from pathlib import Path
from shelfd.memory.recall import compiled

def run(command, **named):
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    print(child.pid, flush=True)
    child.wait()

compiled.run = run
compiled.compile_beside(Path(sys.argv[1]))
"""


def test_who_compiles_for_another_process_ends_with_it(tmp_path: Path) -> None:
    kept = tmp_path / "compiled"
    with subprocess.Popen([sys.executable, "-c", _WAITING, str(kept)], stdout=subprocess.PIPE, text=True) as waiting:
        assert waiting.stdout is not None
        child = os.pidfd_open(int(waiting.stdout.readline()))
        waiting.kill()
    ended, _, _ = select.select([child], [], [], 60)
    os.close(child)
    assert ended
    assert not [file for file in kept.glob("*") if file.is_file()]  # which there is once all is compiled


def test_who_compiles_for_another_process_ends_if_that_is_gone(tmp_path: Path) -> None:
    command = [sys.executable, "-m", compiled.__name__, str(tmp_path / "compiled"), "1"]  # as if it had ended before
    assert subprocess.run(command, check=False, timeout=60).returncode == 0
    assert not (tmp_path / "compiled").exists()


def test_a_directory_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    compiled._load("auto", tmp_path / "file" / "compiled")
    assert (engine.loops, engine.problem) == (
        None,
        f"the loops could not be compiled in {tmp_path}/file/compiled: Not a directory",
    )


@pytest.mark.parametrize("mode", [0o770, 0o707, None])
def test_nothing_is_run_that_others_may_have_put_there(tmp_path: Path, mode: int | None) -> None:
    directory = tmp_path / "compiled"
    if mode is None:
        (tmp_path / "elsewhere").mkdir()
        directory.symlink_to("elsewhere")
    else:
        directory.mkdir()
        directory.chmod(mode)
    compiled._load("compiled", directory)
    assert engine.loops is None
    assert engine.problem == f"not used: somebody else may have put what is in {directory} there; remove it"


def test_who_may_not_run_what_it_wrote_does_not_compile() -> None:
    forbid = "import ctypes, sys; denied = ctypes.CDLL(None).prctl(65, 1, 0, 0, 0)"  # PR_SET_MDWE, of Linux 6.3
    look = "from shelfd.memory.recall.compiled import may_compile; sys.exit(77 if denied else may_compile())"
    assert compiled.may_compile()
    assert subprocess.run([sys.executable, "-c", f"{forbid}; {look}"], check=False).returncode in (0, 77)


def test_nothing_is_loaded_if_numpy_is_wanted(tmp_path: Path) -> None:
    compiled.offer("numpy", tmp_path)
    fresh = Engine()
    assert (engine.prepare, fresh.prepare, fresh.name) == (None, None, "numpy")
