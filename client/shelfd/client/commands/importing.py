"""The command that moves in from another memory: import."""

import os
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import typer

from shelfd.client import foreign
from shelfd.client.commands import options
from shelfd.client.failure import RpcFailure
from shelfd.client.foreign import ForeignBatch, ForeignFile, Unusable
from shelfd.client.invocation import Stop, daemon
from shelfd.client.output import clean, print_json, print_table, progress
from shelfd.client.streams import complain
from shelfd.client.transport import Client

_COUNTS = ("created", "updated", "unchanged")
_LISTS = ("kept", "rejected", "not_kept")
#: What the indexes of a part count.
_ITEMS = {"nuggets": "nugget", "notes": "note", "facts": "fact", "links": "note"}
#: Rejected and kept items that are listed one by one; ``--json`` has all.
_LISTED = 20
_TOO_LARGE = -32005


def import_(
    paths: Annotated[list[str], typer.Argument(metavar="PATH...", help="Folders such as ~/.nuggets, or files.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be done.")] = False,
    format_: Annotated[str, typer.Option("--format", metavar="NAME", help="Whose files they are.")] = "nuggets",
    shelf: options.Shelf = "default",
    socket: options.Socket = None,
    as_json: options.Json = False,
) -> None:
    """Move in from Nuggets: facts, the graph of notes, ids, hits, links and dates. Again, it changes nothing.

    For example:

      shelfd import ~/.nuggets --dry-run

      shelfd import ~/.nuggets

      shelfd import work.nugget.json graph/graph.json --shelf work
    """
    files, troubles = _read(paths)
    sorted_ = foreign.sort(files)
    report = _Report(dry_run=dry_run)
    report.unusable = [{"path": trouble.path, "why": trouble.why} for trouble in troubles]
    for (file, other), count in sorted_.doubled.items():
        complain(clean(f"{file}: left out {count} of its notes, which {other} has, too"))
    for file, part, rejection in sorted_.rejected:
        report.part(file, part)["rejected"].append(rejection)
    if files:
        params = {"format": format_, "shelf": shelf, **({"dry_run": True} if dry_run else {})}
        with daemon(socket) as client:
            _send(client, params, sorted_.batches, report)
    print_json(report.as_json()) if as_json else report.print()
    status = max([trouble.status for trouble in troubles] + [os.EX_DATAERR if report.has_rejected else os.EX_OK])
    if status:
        raise Stop(status)


def _read(paths: Sequence[str]) -> tuple[list[ForeignFile], list[Unusable]]:
    """Every file that can be read; the others are complained about and returned."""
    found: list[str] = []
    files: list[ForeignFile] = []
    troubles: list[Unusable] = []
    for path in paths:
        try:
            found += foreign.find(path)
        except Unusable as trouble:
            troubles.append(trouble)
    chosen, notices = foreign.choose(found)
    for path in chosen:
        try:
            files.append(foreign.read(path))
        except Unusable as trouble:
            troubles.append(trouble)
    for line in [*notices, *map(str, troubles)]:
        complain(clean(line))
    return files, troubles


def _send(client: Client, params: Mapping[str, Any], batches: Sequence[ForeignBatch], report: "_Report") -> None:
    """Send everything, with what earlier answers said is known."""
    is_dry = "dry_run" in params
    items, size = (foreign.REHEARSED_ITEMS, foreign.REHEARSED_BYTES) if is_dry else (foreign.ITEMS, foreign.BYTES)
    total = sum(len(batch.items) for batch in batches)
    waiting = list(foreign.requests(batches, items=items, size=size))[::-1]
    if is_dry and len(waiting) > 1:
        complain("this is more than one dry run can hold: what needs items of an earlier part counts as missing")
    known: dict[str, str] = {}
    done = 0
    while waiting:
        request = waiting.pop()
        count = sum(len(batch.items) for batch in request)
        try:
            result = client.call("shelf.import", {**params, "parts": [b.params() for b in request], "known": known})
        except RpcFailure as failure:
            if failure.code != _TOO_LARGE:
                raise
            if count > 1:  # one of the items is too deep or too large: the others need not suffer
                waiting += reversed(foreign.halves(request))
                continue
            rejected = {"index": 0, "error": {"code": failure.code, "message": failure.message, "data": failure.data}}
            report.add(request[:1], [{**dict.fromkeys(_COUNTS, 0), "rejected": [rejected], "kept": [], "not_kept": []}])
        else:
            known |= result["known"]
            report.last_seq = result["last_seq"]
            report.add(request, result["parts"])
        done += count
        progress(done, total)


