"""Use cases on rollups: what is due, roll up some notes, roll up all that is due."""

from typing import Any

from shelfd.memory.call import Call
from shelfd.memory.errors import InvalidParams
from shelfd.memory.jobs import Job
from shelfd.memory.jobs.work import Begun
from shelfd.memory.log.idempotency import Outcome
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.methods.registry import change, job, read
from shelfd.memory.ports.sessions import Session
from shelfd.memory.sessions.compaction import COMPACTION, due
from shelfd.memory.sessions.reading import open_reading
from shelfd.memory.sessions.rollups import RollupSummary, children_to_be, roll_up
from shelfd.memory.sessions.schema import schema_of
from shelfd.memory.sessions.session import write_session
from shelfd.memory.shelf.shelf import Shelf
from shelfd.memory.shelf.turns import stamp_turn
from shelfd.protocol.methods.rollups import CompactionCandidatesParams, CompactNodesParams, CompactParams


@read("session.compaction_candidates")
async def compaction_candidates(shelf: Shelf, params: CompactionCandidatesParams, _call: Call) -> dict[str, Any]:
    """Return which notes a compaction would roll up; none of a type that is not rolled up, or that does not exist."""
    reading = await open_reading(shelf, params.session_id)
    kind = reading.schema.get(params.type)
    if kind is None or not kind.is_hierarchical:
        return {"groups": [], "total": 0}
    found = await due(reading.graph, reading.notes, kind, params.depth)
    shown = [
        {"depth": params.depth + 1, "child_ids": list(group), "fan_in": len(group)} for group in found[: params.limit]
    ]
    return {"groups": shown, "total": len(found)}


@change("session.compact_nodes")
def compact_nodes(tx: Transaction, params: CompactNodesParams, call: Call) -> Outcome:
    """Make the rollup of some notes."""
    session = write_session(tx, params.session_id, params.turn)
    kind = schema_of(tx.rows, session.nugget).need(params.type)
    if not params.summary.strip():
        raise InvalidParams("summary: is empty or blank", field="summary", reason="BAD_ARGS")
    children = children_to_be(tx, kind, params.child_ids, session.nugget, session.session_id)
    summary = RollupSummary(params.summary, "inferred", params.fields, params.title)
    rollup = roll_up(tx, kind, children, summary, call.limits)
    _count_turn(tx, session, params.turn)
    return {"rollup_node_id": rollup.id, "depth": rollup.extra.rollup_depth}


def _result(_shelf: Shelf, job: Job) -> dict[str, Any]:
    return {"run_id": job.run_id, **(job.result or {})}


@job("session.compact", ended=_result)
def compact(tx: Transaction, params: CompactParams, _call: Call) -> Begun:
    """Roll up what is due in the session's nugget."""
    session = write_session(tx, params.session_id, params.turn)
    _count_turn(tx, session, params.turn)
    about = {"nugget": session.nugget, "session_id": session.session_id, "turn": params.turn}
    return Begun(COMPACTION, about, {})


def _count_turn(tx: Transaction, session: Session, turn: int | None) -> None:
    if (nugget := tx.nugget(session.nugget)) is not None:
        stamp_turn(tx, nugget, session.session_id, turn)
