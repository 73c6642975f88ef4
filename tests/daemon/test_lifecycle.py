"""The daemon as a process: ready, serving, stopping, refusing."""

import json
import os
import signal
import socket
import stat
from pathlib import Path

import pytest

from running import TIMEOUT_S, Daemon, refused
from shelfd.client import connect
from shelfd.daemon.lock import LOCK_FILE


def test_it_says_where_it_is_serves_and_ends_well(tmp_path: Path) -> None:
    with Daemon(tmp_path, afresh=True) as daemon:
        assert daemon.ready[0] == f"READY socket={daemon.socket} data={daemon.data}"
        assert " remember " in daemon.ready[1]
        assert " recall " in daemon.ready[2]
        assert f"socat - UNIX-CONNECT:{daemon.socket}" in daemon.ready[3]
        assert stat.S_IMODE(Path(daemon.socket).stat().st_mode) == 0o600
        assert stat.S_IMODE(daemon.data.stat().st_mode) == 0o700
        health = daemon.call("system.health")
        assert (health["status"], health["ready"]) == ("ok", True)
        assert [shelf["shelf"] for shelf in health["shelves"]] == ["default"]
        assert daemon.call("system.version")["wire"] == 1
        assert daemon.call("system.metrics")["metrics"]["rss_bytes"] > 0
        found = daemon.call("system.doctor")
        assert {"data_dir", "free_space", "socket", "shelf default"} <= {one["check"] for one in found["findings"]}
        assert daemon.stop() == 0
        assert not Path(daemon.socket).exists()
    assert {"daemon.ready", "daemon.stopping", "daemon.stopped"} <= {event["event"] for event in daemon.events()}


def test_ctrl_c_ends_it_well_too(tmp_path: Path) -> None:
    with Daemon(tmp_path, afresh=True) as daemon:
        assert daemon.stop(signal.SIGINT) == 0


@pytest.mark.parametrize("loop", ["asyncio", "uvloop"])
def test_what_was_remembered_survives_kill_9(tmp_path: Path, loop: str) -> None:
    env = {"SHELFD_LOOP": loop}
    with Daemon(tmp_path, environment=env) as daemon:
        note_id = daemon.call("remember", content="the kettle is green")["note"]["id"]
    # Leaving the block killed it: its socket file and its lock file are still there.
    assert Path(daemon.socket).exists()
    with Daemon(tmp_path, environment=env) as again:
        assert again.call("note.get", id=note_id)["note"]["content"] == "the kettle is green"


def test_a_second_daemon_is_refused_and_the_holder_of_the_data_named(tmp_path: Path) -> None:
    with Daemon(tmp_path) as daemon:
        second = refused(tmp_path, "--data-dir", str(daemon.data), "--socket", str(tmp_path / "other.sock"))
        assert second.returncode == os.EX_TEMPFAIL
        assert f"pid {daemon.pid}, socket {daemon.socket}" in second.stderr
        assert daemon.call("system.health")["ready"]


def test_a_socket_with_a_listener_is_refused(tmp_path: Path) -> None:
    with Daemon(tmp_path) as daemon:
        second = refused(tmp_path, "--data-dir", str(tmp_path / "other"), "--socket", str(daemon.socket))
        assert second.returncode == os.EX_CONFIG
        assert "flag --socket: daemon.socket: " in second.stderr
        assert daemon.call("system.health")["ready"]


def test_wrong_configuration_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "s.toml"
    file.write_text("[daemon]\nwhat = 1\n")
    done = refused(tmp_path, "--config", str(file))
    assert done.returncode == os.EX_CONFIG
    assert f"file {file}: daemon.what: unknown setting" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("[reflection]\ncron = 'every day'\n", "reflection.cron"),
        ("[mqtt]\nurl = 'mqtt://shelfd@localhost'\npassword_file = '/does/not/exist'\n", "mqtt.password_file"),
        ("[promotion]\npath = '/tmp/one.md'\n[promotion.shelves.work]\npath = '/tmp/one.md'\n", "promotion: shelves"),
    ],
)
def test_settings_that_cannot_work_are_refused_at_start(tmp_path: Path, text: str, named: str) -> None:
    file = tmp_path / "shelfd.toml"
    file.write_text(text)
    done = refused(tmp_path, "--config", str(file))
    assert done.returncode == os.EX_CONFIG
    assert named in done.stderr
    assert "Traceback" not in done.stderr


def test_a_socket_path_that_is_too_long_is_refused(tmp_path: Path) -> None:
    done = refused(tmp_path, "--data-dir", str(tmp_path / "d"), "--socket", "/tmp/" + "x" * 103)
    assert done.returncode == os.EX_CONFIG
    assert "108 bytes" in done.stderr


def test_an_unknown_flag_is_wrong_usage(tmp_path: Path) -> None:
    assert refused(tmp_path, "--nope").returncode == os.EX_USAGE


