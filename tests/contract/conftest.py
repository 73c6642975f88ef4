"""Every kind of store, as fixtures. A new one is one more param here."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from fakes import FakeClock
from shelfd.memory.ports.store import Store, Stores
from shelfd.storage import SqliteStores
from shelfd.storage.inmemory import InMemoryStores


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture(params=["sqlite", "inmemory"])
def stores(request: pytest.FixtureRequest, clock: FakeClock, tmp_path: Path) -> Stores:
    if request.param == "sqlite":
        return SqliteStores(tmp_path / "shelves", clock)
    return InMemoryStores(clock)


@pytest.fixture
async def store(stores: Stores) -> AsyncIterator[Store]:
    opened = await stores.create("default", owner="uid:1000")
    yield opened
    await opened.close()
