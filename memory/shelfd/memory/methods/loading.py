"""What the daemon's start leaves out: imported by threads once it is ready, for requests that need it later."""

from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from typing import Final

from shelfd.memory.facts.spelling import edit_distance
from shelfd.memory.methods.registry import USE_CASES
from shelfd.protocol import METHODS
from shelfd.protocol.lazy_table import importing

#: What most requests are.
_FIRST: Final = ("recall", "remember", "note.get")


def rest() -> Iterator[Callable[[], object]]:
    """Yield what imports the methods, kinds of jobs, and what the first misspelt query would wait for.

    Each call imports one module, and what that needs, which takes some milliseconds and is for a thread: a request that
    comes meanwhile waits for that one at most, and imports what it needs itself.
    """
    yield edit_distance
    for name in (*_FIRST, *METHODS, *USE_CASES):
        for table in (METHODS, USE_CASES):
            if name in table and not table.has_loaded(name):
                yield partial(table.__getitem__, name)
    yield partial(_imported, "shelfd.memory.methods.job_kinds")


def load_rest() -> None:
    """Import all of it at once."""
    for load in rest():
        load()


def _imported(module: str) -> None:
    with importing:
        import_module(module)
