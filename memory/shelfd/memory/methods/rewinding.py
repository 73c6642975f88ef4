"""Use cases that rewind conversations: take turns back, switch between alternatives of a turn."""

from collections.abc import Iterator, Mapping
from typing import Any, Final, cast

from shelfd.memory.call import Call
from shelfd.memory.errors import Conflict, InvalidParams, SessionFrozen
from shelfd.memory.jobs import Job
from shelfd.memory.jobs.work import Begun
from shelfd.memory.log.idempotency import Outcome, check_key
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.methods.context import Context
from shelfd.memory.methods.registry import job
from shelfd.memory.notes.note import EMPTY
from shelfd.memory.ports.view import View
from shelfd.memory.sessions import rewinding
from shelfd.memory.sessions.branching import branched_at
from shelfd.memory.sessions.rewinding import REWIND, Intent
from shelfd.memory.sessions.session import get_session, write_session
from shelfd.memory.shelf.shelf import Shelf
from shelfd.memory.shelf.turns import check_turn
from shelfd.protocol.methods.rewinding import RetractTurnsParams, SelectVariantParams

#: The kind of job that makes memory of turns: what turns were taken back must not go on.
_EXTRACTION: Final = "extraction"
_PAGE: Final = 100


def _ended(_shelf: Shelf, job: Job) -> dict[str, Any]:
    return {"run_id": job.run_id, "dry_run": False, **job.params["about"], **(job.result or {})}


async def _preview_retraction(_context: Context, shelf: Shelf, call: Call) -> dict[str, Any]:
    params = cast("RetractTurnsParams", call.params)
    check_key(shelf.view, call, shelf.settings.idempotency_retention, now=shelf.clock.now())
    _check_retraction(shelf.view, params, shelf.clock.now())
    found = await rewinding.preview(shelf.view, rewinding.retracting(shelf.view, params.session_id, params.from_turn))
    cancelled = [one.id for one in _extractions(shelf.view, params.session_id, params.from_turn, None)]
    return {"run_id": None, "session_id": params.session_id, "dry_run": True, **found, "cancelled": cancelled}


def _check_retraction(view: View, params: RetractTurnsParams, now: int) -> None:
    check_session(view, params.session_id, now, turn=params.from_turn, field="from_turn")
    copied = branched_at(view, params.session_id)
    if copied is not None and params.from_turn <= copied:
        text = (
            f"from_turn: what turns up to {copied} wrote was copied when this session branched, it is not its own;"
            " branch the original at an earlier turn"
        )
        raise Conflict(text, field="from_turn", reason="BRANCHED", first_turn=copied + 1)


@job("session.retract_turns", ended=_ended, dry_run=_preview_retraction)
def retract_turns(tx: Transaction, params: RetractTurnsParams, call: Call) -> Begun | Outcome:
    """Take back what a conversation's turns from one on added and changed."""
    write_session(tx, params.session_id)
    _check_retraction(tx.rows, params, tx.now)
    intent = rewinding.retracting(tx.rows, params.session_id, params.from_turn)
    about = {"session_id": params.session_id}
    return begin_rewind(tx, intent, call, about, event={"from_turn": params.from_turn}, turns=(params.from_turn, None))


async def _preview_selection(_context: Context, shelf: Shelf, call: Call) -> dict[str, Any]:
    params = cast("SelectVariantParams", call.params)
    check_key(shelf.view, call, shelf.settings.idempotency_retention, now=shelf.clock.now())
    about = _check_selection(shelf.view, params, shelf.clock.now())
    intent = rewinding.selecting(shelf.view, params.session_id, params.turn, params.variant)
    found = await rewinding.preview(shelf.view, intent)
    going = _extractions(shelf.view, params.session_id, params.turn, params.turn) if intent.taken else ()
    return {"run_id": None, "dry_run": True, **about, **found, "cancelled": [one.id for one in going]}


def _check_selection(view: View, params: SelectVariantParams, now: int) -> dict[str, Any]:
    check_session(view, params.session_id, now, turn=params.turn)
    known = view.rewinds.variants(params.session_id, from_turn=params.turn, until_turn=params.turn)
    highest = max((one.variant for one in known), default=0)
    if params.variant > highest + 1:
        text = f"variant: the next one that was not used yet is {highest + 1}"
        raise InvalidParams(text, field="variant", limit=highest + 1)
    was = view.rewinds.live_variant(params.session_id, params.turn) or 0
    return {"session_id": params.session_id, "turn": params.turn, "variant": params.variant, "was": was}


