"""Binding: what may already be at the path."""

import asyncio
import os
import socket
from datetime import timedelta
from pathlib import Path

import pytest

from gateway.fakes import Client, House, Open
from shelfd.gateway import Listener
from shelfd.memory.errors import ConfigError
from shelfd.protocol import Limits


def test_too_long_path(tmp_path: Path) -> None:
    path = tmp_path / ("x" * 108)
    with pytest.raises(ConfigError, match="at most 107"):
        Listener.bind(path, mode=0o600)


def test_path_of_just_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    listener = Listener.bind(Path("x" * 107), mode=0o600)
    listener.listening.close()


def test_missing_directory(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="does not exist"):
        Listener.bind(tmp_path / "nowhere" / "rpc.sock", mode=0o600)


@pytest.mark.parametrize("kind", ["file", "directory", "symlink"])
def test_what_is_not_a_socket_is_left_alone(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "rpc.sock"
    match kind:
        case "file":
            path.write_text("precious")
        case "directory":
            path.mkdir()
        case _:
            (tmp_path / "target").write_text("precious")
            path.symlink_to(tmp_path / "target")
    with pytest.raises(ConfigError, match="not a socket"):
        Listener.bind(path, mode=0o600)
    assert path.exists()


def test_stale_socket_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "rpc.sock"
    Listener.bind(path, mode=0o600).listening.close()
    assert path.exists()
    listener = Listener.bind(path, mode=0o600)
    with socket.socket(socket.AF_UNIX) as probe:
        probe.connect(str(path))
    listener.listening.close()


def test_live_socket_is_refused_and_says_who_has_it(tmp_path: Path) -> None:
    path = tmp_path / "rpc.sock"
    listener = Listener.bind(path, mode=0o600)
    with pytest.raises(ConfigError, match=f"process {os.getpid()} of uid {os.getuid()} already listens"):
        Listener.bind(path, mode=0o600)
    assert path.exists()
    listener.listening.close()


def test_live_socket_with_a_full_backlog_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "rpc.sock"
    with socket.socket(socket.AF_UNIX) as busy, socket.socket(socket.AF_UNIX) as waiting:
        busy.bind(str(path))
        busy.listen(0)
        waiting.connect(str(path))
        with pytest.raises(ConfigError, match="already listens"):
            Listener.bind(path, mode=0o600)


@pytest.mark.parametrize("mode", [0o600, 0o660, 0o666])
def test_mode_is_exact_and_the_umask_restored(tmp_path: Path, mode: int) -> None:
    before = os.umask(0o022)
    try:
        listener = Listener.bind(tmp_path / "rpc.sock", mode=mode)
        assert os.umask(0o022) == 0o022
    finally:
        os.umask(before)
    assert (tmp_path / "rpc.sock").stat().st_mode & 0o777 == mode
    listener.listening.close()


def test_adopting_something_else_is_refused() -> None:
    with socket.socket(socket.AF_INET) as tcp, pytest.raises(ConfigError, match="Unix stream"):
        Listener.adopt(tcp)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as datagram, pytest.raises(ConfigError, match="Unix stream"):
        Listener.adopt(datagram)


async def test_adopted_socket_is_served_and_its_file_stays(tmp_path: Path) -> None:
    path = tmp_path / "rpc.sock"
    passed = socket.socket(socket.AF_UNIX)
    passed.bind(str(path))
    passed.listen()
    house = House(path, Limits())
    await house.server.start(Listener.adopt(passed))
    client = await house.connect()
    await client.settled()
    await house.close()
    assert path.exists()


async def test_many_clients_at_once(open_house: Open) -> None:
    house = await open_house(principal_connections_count=256)
    clients: list[Client] = await asyncio.gather(*(house.connect() for _ in range(200)))
    await asyncio.gather(*(client.settled() for client in clients))
    assert house.counters.connections_open == 200
    await house.server.stop(drain=timedelta(seconds=5))
    assert house.counters.connections_open == 0
