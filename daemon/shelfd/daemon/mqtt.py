"""The daemon's MQTT side: connection, requests, events, and the embedded broker if there is one.

None of it holds up anything else: it starts after READY, and health reports what is wrong with it.
"""

import asyncio
import socket
from datetime import timedelta
from functools import partial
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Any

import structlog

from shelfd.daemon.places import Places
from shelfd.daemon.sections import Mqtt as MqttSection
from shelfd.daemon.settings import Settings
from shelfd.daemon.system import DaemonSystem, package_version
from shelfd.gateway import Dispatcher
from shelfd.gateway.mqtt import (
    Address,
    Announcer,
    BrokerSession,
    EmbeddedBroker,
    EventPublisher,
    Requests,
    Topics,
    tls_context,
)
from shelfd.memory import ANYONE, Clock, Service
from shelfd.memory.errors import BrokerUnreachable, ConfigError
from shelfd.memory.ports.job import draw_run_id

log = structlog.get_logger("shelfd.daemon")

_CREDENTIAL = "mqtt.password"
_SLOW_S = 0.03  #: from here on a round trip is held up by something, most often by Nagle's algorithm
#: Characters of a share group's name: 128 bits as hexadecimal digits.
_SECRET_LENGTH = 32


class MqttService:
    """Starts and stops everything that speaks MQTT.

    Raises:
        ConfigError: If a file that the settings name cannot be read, or the embedded broker is not installed.
    """

    def __init__(
        self,
        settings: Settings,
        places: Places,
        service: Service,
        dispatcher: Dispatcher,
        system: DaemonSystem,
        clock: Clock,
    ) -> None:
        self._settings = settings.mqtt
        self._instance = settings.daemon.instance
        self._places = places
        self._system = system
        self._clock = clock
        self._topics = Topics(self._instance)
        self._requests = Requests(dispatcher, self._topics, clock)
        self._publisher = EventPublisher(service.shelves, self._topics, clock)
        self._embedded: EmbeddedBroker | None = None
        if settings.mqtt.embedded_broker:
            # The rules are looked up each time: a reload replaces them.
            self._embedded = EmbeddedBroker(
                places.data / "broker", may_read=lambda principal, shelf: service.access.may(principal, shelf, "read")
            )
        self._password = read_password(settings.mqtt, places)
        self._share_group = self._read_share_group()
        self._tls = tls_of(settings.mqtt)
        self._session: BrokerSession | None = None
        self._starting: asyncio.Task[None] | None = None
        self._complaint: str | None = None

    # ---------------------------------------------------------------- life

    def start(self) -> None:
        """Begin to follow the shelves and to connect; return at once."""
        self._publisher.start()
        self._starting = asyncio.get_running_loop().create_task(self._start(), name="shelfd.mqtt.start")

    async def _start(self) -> None:
        # Importing the client library takes long enough to delay requests noticeably.
        adapter = await asyncio.to_thread(import_module, "shelfd.gateway.mqtt.adapter")
        address = Address.parse(self._settings.url) if self._settings.url else None
        password = self._password
        if self._embedded is not None:
            try:
                address = Address.parse(await self._embedded.start())
            except ConfigError as error:
                self._complaint = error.message
                log.error("broker.start_failed", complaint=error.message)
                return
            password = await asyncio.to_thread(_first_line, self._embedded.password_file)
        broker = adapter.AiomqttBroker(
            address,
            identifier=self._identifier(),
            clock=self._clock,
            password=password,
            tls=self._tls,
            session_expiry=timedelta(seconds=self._settings.session_expiry_s),
        )
        announcer = Announcer(
            self._topics,
            self._clock,
            instance=self._instance,
            version=package_version(),
            boot=draw_run_id().removeprefix("run-"),
            health=partial(self._system.health, ANYONE),
        )
        self._session = BrokerSession(
            broker, self._requests, self._topics, self._clock, announcer,
            followers=[self._publisher], share_group=self._share_group,
        )  # fmt: skip
        self._session.start()

    async def stop(self, drain: timedelta) -> None:
        """Take no more requests, deliver what can be delivered, say farewell."""
        if self._starting is not None:
            self._starting.cancel()
            await asyncio.gather(self._starting, return_exceptions=True)
        if self._session is not None:
            await self._session.drain(drain)
        await self._publisher.close()
        if self._session is not None:
            await self._session.stop()
        if self._embedded is not None:
            await self._embedded.stop()

    # ---------------------------------------------------------------- what it says

    def status(self) -> dict[str, Any]:
        """Return what ``system.health`` says of MQTT."""
        status: dict[str, Any] = {"state": "connecting", "url": self._settings.url}
        if self._session is not None:
            status = self._session.status()
        if self._complaint is not None:
            status |= {"state": "refused", "message": self._complaint}
        status["embedded"] = self._embedded is not None
        if self._embedded is not None and self._session is not None:
            status["url"] = self._embedded.url("agent")
            status["agent_password_file"] = str(self._embedded.agent_password_file)
        return {**status, "events": self._publisher.status()}

    async def probe(self) -> tuple[bool, str]:
        """Find out whether requests arrive; return that and what to do if not.

        A daemon that shares requests with others cannot: the broker may give the probe to one of them.
        """
        if self._session is None or self._share_group is not None:
            return True, "not tried: requests are shared"
        user = "shelfd" if self._embedded is not None else Address.parse(self._settings.url).user or "shelfd"
        try:
            seconds = await self._session.probe(user)
        except BrokerUnreachable as error:
            return False, f"a request to ourselves was not taken: {error.message}"
        if seconds is None:
            return (
                False,
                "a request to ourselves did not arrive: the broker's ACL must let our user read req/#",
            )
        if seconds >= _SLOW_S:
            return False, f"{seconds * 1000:.0f} ms, which is long: set_tcp_nodelay true in mosquitto's configuration?"
        return True, f"{seconds * 1000:.1f} ms"

    # ---------------------------------------------------------------- files

    def _read_share_group(self) -> str | None:
        if not self._settings.share_file:
            return None
        group = _read(Path(self._settings.share_file).expanduser(), "mqtt.share_file")
        if len(group) < _SECRET_LENGTH or not group.isalnum():
            raise ConfigError(
                f"mqtt.share_file: must hold at least {_SECRET_LENGTH} letters and digits that cannot be guessed: "
                "a client that knows them gets a share of all requests"
            )
        return group

    def _identifier(self) -> str:
        """The client identifier, the same after a restart; of daemons that share requests each has its own."""
        if self._share_group is None:
            return f"shelfd-{self._instance}"
        machine = f"{socket.gethostname()}:{self._places.data}"
        return f"shelfd-{self._instance}-{sha256(machine.encode()).hexdigest()[:8]}"


