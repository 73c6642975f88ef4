"""Turns this process into the daemon."""

import os
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from typing import NoReturn

from shelfd.client.streams import complain


def become_daemon(arguments: Sequence[str]) -> NoReturn:
    """Replace this process by ``python -m shelfd.daemon`` with *arguments*; its process id stays.

    Raises:
        SystemExit: If only the client is installed.
    """
    if find_spec("shelfd.daemon") is None:
        complain("this is the client alone, without a daemon; install shelfd instead of shelfd-client", "NoDaemon")
        raise SystemExit(os.EX_UNAVAILABLE)
    if sys.stdout is not None:  # the shell may have closed it
        sys.stdout.flush()
    # -P: a folder called shelfd in the current directory must not be taken for the daemon.
    os.execv(sys.executable, [sys.executable, "-P", "-m", "shelfd.daemon", *arguments])  # noqa: S606 - no shell wanted
