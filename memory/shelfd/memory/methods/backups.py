"""Use cases on whole shelves and their backups: back up, list, restore, rename."""

from functools import partial
from pathlib import PurePath
from typing import Any, Final, cast

from shelfd.memory.call import Call
from shelfd.memory.errors import Forbidden, InvalidParams, NotFound, ShelfError
from shelfd.memory.jobs import Job
from shelfd.memory.jobs.work import Begun
from shelfd.memory.log.idempotency import Outcome
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.methods.context import Context
from shelfd.memory.methods.registry import procedure
from shelfd.memory.moving.backup import BACKUP
from shelfd.memory.ports.backups import Prepared
from shelfd.memory.shelf.shelf import Shelf
from shelfd.memory.tending import taking_back, undo
from shelfd.protocol.methods.backups import ShelfBackupParams, ShelfMoveParams, ShelfRestoreParams

_KEPT: Final = ("note_id", "field", "why")


@procedure("shelf.backup")
async def backup(context: Context, call: Call) -> dict[str, Any]:
    """Back a shelf up."""
    params = cast("ShelfBackupParams", call.params)
    if params.to is not None:
        _check_may_name_files(context, call, "to")
    shelf = await context.shelf(call)
    wanted = {name: value for name, value in (("to", params.to), ("keep", params.keep)) if value is not None}
    return await context.carry_out(shelf, call, lambda _tx: Begun(BACKUP, wanted, {}), _made)


def _made(_shelf: Shelf, job: Job) -> dict[str, Any]:
    return {**(job.result or {}), "run_id": job.run_id}


def _check_may_name_files(context: Context, call: Call, field: str) -> None:
    """Raise unless the caller may name files of this machine, which the daemon then reads or writes.

    Raises:
        Forbidden: If only an administrator may.
    """
    if not context.access.may(call.principal, None, "admin"):
        raise Forbidden(
            f"{field}: only administrators may name a place; without one it is the configured directory", field=field
        )


@procedure("shelf.backups")
async def backups(context: Context, call: Call) -> dict[str, Any]:
    """List the backups of a shelf in the configured directory."""
    name = cast("str", call.shelf)
    found = await context.shelves.stores.backups(name)
    directory = context.shelves.stores.backups_directory(name)
    return {"backups": [backup.view() for backup in found], "directory": directory}


@procedure("shelf.restore")
async def restore(context: Context, call: Call) -> dict[str, Any]:
    """Put a backup in a shelf's place, make a new shelf of one, or take the shelf itself back."""
    params = cast("ShelfRestoreParams", call.params)
    if params.to_seq is not None and params.backup is None and params.as_shelf is None:
        return await _take_back_itself(context, call, params)
    name = params.as_shelf or params.shelf
    stores = context.shelves.stores
    if params.as_shelf is not None and stores.exists(params.as_shelf):
        raise InvalidParams(f"as_shelf: there is a shelf {params.as_shelf!r} already", field="as_shelf")
    path = await _chosen(context, call, params)
    owner = call.principal if params.as_shelf else context.shelves.owner(name)
    prepared = await stores.prepare(name, path, owner=owner)
    try:
        result = {**_blank(params), "backup": prepared.backup.view(), "seq": prepared.backup.manifest.seq}
        if params.to_seq is not None:
            result |= await _take_back_prepared(context, call, params, prepared)
        if params.as_shelf is None:
            result["purged_since"] = await _purged_since(context, name, prepared.backup.manifest.seq)
        call.ticket.start()
        if not params.dry_run:
            result["replaced"] = await _put_in_place(context, call, params, prepared)
    finally:
        await stores.discard(prepared)
    if not params.dry_run:
        result["seq"] = (await context.shelves.get(name)).view.log.last_seq
    return result


def _blank(params: ShelfRestoreParams) -> dict[str, Any]:
    return {
        "shelf": params.as_shelf or params.shelf, "backup": None, "replaced": None, "purged_since": [], "kept": [],
        "untouched": {}, "dry_run": params.dry_run,
    }  # fmt: skip


