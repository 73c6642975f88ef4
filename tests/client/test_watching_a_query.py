"""``shelfd watch QUERY``: a query that stands as long as the command runs."""

import json
import signal
import subprocess
import sys
from pathlib import Path

from running import Daemon
from shelfd.client import connect


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
