"""A daemon made of canned answers, in a thread."""

import json
import socket
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

#: By method, the result; or a function of the params that gives it; an RPC error is a dict with ``error``.
Answers = Mapping[str, Any]
TIMEOUT_S = 30.0


class BrokenOff(Exception):
    """Raised by an answer: the connection ends without one."""


class FakeDaemon:
    """Listens on entry, answers by table, remembers what it was asked.

    Attributes:
        asked: (method, params) in order of arrival.
        notifications: Sent behind the answer to ``events.subscribe``, one list for each connection in turn; after
            the last of a list the connection is closed.
    """

    def __init__(self, path: Path, answers: Answers) -> None:
        self.path = path
        self.answers = dict(answers)
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.notifications: list[list[dict[str, Any]]] = []
        self._listening = socket.socket(socket.AF_UNIX)
        self._listening.bind(str(path))
        self._listening.listen()
        self._thread = threading.Thread(target=self._serve, name="fake-daemon")

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._listening.shutdown(socket.SHUT_RDWR)
        self._thread.join(TIMEOUT_S)
        self._listening.close()
        assert not self._thread.is_alive()

    def params(self, method: str) -> dict[str, Any]:
        """Return the params of the only request for *method*."""
        [found] = [params for name, params in self.asked if name == method]
        return found

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listening.accept()
            except OSError:
                return
            with connection, suppress(BrokenOff, BrokenPipeError, ConnectionResetError):
                connection.settimeout(TIMEOUT_S)
                self._converse(connection)

    def _converse(self, connection: socket.socket) -> None:
        with connection.makefile("rb") as lines:
            for line in lines:
                request = json.loads(line)
                self.asked.append((request["method"], request["params"]))
                answer = self.answers[request["method"]]
                self._send(connection, {"id": request["id"], **_reply(answer, request["params"])})
                if request["method"] == "events.subscribe" and self.notifications:
                    for notification in self.notifications.pop(0):
                        self._send(connection, notification)
                    return

    def _send(self, connection: socket.socket, message: dict[str, Any]) -> None:
        connection.sendall(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")


def _reply(answer: Any, params: dict[str, Any]) -> dict[str, Any]:
    result = answer(params) if isinstance(answer, Callable) else answer  # type: ignore[arg-type]
    return result if isinstance(result, dict) and set(result) == {"error"} else {"result": result}


def rpc_error(code: int, message: str = "no", *, retryable: bool = False, **data: Any) -> dict[str, Any]:
    return {"error": {"code": code, "message": message, "data": {"type": "T", "retryable": retryable, **data}}}


def note(note_id: str = "note-memory-1", content: str = "the kettle is green", **more: Any) -> dict[str, Any]:
    base = {
        "id": note_id, "nugget": "memory", "kind": "note", "title": "", "content": content, "tags": ["memory"],
        "links": [], "hidden": False, "hits": 0, "updated_at": "2026-01-31T09:00:00.123456Z", "rev": 1,
    }  # fmt: skip
    return {**base, **more}


def event(seq: int, kind: str = "note.created") -> dict[str, Any]:
    params = {
        "type": f"shelfd.{kind}.v1", "time": "2026-01-31T09:00:00.000001Z", "seq": seq, "subject": "note-memory-1",
        "data": {"title": "kettle"},
    }  # fmt: skip
    return {"method": "event", "params": params}
