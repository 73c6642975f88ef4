"""Access to the embedded broker: two users, their passwords and their topics."""

import os
import secrets
import stat
from collections.abc import Callable, Mapping
from hmac import compare_digest
from pathlib import Path
from typing import Final, Literal, NamedTuple

from shelfd.gateway.mqtt.topics import ROOT
from shelfd.memory.errors import ConfigError

DAEMON: Final = "shelfd"
AGENT: Final = "agent"

Direction = Literal["read", "write"]
#: Says whether a principal may read a shelf.
MayRead = Callable[[str, str], bool]

_LEVELS: Final = len(ROOT.split("/")) + 3  #: of a topic up to a shelf's name: the root, instance, kind, shelf


class Grant(NamedTuple):
    """Topic filters of one user."""

    read: tuple[str, ...]
    write: tuple[str, ...]


#: By user. There are no others. Of events and standing queries :func:`may_receive` picks the readable shelves'.
GRANTS: Final[Mapping[str, Grant]] = {
    DAEMON: Grant((f"{ROOT}/#",), (f"{ROOT}/#",)),
    AGENT: Grant(
        read=tuple(f"{ROOT}/+/{rest}" for rest in (f"rep/{AGENT}/#", "ev/#", "watch/#", "status", "health")),
        write=(f"{ROOT}/+/req/{AGENT}/#",),
    ),
}


def may(user: str | None, direction: Direction, topic: str) -> bool:
    """Return whether *user* may read from, or write to, everything that *topic*, a topic or a filter, stands for."""
    grant = GRANTS.get(user or "")
    if grant is None:
        return False
    return any(covers(allowed, topic) for allowed in (grant.read if direction == "read" else grant.write))


def may_receive(user: str | None, topic: str, may_read: MayRead) -> bool:
    """Return whether a message on *topic* goes to *user*, who has subscribed to it.

    What is published about a shelf goes to those who may read it at that moment: shelves and rules change.
    """
    if not may(user, "read", topic):
        return False
    levels = topic.split("/")
    if user == DAEMON or len(levels) < _LEVELS or levels[_LEVELS - 2] not in ("ev", "watch"):
        return True
    return may_read(f"mqtt:{user}", levels[_LEVELS - 1])


def covers(allowed: str, wanted: str) -> bool:
    """Return whether the filter *allowed* matches every topic that *wanted*, a topic or a filter, matches."""
    above, below = allowed.split("/"), wanted.split("/")
    for position, level in enumerate(above):
        if level == "#":
            return True
        if position >= len(below) or below[position] == "#":
            return False
        if level not in ("+", below[position]):
            return False
    return len(above) == len(below)


class Credentials:
    """The users' passwords: made once, each in a file that only the daemon's user may read.

    Args:
        directory: Where the files are; made by :meth:`load` if it is missing.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._passwords: dict[str, bytes] = {}

    def file(self, user: str) -> Path:
        """Return where the password of *user* is kept."""
        return self._directory / f"{user}.password"

    def load(self) -> None:
        """Read every user's password; make those that are missing.

        Raises:
            ConfigError: If a file cannot be used, or others may read it.
        """
        try:
            self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            for user in GRANTS:
                self._passwords[user] = _read_private(self.file(user)) or _make(self.file(user))
        except OSError as error:
            raise ConfigError(
                f"cannot keep the embedded broker's passwords in {self._directory}: {error.strerror}",
                field="mqtt.embedded_broker",
            ) from error

    def admits(self, user: str | None, password: bytes | None) -> bool:
        """Return whether this is a user's password; takes as long for a wrong one as for the right one."""
        expected = self._passwords.get(user or "")
        return compare_digest(expected or secrets.token_bytes(16), password or b"") and expected is not None


def _read_private(path: Path) -> bytes:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return b""
    with open(descriptor, "rb") as file:  # noqa: PTH123 - a descriptor
        mode = os.fstat(descriptor).st_mode
        if not stat.S_ISREG(mode) or stat.S_IMODE(mode) & 0o077:
            raise ConfigError(
                f"{path} may be read by others; remove it, and a new password is made", field="mqtt.embedded_broker"
            )
        return file.read(1024).strip()


def _make(path: Path) -> bytes:
    password = secrets.token_urlsafe(24).encode()
    fresh = path.with_suffix(".new")
    fresh.unlink(missing_ok=True)
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with open(descriptor, "wb") as file:  # noqa: PTH123 - a descriptor
        file.write(password + b"\n")
    # Only a complete password ever has the name that is read.
    fresh.replace(path)
    return password
