"""Use cases on promotion: what is recalled again and again goes to MEMORY.md."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, cast

from shelfd.memory.call import Call
from shelfd.memory.errors import Forbidden
from shelfd.memory.jobs.begin import Begun, carry_out
from shelfd.memory.jobs.work import JobKind, Work
from shelfd.memory.log.idempotency import check_key
from shelfd.memory.methods.registry import whole
from shelfd.protocol.methods.promotion import PreviewParams, PromoteParams

if TYPE_CHECKING:
    from shelfd.memory.methods.service import Service


async def _run(work: Work) -> Mapping[str, Any]:
    return await work.service.promoter.promote(work)


PROMOTION: Final = JobKind("promotion", _run, has_slot=True)


@whole("promote")
@whole("promote_facts")
async def promote(service: "Service", call: Call) -> dict[str, Any]:
    """Write the shelf's promoted notes to MEMORY.md."""
    params = cast("PromoteParams", call.params)
    _check_project(service, call, params.project)
    shelf = await service.shelf(call)
    if params.dry_run or (await service.promoter.target(shelf, params.project)).path is None:
        check_key(shelf.view, call, shelf.settings.idempotency_retention, now=shelf.clock.now())
        shelf.enter()
        try:
            return dict(await service.promoter.rehearse(shelf, project=params.project))
        finally:
            shelf.leave()
    wanted = {} if params.project is None else {"project": params.project}
    return await carry_out(
        service, shelf, call, lambda _tx: Begun(PROMOTION, wanted, {}), lambda job: dict(job.result or {})
    )


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
