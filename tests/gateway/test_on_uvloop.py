"""The other tests once more on uvloop, the loop the daemon runs on."""

import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import uvloop

from gateway import test_batch, test_cancel, test_connection, test_drain, test_envelope, test_order, test_subscriptions
from gateway.fakes import opener

MODULES = (test_batch, test_cancel, test_connection, test_drain, test_envelope, test_order, test_subscriptions)


def scenarios(module: ModuleType) -> Iterator[Callable[..., Any]]:
    """Yield the module's tests that need a server and nothing else."""
    for name, function in vars(module).items():
        if name.startswith("test_") and inspect.iscoroutinefunction(function):
            names = set(inspect.signature(function).parameters)
            if names <= {"client", "house", "open_house"}:
                yield function


@pytest.mark.parametrize(
    "scenario", [f for module in MODULES for f in scenarios(module)], ids=lambda function: function.__name__
)
def test_on_uvloop(scenario: Callable[..., Any], tmp_path: Path) -> None:
    async def run() -> None:
        wanted = inspect.signature(scenario).parameters
        async with opener(tmp_path) as open_house:
            given: dict[str, Any] = {"open_house": open_house}
            if "open_house" not in wanted:
                given["house"] = await open_house()
            if "client" in wanted:
                given["client"] = await given["house"].connect()
            await scenario(**{name: given[name] for name in wanted})

    uvloop.run(run())
