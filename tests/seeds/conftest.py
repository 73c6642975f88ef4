"""The memory over files on disk, with a MEMORY.md beside each shelf, for every test of this folder."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from fakes import Api, memory
from memory_file import MemoryFile
from shelfd.memory.tending.promotion import Promoter
from shelfd.storage import DiskMemoryFiles, PromotionPaths, SqliteStores


@pytest.fixture
def file(tmp_path: Path) -> MemoryFile:
    """The MEMORY.md of shelf default."""
    return MemoryFile(tmp_path / "shelves" / "default" / "MEMORY.md")


@pytest.fixture
async def api(tmp_path: Path) -> AsyncIterator[Api]:
    """The memory's methods."""
    async with memory(lambda clock: SqliteStores(tmp_path / "shelves", clock)) as running:
        running.service.promoter = Promoter(DiskMemoryFiles(PromotionPaths(tmp_path, tmp_path / "home")))
        yield running
