"""The command that takes memories along: export."""

import os
from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import typer

from shelfd.client.commands import options
from shelfd.client.exports import STDOUT, TO_FILE, NotWritable, write_markdown, written
from shelfd.client.invocation import Stop, daemon
from shelfd.client.output import clean, counted, notice, print_json
from shelfd.client.progress import ProgressLine
from shelfd.client.streams import complain
from shelfd.client.transport import Client

_FORMATS = ("jsonl", "markdown", "graphml")


def export(
    place: Annotated[
        str, typer.Argument(metavar="PLACE", help="A file; for Markdown a folder; - for standard output.")
    ],
    format_: Annotated[
        str | None, typer.Option("--format", metavar="NAME", help="jsonl, markdown or graphml; else by PLACE's name.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
    shelf: options.Shelf = "default",
    socket: options.Socket = None,
    as_json: options.Json = False,
) -> None:
    """Write all notes of a shelf as of one moment, hidden ones too: as lines, Markdown or a graph.

    `shelfd import` reads lines back without loss, and takes over what was edited in Markdown.

    For example:

      shelfd export memories.jsonl

      shelfd export ~/Documents/Memories --format markdown
    """
    found = format_ or _by_name(place)
    if found not in _FORMATS:
        raise typer.BadParameter(f"expected one of {', '.join(_FORMATS)}", param_hint="--format")
    if found == "markdown" and place == STDOUT:
        raise typer.BadParameter("Markdown needs a folder", param_hint="PLACE")
    try:
        with daemon(socket) as client, ProgressLine("notes") as line:
            lines = _Lines(client, {"shelf": shelf, "marks": found == "markdown", "states": found == "jsonl"}, line)
            if found == "markdown":
                write_markdown(lines, place)
            else:
                with written(place, may_replace=force) as file:
                    TO_FILE[found](lines, file)
    except NotWritable as error:
        complain(clean(str(error)))
        raise Stop(os.EX_CANTCREAT) from error
    if place == STDOUT:
        return
    if as_json:
        print_json({"path": place, "format": found, "notes": lines.notes, "last_seq": lines.last_seq})
        return
    print(clean(place))
    notice(counted(lines.notes, "note"))


def _by_name(place: str) -> str:
    if place.endswith((".graphml", ".xml")):
        return "graphml"
    return "markdown" if place.endswith(os.sep) or os.path.isdir(place) else "jsonl"  # noqa: PTH112


class _Lines:
    """The lines of an export, page by page.

    Attributes:
        notes: How many notes there are.
        last_seq: The last change they know of.
    """

    def __init__(self, client: Client, params: Mapping[str, Any], progress: ProgressLine) -> None:
        self.notes = 0
        self.last_seq = 0
        self._client = client
        self._params = params
        self._progress = progress

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        done, cursor = 0, None
        while True:
            page = self._client.call("shelf.export", {**self._params, **({"cursor": cursor} if cursor else {})})
            self.notes, self.last_seq, cursor = page["notes"], page["last_seq"], page.get("next_cursor")
            yield from page["lines"]
            done += len(page["lines"])
            self._progress.update(min(done, self.notes), self.notes)
            if cursor is None:
                return
