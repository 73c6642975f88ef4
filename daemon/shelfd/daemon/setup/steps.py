"""What an installation does, one step at a time: each can say what it would do, and do it."""

import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


class StepFailedError(Exception):
    """A command did not do what it was called for."""


class InstallStep(Protocol):
    """One thing to do."""

    def describe(self) -> str:
        """Return what :meth:`perform` does, or why there is nothing to do, in one line."""
        ...

    def perform(self) -> None:
        """Do it.

        Raises:
            OSError: If a file cannot be written or removed.
            StepFailedError: If a command fails.
        """
        ...


@dataclass(frozen=True, slots=True)
class WriteFile:
    """Make a file say *text*.

    Attributes:
        keep: Leave a file alone that is there already, whatever it says.
    """

    path: Path
    text: str
    mode: int = 0o644
    keep: bool = False

    @property
    def is_needed(self) -> bool:
        """Whether there is anything to write."""
        return not self.path.exists() if self.keep else not says(self.path, self.text)

    def describe(self) -> str:
        """Return what would be written."""
        if self.is_needed:
            return f"write   {self.path}"
        return f"keep    {self.path} (yours)" if not says(self.path, self.text) else f"keep    {self.path} (as it is)"

    def perform(self) -> None:
        """Write it completely or not at all."""
        if not self.is_needed:
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        draft = self.path.with_name(f".{self.path.name}.new")
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
        with open(descriptor, "w", encoding="utf-8") as file:  # noqa: PTH123 - takes a descriptor
            file.write(self.text)
            os.fchmod(file.fileno(), self.mode)  # whatever the umask is: the service's user has to read it
        draft.replace(self.path)


@dataclass(frozen=True, slots=True)
class RemoveFile:
    """Remove a file, and its directory if that leaves it empty.

    Attributes:
        only_if: The content it must have; a file with another content was edited and stays. None for any.
        also_directory: Whether an empty directory is removed as well.
    """

    path: Path
    only_if: str | None = None
    also_directory: bool = False

    def describe(self) -> str:
        """Return what would be removed."""
        return f"remove  {self.path}" if self._goes else f"keep    {self.path} (yours)"

    def perform(self) -> None:
        """Remove it."""
        if self._goes:
            self.path.unlink(missing_ok=True)
        if self.also_directory and self.path.parent.is_dir() and not any(self.path.parent.iterdir()):
            self.path.parent.rmdir()

    @property
    def _goes(self) -> bool:
        return self.only_if is None or says(self.path, self.only_if)


@dataclass(frozen=True, slots=True)
class RunCommand:
    """Call a command."""

    argv: Sequence[str]

    def describe(self) -> str:
        """Return the command."""
        return f"run     {' '.join(self.argv)}"

    def perform(self) -> None:
        """Call it and wait."""
        try:
            done = subprocess.run(self.argv, capture_output=True, text=True, check=False, timeout=300)  # noqa: S603
        except (OSError, subprocess.TimeoutExpired) as error:
            raise StepFailedError(f"{' '.join(self.argv)}: {error}") from error
        if done.returncode != 0:
            said = (done.stderr or done.stdout).strip()
            raise StepFailedError(f"{' '.join(self.argv)}: exit status {done.returncode}\n{said}".rstrip())


def says(path: Path, text: str) -> bool:
    """Whether there is a file at *path* and it holds exactly *text*."""
    try:
        return path.read_text(encoding="utf-8") == text
    except (OSError, UnicodeDecodeError):
        return False
