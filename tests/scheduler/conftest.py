"""Kinds of stores, for tests that care whether the ledger is a file."""

from pathlib import Path

import pytest

from scheduler.house import StoresOf
from shelfd.storage import SqliteStores
from shelfd.storage.inmemory import InMemoryStores


@pytest.fixture(params=["inmemory", "sqlite"])
def stores(request: pytest.FixtureRequest, tmp_path: Path) -> StoresOf:
    if request.param == "inmemory":
        return InMemoryStores
    return lambda clock: SqliteStores(tmp_path, clock)
