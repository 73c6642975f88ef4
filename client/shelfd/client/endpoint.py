"""Where a client looks for the daemon's socket. Nothing else of the client reads the environment."""

import os
from collections.abc import Mapping

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
