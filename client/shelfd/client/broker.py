"""Which broker a client follows events at: the given one, or the one the daemon uses."""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from shelfd.client.transport import connect

#: The instances of a broker whose name we do not know: all of them.
ANY: Final = "+"

_PORTS: Final = {"mqtt": 1883, "mqtts": 8883}


class NoBroker(Exception):
    """It is not clear which broker, or as whom; the message says what to do."""


@dataclass(frozen=True, slots=True)
class BrokerLogin:
    """Where a broker is and as whom to use it."""

    host: str
    port: int
    is_tls: bool = False
    user: str | None = None
    password: str | None = None
    ca_file: str | None = None
    instance: str = ANY

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


def named(url: str, *, password_file: str | None = None, ca_file: str | None = None) -> BrokerLogin:
    """Return the broker at *url*, ``mqtt[s]://[user@]host[:port]``.

    Raises:
        NoBroker: If it is no such address, which is not repeated because it may hold a password; or if the
            password file cannot be read.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise NoBroker("the broker's address is not like mqtt[s]://[user@]host:port") from None
    if parts.password is not None:
        raise NoBroker("the broker's address must not hold a password; put it in a file: --password-file FILE")
    if parts.scheme not in _PORTS or not parts.hostname:
        raise NoBroker("the broker's address is not like mqtt[s]://[user@]host:port")
    return BrokerLogin(
        parts.hostname,
        port or _PORTS[parts.scheme],
        parts.scheme == "mqtts",
        unquote(parts.username) if parts.username else None,
        _password(password_file) if password_file else None,
        ca_file,
    )


#: How long an embedded broker may take to start, in seconds.
_STARTING_S: Final = 10.0


def discovered(socket: str | None) -> BrokerLogin:
    """Return the daemon's embedded broker, as the user that is meant for us.

    Raises:
        NoBroker: If the daemon has none, or another one, or its password file is not ours to read.
        NotRunning: If no daemon listens.
    """
    with connect(socket) as client:
        mqtt: dict[str, Any] | None = client.call("system.health").get("mqtt")
        deadline = time.monotonic() + _STARTING_S
        while mqtt and mqtt.get("url") == "" and time.monotonic() < deadline:  # the embedded one is ready after READY
            time.sleep(0.05)
            mqtt = client.call("system.health").get("mqtt")
        instance = client.call("system.version")["instance"]
    if not mqtt:
        raise NoBroker("the daemon uses no broker; start it with --embedded-broker, or name one: --mqtt-url URL")
    if not mqtt.get("url"):
        raise NoBroker("the daemon names its broker to administrators only; name it: --mqtt-url URL")
    broker = named(mqtt["url"])
    if not mqtt.get("agent_password_file"):
        scheme = "mqtts" if broker.is_tls else "mqtt"
        raise NoBroker(f"say as whom: --mqtt-url {scheme}://USER@{broker} --password-file FILE")
    password = _password(mqtt["agent_password_file"])
    return BrokerLogin(broker.host, broker.port, broker.is_tls, "agent", password, None, instance)


def _password(path: str) -> str:
    try:
        return Path(path).expanduser().read_text(encoding="utf-8").rstrip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        raise NoBroker(f"cannot read the password file {path}: {why}") from error
