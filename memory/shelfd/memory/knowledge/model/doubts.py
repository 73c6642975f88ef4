"""Job: what rules left open when a note was remembered, decided by a language model.

Rules find an older note by what both state, in words that they know; most changes that people tell in their own words
they do not see. A model is shown the older notes that recall finds by the new one's words, too.

Notes that are remembered while a job waits or is at work join it, so that many are decided by few questions. Each
decision is a change of the job's run, which can be taken back.
"""

import asyncio
from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import Any, Final, NamedTuple

from shelfd.memory.errors import ModelUnavailable
from shelfd.memory.jobs.work import Begun, JobKind, Work, put_job
from shelfd.memory.knowledge.evolution.applying import Evolved
from shelfd.memory.knowledge.evolution.verdicts import ADDS, Verdict
from shelfd.memory.knowledge.model.alike import OLDER, older_like
from shelfd.memory.knowledge.model.decisions import BY_MODEL, VERDICTS, OpenStatement, Operation, decisions_by_model
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.notes.note import Note
from shelfd.memory.ports.job import draw_run_id
from shelfd.memory.ports.language_model import NO_ANSWER
from shelfd.memory.ports.log import Origin
from shelfd.memory.ports.view import View

EVOLUTION: Final = JobKind("evolution", can_end_early=True)
#: Notes that join one job; of these, how many one question is about.
_MOST: Final = 200
_AT_ONCE: Final = 20
#: How often a model that cannot be reached is asked, until what rules decided stands.
_ATTEMPTS: Final = 4


class Doubt(NamedTuple):
    """A note, and older ones that it may change, as they were when it was stored; by id and rev."""

    nugget: str
    note: tuple[str, int]
    older: Sequence[tuple[str, int]]
    seeks: bool  #: those that recall finds by its words are looked at, too


def doubt_of(tx: Transaction, evolved: Evolved, *, seeks: bool) -> Doubt | None:
    """Return what rules left open of a note that was just stored: older ones that may be about the same, or contradict.

    None if they left nothing open, or no language model may see it.

    Args:
        tx: The transaction that stored it.
        evolved: What became of it by the rules.
        seeks: Whether older notes that are like it are looked for, if it is no fact and the rules had it replace none.
    """
    note, judged = evolved.note, evolved.judged
    left = [note_id for note_id, one in judged.items() if one == ADDS or one.verdict is Verdict.CONFLICT]
    seeks = seeks and evolved.status == "created" and not note.quarantined and note.key is None
    nugget = tx.nugget(note.nugget) if left or seeks else None
    if nugget is None or nugget.local_only:
        return None
    older = sorted(tx.rows.notes.by_ids(left).values(), key=lambda one: -one.row)[:OLDER]
    return Doubt(note.nugget, (note.id, note.rev), [(one.id, one.rev) for one in older], seeks)


def with_decision(view: View, outcome: Mapping[str, Any]) -> dict[str, Any]:
    """Return what became of a note, with what was decided later if it was by now; ``pending`` are jobs that go on."""
    found = dict(outcome)
    jobs = [job for job_id in outcome["pending"] if (job := view.jobs.get(job_id)) is not None]
    found["pending"] = [job.id for job in jobs if job.is_unfinished]
    for one in (one for job in jobs for one in (job.result or {}).get("results", ())):
        if one["id"] == outcome["id"]:
            found["status"], found["id"] = one["status"], one["note"]
            found["superseded"] = [*found.get("superseded", ()), *one["superseded"]]
    return found


def put_doubt(tx: Transaction, doubt: Doubt, origin: Origin) -> str:
    """Have a note decided on later; return the id of the job that will.

    Args:
        tx: The transaction that stores the note.
        doubt: What is open.
        origin: Who remembered it.
    """
    older = [list(one) for one in doubt.older[:OLDER]]
    piece = {"nugget": doubt.nugget, "note": list(doubt.note), "older": older, "seeks": doubt.seeks}
    for _, job in tx.rows.jobs.page(unfinished=True, before=None, limit=1, kind=EVOLUTION.name):
        number = job.cursor["total"]
        if job.principal == origin.principal and not job.cursor["closed"] and number < _MOST:
            tx.rows.jobs.put_piece(job.id, number, piece)
            tx.rows.jobs.put(job._replace(cursor={**job.cursor, "total": number + 1}))
            return job.id
    cursor = {"done": 0, "total": 1, "closed": False, "results": []}
    own = Origin(origin.principal, origin.method, origin.request_id, run_id=draw_run_id())
    return put_job(tx, Begun(EVOLUTION, {}, cursor, {0: piece}), own).id


