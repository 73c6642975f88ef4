"""The command ingest."""

import os
from typing import Annotated, Any

import typer

from shelfd.client import json_lines
from shelfd.client.commands import options
from shelfd.client.foreign import Unusable
from shelfd.client.hooks import never_fails, transcript_path
from shelfd.client.invocation import Stop, daemon, fail, given
from shelfd.client.output import clean, counted, print_json
from shelfd.client.patience import ask_patiently
from shelfd.client.streams import warn
from shelfd.client.transcript import MOST, SIZE, Transcript, requests

_LONGEST_ID = 128
_NAMED = 5  #: lines that are named of those left out


def ingest(
    path: Annotated[str | None, typer.Argument(metavar="TRANSCRIPT", help="JSON lines, as agents write them.")] = None,
    stdin_hook: Annotated[
        bool, typer.Option("--stdin-hook", help="Stdin has the path, as an agent's hook says it; never fails.")
    ] = False,
    session: Annotated[
        str | None,
        typer.Option("--session", metavar="ID", help="Conversation; else as the transcript, or its file, says."),
    ] = None,
    nugget: Annotated[
        str | None, typer.Option("--nugget", "-n", metavar="NAME", help="Topic of a new conversation; else memory.")
    ] = None,
    dry_run: options.DryRun = False,
    shelf: options.Shelf = "default",
    socket: options.Socket = None,
    as_json: options.Json = False,
) -> None:
    """Take notes from a conversation's transcript.

    Each turn is read once: the same transcript again, grown or not, takes what is new. Lines have a role and a text
    (`content`), or are Claude Code's.

    For example:

      shelfd ingest talk.jsonl --dry-run

      shelfd ingest ~/.claude/projects/kitchen/5f0c31a2.jsonl --nugget kitchen
    """
    if stdin_hook:
        with never_fails():
            found, name = transcript_path()
            _ingest(found, session or name, nugget, shelf, socket, dry_run=dry_run, as_json=as_json)
    elif path is None:
        raise typer.BadParameter("is missing: a file, or --stdin-hook", param_hint="'TRANSCRIPT'")
    else:
        _ingest(path, session, nugget, shelf, socket, dry_run=dry_run, as_json=as_json)


def _ingest(
    path: str, session: str | None, nugget: str | None, shelf: str, socket: str | None, *, dry_run: bool, as_json: bool
) -> None:
    try:
        transcript = Transcript(json_lines.read(os.path.expanduser(path)))  # noqa: PTH111 - pathlib costs 5 ms
    except Unusable as trouble:
        fail(clean(str(trouble)), trouble.status, "NoInput")
    name = session or transcript.session_id or os.path.splitext(os.path.basename(path))[0]  # noqa: PTH119, PTH122
    total: dict[str, Any] = {
        "session_id": name[:_LONGEST_ID], "turns": transcript.turns, "extracted": 0, "skipped": 0, "refused": 0,
        "operations": 0, "left": [line._asdict() for line in transcript.left], "dry_run": dry_run,
    }  # fmt: skip
    if transcript.messages and not dry_run:
        _send(transcript, total, nugget, shelf, socket)
    if as_json:
        print_json(total)
    else:
        operations = counted(total["operations"], "operation")
        done = "would be read" if dry_run else f"read, {total['skipped']} known, {operations}"
        turns = counted(total["turns"] if dry_run else total["extracted"], "turn")
        print(f"{clean(total['session_id'])}: {turns} {done}")
        if (refused := total["refused"]) == 1:
            warn("1 turn says something else than when it was read; it was left alone")
        elif refused:
            warn(f"{refused} turns say something else than when they were read; they were left alone")
    for line in transcript.left[:_NAMED]:
        warn(clean(f"{path}, line {line.line}: {line.why}"))
    if len(transcript.left) > _NAMED:
        warn(f"and {counted(len(transcript.left) - _NAMED, 'line')} more")
    if transcript.left and not transcript.messages:
        raise Stop(os.EX_DATAERR)


def _send(transcript: Transcript, total: dict[str, Any], nugget: str | None, shelf: str, socket: str | None) -> None:
    where = {"session_id": total["session_id"], "shelf": shelf}
    with daemon(socket, timeout_s=None) as client:
        client.call("session.open", given({**where, "nugget": nugget}))
        for messages in requests(transcript.messages, most=MOST, size=SIZE):
            result = ask_patiently(client, socket, "session.extract", {**where, "turns": messages})
            for what in ("extracted", "skipped", "refused"):
                total[what] += len(result.get(what, ()))
            total["operations"] += result["operations"]
