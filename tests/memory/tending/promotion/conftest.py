"""The memory with MEMORY.md files on disk, for every test of this folder."""

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from fakes import Api, memory
from memory_file import MemoryFile
from shelfd.memory.tending.promotion import Promoter
from shelfd.storage import DiskMemoryFiles, PromotionPaths, SqliteStores

Known = Callable[..., Awaitable[str]]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """The data directory."""
    return tmp_path / "data"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """The home directory of the daemon's user."""
    return tmp_path / "home"


@pytest.fixture
def file(data: Path) -> MemoryFile:
    """The file of shelf default."""
    return MemoryFile(data / "shelves" / "default" / "MEMORY.md")


@pytest.fixture
def files(data: Path, home: Path) -> DiskMemoryFiles:
    """The files on disk."""
    return DiskMemoryFiles(PromotionPaths(data, home))


@pytest.fixture
async def api(data: Path, files: DiskMemoryFiles) -> AsyncIterator[Api]:
    """The memory over files, with a MEMORY.md beside each shelf."""
    async with memory(lambda clock: SqliteStores(data / "shelves", clock)) as running:
        running.service.promoter = Promoter(files)
        yield running


@pytest.fixture
def known(api: Api) -> Known:
    """Remembers a note that was then recalled in some sessions (3 unless told); returns its id."""

    async def remember(content: str, sessions: int = 3, **named: Any) -> str:
        note = await api.remember(content, **named)
        shelf = api.shelf(named.get("shelf", "default"))
        stored = shelf.view.notes.get(note["id"])
        assert stored is not None
        for number in range(sessions):
            shelf.record_use([stored], session_id=f"session-{number}")
        return stored.id

    return remember
