"""Use cases: reflect, and which reflections there were."""

import asyncio
from collections.abc import Mapping
from typing import Any, Final, cast

from shelfd.memory.call import Call
from shelfd.memory.errors import NuggetNotFound
from shelfd.memory.jobs import Job
from shelfd.memory.jobs.work import Begun, JobKind
from shelfd.memory.log.idempotency import check_key
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.methods import cursor
from shelfd.memory.methods.context import Context
from shelfd.memory.methods.recalling import replay
from shelfd.memory.methods.registry import job, read
from shelfd.memory.ports.log import LogRow
from shelfd.memory.ports.view import View
from shelfd.memory.shelf.nuggets import get_nugget
from shelfd.memory.shelf.shelf import Shelf
from shelfd.memory.tending.reflection import run as reflecting
from shelfd.protocol import from_micros
from shelfd.protocol.base import PageParams
from shelfd.protocol.methods.reflection import ReflectParams

REFLECTION: Final = JobKind("reflection", can_end_early=True, has_slot=True)
#: For people; which tags a note got is read from the note as it is.
_DETAILS: Final = {
    "hide": "Archived low-value note",
    "rewrite": "Normalized duplicated whitespace and repeated lines",
    "merge": "Merged duplicate note {other_id}",
    "link": "Linked to {other_id}",
}


async def _dry_run(_context: Context, shelf: Shelf, call: Call) -> dict[str, Any]:
    params = cast("ReflectParams", call.params)
    check_key(shelf.view, call, shelf.settings.idempotency_retention, now=shelf.clock.now())
    if params.nugget is not None:
        get_nugget(shelf.view, params.nugget)
    limit = reflecting.limit_of(shelf, params.limit)
    plan = await reflecting.draw_gated_plan(shelf, nugget=params.nugget, limit=limit, limits=call.limits, replay=replay)
    changes = [
        {"type": action.type, "nugget": action.note.nugget, "note_id": action.note.id, "detail": action.detail}
        | ({} if action.other is None else {"other_id": action.other.id})
        for action in plan.actions
    ]
    return {
        "run_id": None,
        "ran_at": from_micros(plan.ran_at),
        **reflecting.counts_of(plan.inspected, changes),
        "held_back": len(plan.held_back),
        "remaining": reflecting.remaining(sorted(plan.left), changes) + plan.unseen,
        "changes": [{name: value for name, value in change.items() if name != "other_id"} for change in changes],
    }


def _result(shelf: Shelf, job: Job) -> dict[str, Any]:
    result = job.result or {}
    return {
        "run_id": job.run_id,
        **result,
        "changes": [
            {name: change[name] for name in ("type", "nugget", "note_id")} | {"detail": _detail(shelf, change)}
            for change in result["changes"]
        ],
    }


def _detail(shelf: Shelf, change: dict[str, str]) -> str:
    if change["type"] in _DETAILS:
        return _DETAILS[change["type"]].format(**change)
    note = shelf.view.notes.get(change["note_id"])
    return "Tags changed" if note is None else "Tags -> " + ", ".join(note.all_tags)


@job("reflect", ended=_result, dry_run=_dry_run)
@job("reflect_and_clean_memory", ended=_result, dry_run=_dry_run, known_as="reflect")
def reflect(tx: Transaction, params: ReflectParams, _call: Call) -> Begun:
    """Tidy the notes of a shelf, as far as one run goes."""
    if params.nugget is not None and tx.rows.nuggets.get(params.nugget) is None:
        raise NuggetNotFound(params.nugget)
    return Begun(REFLECTION, {"only": params.nugget, "limit": params.limit}, {})


#: Undo runs read without yielding to other tasks.
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
    ended = row.before or {}
    counts = ended.get("counts", {})
    run_id = row.origin.run_id or ""
    run: dict[str, Any] = {
        "run_id": run_id,
        "ran_at": from_micros(ended.get("ran_at", row.at)),
        "nugget": row.nugget,
        "principal": row.origin.principal,
        **{name: counts.get(name, 0) for name in _COUNTS},
        "changes": list(ended.get("changes", ())),
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
