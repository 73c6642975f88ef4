"""The compiled loops: numba compiles them once per data directory and version, and keeps the result on disk.

To compile them takes seconds of the interpreter, half a minute beside requests that need it, too. So a process of its
own does it, and the daemon loads what that has made.
"""

import ctypes
import os
import shutil
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib.metadata import version
from importlib.util import find_spec
from mmap import PAGESIZE, PROT_EXEC, PROT_READ, mmap
from pathlib import Path
from pickle import UnpicklingError
from signal import SIGKILL
from stat import S_ISDIR, S_IWGRP, S_IWOTH
from subprocess import DEVNULL, SubprocessError, run
from threading import Thread, local
from typing import Any, Final, Literal

import numpy as np

from shelfd.memory.recall import loops
from shelfd.memory.recall.columns import BoolArray, Columns, FloatArray, IntArray
from shelfd.memory.recall.engine import Singles, engine
from shelfd.memory.recall.fields import K1, B
from shelfd.memory.recall.inverted import Bytes, Numbers

_EXTRA: Final = 'the extra "fast" of the package'
#: Of a process: it is sent that signal when the one that started it ends.
_PR_SET_PDEATHSIG: Final = 1
#: How much the process that compiles yields to others, and how long it may take in all.
_NICE, _LONGEST_S = 10, 600
_FORBIDDEN: Final = "the daemon may not run what it compiles: see MemoryDenyWriteExecute of its service"


class _ForeignError(RuntimeError):
    """What is on disk may be somebody else's."""


class _Room(local):
    """What loops work in, kept for each thread: of memory that is new each time, the pages are found one by one."""

    def __init__(self) -> None:
        self.marks: Bytes = np.zeros(0, np.uint8)  #: one for each document, zero between calls
        self.of_groups: tuple[FloatArray, FloatArray] = np.empty(0), np.empty(0)  #: whatever was there last


