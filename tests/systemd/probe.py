"""Runs in the sandbox of the service and prints, as JSON, what can be done in it."""

import asyncio
import contextlib
import ctypes
import errno
import json
import mmap
import os
import resource
import socket
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import uvloop


def attempt(action: Callable[[], object]) -> str:
    """Return "ok", or the name of the error number."""
    try:
        action()
    except OSError as error:
        return errno.errorcode.get(error.errno or 0, str(error))
    return "ok"


def internet() -> None:
    socket.socket(socket.AF_INET, socket.SOCK_STREAM).close()


def unix() -> None:
    socket.socket(socket.AF_UNIX, socket.SOCK_STREAM).close()


def writable_code() -> None:
    mmap.mmap(-1, 4096, prot=mmap.PROT_WRITE | mmap.PROT_EXEC).close()


def callback() -> int:
    kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)
    return int(kind(lambda n: n + 1)(41))


async def turn() -> str:
    await asyncio.sleep(0)
    return type(asyncio.get_running_loop()).__module__


def loop() -> str:
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(turn())


def product() -> float:
    matrix = np.ones((600, 600))
    return float((matrix @ matrix)[0, 0])


def thread() -> str:
    told: list[str] = []
    worker = threading.Thread(target=lambda: told.append("ran"))
    worker.start()
    worker.join()
    return told[0]


def main() -> None:
    state = Path(os.environ["STATE_DIRECTORY"])
    answers = {
        "state": attempt(lambda: (state / "probe").write_text("x")),
        "etc": attempt(lambda: Path("/etc/probe").write_text("x")),
        "config_write": attempt(lambda: Path("/etc/shelfd/probe").write_text("x")),
        "config_read": attempt(lambda: Path("/etc/shelfd/shelfd.toml").read_text()),
        "code": attempt(lambda: Path("/opt/shelfd/probe").write_text("x")),
        "root": attempt(lambda: list(Path("/root").iterdir())),
        "home": attempt(lambda: list(Path("/home/ada").iterdir())),
        "tmp": [path.name for path in Path("/tmp").iterdir()],
        "others": [path.name for path in Path("/proc").iterdir() if path.name.isdecimal() and path.stat().st_uid == 0],
        "internet": attempt(internet),
        "unix": attempt(unix),
        "writable_code": attempt(writable_code),
        "nice": attempt(lambda: os.setpriority(os.PRIO_PROCESS, 0, 10)),
        "chroot": attempt(lambda: os.chroot("/")),
        "callback": callback(),
        "loop": loop(),
        "product": product(),
        "thread": thread(),
        "files": resource.getrlimit(resource.RLIMIT_NOFILE)[0],
        "umask": f"{os.umask(0o077):03o}",
        "user": os.geteuid(),
    }
    with contextlib.suppress(OSError):
        (state / "probe").unlink()
    print(json.dumps(answers))


if __name__ == "__main__":
    main()