async def run(work: Work) -> Mapping[str, Any]:
    """Decide what is left; return what was decided."""
    while not work.cursor["closed"]:
        await _decide_next(work)
        await work.shelf.reach(None)
        await asyncio.sleep(0)

    def end(tx: Transaction, cursor: dict[str, Any]) -> dict[str, Any]:
        tx.rows.jobs.delete_pieces(work.job.id)
        return {"results": cursor["results"]}

    return await work.finish(end)


async def _decide_next(work: Work) -> None:
    done = work.cursor["done"]
    page = work.shelf.view.jobs.pieces(work.job.id, after=done - 1, limit=_AT_ONCE)
    pieces = [*takewhile(lambda piece: piece["nugget"] == page[0][1]["nugget"], (piece for _, piece in page))]
    if any(map(_seeks, pieces)):
        await work.shelf.reach(None)
    known: list[OpenStatement | None] = []
    for piece in pieces:
        known.append(await _known(work, piece))
        await asyncio.sleep(0)  # to look for notes takes a millisecond or some
    open_ = [one for one in known if one is not None]
    operations = await _asked(work, open_, pieces[0]["nugget"]) if open_ else []
    by_text = iter(operations)
    decided = [None if one is None else next(by_text) for one in known]

    def apply(tx: Transaction, cursor: dict[str, Any]) -> None:
        if cursor["done"] != done:
            return  # another attempt, cut short since, had one more step in the writer's queue
        for piece, operation in zip(pieces, decided, strict=True):
            if (result := _carry_out(tx, piece, operation)) is not None:
                cursor["results"].append(result)
        cursor["done"] += len(pieces)
        cursor["closed"] = not pieces or cursor["done"] == cursor["total"]  # nobody joins from here on

    await work.step(apply)


async def _known(work: Work, piece: Mapping[str, Any]) -> OpenStatement | None:
    """What is to be decided, unless it is no longer open."""
    view = work.shelf.view
    ids = [note_id for note_id, _ in (piece["note"], *piece["older"])]
    notes = view.notes.by_ids(ids)
    note = notes.get(ids[0])
    if note is None or not note.live or note.rev != piece["note"][1]:
        return None
    older = [
        one
        for note_id, rev in piece["older"]
        if (one := notes.get(note_id)) is not None and one.rev == rev and one.live
    ]
    if _seeks(piece):
        like = await older_like(work.shelf, note, k=OLDER)
        older += [one for one in like if one.id not in ids][: OLDER - len(older)]
    if not older:
        return None
    return OpenStatement(f"{note.title}: {note.content}" if note.key else note.content, older)


def _seeks(piece: Mapping[str, Any]) -> bool:
    return bool(piece.get("seeks"))  # a piece that an older daemon left has none


async def _asked(work: Work, facts: Sequence[OpenStatement], nugget: str) -> Sequence[Operation | None]:
    """What a model decides; nothing if it does not answer.

    Raises:
        ModelUnavailable: If it cannot be reached, and is worth another attempt.
    """
    try:
        return await decisions_by_model(work.shelf.model, facts, nugget=nugget)
    except ModelUnavailable:
        if work.job.attempts < _ATTEMPTS:
            raise
    except NO_ANSWER:  # the log has said why
        pass
    return [None] * len(facts)


def _carry_out(tx: Transaction, piece: Mapping[str, Any], operation: Operation | None) -> dict[str, Any] | None:
    """Have one note stand for another, as a model decided; None if nothing is to be done."""
    note_id, rev = piece["note"]
    note = tx.rows.notes.get(note_id)
    if operation is None or operation.note is None or not _is_open(note, rev):
        return None
    older = tx.rows.notes.get(operation.note.id)
    if not _is_open(older, operation.note.rev):
        return None
    assert note is not None
    assert older is not None
    if operation.name == "NOOP":
        tx.supersede(note, older.id, reason=BY_MODEL)
        return {"id": note.id, "status": "noop", "superseded": [], "note": older.id}
    if note.when < older.when:  # what speaks of an earlier time replaces nothing
        return None
    tx.supersede(older, note.id, reason=BY_MODEL)
    status = str(VERDICTS[operation.name])
    return {"id": note.id, "status": status, "superseded": [older.id], "note": note.id}


def _is_open(note: Note | None, rev: int) -> bool:
    return note is not None and note.live and note.rev == rev
