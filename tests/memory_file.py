"""A MEMORY.md as a person sees it. Small files: reading them holds up no test worth mentioning."""

from pathlib import Path


class MemoryFile:
    """One file on disk."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __str__(self) -> str:
        return str(self.path)

    @property
    def exists(self) -> bool:
        return self.path.exists()

    @property
    def data(self) -> bytes:
        return self.path.read_bytes()

    @property
    def text(self) -> str:
        return self.data.decode()

    @property
    def stamp(self) -> tuple[int, int]:
        """What changes when anybody writes to it or puts another file in its place."""
        status = self.path.stat()
        return status.st_mtime_ns, status.st_ino

    def write(self, data: bytes) -> None:
        self.path.write_bytes(data)

    def append(self, data: bytes) -> None:
        with self.path.open("ab") as file:
            file.write(data)

    def remove(self) -> None:
        self.path.unlink()
