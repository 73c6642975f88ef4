"""Use case: entity.purge, which leaves no note that mentions somebody or something."""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple, cast

from shelfd.memory.call import Call
from shelfd.memory.jobs import Job
from shelfd.memory.jobs.work import Begun
from shelfd.memory.knowledge.entities.aliases import ALIASES_KNOWN
from shelfd.memory.knowledge.entities.kinds import family, shown
from shelfd.memory.knowledge.position import aliases_changed
from shelfd.memory.log.idempotency import Outcome
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.methods.caught_up import read_all
from shelfd.memory.methods.context import Context
from shelfd.memory.methods.entities import checked_type, mentioning_any
from shelfd.memory.methods.registry import procedure
from shelfd.memory.notes.filter import NoteFilter
from shelfd.memory.ports.entities import StoredAlias
from shelfd.memory.shelf.shelf import Shelf
from shelfd.memory.tending.nuggets import check_no_intake
from shelfd.memory.tending.purge import PURGE, new_cursor, purge_some
from shelfd.protocol.methods.entities import EntityPurgeParams

#: Notes of one purge: a job keeps their ids.
_NOTES: Final = 1_000
_EVERY_NOTE: Final = NoteFilter(include_hidden=True)


class _Doomed(NamedTuple):
    """What a purge of an entity takes, and how many notes mention it in all."""

    ids: Sequence[str]
    total: int
    aliases: Sequence[StoredAlias]


@procedure("entity.purge")
async def purge(context: Context, call: Call) -> dict[str, Any]:
    """Purge every note that mentions an entity, by any of its names, and the names that callers gave it.

    Raises:
        Unavailable: If notes are still being read for what they mention, and that takes longer than this waits.
    """
    params = cast("EntityPurgeParams", call.params)
    type_ = checked_type(params.entity_type, "entity_type", call)
    shelf = await context.shelf(call)
    await read_all(shelf, call)
    doomed = await _doomed(shelf, type_, params.entity_value)
    canonical = shelf.enrichment.canonical(type_, params.entity_value)
    said = {
        "entity": {"type": type_, "value": shown(type_, params.entity_value), "canonical": canonical},
        "notes": doomed.total,
        "note_ids": list(doomed.ids),
        "aliases": len(doomed.aliases),
        "dry_run": params.dry_run,
    }
    if params.dry_run:
        return {**said, "purged": 0, "still_in": [], "remaining": doomed.total, "run_id": None}
    done = await context.carry_out(shelf, call, lambda tx: _begin(tx, doomed), _ended)
    if doomed.aliases:
        shelf.enrichment.wake()
    return {**said, **done, "remaining": doomed.total - len(doomed.ids)}


async def _doomed(shelf: Shelf, type_: str, value: str) -> _Doomed:
    names = shelf.enrichment.same(type_, value)
    ids: list[str] = []
    total = 0
    async for some in mentioning_any(shelf, type_, value, _EVERY_NOTE, most=None):
        total += len(some)
        ids += [note.id for note in some[: _NOTES - len(ids)]]
    keys = {(family(of_type), key) for of_type, key in names}
    given = [
        alias
        for alias in shelf.view.entities.aliases(limit=ALIASES_KNOWN)
        if not alias.note and not keys.isdisjoint({(alias.family, alias.alias), (alias.family, alias.canonical)})
    ]
    return _Doomed(ids, total, given)


def _begin(tx: Transaction, doomed: _Doomed) -> Begun | Outcome:
    """Take the first step. The names go with the last notes: those that are left would not be found without them."""
    if doomed.aliases and doomed.total == len(doomed.ids):
        for alias in doomed.aliases:
            tx.rows.entities.delete_aliases(alias.family, alias.alias)
        aliases_changed(tx)
    if not doomed.ids:
        return {"purged": 0, "still_in": [], "run_id": None}
    check_no_intake(tx)
    params, cursor = {"ids": list(doomed.ids)}, new_cursor(total=len(doomed.ids))
    purge_some(tx, cursor, params)
    return Begun(PURGE, params, cursor)


def _ended(_shelf: Shelf, job: Job) -> dict[str, Any]:
    return {"run_id": job.run_id, **(job.result or {})}
