"""Use cases on shelves: create, list, drop, check, log, stats, events."""

import asyncio
from functools import partial
from typing import Any, cast

from shelfd.memory.call import Call
from shelfd.memory.errors import InvalidParams, SchemaTooNew, StorageCorrupt
from shelfd.memory.jobs import UNFINISHED
from shelfd.memory.methods import cursor
from shelfd.memory.methods.context import Context
from shelfd.memory.methods.registry import procedure, read
from shelfd.memory.methods.render import log_view
from shelfd.memory.moving.snapshot import write_snapshot
from shelfd.memory.ports.watching import WATCH_MATCHED
from shelfd.memory.recall import ShelfIndex
from shelfd.memory.shelf.counts import ShelfCounts
from shelfd.memory.shelf.shelf import Shelf
from shelfd.protocol import Params, ReadParams
from shelfd.protocol.methods.events import EventsSinceParams
from shelfd.protocol.methods.shelves import ShelfCreateParams, ShelfDropParams, ShelfLogParams

#: Events rendered without yielding to other tasks: some 5 ms.
_EVENTS_AT_ONCE = 64
_COUNTED = 1000


@procedure("shelf.create")
async def create(context: Context, call: Call) -> dict[str, Any]:
    """Make a shelf that belongs to the caller."""
    params = cast("ShelfCreateParams", call.params)
    call.ticket.start()
    is_unlimited = context.access.may(call.principal, None, "admin")
    await context.shelves.create(params.shelf, owner=call.principal, is_unlimited=is_unlimited)
    return {"shelf": params.shelf}


@procedure("shelf.list")
async def list_shelves(context: Context, call: Call) -> dict[str, Any]:
    """Return the shelves the caller may read."""
    shelves = context.shelves
    found = []
    for name in shelves.names():
        if context.access.may(call.principal, name, "read"):
            found.append({"shelf": name, "owner": shelves.owner(name) or "", "state": shelves.state(name)})
        await asyncio.sleep(0)  # an owner that is not known yet is read from the shelf's file
    return {"shelves": found}


@procedure("shelf.drop")
async def drop(context: Context, call: Call) -> dict[str, Any]:
    """Remove a shelf and its files for good."""
    params = cast("ShelfDropParams", call.params)
    if params.confirm != params.shelf:
        raise InvalidParams("confirm: repeat the shelf's name to drop it", field="confirm")
    context.shelves.check_droppable(params.shelf)
    call.ticket.start()
    check = partial(context.access.check, call.principal, params.shelf, call.method.need)
    try:
        shelf = await context.shelf(call)
        async with context.promoter.retired(shelf, call.origin()) as left:
            await context.shelves.drop(params.shelf, check)
    except (StorageCorrupt, SchemaTooNew):  # what it had promoted is unknown: it is dropped all the same
        left = await context.promoter.suspects(params.shelf)
        await context.shelves.drop(params.shelf, check)
    backups = [backup.path for backup in await context.shelves.stores.backups(params.shelf)]
    held = [path for path in left if await context.promoter.holds(path)]
    return {"dropped": params.shelf, "still_in": [*held, *backups]}


@read("shelf.check")
async def check(shelf: Shelf, _params: Params, _call: Call) -> dict[str, Any]:
    """Check a shelf in full: its file, its cross references, and that recall knows every note."""
    problems = await shelf.store.check(full=True)
    await shelf.reach(None)
    index = shelf.projection(ShelfIndex).index
    notes = shelf.view.counts().notes
    # A change that became durable a moment ago is counted and on its way to recall.
    is_followed = shelf.view.log.last_seq == shelf.seq and shelf.index_state()["state"] == "ready"
    if is_followed and len(index) != notes:
        problems.append(f"recall knows {len(index)} of {notes} notes; restart the daemon to index them anew")
    return {"ok": not problems, "problems": problems, "notes": notes, "last_seq": shelf.view.log.last_seq}


@read("shelf.log")
def change_log(shelf: Shelf, params: ShelfLogParams, _call: Call) -> dict[str, Any]:
    """Return changes in order."""
    position = cursor.decode_numbers(params.cursor, 1)
    since = position[0] if position else params.since_seq
    rows = shelf.view.log.page(since_seq=since, limit=params.limit + 1)
    page = rows[: params.limit]
    result: dict[str, Any] = {"log": [log_view(row) for row in page], "last_seq": shelf.view.log.last_seq}
    if len(rows) > params.limit:
        result["next_cursor"] = cursor.encode(page[-1].seq)
    return result


@read("events.since")
async def events_since(shelf: Shelf, params: EventsSinceParams, _call: Call) -> dict[str, Any]:
    """Return events that already happened; ``last_seq`` is where to continue."""
    if params.seq > shelf.view.log.last_seq:
        last = shelf.view.log.last_seq
        raise InvalidParams(f"seq: the last change is {last}", field="seq", limit=last)
    events: list[dict[str, Any]] = []
    last_seq, left = params.seq, params.limit
    while left > 0:
        part, reached = shelf.events(last_seq, min(left, _EVENTS_AT_ONCE), lambda kind, _nugget: kind != WATCH_MATCHED)
        if reached == last_seq:
            break
        events += part
        left -= reached - last_seq
        last_seq = reached
        await asyncio.sleep(0)
    previous = params.seq
    for event in events:
        event["prev_seq"], previous = previous, event["seq"]
    return {"events": events, "last_seq": last_seq}


@read("snapshot")
async def snapshot(shelf: Shelf, _params: ReadParams, _call: Call) -> dict[str, Any]:
    """Write all notes to a file beside the shelf."""
    return await write_snapshot(shelf)


@read("get_stats")
def stats(shelf: Shelf, _params: ReadParams, _call: Call) -> dict[str, Any]:
    """Return counts of the shelf; those of entities lag a moment behind."""
    known = shelf.exact(ShelfCounts)
    counts = shelf.view.counts() if known is None else known.total
    states = [job.state for _, job in shelf.view.jobs.page(unfinished=True, before=None, limit=_COUNTED)]
    return {
        "notes_created": shelf.notes_created,
        "retrievals": shelf.retrievals,
        "entity_index_hits": shelf.entity_hits,
        "total_notes": counts.notes,
        "total_facts": counts.facts,
        "hidden_notes": counts.hidden,
        "superseded_notes": counts.superseded,
        "nuggets": shelf.view.nuggets.count(),
        "links": shelf.view.links.count(),
        "sessions": shelf.view.sessions.count(),
        "last_seq": shelf.view.log.last_seq,
        "conflicts": len(shelf.view.conflicts.page(nugget=None, resolved=False, before=None, limit=_COUNTED)),
        "governance": dict(shelf.intake.counts()),
        "jobs": {state: states.count(state) for state in UNFINISHED},
        "entity_index": {
            count.type: {"unique_entities": count.entities, "total_mappings": count.mentions}
            for count in shelf.view.entities.counts()
        },
    }
