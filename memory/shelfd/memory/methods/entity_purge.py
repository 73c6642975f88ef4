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
from shelfd.memory.methods.aliases import REMOVED
from shelfd.memory.methods.caught_up import read_all
from shelfd.memory.methods.context import Context
from shelfd.memory.methods.entities import checked_type
from shelfd.memory.methods.named_anywhere import notes_naming
from shelfd.memory.methods.registry import procedure
from shelfd.memory.ports.entities import StoredAlias
from shelfd.memory.ports.log import Entry
from shelfd.memory.shelf.shelf import Shelf
from shelfd.memory.tending.nuggets import check_no_intake
from shelfd.memory.tending.purge import begin_purge
from shelfd.protocol.methods.entities import EntityPurgeParams

#: Ids that one answer names.
_NAMED: Final = 1_000


class _Doomed(NamedTuple):
    """What a purge of an entity takes, and which notes stay although they have the words of its name."""

    ids: Sequence[str]
    staying: Sequence[str]
    aliases: Sequence[StoredAlias]
    is_known: bool  #: as of the type


@procedure("entity.purge")
async def purge(context: Context, call: Call) -> dict[str, Any]:
    """Purge every note that names an entity, by any of its names, and the names that callers gave it.

    Raises:
        Unavailable: If notes are still being read for what they mention, and that takes longer than this waits.
    """
    params = cast("EntityPurgeParams", call.params)
    type_ = checked_type(params.entity_type, "entity_type", call)
    shelf = await context.shelf(call)
    await read_all(shelf, call, words=True)
    doomed = await _doomed(shelf, type_, params.entity_value)
    canonical = shelf.enrichment.canonical(type_, params.entity_value)
    said = {
        "entity": {"type": type_, "value": shown(type_, params.entity_value), "canonical": canonical},
        "notes": len(doomed.ids),
        "note_ids": list(doomed.ids[:_NAMED]),
        "staying": len(doomed.staying),
        "staying_ids": list(doomed.staying[:_NAMED]),
        "aliases": len(doomed.aliases),
        "known": doomed.is_known,
        "dry_run": params.dry_run,
    }
    if params.dry_run:
        return {**said, "purged": 0, "still_in": [], "remaining": len(doomed.ids), "run_id": None}
    done = await context.carry_out(shelf, call, lambda tx: _begin(tx, doomed), _ended)
    if doomed.aliases:
        shelf.enrichment.wake()
    return {**said, **done, "remaining": 0}


async def _doomed(shelf: Shelf, type_: str, value: str) -> _Doomed:
    names = shelf.enrichment.same(type_, value)
    notes = await notes_naming(shelf, type_, value)
    keys = {(family(of_type), key) for of_type, key in names}
    given = [
        alias
        for alias in shelf.view.entities.aliases(limit=ALIASES_KNOWN)
        if not alias.note and not keys.isdisjoint({(alias.family, alias.alias), (alias.family, alias.canonical)})
    ]
    is_known = len(keys) > 1 or bool(shelf.view.entities.called(names))
    return _Doomed(notes.ids, notes.others, given, is_known)


def _begin(tx: Transaction, doomed: _Doomed) -> Begun | Outcome:
    """Take the first step. The names go with it: which notes are left to go is known by their ids."""
    if doomed.aliases:
        for alias in doomed.aliases:
            tx.rows.entities.delete_aliases(alias.family, alias.alias)
            tx.log(Entry(REMOVED, None, (), None, {"type": alias.family}))
        aliases_changed(tx)
    if not doomed.ids:
        return {"purged": 0, "still_in": [], "run_id": None}
    check_no_intake(tx)
    return begin_purge(tx, doomed.ids, aliases=len(doomed.aliases), known=doomed.is_known)


def _ended(_shelf: Shelf, job: Job) -> dict[str, Any]:
    """What became of the notes. A request that comes again is told what it took then, not what there is now."""
    named = {"notes": job.cursor["total"], "note_ids": list(job.params["ids"][:_NAMED])}
    counted = {name: job.params[name] for name in ("aliases", "known") if name in job.params}
    return {"run_id": job.run_id, **named, **counted, **(job.result or {})}
