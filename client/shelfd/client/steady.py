"""A client that stays: it connects when it is first needed, and again when the daemon was away."""

import time
from collections.abc import Iterator, Mapping
from threading import Lock
from types import TracebackType
from typing import Any, Final, Self, TypeVar, overload
from uuid import uuid4

from shelfd.client.events import jittered
from shelfd.client.failure import NotRunning, RpcFailure
from shelfd.client.transport import Client, Into, connect

M = TypeVar("M")

_FIRST_WAIT_S: Final = 0.05
_LONGEST_WAIT_S: Final = 2.0


class SteadyClient:
    """Calls over one connection, which is made again when it is lost; for any number of threads, one call at a time.

    What was asked when the connection ended is asked again: reads, and changes with an idempotency key, which the
    daemon carries out once however often they come.

    Args:
        path: Socket path; None looks in the usual places.
        timeout_s: Longest wait for a reply; None waits for ever.
        patience_s: How long a daemon that was there is waited for, as while it restarts. One that is not there when
            the first call is made is not waited for.
    """

    def __init__(self, path: str | None = None, *, timeout_s: float | None = 60.0, patience_s: float = 10.0) -> None:
        self._path = path
        self._timeout_s = timeout_s
        self._patience_s = patience_s
        self._lock = Lock()
        self._client: Client | None = None
        self._was_there = False

    @overload
    def read(self, method: str, params: Mapping[str, Any] | None = None) -> Any: ...  # noqa: ANN401
    @overload
    def read(self, method: str, params: Mapping[str, Any] | None = None, *, into: Into[M]) -> M: ...
    def read(self, method: str, params: Mapping[str, Any] | None = None, *, into: Into[Any] | None = None) -> Any:
        """Call a method that changes nothing and return its result, as :meth:`Client.call` does.

        Raises:
            RpcFailure: If the daemon answers with an error.
            ConnectionError: If the daemon is not there, or was away for longer than the patience.
            TimeoutError: If no reply came in time.
        """
        result = self._repeated(method, params or {})
        return result if into is None else into.model_validate(result)

    @overload
    def change(self, method: str, params: Mapping[str, Any] | None = None) -> Any: ...  # noqa: ANN401
    @overload
    def change(self, method: str, params: Mapping[str, Any] | None = None, *, into: Into[M]) -> M: ...
    def change(self, method: str, params: Mapping[str, Any] | None = None, *, into: Into[Any] | None = None) -> Any:
        """Call a method that changes something, once, and return its result.

        The call gets an ``idempotency_key`` unless *params* have one.

        Raises:
            RpcFailure: If the daemon answers with an error.
            ConnectionError: If the daemon is not there, or was away for longer than the patience; whether the change
                was made is then unknown.
            TimeoutError: If no reply came in time; unknown as well.
        """
        result = self._repeated(method, {"idempotency_key": uuid4().hex, **(params or {})})
        return result if into is None else into.model_validate(result)

    def close(self) -> None:
        """End the connection; a later call makes another."""
        with self._lock:
            self._drop()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _repeated(self, method: str, params: Mapping[str, Any]) -> Any:  # noqa: ANN401
        with self._lock:
            for wait_s in self._waits():
                try:
                    return self._connected().call(method, params)
                except TimeoutError:
                    self._drop()  # its reply may come when another is waited for
                    raise
                except ConnectionError as error:
                    self._drop()
                    if wait_s is None or (isinstance(error, NotRunning) and not self._was_there):
                        raise
                except RpcFailure as failure:
                    if wait_s is None or failure.data.get("type") != "ShuttingDown":
                        raise
                    self._drop()
                time.sleep(wait_s)
        raise AssertionError("the last wait is None")

    def _connected(self) -> Client:
        if self._client is None:
            self._client = connect(self._path, timeout_s=self._timeout_s)
            self._was_there = True
        return self._client

    def _drop(self) -> None:
        if self._client is not None:
            self._client.close()
            self._client = None

    def _waits(self) -> Iterator[float | None]:
        """Yield how long to wait after each attempt; None when there is to be no other."""
        until, wait_s = time.monotonic() + self._patience_s, _FIRST_WAIT_S
        while time.monotonic() + wait_s < until:
            yield jittered(wait_s)
            wait_s = min(_LONGEST_WAIT_S, wait_s * 2)
        yield None
