"""Job: store the facts of a report, a chunk at a step.

The text lies beside the job, in pieces; each gives way to what became of it, and all go with the job's end.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Final

from shelfd.memory.errors import Conflict
from shelfd.memory.jobs.work import JobKind, Work
from shelfd.memory.knowledge.distilling.applying import About, store_facts
from shelfd.memory.knowledge.distilling.engines import distil
from shelfd.memory.knowledge.model.checked import RULES
from shelfd.memory.log.transaction import Transaction

DISTILLATION: Final = JobKind("distillation", can_end_early=True)
#: Piece 0 says what the notes have in common; chunks follow.
_ABOUT: Final = 0
_PAGE: Final = 64


def pieces_of(about: About, chunks: Sequence[str]) -> dict[int, dict[str, Any]]:
    """Return a report as pieces of a job."""
    return {_ABOUT: about._asdict(), **{number: {"text": text} for number, text in enumerate(chunks, 1)}}


def new_cursor(*, total: int) -> dict[str, Any]:
    """Return where the reading of *total* chunks begins."""
    return {"done": 0, "total": total, "engines": []}


async def run(work: Work) -> Mapping[str, Any]:
    """Store the facts of what is left; return what became of all."""
    while work.cursor["done"] < work.cursor["total"]:
        await _store_next(work)
        await work.shelf.reach(None)  # the next chunk knows what this one said
        await asyncio.sleep(0)

    def end(tx: Transaction, cursor: dict[str, Any]) -> dict[str, Any]:
        engines = cursor["engines"] or [RULES]
        results = [one for piece in _pieces(tx, work.job.id) for one in piece.get("results", ())]
        tx.rows.jobs.delete_pieces(work.job.id)
        return {"engine": engines[0] if len(engines) == 1 else "mixed", "results": results}

    return await work.finish(end)


def _pieces(tx: Transaction, job_id: str) -> list[Mapping[str, Any]]:
    found: list[Mapping[str, Any]] = []
    after = _ABOUT
    while page := tx.rows.jobs.pieces(job_id, after=after, limit=_PAGE):
        found += [piece for _, piece in page]
        after = page[-1][0]
    return found


async def _store_next(work: Work) -> None:
    done = work.cursor["done"]
    jobs = work.shelf.view.jobs
    first, found = jobs.pieces(work.job.id, after=-1, limit=1), jobs.pieces(work.job.id, after=done, limit=1)
    if not first or not found or found[0][0] != done + 1 or "text" not in found[0][1]:
        raise Conflict("what is left to read went with a purge; send the report again", job=work.job.id)
    about = About(**first[0][1])
    distilled = await distil(work.shelf, found[0][1]["text"], about.reader)

    def apply(tx: Transaction, cursor: dict[str, Any]) -> None:
        if cursor["done"] != done:
            return  # another attempt, cut short since, had one more step in the writer's queue
        results = store_facts(tx, distilled, about, f"{about.ref}:chunk:{done}", work.limits)
        tx.rows.jobs.put_piece(work.job.id, done + 1, {"results": results})
        cursor["done"] += 1
        cursor["engines"] = sorted({*cursor["engines"], distilled.engine})

    origin = work.job.origin()._replace(session_id=about.given.get("session_id"), turn=about.given.get("turn"))
    await work.step(apply, origin)
