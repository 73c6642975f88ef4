"""A real daemon in its own process, for tests that need one."""

import array
import atexit
import json
import os
import select
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from signal import SIGKILL, SIGTERM
from types import TracebackType
from typing import Any, Self

from shelfd.client import Client, connect

#: How long anything a test waits for may take.
TIMEOUT_S = 60.0


class Forked:
    """A daemon that was forked by ``tests/forking.py``, with as much of what a ``Popen`` has as is needed."""

    _control: socket.socket | None = None

    def __init__(self, arguments: Sequence[str], environment: Mapping[str, str], log: int) -> None:
        readable, writable = os.pipe()
        self.stdout = os.fdopen(readable, encoding="utf-8")
        try:
            self.pid: int = self._ask({"arguments": list(arguments), "environment": dict(environment)}, writable, log)[
                "pid"
            ]
        finally:
            os.close(writable)
        self.returncode: int | None = None
        self._end = os.pidfd_open(self.pid)

    @classmethod
    def _ask(cls, request: Mapping[str, Any], *descriptors: int) -> dict[str, Any]:
        if cls._control is None:
            cls._control, theirs = socket.socketpair(type=socket.SOCK_SEQPACKET)
            # Who forks must have no other thread, and numpy's would be such.
            environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
            command = [sys.executable, "-P", str(Path(__file__).with_name("forking.py"))]
            forking = subprocess.Popen(command, stdin=theirs.fileno(), env=environment)  # its end is waited for at exit
            theirs.close()
            atexit.register(forking.wait)  # it ends when the socket is closed
            atexit.register(cls._control.close)
        ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))] if descriptors else []
        cls._control.sendmsg([json.dumps(request).encode()], ancillary)
        answer: dict[str, Any] = json.loads(cls._control.recv(4096))
        return answer

    def send_signal(self, number: int) -> None:
        """Send it a signal; nothing if it has ended."""
        if self.returncode is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """Send it SIGKILL."""
        self.send_signal(SIGKILL)

    def wait(self, timeout: float | None = None) -> int:
        """Wait until it has ended; return its exit status, the signal's number with a minus if it was one.

        Raises:
            subprocess.TimeoutExpired: If that takes longer than *timeout* seconds.
        """
        if self.returncode is None:
            if not select.select([self._end], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired("shelfd.daemon", timeout or 0.0)
            self.returncode = int(self._ask({"wait": self.pid})["status"])
            os.close(self._end)
        return self.returncode


class Daemon:
    """A daemon on a directory; start, stop and kill it at will. As a context manager it is gone on exit.

    Args:
        directory: Where its files, its socket and its log are; its home directory, too.
        flags: On the command line, behind where its data and its socket are.
        environment: Settings beside what a test run has, less what configures a daemon.
        argv: What Python is run with instead of the daemon's module and all flags.
        pass_fds: Descriptors it inherits.
        afresh: Whether it is a Python of its own, which imports everything, as it is anyway with *argv* or *pass_fds*;
            otherwise it is forked from a process that has.
    """

    def __init__(
        self,
        directory: Path,
        *flags: str,
        environment: Mapping[str, str] | None = None,
        argv: Sequence[str] = (),
        pass_fds: Sequence[int] = (),
        afresh: bool = False,
    ) -> None:
        self.directory = directory
        self.data = directory / "data"
        self.socket = str(directory / "s")
        self.log = directory / "log"
        self.ready: list[str] = []
        places = ("--data-dir", str(self.data), "--socket", self.socket)
        self._arguments = [*places, *flags]
        self._is_forked = not (argv or pass_fds or afresh)
        self._command = [sys.executable, *(argv or ("-P", "-m", "shelfd.daemon", *places, *flags))]
        self._environment = clean_environment(directory, environment)
        self._pass_fds = pass_fds
        self._process: subprocess.Popen[str] | Forked | None = None

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.is_running:
            self.kill()

    @property
    def pid(self) -> int:
        """Process id of the running daemon."""
        assert self._process is not None
        return self._process.pid

    def start(self) -> Self:
        """Start it and wait for READY."""
        with self.log.open("ab") as sink:
            if self._is_forked:
                self._process = Forked(self._arguments, self._environment, sink.fileno())
            else:
                self._process = subprocess.Popen(
                    self._command, stdout=subprocess.PIPE, stderr=sink, text=True, env=self._environment,
                    pass_fds=self._pass_fds,
                )  # fmt: skip
        output = self._process.stdout
        assert output is not None
        readable, _, _ = select.select([output], [], [], TIMEOUT_S)
        first = output.readline() if readable else "nothing"
        if not first.startswith("READY "):
            self.signal(SIGKILL)
            raise AssertionError(f"not ready but {first!r}, ended with {self.wait()}:\n{self.log.read_text()}")
        # The line and the commands below it are one write.
        self.ready = [first.rstrip("\n"), *(output.readline().rstrip("\n") for _ in range(3))]
        return self

    def hang_up(self) -> None:
        """Close the pipe that its output goes to."""
        assert self._process is not None
        assert self._process.stdout is not None
        self._process.stdout.close()

    def signal(self, number: int) -> None:
        """Send it a signal."""
        assert self._process is not None
        self._process.send_signal(number)

    def wait(self, timeout_s: float = TIMEOUT_S) -> int:
        """Wait until it has ended; return its exit status."""
        assert self._process is not None
        process, self._process = self._process, None
        try:
            return process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise
        finally:
            if process.stdout is not None:
                process.stdout.close()

    def stop(self, number: int = SIGTERM) -> int:
        """Ask it to end, wait, return its exit status."""
        self.signal(number)
        return self.wait()

    def kill(self) -> None:
        """End it as a power cut would."""
        self.signal(SIGKILL)
        self.wait()

    @property
    def is_running(self) -> bool:
        """Whether it was started and not yet seen to end."""
        return self._process is not None

    def connect(self) -> Client:
        """A client on its socket."""
        return connect(self.socket, timeout_s=30)

    def call(self, method: str, **params: Any) -> Any:
        """One call on a connection of its own."""
        with self.connect() as client:
            return client.call(method, params)

    def events(self) -> list[dict[str, Any]]:
        """What it has logged so far."""
        return [json.loads(line) for line in self.log.read_text().splitlines()]


def until(condition: Callable[[], Any], what: str) -> Any:
    """Wait until *condition* gives something true, and return it."""
    deadline = time.monotonic() + TIMEOUT_S
    while not (found := condition()):
        assert time.monotonic() < deadline, f"timed out: {what}"
        time.sleep(0.02)  # a pause between two looks at another process, bounded by the deadline
    return found


def clean_environment(home: Path, extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """This process's environment without what configures a daemon or a client, with *home* as home directory."""
    prefixes = ("SHELFD", "MEMORY_", "HEARTBEAT_", "QUIET_", "XDG_", "LISTEN_", "NOTIFY_", "WATCHDOG_", "JOURNAL_")
    settings = ("STATE_DIRECTORY", "CONFIGURATION_DIRECTORY", "CREDENTIALS_DIRECTORY")
    kept = {n: v for n, v in os.environ.items() if not n.startswith(prefixes) and n not in settings}
    return {**kept, "HOME": str(home), **(extra or {})}


def refused(home: Path, *flags: str, environment: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run a daemon that is expected to end by itself."""
    return subprocess.run(
        [sys.executable, "-P", "-m", "shelfd.daemon", *flags],
        env=clean_environment(home, environment),
        capture_output=True,
        text=True,
        check=False,
        timeout=TIMEOUT_S,
    )