async def _chosen(context: Context, call: Call, params: ShelfRestoreParams) -> str:
    """Return the path of the backup that is meant.

    Raises:
        NotFound: If there is none in the configured directory, or none of this name.
        Forbidden: If the caller may not name a path.
        InvalidParams: If the path is not absolute.
    """
    wanted = params.backup
    if wanted is not None and "/" in wanted:
        _check_may_name_files(context, call, "backup")
        if not PurePath(wanted).is_absolute():
            raise InvalidParams("backup: is neither a name nor an absolute path", field="backup")
        return wanted
    found = await context.shelves.stores.backups(params.shelf)
    for backup in found:
        if wanted in (None, PurePath(backup.path).name):
            return backup.path
    where = context.shelves.stores.backups_directory(params.shelf)
    what = "no backup" if wanted is None else f"no backup {wanted!r}"
    raise NotFound(f"there is {what} of shelf {params.shelf!r} in {where}; shelf.backups lists them", field="backup")


async def _put_in_place(context: Context, call: Call, params: ShelfRestoreParams, prepared: Prepared) -> str | None:
    shelves = context.shelves
    put = partial(shelves.stores.replace, prepared, keep=params.keep_replaced)
    if not shelves.stores.exists(prepared.shelf):
        is_unlimited = context.access.may(call.principal, None, "admin")
        await shelves.create(prepared.shelf, owner=call.principal, is_unlimited=is_unlimited, put=put)
        return None
    check = partial(context.access.check, call.principal, params.shelf, call.method.need)
    async with shelves.closed(prepared.shelf, check):
        return await put()


async def _purged_since(context: Context, name: str, seq: int) -> list[str]:
    """Return what was purged of a shelf after a change, as far as it can be read."""
    if not context.shelves.stores.exists(name):
        return []
    try:
        shelf = await context.shelves.get(name)
        shelf.enter()
    except ShelfError:  # damaged perhaps, which is why it is restored
        return []
    try:
        return await taking_back.purged_since(shelf.view, seq)
    finally:
        shelf.leave()


async def _take_back_prepared(
    context: Context, call: Call, params: ShelfRestoreParams, prepared: Prepared
) -> dict[str, Any]:
    """Take a backup back before it gets into its place."""
    to_seq, last = cast("int", params.to_seq), prepared.backup.manifest.seq
    if to_seq > last:
        raise InvalidParams(
            f"to_seq: the backup ends with change {last}; later ones are in a later backup, or in the shelf itself,"
            " which to_seq without a backup takes back",
            field="to_seq",
            limit=last,
        )
    store = await context.shelves.stores.open_prepared(prepared)
    try:
        cursor = await taking_back.take_back(store, to_seq, call.origin())
        stayed = await taking_back.untouched(store.view, since=to_seq, until=last)
        return {**_said(cursor), "untouched": stayed, "seq": store.view.log.last_seq}
    finally:
        await store.close()


def _said(cursor: Any) -> dict[str, Any]:  # noqa: ANN401
    return {"kept": [dict(zip(_KEPT, one, strict=True)) for one in cursor["kept"]]}


async def _take_back_itself(context: Context, call: Call, params: ShelfRestoreParams) -> dict[str, Any]:
    """Undo what was done to a shelf after a change."""
    to_seq = cast("int", params.to_seq)
    shelf = await context.shelf(call)
    wanted = taking_back.params_to(shelf.view, to_seq)
    stayed = await taking_back.untouched(shelf.view, since=to_seq, until=wanted["until"] - 1)
    result = {**_blank(params), "untouched": stayed, "seq": shelf.view.log.last_seq}
    if params.dry_run:
        return result

    def begin(tx: Transaction) -> Begun | Outcome:
        params_now = taking_back.params_to(tx.rows, to_seq)
        return Begun(undo.UNDO, params_now, undo.new_cursor(params_now))

    ended = await context.carry_out(shelf, call, begin, lambda _shelf, job: dict(job.result or {}))
    return {**result, "kept": ended["kept"], "seq": shelf.view.log.last_seq}


@procedure("shelf.move")
async def move(context: Context, call: Call) -> dict[str, Any]:
    """Give a shelf another name."""
    params = cast("ShelfMoveParams", call.params)
    context.shelves.check_droppable(params.shelf)
    call.ticket.start()
    check = partial(context.access.check, call.principal, params.shelf, call.method.need)
    await context.shelves.rename(params.shelf, params.to, check)
    return {"shelf": params.to, "moved_from": params.shelf}
