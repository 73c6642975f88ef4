"""A real mosquitto for tests: own port, users and ACL, which can be killed and started again where it was."""

import os
import pwd
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

USERS = {"shelfd": "daemon-secret", "alice": "alice-secret", "bob": "bob-secret"}
_ACL = """\
user shelfd
topic readwrite shelfd/v1/#
pattern write shelfd/v1/+/req/%u/#
pattern read shelfd/v1/+/rep/%u/#
pattern read shelfd/v1/+/status
pattern read shelfd/v1/+/health
user alice
topic read shelfd/v1/+/ev/#
"""
_SEARCH = f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin"


class Mosquitto:
    """One broker on a port of 127.0.0.1; what it knows survives :meth:`stop`, and a kill as far as it wrote it.

    Args:
        saves_at_once: Whether it writes down each message: a kill loses little, and it is slow.

    Attributes:
        port: Where it listens.
        url: Its address with user ``shelfd`` in it, as ``mqtt.url`` takes it.
    """

    def __init__(
        self,
        directory: Path,
        *,
        acl: str = _ACL,
        users: Mapping[str, str] = USERS,
        extra: str = "",
        saves_at_once: bool = True,
    ) -> None:
        self.directory = directory
        directory.mkdir(parents=True, exist_ok=True)
        self.port = free_port()
        self.url = f"mqtt://shelfd@127.0.0.1:{self.port}"
        self._process: subprocess.Popen[bytes] | None = None
        passwords, rules = directory / "passwords", directory / "acl"
        passwords.touch(mode=0o600)
        for user, password in users.items():
            command = shutil.which("mosquitto_passwd", path=_SEARCH) or "mosquitto_passwd"
            subprocess.run([command, "-b", str(passwords), user, password], check=True, capture_output=True)
        rules.write_text(acl, encoding="utf-8")
        rules.chmod(0o600)
        self.configuration = directory / "mosquitto.conf"
        self.configuration.write_text(
            "per_listener_settings false\n"
            f"listener {self.port} 127.0.0.1\n"
            "allow_anonymous false\n"
            f"password_file {passwords}\n"
            f"acl_file {rules}\n"
            "set_tcp_nodelay true\n"
            "max_queued_messages 10000\n"
            "max_inflight_messages 100\n"
            "max_packet_size 2097152\n"
            "persistence true\n"
            f"persistence_location {directory}/\n"
            f"autosave_interval {1 if saves_at_once else 1800}\n"
            f"autosave_on_changes {str(saves_at_once).lower()}\n"
            f"user {_user()}\n{extra}",
            encoding="utf-8",
        )

    def start(self) -> "Mosquitto":
        """Start it and wait until it listens."""
        command = shutil.which("mosquitto", path=_SEARCH) or "mosquitto"
        with (self.directory / "mosquitto.log").open("ab") as log:
            self._process = subprocess.Popen(
                [command, "-v", "-c", str(self.configuration)], stdout=log, stderr=log, start_new_session=True
            )
        deadline = time.monotonic() + 20
        while not _listens(self.port):
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise AssertionError(f"mosquitto did not start:\n{(self.directory / 'mosquitto.log').read_text()}")
        return self

    def stop(self) -> None:
        """End it as a service manager would; it keeps sessions and queued messages."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """End it as a power cut would."""
        self._end(signal.SIGKILL)

    def pause(self) -> None:
        """Stop it from answering without closing a connection."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Let it go on."""
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)

    def _end(self, number: int) -> None:
        if self._process is not None:
            process, self._process = self._process, None
            process.send_signal(signal.SIGCONT)
            process.send_signal(number)
            process.wait(20)


@contextmanager
def mosquitto(directory: Path, *, acl: str = _ACL, extra: str = "", saves_at_once: bool = True) -> Iterator[Mosquitto]:
    """A running broker that is gone when the block ends."""
    broker = Mosquitto(directory, acl=acl, extra=extra, saves_at_once=saves_at_once).start()
    try:
        yield broker
    finally:
        broker.kill()


def free_port() -> int:
    """A port of 127.0.0.1 that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(0.2)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _user() -> str:

    return pwd.getpwuid(os.getuid()).pw_name
