"""Commands on the daemon: run, config, setup, status, call."""

import json
import os
from typing import Annotated, Any, NoReturn

import typer

from shelfd.client.commands import options
from shelfd.client.failure import RpcFailure
from shelfd.client.handover import become_daemon
from shelfd.client.invocation import Stop, call, daemon, fail, given
from shelfd.client.output import clean, print_json, print_table
from shelfd.client.plain_command import PlainCommand
from shelfd.client.progress import span
from shelfd.client.streams import warn
from shelfd.client.texts import from_stdin

_NAME_CHARACTERS = 64  #: of a param's name that are shown

Config = Annotated[str | None, typer.Option("--config", metavar="FILE", help="Configuration file (TOML).")]
DataDir = Annotated[str | None, typer.Option("--data-dir", metavar="DIR", help="Where the shelves are kept.")]
Listen = Annotated[str | None, typer.Option("--socket", metavar="PATH", help="Unix socket to listen on.")]
Url = Annotated[
    str | None,
    typer.Option("--mqtt-url", metavar="URL", help="MQTT broker to use: mqtt[s]://[user@]host:port"),
]
Instance = Annotated[str | None, typer.Option("--instance", metavar="NAME", help="The daemon's name in events.")]
Broker = Annotated[
    bool, typer.Option("--embedded-broker", help="Be a small MQTT broker too, on loopback, for trying out.")
]
System = Annotated[bool, typer.Option("--system", help="As the system's service: /var/lib/shelfd, /run/shelfd.sock.")]

config = typer.Typer(help="Check or show the daemon's settings without starting it.", no_args_is_help=True)


def run(
    config_file: Config = None,
    data_dir: DataDir = None,
    socket: Listen = None,
    mqtt_url: Url = None,
    instance: Instance = None,
    embedded_broker: Broker = False,
    system: System = False,
) -> None:
    """Serve a shelf until SIGTERM or Ctrl-C. Replaces this process by the daemon.

    For example:

      shelfd run

      shelfd run --data-dir ./shelf --socket ./shelf/shelfd.sock
    """
    _become_daemon([], config_file, data_dir, socket, mqtt_url, instance, embedded_broker, system)


@config.command("check", cls=PlainCommand)
def check(
    config_file: Config = None,
    data_dir: DataDir = None,
    socket: Listen = None,
    instance: Instance = None,
    system: System = False,
    as_json: options.Json = False,
) -> None:
    """Say whether the settings are right; exit status 78 when not.

    For example:

      shelfd config check --config ./shelfd.toml
    """
    command = ["config", "check", *_flag("--json", as_json)]
    _become_daemon(command, config_file, data_dir, socket, None, instance, False, system)


@config.command("acl", cls=PlainCommand)
def config_acl(
    config_file: Config = None,
    data_dir: DataDir = None,
    instance: Instance = None,
    system: System = False,
) -> None:
    """Print mosquitto's access list that follows from [access] and the shelves' owners.

    For example:

      shelfd config acl --system | sudo tee /etc/mosquitto/shelfd.acl
    """
    _become_daemon(["config", "acl"], config_file, data_dir, None, None, instance, False, system)


@config.command("show", cls=PlainCommand)
def show(
    config_file: Config = None,
    data_dir: DataDir = None,
    socket: Listen = None,
    instance: Instance = None,
    system: System = False,
    origin: Annotated[bool, typer.Option("--origin", help="Where each value comes from.")] = False,
    offline: Annotated[
        bool, typer.Option("--offline", help="As a daemon that is started now would have them, not the running one.")
    ] = False,
    as_json: options.Json = False,
) -> None:
    """Print every setting of the running daemon; without one, as they would hold now.

    For example:

      shelfd config show --origin

      shelfd config show --offline --config ./shelfd.toml
    """
    if not (offline or config_file or data_dir or instance or system):
        from shelfd.client.running_config import show_running  # only this needs it

        if show_running(socket, with_origin=origin, as_json=as_json):
            return
    command = ["config", "show", *_flag("--origin", origin), *_flag("--json", as_json)]
    _become_daemon(command, config_file, data_dir, socket, None, instance, False, system)