class _Report:
    """The result, by file and kind of items."""

    def __init__(self, *, dry_run: bool) -> None:
        self.dry_run = dry_run
        self.unusable: list[dict[str, str]] = []
        self.last_seq: int | None = None
        self._parts: dict[tuple[str, str], dict[str, Any]] = {}

    @property
    def has_rejected(self) -> bool:
        """Whether anything was refused."""
        return any(part["rejected"] for part in self._parts.values())

    def part(self, file: str, part: str) -> dict[str, Any]:
        """Return the account of one kind of items of a file."""
        account = {"file": file, "part": part, **dict.fromkeys(_COUNTS, 0), **{name: [] for name in _LISTS}}
        return self._parts.setdefault((file, part), account)

    def add(self, request: Sequence[ForeignBatch], results: Sequence[Mapping[str, Any]]) -> None:
        """Enter the answer to one request; places in the request become places in the file."""
        for batch, result in zip(request, results, strict=True):
            account = self.part(batch.file, batch.part)
            for name in _COUNTS:
                account[name] += result[name]
            for name in ("kept", "rejected"):
                account[name] += [{**one, "index": batch.indexes[one["index"]]} for one in result[name]]
            for loss in result["not_kept"]:
                _add_loss(account["not_kept"], loss, [batch.indexes[index] for index in loss["indexes"]])

    def as_json(self) -> dict[str, Any]:
        """Return everything as JSON."""
        parts = list(self._parts.values())
        return {"dry_run": self.dry_run, "parts": parts, "unusable": self.unusable, "last_seq": self.last_seq}

    def print(self) -> None:
        """Print sums on stdout, and what needs attention on stderr."""
        for account in self._parts.values():
            for line in _warnings(account):
                complain(clean(f"{account['file']}: {line}"))
        rows = []
        for kind in _ITEMS:
            accounts = [account for account in self._parts.values() if account["part"] == kind]
            counts = [(sum(account[name] for account in accounts), name) for name in _COUNTS]
            counts += [(sum(len(account[name]) for account in accounts), name) for name in ("kept", "rejected")]
            if accounts:
                summary = ", ".join(f"{number} {name}" for number, name in counts if number or name in _COUNTS)
                rows.append((kind, summary))
        if self.dry_run:
            print("dry run: nothing was changed")
        print_table(rows)


def _add_loss(losses: list[dict[str, Any]], loss: Mapping[str, Any], indexes: list[int]) -> None:
    for known in losses:
        if (known["field"], known["why"]) == (loss["field"], loss["why"]):
            known["indexes"] += indexes
            return
    losses.append({**loss, "indexes": indexes})


def _warnings(account: Mapping[str, Any]) -> list[str]:
    item = _ITEMS[account["part"]]
    rejected = [f"{item} {one['index']} rejected: {one['error']['message']}" for one in account["rejected"]]
    kept = [
        f"{item} {one['index']}: {', '.join(one['fields'])} of {one['id']} changed here, too, and stays"
        for one in account["kept"]
    ]
    lines = [*_first(rejected), *_first(kept)]
    for loss in account["not_kept"]:
        indexes = loss["indexes"]
        which = f"{item} {indexes[0]}" if len(indexes) == 1 else f"{len(indexes)} {item}s"
        what = f"{loss['field']}: {loss['why']}"
        lines.append(what if item == "nugget" else f"{which}: {what}")
    return lines


def _first(lines: list[str]) -> list[str]:
    if len(lines) <= _LISTED:
        return lines
    return [*lines[:_LISTED], f"and {len(lines) - _LISTED} more, which --json has"]
