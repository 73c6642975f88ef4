"""What came of an import, by file and kind of items."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from shelfd.client.floor_log import LeftOut
from shelfd.client.foreign import REFUSED, ForeignBatch
from shelfd.client.output import clean, counted, print_table
from shelfd.client.streams import complain

COUNTS = ("created", "updated", "unchanged")
_LISTS = ("kept", "rejected", "purge", "not_kept")
#: What the places of a part count, where its file has no other name for it.
_UNITS = {"nuggets": "nugget", "notes": "note", "facts": "fact", "links": "note", "edges": "edge", "commits": "commit"}
#: Kinds of items that are summed up, in this order. Turns are no memories: of them only refusals are said.
_SUMMED = ("nuggets", "types", "notes", "facts", "links", "commits", "sessions")
_OF_REFUSALS = ("commits", "sessions")
#: Rejected and kept items that are listed one by one; ``--json`` has all.
_LISTED = 20


class Report:
    """The result, by file and kind of items."""

    def __init__(self, *, dry_run: bool) -> None:
        self.dry_run = dry_run
        self.unusable: list[dict[str, str]] = []
        self.extracted: dict[str, int] | None = None
        self.last_seq: int | None = None
        self._parts: dict[tuple[str, str], dict[str, Any]] = {}

    @property
    def has_rejected(self) -> bool:
        """Whether anything was refused."""
        return any(part["rejected"] for part in self._parts.values())

    @property
    def to_purge(self) -> list[str]:
        """Notes that a merge found to be purged."""
        return list(dict.fromkeys(id_ for part in self._parts.values() for id_ in part["purge"]))

    @property
    def conflicts(self) -> int:
        """How many notes a merge found to be edited apart."""
        return sum(one["fields"] == ["conflict"] for part in self._parts.values() for one in part["kept"])

    def part(self, file: str, part: str, unit: str = "") -> dict[str, Any]:
        """Return the account of one kind of items of a file."""
        account = {"file": file, "part": part, "unit": unit or _UNITS.get(part, part)}
        return self._parts.setdefault((file, part), {**account, **dict.fromkeys(COUNTS, 0), **{n: [] for n in _LISTS}})

    def add(self, request: Sequence[ForeignBatch], results: Sequence[Mapping[str, Any]]) -> None:
        """Enter the answer to one request; places in the request become places in the file."""
        for batch, result in zip(request, results, strict=True):
            account = self.part(batch.file, batch.part, batch.unit)
            for name in COUNTS:
                account[name] += result[name]
            for name in ("kept", "rejected"):
                account[name] += [{**one, "index": batch.indexes[one["index"]]} for one in result[name]]
            account["purge"] += result.get("purge", [])
            for loss in result["not_kept"]:
                _add_loss(account["not_kept"], loss, [batch.indexes[index] for index in loss["indexes"]])

    def add_findings(self, file: str, findings: Iterable[LeftOut], units: Mapping[str, str]) -> None:
        """Enter what was found before anything was sent."""
        for found in findings:
            account = self.part(file, found.part, units.get(found.part, ""))
            if found.is_refused:
                error = {**REFUSED, "message": f"{found.field}: {found.why}"}
                account["rejected"] += [{"index": index, "error": error} for index in found.which]
            else:
                _add_loss(account["not_kept"], {"field": found.field, "why": found.why}, found.which)

    def as_json(self) -> dict[str, Any]:
        """Return everything as JSON."""
        parts = list(self._parts.values())
        result = {"dry_run": self.dry_run, "parts": parts, "unusable": self.unusable, "last_seq": self.last_seq}
        return result if self.extracted is None else {**result, "extracted": self.extracted}

    def print(self) -> None:
        """Print sums on stdout, and what needs attention on stderr."""
        for account in self._parts.values():
            for line in _warnings(account):
                complain(clean(f"{account['file']}: {line}"))
        rows = []
        for kind in _SUMMED:
            accounts = [account for account in self._parts.values() if account["part"] == kind]
            counts = [(sum(account[name] for account in accounts), name) for name in COUNTS]
            more = [(sum(len(account[name]) for account in accounts), name) for name in ("kept", "rejected")]
            more.insert(0, (sum(account.get("alternatives", 0) for account in accounts), "of them alternatives"))
            if kind in _OF_REFUSALS:
                accounts, counts = [account for account in accounts if account["rejected"]], []
            if accounts:
                summary = [f"{number} {name}" for number, name in [*counts, *more] if number or name in COUNTS]
                rows.append((kind, ", ".join(summary)))
        if self.dry_run:
            print("dry run: nothing was changed")
        if self.extracted is not None:
            names = {"extracted": "read", "skipped": "known", "refused": "refused"}
            said = {told: self.extracted[name] for name, told in names.items()}
            texts = [f"{number} {told}" for told, number in said.items() if number or told != "refused"]
            rows.append(("turns", ", ".join([*texts, counted(self.extracted["operations"], "operation")])))
        print_table(rows)


def _add_loss(losses: list[dict[str, Any]], loss: Mapping[str, Any], indexes: list[Any]) -> None:
    for known in losses:
        if (known["field"], known["why"]) == (loss["field"], loss["why"]):
            known["indexes"] += indexes
            return
    losses.append({**loss, "indexes": indexes})


def _warnings(account: Mapping[str, Any]) -> list[str]:
    item = account["unit"]
    rejected = [f"{item} {one['index']} rejected: {one['error']['message']}" for one in account["rejected"]]
    kept = [
        f"{item} {one['index']}: {', '.join(one['fields'])} of {one['id']} changed here, too, and stays"
        for one in account["kept"]
        if one["fields"] != ["conflict"]
    ]
    lines = [*_first(rejected), *_first(kept)]
    for loss in account["not_kept"]:
        indexes = loss["indexes"]
        which = f"{item} {indexes[0]}" if len(indexes) == 1 else f"{len(indexes)} {item}s"
        what = f"{loss['field']}: {loss['why']}"
        lines.append(what if item == "nugget" or not indexes else f"{which}: {what}")
    return lines


def _first(lines: list[str]) -> list[str]:
    if len(lines) <= _LISTED:
        return lines
    return [*lines[:_LISTED], f"and {len(lines) - _LISTED} more, which --json has"]
