"""Job: extract several turns of a conversation, a turn at a step.

What was said lies beside the job, in pieces, until the job is done.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Final

from shelfd.memory.errors import Conflict
from shelfd.memory.jobs.work import JobKind, Work
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.ports.log import Origin
from shelfd.memory.ports.view import View
from shelfd.memory.sessions.extraction.applying import apply_turn, last_digest
from shelfd.memory.sessions.extraction.engines import RULES, make_operations
from shelfd.memory.sessions.extraction.turns import Message, Op, TurnBatch
from shelfd.memory.sessions.reading import open_reading

EXTRACTION: Final = JobKind("extraction", can_end_early=True)
#: Turns before the one at hand that help to understand it.
_EARLIER: Final = 2
#: Unfinished jobs that are looked at for one of a conversation.
_LOOKED_AT: Final = 1000


def check_idle(view: View, session_id: str) -> None:
    """Raise if turns of a conversation are being extracted by a job.

    Raises:
        Conflict: If they are.
    """
    for _, job in view.jobs.page(unfinished=True, before=None, limit=_LOOKED_AT):
        if job.kind == EXTRACTION.name and job.params["session_id"] == session_id:
            text = "turns of this conversation are being extracted; wait for the job's end, or cancel it"
            raise Conflict(text, field="session_id", reason="EXTRACTION_UNDER_WAY", job=job.id)


def pieces_of(batches: Sequence[TurnBatch]) -> dict[int, dict[str, Any]]:
    """Return turns as pieces of a job, from 0."""
    return {
        at: {"turn": batch.turn, "messages": [list(message) for message in batch.messages]}
        for at, batch in enumerate(batches)
    }


def new_cursor(*, total: int) -> dict[str, Any]:
    """Return where an extraction of *total* turns begins."""
    return {"done": 0, "total": total, "operations": 0, "extracted": [], "skipped": [], "refused": [], "engines": []}


def result_of(cursor: Mapping[str, Any]) -> dict[str, Any]:
    """Return what became of the turns."""
    return {name: cursor[name] for name in ("operations", "extracted", "skipped", "refused")}


async def run(work: Work) -> Mapping[str, Any]:
    """Extract what is left; return what became of the turns."""
    while work.cursor["done"] < work.cursor["total"]:
        await _extract_next(work)
        await work.shelf.reach(None)  # the next turn knows what this one said
        await asyncio.sleep(0)
    engines = work.cursor["engines"] or [RULES]
    result = {"engine": engines[0] if len(engines) == 1 else "mixed", **result_of(work.cursor)}

    def end(tx: Transaction, _cursor: dict[str, Any]) -> dict[str, Any]:
        tx.rows.jobs.delete_pieces(work.job.id)
        return result

    return await work.finish(end)


async def _extract_next(work: Work) -> None:
    number, session_id = work.cursor["done"], work.job.params["session_id"]
    first = max(0, number - _EARLIER)
    found = work.shelf.view.jobs.pieces(work.job.id, after=first - 1, limit=number - first + 1)
    if not found or found[-1][0] != number:
        raise Conflict("what is left to extract went with a purge; extract it again", job=work.job.id)
    *earlier, batch = (
        TurnBatch(piece["turn"], tuple(Message(*message) for message in piece["messages"])) for _, piece in found
    )
    reading = await open_reading(work.shelf, session_id)
    origin = work.job.origin()._replace(session_id=session_id, turn=batch.turn)

    async def attempt(engine: str, ops: Sequence[Op]) -> list[str]:
        return await _attempt(work, number, batch, ops, engine, origin)

    if last_digest(work.shelf.view, session_id, batch.turn) is None:
        await make_operations(batch, reading, attempt, earlier)
    if work.cursor["done"] == number:  # it was extracted before, or what was made of it does not stand
        await _attempt(work, number, batch, (), RULES, origin, is_last=True)


async def _attempt(
    work: Work,
    number: int,
    batch: TurnBatch,
    ops: Sequence[Op],
    engine: str,
    origin: Origin,
    *,
    is_last: bool = False,
) -> list[str]:
    """Carry out the operations of a turn; return what is wrong with them, and go on if there is nothing.

    Args:
        work: The job.
        number: Of the turn's piece.
        batch: The turn.
        ops: What was made of it.
        engine: What made that.
        origin: What the log rows name.
        is_last: Go on in any case.
    """
    session_id, limits = work.job.params["session_id"], work.limits

    def apply(tx: Transaction, cursor: dict[str, Any]) -> list[str]:
        if cursor["done"] != number:
            return []  # another attempt, cut short since, had one more step in the writer's queue
        digest = last_digest(tx.rows, session_id, batch.turn, tx.variant or 0)
        if digest is not None or is_last:
            cursor["skipped" if digest == batch.digest else "refused"].append(batch.turn)
        else:
            outcome = apply_turn(tx, session_id, batch, ops, engine, limits)
            if outcome["rejected"]:
                return [each["error"]["message"] for each in outcome["rejected"]]
            cursor["operations"] += outcome["operations"]
            cursor["extracted"].append(batch.turn)
            cursor["engines"] = sorted({*cursor["engines"], engine})
        cursor["done"] += 1
        return []

    return await work.step(apply, origin)
