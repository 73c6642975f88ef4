"""What the daemon's start leaves out: imported by a thread once it is ready, for requests that need it later."""

from shelfd.memory.facts.spelling import edit_distance
from shelfd.memory.methods.registry import USE_CASES
from shelfd.protocol import METHODS
from shelfd.protocol.lazy_table import importing


def load_rest() -> None:
    """Import all methods, kinds of jobs, and what the first misspelt query would wait for. For a thread of its own.

    A request that comes meanwhile waits for one module at most, some milliseconds, and imports what it needs itself.
    """
    for table in (USE_CASES, METHODS):
        for name in table:
            table[name]
    with importing:
        from shelfd.memory.methods import job_kinds  # noqa: F401
    edit_distance()
