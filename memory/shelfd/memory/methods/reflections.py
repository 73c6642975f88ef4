"""Use case: which reflections there were."""

import asyncio
from collections.abc import Mapping
from typing import Any, Final

from shelfd.memory.call import Call
from shelfd.memory.methods import cursor
from shelfd.memory.methods.registry import read
from shelfd.memory.ports.log import LogRow
from shelfd.memory.ports.view import View
from shelfd.memory.shelf.shelf import Shelf
from shelfd.protocol import from_micros
from shelfd.protocol.base import PageParams

#: Undo runs read without giving others a turn.
_UNDONE_AT_ONCE: Final = 100
_COUNTS: Final = ("inspected", "rewritten", "merged", "hidden", "tagged", "linked")


@read("reflection.history")
async def history(shelf: Shelf, params: PageParams, _call: Call) -> dict[str, Any]:
    """Return past reflections, the last first, with what was done and whether that was taken back."""
    position = cursor.decode_numbers(params.cursor, 1)
    before = position[0] if position else None
    rows = shelf.view.log.completed("reflection.completed", before=before, limit=params.limit + 1)
    page = rows[: params.limit]
    undone = await _undone_since(shelf.view, page[-1].seq) if page else {}
    result: dict[str, Any] = {"runs": [_run(row, undone) for row in page]}
    if len(rows) > params.limit:
        result["next_cursor"] = cursor.encode(page[-1].seq)
    return result


def _run(row: LogRow, undone: Mapping[str, str]) -> dict[str, Any]:
    told = row.before or {}
    counts = told.get("counts", {})
    run_id = row.origin.run_id or ""
    run: dict[str, Any] = {
        "run_id": run_id,
        "ran_at": from_micros(told.get("ran_at", row.at)),
        "nugget": row.nugget,
        "principal": row.origin.principal,
        **{name: counts.get(name, 0) for name in _COUNTS},
        "changes": list(told.get("changes", ())),
    }
    if run_id in undone:
        run["undone_by"] = undone[run_id]
    return run


async def _undone_since(view: View, seq: int) -> dict[str, str]:
    """Runs that were taken back after change *seq*, with the undo that did; one that was itself undone counts not."""
    undone: dict[str, str] = {}
    before: int | None = None
    while rows := view.log.completed("reflection.undone", before=before, limit=_UNDONE_AT_ONCE):
        for row in rows:  # the last first: whether an undo was taken back is known before it comes
            if row.seq < seq:
                return undone
            own, other = row.origin.run_id or "", (row.before or {}).get("undone_run_id")
            if own not in undone and isinstance(other, str):
                undone.setdefault(other, own)
        before = rows[-1].seq
        await asyncio.sleep(0)
    return undone
