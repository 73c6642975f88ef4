"""The memory without a transport, for every test of this folder."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from fakes import Api, memory
from shelfd.storage import SqliteStores


@pytest.fixture
async def api() -> AsyncIterator[Api]:
    """The memory over stores that are dictionaries."""
    async with memory() as running:
        yield running


@pytest.fixture
async def durable(tmp_path: Path) -> AsyncIterator[Api]:
    """The memory over files."""
    async with memory(lambda clock: SqliteStores(tmp_path, clock)) as running:
        yield running


@pytest.fixture(params=["inmemory", "sqlite"])
async def either(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Api]:
    """The memory over each kind of stores."""
    if request.param == "inmemory":
        async with memory() as running:
            yield running
    else:
        async with memory(lambda clock: SqliteStores(tmp_path, clock)) as running:
            yield running
