"""Forks daemons for :class:`running.Daemon`: a process that has imported all of the daemon, once for many tests.

A forked daemon is what ``python -m shelfd.daemon`` is, less the time that its imports take: most of what a start costs,
and the suite starts some hundreds. Reads requests from the socket that is its standard input: a line of JSON, with the
descriptors of the daemon's stdout and stderr, and answers each with a line.
"""

import array
import gc
import json
import os
import signal
import socket
import sys
import traceback
from importlib import import_module
from typing import Any, Final

#: What a daemon imports while it starts; what it imports later, it imports at once from a process that has it.
_IMPORTED: Final = (
    "shelfd.daemon.run", "shelfd.daemon.life", "shelfd.daemon.reload", "shelfd.daemon.mqtt", "uvloop", "croniter",
)  # fmt: skip
_ROOM: Final = 1024 * 1024  # of a request, most of which is the environment


def _serve(control: socket.socket) -> None:
    for module in _IMPORTED:
        import_module(module)
    import_module("shelfd.memory.methods.loading").load_all()
    gc.freeze()
    while True:
        received, ancillary, _, _ = control.recvmsg(_ROOM, socket.CMSG_LEN(2 * array.array("i").itemsize))
        if not received:
            return
        descriptors = array.array("i")
        for _, _, data in ancillary:
            descriptors.frombytes(data)
        request: dict[str, Any] = json.loads(received)
        if "wait" in request:
            _, status = os.waitpid(request["wait"], 0)
            answer = {"status": os.waitstatus_to_exitcode(status)}
        elif pid := os.fork():
            for descriptor in descriptors:
                os.close(descriptor)
            answer = {"pid": pid}
        else:
            control.detach()
            _become(list(descriptors), request["arguments"], request["environment"])
        control.send(json.dumps(answer).encode())


def _become(descriptors: list[int], arguments: list[str], environment: dict[str, str]) -> None:
    """Be a daemon to the end."""
    status = 70
    try:
        nothing = os.open(os.devnull, os.O_RDONLY)
        for standard, descriptor in enumerate((nothing, *descriptors)):
            os.dup2(descriptor, standard)
        os.closerange(3, 256)
        # As Python makes them: those of this process know what its own output is, and have a place in it.
        sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
        sys.stderr = os.fdopen(2, "w", encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.environ.clear()
        os.environ.update(environment)
        gc.unfreeze()
        from shelfd.daemon.run import main

        status = main(arguments)
        sys.stdout.flush()
    except BaseException:
        traceback.print_exc()
        raise
    finally:
        os._exit(status)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the tests
    gc.disable()  # as the daemon does while it is imported
    _serve(socket.socket(fileno=0))
