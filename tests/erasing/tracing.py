"""Watches the system calls of a process that change files, and ends it right before one of them.

Between two such calls the files of a process stay as they are. To end it before each of them in turn, and after the
last one, is therefore to leave every state of its files behind that a crash can leave, and no chance is involved.
``strace`` could do the same but for one thing: it counts calls for each thread by itself.
"""

import ctypes
import os
import platform
import signal
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Final

_SEIZE, _INTERRUPT, _SYSCALL, _GET_SYSCALL_INFO = 0x4206, 0x4207, 24, 0x420E
#: Mark stops at system calls, follow new threads, and let nothing traced outlive the tracer.
_OPTIONS: Final = 0x1 | 0x8 | 0x100000
_SYSCALL_STOP: Final = signal.SIGTRAP | 0x80
_ENTRY: Final = 1
_WALL: Final = 0x40000000
_AT_FDCWD: Final = -100
_LONGEST_PATH: Final = 4096

#: Calls by their number, for each machine.
_CALLS: Final = {
    "x86_64": {
        1: "write", 18: "pwrite64", 20: "writev", 74: "fsync", 75: "fdatasync", 76: "truncate", 77: "ftruncate",
        82: "rename", 83: "mkdir", 84: "rmdir", 86: "link", 87: "unlink", 258: "mkdirat", 263: "unlinkat",
        264: "renameat", 265: "linkat", 285: "fallocate", 316: "renameat2",
    },
    "aarch64": {
        34: "mkdirat", 35: "unlinkat", 37: "linkat", 38: "renameat", 45: "truncate", 46: "ftruncate", 47: "fallocate",
        64: "write", 66: "writev", 68: "pwrite64", 82: "fsync", 83: "fdatasync", 276: "renameat2",
    },
}  # fmt: skip
_WITH_DESCRIPTOR: Final = frozenset({"write", "pwrite64", "writev", "fsync", "fdatasync", "ftruncate", "fallocate"})
#: Which argument is the path that the call changes, and which the directory it may be relative to.
_WITH_PATH: Final = {
    "link": (1, None), "linkat": (3, 2), "rename": (1, None), "mkdir": (0, None),
    "rmdir": (0, None), "unlink": (0, None), "truncate": (0, None),
    "mkdirat": (1, 0), "unlinkat": (1, 0), "renameat": (3, 2), "renameat2": (3, 2),
}  # fmt: skip

#: Steps that order others: what was written before one is safe behind it. Half-written files are the rest.
BARRIERS: Final = _WITH_PATH.keys() | {"fsync", "fdatasync", "ftruncate"}


class _SyscallInfo(ctypes.Structure):
    """What the kernel tells of a stop: at the entry of a call, its number and arguments."""

    _fields_ = (
        ("op", ctypes.c_uint8),
        ("pad", ctypes.c_uint8 * 3),
        ("arch", ctypes.c_uint32),
        ("instruction", ctypes.c_uint64),
        ("stack", ctypes.c_uint64),
        ("number", ctypes.c_uint64),
        ("arguments", ctypes.c_uint64 * 6),
    )


_libc = ctypes.CDLL(None, use_errno=True)
_libc.ptrace.argtypes = (ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p)
_libc.ptrace.restype = ctypes.c_long


def _ptrace(request: int, thread: int, address: int = 0, data: int = 0) -> bool:
    """Return False if the thread is gone.

    Raises:
        OSError: If the kernel refuses.
    """
    if _libc.ptrace(request, thread, address, data) >= 0:
        return True
    number = ctypes.get_errno()
    try:
        raise OSError(number, os.strerror(number))
    except ProcessLookupError:
        return False