class CompiledLoops:
    """Calls the compiled loops with the arrays of an index. They let other threads run.

    Args:
        compiled: Makes a compiled function of a plain one.
    """

    def __init__(self, compiled: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
        self._accumulate = compiled(loops.accumulate)
        self._base_totals = compiled(loops.base_totals)
        self._with_rules = compiled(loops.with_rules)
        self._around = compiled(loops.around)
        self._surrounded = compiled(loops.surrounded)
        self._promises = compiled(loops.promises)
        self._room = _Room()

    def accumulate(
        self,
        postings: tuple[Numbers, Bytes, IntArray],
        weights: Singles,
        columns: Columns,
        average: float,
        nugget: int,
        own: Singles,
    ) -> IntArray:
        """Add postings to *own*; return the documents that had nothing there."""
        touched = np.empty(len(postings[0]), np.int64)
        slope, room = np.float32(K1 * B / average), np.float32(K1 * (1 - B))
        count = self._accumulate(*postings, weights, columns.length, slope, room, columns.nugget, nugget, own, touched)
        return touched[:count]

    def base_totals(
        self,
        postings: tuple[Numbers, Bytes, IntArray],
        members: IntArray,
        place: Numbers | None,
        columns: Columns,
        idf: tuple[FloatArray, FloatArray],
        averages: tuple[float, float],
    ) -> FloatArray:
        """Return the base scores of *members*."""
        found: FloatArray = self._base_totals(
            *postings,
            members,
            np.zeros(0, np.int32) if place is None else place,
            columns.previous,
            columns.following,
            columns.flags,
            columns.length,
            columns.span,
            *idf,
            *(K1 * B / average for average in averages),
        )
        return found

    def with_rules(
        self,
        relevance: FloatArray,
        ordinals: IntArray,
        columns: Columns,
        speaker: int | None,
        asks_when: bool,
        wants: int,
    ) -> FloatArray:
        """Return the *relevance* of some documents with what the rules add, but for that of days."""
        count = int(columns.group[ordinals].max()) + 1
        room = self._room
        if count > len(room.of_groups[0]):
            room.of_groups = np.empty(2 * count), np.empty(2 * count)
        beside = columns.group, columns.flags, columns.telling, columns.answer_types, columns.speaker
        asked = -2 if speaker is None else speaker, asks_when, wants
        totals: FloatArray = self._with_rules(relevance, ordinals, *beside, *asked, *room.of_groups)
        return totals

    def around(self, columns: Columns, ordinals: IntArray, groups: BoolArray | None) -> IntArray:
        """Return the living *ordinals* in some *groups*, or all, and their neighbours, each once, ascending."""
        found = np.empty(3 * len(ordinals), np.int64)
        marks = self._marks(columns)
        wanted = np.zeros(0, np.bool_) if groups is None else groups
        beside = columns.group, columns.flags, columns.previous, columns.following
        found = found[: self._around(ordinals, wanted, *beside, marks, found)]
        found.sort()
        return found

    def surrounded(self, columns: Columns, ordinals: IntArray) -> IntArray:
        """Return *ordinals*, the two before and the one after each, each once, ascending."""
        found = np.empty(4 * len(ordinals), np.int64)
        marks = self._marks(columns)
        found = found[: self._surrounded(ordinals, columns.previous, columns.following, marks, found)]
        found.sort()
        return found

    def promises(self, columns: Columns, own: Singles, ordinals: IntArray) -> Singles:
        """Return what documents promise: their own score and parts of that of their neighbours."""
        promised = np.empty(len(ordinals), np.float32)
        self._promises(ordinals, own, columns.previous, columns.following, columns.flags, promised)
        return promised

    def _marks(self, columns: Columns) -> Bytes:
        room = self._room
        if columns.size > len(room.marks):
            room.marks = np.zeros(2 * columns.size, np.uint8)
        return room.marks


def offer(choice: Literal["auto", "numpy", "compiled"], directory: Path) -> None:
    """Let the engine use compiled loops: *compiled* from soon on, *auto* as soon as there is a large shelf.

    They are loaded by a thread of their own. Until then, and if they cannot be, numpy answers.

    Args:
        choice: What is wanted.
        directory: Where the compiled code is kept; made if need be.
    """
    loading = Thread(target=_load, args=(choice, directory), name="shelfd.recall.compile", daemon=True)
    if choice == "compiled":
        loading.start()
    elif choice == "auto":
        engine.prepare = loading.start


def _load(choice: str, directory: Path) -> None:
    problem = f"{_EXTRA} is not installed" if find_spec("numba") is None else None if may_compile() else _FORBIDDEN
    if problem is not None:  # which is nothing to complain of unless it was asked for
        engine.problem = problem if choice == "compiled" else None
        return
    try:
        try:
            engine.loops = _loaded(directory)
        except (EOFError, UnpicklingError, ValueError):  # what is on disk is damaged
            shutil.rmtree(directory)
            engine.loops = _loaded(directory)
    except _ForeignError:
        engine.problem = f"not used: somebody else may have put what is in {directory} there; remove it"
    except OSError as error:
        engine.problem = f"the loops could not be compiled in {directory}: {error.strerror}"
    except (ImportError, RuntimeError) as error:
        engine.problem = f"the loops could not be compiled in {directory}: {type(error).__name__}"


def _loaded(directory: Path) -> CompiledLoops:
    """Load the loops; what another process can compile of them it does before."""
    _claim(directory)
    if not _mark_in(directory).exists():
        compile_beside(directory)
    return compiled_loops(directory)


def compile_beside(directory: Path) -> None:
    """Have another process compile the loops. If it fails, it is left to this one to find out why."""
    command = [sys.executable, "-P", "-m", __name__, str(directory), str(os.getpid())]
    with suppress(OSError, SubprocessError):
        run(command, stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL, timeout=_LONGEST_S, check=False)  # noqa: S603 - its own interpreter


def _compile_for(directory: Path, parent: int) -> None:
    """Compile the loops for the process *parent*, which started this one and is not to be survived."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, SIGKILL)
    if os.getppid() != parent:  # it ended before that was known
        return
    with suppress(OSError):  # a service may be forbidden to
        os.nice(_NICE)
    compiled_loops(directory)
    _mark_in(directory).touch()


def _mark_in(directory: Path) -> Path:
    """The file that is there once the loops as they are now are compiled, by the numba and Python there are."""
    source = Path(loops.__file__).stat()
    made_by = version("numba"), sys.implementation.cache_tag, source.st_mtime_ns, source.st_size
    return directory / "-".join(map(str, made_by))


def may_compile() -> bool:
    """Return whether this process may run code that it wrote: LLVM would end the process if it may not."""
    with mmap(-1, PAGESIZE) as page:
        start = ctypes.c_char.from_buffer(page)
        result = ctypes.CDLL(None).mprotect(ctypes.c_void_p(ctypes.addressof(start)), PAGESIZE, PROT_READ | PROT_EXEC)
        del start  # a page that is lent cannot be given back
    return bool(result == 0)


def compiled_loops(directory: Path) -> CompiledLoops:
    """Load the loops, or compile them, which takes some seconds; from then on no call compiles anything.

    Args:
        directory: Where the compiled code is kept; made if need be.

    Raises:
        ImportError: If the extra ``fast`` is not installed, or does not fit this Python.
        OSError: If the directory cannot be written.
        RuntimeError: If numba cannot use it, or others can write there: what it keeps is run.
    """
    _claim(directory)

    import numba
    from numba.core import config

    config.__dict__["CACHE_DIR"] = str(directory)
    made: list[Any] = []

    def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
        made.append(numba.njit(nogil=True, cache=True)(function))
        return made[-1]  # type: ignore[no-any-return]

    found = CompiledLoops(compiled)
    _try(found)
    for one in made:
        one.disable_compile()
    return found


def _claim(directory: Path) -> None:
    """Make *directory*, or make sure that nobody else can have put anything there: what is there is run.

    Raises:
        OSError: If it cannot be made.
        RuntimeError: If others can write there.
    """
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    held = directory.lstat()
    if not S_ISDIR(held.st_mode) or held.st_uid not in (os.getuid(), 0) or held.st_mode & (S_IWGRP | S_IWOTH):
        raise _ForeignError


def _try(found: CompiledLoops) -> None:
    """Call each loop, so that it is compiled for the arrays that an index has, and may have once it has grown."""
    columns = Columns()
    columns.extend(1, {"previous": -1, "following": -1})
    document, one = np.zeros(1, np.int64), np.ones(1)
    run = document.astype(np.int32), np.ones(1, np.uint8), np.ones(1, np.int64)
    found.base_totals(run, document, np.array([1, 0], np.int32), columns, (one, one), (1.0, 1.0))
    found.around(columns, document, None)
    found.surrounded(columns, document)
    found.promises(columns, np.zeros(2, np.float32), document)
    for kind in (np.int8, np.int16, np.int32):
        vars(columns).update(nugget=document.astype(kind), speaker=document.astype(kind))
        found.accumulate(run, np.ones(1, np.float32), columns, 1.0, -1, np.zeros(2, np.float32))
        found.with_rules(one, document, columns, None, False, 0)


if __name__ == "__main__":
    _compile_for(Path(sys.argv[1]), int(sys.argv[2]))
