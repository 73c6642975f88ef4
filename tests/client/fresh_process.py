"""The command in a process of its own, which says at its end what it has loaded."""

import subprocess
import sys
from typing import NamedTuple


class Ran(NamedTuple):
    """What a command printed, and what its process had loaded and done when it ended."""

    stdout: str
    modules: frozenset[str]
    said: str  #: what was asked for, as text


def run_fresh(*arguments: str, say: str = "''") -> Ran:
    """Run the command on *arguments*; it has to succeed.

    Args:
        arguments: Of the command.
        say: An expression in which ``gc`` and ``sys`` are known, worked out at the end.
    """
    code = (
        "import gc, sys\n"
        f"sys.argv = {['shelfd', *arguments]!r}\n"
        "from shelfd.client.cli import main\n"
        "try:\n    main()\nexcept SystemExit as stop:\n    assert not stop.code, stop.code\n"
        f"print({say}, file=sys.stderr)\n"
        "print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    said, modules = done.stderr.splitlines()
    return Ran(done.stdout, frozenset(modules.split()), said)
