"""A running server for each test."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from gateway.fakes import Client, House, Open, opener


@pytest.fixture
async def open_house(tmp_path: Path) -> AsyncIterator[Open]:
    """Open a server with some limits lowered."""
    async with opener(tmp_path) as open_:
        yield open_


@pytest.fixture
async def house(open_house: Open) -> House:
    return await open_house()


@pytest.fixture
async def client(house: House) -> Client:
    return await house.connect()
