"""Operations of a turn become its notes, once: what was extracted stands in the log."""

from collections.abc import Sequence
from typing import Any, Final

from shelfd.memory.errors import Conflict
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.ports.log import Entry, LogRow
from shelfd.memory.ports.view import View
from shelfd.memory.sessions.batch import apply_operations, parse
from shelfd.memory.sessions.dead import dead_since
from shelfd.memory.sessions.draft import Scene
from shelfd.memory.sessions.extraction.engines import outline
from shelfd.memory.sessions.extraction.turns import Op, TurnBatch
from shelfd.memory.sessions.schema import schema_of
from shelfd.memory.sessions.session import write_session
from shelfd.memory.sessions.turns import Moment
from shelfd.protocol import Limits

#: The change that a turn was extracted.
EXTRACTED: Final = "session.extracted"
_PAGE: Final = 256


def last_digest(view: View, session_id: str, turn: int, variant: int | None = None) -> str | None:
    """Return the digest of what a turn was extracted from last; None if it was not, or that was taken back.

    Args:
        view: The shelf's rows.
        session_id: The conversation.
        turn: Its turn.
        variant: Which alternative of the turn; None for the one that is live.
    """
    if variant is None:
        variant = view.rewinds.live_variant(session_id, turn) or 0
    found: list[LogRow] = []
    after = (turn, 0)
    while rows := view.log.of_turns(session_id, from_turn=turn, until_turn=turn, after=after, limit=_PAGE):
        found += [row for row in rows if row.kind == EXTRACTED and (row.origin.variant or 0) == variant]
        after = (turn, rows[-1].seq)
    if not found:
        return None
    dead = dead_since(view, found[0].seq)
    alive = [row for row in found if row.before and not dead.has(row)]
    digest: str | None = alive[-1].before["digest"] if alive and alive[-1].before else None
    return digest


def was_extracted(batch: TurnBatch, digest: str | None) -> bool:
    """Return whether a turn was extracted from this text.

    Raises:
        Conflict: If it was from another one.
    """
    if digest is None:
        return False
    if digest != batch.digest:
        text = f"turns: turn {batch.turn} was extracted from another text; again takes that back first"
        raise Conflict(text, field="turns", reason="TURN_EXTRACTED", turn=batch.turn)
    return True


def apply_turn(
    tx: Transaction, session_id: str, batch: TurnBatch, ops: Sequence[Op], engine: str, limits: Limits
) -> dict[str, Any]:
    """Carry out the operations of a turn, all or none of them; return what became of them, without what they say.

    Args:
        tx: A transaction of the session and the turn.
        session_id: The conversation.
        batch: What was said.
        ops: What was made of it.
        engine: What made that.
        limits: The configured limits.

    Raises:
        Conflict: If the turn was extracted before, from another text.
        ShelfError: As :func:`~shelfd.memory.sessions.session.write_session` does.
    """
    session = write_session(tx, session_id, batch.turn)
    outcome: dict[str, Any] = {
        "engine": engine, "extracted": [], "skipped": [], "operations": 0, "applied": [], "rejected": [], "ids": {}
    }  # fmt: skip
    if was_extracted(batch, last_digest(tx.rows, session_id, batch.turn, tx.variant or 0)):
        return {**outcome, "skipped": [batch.turn]}
    schema = schema_of(tx.rows, session.nugget)
    scene = Scene(session_id, session.nugget, Moment(batch.turn), schema, limits, by_extraction=True)
    done = apply_operations(tx, scene, parse(ops, limits), atomic=True)
    if done.errors:
        rejected = [{"index": at, "op": _name(ops[at]), "error": error} for at, error in sorted(done.errors.items())]
        return {**outcome, "rejected": rejected}
    tx.log(Entry(EXTRACTED, session.nugget, (), None, {"digest": batch.digest, "engine": engine, "ops": len(ops)}))
    return {
        **outcome,
        "extracted": [batch.turn],
        "operations": len(ops),
        "applied": [{"index": at, **outline(ops[at]), "effect": effect} for at, effect in sorted(done.effects.items())],
        "ids": dict(done.ids),
    }


def _name(op: Op) -> str:
    return str(op["op"])
