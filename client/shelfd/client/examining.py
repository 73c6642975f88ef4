"""What a doctor finds: the daemon's own, if one listens, else that of a process which looks at its files."""

import json
import subprocess
import sys
from importlib.metadata import version
from typing import Any

from shelfd.client.failure import NotRunning
from shelfd.client.invocation import Stop, reported
from shelfd.client.streams import complain
from shelfd.client.transport import connect


def examine(socket: str | None, *, data_dir: str | None, config: str | None) -> dict[str, Any]:
    """Return what was found, as ``system.doctor`` answers.

    Args:
        socket: Where the daemon listens; None: the usual places.
        data_dir: Look at this directory, whether a daemon serves it or not.
        config: The configuration file that a daemon would read.

    Raises:
        Stop: If nothing can be found out; that is said.
    """
    if data_dir is None and config is None:
        with reported():
            try:
                with connect(socket) as client:
                    found = dict(client.call("system.doctor"))
                    running = client.call("system.version")["version"]
            except NotRunning:
                pass
            else:
                return _with(found, _skew(running))
    # -P: a folder called shelfd in the current directory must not be taken for the daemon.
    places = [*(("--data-dir", data_dir) if data_dir else ()), *(("--config", config) if config else ())]
    places += ["--socket", socket] if socket else []
    command = [sys.executable, "-P", "-m", "shelfd.daemon", "doctor", *places]
    ended = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)  # noqa: S603
    try:
        return dict(json.loads(ended.stdout))
    except ValueError:
        complain(ended.stderr.strip().removeprefix("shelfd: ") or "nothing can be found out")
        raise Stop(ended.returncode or 1) from None


def _skew(running: str) -> dict[str, Any]:
    """Compare the daemon's version with the one that is installed here."""
    ours = version("shelfd")
    if ours == running:
        return {"check": "version", "ok": True, "detail": running}
    detail = f"the daemon is {running} and this command {ours}: an upgrade needs a restart"
    return {"check": "version", "ok": False, "detail": detail, "fix": "systemctl restart shelfd"}


def _with(found: dict[str, Any], finding: dict[str, Any]) -> dict[str, Any]:
    return {"ok": found["ok"] and finding["ok"], "findings": [finding, *found["findings"]]}
