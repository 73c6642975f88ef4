"""The command remember."""

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from shelfd.client.commands import options
from shelfd.client.failure import RpcFailure
from shelfd.client.invocation import daemon, given
from shelfd.client.output import clean, print_json, print_table
from shelfd.client.texts import fields_of, moment, needed, text_of
from shelfd.client.transport import Client

Words = Annotated[
    list[str] | None,
    typer.Argument(metavar="TEXT", help="What to remember; several words are one text, - reads stdin."),
]


def remember(
    words: Words = None,
    file: options.File = None,
    key: Annotated[
        str | None, typer.Option("--key", metavar="KEY", help="Makes it a fact: a new value replaces the old.")
    ] = None,
    nugget: Annotated[
        str | None, typer.Option("--nugget", "-n", metavar="NAME", help="Topic it belongs to; made if it is new.")
    ] = None,
    tag: options.Tags = None,
    title: options.Title = None,
    alias: options.Aliases = None,
    link: Annotated[
        list[str] | None,
        typer.Option("--link", metavar='"ID [RELATION]"', help="A note it has to do with; may be given several times."),
    ] = None,
    field: options.Fields = None,
    type_: options.Type = None,
    subject: options.Subject = None,
    scope: options.Scope = None,
    source: options.Source = None,
    confidence: options.Confidence = None,
    stability: options.Stability = None,
    domain: options.Domain = None,
    source_type: options.SourceType = None,
    source_ref: options.SourceRef = None,
    author: options.Author = None,
    session: options.Session = None,
    turn: Annotated[int | None, typer.Option("--turn", metavar="N", help="Turn of the conversation, from 1.")] = None,
    occurred_at: options.OccurredAt = None,
    valid_from: options.ValidFrom = None,
    valid_to: options.ValidTo = None,
    importance: options.Importance = None,
    tier: options.Tier = None,
    ttl_days: options.TtlDays = None,
    pin: Annotated[bool, typer.Option("--pin", help="Keep it whatever reflection thinks of it.")] = False,
    evolve: Annotated[
        bool, typer.Option("--evolve", help="Let it replace older notes that it makes untrue, or that it repeats.")
    ] = False,
    sync: Annotated[
        bool, typer.Option("--sync", help="With --evolve: wait for what a language model decides, if there is one.")
    ] = False,
    idempotency_key: options.IdempotencyKey = None,
    shelf: options.Shelf = "default",
    socket: options.Socket = None,
    as_json: options.Json = False,
) -> None:
    """Store TEXT as a note, or as a fact when it has a key. Prints the id and what happened.

    For example:

      shelfd remember the bakery opens at seven --tag habits

      shelfd remember 42 --key answer --nugget life

      git log -1 | shelfd remember - --nugget project

      shelfd remember --file minutes.md --occurred-at "2026-01-31 09:00"
    """
    fields = fields_of(field)
    content = text_of(words, file) if fields else needed(words, file)
    params = {
        "content": content, "key": key, "nugget": nugget, "tags": tag, "title": title, "aliases": alias,
        "links": _links(link), "fields": fields, "type": type_, "subject": subject, "scope": scope, "source": source,
        "confidence": confidence, "stability": stability, "domain": domain, "source_type": source_type,
        "source_ref": source_ref, "author": author, "session_id": session, "turn": turn,
        "occurred_at": moment(occurred_at, "--occurred-at"), "valid_from": moment(valid_from, "--valid-from"),
        "valid_to": moment(valid_to, "--valid-to"), "importance": importance, "tier": tier, "ttl_days": ttl_days,
        "pinned": pin or None, "evolve": evolve or None, "sync": sync or None, "idempotency_key": idempotency_key,
        "shelf": shelf,
    }  # fmt: skip
    with daemon(socket) as client:
        result = client.call("remember", given(params))
        undo = None if as_json or not result["superseded"] else _undo(client, shelf, result["superseded"][-1])
    print_json(result) if as_json else _print(result, undo)


def _links(given: list[str] | None) -> list[dict[str, str]] | None:
    if not given:
        return None
    links = []
    for text in given:
        to, _, relation = text.strip().partition(" ")
        links.append({"to": to, **({"relation": relation.strip()} if relation else {})})
    return links


def _undo(client: Client, shelf: str, superseded: str) -> str | None:
    """Return what to type to take back that a note was superseded just now; None if that cannot be known."""
    from shelfd.client.undoable import command_to_undo, superseding  # only for those whose note superseded one

    try:
        tx = superseding(client, shelf, superseded)
    except (OSError, RpcFailure):
        return None  # the note is stored, and it may not be allowed to read
    return None if tx is None else command_to_undo(tx, shelf)


def _print(result: Mapping[str, Any], undo: str | None) -> None:
    note = result["note"]
    print_table([(note["id"], result["status"])])
    for name in ("superseded", "conflicts", "pending"):
        if result[name]:
            print(f"{name}: {', '.join(result[name])}")
    if undo:
        print(f"undo: {undo}")
    if note.get("redacted"):  # governance let it in without some of it
        print(f"redacted: {clean(', '.join(note['redacted']))}")
    if note.get("trust") == "quarantined":
        release = f'shelfd call note.release \'{{"id": "{note["id"]}"}}\''
        print(f"quarantined: it reads like orders to an assistant; recall leaves it out until\n  {release}")
