"""Use cases on what a prompt held."""

from collections.abc import Iterable
from typing import Any

from shelfd.memory.call import Call
from shelfd.memory.log.idempotency import Outcome
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.methods import cursor
from shelfd.memory.methods.registry import change, read
from shelfd.memory.ports.sessions import Injection
from shelfd.memory.sessions.always_inject import Bounds, always_injected, bounds_of, frontier_ids
from shelfd.memory.sessions.injection import check_ids, record, view_of
from shelfd.memory.sessions.reading import open_reading
from shelfd.memory.sessions.session import read_session, write_session
from shelfd.memory.sessions.views import node_views
from shelfd.memory.shelf.shelf import Shelf
from shelfd.protocol import from_micros
from shelfd.protocol.methods.injection import ContextAtParams, ListAlwaysInjectParams, RecordInjectionParams
from shelfd.protocol.methods.session_reading import SessionReadParams


def _each_once(ids: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(ids))


@change("session.record_injection")
def record_injection(tx: Transaction, params: RecordInjectionParams, _call: Call) -> Outcome:
    """Record which notes a prompt holds."""
    session = write_session(tx, params.session_id, params.turn)
    lists = {"pinned": params.pinned, "recalled": params.recalled, "frontier": params.frontier or []}
    check_ids(tx.rows, lists)
    blocks = None if params.blocks is None else tx.admit_values(params.blocks, "blocks")
    trace = None if params.trace is None else tx.admit_values(params.trace, "trace")
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
            blocks,
            params.tokens,
            trace,
        ),
        session.nugget,
    )
    return {"session_id": params.session_id, "turn": params.turn, "seq": stored.seq + len(tx.entries)}


@read("session.get_injection_state")
async def get_injection_state(shelf: Shelf, params: SessionReadParams, _call: Call) -> dict[str, Any]:
    """Return which notes the prompt holds."""
    reading = await open_reading(shelf, params.session_id)
    shown = reading.injection
    pinned, frontier = (None, None) if shown is None else (shown.pinned, shown.frontier)
    if pinned is None:
        pinned = tuple(reading.graph.id(node) for _, node in await always_injected(reading, Bounds()))
    return {
        "always_inject_ids": list(pinned),
        "recall_selected_ids": [] if shown is None else list(shown.recalled),
        "visible_ids": await frontier_ids(reading) if frontier is None else list(frontier),
    }


@read("session.list_always_inject")
async def list_always_inject(shelf: Shelf, params: ListAlwaysInjectParams, _call: Call) -> dict[str, Any]:
    """Return a page of the notes that stand in every prompt, by time."""
    reading = await open_reading(shelf, params.session_id)
    raw, distance = params.recent_raw_turns, params.max_seq_distance
    bounds = bounds_of(reading, recent_raw_turns=raw, max_seq_distance=distance)
    position = cursor.decode_numbers(params.cursor, 1)
    found = await always_injected(reading, bounds, after=position[0] if position else None, limit=params.limit + 1)
    page = found[: params.limit]
    result: dict[str, Any] = {"nodes": await node_views(reading, [node for _, node in page])}
    if len(found) > params.limit:
        result["next_cursor"] = cursor.encode(page[-1][0])
    return result


@read("session.context_at")
async def context_at(shelf: Shelf, params: ContextAtParams, _call: Call) -> dict[str, Any]:
    """Return what the prompt of a turn held."""
    session = read_session(shelf, params.session_id)
    await shelf.unattended.settled()  # what get_context gave just now is part of it
    found = shelf.view.injections.last(params.session_id, turn=params.turn, at_seq=session.at_seq)
    return {"context": None if found is None else {"at": from_micros(found.at), **view_of(found)}}
