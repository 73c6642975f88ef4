"""A home directory with a daemon's data in it, and the daemon: started, asked, killed, searched for what it kept."""

import json
import shutil
import socket
import stat
import struct
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from signal import SIGKILL, SIGTERM
from typing import Any, Final, NamedTuple

from erasing.process import Stage
from running import TIMEOUT_S, clean_environment
from shelfd.client import Client, NotRunning, RpcFailure, connect

Json = dict[str, Any]

#: A project of the daemon's user, and where its MEMORY.md is in the home directory.
PROJECT: Final = "/srv/garden"
_PROJECT_FILE: Final = ".claude/projects/-srv-garden/memory/MEMORY.md"
#: What a crash may leave half done, and the next start cleans up.
_LEFTOVERS: Final = (".*.new", ".dropped-*", ".MEMORY.md.*.tmp", ".shelfd-run-*", ".replacing*")
_NOT_OVER: Final = frozenset({"queued", "running", "waiting"})
#: No such method, no such shelf.
_NOTHING_THERE: Final = (-32601, -32001)
_CREDENTIALS: Final = struct.Struct("3i")  # pid, uid, gid


class Gone(Exception):
    """The daemon ended before it had answered."""


class Found(NamedTuple):
    """A secret, and a file that holds it."""

    secret: str
    path: Path


