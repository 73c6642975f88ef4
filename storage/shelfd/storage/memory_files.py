"""MEMORY.md files: where each shelf's is, and how one is replaced without ever being half written."""

import asyncio
import os
import posixpath
import stat
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from fcntl import LOCK_EX, LOCK_NB, flock
from pathlib import Path
from typing import Final, NamedTuple

from shelfd.memory.errors import ConfigError, Unavailable
from shelfd.memory.shelf.access import DEFAULT_SHELF
from shelfd.memory.tending.promotion import LeftAlone, Target

FILE_NAME: Final = "MEMORY.md"
_LARGEST: Final = 1 << 20  #: bytes; what is larger is no memory file, whatever its name
_PRIVATE_DIR: Final = 0o700
#: How the name of a file begins and ends that is about to replace one.
_TEMPORARY: Final = (f".{FILE_NAME}.", ".tmp")


class Destination(NamedTuple):
    """Where one shelf's lines go as it is configured: a file, or a project's directory, or (both empty) neither."""

    path: str = ""
    project_dir: str = ""


_BESIDE_NOTES: Final = Destination()


class PromotionPaths:
    """Knows where each shelf's MEMORY.md is.

    Args:
        data: The data directory; a shelf without a setting of its own has its file beside its notes.
        home: Home of the daemon's user; projects have theirs in ``.claude/projects`` under it.
        default: Destination of shelf ``default``.
        shelves: Destinations of others.
        projects: Directories of projects: every writer of a shelf may have it promoted to their files.
    """

    def __init__(
        self,
        data: Path,
        home: Path,
        default: Destination = _BESIDE_NOTES,
        shelves: Mapping[str, Destination] | None = None,
        projects: Sequence[str] = (),
    ) -> None:
        self._data = data
        self._home = home
        self._destinations = {DEFAULT_SHELF: default, **(shelves or {})}
        self._projects = tuple(projects)

    def check(self) -> None:
        """Make sure that no two shelves write to one file.

        Raises:
            ConfigError: If they would, or a destination makes no sense.
        """
        for project in self._projects:
            if not self._expanded(project).is_absolute():
                raise ConfigError(f"promotion.projects: {project!r} must be absolute or begin with ~/")
        owners: dict[str, str] = {}
        for shelf, destination in self._destinations.items():
            if destination.path and destination.project_dir:
                raise ConfigError(f"promotion of shelf {shelf!r}: set path or project_dir, not both")
            for key, value in destination._asdict().items():
                if value and not self._expanded(value).is_absolute():
                    raise ConfigError(f"promotion of shelf {shelf!r}: {key} must be absolute or begin with ~/")
            path = os.path.realpath(self._file(shelf, destination))
            other = owners.setdefault(path, shelf)
            if other == shelf:
                other = self._shelf_beside(path) or shelf
            if other != shelf:
                raise ConfigError(f"promotion: shelves {other!r} and {shelf!r} would write to one file, {path}")

    def target(self, shelf: str, project: str | None) -> Target:
        """Return where a shelf's lines go, for a *project* or as configured. Looks whether the directory is there."""
        destination = self._destinations.get(shelf, _BESIDE_NOTES)
        if project is not None:
            destination = Destination(project_dir=project)
        file = self._file(shelf, destination)
        try:
            if destination.project_dir and not file.parent.parent.is_dir():
                where = f"~/.claude/projects/{file.parent.parent.name}"
                return Target(None, f"there is no project folder {where}; nothing was written")
            if destination.path and not file.parent.is_dir():
                return Target(None, "the directory of promotion.path does not exist; nothing was written")
        except OSError as error:  # a name too long for the file system, a directory that must not be looked into
            return Target(None, f"the directory cannot be looked at: {error.strerror}; nothing was written")
        return Target(str(file))

    def is_open(self, project: str) -> bool:
        """Return whether *project* has the file of one that is listed: several directories may share one."""
        return self._project_file(project) in map(self._project_file, self._projects)

    def _file(self, shelf: str, destination: Destination) -> Path:
        if destination.path:
            return self._expanded(destination.path)
        if destination.project_dir:
            return self._project_file(destination.project_dir)
        return self._data / "shelves" / shelf / FILE_NAME

    def _project_file(self, project: str) -> Path:
        directory = posixpath.normpath(self._expanded(project)).replace("//", "/", 1)
        return self._home / ".claude" / "projects" / directory.replace("/", "-") / "memory" / FILE_NAME

    def _expanded(self, path: str) -> Path:
        return self._home / path[2:] if path.startswith("~/") else Path(path)

    def _shelf_beside(self, path: str) -> str | None:
        """The shelf that has its file at *path* without being configured."""
        file = Path(path)
        shelf = file.parent.name
        if shelf in self._destinations or path != os.path.realpath(self._file(shelf, _BESIDE_NOTES)):
            return None
        return shelf


