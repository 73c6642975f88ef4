"""What a doctor looks at that needs no running daemon: directory, disk, files of shelves, backups, MEMORY.md."""

import os
import resource
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from shlex import quote
from typing import Any, Final, NamedTuple

from shelfd.daemon.places import Places

LOW_SPACE_BYTES: Final = 256 * 1024 * 1024
_FEW_FILES: Final = 1024
_DAY_S: Final = 86_400
#: A file that was written this much after now: the clock was set back, or is wrong.
_AHEAD_S: Final = 300


class Finding(NamedTuple):
    """One thing that was looked at; *fix* is a command that mends it, or goes further."""

    check: str
    ok: bool
    detail: str
    fix: str | None = None

    def view(self) -> dict[str, Any]:
        """Return it as it goes over the wire."""
        return {name: value for name, value in self._asdict().items() if value is not None}


def look_at_files(places: Places, backups: Path, connections_count: int, now: int) -> list[Finding]:
    """Look at everything but the socket and the shelves themselves. Blocks where a disk does.

    Args:
        places: Where data is.
        backups: Where backups are, a directory for each shelf.
        connections_count: How many connections there may be.
        now: Microseconds since 1970 UTC.
    """
    looks: Sequence[Callable[[], Finding]] = (
        lambda: _data_dir(places.data),
        lambda: _free_space(places.data),
        lambda: _copies(places.data),
        lambda: _backups(backups, now / 1e6),
        lambda: _clock(places.data, now / 1e6),
        lambda: _open_files(connections_count),
    )
    return [look() for look in looks]


def _data_dir(data: Path) -> Finding:
    if not data.exists():
        return Finding("data_dir", True, f"{data} is not there yet: a daemon makes it when it starts")
    if not os.access(data, os.W_OK | os.X_OK):
        is_ours = data.stat().st_uid == os.getuid()
        fix = f"chmod u+wx {quote(str(data))}" if is_ours else f"sudo chown {os.getuid()} {quote(str(data))}"
        return Finding("data_dir", False, "not writable: see its owner and mode", fix)
    if data.stat().st_mode & 0o077:
        return Finding("data_dir", False, "writable; others can look in: chmod 700", f"chmod 700 {quote(str(data))}")
    return Finding("data_dir", True, "writable and private")


def _free_space(data: Path) -> Finding:
    place = next((one for one in (data, *data.parents) if one.exists()), Path("/"))
    free = shutil.disk_usage(place).free
    advice = "" if free >= LOW_SPACE_BYTES else f"; less than {LOW_SPACE_BYTES >> 20} MiB, make room"
    return Finding("free_space", free >= LOW_SPACE_BYTES, f"{free >> 20} MiB{advice}")


def _copies(data: Path) -> Finding:
    """Copies of shelves beside them, made before their schema or all of them was replaced: a person removes them."""
    shelves = data / "shelves"
    found = sorted((*shelves.glob("*/shelf.before-*.sqlite"), *shelves.glob("*/shelf.replaced-*.sqlite")))
    if not found:
        return Finding("copies", True, "none")
    names = ", ".join(f"{copy.parent.name}/{copy.name}, {copy.stat().st_size >> 20} MiB" for copy in found)
    detail = f"{names}: as they were before this version, or a backup, replaced them; remove them when all is well"
    return Finding("copies", True, detail, f"rm {' '.join(quote(str(copy)) for copy in found[:5])}")


def _backups(folder: Path, now_s: float) -> Finding:
    newest = max((one.stat().st_mtime for one in folder.glob("*/*.db")), default=None)
    if newest is None:
        return Finding("backups", True, f"none in {folder}; [backup] cron makes them by itself", "shelfd backup")
    days = int((now_s - newest) // _DAY_S)
    return Finding("backups", True, f"the last one is {days} days old" if days > 0 else "the last one is of today")


def _clock(data: Path, now_s: float) -> Finding:
    """Compare the clock with when shelves were last written to."""
    written = max((file.stat().st_mtime for file in (data / "shelves").glob("*/shelf.db*")), default=0.0)
    ahead = written - now_s
    if ahead > _AHEAD_S:
        detail = f"shelves were written to {ahead / 3600:.1f} hours after now: the clock is wrong, or was"
        return Finding("clock", False, detail, "timedatectl set-ntp true")
    return Finding("clock", True, "not before the last change")


def _open_files(connections_count: int) -> Finding:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = max(_FEW_FILES, connections_count * 2)
    if soft >= needed:
        return Finding("open_files", True, f"limit {soft}")
    detail = f"limit {soft}; at least {needed} are wanted: LimitNOFILE or ulimit -n"
    return Finding("open_files", False, detail, f"ulimit -n {min(needed, hard)}")


def look_at_memory_files(paths: Sequence[tuple[str, Path]]) -> Iterator[Finding]:
    """Look whether MEMORY.md can be written, by shelf and path."""
    for shelf, path in paths:
        folder = path.parent
        if not folder.is_dir():
            yield Finding(f"memory_md {shelf}", False, f"{folder} does not exist", f"mkdir -p {quote(str(folder))}")
        elif not os.access(path if path.exists() else folder, os.W_OK):
            yield Finding(f"memory_md {shelf}", False, f"{path} cannot be written to: see its owner and mode")
        else:
            yield Finding(f"memory_md {shelf}", True, str(path))
