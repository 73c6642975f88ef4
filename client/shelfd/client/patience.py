"""Waiting for an answer that may take long: a person sees how far the daemon's job is, and Ctrl-C says what goes on."""

from collections.abc import Mapping
from types import TracebackType
from typing import Any, Final, Self

from shelfd.client.failure import RpcFailure
from shelfd.client.invocation import daemon, given
from shelfd.client.progress import ProgressLine
from shelfd.client.streams import warn
from shelfd.client.terminal import is_terminal
from shelfd.client.transport import LOOK_S, Client, connect

_PATIENCE_S: Final = 2.0  #: for the question how far a job is; the answer that is waited for is another


def call_patiently(socket: str | None, method: str, params: Mapping[str, Any]) -> Any:  # noqa: ANN401
    """Make one call, however long it takes; params that are None are left out."""
    with daemon(socket, timeout_s=None) as client:
        return ask_patiently(client, socket, method, params)


def ask_patiently(client: Client, socket: str | None, method: str, params: Mapping[str, Any]) -> Any:  # noqa: ANN401
    """Call *method* on a connection that has no timeout; *socket* is where to ask how far it is.

    Raises:
        KeyboardInterrupt: After saying that the daemon goes on.
        ConnectionError: After saying so of one that is gone.
    """
    try:
        with _JobLine(socket, params.get("shelf", "default")) as line:
            return client.call(method, given(params), while_waiting=line.look)
    except KeyboardInterrupt:
        warn("interrupted; the daemon ends what it has begun: shelfd jobs shows how far it is")
        raise
    except ConnectionError:
        warn("a daemon that is gone ends what it has begun once it runs again: shelfd jobs shows how far it is")
        raise


class _JobLine:
    """Shows how far the job is that was begun last; by a connection of its own, which is made when it is needed."""

    def __init__(self, socket: str | None, shelf: str) -> None:
        self._socket = socket
        self._shelf = shelf
        self._line = ProgressLine()
        self._client: Client | None = None
        self._looks = 0

    def look(self) -> None:
        """Ask, after the first second."""
        self._looks += 1
        if self._looks * LOOK_S < 1 or not is_terminal(self._line.stream):
            return
        try:
            if self._client is None:
                self._client = connect(self._socket, timeout_s=_PATIENCE_S)
            jobs = self._client.call("job.list", {"shelf": self._shelf, "unfinished": True, "limit": 1})["jobs"]
        except (OSError, RpcFailure):
            return  # it is only a look
        if jobs:
            self._line.update(jobs[0]["progress"]["done"] or 0, jobs[0]["progress"].get("total"))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._line.clear()
        if self._client is not None:
            self._client.close()
