"""What an operator can see and set while the daemon runs: settings, log level, figures."""

import json
import socket
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from signal import SIGHUP
from typing import Any

import pytest

from client.in_process import Ended
from client.in_process import shelfd as in_this_process
from mosquitto import free_port
from running import Daemon, refused, until
from shelfd.client import RpcFailure


@pytest.fixture(scope="module")
def port() -> int:
    return free_port()


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory, port: int) -> Iterator[Daemon]:
    directory = tmp_path_factory.mktemp("operating")
    (directory / "shelfd.toml").write_text('[log]\nlevel = "warning"\n[memory]\nlanguage = "german"\n')
    settings = {"SHELFD__METRICS__LISTEN": f"127.0.0.1:{port}"}
    with Daemon(directory, "--config", str(directory / "shelfd.toml"), environment=settings) as running:
        until(lambda: listens(port), "figures can be asked for, which is after READY")
        yield running


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def shelfd(daemon: Daemon, *arguments: str) -> Ended:
    return in_this_process(*arguments, env={"HOME": str(daemon.directory), "SHELFD_SOCKET": daemon.socket})


def get(port: int, path: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=10) as reply:
            return reply.status, reply.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


# ------------------------------------------------------------------- settings


def test_the_settings_of_the_running_daemon_are_shown(daemon: Daemon, port: int) -> None:
    shown = json.loads(shelfd(daemon, "config", "show", "--origin", "--json").stdout)
    file = daemon.directory / "shelfd.toml"
    assert shown["memory.language"] == {"value": "german", "origin": f"file {file}"}
    assert shown["metrics.listen"]["origin"] == "environment SHELFD__METRICS__LISTEN"
    assert shown["daemon.data_dir"]["value"] == str(daemon.data)
    lines = shelfd(daemon, "config", "show", "--origin").stdout.splitlines()
    assert any(line.startswith('memory.language = "german"') and line.endswith(f"# file {file}") for line in lines)
    assert 'memory.language = "german"' in shelfd(daemon, "config", "show").stdout.splitlines()


def test_a_reload_shows_what_holds_and_not_what_was_written(daemon: Daemon) -> None:
    file = daemon.directory / "shelfd.toml"
    before = file.read_text()
    file.write_text(before.replace("german", "french").replace("warning", "error"))
    daemon.signal(SIGHUP)
    until(lambda: _level(daemon) == "error", "reloaded")
    assert daemon.call("system.config")["settings"]["memory.language"] == "german"  # which needs a restart
    file.write_text(before)
    daemon.signal(SIGHUP)
    until(lambda: _level(daemon) == "warning", "reloaded")


def _level(daemon: Daemon) -> Any:
    return daemon.call("system.config")["settings"]["log.level"]


# ------------------------------------------------------------------ log level


def test_the_log_level_is_set_until_the_next_reload(daemon: Daemon) -> None:
    handled = [event for event in daemon.events() if event["event"] == "rpc.handled"]
    assert shelfd(daemon, "log-level").stdout == "warning; after the next start: warning\n"
    assert shelfd(daemon, "log-level", "info").stdout == "info; after the next start: warning\n"
    daemon.call("system.version")
    assert len([event for event in daemon.events() if event["event"] == "rpc.handled"]) > len(handled)
    daemon.signal(SIGHUP)
    until(lambda: daemon.call("system.log_level")["level"] == "warning", "reloaded")
    with pytest.raises(RpcFailure) as refusal:
        daemon.call("system.log_level", level="loud")
    assert (refusal.value.code, refusal.value.data["field"]) == (-32602, "level")


# -------------------------------------------------------------------- figures


def test_figures_have_the_names_they_have_on_the_socket(daemon: Daemon, port: int) -> None:
    daemon.call("system.version")
    known = daemon.call("system.metrics")["metrics"]
    status, text = get(port, "/metrics")
    assert status == 200
    lines = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
    for name, value in known.items():
        if isinstance(value, int | float) and not isinstance(value, bool):
            assert f"shelfd_{name}" in lines or f"shelfd_{name}_total" in lines, name
    assert float(lines['shelfd_requests_total{method="system.version",outcome="ok"}']) >= 1
    assert (lines["shelfd_health_ok"], lines["shelfd_health_ready"]) == ("1.0", "1.0")
    assert get(port, "/health") == (200, "ok\n")
    assert get(port, "/../etc/passwd")[0] == 404


def test_garbage_is_answered_or_ended_and_harms_nobody(daemon: Daemon, port: int) -> None:
    for garbage in (b"\0" * 9000, b"POST /metrics HTTP/1.1\r\n\r\n", b"GET\r\n\r\n", b"\r\n\r\n"):
        with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
            connection.sendall(garbage)
            connection.shutdown(socket.SHUT_WR)
            connection.recv(65_536)
    assert get(port, "/health")[0] == 200


@pytest.mark.parametrize("listen", ["0.0.0.0:9464", "example.org:9464", "127.0.0.1", "127.0.0.1:70000", ":9464"])
def test_figures_are_for_this_machine_alone(tmp_path: Path, listen: str) -> None:
    ended = refused(tmp_path, "config", "check", environment={"SHELFD__METRICS__LISTEN": listen})
    assert (ended.returncode, "metrics.listen" in ended.stderr) == (78, True)


def test_an_address_that_is_taken_is_a_finding(tmp_path: Path, port: int, daemon: Daemon) -> None:
    del daemon
    with Daemon(tmp_path, environment={"SHELFD__METRICS__LISTEN": f"127.0.0.1:{port}"}) as second:
        until(lambda: any(event["event"] == "metrics.listen_failed" for event in second.events()), "it was tried")
        findings = {one["check"]: one for one in second.call("system.doctor")["findings"]}
        assert not findings["metrics"]["ok"]
