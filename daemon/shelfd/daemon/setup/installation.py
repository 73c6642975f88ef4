"""What of this installation a service starts, and whether it could."""

import os
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

#: Directories a sandboxed service sees empty or not at all, and the line of the unit that does it.
_HIDDEN = {
    "/root": "ProtectHome=yes",
    "/home": "ProtectHome=yes",
    "/run/user": "ProtectHome=yes",
    "/tmp": "PrivateTmp=yes",  # noqa: S108 - named, not used
    "/var/tmp": "PrivateTmp=yes",  # noqa: S108
}
# Compiled, because the service cannot write what it compiled, and would do it again at every start.
_ADVICE = """\
install shelfd where every user can read it, for example:
  export UV_TOOL_DIR=/opt/uv-tools UV_TOOL_BIN_DIR=/usr/local/bin
  uv tool install --compile-bytecode --python /usr/bin/python3 shelfd"""


class UnreachableError(Exception):
    """A service of the system could not start this installation."""


@dataclass(frozen=True, slots=True)
class Installation:
    """A command and everything that has to be readable for it to start.

    Attributes:
        command: What ExecStart begins with; absolute.
        needs: By what it is, an absolute path.
    """

    command: tuple[str, ...]
    needs: Sequence[tuple[str, Path]]


def running() -> Installation:
    """Return the installation this process belongs to."""
    executable = Path(sys.executable)
    command = _command(executable)
    found = [("the command", Path(command[0])), *(("the interpreter", path) for path in _links(executable))]
    found += [("the interpreter's library", Path(sys.base_prefix))]
    found += [("a directory of packages", Path(entry)) for entry in sys.path if Path(entry).is_dir()]
    return Installation(command, found)


def named(command: str) -> Installation:
    """Return an installation that is somewhere else: only its *command* is known."""
    return Installation((command,), [("the command", Path(command))])


def check_reachable(installation: Installation) -> None:
    """Refuse what a service in its sandbox, running as a user of its own, could not read.

    Raises:
        UnreachableError: With the path, the reason and what to do.
    """
    for what, path in installation.needs:
        for hidden, line in _HIDDEN.items():
            if path.is_relative_to(hidden):
                raise UnreachableError(f"{what}, {path}, is under {hidden}, which the service cannot see ({line})")
        closed = next((part for part in (path, *path.parents) if _is_closed(part)), None)
        if closed is not None:
            raise UnreachableError(f"{what}, {path}, cannot be read by the service's user: permissions of {closed}")


def explain(error: UnreachableError) -> str:
    """Return the refusal and what to do about it."""
    return f"{error}\n{_ADVICE}"


def _command(executable: Path) -> tuple[str, ...]:
    # The directory's real path, but never the interpreter's: a virtual environment is found by its link.
    for scripts in (executable.parent, Path(sysconfig.get_path("scripts"))):
        script = scripts.resolve() / "shelfd"
        if os.access(script, os.X_OK):
            return (str(script),)
    return (str(executable.parent.resolve() / executable.name), "-P", "-m", "shelfd.client")


def _links(path: Path) -> Iterator[Path]:
    """Yield *path* and every link on the way to the file."""
    seen: set[Path] = set()
    while path not in seen:
        seen.add(path)
        yield path
        if path.is_symlink():
            path = Path(os.path.normpath(path.parent / path.readlink()))
    real = path.resolve()
    if real not in seen:
        yield real


def _is_closed(path: Path) -> bool:
    """Whether users other than the owner and the group cannot read *path*, or pass through it."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False  # what is not there, like a command that is yet to be installed, is said by others
    return not mode & 0o001 if path.is_dir() else not mode & 0o004
