"""Waiting for what takes long: how far it is, and what Ctrl-C leaves."""

import json
import socket
from contextlib import redirect_stderr
from pathlib import Path

import pytest

from client.fake_daemon import FakeDaemon
from client.in_process import Pane
from shelfd.client import transport
from shelfd.client.patience import _JobLine, ask_patiently
from shelfd.client.progress import ProgressLine
from shelfd.client.transport import Client

REPLY = json.dumps({"jsonrpc": "2.0", "id": 1, "result": {"run_id": "run-1"}}).encode() + b"\n"


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "LOOK_S", 0.0)


def test_who_waits_is_called_until_the_answer_comes() -> None:
    ours, theirs = socket.socketpair()
    looks = []

    def look() -> None:
        looks.append(1)
        if len(looks) == 3:
            theirs.sendall(REPLY)

    with Client(ours) as client, theirs:
        assert client.call("reflect", while_waiting=look) == {"run_id": "run-1"}
    assert len(looks) == 3


def test_ctrl_c_says_that_the_daemon_goes_on(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(_line: _JobLine) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(_JobLine, "look", interrupted)
    ours, theirs = socket.socketpair()
    with Client(ours) as client, theirs, pytest.raises(KeyboardInterrupt):
        ask_patiently(client, None, "reflect", {})
    assert "the daemon ends what it has begun: shelfd jobs" in capsys.readouterr().err


def test_a_daemon_that_is_gone_is_said_to_go_on_later(capsys: pytest.CaptureFixture[str]) -> None:
    ours, theirs = socket.socketpair()
    theirs.close()
    with Client(ours) as client, pytest.raises(ConnectionError):
        ask_patiently(client, None, "reflect", {})
    assert "once it runs again: shelfd jobs" in capsys.readouterr().err


def test_how_far_the_job_is_is_asked_on_another_connection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr(ProgressLine, "update", lambda _line, done, total: shown.append((done, total)))
    shown: list[tuple[int, int | None]] = []
    jobs = {"jobs": [{"progress": {"done": 50, "total": 100}}]}
    with FakeDaemon(tmp_path / "s", {"job.list": jobs}) as fake, redirect_stderr(Pane(is_terminal=True)):
        with _JobLine(str(fake.path), "work") as line:
            for _ in range(4):
                line.look()
        assert fake.params("job.list") == {"shelf": "work", "unfinished": True, "limit": 1}
    assert shown == [(50, 100)]


def test_a_daemon_that_does_not_say_how_far_it_is_does_no_harm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    with redirect_stderr(Pane(is_terminal=True)), _JobLine("/nonexistent/s", "default") as line:
        for _ in range(5):
            line.look()
