"""Commands that change notes: edit, forget, restore, purge, link."""

import os
import sys
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer

from shelfd.client.commands import options
from shelfd.client.failure import RpcFailure
from shelfd.client.invocation import call, daemon, fail, given
from shelfd.client.output import clean, local_time, notice, one_line, print_json, print_table, width
from shelfd.client.patience import ask_patiently
from shelfd.client.streams import warn
from shelfd.client.texts import fields_of, moment, text_of
from shelfd.client.transport import Client

Words = Annotated[list[str] | None, typer.Argument(metavar="TEXT", help="What it says from now on; - reads stdin.")]


def edit(
    note_id: options.NoteId,
    words: Words = None,
    file: options.File = None,
    title: options.Title = None,
    tag: options.Tags = None,
    untag: Annotated[
        list[str] | None, typer.Option("--untag", metavar="TAG", help="Take away; may be given several times.")
    ] = None,
    alias: options.Aliases = None,
    field: options.Fields = None,
    clear_field: Annotated[
        list[str] | None, typer.Option("--clear-field", metavar="NAME", help="May be given several times.")
    ] = None,
    pin: Annotated[bool | None, typer.Option("--pin/--unpin", help="Keep it whatever reflection thinks.")] = None,
    type_: options.Type = None,
    subject: options.Subject = None,
    scope: options.Scope = None,
    source: options.Source = None,
    confidence: options.Confidence = None,
    stability: options.Stability = None,
    domain: options.Domain = None,
    source_ref: options.SourceRef = None,
    author: options.Author = None,
    occurred_at: options.OccurredAt = None,
    valid_from: options.ValidFrom = None,
    valid_to: options.ValidTo = None,
    importance: options.Importance = None,
    tier: options.Tier = None,
    ttl_days: options.TtlDays = None,
    if_rev: Annotated[
        int | None, typer.Option("--if-rev", metavar="N", help="Refuse unless the note still has this rev.")
    ] = None,
    idempotency_key: options.IdempotencyKey = None,
    shelf: options.Shelf = "default",
    socket: options.Socket = None,
    as_json: options.Json = False,
) -> None:
    """Change what a note says, or what is known of it. With nothing but an ID, $EDITOR opens with its text.

    For example:

      shelfd edit note-memory-1a2b3c4d the bakery opens at eight

      shelfd edit note-memory-1a2b3c4d --tag bread --importance 8

      shelfd edit note-memory-1a2b3c4d
    """
    metadata = given({
        "type": type_, "subject": subject, "scope": scope, "source": source, "confidence": confidence,
        "stability": stability, "domain": domain, "source_ref": source_ref, "author": author,
        "occurred_at": moment(occurred_at, "--occurred-at"), "valid_from": moment(valid_from, "--valid-from"),
        "valid_to": moment(valid_to, "--valid-to"), "importance": importance, "tier": tier, "ttl_days": ttl_days,
    })  # fmt: skip
    changes = given({
        "content": text_of(words, file), "title": title, "add_tags": tag or None, "remove_tags": untag or None,
        "aliases": alias or None, "set_fields": fields_of(field), "clear_fields": clear_field or None, "pinned": pin,
        "metadata": metadata or None,
    })  # fmt: skip
    about = given({"id": note_id, "if_rev": if_rev, "idempotency_key": idempotency_key, "shelf": shelf})
    with daemon(socket) as client:
        if not changes:
            changes, about["if_rev"] = _by_hand(client, note_id, shelf, if_rev)
        result = client.call("note.edit", {**about, **changes}) if changes else None
    if result is None:
        warn("nothing was changed")
    elif as_json:
        print_json(result)
    else:
        print_table([(result["note"]["id"], "changed" if result["changed"] else "as it was")])


