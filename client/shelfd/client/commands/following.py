"""Commands that follow what happens: watch and log."""

import os
import sys
from collections.abc import Iterator
from typing import Annotated, Any

import typer

from shelfd.client.commands import options
from shelfd.client.event_types import EVENT_TYPES
from shelfd.client.events import follow
from shelfd.client.events import watch as standing
from shelfd.client.failure import RpcFailure
from shelfd.client.invocation import Stop, call, fail, given, reported
from shelfd.client.output import clean, local_time, print_found, print_json, print_line, print_table
from shelfd.client.streams import complain, warn
from shelfd.client.transport import connect


def watch(
    query: Annotated[list[str] | None, typer.Argument(metavar="QUERY", help="Notes that enter its results.")] = None,
    types: Annotated[
        list[str] | None, typer.Option("--types", metavar="TYPE", help='Like "note.created" or "note.*".')
    ] = None,
    nugget: options.Nugget = None,
    since: Annotated[int | None, typer.Option("--since", metavar="SEQ", min=0, help="Begin after this change.")] = None,
    count: Annotated[
        int | None, typer.Option("--count", "-c", metavar="N", min=1, help="End after this many events.")
    ] = None,
    mqtt: Annotated[
        bool, typer.Option("--mqtt", help="By MQTT instead of the socket; without --mqtt-url, the daemon's own broker.")
    ] = False,
    mqtt_url: options.MqttUrl = None,
    password_file: options.PasswordFile = None,
    ca_file: options.CaFile = None,
    shelf: options.Shelf = "default",
    socket: options.Socket = None,
    as_json: options.Json = False,
) -> None:
    """Show events as they happen, until Ctrl-C. A lost connection is resumed where it broke.

    With a QUERY, each note is shown that enters its results from now on. By MQTT, what happens while the broker cannot
    be reached is not shown.

    For example:

      shelfd watch --types "note.*"

      shelfd watch when does the boat leave

      shelfd watch --since 0 --json | jq .type

      shelfd watch --mqtt

      shelfd watch --mqtt-url mqtt://me@localhost --password-file ./secret
    """
    by_mqtt = mqtt or mqtt_url is not None
    if query and (by_mqtt or types or since is not None):
        fail("a query stands alone: leave out --types, --since and --mqtt", os.EX_USAGE)
    _check_together(
        by_mqtt=by_mqtt, has_since=since is not None, has_files=bool(password_file or ca_file), url=mqtt_url
    )
    wanted = given({"types": _types(types), "nugget": nugget, "shelf": shelf})
    with reported():
        events = (
            standing(" ".join(query), socket, nugget=nugget, shelf=shelf, on_trouble=warn)
            if query
            else _events_by_mqtt(socket, wanted, mqtt_url, password_file, ca_file)
            if by_mqtt
            else follow(socket, **wanted, since_seq=since, on_trouble=warn)
        )
        for number, event in enumerate(events, start=1):
            if as_json:
                print_line(event)
            elif query:
                _print_match(event, socket, shelf)
            else:
                _print_event(event)
            if number == count:
                return


def _types(given_types: list[str] | None) -> list[str] | None:
    """Accept both ``--types a --types b`` and ``--types a,b``, and of these only what there is."""
    if not given_types:
        return None
    wanted = [one.strip() for text in given_types for one in text.split(",") if one.strip()]
    families = [f"{family}.*" for family in dict.fromkeys(name.partition(".")[0] for name in EVENT_TYPES)]
    known = ["*", *families, *EVENT_TYPES]
    for one in wanted:
        if one not in known:
            from difflib import get_close_matches  # for those who have mistyped

            meant = get_close_matches(one, known) or families
            fail(f"there is no type of event {clean(one)!r}; there are for example: {', '.join(meant)}", os.EX_USAGE)
    return wanted


def _check_together(*, by_mqtt: bool, has_since: bool, has_files: bool, url: str | None) -> None:
    if by_mqtt and has_since:
        fail("--since needs the socket: what has happened does not come by MQTT again", os.EX_USAGE)
    if has_files and url is None:
        fail("--password-file and --ca-file go with --mqtt-url", os.EX_USAGE)


def _events_by_mqtt(
    socket: str | None, wanted: dict[str, Any], url: str | None, password_file: str | None, ca_file: str | None
) -> Iterator[dict[str, Any]]:
    # Only here: together they take longer to import than any other command may take.
    from shelfd.client.broker import NoBroker, discovered, named
    from shelfd.client.mqtt import EventFollower, NotAdmitted, WantedEvents

    follower = EventFollower(
        lambda: discovered(socket) if url is None else named(url, password_file=password_file, ca_file=ca_file),
        WantedEvents(wanted["shelf"], tuple(wanted.get("types", ())), wanted.get("nugget")),
        warn,
    )
    try:
        yield from follower.events()
    except NoBroker as error:
        complain(str(error), "NoBroker")
        raise Stop(os.EX_USAGE) from error
    except NotAdmitted as error:
        complain(str(error), "NotAdmitted")
        raise Stop(os.EX_NOPERM) from error


def _print_event(event: dict[str, Any]) -> None:
    kind = event["type"].removeprefix("shelfd.").removesuffix(".v1")
    data = event.get("data", {})
    about = data.get("title") or data.get("content") or ""
    # What is no change of its own has no number, but that of the change which caused it.
    seq = event["seq"] if "seq" in event else event.get("cause_seq", "")
    subject = data.get("id", event["subject"]) if kind == "watch.matched" else event["subject"]
    print_table([(local_time(event["time"]), seq, kind.ljust(18), subject, about)])
    sys.stdout.flush()


def _print_match(event: dict[str, Any], socket: str | None, shelf: str) -> None:
    """Print the note that entered a query's results; events hold no text as shipped."""
    try:
        with connect(socket) as client:
            note = client.call("note.get", {"id": event["data"]["id"], "shelf": shelf})["note"]
    except (OSError, RpcFailure):  # gone by now
        _print_event(event)
        return
    print(local_time(event["time"]), end="  ")
    print_found(note)
    sys.stdout.flush()


def log(
    since: Annotated[int | None, typer.Option("--since", metavar="SEQ", min=0, help="Changes after this one.")] = None,
    limit: options.Limit = 50,
    shelf: options.Shelf = "default",
    socket: options.Socket = None,
    as_json: options.Json = False,
) -> None:
    """Show who changed what; without --since, the latest changes.

    For example:

      shelfd log --limit 20

      shelfd log --since 1000 --json
    """
    if since is None:
        since = max(0, call(socket, "get_stats", {"shelf": shelf})["last_seq"] - limit)
    result = call(socket, "shelf.log", {"since_seq": since, "limit": limit, "shelf": shelf})
    if as_json:
        print_json(result)
        return
    rows = [
        (r["seq"], local_time(r["at"]), r["principal"], r["method"], r["kind"], ", ".join(r["ids"]))
        for r in result["log"]
    ]
    print_table(rows, header=("seq", "at", "by", "method", "change", "ids"), right=(0,))
