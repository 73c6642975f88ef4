"""A model's server, and a model that asks it, with time that only tests move."""

from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from fakes import FakeClock
from model_server import ModelServer
from models.desk import Desk
from shelfd.models import ModelSettings


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as running:
        yield running


@pytest.fixture
async def desk(server: ModelServer, tmp_path: Path) -> AsyncIterator[Desk]:
    settings = ModelSettings(url=server.url, model="test-model", timeout=timedelta(seconds=20))
    desk = Desk(server, FakeClock(), settings, tmp_path / "llm-tokens.json")
    yield desk
    for model in desk.made:
        await model.close()
