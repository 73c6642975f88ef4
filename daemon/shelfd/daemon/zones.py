"""Time zones: the one that is named, or the machine's own."""

from datetime import tzinfo
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError


def zone(name: str, localtime: Path = Path("/etc/localtime"), named: Path = Path("/etc/timezone")) -> tzinfo:
    """Return the time zone *name*; ``system`` is the machine's, or UTC when it does not say which it has."""
    return ZoneInfo(name if name != "system" else system_zone(localtime, named))


def system_zone(localtime: Path, named: Path) -> str:
    """Return the name of the machine's time zone, UTC when it has none."""
    # The link's target ends in the zone's name: /usr/share/zoneinfo/Europe/Berlin.
    candidates = [str(localtime.resolve()).partition("zoneinfo/")[2].removeprefix("posix/")]
    if named.is_file():
        candidates.append(named.read_text(encoding="utf-8", errors="replace").strip())
    for candidate in filter(None, candidates):
        try:
            return ZoneInfo(candidate).key
        except (ZoneInfoNotFoundError, ValueError, OSError):
            continue
    return "UTC"
