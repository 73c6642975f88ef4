"""One daemon per data directory."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from shelfd.daemon.lock import LOCK_FILE, DataLock, HeldError

_HOLDER = """
import sys, pathlib
from shelfd.daemon.lock import DataLock
lock = DataLock(pathlib.Path(sys.argv[1]), socket=pathlib.Path("/run/theirs.sock"))
print("held", flush=True)
sys.stdin.read()
"""


def test_a_second_daemon_is_refused_and_the_holder_named(tmp_path: Path) -> None:
    command = [sys.executable, "-c", _HOLDER, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(HeldError, match=rf"pid {holder.pid}, socket /run/theirs.sock"):
            DataLock(tmp_path, socket=Path("/ours.sock"))
        holder.send_signal(signal.SIGKILL)
        holder.wait()
        with DataLock(tmp_path, socket=Path("/ours.sock")):
            record = json.loads((tmp_path / LOCK_FILE).read_text())
    assert record == {"pid": os.getpid(), "socket": "/ours.sock"}


def test_closing_lets_go_and_may_be_repeated(tmp_path: Path) -> None:
    lock = DataLock(tmp_path, socket=Path("/a"))
    lock.close()
    lock.close()
    with DataLock(tmp_path, socket=Path("/a longer path than before")):
        pass
    with DataLock(tmp_path, socket=Path("/b")):
        assert json.loads((tmp_path / LOCK_FILE).read_text())["socket"] == "/b"


def test_a_holder_whose_pid_is_not_recorded_yet_still_holds(tmp_path: Path) -> None:
    with DataLock(tmp_path, socket=Path("/a")):
        (tmp_path / LOCK_FILE).write_text("{")
        with pytest.raises(HeldError, match="not recorded"):
            DataLock(tmp_path, socket=Path("/b"))


def test_a_directory_that_cannot_be_written_is_an_os_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(NotADirectoryError):
        DataLock(tmp_path / "file", socket=Path("/a"))
