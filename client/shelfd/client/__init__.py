"""For those who use the daemon: a blocking client, an asyncio client and the ``shelfd`` command.

Standard library only, so that a command starts fast.
"""

from typing import TYPE_CHECKING, Any

from shelfd.client.failure import NotRunning, RpcFailure, Unsendable
from shelfd.client.transport import Client, connect

if TYPE_CHECKING:
    from shelfd.client.aio import AsyncClient

__all__ = ["AsyncClient", "Client", "NotRunning", "RpcFailure", "Unsendable", "connect"]


def __getattr__(name: str) -> Any:  # noqa: ANN401
    # asyncio takes 50 ms to import, a third of what a whole command may take.
    if name == "AsyncClient":
        from shelfd.client.aio import AsyncClient

        return AsyncClient
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
