"""Where a client looks for the daemon's socket, and what it says when no daemon listens there.

Nothing else of the client reads the environment. The daemon leaves beside its socket how it was started.
"""

import json
import os
from collections.abc import Mapping, Sequence
from typing import Final

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
    found.append(SYSTEM_SOCKET)
    data = env.get("XDG_DATA_HOME", "")
    if not data.startswith("/"):  # the XDG rules: a relative path is to be ignored
        data = os.path.expanduser("~/.local/share")  # noqa: PTH111
    found.append(f"{data}/shelfd/shelfd.sock")
    return found


_ENDING: Final = ".served"
_SYSTEM_UNIT: Final = "/etc/systemd/system/shelfd.socket"
_BYTES: Final = 16_384


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
        if socket == SYSTEM_SOCKET and os.path.exists(unit):  # noqa: PTH110 - pathlib costs 5 ms here
            return "there is a service here that does not run: sudo systemctl start shelfd.socket shelfd.service"
    if len(sockets) == 1:
        import shlex  # only when it is needed

        return f"start one there with: shelfd run --socket {shlex.quote(sockets[0])}"
    return "start one with: shelfd run"


def _record(socket: str) -> str | None:
    """Return what the file beside *socket* says; its command only if it is ours or root's, for it is to be pasted."""
    try:
        file = os.open(socket + _ENDING, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        owner = os.fstat(file).st_uid
        if owner not in (os.getuid(), 0):
            return f"the daemon that served {socket} is another user's (uid {owner}), who can start it again"
        found = json.loads(os.read(file, _BYTES))
        data, command = found["data"], found["command"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    finally:
        os.close(file)
    is_text = isinstance(data, str) and isinstance(command, str) and (data + command).isprintable()
    if not is_text or not os.path.isdir(data):  # noqa: PTH112
        return None
    return f"what is remembered there is in {data}; start its daemon again with:\n  {command}"
