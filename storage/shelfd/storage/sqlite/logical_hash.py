"""The logical hash of a shelf's file: of a large one by a process of its own, which holds up nobody in this one."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

from shelfd.memory.log.logical import logical_hash
from shelfd.storage.sqlite.connection import open_untouched
from shelfd.storage.sqlite.view import SqliteView

#: Up to here it takes less than the start of a process.
_SMALL_BYTES: Final = 1 << 20
_LOOK_S: Final = 0.1
_POLITE: Final = 19


def hash_file(path: Path) -> str:
    """Return the logical hash of a shelf's file, of this schema, that nobody writes."""
    view = SqliteView(open_untouched(path))
    try:
        return logical_hash(view)
    finally:
        view.close()


def hash_aside(path: Path, goes_on: Callable[[], None]) -> str:
    """Return :func:`hash_file`; not for the event loop's thread.

    Args:
        path: The file.
        goes_on: Called now and then; what it raises ends this.

    Raises:
        OSError: If it cannot be read.
    """
    if path.stat().st_size <= _SMALL_BYTES:
        return hash_file(path)
    command = [sys.executable, "-P", "-c", f"from {__name__} import print_hash; print_hash()", str(path)]
    with subprocess.Popen(  # noqa: S603 - our own interpreter and module
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            while True:
                goes_on()
                try:
                    output, _ = process.communicate(timeout=_LOOK_S)
                    break
                except subprocess.TimeoutExpired:
                    continue
        except BaseException:
            process.kill()
            raise
    if process.returncode:
        raise OSError(f"its logical hash cannot be calculated: status {process.returncode}")
    return output.strip()


def print_hash() -> None:
    """Print the hash of the file that the command line names: what that process does."""
    os.nice(_POLITE)
    sys.stdout.write(hash_file(Path(sys.argv[1])))
