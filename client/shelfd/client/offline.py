"""Calls that are carried out without a daemon: on its data directory, under its lock, by a process of their own."""

import json
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

from shelfd.client.invocation import Stop
from shelfd.client.streams import complain


def call_offline(method: str, params: Mapping[str, Any], *, data_dir: str | None, config: str | None) -> Any:  # noqa: ANN401
    """Carry a call out and return its result; what goes wrong is said on stderr.

    Args:
        method: One that works on whole shelves: ``shelf.backup``, ``shelf.restore``.
        params: Its params.
        data_dir: Where the shelves are; None: where a daemon would have them.
        config: The configuration file; None: the one that a daemon would read.

    Raises:
        Stop: With the status that it failed with, such as 75 when a daemon has the directory.
    """
    places = [*(("--data-dir", data_dir) if data_dir else ()), *(("--config", config) if config else ())]
    # -P: a folder called shelfd in the current directory must not be taken for the daemon.
    command = [sys.executable, "-P", "-m", "shelfd.daemon", "offline", *places, method]
    ended = subprocess.run(  # noqa: S603 - our own interpreter and module
        command, input=json.dumps(params), capture_output=True, text=True, check=False
    )
    if ended.returncode:
        complain(ended.stderr.strip().removeprefix("shelfd: "))
        raise Stop(ended.returncode)
    return json.loads(ended.stdout)