class Tracer:
    """Follows every thread of a child process from :meth:`attach` to its end.

    Args:
        pid: The process.
        directory: Only what changes files below it is a step.
        kill_at: End the process before its step of this number, the first being 1; None never does.
    """

    def __init__(self, pid: int, directory: Path, kill_at: int | None) -> None:
        self._pid = pid
        self._directory = f"{os.path.realpath(directory)}/"
        self._kill_at = kill_at
        self._names = _CALLS.get(platform.machine(), {})
        #: Each step by call and file, in order; the last of them was not carried out if it was the one to kill at.
        self.steps: list[str] = []

    def attach(self) -> None:
        """Take hold of every thread; they stand still until :meth:`follow`.

        Raises:
            OSError: If this machine or its rules do not let one process trace another.
        """
        if not self._names:
            raise OSError(f"the system calls of {platform.machine()} are not known")
        threads: set[int] = set()
        while new := {int(entry.name) for entry in Path(f"/proc/{self._pid}/task").iterdir()} - threads:
            for thread in new:
                self._seize(thread)
            threads |= new

    def follow(self) -> None:
        """Let the process go on to its end, by its own hand or somebody else's or at the step to kill it at."""
        while True:
            thread, status = os.waitpid(-1, _WALL)
            if not os.WIFSTOPPED(status):
                if thread == self._pid:
                    return
                continue
            number, event = os.WSTOPSIG(status), status >> 16
            if number == _SYSCALL_STOP:
                self._look(thread)
                number = 0
            elif event:
                number = 0
            _ptrace(_SYSCALL, thread, data=number)

    def _seize(self, thread: int) -> None:
        try:
            if _ptrace(_SEIZE, thread, data=_OPTIONS):
                _ptrace(_INTERRUPT, thread)
        except PermissionError:
            # Also what is said of a thread that is just ending, and of one begun by a thread that was held already.
            if not self._is_ending(thread) and not self._is_held(thread):
                raise

    def _is_ending(self, thread: int) -> bool:
        return self._told(thread, "State").startswith(("Z", "X"))

    def _is_held(self, thread: int) -> bool:
        return self._told(thread, "TracerPid") == str(os.getpid())

    def _told(self, thread: int, name: str) -> str:
        """What the kernel tells of a thread under a name; of a thread that is gone, that it is dead."""
        try:
            lines = Path(f"/proc/{self._pid}/task/{thread}/status").read_text().splitlines()
        except (FileNotFoundError, ProcessLookupError):
            return "X"
        return next(line.partition(":")[2].strip() for line in lines if line.startswith(f"{name}:"))

    def _look(self, thread: int) -> None:
        info = _SyscallInfo()
        size, address = ctypes.sizeof(info), ctypes.addressof(info)
        if not _ptrace(_GET_SYSCALL_INFO, thread, size, address) or info.op != _ENTRY:
            return
        name = self._names.get(info.number)
        if name is None or (path := self._path(thread, name, list(info.arguments))) is None:
            return
        self.steps.append(f"{name} {path}")
        if len(self.steps) == self._kill_at:
            os.kill(self._pid, signal.SIGKILL)  # a call that has not been entered yet is never carried out

    def _path(self, thread: int, name: str, arguments: list[int]) -> str | None:
        """The file that a call is about, below the directory; None if it is elsewhere or nothing to survive a crash."""
        try:
            if name in _WITH_DESCRIPTOR:
                path = str(Path(f"/proc/{thread}/fd/{_signed(arguments[0])}").readlink())
            else:
                position, relative_to = _WITH_PATH[name]
                path = self._text(thread, arguments[position])
                if not path.startswith("/"):
                    at = _AT_FDCWD if relative_to is None else _signed(arguments[relative_to])
                    base = "cwd" if at == _AT_FDCWD else f"fd/{at}"
                    path = str(Path(f"/proc/{thread}/{base}").readlink() / path)
        except OSError:
            return None
        if not path.startswith(self._directory) or path.endswith("-shm"):  # the WAL's index is made anew after a crash
            return None
        return path.removeprefix(self._directory)

    @staticmethod
    def _text(thread: int, address: int) -> str:
        with Path(f"/proc/{thread}/mem").open("rb", buffering=0) as memory:
            memory.seek(address)
            return os.fsdecode(memory.read(_LONGEST_PATH).partition(b"\0")[0])


@cache
def why_not() -> str | None:
    """Return why no process can be traced here; None if one can."""
    with subprocess.Popen([sys.executable, "-S", "-c", "input()"], stdin=subprocess.PIPE) as child:
        tracer = Tracer(child.pid, Path("/"), None)
        try:
            tracer.attach()
        except OSError as error:
            child.kill()
            return f"processes cannot be traced: {error}"
        end(child, tracer)
    return None


def end(child: subprocess.Popen[bytes], tracer: Tracer) -> None:
    """End a child that is being traced."""
    os.kill(child.pid, signal.SIGKILL)  # Popen.kill would take its being stopped for its end
    tracer.follow()
    child.returncode = -signal.SIGKILL


def _signed(number: int) -> int:
    return ctypes.c_int32(number & 0xFFFFFFFF).value
