"""Use cases that make notes of the facts in a text: remember_with_extraction, remember_report."""

import asyncio
from collections.abc import Sequence
from typing import Any, Final, cast

from shelfd.memory.call import Call
from shelfd.memory.jobs.work import Begun, as_job
from shelfd.memory.knowledge.distilling import job as distilling
from shelfd.memory.knowledge.distilling.applying import About, store_facts
from shelfd.memory.knowledge.distilling.engines import Distilled, distil
from shelfd.memory.knowledge.distilling.splitting import cut_chunks
from shelfd.memory.knowledge.model.checked import LLM, RULES
from shelfd.memory.log.idempotency import Outcome, outcome_before, payload_of, repeat_of
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.methods.context import Context
from shelfd.memory.methods.registry import Answer, procedure
from shelfd.memory.methods.render import NoteRenderer
from shelfd.memory.ports.job import Job, draw_run_id
from shelfd.memory.shelf.shelf import Shelf
from shelfd.protocol.base import to_micros
from shelfd.protocol.methods.distilling import (
    DistilParams,
    RememberReportParams,
    RememberWithExtractionParams,
    published_at,
)

#: Characters of a text that is looked through in a thread.
_LONG: Final = 16_000
#: Params that become those of each note as they are.
_GIVEN: Final = (
    "nugget", "tags", "scope", "tier", "author", "session_id", "turn", "source_type", "domain", "occurred_at",
    "valid_from",
)  # fmt: skip


@procedure("remember_with_extraction")
async def remember_with_extraction(context: Context, call: Call) -> Answer:
    """Store the facts of a text in one transaction."""
    params = cast("RememberWithExtractionParams", call.params)
    shelf = await context.shelf(call)
    shelf.enter()
    try:
        told = await _admitted(shelf, call, params.context, "context")
        text = await _admitted(shelf, call, params.content, "content")
        return await _at_once(context, shelf, call, _about(params, params.source_ref, told), text)
    finally:
        shelf.leave()


@procedure("remember_report")
async def remember_report(context: Context, call: Call) -> Answer:
    """Store the facts of a report: of one chunk in one transaction, of several as a job."""
    params = cast("RememberReportParams", call.params)
    shelf = await context.shelf(call)
    shelf.enter()
    try:
        told = f"Published: {params.published_date}" if params.published_date else ""
        about = _about(params, params.source_url or "report", told, **_dated(shelf, params.published_date))
        parts = await cut_chunks(await _admitted(shelf, call, params.content, "content"), params.chunk_size)
        if len(parts) > 1:
            return await _as_job(context, shelf, call, about, parts)
        return await _at_once(context, shelf, call, about._replace(ref=f"{about.ref}:chunk:0"), parts[0])
    finally:
        shelf.leave()


async def _admitted(shelf: Shelf, call: Call, text: str, field: str) -> str:
    """The text without what must not be kept, which no model is shown and no job has beside it either.

    Raises:
        GovernanceViolation: If nothing of it may be kept.
    """
    if len(text) < _LONG:
        return shelf.intake.admit_line(text, field, call.origin()) if text else text
    return await asyncio.to_thread(shelf.intake.admit_line, text, field, call.origin())


def _about(params: DistilParams, ref: str, told: str, **beside: Any) -> About:  # noqa: ANN401
    given = {name: value for name in _GIVEN if (value := getattr(params, name, None)) is not None}
    return About(ref, given | beside, told, params.min_importance, params.max_facts)


def _dated(shelf: Shelf, published: str) -> dict[str, Any]:
    """What is said of a note that stands in a report of this day, or nothing."""
    if not published:
        return {"source_type": "report"}
    moment = published_at(published)
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=shelf.settings.timezone)
    return {"source_type": "report", "occurred_at": to_micros(moment), "valid_from": to_micros(moment)}


async def _at_once(context: Context, shelf: Shelf, call: Call, about: About, text: str) -> Answer:
    distilled = Distilled(RULES)
    if not _is_repeated(shelf, call):
        distilled = await distil(shelf, text, about.reader)

    def carry_out(tx: Transaction) -> Outcome:
        results = store_facts(tx, distilled, about, about.ref, call.limits)
        return {"engine": distilled.engine, "results": results, "run_id": call.run_id}

    return _shown(shelf, await context.carry_out(shelf, call, carry_out, _ended))


def _is_repeated(shelf: Shelf, call: Call) -> bool:
    """Whether the request was carried out before, so that nothing has to be read for it."""
    retention = shelf.settings.idempotency_retention
    repeat = repeat_of(call, retention)
    return repeat is not None and (
        outcome_before(shelf.view, call, repeat, payload=payload_of(call), now=shelf.clock.now()) is not None
    )


async def _as_job(context: Context, shelf: Shelf, call: Call, about: About, parts: Sequence[str]) -> Answer:
    params = cast("RememberReportParams", call.params)

    def begin(_tx: Transaction) -> Begun:
        named = {"nugget": params.nugget, "session_id": params.session_id}
        cursor = distilling.new_cursor(total=len(parts))
        return Begun(distilling.DISTILLATION, named, cursor, distilling.pieces_of(about, parts))

    if params.sync:
        return _shown(shelf, await context.carry_out(shelf, call, begin, _ended))
    call.run_id = call.run_id or draw_run_id()
    retention = shelf.settings.idempotency_retention
    changed = await shelf.change(call, as_job(lambda tx, _params, _call: begin(tx), retention))
    job = changed.outcome["job"]
    context.jobs(shelf).start(job)
    engine = LLM if shelf.model.may_see(params.nugget) else RULES
    told = {"results": [], "engine": engine, "pending": [job], "job": job, "run_id": call.run_id}
    return told | ({"replayed": True} if changed.replayed else {})


def _ended(_shelf: Shelf, job: Job) -> dict[str, Any]:
    return {**(job.result or {"engine": RULES, "results": []}), "job": job.id, "run_id": job.run_id}


def _shown(shelf: Shelf, answer: Answer) -> Answer:
    """The answer with the notes as they are now, the most important first."""
    stored = sorted(answer["results"], key=lambda one: -one["importance"])
    notes = shelf.view.notes.by_ids(list(dict.fromkeys(one["id"] for one in stored)))
    show = NoteRenderer(shelf.view, shelf.usage.of([*notes.values()]), shelf.view.links.leaving([*notes]), full=False)
    results = []
    for one in stored:
        shown = {name: value for name, value in one.items() if name != "id"}
        results.append(shown | ({"note": show(notes[one["id"]])} if one["id"] in notes else {}))
    return {"pending": [], **answer, "results": results}