@job("session.select_variant", ended=_ended, dry_run=_preview_selection)
def select_variant(tx: Transaction, params: SelectVariantParams, call: Call) -> Begun | Outcome:
    """Put away what the live variant of a turn wrote, and bring back what another one did."""
    write_session(tx, params.session_id)
    about = _check_selection(tx.rows, params, tx.now)
    intent = rewinding.selecting(tx.rows, params.session_id, params.turn, params.variant)
    event = {"turn": params.turn, "variant": params.variant}
    turns = (params.turn, params.turn) if intent.taken else None
    return begin_rewind(tx, intent, call, about, event=event, turns=turns)


def retract_turn(tx: Transaction, session_id: str, turn: int, call: Call) -> Begun | Outcome:
    """Take back what one turn of a conversation wrote, so that it can be extracted anew.

    Raises:
        Conflict: If the turn has variants: which of them counts is for the caller to say.
        ShelfError: As for turns that are taken back together with all that follow.
    """
    write_session(tx, session_id)
    _check_retraction(tx.rows, RetractTurnsParams.model_construct(session_id=session_id, from_turn=turn), tx.now)
    if tx.rows.rewinds.variants(session_id, from_turn=turn, until_turn=turn):
        text = f"again: turn {turn} has variants; session.select_variant chooses one that was not extracted"
        raise Conflict(text, field="again", reason="TURN_HAS_VARIANTS")
    intent = rewinding.retracting_one(tx.rows, session_id, turn)
    return begin_rewind(tx, intent, call, {"session_id": session_id}, event={"from_turn": turn, "until_turn": turn})


def begin_rewind(
    tx: Transaction,
    intent: Intent,
    call: Call,
    about: Mapping[str, Any],
    *,
    event: Mapping[str, Any] = EMPTY,
    turns: tuple[int, int | None] | None = None,
) -> Begun | Outcome:
    """Take the first step of a rewind.

    Args:
        about: What the result says beside what was done.
        event: What the event says beside that.
        turns: The first and last turn of which extractions end, whether they have written something yet or not.
    """
    going = list(_extractions(tx.rows, intent.session_id, *turns)) if turns is not None else []
    for one in going:
        tx.rows.jobs.put(one._replace(state="failed", error="Cancelled", updated_at=tx.now, finished_at=tx.now))
    params = {
        **rewinding.begin(tx, intent, call.run_id or ""),
        "event": dict(event),
        "about": dict(about),
        "cancelled": [one.id for one in going],
    }
    cursor = rewinding.new_cursor()
    rewinding.rewind_some(tx, cursor, params)
    if not cursor["is_over"]:
        return Begun(REWIND, params, cursor)
    done = {**rewinding.result_of(cursor), "cancelled": params["cancelled"]}
    return {"run_id": call.run_id, "dry_run": False, **about, **done}


def check_session(view: View, session_id: str, now: int, *, turn: int, field: str = "turn") -> None:
    """Raise if a session cannot be rewound now; *field* is the name of the param that gave the turn.

    Raises:
        SessionNotFound: If it is not open.
        SessionFrozen: If it shows the shelf as it was.
        InvalidParams: If *turn* is far beyond its last one.
        Conflict: If a rewind of it is under way, whose job is named.
    """
    session = get_session(view, session_id, now)
    if session.at_seq is not None:
        raise SessionFrozen(session_id, session.at_seq)
    check_turn(view, session.nugget, session_id, turn, field=field)
    check_no_rewind(view, session_id)


def check_no_rewind(view: View, session_id: str) -> None:
    """Raise if a rewind of the conversation is under way.

    Raises:
        Conflict: Which names its job.
    """
    for one in _unfinished(view, REWIND.name):
        if one.params["session_id"] == session_id:
            raise Conflict(f"job {one.id} is rewinding this session; job.get shows how far it is", job=one.id)


def _extractions(view: View, session_id: str, first: int, last: int | None) -> Iterator[Job]:
    for one in _unfinished(view, _EXTRACTION):
        ends = one.params["turn"]
        begins = one.params.get("from_turn", ends)
        if one.params["session_id"] == session_id and first <= ends and (last is None or begins <= last):
            yield one


def _unfinished(view: View, kind: str) -> Iterator[Job]:
    before: int | None = None
    while page := view.jobs.page(unfinished=True, kind=kind, before=before, limit=_PAGE):
        yield from (one for _, one in page)
        before = page[-1][0]
