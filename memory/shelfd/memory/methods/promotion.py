"""Use cases on promotion: what is recalled again and again goes to MEMORY.md."""

import asyncio
from typing import TYPE_CHECKING, Any, cast

from shelfd.memory.call import Call
from shelfd.memory.errors import Forbidden
from shelfd.memory.log.idempotency import told_before
from shelfd.memory.methods.registry import whole
from shelfd.memory.ports.ledger import draw_run_id
from shelfd.memory.shelf.shelf import Shelf
from shelfd.protocol.methods.promotion import PreviewParams, PromoteParams

if TYPE_CHECKING:
    from shelfd.memory.methods.service import Service


@whole("promote")
@whole("promote_facts")
async def promote(service: "Service", call: Call) -> dict[str, Any]:
    """Write the shelf's promoted notes to MEMORY.md."""
    params = cast("PromoteParams", call.params)
    _check_project(service, call, params.project)
    shelf = await service.shelf(call)
    shelf.enter()
    try:
        retention, now = shelf.settings.idempotency_retention, shelf.clock.now()
        if (known := told_before(shelf.view, call, retention, now=now)) is not None:
            return known | {"replayed": True}
        call.ticket.start()
        call.run_id = call.run_id or draw_run_id()
        # Between the file and the shelf's record of it nobody's going away may come.
        work = asyncio.ensure_future(_promote(service, shelf, call, params))
    finally:
        shelf.leave()
    work.add_done_callback(lambda done: done.cancelled() or done.exception())  # nobody may be waiting
    return await asyncio.shield(work)


@whole("promotion.preview")
async def preview(service: "Service", call: Call) -> dict[str, Any]:
    """Say which line of MEMORY.md is which note's, and what a promotion would do to it."""
    params = cast("PreviewParams", call.params)
    _check_project(service, call, params.project)
    shelf = await service.shelf(call)
    shelf.enter()
    try:
        await shelf.reach(params.min_seq)
        if call.room is not None and (wait := call.room()) is not None:
            await wait
        return await service.promoter.preview(shelf, project=params.project)
    finally:
        shelf.leave()


def _check_project(service: "Service", call: Call, project: str | None) -> None:
    """Raise unless the caller may name *project*: its file is the daemon's user's, and agents take it at its word.

    Raises:
        Forbidden: If only an administrator may.
    """
    if project is None or service.access.may(call.principal, None, "admin") or service.promoter.is_open(project):
        return
    raise Forbidden(
        f"{call.principal} is no administrator, who may have any project's MEMORY.md written; "
        "promotion.projects in the daemon's configuration can list the project for everyone",
        field="project",
    )


async def _promote(service: "Service", shelf: Shelf, call: Call, params: PromoteParams) -> dict[str, Any]:
    shelf.enter()
    try:
        return await service.promoter.promote(shelf, call, project=params.project, dry_run=params.dry_run)
    finally:
        shelf.leave()
