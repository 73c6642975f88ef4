"""Commands on notes: remember, forget, notes, note, facts."""

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from shelfd.client.commands import options
from shelfd.client.invocation import call, daemon, given, text_or_stdin
from shelfd.client.output import local_time, print_json, print_note, print_table
from shelfd.client.progress import ProgressLine
from shelfd.client.streams import complain

PAGE = 1000


def remember(
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What to remember; - reads stdin.")],
    key: Annotated[
        str | None, typer.Option("--key", "-k", metavar="KEY", help="Makes it a fact: a new value replaces the old.")
    ] = None,
    nugget: options.Nugget = None,
    tag: options.Tags = None,
    title: Annotated[str | None, typer.Option("--title", metavar="TEXT")] = None,
    session: options.Session = None,
    turn: Annotated[int | None, typer.Option("--turn", metavar="N", help="Turn of the conversation, from 1.")] = None,
    occurred_at: Annotated[str | None, typer.Option("--occurred-at", metavar="TIME", help="RFC 3339.")] = None,
    author: Annotated[str | None, typer.Option("--author", metavar="NAME")] = None,
    evolve: Annotated[
        bool, typer.Option("--evolve", help="Let it replace older notes that it makes untrue, or that it repeats.")
    ] = False,
    sync: Annotated[
        bool, typer.Option("--sync", help="With --evolve: wait for what a language model decides, if there is one.")
    ] = False,
    idempotency_key: Annotated[
        str | None, typer.Option("--idempotency-key", metavar="KEY", help="Makes a repeat harmless.")
    ] = None,
    shelf: options.Shelf = "default",
    socket: options.Socket = None,
    as_json: options.Json = False,
) -> None:
    """Store TEXT as a note, or as a fact when it has a key. Prints the id and what happened.

    For example:

      shelfd remember "tea at four" --tag habits

      shelfd remember 42 --key answer --nugget life

      git log -1 | shelfd remember - --nugget project
    """
    params = {
        "content": text_or_stdin(text), "key": key, "nugget": nugget, "tags": tag, "title": title,
        "session_id": session, "turn": turn, "occurred_at": occurred_at, "author": author,
        "evolve": evolve or None, "sync": sync or None, "idempotency_key": idempotency_key, "shelf": shelf,
    }  # fmt: skip
    result = call(socket, "remember", params)
    if as_json:
        print_json(result)
        return
    print_table([(result["note"]["id"], result["status"])])
    for name in ("superseded", "conflicts", "pending"):
        if result[name]:
            print(f"{name}: {', '.join(result[name])}")
    _print_intake(result["note"])


def _print_intake(note: Mapping[str, Any]) -> None:
    """Say what governance did to a note that was let in."""
    if note.get("redacted"):
        print(f"redacted: {', '.join(note['redacted'])}")
    if note.get("trust") == "quarantined":
        release = f'shelfd call note.release \'{{"id": "{note["id"]}"}}\''
        print(f"quarantined: it reads like orders to an assistant; recall leaves it out until\n  {release}")


def forget(
    note_id: Annotated[str | None, typer.Argument(metavar="[ID]", help="The note.")] = None,
    key: Annotated[str | None, typer.Option("--key", "-k", metavar="KEY", help="The fact with this key.")] = None,
    nugget: options.Nugget = None,
    shelf: options.Shelf = "default",
    socket: options.Socket = None,
    as_json: options.Json = False,
) -> None:
    """Hide a note, by its id or by nugget and key. Prints the ids that were hidden.

    For example:

      shelfd forget note-memory-1a2b3c4d

      shelfd forget --nugget life --key answer
    """
    if (note_id is None) == (key is None):
        raise typer.BadParameter("give either an ID or --key")
    result = call(socket, "forget", {"id": note_id, "key": key, "nugget": nugget, "shelf": shelf})
    if as_json:
        print_json(result)
    elif result["forgotten"]:
        print("\n".join(result["forgotten"]))
    else:
        complain("nothing to forget")


