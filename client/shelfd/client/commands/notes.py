"""Commands that show notes: notes, note, history, facts."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer

from shelfd.client.commands import options
from shelfd.client.invocation import call, daemon, given
from shelfd.client.output import local_time, notice, print_json, print_note, print_table
from shelfd.client.progress import ProgressLine
from shelfd.client.transport import Client

PAGE = 1000


def notes(
    nugget: options.Nugget = None,
    kind: Annotated[str | None, typer.Option("--kind", metavar="KIND", help="fact or note")] = None,
    tag: options.Tags = None,
    type_: options.Type = None,
    subject: options.Subject = None,
    scope: options.Scope = None,
    stability: options.Stability = None,
    needs_review: Annotated[bool, typer.Option("--needs-review", help="Only what is not sure.")] = False,
    quarantined: Annotated[bool, typer.Option("--quarantined", help="Only what reads like orders.")] = False,
    hidden: options.Hidden = False,
    desc: Annotated[bool, typer.Option("--desc/--asc", help="Latest first.")] = True,
    limit: options.Many = 50,
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
        "stability": stability, "needs_review": needs_review or None, "quarantined": quarantined or None,
        "include_hidden": hidden, "desc": desc, "shelf": shelf,
    }  # fmt: skip
    with daemon(socket) as client:
        found, total, cursor = _pages(client, given(params), limit)
    if as_json:
        print_json({"notes": found, "total": total, **cursor})
        return
    rows = [(n["id"], local_time(n["updated_at"]), n["nugget"], _mark(n), _said(n)) for n in found]
    print_table(rows, header=("id", "updated", "nugget", "kind", "content"))
    _say_more(len(found), total)


def _mark(note: Mapping[str, Any]) -> str:
    return f"{note['kind']}, hidden" if note["hidden"] else str(note["kind"])


def _said(note: Mapping[str, Any]) -> str:
    return f"{note['title']}: {note['content']}" if note["title"] else str(note["content"])


def _say_more(shown: int, total: int) -> None:
    if not total:
        notice("nothing here")
    elif shown < total:
        notice(f"{shown} of {total}; --limit shows more")


def _pages(
    client: Client, params: Mapping[str, Any], limit: int
) -> tuple[list[dict[str, Any]], int, Mapping[str, str]]:
    """As many notes as wanted, how many there are, and where to go on."""
    found: list[dict[str, Any]] = []
    cursor: dict[str, str] = {}
    with ProgressLine("notes") as line:
        while True:
            page = client.call("note.list", {**params, **cursor, "limit": min(PAGE, limit - len(found))})
            found += page["notes"]
            line.update(len(found), min(limit, page["total"]))
            rest = {"next_cursor": page["next_cursor"]} if page.get("next_cursor") else {}
            if len(found) >= limit or not rest:
                return found, page["total"], rest
            cursor = {"cursor": page["next_cursor"]}


def note(
    note_id: options.NoteId,
    versions: Annotated[bool, typer.Option("--history", help="As `shelfd history ID`.")] = False,
    full: Annotated[bool, typer.Option("--full", help="Derived fields too.")] = False,
    shelf: options.Shelf = "default",
    socket: options.Socket = None,
    as_json: options.Json = False,
) -> None:
    """Show one note, hidden or not.

    For example:

      shelfd note note-memory-1a2b3c4d

      shelfd note note-memory-1a2b3c4d --full
    """
    if versions:
        _print_history(note_id, PAGE, shelf, socket, as_json=as_json)
        return
    result = call(socket, "note.get", {"id": note_id, "full": full or None, "shelf": shelf})
    print_json(result) if as_json else print_note(result["note"])


def history(
    note_id: options.NoteId,
    limit: options.Limit = PAGE,
    shelf: options.Shelf = "default",
    socket: options.Socket = None,
    as_json: options.Json = False,
) -> None:
    """Show what a note was, and who changed it.

    The first version comes first.

    For example:

      shelfd history note-memory-1a2b3c4d
    """
    _print_history(note_id, limit, shelf, socket, as_json=as_json)


def _print_history(note_id: str, limit: int, shelf: str, socket: str | None, *, as_json: bool) -> None:
    result = call(socket, "note.history", {"id": note_id, "limit": limit, "shelf": shelf})
    if as_json:
        print_json(result)
        return
    rows = [
        (v["rev"], v["seq"], local_time(v["at"]), v["principal"], v["kind"], ", ".join(v["change"]))
        for v in result["versions"]
    ]
    print_table(rows, header=("rev", "seq", "at", "by", "change", "fields"), right=(0, 1))
    if result.get("next_cursor"):
        notice(f"there are more; --limit shows more than {limit}")


def facts(
    nugget: Annotated[
        str | None, typer.Argument(metavar="NUGGET", help="Only this nugget's; else those of all.")
    ] = None,
    limit: options.Many = 100,
    shelf: options.Shelf = "default",
    socket: options.Socket = None,
    as_json: options.Json = False,
) -> None:
    """Show keys and values, of a nugget or of all.

    Of a nugget in the order they came, of all the latest change first.

    For example:

      shelfd facts

      shelfd facts life
    """
    with daemon(socket) as client:
        result = _facts_of(client, nugget, limit, shelf) if nugget else _all_facts(client, limit, shelf)
    found = result["facts"]
    if as_json:
        print_json(result)
        return
    rows: list[Sequence[object]] = [(f["key"], f["hits"], f["note_id"], f["value"]) for f in found]
    if nugget is None:
        rows = [(f["nugget"], *row) for f, row in zip(found, rows, strict=True)]
    header = ("key", "hits", "id", "value") if nugget else ("nugget", "key", "hits", "id", "value")
    print_table(rows, header=header, right=(header.index("hits"),))
    if not found:
        notice("no facts; a --key makes a note one")
    if result.get("next_cursor"):
        notice(f"there are more; --limit shows more than {limit}")


def _facts_of(client: Client, nugget: str, limit: int, shelf: str) -> dict[str, Any]:
    found: list[dict[str, Any]] = []
    cursor: dict[str, Any] = {}
    while True:
        params = {"name": nugget, "limit": min(PAGE, limit - len(found)), "shelf": shelf, **cursor}
        page = client.call("nugget.facts", params)
        found += page["facts"]
        if len(found) >= limit or not page.get("next_cursor"):
            return {**page, "facts": found}
        cursor = {"cursor": page["next_cursor"]}


def _all_facts(client: Client, limit: int, shelf: str) -> dict[str, Any]:
    """The facts of all nuggets in the shape of those of one; each names its own."""
    params = {"kind": "fact", "include_superseded": False, "desc": True, "shelf": shelf}
    listed, total, cursor = _pages(client, params, limit)
    found = [
        {"nugget": n["nugget"], "key": n["title"], "value": n["content"], "hits": n["hits"], "note_id": n["id"]}
        for n in listed
    ]
    return {"facts": found, "total": total, **cursor}