def _by_hand(client: Client, note_id: str, shelf: str, rev: int | None) -> tuple[dict[str, str], int]:
    """Have a person change the text; return the change, and the rev of the note that it is of."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        fail("say what to change: a text, --file or an option; shelfd edit -h shows them", os.EX_USAGE)
    from shelfd.client.editor import edited  # only for this

    note = client.call("note.get", {"id": note_id, "shelf": shelf})["note"]
    text = edited(note["content"])
    changes = {} if text is None or text.strip() == note["content"].strip() else {"content": text}
    return changes, rev or note["rev"]


def forget(
    note_ids: options.NoteIds = None,
    key: options.Key = None,
    nugget: Annotated[
        str | None, typer.Option("--nugget", "-n", metavar="NAME", help="Of the key; memory if not given.")
    ] = None,
    idempotency_key: options.IdempotencyKey = None,
    shelf: options.Shelf = "default",
    socket: options.Socket = None,
    as_json: options.Json = False,
) -> None:
    """Hide notes, by their ids or by nugget and key.

    Prints what was hidden; `shelfd restore` brings it back.

    For example:

      shelfd forget note-memory-1a2b3c4d

      shelfd forget --nugget life --key answer
    """
    result = _forgotten(_named(note_ids, key, nugget), socket, shelf, {"idempotency_key": idempotency_key})
    if as_json:
        print_json(result)
    elif result["forgotten"]:
        print("\n".join(map(clean, result["forgotten"])))
        for note_id in result.get("still_superseded", ()):
            notice(f"{clean(note_id)} stays superseded; `shelfd restore {clean(note_id)}` brings it back")
    else:
        warn(_nothing_there(result, key, nugget))


def _named(note_ids: Sequence[str] | None, key: str | None, nugget: str | None) -> list[dict[str, str]]:
    """Params that name what is to go, one for each request."""
    if bool(note_ids) == (key is not None):
        raise typer.BadParameter("give either IDs or --key")
    if note_ids and nugget:
        raise typer.BadParameter("goes with --key", param_hint="--nugget")
    return [{"id": note_id} for note_id in note_ids] if note_ids else [given({"key": key, "nugget": nugget})]


def _forgotten(
    named: Sequence[Mapping[str, str]], socket: str | None, shelf: str, how: Mapping[str, object]
) -> dict[str, Any]:
    """Forget one after another; return all that went."""
    result: dict[str, Any] = {"forgotten": [], "still_in": []}
    with daemon(socket, timeout_s=None) as client:
        for one in named:
            answer = ask_patiently(client, socket, "forget", {**one, "shelf": shelf, **how})
            result = {**answer, **{name: [*result[name], *answer[name]] for name in result}}
    return result


def _nothing_there(result: Mapping[str, Any], key: str | None, nugget: str | None) -> str:
    if key is None:
        return "nothing to forget: hidden already"
    there = ", ".join(map(clean, result.get("elsewhere", [])))
    where = f"; the key is in {there}: --nugget names one" if there else ""
    return f"nothing to forget in nugget {nugget or 'memory'}{where}"


def restore(
    what: Annotated[
        list[str] | None, typer.Argument(metavar="ID|FILE", help="Hidden notes; or a backup, by its file.")
    ] = None,
    latest: Annotated[bool, typer.Option("--latest", help="The last backup in the configured directory.")] = False,
    as_shelf: Annotated[
        str | None, typer.Option("--as", metavar="NAME", help="Make a new shelf of the backup.")
    ] = None,
    to_seq: Annotated[
        int | None,
        typer.Option("--to-seq", metavar="N", min=0, help="Take back what was changed after change N (shelfd log)."),
    ] = None,
    discard: Annotated[bool, typer.Option("--discard", help="Do not keep the file that the backup replaces.")] = False,
    dry_run: options.DryRun = False,
    data_dir: Annotated[
        str | None,
        typer.Option("--data-dir", metavar="DIR", help="Work on this directory, without a daemon."),
    ] = None,
    config: Annotated[
        str | None, typer.Option("--config", metavar="FILE", help="With --data-dir: configuration (TOML).")
    ] = None,
    idempotency_key: options.IdempotencyKey = None,
    shelf: options.Shelf = "default",
    socket: options.Socket = None,
    as_json: options.Json = False,
) -> None:
    """Bring hidden notes back; or put a backup in the place of a shelf. A backup is checked before anything is touched.

    `shelfd notes --hidden` shows hidden notes, `shelfd backup --list` backups. A note that is not hidden but superseded
    counts again, beside what replaced it. With --to-seq alone, the shelf itself is taken back.

    For example:

      shelfd restore note-memory-1a2b3c4d

      shelfd restore /mnt/disk/default-20260131T090000Z-4711.db

      shelfd restore --latest --as before
    """
    ids = what or []
    is_backup = latest or as_shelf is not None or to_seq is not None or data_dir is not None
    if is_backup or any("/" in one or one.endswith(".db") for one in ids):
        if len(ids) > 1 or (latest and ids):
            fail("one backup at a time", os.EX_USAGE)
        from shelfd.client.commands.backups import restore_shelf  # what notes need no import of

        restore_shelf(
            ids[0] if ids else None, as_shelf=as_shelf, to_seq=to_seq, discard=discard, dry_run=dry_run,
            data_dir=data_dir, config=config, shelf=shelf, socket=socket, as_json=as_json,
        )  # fmt: skip
        return
    if not ids or dry_run or discard:
        fail("which notes, or which backup? shelfd restore -h", os.EX_USAGE)
    params = given({"idempotency_key": idempotency_key, "shelf": shelf})
    with daemon(socket) as client:
        results = [client.call("note.restore", {"id": note_id, **params}) for note_id in ids]
    if as_json:
        print_json(results[0] if len(results) == 1 else {"results": results})
        return
    print_table([(one["note"]["id"], _restored(one)) for one in results])


def _restored(result: Mapping[str, Any]) -> str:
    by = result["note"].get("superseded_by")
    if by is not None:
        return f"restored; it is superseded by {by}, and restored once more it counts again"
    return "restored" if result["changed"] else "was not hidden"


def purge(
    note_ids: options.NoteIds = None,
    key: options.Key = None,
    nugget: Annotated[
        str | None, typer.Option("--nugget", "-n", metavar="NAME", help="Of the key; memory if not given.")
    ] = None,
    dry_run: options.DryRun = False,
    yes: options.Yes = False,
    shelf: options.Shelf = "default",
    socket: options.Socket = None,
    as_json: options.Json = False,
) -> None:
    """Remove notes for good, with their history.

    That cannot be undone. Prints what went, and what still holds text.

    `shelfd forget` hides them instead. Of a whole nugget: shelfd nuggets remove NAME --purge.

    For example:

      shelfd purge note-memory-1a2b3c4d --dry-run

      shelfd purge --nugget life --key answer --yes
    """
    named = _named(note_ids, key, nugget)
    if dry_run:
        _print_doomed(named, socket, shelf, as_json=as_json)
        return
    what = f"{len(named)} notes" if len(named) > 1 else named[0].get("id") or f"the fact {named[0]['key']!r}"
    confirm(f"Purge {clean(what)} for good?", yes=yes)
    result = _forgotten(named, socket, shelf, {"purge": True})
    if as_json:
        print_json(result)
        return
    print_table([(note_id, "purged") for note_id in result["forgotten"]])
    print_table([(place, "still holds text of it") for place in result["still_in"]])
    if not result["forgotten"]:
        warn(_nothing_there(result, key, nugget))


def confirm(question: str, *, yes: bool) -> None:
    """Ask a person before what cannot be undone.

    Raises:
        Stop: If the answer is not yes, or there is nobody to ask.
    """
    if yes:
        return
    if sys.stdin is None or not sys.stdin.isatty():
        fail("this cannot be undone, and there is nobody to ask; --yes says that it is meant", os.EX_USAGE)
    print(f"{question} Type yes: ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() != "yes":
        fail("nothing was done", os.EX_NOPERM, "Refused")


def _print_doomed(named: Sequence[Mapping[str, str]], socket: str | None, shelf: str, *, as_json: bool) -> None:
    """Show what a purge would remove."""
    with daemon(socket) as client:
        ids = filter(None, [one.get("id") or _of_key(client, one, shelf) for one in named])
        doomed = [client.call("note.get", {"id": note_id, "shelf": shelf})["note"] for note_id in ids]
    if as_json:
        print_json({"would_purge": doomed})
    elif doomed:
        rows = [(note["id"], note["nugget"], note["content"]) for note in doomed]
        print_table(rows, header=("id", "nugget", "content"))
    else:
        warn("nothing to purge")


def _of_key(client: Client, named: Mapping[str, str], shelf: str) -> str | None:
    """The id of the fact with a key, hidden or not."""
    params = {
        "query": named["key"], "nugget": named.get("nugget", "memory"), "mode": "fhrr", "include_hidden": True,
        "count_hits": False, "k": 1, "shelf": shelf,
    }  # fmt: skip
    try:
        answer = client.call("recall", params).get("answer") or {}
    except RpcFailure as failure:
        if failure.data.get("type") == "NuggetNotFound":
            return None
        raise
    return answer["note_id"] if answer.get("found") and answer.get("confidence") == 1 else None


def link(
    first: Annotated[str, typer.Argument(metavar="ID", help="A note.")],
    second: Annotated[
        str | None, typer.Argument(metavar="ID", help="What it has to do with; without it, its links are shown.")
    ] = None,
    relation: Annotated[list[str] | None, typer.Argument(metavar="RELATION", help="How; else: related.")] = None,
    reason: Annotated[str | None, typer.Option("--reason", metavar="TEXT", help="Why.")] = None,
    one_way: Annotated[bool, typer.Option("--one-way", help="From the first to the second only.")] = False,
    valid_from: options.ValidFrom = None,
    valid_to: options.ValidTo = None,
    remove: Annotated[bool, typer.Option("--remove", help="Take links away; without RELATION, all.")] = False,
    limit: options.Limit = 100,
    idempotency_key: options.IdempotencyKey = None,
    shelf: options.Shelf = "default",
    socket: options.Socket = None,
    as_json: options.Json = False,
) -> None:
    """Link two notes, or show a note's links. Both know of it, unless it is --one-way.

    For example:

      shelfd link note-memory-1a2b3c4d note-memory-5e6f7a8b causes --reason "she said so"

      shelfd link note-memory-1a2b3c4d

      shelfd link note-memory-1a2b3c4d note-memory-5e6f7a8b --remove
    """
    if second is None:
        _print_links(call(socket, "link.list", {"id": first, "limit": limit, "shelf": shelf}), limit, as_json=as_json)
        return
    params = {
        "source": first, "target": second, "relation": " ".join(relation) if relation else None,
        "direction": "outgoing" if one_way else None, "idempotency_key": idempotency_key, "shelf": shelf,
    }  # fmt: skip
    if remove:
        result = call(socket, "link.delete", params)
        said = f"{result['removed']} removed"
    else:
        about = {"valid_from": moment(valid_from, "--valid-from"), "valid_to": moment(valid_to, "--valid-to")}
        result = call(socket, "link.upsert", {**params, **about, "reason": reason})
        said = f"{result['added']} added, {result['updated']} updated"
    print_json(result) if as_json else print(said)


def _print_links(result: Mapping[str, Any], limit: int, *, as_json: bool) -> None:
    if as_json:
        print_json(result)
        return
    rows = [
        (one["source"], one["relation"], one["target"], local_time(one["created_at"]), one_line(one["reason"], width()))
        for one in result["links"]
    ]
    print_table(rows, header=("note", "relation", "to", "at", "reason"))
    if not rows:
        notice("it has no links")
    if result.get("next_cursor"):
        notice(f"there are more; --limit shows more than {limit}")
