"""The command that brings two copies of a shelf together: merge."""

import os
from functools import partial
from typing import Annotated

import typer

from shelfd.client import note_lines
from shelfd.client.commands import options
from shelfd.client.foreign import Unusable
from shelfd.client.import_report import Report
from shelfd.client.invocation import Stop, daemon
from shelfd.client.output import clean, counted, print_json
from shelfd.client.progress import ProgressLine
from shelfd.client.sending import Sending
from shelfd.client.streams import complain


def merge(
    path: Annotated[str, typer.Argument(metavar="FILE", help="What `shelfd export` wrote of the other copy.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be done.")] = False,
    shelf: options.Shelf = "default",
    socket: options.Socket = None,
    as_json: options.Json = False,
) -> None:
    """Bring another copy of a shelf, edited apart, together with this one. Nothing is overwritten.

    Where both copies changed a note, the later one counts and the other is kept beside it, as a conflict.

    For example:

      shelfd export here.jsonl

      shelfd merge from-the-laptop.jsonl
    """
    report = Report(dry_run=dry_run)
    try:
        if note_lines.format_of(path) != "shelfd":
            raise Unusable(  # noqa: TRY301
                path, "expected what `shelfd export` wrote; of this, no line is a shelf's", os.EX_DATAERR
            )
        with daemon(socket) as client, ProgressLine("items") as line:
            sending = Sending(client, {"shelf": shelf, **({"dry_run": True} if dry_run else {})}, report, line)
            sending.expect(partial(note_lines.count, path))
            lines = note_lines.NoteLines(path, "merge", {})
            sending.send("merge", lines.batches())
            report.part(path, "notes", "line")["rejected"] += lines.rejected
            for note_id in [] if dry_run else report.to_purge:
                client.call("forget", {"shelf": shelf, "id": note_id, "purge": True})
    except Unusable as trouble:
        complain(clean(str(trouble)))
        raise Stop(trouble.status) from trouble
    print_json(report.as_json()) if as_json else report.print()
    if report.to_purge and not as_json:
        print(f"purged  {len(report.to_purge)}")
    if report.conflicts:
        were = "was" if report.conflicts == 1 else "were"
        complain(f"{counted(report.conflicts, 'note')} {were} edited in both copies; `shelfd conflicts` shows them")
    if report.has_rejected:
        raise Stop(os.EX_DATAERR)