def notes(
    nugget: options.Nugget = None,
    kind: Annotated[str | None, typer.Option("--kind", metavar="KIND", help="fact or note")] = None,
    tag: options.Tags = None,
    type_: Annotated[str | None, typer.Option("--type", metavar="TYPE")] = None,
    subject: Annotated[str | None, typer.Option("--subject", metavar="NAME")] = None,
    scope: Annotated[str | None, typer.Option("--scope", metavar="SCOPE")] = None,
    hidden: Annotated[bool, typer.Option("--hidden", help="Hidden ones too.")] = False,
    desc: Annotated[bool, typer.Option("--desc/--asc", help="Latest first.")] = True,
    limit: Annotated[int, typer.Option("--limit", "-l", metavar="N", min=1, help="At most this many.")] = 50,
    shelf: options.Shelf = "default",
    socket: options.Socket = None,
    as_json: options.Json = False,
) -> None:
    """List notes, the latest change first.

    For example:

      shelfd notes --nugget project --limit 10

      shelfd notes --kind fact --json | jq -r '.notes[].title'
    """
    params = {
        "nugget": nugget, "kind": kind, "tags": tag, "type": type_, "subject": subject, "scope": scope,
        "include_hidden": hidden, "desc": desc, "shelf": shelf,
    }  # fmt: skip
    found, total = _pages(socket, given(params), limit)
    if as_json:
        print_json({"notes": found, "total": total})
        return
    rows = [
        (
            n["id"],
            local_time(n["updated_at"]),
            n["nugget"],
            _mark(n),
            (n["title"] + ": " if n["title"] else "") + n["content"],
        )
        for n in found
    ]
    print_table(rows, header=("id", "updated", "nugget", "kind", "content"))


def _mark(note: dict[str, Any]) -> str:
    return f"{note['kind']}, hidden" if note["hidden"] else str(note["kind"])


def _pages(socket: str | None, params: dict[str, Any], limit: int) -> tuple[list[dict[str, Any]], int]:
    found: list[dict[str, Any]] = []
    cursor: dict[str, Any] = {}
    with daemon(socket) as client, ProgressLine("notes") as line:
        while True:
            page = client.call("note.list", {**params, **cursor, "limit": min(PAGE, limit - len(found))})
            found += page["notes"]
            line.update(len(found), min(limit, page["total"]))
            if len(found) >= limit or not page.get("next_cursor"):
                return found, page["total"]
            cursor = {"cursor": page["next_cursor"]}


def note(
    note_id: Annotated[str, typer.Argument(metavar="ID")],
    history: Annotated[bool, typer.Option("--history", help="Its versions instead of what it is now.")] = False,
    full: Annotated[bool, typer.Option("--full", help="Derived fields too.")] = False,
    shelf: options.Shelf = "default",
    socket: options.Socket = None,
    as_json: options.Json = False,
) -> None:
    """Show one note, hidden or not, or its history.

    For example:

      shelfd note note-memory-1a2b3c4d

      shelfd note note-memory-1a2b3c4d --history
    """
    if not history:
        result = call(socket, "note.get", {"id": note_id, "full": full or None, "shelf": shelf})
        print_json(result) if as_json else print_note(result["note"])
        return
    result = call(socket, "note.history", {"id": note_id, "limit": PAGE, "shelf": shelf})
    if as_json:
        print_json(result)
        return
    rows = [
        (v["rev"], v["seq"], local_time(v["at"]), v["principal"], v["kind"], ", ".join(v["change"]))
        for v in result["versions"]
    ]
    print_table(rows, header=("rev", "seq", "at", "by", "change", "fields"), right=(0, 1))


def facts(
    nugget: Annotated[str, typer.Argument(metavar="NUGGET")],
    limit: Annotated[int, typer.Option("--limit", "-l", metavar="N", min=1, max=PAGE, help="At most this many.")] = 100,
    shelf: options.Shelf = "default",
    socket: options.Socket = None,
    as_json: options.Json = False,
) -> None:
    """Show keys and values of a nugget.

    For example:

      shelfd facts life
    """
    result = call(socket, "nugget.facts", {"name": nugget, "limit": limit, "shelf": shelf})
    if as_json:
        print_json(result)
        return
    print_table(
        [(f["key"], f["hits"], f["note_id"], f["value"]) for f in result["facts"]],
        header=("key", "hits", "id", "value"),
        right=(1,),
    )
