"""The ``shelfd`` command in the test's own process: a tenth of the time that another one takes to start."""

import io
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from typing import NamedTuple
from unittest.mock import patch

from shelfd.client.cli import run


class Ended(NamedTuple):
    """How a command ended, and what it wrote."""

    returncode: int
    stdout: str
    stderr: str


class Pane(io.StringIO):
    """A stream of the command; *is_terminal* says whether it pretends to be one."""

    encoding = "utf-8"

    def __init__(self, *, is_terminal: bool) -> None:
        super().__init__()
        self._is_terminal = is_terminal

    def isatty(self) -> bool:
        return self._is_terminal


class Keyboard(io.TextIOWrapper):
    """Stdin; *is_terminal* says whether it pretends to be one."""

    def __init__(self, data: bytes, *, is_terminal: bool) -> None:
        super().__init__(io.BytesIO(data), encoding="utf-8")
        self._is_terminal = is_terminal

    def isatty(self) -> bool:
        return self._is_terminal


#: Central European time by its rule: no machine needs to have a table of zones for it.
ZONE: Mapping[str, str] = {"TZ": "CET-1CEST,M3.5.0,M10.5.0/3"}


@contextmanager
def surrounded(environment: Mapping[str, str]) -> Iterator[None]:
    """Have nothing but *environment* say what a command does, and what time it is."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("SHELFD", "XDG_"))}
    try:
        with patch.dict(os.environ, {**kept, **environment}, clear=True):
            time.tzset()
            yield
    finally:
        time.tzset()


def shelfd(
    *arguments: str, stdin: str | bytes = b"", is_terminal: bool = False, columns: int = 80,
    env: Mapping[str, str] | None = None,
) -> Ended:  # fmt: skip
    """Run the command on *arguments*; *is_terminal* has all three streams pretend to be one."""
    data = stdin.encode() if isinstance(stdin, str) else stdin
    out, err = Pane(is_terminal=is_terminal), Pane(is_terminal=is_terminal)
    surroundings = {"TERM": "xterm", "NO_COLOR": "1", "COLUMNS": str(columns), **ZONE, **(env or {})}
    with (
        redirect_stdout(out), redirect_stderr(err), surrounded(surroundings),
        patch("sys.stdin", Keyboard(data, is_terminal=is_terminal)),
    ):  # fmt: skip
        status = run(arguments)
    assert isinstance(status, int)
    return Ended(status, out.getvalue(), err.getvalue())
