"""``shelfd config check|show|acl``: the settings without the daemon, and what follows from them for the broker."""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from shelfd.daemon import flags, streams
from shelfd.daemon.places import choose
from shelfd.daemon.settings import Loaded
from shelfd.daemon.shown import rows_of


def execute(argv: Sequence[str], environ: Mapping[str, str]) -> int:
    """Run the command and return its exit status.

    Raises:
        ConfigError: If the settings are wrong.
    """
    arguments = flags.config_parser().parse_args(argv)
    loaded = flags.read(arguments, environ)
    if arguments.action == "acl":
        return _print(_acl(loaded, environ, system=arguments.system).rstrip("\n"))
    places = choose(loaded, environ, system=arguments.system, activated=None, pid=os.getpid())
    rows = list(rows_of(loaded, places))
    if arguments.action == "check":
        _check_llm(loaded, environ, system=arguments.system)
        where = str(loaded.file) if loaded.file else "no configuration file"
        found = {"ok": True, "file": str(loaded.file) if loaded.file else None}
        return _print(found if arguments.json else f"{where}: ok")
    if arguments.json:
        with_origin = arguments.origin
        return _print({key: {"value": value, "origin": of} if with_origin else value for key, value, of in rows})
    return _print("\n".join(_lines(rows, with_origin=arguments.origin)))


def _check_llm(loaded: Loaded, environ: Mapping[str, str], *, system: bool) -> None:
    from shelfd.daemon.llm import model_settings  # no other action needs it

    places = choose(loaded, environ, system=system, activated=None, pid=os.getpid())
    model_settings(loaded.settings.llm, places, environ)


def _acl(loaded: Loaded, environ: Mapping[str, str], *, system: bool) -> str:
    """Return mosquitto's access list for what [access] and the shelves' owners say now."""
    # Only this action needs the parts that know rules, shelves and topics.
    from shelfd.daemon.composition import access, memory_settings
    from shelfd.daemon.host import SystemClock
    from shelfd.gateway.mqtt import Address, acl_text, mqtt_users
    from shelfd.memory import DEFAULT_SHELF, PROJECTIONS, Shelves
    from shelfd.storage import SqliteStores
    from shelfd.storage.inmemory import InMemoryStores

    settings = loaded.settings
    places = choose(loaded, environ, system=system, activated=None, pid=os.getpid())
    clock = SystemClock()
    root = places.data / "shelves"
    stores = SqliteStores(root=root, clock=clock) if root.is_dir() else InMemoryStores(clock)  # makes no directory
    shelves = Shelves(stores, clock, memory_settings(settings), PROJECTIONS)
    rules = access(settings, shelves)
    names = sorted({DEFAULT_SHELF, *shelves.names(), *settings.access.shelves})
    ours = settings.access.shelves.values()
    granted = [one for rule in ours for one in (*rule.read, *rule.write, *rule.admin, *rule.deny)]
    owners = [owner for name in names if (owner := shelves.owner(name)) is not None]
    daemon = (Address.parse(settings.mqtt.url).user if settings.mqtt.url else None) or "shelfd"
    users = mqtt_users([*settings.access.admins, *granted, *owners])
    return acl_text(settings.daemon.instance, users, names, rules.may, daemon=daemon)


def _lines(rows: Sequence[tuple[str, Any, str]], *, with_origin: bool) -> Iterator[str]:
    texts = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value, _ in rows]
    broad = max(len(text) for text in texts if len(text) <= 60)
    for text, (_, _, origin) in zip(texts, rows, strict=True):
        yield f"{text.ljust(broad)}  # {origin}" if with_origin else text


def _print(answer: object) -> int:
    text = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False, indent=2)
    return os.EX_OK if streams.say(text + "\n") else os.EX_IOERR
