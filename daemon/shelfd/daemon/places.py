"""Where the daemon keeps its data, listens and looks for its configuration, when it is not configured."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from shelfd.daemon.settings import Loaded
from shelfd.memory.errors import ConfigError

SYSTEM_DATA = Path("/var/lib/shelfd")
SYSTEM_SOCKET = Path("/run/shelfd.sock")
SYSTEM_CONFIG = Path("/etc/shelfd/shelfd.toml")
SOCKET_PATH_BYTES = 107  #: what a Unix socket address has room for, without its closing NUL


@dataclass(frozen=True, slots=True)
class Places:
    """The data directory and the socket, and why these.

    Attributes:
        data: Absolute path.
        socket: Absolute path; not bound by us when *activated*.
        activated: Whether the service manager hands the listening socket over.
        is_service: Whether a group of users shares the socket (mode 0660 instead of 0600).
        home: Of the daemon's user.
        credentials: Where the service manager put secrets; None without any.
    """

    data: Path
    data_origin: str
    socket: Path
    socket_origin: str
    activated: bool
    is_service: bool
    home: Path
    credentials: Path | None = None


def config_file(flag: str | None, environ: Mapping[str, str], *, system: bool) -> Path | None:
    """Return the configuration file to read; None when there is none.

    One that is named has to exist; one that is only looked for may be missing.
    """
    named = flag or environ.get("SHELFD_CONFIG")
    if named:
        return _absolute(named)
    candidates: list[Path] = []
    if environ.get("CONFIGURATION_DIRECTORY"):
        candidates.append(Path(environ["CONFIGURATION_DIRECTORY"].split(":")[0]) / "shelfd.toml")
    if system:
        candidates.append(SYSTEM_CONFIG)
    else:
        candidates.append(xdg(environ, "XDG_CONFIG_HOME", ".config") / "shelfd" / "shelfd.toml")
    return next((path for path in candidates if path.exists()), None)


def choose(loaded: Loaded, environ: Mapping[str, str], *, system: bool, activated: Path | None, pid: int) -> Places:
    """Apply the contract's rules for data directory and socket.

    Args:
        loaded: The settings; an empty path in them means "by the rules".
        environ: The process environment.
        system: Whether ``--system`` was given.
        activated: Path of the socket the service manager handed over, None without one.
        pid: This process, to find out whether the service manager started it.

    Raises:
        ConfigError: If the socket's path is too long for a socket address.
    """
    data, data_origin = _data(loaded, environ, system=system)
    is_service = system or _is_system_service(environ, pid)
    explicit = loaded.settings.daemon.socket
    if explicit:
        socket, origin = _absolute(explicit), loaded.origin(("daemon", "socket"))
    elif activated is not None:
        socket, origin = activated, "environment LISTEN_FDS"
    elif is_service:
        socket, origin = SYSTEM_SOCKET, "flag --system" if system else "service manager"
    elif environ.get("XDG_RUNTIME_DIR"):
        socket, origin = Path(environ["XDG_RUNTIME_DIR"]) / "shelfd.sock", "environment XDG_RUNTIME_DIR"
    else:
        socket, origin = data / "shelfd.sock", "default"
    _check_length(socket, origin)
    credentials = environ.get("CREDENTIALS_DIRECTORY")
    return Places(
        data,
        data_origin,
        socket,
        origin,
        activated is not None and not explicit,
        is_service,
        Path(environ.get("HOME") or "~").expanduser(),
        Path(credentials) if credentials else None,
    )


def _data(loaded: Loaded, environ: Mapping[str, str], *, system: bool) -> tuple[Path, str]:
    explicit = loaded.settings.daemon.data_dir
    if explicit:
        return _absolute(explicit), loaded.origin(("daemon", "data_dir"))
    if environ.get("STATE_DIRECTORY"):
        return Path(environ["STATE_DIRECTORY"].split(":")[0]), "environment STATE_DIRECTORY"
    if system:
        return SYSTEM_DATA, "flag --system"
    origin = "environment XDG_DATA_HOME" if environ.get("XDG_DATA_HOME") else "default"
    return xdg(environ, "XDG_DATA_HOME", ".local/share") / "shelfd", origin


def _is_system_service(environ: Mapping[str, str], pid: int) -> bool:
    # A user's service manager sets XDG_RUNTIME_DIR for its units, the system's does not. The variables of a
    # service are inherited by everything it starts; SYSTEMD_EXEC_PID is the service itself and none of its children.
    return environ.get("SYSTEMD_EXEC_PID") == str(pid) and not environ.get("XDG_RUNTIME_DIR")


def _check_length(socket: Path, origin: str) -> None:
    length = len(str(socket).encode())
    if length > SOCKET_PATH_BYTES:
        raise ConfigError(
            f"{origin}: daemon.socket: the path is {length} bytes long, a socket address has room for "
            f"{SOCKET_PATH_BYTES}; expected a shorter one, for example --socket /tmp/shelfd.sock: {socket}"
        )


def _absolute(path: str) -> Path:
    return Path(path).expanduser().absolute()


def xdg(environ: Mapping[str, str], name: str, fallback: str) -> Path:
    """Return a user's directory by the XDG rules, which ignore a relative path."""
    value = environ.get(name, "")
    return Path(value) if value.startswith("/") else Path(environ.get("HOME") or "~").expanduser() / fallback
