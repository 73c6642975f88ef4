"""Of which subjects something is stated, as bits in memory: most that a new note asks for are unknown.

To find in the file that nothing stands there takes as long as to find something, and a note may ask for dozens. So a
writer that is asked for subjects keeps a bit for each that it stores something of, and a thread of the store reads
those of all that was stored before. Until that is done, any subject may be known.

A bit is never cleared: what was deleted or rolled back leaves its own, and several subjects share one. Then the file is
asked in vain, and nothing else.
"""

import sqlite3
from collections.abc import Collection, Iterable
from contextlib import closing
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt
import structlog
from pydantic_core import from_json

from shelfd.memory.ports.evolution import WITHIN_BITS
from shelfd.storage.sqlite.connection import open_reader
from shelfd.storage.sqlite.database import sqlite3_name

log = structlog.get_logger(__name__)

#: One MiB: the subjects of 100,000 notes set a few of a hundred, those of a million a third.
_BITS: Final = 23
_MASK: Final = (1 << _BITS) - 1
#: Subjects that are read at once: some milliseconds, most of them without the interpreter.
_AT_ONCE: Final = 4_096
_STORED: Final = (
    "SELECT json_group_array(subject), max(subject)"
    " FROM (SELECT DISTINCT slot >> ?1 AS subject FROM slot WHERE slot >= ?2 ORDER BY slot LIMIT ?3)"
)


class KnownSubjects:
    """Of which subjects something may be stated in a shelf.

    Belongs to the thread that writes, but for :meth:`read` and :meth:`stop`.
    """

    def __init__(self) -> None:
        self._bits: bytearray | None = None  #: of what was stored since it was first asked for
        self._stored: npt.NDArray[np.uint8] | None = None  #: of what was stored before, once that is read
        self._is_whole = False
        self._is_stopped = False
        self.needs_reading = False  #: it was asked for, and nobody reads yet what was stored before

    def among(self, subjects: Collection[int]) -> Collection[int]:
        """Return those of *subjects* of which something may be stated."""
        if not self._is_whole and not self._take_over():
            return subjects
        bits = self._bits
        assert bits is not None
        return [one for one in subjects if bits[(one & _MASK) >> 3] >> (one & 7) & 1]

    def add(self, slots: Iterable[int]) -> None:
        """Have the subjects of *slots* be known."""
        if (bits := self._bits) is not None:
            for subject in {slot >> WITHIN_BITS for slot in slots}:
                bits[(subject & _MASK) >> 3] |= 1 << (subject & 7)

    def _take_over(self) -> bool:
        """Return whether all that was stored before is read; begin to keep what is stored from now on."""
        if self._bits is None:
            self._bits = bytearray(1 << _BITS - 3)
            self.needs_reading = True
        if self._stored is None:
            return False
        bits = np.frombuffer(self._bits, np.uint8)
        bits |= self._stored
        self._stored, self._is_whole = None, True
        return True

    def read(self, path: Path) -> None:
        """Read of which subjects something is stored in a shelf's file, on another thread.

        To be begun when what was stored before it was first asked for is committed.
        """
        known = np.zeros(1 << _BITS, np.bool_)
        try:
            with closing(open_reader(path)) as reader:
                reader.execute("PRAGMA mmap_size = 0")  # else all of it would count as memory of the daemon
                last: int | None = -1
                while last is not None:
                    if self._is_stopped:
                        return
                    # As one row: after each a thread has to get the interpreter back from whoever took it meanwhile.
                    found, last = reader.execute(_STORED, (WITHIN_BITS, last + 1 << WITHIN_BITS, _AT_ONCE)).fetchone()
                    known[np.array(from_json(found), np.int64) & _MASK] = True
        except sqlite3.Error as error:
            log.warning("store.subjects_unread", shelf=path.parent.name, reason=sqlite3_name(error))
            return
        self._stored = np.packbits(known, bitorder="little")

    def stop(self) -> None:
        """End the reading soon."""
        self._is_stopped = True
