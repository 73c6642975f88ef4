"""For those who use the daemon: blocking and asyncio clients, events, and the ``shelfd`` command.

Standard library only, so that a command starts fast; what reads results into models needs pydantic.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from shelfd.client.failure import NotRunning, RpcFailure, Unsendable
from shelfd.client.transport import Client, connect

if TYPE_CHECKING:
    from shelfd.client.aio import AsyncClient, follow_async, watch_async
    from shelfd.client.events import follow, watch
    from shelfd.client.memory_manager import MemoryManager, MemoryNote, get_memory_manager
    from shelfd.client.nugget_shelf import NuggetShelf, ShelfNugget
    from shelfd.client.steady import SteadyClient

__all__ = [
    "AsyncClient",
    "Client",
    "MemoryManager",
    "MemoryNote",
    "NotRunning",
    "NuggetShelf",
    "RpcFailure",
    "ShelfNugget",
    "SteadyClient",
    "Unsendable",
    "connect",
    "follow",
    "follow_async",
    "get_memory_manager",
    "watch",
    "watch_async",
]

#: Imported when they are asked for: asyncio alone takes 50 ms, a third of what a whole command may take.
_LATER = {
    "AsyncClient": "aio",
    "MemoryManager": "memory_manager",
    "MemoryNote": "memory_manager",
    "ShelfNugget": "nugget_shelf",
    "NuggetShelf": "nugget_shelf",
    "SteadyClient": "steady",
    "follow": "events",
    "follow_async": "aio",
    "get_memory_manager": "memory_manager",
    "watch": "events",
    "watch_async": "aio",
}


def __getattr__(name: str) -> Any:  # noqa: ANN401
    if name in _LATER:
        return getattr(import_module(f"shelfd.client.{_LATER[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
