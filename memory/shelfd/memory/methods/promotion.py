"""Use cases on promotion: what is recalled again and again goes to MEMORY.md."""

from typing import Any, Final, cast

from shelfd.memory.call import Call
from shelfd.memory.errors import Forbidden
from shelfd.memory.jobs.work import Begun, JobKind
from shelfd.memory.log.idempotency import check_key
from shelfd.memory.methods.context import Context
from shelfd.memory.methods.registry import procedure
from shelfd.protocol.methods.promotion import PreviewParams, PromoteParams

PROMOTION: Final = JobKind("promotion", has_slot=True)


@procedure("promote")
@procedure("promote_facts")
async def promote(context: Context, call: Call) -> dict[str, Any]:
    """Write the shelf's promoted notes to MEMORY.md."""
    params = cast("PromoteParams", call.params)
    _check_project(context, call, params.project)
    shelf = await context.shelf(call)
    if params.dry_run or (await context.promoter.target(shelf, params.project)).path is None:
        check_key(shelf.view, call, shelf.settings.idempotency_retention, now=shelf.clock.now())
        shelf.enter()
        try:
            return dict(await context.promoter.dry_run(shelf, project=params.project))
        finally:
            shelf.leave()
    wanted = {} if params.project is None else {"project": params.project}
    return await context.carry_out(
        shelf, call, lambda _tx: Begun(PROMOTION, wanted, {}), lambda _shelf, job: dict(job.result or {})
    )


@procedure("promotion.preview")
async def preview(context: Context, call: Call) -> dict[str, Any]:
    """Say which line of MEMORY.md is which note's, and what a promotion would do to it."""
    params = cast("PreviewParams", call.params)
    _check_project(context, call, params.project)
    shelf = await context.shelf(call)
    shelf.enter()
    try:
        await shelf.reach(params.min_seq)
        if call.room is not None and (wait := call.room()) is not None:
            await wait
        return await context.promoter.preview(shelf, project=params.project)
    finally:
        shelf.leave()


def _check_project(context: Context, call: Call, project: str | None) -> None:
    """Raise unless the caller may name *project*: its file is the daemon's user's, and agents take it at its word.

    Raises:
        Forbidden: If only an administrator may.
    """
    if project is None or context.access.may(call.principal, None, "admin") or context.promoter.is_open(project):
        return
    raise Forbidden(
        f"{call.principal} is no administrator, who may have any project's MEMORY.md written; "
        "promotion.projects in the daemon's configuration can list the project for everyone",
        field="project",
    )