def read_password(section: MqttSection, places: Places) -> str | None:
    """Return the password for the broker; None if there is none.

    Raises:
        ConfigError: If its file cannot be read.
    """
    if section.password_file:
        return _read(Path(section.password_file).expanduser(), "mqtt.password_file")
    if places.credentials is not None and (places.credentials / _CREDENTIAL).exists():
        return _read(places.credentials / _CREDENTIAL, f"credential {_CREDENTIAL}")
    return None


def tls_of(section: MqttSection) -> Any:  # noqa: ANN401 - an SSL context
    """Return what checks an ``mqtts`` broker; None for another.

    Raises:
        ConfigError: If the authorities' file cannot be used.
    """
    return _tls(section.ca_file) if section.url.startswith("mqtts:") else None


def _read(file: Path, name: str) -> str:
    try:
        return _first_line(file)
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "not UTF-8"
        raise ConfigError(f"{name}: cannot be read: {why}: {file}") from None


def _first_line(file: Path) -> str:
    return file.read_text(encoding="utf-8").partition("\n")[0].rstrip("\r")


def _tls(ca_file: str) -> Any:  # noqa: ANN401 - an SSL context
    try:
        return tls_context(ca_file or None)
    except OSError as error:
        raise ConfigError(f"mqtt.ca_file: cannot be used: {error.strerror or error}: {ca_file}") from None
