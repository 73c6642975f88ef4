"""The commands that move in from another memory, and write what is here as a file: import and snapshot."""

from typing import Annotated

import typer

from shelfd.client import imports
from shelfd.client.commands import options
from shelfd.client.formats import mapping
from shelfd.client.output import clean, counted, notice, print_json
from shelfd.client.patience import call_patiently
from shelfd.client.recognition import FORMATS

#: Other names of formats that people use.
_ALSO = {
    "obsidian": "markdown",
    "md": "markdown",
    "json": "jsonl",
    "mcp": "mcp-memory",
    "sqlite-vec": "mcp-memory-service",
}


def import_(
    paths: Annotated[list[str], typer.Argument(metavar="PATH", help="Folders such as ~/.nuggets, or files.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be done.")] = False,
    format_: Annotated[
        str | None,
        typer.Option(
            "--format", metavar="NAME", help="Whose files they are, such as mem0 or obsidian; else it is recognised."
        ),
    ] = None,
    nugget: Annotated[
        str | None, typer.Option("--nugget", "-n", metavar="NAME", help="Where notes go that name no nugget.")
    ] = None,
    map_: Annotated[
        str | None,
        typer.Option("--map", metavar="COLUMN=MEMBER,...", help="What columns of CSV or JSON are: text=content."),
    ] = None,
    extract: Annotated[
        bool, typer.Option("--extract", help="Take notes from imported conversations, too, as `ingest` does.")
    ] = False,
    chat: Annotated[str | None, typer.Option("--chat", metavar="PATH", help="The chat that a floor log is of.")] = None,
    shelf: options.Shelf = "default",
    socket: options.Socket = None,
    as_json: options.Json = False,
) -> None:
    """Move in from another memory: Markdown, conversations, CSV, JSON or a store. Run again, it changes nothing.

    For example:

      shelfd import ~/.nuggets --dry-run

      shelfd import evening.jsonl evening__floor_log.json

      shelfd import work.nugget.json graph/graph.json --shelf work

      shelfd import ~/Documents/Vault --nugget garden

      shelfd import export.csv --map text=content,title=name
    """
    format_ = _ALSO.get(format_ or "", format_)
    if format_ not in (None, *FORMATS):
        raise typer.BadParameter(f"expected one of {', '.join(FORMATS)}", param_hint="--format")
    try:
        columns = mapping.parsed_map(map_)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--map") from error
    wanted = imports.ImportOptions(paths, shelf, socket, format_, nugget, columns, chat, dry_run, extract, as_json)
    try:
        imports.take_in(wanted)
    except imports.NoFloorLog as error:
        raise typer.BadParameter("there is no floor log that it could be of", param_hint="--chat") from error


def snapshot(
    shelf: options.Shelf = "default",
    socket: options.Socket = None,
    as_json: options.Json = False,
) -> None:
    """Write all notes to a file beside the shelf, one a line, and print where. `shelfd import` reads it back.

    For example:

      shelfd snapshot --shelf work
    """
    result = call_patiently(socket, "snapshot", {"shelf": shelf})
    if as_json:
        print_json(result)
        return
    print(clean(result["path"]))
    notice(counted(result["notes"], "note"))
