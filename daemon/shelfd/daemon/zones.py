"""Time zones: the one that is named, or the machine's own."""

import struct
from datetime import tzinfo
from io import BytesIO
from pathlib import Path
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

SYSTEM: Final = "system"
_LOCALTIME: Final = Path("/etc/localtime")
#: One zone file's header and data without a single change of clock: what counts is the rule that ends the file.
_NO_CHANGES: Final = struct.pack(">5s15x6l", b"TZif2", 0, 0, 0, 0, 1, 4) + struct.pack(">lbB4s", 0, 0, 0, b"UTC\0")


def zone(name: str, localtime: Path = _LOCALTIME) -> tzinfo:
    """Return the time zone *name*.

    Args:
        name: What ``TZ`` may hold: a name like Europe/Berlin, the absolute path of a zone file or a rule like
            ``CET-1CEST,M3.5.0,M10.5.0/3``, each with or without a colon before it; empty for UTC. Or ``system``, for
            what *localtime* holds.

    Raises:
        ValueError: If there is no such zone.
    """
    if name == SYSTEM:
        return _of_the_machine(localtime)
    text = name.removeprefix(":") or "UTC"
    if text.startswith("/"):
        return _of_file(Path(text))
    try:
        return ZoneInfo(text)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return _of_rule(text)


def _of_the_machine(localtime: Path) -> tzinfo:
    """Return what *localtime* says: by its name if it is a link to a zone, else by what it holds; UTC without it."""
    # The target of a link ends in the zone's name: /usr/share/zoneinfo/Europe/Berlin.
    try:
        name = str(localtime.resolve()).partition("zoneinfo/")[2].removeprefix("posix/")
        return ZoneInfo(name) if name else _of_file(localtime, "localtime")
    except (ZoneInfoNotFoundError, ValueError, OSError, RuntimeError):  # the last of a circle of links
        return ZoneInfo("UTC")  # as every other program takes it


def _of_file(path: Path, name: str | None = None) -> ZoneInfo:
    if not path.is_file():
        raise ValueError(f"no such zone file: {path}")
    try:
        with path.open("rb") as file:
            return ZoneInfo.from_file(file, key=name or str(path))
    except (OSError, struct.error) as error:
        raise ValueError(f"no zone file, or only a part of one: {path}") from error


def _of_rule(text: str) -> ZoneInfo:
    if not text.isascii() or not text.isprintable():
        raise ValueError("no such zone")
    file = BytesIO(_NO_CHANGES + _NO_CHANGES + b"\n" + text.encode() + b"\n")
    return ZoneInfo.from_file(file, key=text)
