"""Use cases on what a prompt held."""

from collections.abc import Iterable
from typing import Any

from shelfd.memory.call import Call
from shelfd.memory.log.idempotency import Outcome
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.methods.registry import change, read
from shelfd.memory.ports.sessions import Injection
from shelfd.memory.sessions.injection import check_ids, record, view_of
from shelfd.memory.sessions.session import read_session, write_session
from shelfd.memory.shelf.shelf import Shelf
from shelfd.protocol import from_micros
from shelfd.protocol.methods.injection import ContextAtParams, RecordInjectionParams


def _each_once(ids: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(ids))


@change("session.record_injection")
def record_injection(tx: Transaction, params: RecordInjectionParams, _call: Call) -> Outcome:
    """Record which notes a prompt holds."""
    session = write_session(tx, params.session_id, params.turn)
    lists = {"pinned": params.pinned, "recalled": params.recalled, "frontier": params.frontier or []}
    check_ids(tx.rows, lists)
    stored = record(
        tx,
        Injection(
            params.session_id,
            params.turn,
            0,
            0,
            _each_once(params.pinned),
            _each_once(params.recalled),
            None if params.frontier is None else _each_once(params.frontier),
            params.blocks,
            params.tokens,
            params.trace,
        ),
        session.nugget,
    )
    return {"session_id": params.session_id, "turn": params.turn, "seq": stored.seq + len(tx.entries)}


@read("session.context_at")
async def context_at(shelf: Shelf, params: ContextAtParams, _call: Call) -> dict[str, Any]:
    """Return what the prompt of a turn held."""
    read_session(shelf, params.session_id)
    await shelf.unattended.settled()  # what get_context gave just now is part of it
    found = shelf.view.injections.last(params.session_id, turn=params.turn)
    return {"context": None if found is None else {"at": from_micros(found.at), **view_of(found)}}