def log_level(
    level: Annotated[
        str | None,
        typer.Argument(metavar="[LEVEL]", help="debug, info, warning or error; without one, say which it is."),
    ] = None,
    socket: options.Socket = None,
    as_json: options.Json = False,
) -> None:
    """Have the running daemon log more, or less, until it is started again.

    For example:

      shelfd log-level debug
    """
    found = call(socket, "system.log_level", given({"level": level}))
    if as_json:
        print_json(found)
    else:
        print(f"{found['level']}; after the next start: {found['configured']}")


def setup(
    system: Annotated[bool, typer.Option("--system", help="A service of the machine; needs root.")] = False,
    user: Annotated[bool, typer.Option("--user", help="A service of the user who calls this.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be done.")] = False,
    uninstall: Annotated[bool, typer.Option("--uninstall", help="Undo it; data and edited files stay.")] = False,
    drop_in: Annotated[
        list[str] | None,
        typer.Option("--drop-in", metavar="NAME", help="Also broker-local, broker-remote, credentials or home."),
    ] = None,
    root: Annotated[str | None, typer.Option("--root", metavar="DIR", help="Install into a tree of files.")] = None,
    command: Annotated[
        str | None, typer.Option("--command", metavar="PATH", help="Command to start, instead of this installation's.")
    ] = None,
) -> None:
    """Make the daemon a systemd service, of the machine or of a user. Doing it again changes nothing.

    For example:

      sudo shelfd setup --system

      shelfd setup --user --dry-run
    """
    given: dict[str, str | bool | None] = {
        "--system": system, "--user": user, "--dry-run": dry_run, "--uninstall": uninstall, "--root": root,
        "--command": command,
    }  # fmt: skip
    flags = [part for name, value in given.items() for part in _flag(name, value)]
    become_daemon(["setup", *flags, *(f"--drop-in={name}" for name in drop_in or ())])


def _flag(name: str, value: str | bool | None) -> list[str]:
    if value is None or value is False:
        return []
    return [name] if value is True else [f"{name}={value}"]


def _become_daemon(
    command: list[str],
    config_file: str | None,
    data_dir: str | None,
    socket: str | None,
    mqtt_url: str | None,
    instance: str | None,
    embedded_broker: bool,
    system: bool,
) -> NoReturn:
    flags = {
        "--config": config_file, "--data-dir": data_dir, "--socket": socket, "--mqtt-url": mqtt_url,
        "--instance": instance,
        "--embedded-broker": embedded_broker, "--system": system,
    }  # fmt: skip
    become_daemon([*command, *(part for name, value in flags.items() for part in _flag(name, value))])


def status(
    shelf: options.Shelf = "default",
    socket: options.Socket = None,
    as_json: options.Json = False,
) -> None:
    """Show how the daemon and a shelf are.

    For example:

      shelfd status

      shelfd status --shelf work --json
    """
    with daemon(socket) as client:
        found = {
            "health": client.call("system.health"),
            "version": client.call("system.version"),
        }
        try:
            found["stats"] = client.call("get_stats", {"shelf": shelf})
        except RpcFailure as failure:  # the daemon can be asked although this shelf cannot
            found["problem"] = {"shelf": shelf, "code": failure.code, "message": failure.message}
    print_json(found) if as_json else _print_status(found, shelf)


def doctor(
    config_file: Config = None,
    data_dir: DataDir = None,
    socket: options.Socket = None,
    as_json: options.Json = False,
) -> None:
    """Look for what is wrong and say what to do, also while no daemon runs. Ends with status 1 when something is.

    For example:

      shelfd doctor

      shelfd doctor --data-dir ./shelf --json
    """
    from shelfd.client.examining import examine  # only this command asks without a daemon

    found = examine(socket, data_dir=data_dir, config=config_file)
    if as_json:
        print_json(found)
    else:
        rows = [
            ("ok" if finding["ok"] else "WRONG", finding["check"], finding["detail"]) for finding in found["findings"]
        ]
        print_table(rows, header=("", "check", "detail"))
        for finding in found["findings"]:
            if not finding["ok"] and finding.get("fix"):
                print(f"{finding['check']}: {clean(finding['fix'])}")
    if not found["ok"]:
        raise Stop(1)


