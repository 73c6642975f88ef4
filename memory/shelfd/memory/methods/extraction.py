"""Use case: session.extract."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final, cast
from weakref import WeakKeyDictionary

from shelfd.memory.call import Call
from shelfd.memory.errors import Conflict
from shelfd.memory.jobs.work import Begun, as_job
from shelfd.memory.log.idempotency import Outcome, RolledBack
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.methods.context import Context
from shelfd.memory.methods.registry import Answer, procedure
from shelfd.memory.methods.rewinding import retract_turn
from shelfd.memory.ports.job import Job, draw_run_id
from shelfd.memory.ports.view import View
from shelfd.memory.sessions.extraction import job as extracting
from shelfd.memory.sessions.extraction.applying import apply_turn, last_digest
from shelfd.memory.sessions.extraction.engines import engine_for, make_operations
from shelfd.memory.sessions.extraction.turns import Message, Op, TurnBatch
from shelfd.memory.sessions.reading import open_reading
from shelfd.memory.sessions.rewinding import was_taken_back
from shelfd.memory.sessions.session import write_session
from shelfd.memory.shelf.locks import NameLocks
from shelfd.memory.shelf.shelf import Shelf
from shelfd.protocol.methods.extraction import ExtractParams

#: By shelf and session: a turn is extracted when what was said before it is known.
_ONE_BY_ONE: Final[WeakKeyDictionary[Shelf, NameLocks]] = WeakKeyDictionary()


def batches_of(params: ExtractParams) -> list[TurnBatch]:
    """Return what was said in each turn, by turn."""
    turns: dict[int, list[Message]] = {}
    for message in params.turns:
        turn = message.turn or params.turn
        assert turn is not None  # the model of the params sees to that
        turns.setdefault(turn, []).append(Message(message.text, message.role, message.author, message.occurred_at))
    return [TurnBatch(turn, tuple(turns[turn])) for turn in sorted(turns)]


@procedure("session.extract")
async def extract(context: Context, call: Call) -> Answer:
    """Take notes and links from what was said: of one turn in its own transaction, of several as a job."""
    params = cast("ExtractParams", call.params)
    shelf = await context.shelf(call)
    batches = batches_of(params)
    shelf.enter()
    try:
        if len(batches) > 1:
            return await _as_job(context, shelf, call, batches)
        call.params = params.model_copy(update={"turn": batches[0].turn})  # what its log rows name
        async with _ONE_BY_ONE.setdefault(shelf, NameLocks()).held(params.session_id):
            return await _at_once(context, shelf, call, batches[0])
    finally:
        shelf.leave()


async def _at_once(context: Context, shelf: Shelf, call: Call, batch: TurnBatch) -> Answer:
    params = cast("ExtractParams", call.params)
    await shelf.reach(None)
    reading = await open_reading(shelf, params.session_id)
    digest = last_digest(shelf.view, params.session_id, batch.turn)
    told: Answer = {}
    if params.again and digest not in (None, batch.digest):
        told = {"taken_back": await _take_back(context, shelf, call, batch.turn)}
        await shelf.reach(None)
        reading, digest = await open_reading(shelf, params.session_id), None
    answer: Answer = {}
    begun = shelf.view.log.last_seq
    made: list[Op] = []

    async def attempt(engine: str, ops: Sequence[Op]) -> list[str]:
        def carry_out(tx: Transaction) -> Outcome:
            extracting.check_idle(tx.rows, params.session_id)
            _check_standing(tx.rows, params.session_id, batch.turn, since=begun + 1)
            outcome = apply_turn(tx, params.session_id, batch, ops, engine, call.limits)
            if outcome["rejected"] or params.dry_run:
                raise RolledBack({**outcome, "run_id": None, "dry_run": params.dry_run})
            return {**outcome, "run_id": call.run_id}

        answer.clear()
        answer.update(await context.carry_out(shelf, call, carry_out, _ended))
        made[:] = ops
        return [each["error"]["message"] for each in answer["rejected"]]

    if digest is None:
        await make_operations(batch, reading, attempt)
    else:
        await attempt(engine_for(shelf, reading.session.nugget), ())
    return answer | told | ({"ops": made} if made and "replayed" not in answer else {})


async def _take_back(context: Context, shelf: Shelf, call: Call, turn: int) -> str:
    """Take back what a turn wrote; return the run that did."""
    params = cast("ExtractParams", call.params)
    # Its log rows are no part of the turn, and a request that is repeated goes on after it.
    about = params.model_copy(update={"turn": None, "idempotency_key": None})
    own = replace(call, params=about, repeat=None, run_id=draw_run_id())
    done = await context.carry_out(shelf, own, lambda tx: retract_turn(tx, params.session_id, turn, own), _ended)
    return str(done["run_id"])


def _check_standing(view: View, session_id: str, turn: int, *, since: int) -> None:
    """Raise if a turn was taken back while it was extracted.

    Raises:
        Conflict: If it was; what was made of it is not written.
    """
    if was_taken_back(view, session_id, turn, since=since):
        text = f"turns: turn {turn} was taken back, or got another variant, while it was extracted"
        raise Conflict(text, field="turns", reason="TURN_RETRACTED", turn=turn)


async def _as_job(context: Context, shelf: Shelf, call: Call, batches: Sequence[TurnBatch]) -> Answer:
    params = cast("ExtractParams", call.params)

    def begin(tx: Transaction) -> Begun:
        session = write_session(tx, params.session_id, batches[-1].turn)
        extracting.check_idle(tx.rows, session.session_id)
        named = {"session_id": session.session_id, "from_turn": batches[0].turn, "turn": batches[-1].turn}
        cursor = extracting.new_cursor(total=len(batches))
        return Begun(extracting.EXTRACTION, named, cursor, extracting.pieces_of(batches))

    if params.sync:
        return await context.carry_out(shelf, call, begin, _ended)
    call.run_id = call.run_id or draw_run_id()
    retention = shelf.settings.idempotency_retention
    changed = await shelf.change(call, as_job(lambda tx, _params, _call: begin(tx), retention))
    job = changed.outcome["job"]
    context.jobs(shelf).start(job)
    session = shelf.view.sessions.get(params.session_id)
    engine = engine_for(shelf, "" if session is None else session.nugget)
    told = {"engine": engine, "extracted": [], "skipped": [], "operations": 0, "job": job, "run_id": call.run_id}
    return told | ({"replayed": True} if changed.replayed else {})


def _ended(_shelf: Shelf, job: Job) -> dict[str, Any]:
    return {**(job.result or {}), "job": job.id, "run_id": job.run_id}
