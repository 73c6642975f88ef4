"""What the daemon's start leaves out: imported by threads once it is ready, for requests that need it later.

Each function yields calls that import one module each, and what that needs, which takes some milliseconds: a request
that comes meanwhile waits for that one at most, and imports what it needs itself.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from importlib import import_module
from typing import Final

from shelfd.memory.facts.spelling import edit_distance
from shelfd.memory.methods.registry import USE_CASES
from shelfd.protocol import METHODS
from shelfd.protocol.lazy_table import importing

#: What most requests are.
_COMMON: Final = ("recall", "remember", "note.get")


def common() -> Iterator[Callable[[], object]]:
    """Yield what imports the methods that are called most."""
    yield from _methods(_COMMON)


def rest() -> Iterator[Callable[[], object]]:
    """Yield what imports all other methods, and what the first misspelt query, note read and job would wait for."""
    yield edit_distance
    yield from _methods((*METHODS, *USE_CASES))
    for module in ("shelfd.memory.knowledge.batches", "shelfd.memory.methods.job_kinds"):
        yield partial(_imported, module)


def load_all() -> None:
    """Import all of it at once."""
    for load in (*common(), *rest()):
        load()


def _methods(names: Iterable[str]) -> Iterator[Callable[[], object]]:
    for name in names:
        for table in (METHODS, USE_CASES):
            if name in table and not table.has_loaded(name):
                yield partial(table.__getitem__, name)


def _imported(module: str) -> None:
    with importing:
        import_module(module)
