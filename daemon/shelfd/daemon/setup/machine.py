"""What the machine to install on is like."""

import os
import pwd
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

ACCOUNT = "shelfd"


@dataclass(frozen=True, slots=True)
class Machine:
    """Where to install, and what is there to do it with.

    Attributes:
        root: ``/``, or the directory that stands for it.
        is_tree: Whether *root* is only a tree of files: nothing is called, nothing is started.
        runs_manager: Whether the service manager that is to run the service can be asked now.
        has_systemctl: Whether units can be enabled, manager or not.
        has_account: Whether the service's user exists.
        has_sysusers: Whether ``systemd-sysusers`` is there.
        has_tmpfiles: Whether ``systemd-tmpfiles`` is there.
        is_root: Whether this process may change the system.
    """

    root: Path
    is_tree: bool
    runs_manager: bool
    has_systemctl: bool
    has_account: bool
    has_sysusers: bool
    has_tmpfiles: bool
    is_root: bool

    def at(self, path: str | Path) -> Path:
        """Return where *path* of the installed system is now."""
        return self.root / str(path).lstrip("/")


def look(root: Path | None, environ: Mapping[str, str], *, user: bool) -> Machine:
    """Return this machine, or the tree at *root*."""
    runtime = Path(environ.get("XDG_RUNTIME_DIR") or "/nonexistent") if user else Path("/run")
    manager = runtime / "systemd" / ("private" if user else "system")
    has_systemctl = shutil.which("systemctl") is not None
    return Machine(
        root=root or Path("/"),
        is_tree=root is not None,
        runs_manager=root is None and has_systemctl and manager.exists(),
        has_systemctl=has_systemctl,
        has_account=_has_account(),
        has_sysusers=shutil.which("systemd-sysusers") is not None,
        has_tmpfiles=shutil.which("systemd-tmpfiles") is not None,
        is_root=os.geteuid() == 0,
    )


def _has_account() -> bool:
    try:
        pwd.getpwnam(ACCOUNT)
    except KeyError:
        return False
    return True
