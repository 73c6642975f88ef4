"""What served a socket last, in a small file beside it.

Whoever finds nobody listening there can then name the command that brings back this memory, and a daemon that listens
there with another data directory can say that what was remembered is elsewhere.
"""

import json
import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from shelfd.daemon.places import Places
from shelfd.daemon.ready import client_command
from shelfd.daemon.settings import Loaded

ENDING = ".served"
_BYTES = 16_384


@dataclass(frozen=True, slots=True)
class Served:
    """Where a daemon has its data, and a shell command that starts it again."""

    data: Path
    command: str

    def has_shelves(self) -> bool:
        """Return whether there are shelves in its data directory, as far as can be seen."""
        return any((self.data / "shelves").glob("*/shelf.db"))


def by_this(loaded: Loaded, places: Places, environ: Mapping[str, str], *, system: bool, pid: int) -> Served:
    """Return what this process is to be remembered as.

    Args:
        environ: ``SHELFD_STARTED_BY`` in it is the command that people use here, such as ``make run``.
        system: Whether ``--system`` was given.
        pid: This process, to tell whether the service manager started it.
    """
    if environ.get("SHELFD_STARTED_BY"):
        return Served(places.data, f"cd {shlex.quote(str(Path.cwd()))} && {environ['SHELFD_STARTED_BY']}")
    if environ.get("SYSTEMD_EXEC_PID") == str(pid):
        return Served(places.data, f"systemctl {'' if places.is_service else '--user '}start shelfd")
    words = ["run", "--data-dir", str(places.data), "--socket", str(places.socket)]
    if loaded.file is not None:
        words += ["--config", str(loaded.file.absolute())]
    words += ["--system"] if system else []
    words += ["--embedded-broker"] if _is_flag(loaded, "mqtt", "embedded_broker") else []
    words += ["--mqtt-url", loaded.settings.mqtt.url] if _is_flag(loaded, "mqtt", "url") else []
    words += ["--instance", loaded.settings.daemon.instance] if _is_flag(loaded, "daemon", "instance") else []
    return Served(places.data, f"{client_command()} {shlex.join(words)}")


def last(socket: Path) -> Served | None:
    """Return what served *socket* last; None if nobody knows, or somebody else than us or root says so."""
    try:
        file = os.open(_beside(socket), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        if os.fstat(file).st_uid not in (os.getuid(), 0):
            return None
        found = json.loads(os.read(file, _BYTES))
        data, command = found["data"], found["command"]
        return Served(Path(data), command) if (data + command).isprintable() else None
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    finally:
        os.close(file)


def remember(socket: Path, served: Served) -> None:
    """Write down what serves *socket*. Where that is not allowed, as beside a service's socket, nothing is written."""
    record = json.dumps({"data": str(served.data), "command": served.command}).encode() + b"\n"
    draft = _beside(socket).with_name(f".{socket.name}{ENDING}.new")
    try:
        file = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            os.write(file, record)
        finally:
            os.close(file)
        draft.replace(_beside(socket))
    except OSError:
        pass


def _beside(socket: Path) -> Path:
    return socket.with_name(socket.name + ENDING)


def _is_flag(loaded: Loaded, *where: str) -> bool:
    return loaded.origin(where).startswith("flag ")
