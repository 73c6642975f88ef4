"""Talking with the service manager."""

import os
import socket
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from shelfd.daemon.notify import Notifier, listen_fds, watchdog_interval_s


@pytest.fixture
def manager(tmp_path: Path) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as server:
        server.settimeout(5)
        server.bind(str(tmp_path / "notify"))
        yield server


def test_every_message_arrives_as_the_manager_reads_it(manager: socket.socket) -> None:
    notifier = Notifier({"NOTIFY_SOCKET": manager.getsockname()})
    notifier.ready("serving")
    assert manager.recv(999) == b"READY=1\nSTATUS=serving"
    notifier.reloading()
    name, _, usec = manager.recv(999).decode().partition("\nMONOTONIC_USEC=")
    assert name == "RELOADING=1"
    assert int(usec) > 0
    notifier.watchdog()
    assert manager.recv(999) == b"WATCHDOG=1"
    notifier.stopping()
    assert manager.recv(999) == b"STOPPING=1\nSTATUS=draining"
    notifier.close()
    notifier.ready("after closing nothing is said, and nothing goes wrong")


def test_an_abstract_socket_is_reached() -> None:
    name = f"shelfd-test-{uuid.uuid4()}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as server:
        server.settimeout(5)
        server.bind(f"\0{name}")
        notifier = Notifier({"NOTIFY_SOCKET": f"@{name}"})
        notifier.watchdog()
        assert server.recv(99) == b"WATCHDOG=1"
        notifier.close()


def test_no_manager_and_a_manager_that_is_gone_are_no_trouble(tmp_path: Path) -> None:
    Notifier({}).ready("nobody listens")
    gone = Notifier({"NOTIFY_SOCKET": str(tmp_path / "gone")})
    gone.ready("nobody listens any more")
    gone.close()


@pytest.mark.parametrize(
    ("environ", "interval"),
    [
        ({}, None),
        ({"WATCHDOG_USEC": "60000000"}, 30.0),
        ({"WATCHDOG_USEC": "60000000", "WATCHDOG_PID": "7"}, 30.0),
        ({"WATCHDOG_USEC": "60000000", "WATCHDOG_PID": "8"}, None),
        ({"WATCHDOG_USEC": "0"}, None),
        ({"WATCHDOG_USEC": "soon"}, None),
    ],
)
def test_the_watchdog_is_fed_at_half_its_time(environ: dict[str, str], interval: float | None) -> None:
    assert watchdog_interval_s(environ, 7) == interval


def test_sockets_for_another_process_are_left_alone() -> None:
    assert listen_fds({"LISTEN_PID": "1", "LISTEN_FDS": "1"}, os.getpid()) == {}
    assert listen_fds({}, os.getpid()) == {}


_CHILD = """
import os, sys
from shelfd.daemon import host
from shelfd.daemon.notify import listen_fds
os.environ["LISTEN_PID"] = str(os.getpid())
environ = host.take_environment()
found = listen_fds(environ, os.getpid())
print(sorted(found), [os.get_inheritable(s.fileno()) for s in found.values()], "LISTEN_FDS" in os.environ)
print(found["rpc"].getsockname())
"""


def test_sockets_come_by_name_and_are_not_passed_on(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as rpc, socket.socket(socket.AF_UNIX) as web:
        for one, name in ((rpc, "rpc"), (web, "web")):
            one.bind(str(tmp_path / name))
            one.listen()
        # Descriptors 3 and 4 have to be these two; dup2 in the child puts them there.
        script = (
            f"import os; os.dup2({rpc.fileno()}, 60); os.dup2({web.fileno()}, 61); os.dup2(60, 3); os.dup2(61, 4)\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", script + _CHILD],
            pass_fds=(rpc.fileno(), web.fileno()),
            env={**os.environ, "LISTEN_FDS": "2", "LISTEN_FDNAMES": "rpc:web"},
            capture_output=True, text=True, check=True, timeout=60,
        )  # fmt: skip
    assert done.stdout.splitlines() == ["['rpc', 'web'] [False, False] False", str(tmp_path / "rpc")]
