"""``python -m shelfd.daemon doctor``: what can be found out while no daemon runs."""

import asyncio
import contextlib
import fcntl
import json
import os
import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from secrets import token_hex
from shlex import quote
from typing import Final

from shelfd.daemon import flags, streams
from shelfd.daemon.host import SystemClock
from shelfd.daemon.lock import LOCK_FILE
from shelfd.daemon.looks import Finding, look_at_files, look_at_memory_files
from shelfd.daemon.places import Places, choose
from shelfd.daemon.settings import Loaded
from shelfd.memory.errors import ConfigError, SchemaTooNew, StorageCorrupt

_BROKER_S: Final = 5.0


def execute(argv: Sequence[str], environ: Mapping[str, str]) -> int:
    """Look, print what was found as JSON, and return 0 if all is well, else 1."""
    arguments = flags.doctor_parser().parse_args(argv)
    found = list(_look(partial(flags.read, arguments, environ), environ, system=arguments.system))
    is_well = all(finding.ok for finding in found)
    said = {"ok": is_well, "findings": [finding.view() for finding in found]}
    return (0 if is_well else 1) if streams.say(json.dumps(said) + "\n") else os.EX_IOERR


def _look(read: Callable[[], Loaded], environ: Mapping[str, str], *, system: bool) -> Iterator[Finding]:
    try:
        loaded = read()
        places = choose(loaded, environ, system=system, activated=None, pid=os.getpid())
    except ConfigError as error:
        yield Finding("settings", False, error.message.replace("\n", "; "), "shelfd config check")
        return
    where = str(loaded.file) if loaded.file else "defaults and the environment"
    yield Finding("settings", True, where)
    holder = _holder(places.data)
    if holder is not None:
        detail = f"{holder} holds the data directory and does not answer where it was looked for"
        yield Finding("daemon", False, detail, _who_to_ask(holder))
    else:
        yield Finding("daemon", False, "no daemon serves this data directory", "shelfd run")
    yield _socket(places)
    from shelfd.daemon.composition import backup_directory  # after what is cheap: this imports everything else

    backups, count = backup_directory(loaded.settings, places), loaded.settings.limits.connections_count
    yield from look_at_files(places, backups, count, SystemClock().now())
    yield from _shelves(places.data / "shelves")
    yield from _memory_files(loaded, places)
    if loaded.settings.mqtt.url:
        yield asyncio.run(_broker(loaded, places))


def _holder(data: Path) -> str | None:
    """Who has the lock of a data directory: pid and socket; None: nobody."""
    try:
        descriptor = os.open(data / LOCK_FILE, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        with contextlib.suppress(ValueError, KeyError, TypeError):
            record = json.loads(os.pread(descriptor, 4096, 0))
            return f"pid {record['pid']}, socket {record['socket']},"
        return "a process"
    finally:
        os.close(descriptor)
    return None


def _who_to_ask(holder: str) -> str | None:
    place = holder.partition("socket ")[2].rstrip(",")
    return f"shelfd doctor --socket {quote(place)}" if place else None


def _socket(places: Places) -> Finding:
    folder = places.socket.parent
    if folder == places.data and not os.path.lexists(folder):
        return Finding("socket", True, f"{places.socket} is free")  # a daemon makes the directory, private
    if not folder.is_dir():
        return Finding("socket", False, f"{folder} does not exist", f"mkdir -p {quote(str(folder))}")
    if not os.access(folder, os.W_OK | os.X_OK):
        return Finding("socket", False, f"{places.socket}: its directory is not writable", "shelfd run --socket PATH")
    if not os.path.lexists(places.socket):
        return Finding("socket", True, f"{places.socket} is free")
    with socket.socket(socket.AF_UNIX) as one:
        try:
            one.connect(str(places.socket))
        except OSError:
            return Finding("socket", True, f"{places.socket}: nobody listens; the next daemon takes it over")
    return Finding("socket", False, f"{places.socket}: something else listens there", "shelfd run --socket PATH")


def _shelves(root: Path) -> Iterator[Finding]:
    from shelfd.storage import look_at_shelf

    for file in sorted(root.glob("*/shelf.db")):
        name = file.parent.name
        restore = f"shelfd restore --latest --shelf {quote(name)}"
        try:
            yield Finding(f"shelf {name}", True, look_at_shelf(file))
        except SchemaTooNew as error:
            yield Finding(f"shelf {name}", False, error.message)
        except StorageCorrupt as error:
            yield Finding(f"shelf {name}", False, error.message, restore)
        except OSError as error:
            yield Finding(f"shelf {name}", False, f"cannot be read: {error.strerror}", f"ls -l {quote(str(file))}")


def _memory_files(loaded: Loaded, places: Places) -> Iterator[Finding]:
    from shelfd.daemon.composition import promotion_paths

    try:
        paths = promotion_paths(loaded.settings, places)
        paths.check()
    except ConfigError as error:
        yield Finding("memory_md", False, error.message, "shelfd config check")
        return
    section = loaded.settings.promotion
    named = {"default": section, **section.shelves}
    wanted = [(name, Path(one.path).expanduser()) for name, one in named.items() if one.path]
    yield from look_at_memory_files(wanted)


async def _broker(loaded: Loaded, places: Places) -> Finding:
    """Send ourselves a message by the broker."""
    import aiomqtt  # takes a moment

    from shelfd.daemon.mqtt import read_password, tls_of
    from shelfd.gateway.mqtt import Address

    settings = loaded.settings.mqtt
    address = Address.parse(settings.url)
    topic = f"shelfd/v1/{loaded.settings.daemon.instance}/rep/{address.user or 'shelfd'}/doctor-{token_hex(4)}"
    try:
        password = read_password(settings, places)
        client = aiomqtt.Client(
            address.host, address.port, username=address.user, password=password, timeout=_BROKER_S,
            tls_context=tls_of(settings), identifier=f"shelfd-doctor-{token_hex(4)}",
        )  # fmt: skip
        async with asyncio.timeout(_BROKER_S), client:
            await client.subscribe(topic, qos=1)
            await client.publish(topic, b"{}", qos=1)
            await anext(aiter(client.messages))
    except ConfigError as error:
        return Finding("mqtt", False, error.message, "shelfd config check")
    except TimeoutError:
        return Finding("mqtt", False, f"{address}: a message to ourselves did not come back: see its access list")
    except (aiomqtt.MqttError, OSError) as error:
        why = getattr(error, "strerror", None) or str(error)
        return Finding("mqtt", False, f"{address}: {why}", f"mosquitto_pub -h {quote(address.host)} -t test -m x")
    return Finding("mqtt", True, f"{address}: a message to ourselves came back")
