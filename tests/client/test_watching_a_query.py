"""``shelfd watch QUERY``: a query that stands as long as the command runs."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from running import Daemon
from shelfd.client import connect
from shelfd.client.cli import run
from shelfd.client.commands import following


def test_what_enters_its_results_is_shown_and_it_is_gone_afterwards(tmp_path: Path) -> None:
    with Daemon(tmp_path) as daemon, connect(daemon.socket) as client:
        client.call("remember", {"content": "the boat left at five"})
        command = [sys.executable, "-m", "shelfd.client", "watch", "when", "does", "the", "boat", "leave", "--json"]
        watching = subprocess.Popen([*command, "--socket", daemon.socket], stdout=subprocess.PIPE, text=True)
        try:
            while client.call("watch.list")["total"] == 0:
                assert watching.poll() is None
            client.call("remember", {"content": "the tea is cold"})
            noted = client.call("remember", {"content": "the boat leaves at six"})["note"]["id"]
            assert watching.stdout is not None
            assert json.loads(watching.stdout.readline())["data"]["ids"] == [noted]
        finally:
            watching.send_signal(signal.SIGINT)
            watching.communicate(timeout=20)
        assert client.call("watch.list")["total"] == 0


def test_a_person_sees_what_the_note_says_or_that_it_is_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with Daemon(tmp_path) as daemon, connect(daemon.socket) as client:
        command = [sys.executable, "-m", "shelfd.client", "watch", "--socket", daemon.socket]
        watching = subprocess.Popen([*command, "who is ill", "--count", "1"], stdout=subprocess.PIPE, text=True)
        try:
            while client.call("watch.list")["total"] == 0:
                assert watching.poll() is None
            noted = client.call("remember", {"content": "Emma is ill since Monday"})["note"]["id"]
            shown = watching.communicate(timeout=20)[0].splitlines()
        finally:
            watching.kill()
        assert shown[0].endswith(f"  {noted}  [memory]")
        assert shown[1:] == ["    Emma is ill since Monday"]
        data = {"id": "note-memory-gone", "ids": ["note-memory-gone"], "watch": "watch-1"}
        matched = {
            "type": "shelfd.watch.matched.v1",
            "subject": "watch-1",
            "time": "2026-01-31T09:00:00Z",
            "data": data,
        }
        monkeypatch.setattr(following, "standing", lambda *_, **__: iter([matched | {"cause_seq": 7}]))
        assert run(["watch", "who is ill", "--socket", daemon.socket]) == 0
    assert capsys.readouterr().out.split()[2:] == ["7", "watch.matched", "note-memory-gone"]
