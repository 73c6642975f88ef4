"""Backups as they lie in a directory: each a file that is a shelf, and a manifest beside it that says what is in it.

``NAME.db`` has its manifest in ``NAME.db.json``. The manifest gets its name first: a file that has one is whole.
"""

import hashlib
import json
import os
import re
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from shelfd.memory.errors import NotFound, StorageCorrupt
from shelfd.memory.ports.backups import Backup, Manifest
from shelfd.protocol import from_micros
from shelfd.protocol.base import to_micros
from shelfd.storage.sqlite.files import sync

_FORMAT: Final = 1
_SUFFIX: Final = ".json"
_LARGEST: Final = 1 << 16  #: bytes of a manifest
_CHUNK: Final = 1 << 20
_PRIVATE: Final = 0o600
#: How a manifest names what a :class:`Manifest` has.
_WIRE: Final = {
    "shelf": "shelf", "seq": "seq", "schema_version": "schema", "shelfd": "version", "instance": "instance",
    "bytes": "size", "sha256": "sha256", "logical_hash": "logical_hash", "run_id": "run_id",
}  # fmt: skip
_TYPES: Final = {"seq": int, "schema_version": int, "bytes": int}


def name_of(shelf: str, made_at: int, seq: int) -> str:
    """Return the name that a backup gets in a directory, without a number that tells it from one just like it."""
    moment = datetime.fromtimestamp(made_at / 1e6, tz=UTC)
    return f"{shelf}-{moment:%Y%m%dT%H%M%SZ}-{seq}"


def named_like(shelf: str) -> re.Pattern[str]:
    """Return the pattern of the names that a shelf's backups get in a directory."""
    return re.compile(re.escape(shelf) + r"-\d{8}T\d{6}Z-\d+(_\d+)?\.db")


def manifest_beside(path: Path) -> Path:
    """Return where the manifest of a backup is."""
    return path.with_name(path.name + _SUFFIX)


def write_manifest(path: Path, manifest: Manifest, name: str) -> None:
    """Write a manifest durably; *name* is the backup's file.

    Raises:
        OSError: If that fails.
    """
    said: dict[str, Any] = {"format": _FORMAT, "file": name, "made_at": from_micros(manifest.made_at)}
    said |= {wire: getattr(manifest, field) for wire, field in _WIRE.items()}
    descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC | os.O_NOFOLLOW, _PRIVATE)
    try:
        os.write(descriptor, json.dumps(said, indent=2).encode() + b"\n")
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def read_backup(path: Path) -> Backup:
    """Return a backup by its manifest; the file itself is not read.

    Raises:
        NotFound: If there is no such file.
        StorageCorrupt: If it has no manifest, or one that cannot be understood.
        OSError: If they cannot be read.
    """
    if not path.is_file():
        raise NotFound(f"there is no backup {path.name!r}: no such file", field="backup")
    try:
        with manifest_beside(path).open("rb") as file:
            text = file.read(_LARGEST)
    except FileNotFoundError:
        raise _unusable(
            f"{path.name} has no manifest beside it ({path.name}{_SUFFIX}), so it is no whole backup"
        ) from None
    return Backup(str(path), _parsed(text, path.name))


def _parsed(text: bytes, name: str) -> Manifest:
    try:
        said = json.loads(text)
        if said["format"] != _FORMAT:
            raise _unusable(f"the manifest of {name} is of another version; install a newer shelfd")
        fields = {field: said[wire] for wire, field in _WIRE.items()}
        made_at = to_micros(datetime.fromisoformat(said["made_at"]))
        is_sound = all(isinstance(said[wire], _TYPES.get(wire, str)) for wire in _WIRE)
    except (ValueError, KeyError, TypeError, RecursionError):
        raise _unusable(f"the manifest of {name} cannot be understood") from None
    if not is_sound:
        raise _unusable(f"the manifest of {name} cannot be understood")
    return Manifest(**fields, made_at=made_at)


def _unusable(why: str) -> StorageCorrupt:
    return StorageCorrupt(f"{why}; nothing was changed: take another backup", reason="BAD_BACKUP")


def backups_in(folder: Path, shelf: str) -> list[Backup]:
    """Return the backups of a shelf that got their names in a directory, the last one first.

    What has no manifest, or one that cannot be understood, is none of them.

    Raises:
        OSError: If the directory cannot be read.
    """
    found: list[Backup] = []
    pattern = named_like(shelf)
    try:
        names = [entry.name for entry in folder.iterdir() if pattern.fullmatch(entry.name)]
    except FileNotFoundError:
        return []
    for name in names:
        with suppress(StorageCorrupt, NotFound):
            backup = read_backup(folder / name)
            if backup.manifest.shelf == shelf:
                found.append(backup)
    return sorted(found, key=lambda backup: (backup.manifest.made_at, backup.manifest.seq, backup.path), reverse=True)


def thin_out(folder: Path, shelf: str, *, keep: int | None) -> list[str]:
    """Remove all but the last *keep* backups of a shelf from a directory; return their paths. None keeps all.

    Raises:
        OSError: If one cannot be removed.
    """
    removed = [backup.path for backup in backups_in(folder, shelf)[keep:]] if keep else []
    for path in map(Path, removed):
        path.unlink(missing_ok=True)
        manifest_beside(path).unlink(missing_ok=True)
    pattern = named_like(shelf)
    for entry in list(folder.iterdir()):  # of one that was being made or removed when the daemon died
        file = entry.name.removesuffix(_SUFFIX)
        if entry.name != file and pattern.fullmatch(file) and not os.path.lexists(folder / file):
            entry.unlink(missing_ok=True)
    sync(folder)
    return removed


def checksum(path: Path, goes_on: Callable[[], None], take: Callable[[bytes], object] = lambda _: None) -> str:
    """Return the SHA-256 of a file as hexadecimal digits.

    Args:
        path: The file.
        goes_on: Called now and then; what it raises ends this.
        take: Given what is read, piece by piece.

    Raises:
        OSError: If it cannot be read.
    """
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            goes_on()
            digest.update(chunk)
            take(chunk)
    return digest.hexdigest()