def test_a_data_directory_that_is_a_file_is_unusable(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    done = refused(tmp_path, "--data-dir", str(tmp_path / "file"))
    assert done.returncode == os.EX_IOERR
    assert "flag --data-dir: daemon.data_dir: cannot be used" in done.stderr


def test_a_damaged_shelf_does_not_stop_the_daemon(tmp_path: Path) -> None:
    with Daemon(tmp_path) as daemon:
        daemon.stop()
    for file in (daemon.data / "shelves").rglob("*"):
        if file.is_file():
            file.write_bytes(b"this is no database" * 1000)
    with Daemon(tmp_path) as again:
        health = again.call("system.health")
        assert health["status"] == "degraded"
        assert [shelf["state"] for shelf in health["shelves"]] == ["corrupt"]
        assert not again.call("system.doctor")["ok"]
        assert again.stop() == 0


def test_the_service_manager_is_notified(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(tmp_path / "notify"))
        manager.settimeout(TIMEOUT_S)
        env = {"NOTIFY_SOCKET": str(tmp_path / "notify"), "WATCHDOG_USEC": "40000"}
        with Daemon(tmp_path, environment=env) as daemon:
            assert manager.recv(999).startswith(b"READY=1\nSTATUS=serving at ")
            assert [manager.recv(999) for _ in range(3)] == [b"WATCHDOG=1"] * 3
            daemon.signal(signal.SIGHUP)
            messages = [manager.recv(999)]
            while not messages[-1].startswith(b"READY=1"):
                messages.append(manager.recv(999))
            assert any(message.startswith(b"RELOADING=1\nMONOTONIC_USEC=") for message in messages)
            assert daemon.stop() == 0
            while not messages[-1].startswith(b"STOPPING=1"):
                messages.append(manager.recv(999))


def test_a_handed_over_socket_is_served_and_stays(tmp_path: Path) -> None:
    path = tmp_path / "given.sock"
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(path))
        listening.listen()
        # The manager's descriptors begin at 3, and it knows the process id only after the fork.
        code = (
            f"import os, sys; os.dup2({listening.fileno()}, 3); os.environ.update(LISTEN_PID=str(os.getpid()), "
            "LISTEN_FDS='1', LISTEN_FDNAMES='rpc'); "
            "os.execv(sys.executable, [sys.executable, '-P', '-m', 'shelfd.daemon', '--data-dir', sys.argv[1]])"
        )
        argv = ("-c", code, str(tmp_path / "data"))
        with Daemon(tmp_path, argv=argv, pass_fds=(listening.fileno(),)) as daemon, connect(str(path)) as client:
            assert f"socket={path} " in daemon.ready[0]
            assert client.call("system.health")["ready"]
            assert daemon.stop() == 0
        assert path.exists()


def test_sighup_takes_over_what_it_can_and_says_what_not(tmp_path: Path) -> None:
    file = tmp_path / "s.toml"
    file.write_text('[log]\nlevel = "info"\n')
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind(str(tmp_path / "notify"))
        manager.settimeout(TIMEOUT_S)

        def reload(daemon: Daemon, text: str) -> None:
            file.write_text(text)
            daemon.signal(signal.SIGHUP)
            while not manager.recv(999).startswith(b"READY=1"):
                pass

        with Daemon(tmp_path, "--config", str(file), environment={"NOTIFY_SOCKET": str(tmp_path / "notify")}) as daemon:
            assert manager.recv(999).startswith(b"READY=1")
            reload(daemon, '[log]\nlevel = "debug"\n[access]\nadmins = ["uid:1"]\n[memory]\nlanguage = "german"\n')
            reload(daemon, "[log\n")
            assert daemon.call("system.health")["ready"]
            daemon.stop()
    events = {event["event"]: event for event in daemon.events()}
    assert events["config.reload_ignored"]["keys"] == ["memory.language"]
    assert events["config.reloaded"]["keys"] == ["log.level", "access.admins"]
    assert "not TOML" in events["config.reload_failed"]["complaints"][0]


def test_stdout_without_a_reader_is_no_failure(tmp_path: Path) -> None:
    with Daemon(tmp_path) as daemon:
        daemon.hang_up()
        assert daemon.call("system.health")["ready"]
        assert daemon.stop() == 0


def test_the_lock_names_the_running_daemon(tmp_path: Path) -> None:
    with Daemon(tmp_path) as daemon:
        assert json.loads((daemon.data / LOCK_FILE).read_text())["pid"] == daemon.pid


# ------------------------------------------------------------------ shelfd config


def test_config_check_says_whether_the_settings_are_right(tmp_path: Path) -> None:
    file = tmp_path / "s.toml"
    file.write_text('[log]\nlevel = "debug"\n')
    done = refused(tmp_path, "config", "check", "--config", str(file))
    assert (done.returncode, done.stdout) == (0, f"{file}: ok\n")
    file.write_text('[log]\nlevel = "loud"\n')
    done = refused(tmp_path, "config", "check", "--config", str(file))
    assert done.returncode == os.EX_CONFIG
    assert "log.level" in done.stderr


def test_config_show_names_the_origin_of_each_value(tmp_path: Path) -> None:
    file = tmp_path / "s.toml"
    file.write_text('[log]\nlevel = "debug"\n')
    env = {"QUIET_HOURS_START": "0", "XDG_RUNTIME_DIR": "/run/user/9"}
    done = refused(
        tmp_path, "config", "show", "--origin", "--json", "--config", str(file), "--instance", "x", environment=env
    )
    shown = json.loads(done.stdout)
    assert shown["log.level"] == {"value": "debug", "origin": f"file {file}"}
    assert shown["quiet_hours.start"] == {"value": 0, "origin": "environment QUIET_HOURS_START"}
    assert shown["daemon.instance"] == {"value": "x", "origin": "flag --instance"}
    assert shown["daemon.socket"] == {"value": "/run/user/9/shelfd.sock", "origin": "environment XDG_RUNTIME_DIR"}
    assert shown["quiet_hours.end"] == {"value": 8, "origin": "default"}
    text = refused(tmp_path, "config", "show", "--origin", "--config", str(file)).stdout
    assert 'log.level = "debug"' in text
    assert f"# file {file}" in text
