"""Starts daemons that die at a step of their own: a process that has imported the daemon, and forks it.

A forked daemon is what ``python -m shelfd.daemon`` is, less the time that its imports take, of which a harness that
starts a thousand of them has none to spare. Reads a line of JSON for each thing to do, a method of :class:`Stage` and
its arguments, and answers with another.
"""

import ctypes
import gc
import json
import os
import signal
import sys
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from erasing.tracing import Tracer
from shelfd.memory.methods.loading import load_all

_DIE_WITH_PARENT: Final = 1
#: What a daemon imports while it starts.
_IMPORTED: Final = ("shelfd.daemon.run", "shelfd.daemon.life", "shelfd.daemon.reload", "uvloop", "croniter")


class Stage:
    """At most one daemon at a time."""

    _pid: int
    _gate: int
    _tracer: Tracer

    def start(self, log: str, arguments: list[str], environment: dict[str, str], *, held_back: bool) -> dict[str, Any]:
        """Fork a daemon."""
        held, self._gate = os.pipe()
        self._pid = os.fork()
        if not self._pid:
            _become(held, Path(log), arguments, environment)
        os.close(held)
        if not held_back:
            self.let_go()
        return {"pid": self._pid}

    def let_go(self) -> dict[str, Any]:
        """Let a daemon that was held back begin."""
        os.write(self._gate, b".")
        os.close(self._gate)
        return {}

    def trace(self, directory: str, kill_at: int | None) -> dict[str, Any]:
        """Take hold of the daemon; it stands still until ``follow``."""
        self._tracer = Tracer(self._pid, Path(directory), kill_at)
        self._tracer.attach()
        return {}

    def follow(self) -> dict[str, Any]:
        """Let it go on to its end, and tell its steps."""
        self._tracer.follow()
        return {"steps": self._tracer.steps}

    def end(self, number: int) -> dict[str, Any]:
        """Send a daemon that is not traced a signal and wait for its end."""
        os.kill(self._pid, number)
        _, status = os.waitpid(self._pid, 0)
        return {"status": os.waitstatus_to_exitcode(status)}


def _become(held: int, log: Path, arguments: list[str], environment: dict[str, str]) -> None:
    """Be a daemon to the end, once there is something to read from *held*."""
    status = 70
    try:
        ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)
        sink = os.open(log, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
        nothing = os.open(os.devnull, os.O_RDONLY)
        for descriptor, standard in ((nothing, 0), (sink, 1), (sink, 2)):
            os.dup2(descriptor, standard)
        os.read(held, 1)
        os.closerange(3, 64)
        os.environ.clear()
        os.environ.update(environment)
        gc.unfreeze()
        from shelfd.daemon.run import main

        status = main(arguments)
    finally:
        os._exit(status)


def _serve() -> None:
    for module in _IMPORTED:
        import_module(module)
    load_all()  # which a forked daemon would import while its steps are counted
    gc.freeze()
    stage = Stage()
    for line in sys.stdin:
        request = json.loads(line)
        try:
            reply = getattr(stage, request.pop("do"))(**request)
        except OSError as error:
            reply = {"error": str(error)}
        print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    _serve()
