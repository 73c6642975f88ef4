"""What a prompt held: records of it, one for each time notes were handed over, and which of them is the present one."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from shelfd.memory.errors import NoteNotFound
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.ports.log import Entry, Origin
from shelfd.memory.ports.sessions import Injection, Session
from shelfd.memory.ports.view import View
from shelfd.memory.shelf.shelf import Shelf
from shelfd.memory.shelf.turns import stamp_turn

#: Records kept of one conversation, and of all of them together; the oldest go.
KEPT: Final = 1_000
KEPT_IN_ALL: Final = 20_000
#: Under which name stands the text of ``get_context`` among the blocks of a record.
CONTEXT: Final = "context"


def record(tx: Transaction, injection: Injection, nugget: str | None) -> Injection:
    """Store what a prompt held and publish that it changed; return the record as it is stored.

    Args:
        tx: The transaction.
        injection: The record; its time and sequence number are set here.
        nugget: The nugget that the conversation works on, or that the notes are from.
    """
    stored = injection._replace(at=tx.now, seq=tx.rows.log.last_seq)
    tx.rows.injections.add(stored)
    tx.rows.injections.delete_beyond(stored.session_id, kept=KEPT, kept_in_all=KEPT_IN_ALL)
    if nugget is not None and stored.turn and (known := tx.nugget(nugget)) is not None:
        stamp_turn(tx, known, stored.session_id, stored.turn)
    counts = {
        name: len(ids) for name in ("pinned", "recalled", "frontier") if (ids := getattr(stored, name)) is not None
    }
    tokens = {} if stored.tokens is None else {"tokens": stored.tokens}
    named = tuple(dict.fromkeys((*(stored.pinned or ()), *stored.recalled)))
    tx.log(Entry("context.changed", nugget, named, None, {"turn": stored.turn, **counts, **tokens}))
    return stored


def check_ids(view: View, lists: Mapping[str, Sequence[str]]) -> None:
    """Raise unless every id is one of a note.

    Args:
        view: The shelf's rows.
        lists: Ids by the name of the param that gave them.

    Raises:
        NoteNotFound: If there is no note with one of them.
    """
    existing = view.notes.existing(list({note_id for ids in lists.values() for note_id in ids}))
    for name, ids in lists.items():
        for note_id in ids:
            if note_id not in existing:
                raise NoteNotFound(note_id, field=name)


def record_context(
    shelf: Shelf, origin: Origin, ids: Iterable[str], *, text: str, tokens: int, nugget: str | None
) -> None:
    """Have it recorded that a conversation was given *text*, made of the notes *ids*; nobody waits for that.

    Without a turn it counts for the last one that is known.
    """
    session_id = origin.session_id
    assert session_id is not None
    recalled = tuple(ids)

    def apply(tx: Transaction) -> None:
        session = tx.rows.sessions.get(session_id)
        on = nugget if session is None else session.nugget
        turn = origin.turn or (0 if on is None else tx.rows.nuggets.last_turn(on, session_id) or 0)
        shown = Injection(session_id, turn, 0, 0, None, recalled, None, {CONTEXT: text}, tokens)
        # One may have been purged after the answer was made, and its text with it.
        gone = set(recalled) - tx.rows.notes.existing(recalled)
        record(tx, shown.without(gone) if gone else shown, on)

    shelf.unattended.submit(origin, apply)


def present(view: View, session: Session) -> Injection | None:
    """Return the record made last of a conversation, unless its turn was taken back since: then the one before that.

    A frozen session has the one that was the last then.
    """
    found = view.injections.last(session.session_id, at_seq=session.at_seq)
    while found is not None and (first := _taken_back_from(view, found, session.at_seq)) is not None:
        found = view.injections.last(session.session_id, turn=first - 1, at_seq=session.at_seq)
    return found


def _taken_back_from(view: View, shown: Injection, at_seq: int | None) -> int | None:
    """The turn from which on a conversation was taken back after a record was made, if that was among it."""
    for _, one in reversed(view.rewinds.since(shown.seq)):
        if at_seq is not None and one.up_to_seq >= at_seq:
            continue
        until = shown.turn if one.until_turn is None else one.until_turn
        is_of_turn = one.session_id == shown.session_id and one.from_turn <= shown.turn <= until
        if is_of_turn and one.stands and shown.seq < one.up_to_seq:
            return one.from_turn
    return None


def view_of(injection: Injection) -> dict[str, Any]:
    """Return a record as it is shown, but for its time."""
    shown: dict[str, Any] = {
        "turn": injection.turn,
        "seq": injection.seq,
        "pinned": injection.pinned,
        "recalled": injection.recalled,
        "frontier": injection.frontier,
        "blocks": injection.blocks,
        "tokens": injection.tokens,
        "trace": injection.trace,
    }
    return {
        name: list(value) if isinstance(value, tuple) else value for name, value in shown.items() if value is not None
    }
