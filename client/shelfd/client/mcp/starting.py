"""Starting the user's daemon where none listens.

It is the daemon that would serve there anyway: by the command that the last one left beside its socket, or else as
``shelfd run`` does. It outlives whoever started it, for it is not theirs: other agents find it, and it tends the memory
by itself. Two that start one at the same time get one, for the second finds the data taken and ends.
"""

import os
import sys
from collections.abc import Sequence
from typing import Final

from shelfd.client.endpoint import daemon_environment, restart_command, state_directory

#: How much of its log says why it did not start.
_TAIL_BYTES: Final = 2048


class Starting:
    """A daemon on its way."""

    def __init__(self, sockets: Sequence[str], *, is_named: bool) -> None:
        """Start one.

        Args:
            sockets: Where it is looked for.
            is_named: Whether the first of them was named, and so has to be where it listens.

        Raises:
            OSError: If no process can be made, or there is nowhere to log to.
        """
        self.log = _log_path()
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW
        log = os.open(self.log, flags, 0o600)
        try:
            self._start_bytes = os.fstat(log).st_size
            command = _command(sockets, is_named=is_named)
            actions = [
                (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                (os.POSIX_SPAWN_DUP2, log, 1),
                (os.POSIX_SPAWN_DUP2, log, 2),
            ]
            # Neither in our session, for who ends our process group does not mean the daemon, nor in our directory,
            # which it would keep from being unmounted.
            here = os.open(".", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                os.chdir("/")
                self._pid = os.posix_spawn(command[0], command, daemon_environment(), file_actions=actions, setsid=True)
            finally:
                os.fchdir(here)
                os.close(here)
        finally:
            os.close(log)
        self._has_ended = False

    def has_ended(self) -> bool:
        """Return whether the process is gone: it could not start, or left the work to another one."""
        if not self._has_ended:
            try:
                self._has_ended = os.waitpid(self._pid, os.WNOHANG)[0] != 0
            except ChildProcessError:
                self._has_ended = True
        return self._has_ended

    def why(self) -> str:
        """Return the last line that it wrote, and where the others are."""
        try:
            with open(self.log, "rb") as file:  # noqa: PTH123 - pathlib costs 5 ms here
                end = file.seek(0, os.SEEK_END)
                file.seek(max(self._start_bytes, end - _TAIL_BYTES))
                lines = [line.strip() for line in file.read().decode("utf-8", "replace").splitlines() if line.strip()]
        except OSError:
            lines = []
        said = "".join(character for character in lines[-1] if character.isprintable())[:500] if lines else ""
        return f"{said} (its log: {self.log})" if said else f"it said nothing (its log: {self.log})"


def _command(sockets: Sequence[str], *, is_named: bool) -> list[str]:
    for socket in sockets:
        if (found := restart_command(socket)) is not None:
            return ["/bin/sh", "-c", f"exec {found}" if " && " not in found else found]
    place = ["--socket", os.path.abspath(sockets[0])] if is_named else []  # noqa: PTH100 - pathlib costs 5 ms here
    # -P: a folder called shelfd in the current directory must not be taken for the daemon.
    return [sys.executable, "-P", "-m", "shelfd.daemon", *place]


def _log_path() -> str:
    directory = state_directory()
    os.makedirs(directory, mode=0o700, exist_ok=True)  # noqa: PTH103
    return f"{directory}/daemon.log"