class House:
    """A home directory, always at the same place, because shelves know the paths of files; and at most one daemon.

    Args:
        root: Where home, socket and log are, and copies of the home to go back to.
    """

    def __init__(self, stage: Stage, root: Path) -> None:
        self.home = root / "home"
        self.log = root / "log"
        self.environment: Mapping[str, str] = {}  #: settings of the next daemon
        #: Nothing is tended by the clock while somebody looks, at whatever hour that is.
        self._hour = str((time.localtime().tm_hour + 12) % 24)
        self._socket = str(root / "s")
        self._copies = root / "copies"
        self._stage = stage
        self._client: Client | None = None
        self._pid = 0
        self._is_traced = False

    # ------------------------------------------------------------------ files

    def memory_file(self, shelf: str = "default") -> Path:
        """The MEMORY.md beside a shelf's notes."""
        return self.home / "data" / "shelves" / shelf / "MEMORY.md"

    @property
    def project_file(self) -> Path:
        """The MEMORY.md of the project."""
        return self.home / _PROJECT_FILE

    def clear(self) -> None:
        """Begin with a home that holds nothing but the project's folder."""
        shutil.rmtree(self.home, ignore_errors=True)
        self.log.unlink(missing_ok=True)
        self.project_file.parent.mkdir(parents=True)

    def save(self, name: str) -> None:
        """Keep a copy of the home."""
        shutil.copytree(self.home, self._copies / name)

    def restore(self, name: str) -> None:
        """Make the home what it was when it was saved."""
        self.clear()
        shutil.copytree(self._copies / name, self.home, dirs_exist_ok=True)

    def find(self, secrets: Iterable[str]) -> list[Found]:
        """Look for *secrets* in every byte of every file and of its name."""
        forms = [(secret, {secret.encode(), json.dumps(secret)[1:-1].encode()}) for secret in secrets]
        found = []
        for path in [self.log, *_files(self.home)]:
            data = path.read_bytes() + bytes(path)
            found += [Found(secret, path) for secret, written in forms if any(form in data for form in written)]
        return found

    def leftovers(self) -> list[str]:
        """What crashes have left half done."""
        return sorted(str(path.relative_to(self.home)) for name in _LEFTOVERS for path in self.home.rglob(name))

    # ------------------------------------------------------------------ the daemon

    def start(self) -> None:
        """Start a daemon and wait until it can be asked."""
        self._fork(held_back=False)
        self._meet()

    def start_traced(self, kill_at: int) -> None:
        """Start a daemon that ends at a step of its own, and wait until it can be asked.

        Raises:
            Gone: If it ends before that.
        """
        self._fork(held_back=True)
        self._trace(kill_at)
        self._stage.ask("let_go")
        self._stage.tell("follow")
        self._meet()

    def trace(self, kill_at: int | None) -> None:
        """Have the running daemon end at a step of its own from now on; without one, only count."""
        self._trace(kill_at)
        self._stage.tell("follow")

    def stop(self) -> None:
        """Ask the daemon to end and wait until it has."""
        self._part()
        status = self._stage.ask("end", number=SIGTERM)["status"]
        self._pid = 0
        assert status == 0, f"the daemon ended with {status}:\n{self._last_words()}"

    def kill(self) -> list[str]:
        """End the daemon as a power cut would, if it has not ended yet; return the steps it took if it was traced."""
        self._part()
        pid, self._pid = self._pid, 0
        if not self._is_traced:
            if pid:
                self._stage.ask("end", number=SIGKILL)
            return []
        self._is_traced = False
        if not self._stage.has_answered():
            self._stage.kill(pid)
        steps: list[str] = self._stage.answer()["steps"]
        return steps

    def connect(self) -> Client:
        """One more connection."""
        return connect(self._socket, timeout_s=TIMEOUT_S)

    def call(self, method: str, /, **params: Any) -> Any:
        """Call a method on the daemon's one connection.

        Raises:
            Gone: If the daemon ends before it has answered.
            RpcFailure: If it refuses.
        """
        assert self._client is not None
        try:
            return self._client.call(method, params)
        except ConnectionError as error:
            raise Gone(f"{error}; its log ends with\n{self._last_words()}") from None

    def _trace(self, kill_at: int | None) -> None:
        self._stage.ask("trace", directory=str(self.home), kill_at=kill_at)
        self._is_traced = True

    def _fork(self, *, held_back: bool) -> None:
        arguments = ["--data-dir", str(self.home / "data"), "--socket", self._socket]
        environment = clean_environment(self.home, {"MEMORY_REFLECTION_HOUR": self._hour, **self.environment})
        self._pid = self._stage.ask(
            "start", log=str(self.log), arguments=arguments, environment=environment, held_back=held_back,
        )["pid"]  # fmt: skip

    def _meet(self) -> None:
        deadline = time.monotonic() + TIMEOUT_S
        while True:
            with suppress(NotRunning):
                client = self.connect()
                if _listener(client) == self._pid:
                    self._client = client
                    return
                client.close()  # of a daemon that was killed: a child that it was just making may still hold its socket
            if self._is_traced and self._stage.has_answered():
                raise Gone
            assert time.monotonic() < deadline, f"the daemon does not answer:\n{self._last_words()}"
            time.sleep(0.002)  # a pause between two looks at another process, bounded by the deadline

    def _last_words(self) -> str:
        return "\n".join(self.log.read_text().splitlines()[-5:])

    def _part(self) -> None:
        if self._client is not None:
            self._client.close()
            self._client = None

    # ------------------------------------------------------------------ what the daemon is at

    def wait_for_jobs(self, shelves: Iterable[str] = ("default",)) -> list[str]:
        """Wait until no work that goes on behind a reply is left; return what is wrong with it."""
        deadline = time.monotonic() + TIMEOUT_S
        while True:
            jobs = [job for shelf in shelves for job in self._jobs(shelf)]
            waiting = [job for job in jobs if job["state"] in _NOT_OVER]
            if not waiting:
                return [f"a job {job['kind']} is {job['state']}" for job in jobs if job["state"] != "done"]
            if time.monotonic() > deadline:
                return [f"a job {job['kind']} stays {job['state']}" for job in waiting]
            time.sleep(0.005)  # as above

    def _jobs(self, shelf: str) -> list[Json]:
        try:
            jobs: list[Json] = self.call("job.list", shelf=shelf)["jobs"]
        except RpcFailure as failure:
            if failure.code in _NOTHING_THERE:
                return []
            raise
        return jobs


def _listener(client: Client) -> int:
    """Return the process that listens at the other end."""
    credentials = client._socket.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    pid: int = _CREDENTIALS.unpack(credentials)[0]
    return pid


def _files(directory: Path) -> Iterator[Path]:
    return (path for path in directory.rglob("*") if stat.S_ISREG(path.lstat().st_mode))
