"""The listening socket: made with care for what may already be at its path, removed only while it is ours."""

import os
import socket
import stat
import struct
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

from shelfd.memory.errors import ConfigError

PATH_BYTES: Final = 107  #: what fits into sockaddr_un with its final NUL
BACKLOG: Final = 512
_CREDENTIALS: Final = struct.Struct("3i")  # pid, uid, gid


@dataclass(frozen=True, slots=True)
class Listener:
    """A listening Unix socket.

    Attributes:
        listening: The socket, bound, listening, non-blocking.
        path: Where it is bound; None if another process made it and keeps it.
        inode: Device and inode of the socket file, by which it is known as ours.
    """

    listening: socket.socket
    path: Path | None = None
    inode: tuple[int, int] | None = None

    @classmethod
    def bind(cls, path: Path, *, mode: int) -> Self:
        """Bind at *path* with permission bits *mode*; a dead daemon's socket file is replaced.

        Raises:
            ConfigError: If the path is too long, its directory is missing, another process listens there, something
                that is not a socket is there, or the system refuses.
        """
        _check_path(path)
        _clear(path)
        listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        # No other user may connect between bind and chmod.
        umask = os.umask(0o177)
        try:
            listening.bind(str(path))
            path.chmod(mode)
            status = path.lstat()
        except OSError as error:
            listening.close()
            raise ConfigError(f"cannot listen at {path}: {error.strerror}", field="socket") from error
        finally:
            os.umask(umask)
        listening.setblocking(False)
        listening.listen(BACKLOG)
        return cls(listening, path, (status.st_dev, status.st_ino))

    @classmethod
    def adopt(cls, listening: socket.socket) -> Self:
        """Take a socket that another process has bound, as systemd does; its file stays when it is closed.

        Raises:
            ConfigError: If it is not a Unix stream socket.
        """
        if listening.family != socket.AF_UNIX or not listening.type & socket.SOCK_STREAM:
            raise ConfigError("the passed socket is not a Unix stream socket", field="socket")
        listening.setblocking(False)
        return cls(listening)

    def remove_file(self) -> None:
        """Remove the socket file unless it was replaced or is not ours."""
        if self.path is None:
            return
        with suppress(FileNotFoundError):
            status = self.path.lstat()
            if (status.st_dev, status.st_ino) == self.inode:
                self.path.unlink()


def peer(connection: socket.socket) -> tuple[int, int]:
    """Return process id and user id of the peer that opened the other end, as the kernel knows them."""
    pid, uid, _ = _CREDENTIALS.unpack(connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size))
    return pid, uid


def _check_path(path: Path) -> None:
    length = len(os.fsencode(path))
    if length > PATH_BYTES:
        message = f"socket path {path} has {length} bytes; at most {PATH_BYTES} are possible"
        raise ConfigError(message, field="socket", limit=PATH_BYTES)
    if not path.parent.is_dir():
        raise ConfigError(f"the directory of socket path {path} does not exist", field="socket")


def _clear(path: Path) -> None:
    """Remove a socket file without a listener; leave everything else alone."""
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    except OSError as error:
        raise ConfigError(f"cannot look at {path}: {error.strerror}", field="socket") from error
    if not stat.S_ISSOCK(mode):
        raise ConfigError(f"{path} exists and is not a socket; it is left alone", field="socket")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.setblocking(False)
        try:
            probe.connect(str(path))
        except ConnectionRefusedError:
            with suppress(FileNotFoundError):
                path.unlink()
            return
        except FileNotFoundError:
            return
        except BlockingIOError:
            holder = "a process"  # its backlog is full, so it is alive
        except OSError as error:
            raise ConfigError(f"cannot find out what listens at {path}: {error.strerror}", field="socket") from error
        else:
            pid, uid = peer(probe)
            holder = f"process {pid} of uid {uid}"
    raise ConfigError(f"{holder} already listens at {path}", field="socket")
