"""A real daemon in its own process, for tests that need one."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from shelfd.client import Client, connect


class Daemon:
    """A daemon on a directory; start, stop and kill it at will."""

    def __init__(self, directory: Path, *flags: str, environment: dict[str, str] | None = None) -> None:
        self.directory = directory
        self.data = directory / "data"
        self.socket = str(directory / "s")
        self.log = directory / "log"
        self.flags = flags
        self.ready: list[str] = []
        self._environment = {**clean_environment(), **(environment or {})}
        self._process: subprocess.Popen[str] | None = None

    @property
    def pid(self) -> int:
        """Process id of the running daemon."""
        assert self._process is not None
        return self._process.pid

    def start(self) -> "Daemon":
        """Start it and wait for READY."""
        command = [sys.executable, "-m", "shelfd.daemon", "--data-dir", str(self.data), "--socket", self.socket]
        with self.log.open("ab") as sink:
            self._process = subprocess.Popen(
                [*command, *self.flags], stdout=subprocess.PIPE, stderr=sink, text=True, env=self._environment
            )
        assert self._process.stdout is not None
        first = self._process.stdout.readline()
        if not first.startswith("READY"):
            code = self.wait()
            raise AssertionError(f"the daemon exited with {code}:\n{self.log.read_text()}")
        self.ready = [first.rstrip("\n"), *(self._process.stdout.readline().rstrip("\n") for _ in range(3))]
        return self

    def signal(self, number: int) -> None:
        """Send it a signal."""
        assert self._process is not None
        self._process.send_signal(number)

    def wait(self, timeout_s: float = 30) -> int:
        """Wait until it has ended; return its exit status."""
        assert self._process is not None
        process, self._process = self._process, None
        try:
            process.communicate(timeout=timeout_s)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise
        return process.returncode

    def stop(self) -> int:
        """Ask it to end, wait, return its exit status."""
        self.signal(signal.SIGTERM)
        return self.wait()

    def kill(self) -> None:
        """End it as a power cut would."""
        self.signal(signal.SIGKILL)
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


def clean_environment() -> dict[str, str]:
    """This process's environment without what configures a daemon or a client."""
    prefixes = ("SHELFD", "MEMORY_REFLECTION", "HEARTBEAT", "QUIET_HOURS", "XDG_", "LISTEN_", "NOTIFY_", "WATCHDOG_")
    settings = ("STATE_DIRECTORY", "CONFIGURATION_DIRECTORY", "JOURNAL_STREAM", "CREDENTIALS_DIRECTORY")
    return {n: v for n, v in os.environ.items() if not n.startswith(prefixes) and n not in settings}


@contextmanager
def daemon(directory: Path, *flags: str, environment: dict[str, str] | None = None) -> Iterator[Daemon]:
    """A running daemon that is gone when the block ends."""
    running = Daemon(directory, *flags, environment=environment).start()
    try:
        yield running
    finally:
        if running.is_running:
            running.kill()
