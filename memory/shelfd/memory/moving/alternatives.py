"""Alternatives of a turn that come from elsewhere: each is a variant here, and one of them is live.

What a file showed last is remembered. So a later import can distinguish that it shows another one now, which is
followed, from another one having been selected here, which stays.
"""

import json
from typing import Literal

from shelfd.memory.errors import Conflict
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.notes.note import Note
from shelfd.memory.ports.log import EVERY_VARIANT
from shelfd.memory.ports.sessions import Retraction, Variant
from shelfd.memory.sessions import rewinding
from shelfd.memory.sessions.dead import OPEN


def is_put_away(tx: Transaction, session_id: str, turn: int | None, variant: int | None) -> bool:
    """Return whether a variant of a turn is not the live one."""
    if turn is None or variant in (None, EVERY_VARIANT):
        return False
    return variant != (tx.rows.rewinds.live_variant(session_id, turn) or 0)


def show(tx: Transaction, session_id: str, turn: int, variant: int) -> Literal["updated", "unchanged", "kept"]:
    """Have the variant of a turn live that a file shows, unless another one was selected here since.

    Comes before anything is written in that turn.

    Raises:
        Conflict: If the conversation is being rewound, or this transaction has written in that turn.
    """
    name = f"shown variant {json.dumps([session_id, turn], ensure_ascii=False)}"
    before = int(tx.rows.meta.get(name) or 0)
    live = tx.rows.rewinds.live_variant(session_id, turn) or 0
    if variant == before:
        return "unchanged"
    if live not in (before, variant):
        return "kept"
    if live != variant:
        _switch(tx, session_id, turn, variant)
    tx.rows.meta.put(name, str(variant))
    return "unchanged" if live == variant else "updated"


def _switch(tx: Transaction, session_id: str, turn: int, variant: int) -> None:
    rewinds = tx.rows.rewinds
    if any(one.session_id == session_id for _, one in rewinds.since(OPEN)):
        raise Conflict("turns: a job is rewinding this session; import it again", field="variants")
    if any(entry.of_turn is not None and entry.of_turn[:2] == (session_id, turn) for entry in tx.entries):
        raise Conflict("turns: what was just imported wrote in this turn; import it again", field="variants")
    run_id = _run_of(tx, 1)
    is_new = not rewinds.variants(session_id, from_turn=turn, until_turn=turn)
    if is_new and tx.rows.log.first_of_turns(session_id, from_turn=turn, until_turn=turn, variant=0) is None:
        rewinds.put_variant(Variant(session_id, turn, 0, is_live=False, run_id=run_id))
        rewinds.put_variant(Variant(session_id, turn, variant, is_live=True))
        return
    intent = rewinding.selecting(tx.rows, session_id, turn, variant)
    event = {"turn": turn, "variant": variant}
    params = {**rewinding.begin(tx, intent, run_id), "event": event}
    cursor = rewinding.new_cursor()
    tx.write_in(session_id, None, run_id=run_id)
    while not cursor["is_over"]:  # one turn, which is not much
        rewinding.rewind_some(tx, cursor, params)
    tx.write_in(None, None)


def put_away(tx: Transaction, note: Note, variant: int) -> Note:
    """Hide a note that was just created in a variant of its turn which is not live, as selecting another one does."""
    rewinds, session_id, turn = tx.rows.rewinds, note.session_id, note.turn
    assert session_id is not None
    assert turn is not None
    seq = tx.rows.log.last_seq + len(tx.entries)  # of what created it
    run_id = _run_of(tx, 0)
    known = {one.variant for one in rewinds.variants(session_id, from_turn=turn, until_turn=turn)}
    if not known:
        rewinds.put_variant(Variant(session_id, turn, 0, is_live=True))
    if variant not in known:
        rewinds.put_variant(Variant(session_id, turn, variant, is_live=False, run_id=run_id))
    if not note.hidden:
        tx.write_in(session_id, None, run_id=run_id)
        note = tx.hide(note)
        tx.write_in(None, None)
    done = tx.rows.log.last_seq + len(tx.entries)
    rewinds.add_retraction(Retraction(session_id, turn, turn, variant, seq, seq, done, run_id))
    return note


def _run_of(tx: Transaction, ahead: int) -> str:
    """A run of its own, within the import's: what a rewind wrote is what a run of that name did."""
    return f"{tx.run_id or 'import'}-{tx.rows.log.last_seq + len(tx.entries) + ahead}"
