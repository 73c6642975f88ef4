"""The command that moves in from another memory: import."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Annotated, Any

import typer

from shelfd.client import chat_file, json_lines, luker_file, note_lines, nugget_files
from shelfd.client.chat_file import ChatFile
from shelfd.client.commands import options
from shelfd.client.commands.ingesting import MOST, SIZE
from shelfd.client.failure import RpcFailure
from shelfd.client.floor_log import LeftOut
from shelfd.client.foreign import ForeignBatch, Unusable
from shelfd.client.formats import mapping, opening
from shelfd.client.import_report import Report
from shelfd.client.invocation import Stop, daemon
from shelfd.client.luker_file import FloorLog
from shelfd.client.output import clean, notice, print_json
from shelfd.client.patience import ask_patiently, call_patiently
from shelfd.client.progress import ProgressLine
from shelfd.client.recognition import FORMATS, PLAIN, ForeignSource, recognise
from shelfd.client.sending import Sending
from shelfd.client.spoken import conversations
from shelfd.client.streams import complain
from shelfd.client.transcript import requests

_SESSION_CHARACTERS = 128
#: Other names of formats that people use.
_ALSO = {
    "obsidian": "markdown",
    "md": "markdown",
    "json": "jsonl",
    "mcp": "mcp-memory",
    "sqlite-vec": "mcp-memory-service",
}
#: Formats, beside chats, of which each conversation becomes a session.
_CONVERSATIONS = ("chatgpt", "claude")
_NODES = {"notes": "node", "links": "node"}


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
    troubles: list[Unusable] = []
    try:
        columns = mapping.parsed_map(map_)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--map") from error
    sources = _sources(paths, format_, troubles, is_mapped=bool(columns))
    if chat is not None and not any(source.format == "luker" for source in sources):
        raise typer.BadParameter("there is no floor log that it could be of", param_hint="--chat")
    report = Report(dry_run=dry_run)
    if sources:
        params = {"shelf": shelf, **({"dry_run": True} if dry_run else {})}
        with daemon(socket) as client, ProgressLine("items") as line:
            sending = Sending(client, params, report, line)
            plain = (_entries(source, nugget, columns, report, sending) for source in sources if source.format in PLAIN)
            _send_all(chain(_opened(sources, nugget, chat, report, sending), plain), sending, troubles)
    if extract and not dry_run:
        report.extracted = _extract(sources, nugget, shelf, socket, troubles)
    report.unusable = [{"path": trouble.path, "why": trouble.why} for trouble in troubles]
    print_json(report.as_json()) if as_json else report.print()
    status = max([trouble.status for trouble in troubles] + [os.EX_DATAERR if report.has_rejected else os.EX_OK])
    if status:
        raise Stop(status)


def _send_all(
    sources: Iterable[tuple[str, Iterator[ForeignBatch]]], sending: Sending, troubles: list[Unusable]
) -> None:
    """Send what is read of each source; one that went, or broke, since it was recognised goes to *troubles*."""
    for format_name, batches in sources:
        try:
            sending.send(format_name, batches)
        except Unusable as trouble:
            complain(clean(str(trouble)))
            troubles.append(trouble)


def _extract(
    sources: Sequence[ForeignSource], nugget: str | None, shelf: str, socket: str | None, troubles: list[Unusable]
) -> dict[str, int]:
    """Have notes taken from the conversations among what was imported; return how many turns, and what came of it."""
    total: dict[str, int] = dict.fromkeys(("extracted", "skipped", "refused", "operations"), 0)
    with daemon(socket, timeout_s=None) as client:
        for source in sources:
            try:
                for params in _said(source, nugget, shelf):
                    result = ask_patiently(client, socket, "session.extract", params)
                    for what in ("extracted", "skipped", "refused"):
                        total[what] += len(result.get(what, ()))
                    total["operations"] += result["operations"]
            except RpcFailure as failure:
                troubles.append(Unusable(source.path, f"is here, but not read: {failure}", os.EX_DATAERR))
                complain(clean(str(troubles[-1])))
            except Unusable as trouble:
                if all(trouble.path != other.path for other in troubles):  # else it was said before
                    troubles.append(trouble)
                    complain(clean(str(trouble)))
    return total


def _said(source: ForeignSource, nugget: str | None, shelf: str) -> Iterator[dict[str, Any]]:
    """Params of requests to read what was said in the conversations of a file; none if it has none."""
    if source.format == "sillytavern":
        batches = ChatFile(source.path, _header(source.path, nugget)).batches()
    elif source.format in _CONVERSATIONS:
        batches = opening.opened(source.path, source.format, nugget, {}).batches()
    else:
        return
    for session_id, said in conversations(batches):
        for turns in requests(said, most=MOST, size=SIZE):
            yield {"session_id": session_id, "turns": turns, "shelf": shelf}


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
    notice(f"{result['notes']} notes")


def _sources(
    paths: Sequence[str], asked: str | None, troubles: list[Unusable], *, is_mapped: bool
) -> list[ForeignSource]:
    """Every file that can be read; the others are complained about and go to *troubles*."""
    found: list[str] = []
    sources: list[ForeignSource] = []
    for path in paths:
        try:
            _find(path, asked, found, sources)
        except Unusable as trouble:
            troubles.append(trouble)
    chosen, notices = nugget_files.choose(found)
    alone: list[str] = []
    for path in chosen:
        try:
            source = recognise(path, asked, is_mapped=is_mapped)
        except Unusable as trouble:
            troubles.append(trouble)
        else:
            sources.append(source) if source is not None else alone.append(path)
    if alone and not any(source.format == "luker" for source in sources):
        why = "is what Luker keeps beside a floor log; name that"
        troubles += [Unusable(path, why, os.EX_DATAERR) for path in alone]
    for line in [*notices, *map(str, troubles)]:
        complain(clean(line))
    return sources


def _find(path: str, asked: str | None, found: list[str], sources: list[ForeignSource]) -> None:
    """Find what is to be read at *path*: files, which go to *found*, or a folder as a whole."""
    there = None
    if os.path.isdir(path):  # noqa: PTH112
        if asked not in opening.VAULTS:
            try:
                found += nugget_files.find(path)
            except Unusable:
                there = opening.find_in(path, asked)
                if there is None:
                    raise
                if there[1] is None:
                    found.append(there[0])
                    return
            else:
                return
        folder, format_ = there or (path, asked)
        sources.append(ForeignSource(folder, str(format_)))
    else:
        found += nugget_files.find(path)


def _entries(
    source: ForeignSource, nugget: str | None, columns: Mapping[str, str], report: Report, sending: Sending
) -> tuple[str, Iterator[ForeignBatch]]:
    """A file of a plain format, and what was found when it has been read."""

    def batches() -> Iterator[ForeignBatch]:
        file = opening.opened(source.path, source.format, nugget, columns)
        sending.expect(file.count)
        try:
            yield from file.batches()
        finally:
            if file.rejected:
                report.part(source.path, "notes", file.unit)["rejected"] += file.rejected
            report.add_findings(source.path, file.left_out, dict.fromkeys(("notes", "links"), file.unit))

    return source.format, batches()


def _opened(
    sources: Sequence[ForeignSource], nugget: str | None, chat: str | None, report: Report, sending: Sending
) -> Iterator[tuple[str, Iterator[ForeignBatch]]]:
    """Iterate over what is sent, by its format: one large file at a time, and chats before their floor logs."""
    files = [source.file for source in sources if source.file is not None]
    if files:
        sorted_ = nugget_files.sort(files)
        for (file, other), count in sorted_.doubled.items():
            complain(clean(f"{file}: left out {count} of its notes, which {other} has, too"))
        for file, part, rejection in sorted_.rejected:
            report.part(file, part)["rejected"].append(rejection)
        sending.total += sum(len(batch.items) for batch in sorted_.batches)
        yield "nuggets", iter(sorted_.batches)
    for source in sources:
        if source.format in ("zettelforge", "shelfd"):
            yield source.format, _notes(source, nugget, report, sending)
    chats = [source.path for source in sources if source.format == "sillytavern"]
    logs = [source.path for source in sources if source.format == "luker"]
    for path in chats:
        yield "sillytavern", _chat(path, nugget, report, sending)
    for path in logs:
        yield "luker", _floor_log(path, chat or _chat_of(path, chats, logs), nugget, report, sending)


def _notes(source: ForeignSource, nugget: str | None, report: Report, sending: Sending) -> Iterator[ForeignBatch]:
    sending.expect(partial(note_lines.count, source.path))
    header = {} if nugget is None or source.format == "shelfd" else {"nugget": nugget}
    notes = note_lines.NoteLines(source.path, source.format, header)
    yield from notes.batches()
    report.part(source.path, "notes", notes.unit)["rejected"] += notes.rejected
    if notes.unit == "row":
        from shelfd.client import zettelforge_db  # only for its store: with sqlite3 it takes 2 ms

        if count := zettelforge_db.count_unsaid(source.path):
            why = f"{count} edges that say what causes what are no note's, and not kept"
            report.add_findings(source.path, [LeftOut("notes", "kg_edges", why, [])], {"notes": notes.unit})


def _chat_of(log: str, chats: Sequence[str], logs: Sequence[str]) -> str | None:
    """The chat that a floor log is of: the one of its name, or the only one if there is one log."""
    same = [path for path in chats if luker_file.stem_of(path) == luker_file.stem_of(log)]
    return next(iter(same or (chats if len(chats) == len(logs) == 1 else [])), None)


def _header(path: str, nugget: str | None) -> dict[str, Any]:
    """What says to whom items belong: a session of the file's name, and the nugget that was asked for."""
    name = "".join(c if c.isprintable() else "-" for c in luker_file.stem_of(path)).strip()
    header = {"session_id": name[:_SESSION_CHARACTERS].strip() or "chat"}
    return header if nugget is None else {**header, "nugget": nugget}


def _chat(path: str, nugget: str | None, report: Report, sending: Sending) -> Iterator[ForeignBatch]:
    sending.expect(partial(json_lines.count, path))
    chat = ChatFile(path, _header(path, nugget))
    yield from chat.batches()
    report.part(path, "notes", "line")["rejected"] += chat.rejected
    report.part(path, "notes", "line")["alternatives"] = chat.alternatives
    if chat.blank:
        report.add_findings(path, [LeftOut("notes", "mes", "has no text", chat.blank)], {"notes": "line"})


def _floor_log(
    path: str, chat: str | None, nugget: str | None, report: Report, sending: Sending
) -> Iterator[ForeignBatch]:
    shown = None if chat is None else chat_file.shown(chat)
    log = FloorLog(path, _header(chat or path, nugget), shown)
    sending.total += len(log.graph.nodes) + len(log.graph.edges)
    yield from log.batches()
    report.add_findings(path, log.findings, _NODES)
