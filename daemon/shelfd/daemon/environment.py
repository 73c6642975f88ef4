"""The process environment. Nothing else of the daemon reads it."""

import os
from collections.abc import Mapping

#: What the service manager says to this process alone. A child that inherited it would speak in our name.
_FOR_US_ALONE = ("NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID", "LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES")


def take() -> Mapping[str, str]:
    """Return a copy of the environment and remove from it what is meant for this process alone."""
    environ = dict(os.environ)
    for name in _FOR_US_ALONE:
        os.environ.pop(name, None)
    return environ
