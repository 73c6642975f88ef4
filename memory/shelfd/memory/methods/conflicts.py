"""Use cases on conflicts: list them, resolve one."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from shelfd.memory.call import Call
from shelfd.memory.errors import AlreadyResolved, NotFound
from shelfd.memory.log.idempotency import Outcome
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.methods import cursor
from shelfd.memory.methods.caught_up import catch_up
from shelfd.memory.methods.registry import change, read
from shelfd.memory.notes.note import Note
from shelfd.memory.ports.evolution import StoredConflict
from shelfd.memory.ports.view import View
from shelfd.memory.shelf.nuggets import get_nugget
from shelfd.memory.shelf.shelf import Changed, Shelf
from shelfd.protocol import from_micros
from shelfd.protocol.methods.conflicts import ConflictListParams, ConflictResolveParams

#: Characters of a note that are shown.
_SHOWN: Final = 300


@read("conflict.list")
async def list_conflicts(shelf: Shelf, params: ConflictListParams, _call: Call) -> dict[str, Any]:
    """Return conflicts, the last found first, as follows from what notes say now."""
    if params.nugget is not None:
        get_nugget(shelf.view, params.nugget)
    await catch_up(shelf)
    position = cursor.decode_numbers(params.cursor, 1)
    before = None if position is None else position[0]
    found = shelf.view.conflicts.page(
        nugget=params.nugget, resolved=params.resolved, before=before, limit=params.limit + 1
    )
    page = found[: params.limit]
    result: dict[str, Any] = {"conflicts": _shown(shelf.view, page)}
    if len(found) > params.limit:
        result["next_cursor"] = cursor.encode(page[-1].number)
    return result


def _shown(view: View, conflicts: Sequence[StoredConflict]) -> list[dict[str, Any]]:
    notes = view.notes.by_rows([row for conflict in conflicts for row in (conflict.a, conflict.b)])
    return [_conflict_view(one, notes) for one in conflicts if one.a in notes and one.b in notes]


def _conflict_view(conflict: StoredConflict, notes: Mapping[int, Note]) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "id": conflict.id,
        "nugget": conflict.nugget,
        "a": _end_view(notes[conflict.a]),
        "b": _end_view(notes[conflict.b]),
        "reason": conflict.reason,
        "found_at": from_micros(conflict.found_at),
    }
    if conflict.resolved_at is not None:
        shown |= {"resolved_at": from_micros(conflict.resolved_at), "resolution": conflict.resolution}
    return shown


def _end_view(note: Note) -> dict[str, Any]:
    content = note.content if len(note.content) <= _SHOWN else note.content[: _SHOWN - 1] + "…"
    return {"id": note.id, "content": content, "at": from_micros(note.when)}


def _show_resolved(shelf: Shelf, changed: Changed, _call: Call) -> dict[str, Any]:
    conflict = shelf.view.conflicts.get(changed.outcome["id"])
    shown = [] if conflict is None else _shown(shelf.view, [conflict])
    if not shown:
        raise NotFound("the conflict is gone", id=changed.outcome["id"])
    return {"conflict": shown[0], "superseded": changed.outcome["superseded"]}


@change("conflict.resolve", render=_show_resolved)
def resolve(tx: Transaction, params: ConflictResolveParams, _call: Call) -> Outcome:
    """Close a conflict: the note that is kept supersedes the other one, or both stay."""
    conflict = tx.rows.conflicts.get(params.id)
    if conflict is None:
        raise NotFound("there is no conflict with this id; conflict.list has them", id=params.id, field="id")
    if conflict.resolution == params.keep:
        return {"id": conflict.id, "superseded": []}
    if conflict.resolution is not None:
        raise AlreadyResolved(conflict.id, conflict.resolution)
    tx.put_conflict(conflict._replace(resolved_at=tx.now, resolution=params.keep))
    superseded: list[str] = []
    if params.keep != "both":
        kept, other = (conflict.a, conflict.b) if params.keep == "a" else (conflict.b, conflict.a)
        notes = tx.rows.notes.by_rows([kept, other])
        tx.supersede(notes[other], notes[kept].id, reason="a conflict was decided so", has_held=False)
        superseded.append(notes[other].id)
    return {"id": conflict.id, "superseded": superseded}
