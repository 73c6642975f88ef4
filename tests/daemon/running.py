"""A daemon in a process of its own, for tests."""

import json
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

#: What a test run inherits and a daemon under test must not see.
_OURS = (
    "SHELFD",
    "MEMORY_",
    "HEARTBEAT_",
    "QUIET_",
    "XDG_",
    "NOTIFY_",
    "WATCHDOG_",
    "LISTEN_",
    "JOURNAL_",
    "STATE_DIR",
)
TIMEOUT_S = 60.0


def clean_environment(home: Path, extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the environment without anything the daemon reads, with *home* as home directory."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_OURS)}
    return {**kept, "HOME": str(home), **(extra or {})}


def command(*flags: str) -> list[str]:
    return [sys.executable, "-P", "-m", "shelfd.daemon", *flags]


def refused(home: Path, *flags: str, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run a daemon that is expected to end by itself."""
    return subprocess.run(
        command(*flags),
        env=clean_environment(home, env),
        capture_output=True,
        text=True,
        check=False,
        timeout=TIMEOUT_S,
    )


class Daemon:
    """Started and READY on entry; gone on exit, whatever happened."""

    def __init__(self, home: Path, *flags: str, env: Mapping[str, str] | None = None, argv: Sequence[str] = ()) -> None:
        self.home = home
        self.socket = home / "s.sock"
        self.data = home / "data"
        self.log_path = home / "log"
        self._argv = [*argv] or [*(flags or ("--data-dir", str(self.data), "--socket", str(self.socket)))]
        self._env = env
        self.ready: list[str] = []

    def __enter__(self) -> Self:
        with self.log_path.open("ab") as log:
            self.process = subprocess.Popen(
                [*command(), *self._argv] if self._argv[:1] != ["-c"] else [sys.executable, *self._argv],
                env=clean_environment(self.home, self._env), stdout=subprocess.PIPE, stderr=log, text=True,
                pass_fds=self.pass_fds,
            )  # fmt: skip
        assert self.process.stdout is not None
        readable, _, _ = select.select([self.process.stdout], [], [], TIMEOUT_S)
        self.ready = [self.process.stdout.readline().rstrip("\n")] if readable else []
        if not self.ready or not self.ready[0].startswith("READY "):
            self.kill()
            raise AssertionError(f"not ready: {self.ready} {self.log_path.read_text()}")
        # The line and the commands below it are one write.
        self.ready += [self.process.stdout.readline().rstrip("\n") for _ in range(3)]
        return self

    pass_fds: Sequence[int] = ()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(TIMEOUT_S)
        if self.process.stdout is not None:
            self.process.stdout.close()

    def stop(self, number: int = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        return self.process.wait(TIMEOUT_S)

    def log(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.log_path.read_text().splitlines()]


def call(path: Path, method: str, **params: Any) -> Any:
    """Make one call by hand, without the client under test elsewhere."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(TIMEOUT_S)
        connection.connect(str(path))
        connection.sendall(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode() + b"\n")
        reply = json.loads(connection.makefile("rb").readline())
    return reply["result"]
