"""What promotion needs from outside: where a shelf's MEMORY.md is, and its bytes."""
# A port's method is its docstring; there is nothing to return.
# pyright: reportReturnType=false

from typing import NamedTuple, Protocol


class Target(NamedTuple):
    """Where promoted lines go: a path, or the reason why there is none."""

    path: str | None
    reason: str | None = None


class LeftAlone(Exception):
    """A file that promotion must not touch; the text says why and never where."""


class MemoryFiles(Protocol):
    """The MEMORY.md files of this machine.

    Errors name no path: who asks need not be allowed to know where the daemon keeps its files.
    """

    async def target(self, shelf: str, project: str | None) -> Target:
        """Return where the shelf's lines go; *project*, an absolute directory, overrides what is configured."""

    def is_open(self, project: str) -> bool:
        """Return whether everybody who may write to a shelf may have it promoted to the file of *project*."""

    async def read(self, path: str) -> bytes | None:
        """Return the file's bytes, None if there is no file.

        Raises:
            LeftAlone: If it is no regular file, or too large to be a MEMORY.md.
            Unavailable: If it cannot be read.
        """

    async def replace(self, path: str, old: bytes | None, new: bytes) -> bool:
        """Make *new* the file's bytes, all at once and durably, if they still are *old*; return whether they were.

        Raises:
            LeftAlone: If it is no regular file.
            Unavailable: If it cannot be written; then it is as it was.
        """

    async def clean_up(self, path: str) -> None:
        """Remove what a daemon that died left beside the file while it replaced it."""


class NoFiles:
    """A daemon without any MEMORY.md: there is no target, so nothing is ever read or written."""

    async def target(self, shelf: str, project: str | None) -> Target:
        """Return that there is none."""
        del shelf, project
        return Target(None, "this daemon keeps no MEMORY.md")

    def is_open(self, project: str) -> bool:
        """Return True: nothing is ever written."""
        del project
        return True

    async def read(self, path: str) -> bytes | None:
        """Return None: there is no file."""
        del path
        return None

    async def replace(self, path: str, old: bytes | None, new: bytes) -> bool:
        """Return False: nothing is written."""
        del path, old, new
        return False

    async def clean_up(self, path: str) -> None:
        """Do nothing: there is nothing to remove."""
        del path
