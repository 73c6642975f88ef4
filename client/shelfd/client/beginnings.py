"""What a file is by its first bytes: to know that, nothing that reads such files need be loaded."""

import os
from pathlib import Path
from typing import Final

from shelfd.client.foreign import Unusable

_DATABASE: Final = b"SQLite format 3\0"
_ARCHIVES: Final = (b"PK\3\4", b"PK\5\6")
_BOM: Final = b"\xef\xbb\xbf"
#: Bytes among which that of an array is, whatever blanks stand before it.
_LOOKED_AT: Final = 256


def is_database(path: str) -> bool:
    """Return whether the file at *path* is one of SQLite.

    Raises:
        Unusable: If it cannot be read.
    """
    return _beginning(path, len(_DATABASE)) == _DATABASE


def is_archive(path: str) -> bool:
    """Return whether the file at *path* is a zip.

    Raises:
        Unusable: If it cannot be read.
    """
    return _beginning(path, len(_ARCHIVES[0])) in _ARCHIVES


def is_array(path: str) -> bool:
    """Return whether the file at *path* holds a JSON array.

    Raises:
        Unusable: If it cannot be read.
    """
    return begins_array(_beginning(path, _LOOKED_AT))


def begins_array(beginning: bytes) -> bool:
    """Return whether a file that begins so holds a JSON array."""
    return beginning.removeprefix(_BOM).lstrip()[:1] == b"["


def _beginning(path: str, size: int) -> bytes:
    try:
        with Path(path).open("rb") as file:
            return file.read(size)
    except OSError as error:
        raise Unusable(path, error.strerror or str(error), os.EX_NOINPUT) from error
