"""What ``shelfd import`` does: files are recognised, read and sent, and what came of it is told.

It needs nothing of the command line's library, which takes longer to load than a small file to import.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any, Final, NamedTuple

from shelfd.client import chat_file, json_lines, luker_file, note_lines, nugget_files
from shelfd.client.chat_file import ChatFile
from shelfd.client.failure import RpcFailure
from shelfd.client.floor_log import LeftOut
from shelfd.client.foreign import ForeignBatch, Unusable
from shelfd.client.formats import opening
from shelfd.client.import_report import Report
from shelfd.client.invocation import Stop, daemon
from shelfd.client.luker_file import FloorLog
from shelfd.client.output import clean, print_json
from shelfd.client.progress import ProgressLine
from shelfd.client.recognition import PLAIN, ForeignSource, recognise
from shelfd.client.sending import Sending
from shelfd.client.streams import complain

_SESSION_CHARACTERS = 128
#: Formats, beside chats, of which each conversation becomes a session.
_CONVERSATIONS = ("chatgpt", "claude")
_NODES = {"notes": "node", "links": "node"}


class ImportOptions(NamedTuple):
    """What is to be imported, and how.

    Attributes:
        paths: Of files and folders.
        format: Whose files they are; None to recognise it.
        nugget: Where notes go that name no nugget.
        columns: What columns become.
        chat: The chat that a floor log is of.
        is_dry: Whether nothing is to be changed.
        extracts: Whether notes are taken from conversations, too.
    """

    paths: Sequence[str]
    shelf: str = "default"
    socket: str | None = None
    format: str | None = None
    nugget: str | None = None
    columns: Mapping[str, str] = {}
    chat: str | None = None
    is_dry: bool = False
    extracts: bool = False
    as_json: bool = False


#: Options that :func:`parse` knows.
_VALUES: Final = {"--shelf": "shelf", "--socket": "socket", "--nugget": "nugget", "-n": "nugget"}
_SWITCHES: Final = {"--json": "as_json", "--dry-run": "is_dry"}


class NoFloorLog(Exception):
    """A chat was named, and no floor log that it could be of."""


def parse(arguments: Sequence[str]) -> ImportOptions | None:
    """Return what simple *arguments* say, as nearly all are; None for others, which its library reads."""
    paths: list[str] = []
    found: dict[str, Any] = {}
    rest = iter(arguments)
    for argument in rest:
        value: str | bool = True
        if argument in _VALUES:
            value = next(rest, "")
        elif argument not in _SWITCHES:
            paths.append(argument)
            continue
        if not value or str(value).startswith("-"):
            return None
        found[(_VALUES | _SWITCHES)[argument]] = value
    if not paths or any(not path or path.startswith("-") for path in paths):
        return None
    return ImportOptions(paths, **found)


def take_in(wanted: ImportOptions) -> None:
    """Import what is wanted, and tell what came of it.

    Raises:
        NoFloorLog: If a chat is named without one.
        Stop: With the status of what is wrong, if anything is.
    """
    troubles: list[Unusable] = []
    sources = _sources(wanted, troubles)
    if wanted.chat is not None and not any(source.format == "luker" for source in sources):
        raise NoFloorLog
    report = Report(dry_run=wanted.is_dry)
    if sources:
        params = {"shelf": wanted.shelf, **({"dry_run": True} if wanted.is_dry else {})}
        with daemon(wanted.socket) as client, ProgressLine("items") as line:
            sending = Sending(client, params, report, line)
            plain = (_entries(source, wanted, report, sending) for source in sources if source.format in PLAIN)
            _send_all(chain(_opened(sources, wanted, report, sending), plain), sending, troubles)
    if wanted.extracts and not wanted.is_dry:
        report.extracted = _extract(sources, wanted, troubles)
    report.unusable = [{"path": trouble.path, "why": trouble.why} for trouble in troubles]
    print_json(report.as_json()) if wanted.as_json else report.print()
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


def _extract(sources: Sequence[ForeignSource], wanted: ImportOptions, troubles: list[Unusable]) -> dict[str, int]:
    """Have notes taken from the conversations among what was imported; return how many turns, and what came of it."""
    from shelfd.client.patience import ask_patiently  # only here: few imports read conversations

    total: dict[str, int] = dict.fromkeys(("extracted", "skipped", "refused", "operations"), 0)
    with daemon(wanted.socket, timeout_s=None) as client:
        for source in sources:
            try:
                for params in _said(source, wanted.nugget, wanted.shelf):
                    result = ask_patiently(client, wanted.socket, "session.extract", params)
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
    from shelfd.client import transcript  # as above
    from shelfd.client.spoken import conversations

    if source.format == "sillytavern":
        batches = ChatFile(source.path, _header(source.path, nugget)).batches()
    elif source.format in _CONVERSATIONS:
        batches = opening.opened(source.path, source.format, nugget, {}).batches()
    else:
        return
    for session_id, said in conversations(batches):
        for turns in transcript.requests(said, most=transcript.MOST, size=transcript.SIZE):
            yield {"session_id": session_id, "turns": turns, "shelf": shelf}


def _sources(wanted: ImportOptions, troubles: list[Unusable]) -> list[ForeignSource]:
    """Every file that can be read; the others are complained about and go to *troubles*."""
    found: list[str] = []
    sources: list[ForeignSource] = []
    for path in wanted.paths:
        try:
            _find(path, wanted.format, found, sources)
        except Unusable as trouble:
            troubles.append(trouble)
    chosen, notices = nugget_files.choose(found)
    alone: list[str] = []
    for path in chosen:
        try:
            source = recognise(path, wanted.format, is_mapped=bool(wanted.columns))
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
    source: ForeignSource, wanted: ImportOptions, report: Report, sending: Sending
) -> tuple[str, Iterator[ForeignBatch]]:
    """A file of a plain format, and what was found when it has been read."""

    def batches() -> Iterator[ForeignBatch]:
        file = opening.opened(source.path, source.format, wanted.nugget, wanted.columns)
        sending.expect(file.count)
        try:
            yield from file.batches()
        finally:
            if file.rejected:
                report.part(source.path, "notes", file.unit)["rejected"] += file.rejected
            report.add_findings(source.path, file.left_out, dict.fromkeys(("notes", "links"), file.unit))

    return source.format, batches()


def _opened(
    sources: Sequence[ForeignSource], wanted: ImportOptions, report: Report, sending: Sending
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
            yield source.format, _notes(source, wanted.nugget, report, sending)
    chats = [source.path for source in sources if source.format == "sillytavern"]
    logs = [source.path for source in sources if source.format == "luker"]
    for path in chats:
        yield "sillytavern", _chat(path, wanted.nugget, report, sending)
    for path in logs:
        chat = wanted.chat or _chat_of(path, chats, logs)
        yield "luker", _floor_log(path, chat, wanted.nugget, report, sending)


def _notes(source: ForeignSource, nugget: str | None, report: Report, sending: Sending) -> Iterator[ForeignBatch]:
    sending.expect(partial(note_lines.count, source.path))
    header = {} if nugget is None or source.format == "shelfd" else {"nugget": nugget}
    notes = note_lines.NoteLines(source.path, source.format, header)
    yield from notes.batches()
    report.part(source.path, "notes", notes.unit)["rejected"][:0] = notes.rejected  # whatever was answered by now
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
