"""What the clients of one shelf have in common: where it is, and how a method is called of it."""

from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self

from shelfd.client.steady import SteadyClient


class ShelfConnection:
    """One shelf of a daemon. For any number of threads; a daemon that restarts meanwhile is waited for.

    Every method may raise :class:`~shelfd.client.RpcFailure` (the daemon's answer, with its ``data["type"]``, such as
    ``NoteNotFound``), ConnectionError and TimeoutError, as :class:`~shelfd.client.SteadyClient` says.

    Args:
        socket: The daemon's; None looks in the usual places.
        shelf: Which one.
        timeout_s: Longest wait for an answer.
    """

    def __init__(self, socket: str | None = None, *, shelf: str = "default", timeout_s: float | None = 60.0) -> None:
        self._client = SteadyClient(socket, timeout_s=timeout_s)
        self._shelf = shelf

    def read(self, method: str, **params: Any) -> Any:  # noqa: ANN401
        """Call any method that changes nothing; params that are None are left out."""
        return self._client.read(method, self._given(params))

    def change(self, method: str, **params: Any) -> Any:  # noqa: ANN401
        """Call any method that changes something, once; params that are None are left out."""
        return self._client.change(method, self._given(params))

    def close(self) -> None:
        """End the connection; a later call makes another."""
        self._client.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _given(self, params: Mapping[str, Any]) -> dict[str, Any]:
        return {"shelf": self._shelf, **{name: value for name, value in params.items() if value is not None}}
