"""How people find the daemon: the READY line, and a small file beside its socket that says what served it last.

A client that finds no daemon listening there can then name the command that brings back this memory, and a daemon that
listens there with another data directory can say that the memories are elsewhere.
"""

import json
import os
import shlex
import shutil
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from shelfd.daemon import streams
from shelfd.daemon.places import Places
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
    """Return the record of this process.

    Args:
        environ: ``SHELFD_STARTED_BY`` in it is the command that is used here, such as ``make run``.
        system: Whether ``--system`` was given.
        pid: This process, to find out whether the service manager started it.
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
    """Return what served *socket* last; None if that is unknown, or recorded by a user other than us or root."""
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
    """Record what serves *socket*. Where that is not allowed, as beside a service's socket, nothing is written."""
    record = json.dumps({"data": str(served.data), "command": served.command}).encode() + b"\n"
    draft = _beside(socket).with_name(f".{socket.name}{ENDING}.new")
    with suppress(OSError):
        draft.unlink(missing_ok=True)
        file = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            is_whole = os.write(file, record) == len(record)
        except OSError:
            is_whole = False
        finally:
            os.close(file)
        if is_whole:
            draft.replace(_beside(socket))
        else:  # the disk is full
            draft.unlink()


def _beside(socket: Path) -> Path:
    return socket.with_name(socket.name + ENDING)


def _is_flag(loaded: Loaded, *where: str) -> bool:
    return loaded.origin(where).startswith("flag ")


def announce(places: Places, *, has_mqtt: bool = False, warning: str | None = None) -> None:
    """Print the READY line and the commands below it on stdout.

    Args:
        has_mqtt: Whether events can be watched over MQTT without further settings.
        warning: A warning to print with it.
    """
    command, socket = client_command(), shlex.quote(str(places.socket))
    lines = [
        f"READY socket={socket} data={shlex.quote(str(places.data))}",
        f'  {command} remember "the kettle is green" --socket {socket}',
        f'  {command} recall "which colour has the kettle" --socket {socket}',
        f'  echo \'{{"jsonrpc":"2.0","id":1,"method":"system.health"}}\' | socat - UNIX-CONNECT:{socket}',
    ]
    if has_mqtt:
        lines.append(f"  {command} watch --mqtt --socket {socket}")
    if warning is not None:
        lines.append(f"WARNING {warning}")
    # One write: a reader that waits for READY gets all of it. Without a reader the daemon serves all the same.
    streams.say("\n".join(lines) + "\n")


def client_command() -> str:
    """Return how the ``shelfd`` command is called from a shell: by name if the search path leads to ours."""
    ours = Path(sys.executable).with_name("shelfd")
    found = shutil.which("shelfd")
    if found is not None and (not ours.exists() or Path(found).resolve() == ours.resolve()):
        return "shelfd"
    return shlex.quote(str(ours)) if ours.exists() else f"{shlex.quote(sys.executable)} -m shelfd.client"