class DiskMemoryFiles:
    """:class:`~shelfd.memory.tending.promotion.MemoryFiles` on disk. Works on threads: a disk may be slow."""

    def __init__(self, paths: PromotionPaths) -> None:
        self._paths = paths

    async def target(self, shelf: str, project: str | None) -> Target:
        """Return where the shelf's lines go. See the port."""
        return await asyncio.to_thread(self._paths.target, shelf, project)

    def is_open(self, project: str) -> bool:
        """Return whether every caller may name *project*. See the port."""
        return self._paths.is_open(project)

    async def read(self, path: str) -> bytes | None:
        """Return the file's bytes. See the port."""
        return await asyncio.to_thread(read_file, path)

    async def replace(self, path: str, old: bytes | None, new: bytes) -> bool:
        """Replace the file. See the port."""
        return await asyncio.to_thread(replace_file, path, old, new)

    async def clean_up(self, path: str) -> None:
        """Remove what was left beside the file. See the port."""
        await asyncio.to_thread(lambda: remove_left_over(Path(os.path.realpath(path)).parent))


def read_file(path: str) -> bytes | None:
    """Return a file's bytes, None if there is none. See the port."""
    with _translated("read"):
        try:
            # A pipe of this name would make a plain open wait for a writer.
            descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        except FileNotFoundError:
            return None
        try:
            _check_regular(os.fstat(descriptor))
            with os.fdopen(descriptor, "rb", closefd=False) as file:
                data = file.read(_LARGEST + 1)
        finally:
            os.close(descriptor)
    if len(data) > _LARGEST:
        raise LeftAlone(f"{FILE_NAME} is larger than {_LARGEST} bytes; it was left alone")
    return data


def replace_file(path: str, old: bytes | None, new: bytes) -> bool:
    """Replace a file if it still holds *old*: a new one beside it, then a rename. See the port.

    A symbolic link stays one, what it leads to is replaced. Mode and owner are kept. Somebody's write in the
    instant between the last look and the rename is lost, as it is between any two editors.
    """
    with _translated("written"):
        real = Path(os.path.realpath(path))
        with suppress(FileExistsError):
            real.parent.mkdir(mode=_PRIVATE_DIR)
        remove_left_over(real.parent)
        descriptor, name = tempfile.mkstemp(prefix=_TEMPORARY[0], suffix=_TEMPORARY[1], dir=real.parent)
        temporary = Path(name)
        try:
            with os.fdopen(descriptor, "wb") as file:
                flock(descriptor, LOCK_EX)  # so that cleaning up leaves it alone
                _dress_like(descriptor, real)
                file.write(new)
                file.flush()
                os.fsync(descriptor)
            if read_file(str(real)) != old:
                return False
            temporary.replace(real)
        finally:
            temporary.unlink(missing_ok=True)
        _sync_directory(real.parent)
    return True


def remove_left_over(directory: Path) -> int:
    """Remove the unfinished files of daemons that died while they replaced one in *directory*; return how many."""
    removed = 0
    with suppress(OSError):  # no daemon ever got this far
        for entry in os.scandir(directory):
            if entry.name.startswith(_TEMPORARY[0]) and entry.name.endswith(_TEMPORARY[1]):
                removed += _remove_unlocked(Path(entry.path))
    return removed


def _remove_unlocked(path: Path) -> bool:
    """Remove a file unless a daemon is at work on it."""
    with suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW)
        try:
            flock(descriptor, LOCK_EX | LOCK_NB)
            path.unlink()
            return True
        finally:
            os.close(descriptor)
    return False


def _dress_like(descriptor: int, path: Path) -> None:
    """Give the new file mode and owner of the one it replaces; without one it stays private."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return
    _check_regular(status)
    mine = os.fstat(descriptor)
    if (status.st_uid, status.st_gid) != (mine.st_uid, mine.st_gid):
        os.fchown(descriptor, status.st_uid, status.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(status.st_mode))


def _check_regular(status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise LeftAlone(f"{FILE_NAME} is not a regular file; it was left alone")


def _sync_directory(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _translated(done: str) -> Iterator[None]:
    """Say what the system refuses without saying where."""
    try:
        yield
    except OSError as error:
        raise Unavailable(
            f"{FILE_NAME} cannot be {done}: {error.strerror}; let the daemon's user write the file and its directory, "
            "or set promotion.path to another place"
        ) from error