def _print_status(found: dict[str, Any], shelf: str) -> None:
    health, version, stats = found["health"], found["version"], found.get("stats")
    ready = "ready" if health["ready"] else "not ready"
    rows = [
        ("daemon", f"shelfd {version['version']}, instance {version['instance']}, wire {version['wire']}"),
        ("state", f"{health['status']}, {ready}, up {span(health['uptime_s'])}, connections {health['connections']}"),
        ("data", health.get("data_dir")),  # these are for the daemon's user and administrators
        ("socket", health.get("socket")),
        ("broker", _broker(health)),
    ]
    print_table([row for row in rows if row[1]])
    if health.get("warning"):
        warn(clean(health["warning"]))
    print()
    print_table(
        [(s["shelf"], s["state"], _index(s), s["seq"]) for s in health["shelves"]],
        header=("shelf", "state", "index", "seq"),
    )
    for s in health["shelves"]:
        if complaint := s.get("index_complaint"):
            print(f"recall of {s['shelf']} is incomplete: {complaint}")
    print(f"\nshelf {shelf}")
    if stats is None:
        print(f"  {found['problem']['message']}")
        return
    counts = (
        "total_notes",
        "total_facts",
        "hidden_notes",
        "superseded_notes",
        "nuggets",
        "links",
        "sessions",
        "last_seq",
        "retrievals",
    )
    print_table([(f"  {name.replace('_', ' ')}", stats[name]) for name in counts if name in stats])


def _index(shelf: dict[str, Any]) -> str:
    if "index_share" not in shelf:
        return str(shelf["index"])
    left = f", {span(shelf['index_remaining_s'])} left" if "index_remaining_s" in shelf else ""
    return f"{shelf['index']} {shelf['index_share']:.0%}{left}"


def _broker(health: dict[str, Any]) -> str | None:
    mqtt = health.get("mqtt")
    if not mqtt:
        return "none" if health.get("data_dir") else None
    where = f"{mqtt['url']}, " if mqtt.get("url") else ""
    return f"{where}{mqtt['state']}{', embedded' if mqtt.get('embedded') else ''}"


def call_method(
    method: Annotated[str, typer.Argument(metavar="METHOD", help="Like note.get.")],
    params: Annotated[str, typer.Argument(metavar="[JSON|-]", help="Params as a JSON object; - reads stdin.")] = "{}",
    shelf: Annotated[str | None, typer.Option("--shelf", metavar="NAME", help="Shelf to work on.")] = None,
    socket: options.Socket = None,
    as_json: options.Json = False,
) -> None:
    """Call any METHOD of the daemon and print its result as JSON.

    For example:

      shelfd call system.version

      shelfd call note.get '{"id": "note-memory-1a2b3c4d"}'
    """
    del as_json  # the result is JSON either way
    try:
        given_params = json.loads(from_stdin() if params == "-" else params, object_pairs_hook=_without_doubles)
    except json.JSONDecodeError as error:
        fail(f"params are not JSON: {error.msg} (line {error.lineno}, column {error.colno})", os.EX_USAGE)
    except (ValueError, RecursionError):
        fail("params are not JSON: a number is too long, or they are nested too deeply", os.EX_USAGE)
    if not isinstance(given_params, dict):
        fail("params are not a JSON object", os.EX_USAGE)
    print_json(call(socket, method, {**({"shelf": shelf} if shelf else {}), **given_params}))


def _without_doubles(members: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the members as an object, which says each once: of two, which one is meant is anybody's guess."""
    found = dict(members)
    if len(found) < len(members):
        names = [name for name, _value in members]
        double = next(name for name in names if names.count(name) > 1)
        fail(f"params are not clear: {clean(double[:_NAME_CHARACTERS])!r} is given twice", os.EX_USAGE)
    return found
