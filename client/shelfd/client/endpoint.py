"""Where a client looks for the daemon's socket, and what it says when no daemon listens there.

Nothing else of the client reads the environment. The daemon leaves beside its socket how it was started.
"""

import json
import os
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

SYSTEM_SOCKET = "/run/shelfd.sock"


def candidates(flag: str | None = None, environ: Mapping[str, str] | None = None) -> list[str]:
    """Return socket paths to try in order; where one is named, by *flag* or $SHELFD_SOCKET, it is the only one."""
    env = os.environ if environ is None else environ
    named = flag or env.get("SHELFD_SOCKET")
    if named:
        return [os.path.expanduser(named)]  # noqa: PTH111 - pathlib costs 5 ms here
    found: list[str] = []
    if env.get("XDG_RUNTIME_DIR"):
        found.append(f"{env['XDG_RUNTIME_DIR']}/shelfd.sock")
    elif os.path.isdir(own := f"/run/user/{os.getuid()}"):  # noqa: PTH112
        found.append(f"{own}/shelfd.sock")  # agents start their servers with hardly any environment
    found.append(SYSTEM_SOCKET)
    data = env.get("XDG_DATA_HOME", "")
    if not data.startswith("/"):  # the XDG rules: a relative path is to be ignored
        data = os.path.expanduser("~/.local/share")  # noqa: PTH111
    found.append(f"{data}/shelfd/shelfd.sock")
    return found


_ENDING: Final = ".served"
_SYSTEM_UNIT: Final = "/etc/systemd/system/shelfd.socket"
_BYTES: Final = 16_384
_BY_OTHERS: Final = 0o022  #: permission bits by which others may write


def is_service_installed(unit: str = _SYSTEM_UNIT) -> bool:
    """Return whether a service of the machine keeps the memory here."""
    return os.path.exists(unit)  # noqa: PTH110 - pathlib costs 5 ms here


def state_directory(environ: Mapping[str, str] | None = None) -> str:
    """Return where a user's logs are, by the XDG rules; it need not exist."""
    env = os.environ if environ is None else environ
    state = env.get("XDG_STATE_HOME", "")
    if not state.startswith("/"):
        state = os.path.expanduser("~/.local/state")  # noqa: PTH111
    return f"{state}/shelfd"


def daemon_environment(environ: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the environment of a daemon that an agent starts.

    It listens where one that the user starts would. Its log is a file that nobody turns over: it writes what is wrong
    alone.
    """
    env = os.environ if environ is None else environ
    own = f"/run/user/{os.getuid()}"
    place = {"XDG_RUNTIME_DIR": own} if os.path.isdir(own) else {}  # noqa: PTH112
    return {"SHELFD__LOG__LEVEL": "warning", **place, **env}


def restart_command(socket: str) -> str | None:
    """Return the shell command that starts the daemon which served *socket* last.

    None unless this user left it, and nobody else can have changed it: it is going to be run.
    """
    found = _served(socket)
    if found is None or found.owner != os.getuid() or found.mode & _BY_OTHERS or not found.is_there:
        return None
    return found.command


def advice(sockets: Sequence[str], *, unit: str = _SYSTEM_UNIT) -> str:
    """Return what to do when no daemon listens at any of these.

    Args:
        sockets: Paths that were tried, in order; a single one was named by the caller.
        unit: Where a service of the machine has its socket's unit.
    """
    for socket in sockets:
        found = _record(socket)
        if found is not None:
            return found
        if socket == SYSTEM_SOCKET and is_service_installed(unit):
            return "there is a service here that does not run: sudo systemctl start shelfd.socket shelfd.service"
    if len(sockets) == 1:
        import shlex  # only when it is needed

        return f"start one there with: shelfd run --socket {shlex.quote(sockets[0])}"
    return "start one with: shelfd run"


def not_admitted(socket: str) -> str:
    """Return what to do when *socket* is there, and whoever asks may not use it."""
    if socket == SYSTEM_SOCKET:
        return "users of the service are in its group: sudo usermod --append --groups shelfd $USER, then log in again"
    return (
        f"{socket} is not open to you: its owner can run shelfd for you, or you start a daemon of your own: shelfd run"
    )


class _Served(NamedTuple):
    """What a daemon left beside its socket."""

    owner: int  #: user id
    mode: int  #: permission bits
    data: str
    command: str  #: empty unless it is ours or root's

    @property
    def is_there(self) -> bool:
        """Whether its data are."""
        return bool(self.command) and os.path.isdir(self.data)  # noqa: PTH112


def _served(socket: str) -> _Served | None:
    """Return what the file beside *socket* says; its command only if it is ours or root's, for it is to be used."""
    try:
        file = os.open(socket + _ENDING, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        status = os.fstat(file)
        if status.st_uid not in (os.getuid(), 0):
            return _Served(status.st_uid, 0, "", "")
        found = json.loads(os.read(file, _BYTES))
        data, command = found["data"], found["command"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    finally:
        os.close(file)
    is_text = isinstance(data, str) and isinstance(command, str) and (data + command).isprintable()
    return _Served(status.st_uid, status.st_mode, data, command) if is_text else None


def _record(socket: str) -> str | None:
    """Return what to do about the daemon that served *socket* last, if that is known."""
    found = _served(socket)
    if found is None:
        return None
    if found.owner not in (os.getuid(), 0):
        return f"the daemon that served {socket} is another user's (uid {found.owner}), who can start it again"
    if not found.is_there:
        return None
    return f"what is remembered there is in {found.data}; start its daemon again with:\n  {found.command}"
