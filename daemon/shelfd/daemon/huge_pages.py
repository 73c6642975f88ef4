"""Memory of the process in huge pages, where Linux has them: what a request reads lies in a thousand places of it.

By pages of 4 KiB the processor has to look most of these places up anew each time, and in a virtual machine twice.
Neither Python nor the C library asks for larger ones.
"""

import asyncio
import ctypes
import mmap
import os
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Final, TypeAlias

from shelfd.memory.ports.store import Clock

_HUGE: Final = 1 << 21
_COLLAPSE: Final = 25  #: MADV_COLLAPSE of Linux 6.1, which Python has no name for
_ENTRY: Final = 8  #: bytes of a page in the page map, of which the highest bit says whether it is in memory
_ABSENT: Final = bytes(range(128))  #: what the highest byte is then
#: Of a huge page so many pages are in memory already: what it takes more of it is little.
_LEAST: Final = 3 * _HUGE // mmap.PAGESIZE // 4
_SWITCH: Final = Path("/sys/kernel/mm/transparent_hugepage/enabled")
#: Memory that is nobody else's: from where to where, and neither a file's nor a stack.
_OWN: Final = re.compile(r"^([0-9a-f]+)-([0-9a-f]+) rw-p \S+ \S+ 0 +(?:\[heap\])?$", re.MULTILINE)
_SOON: Final = timedelta(seconds=1)  #: until memory is looked at after the start, or after it has grown by much
_MUCH: Final = 9 / 8  #: times as much as before
_SELDOM: Final = timedelta(minutes=10)  #: between two looks later

#: Asks for a huge page at an address; false if the kernel has none to give.
_Collapse: TypeAlias = Callable[[int], bool]


async def follow(clock: Clock) -> None:
    """Gather memory whenever it has grown, on a thread; seldom once the daemon is at work for long and grows no more.

    It ends where there are no huge pages, or nobody may see what is in memory.
    """
    collapse = _collapse()
    known, delay = 0, _SOON
    with suppress(OSError):  # of what is read in /proc
        while collapse is not None:
            await clock.sleep(delay)
            size = _resident()
            delay = _SOON if size >= known * _MUCH else min(2 * delay, _SELDOM)  # as while many notes are taken in
            if size >= known + _HUGE:
                known = size
                await asyncio.to_thread(gather, collapse)


def gather(collapse: _Collapse | None = None) -> int:
    """Have what is mostly in memory lie in huge pages, and return in how many of them it does.

    Raises:
        OSError: If what is in memory cannot be seen.
    """
    collapse = collapse or _collapse()
    return 0 if collapse is None else sum(map(collapse, _used()))


def _collapse() -> _Collapse | None:
    """Return what asks for a huge page; None where the kernel has none, or is told not to use them."""
    try:
        if "[never]" in _SWITCH.read_text():
            return None
        madvise = ctypes.CDLL(None, use_errno=True).madvise
    except (OSError, AttributeError):
        return None
    madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    return lambda begin: madvise(begin, _HUGE, _COLLAPSE) == 0


def _used() -> Iterator[int]:
    """Yield where a huge page would begin of which most is in memory."""
    with Path("/proc/self/pagemap").open("rb", buffering=0) as pages:
        for own in _OWN.finditer(Path("/proc/self/maps").read_text()):
            first, last = (int(address, 16) for address in own.groups())
            for begin in range(-(-first // _HUGE) * _HUGE, last - _HUGE + 1, _HUGE):
                entries = os.pread(pages.fileno(), _HUGE // mmap.PAGESIZE * _ENTRY, begin // mmap.PAGESIZE * _ENTRY)
                if len(entries[_ENTRY - 1 :: _ENTRY].translate(None, _ABSENT)) >= _LEAST:
                    yield begin


def _resident() -> int:
    """Return how many bytes of the process are in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * mmap.PAGESIZE
