"""Use case: branch a conversation."""

from typing import Any, cast

from shelfd.memory.call import Call
from shelfd.memory.errors import Conflict, InvalidParams
from shelfd.memory.jobs import Job
from shelfd.memory.jobs.work import Begun
from shelfd.memory.log.idempotency import Outcome, check_key
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.methods.context import Context
from shelfd.memory.methods.registry import job
from shelfd.memory.methods.rewinding import check_session
from shelfd.memory.ports.view import View
from shelfd.memory.sessions import branching
from shelfd.memory.sessions.branching import BRANCH
from shelfd.memory.sessions.session import get_session
from shelfd.memory.shelf.shelf import Shelf
from shelfd.protocol.methods.rewinding import BranchParams

_NUGGET_CHARACTERS = 64


def _ended(_shelf: Shelf, job: Job) -> dict[str, Any]:
    return _result(job.params["new_session_id"], job.params["into"], job.run_id, dict(job.result or {}))


def _result(session_id: str, nugget: str, run_id: str | None, copied: dict[str, Any]) -> dict[str, Any]:
    return {"session_id": session_id, "nugget": nugget, "run_id": run_id, "dry_run": run_id is None, **copied}


def _params(view: View, params: BranchParams, now: int) -> dict[str, Any]:
    check_session(view, params.session_id, now, turn=params.at_turn, field="at_turn")
    session = get_session(view, params.session_id, now)
    into = params.nugget or f"{session.nugget}-{params.new_session_id}".lower()
    if len(into) > _NUGGET_CHARACTERS or any(not (sign.isalnum() or sign in "_.-") for sign in into):
        text = "nugget: give one, for the two names together are not a nugget's"
        raise InvalidParams(text, field="nugget", limit=_NUGGET_CHARACTERS)
    copied = branching.branched_at(view, params.session_id)
    if copied is not None and params.at_turn < copied:
        text = (
            f"at_turn: what turns up to {copied} wrote was copied when this session branched, as it was after all of"
            " them; branch the original at an earlier turn"
        )
        raise Conflict(text, field="at_turn", reason="BRANCHED", first_turn=copied)
    return branching.new_params(view, session, params.at_turn, params.new_session_id, into)


async def _preview(_context: Context, shelf: Shelf, call: Call) -> dict[str, Any]:
    params = cast("BranchParams", call.params)
    check_key(shelf.view, call, shelf.settings.idempotency_retention, now=shelf.clock.now())
    planned = _params(shelf.view, params, shelf.clock.now())
    return _result(params.new_session_id, planned["into"], None, await branching.preview(shelf.view, planned))


@job("session.branch", ended=_ended, dry_run=_preview)
def branch(tx: Transaction, params: BranchParams, _call: Call) -> Begun | Outcome:
    """Make a session of its own of a conversation's memory as it was at a turn."""
    planned = _params(tx.rows, params, tx.now)
    branching.found(tx, planned)
    cursor = branching.new_cursor()
    branching.branch_some(tx, cursor, planned)
    return Begun(BRANCH, planned, cursor)
