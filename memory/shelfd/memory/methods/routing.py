"""The recall mode ``route``: a language model chooses from a session's notes, and without one ranked recall answers."""

from collections.abc import Sequence
from typing import Any, Final

from shelfd.memory.call import Call
from shelfd.memory.errors import SessionNotFound, ShelfError, Unavailable
from shelfd.memory.notes.filter import NoteFilter
from shelfd.memory.ports.language_model import NO_ANSWER
from shelfd.memory.sessions.routing import Trace, Wanted, route
from shelfd.memory.sessions.session import read_session
from shelfd.memory.shelf.shelf import Shelf
from shelfd.protocol.methods.recall import RecallParams

#: What is left of a caller's time for ranked recall, should the model not be done by then.
_LEFT_S: Final = 0.2


async def chosen_by_route(
    shelf: Shelf, params: RecallParams, call: Call, ranked: Sequence[str], filters: NoteFilter
) -> tuple[list[str] | None, Trace]:
    """Return the ids of the notes that the model chooses, and what was done; None instead of ids if it chose none.

    Args:
        shelf: The shelf.
        params: What is to be recalled.
        call: The request, for its deadline.
        ranked: Ids as ranked recall orders them.
        filters: What a note must fit.
    """
    trace: Trace = []
    try:
        session_id = params.session_id or ""
        nugget = read_session(shelf, session_id).nugget
        if params.nugget not in (None, nugget):
            return None, [_fallback("another nugget than the session's was asked for")]
        if not shelf.model.may_see(nugget):
            return None, [_fallback("there is no language model that may see this nugget")]
        deadline = None if call.ticket.deadline is None else call.ticket.deadline - _LEFT_S
        wanted = Wanted(session_id, params.query, ranked, filters.admits, params.k, deadline)
        chosen = await route(shelf, wanted, trace)
    except (SessionNotFound, Unavailable, *NO_ANSWER) as error:
        trace.append(_fallback(error.message, error))
        return None, trace
    if chosen is None:
        trace.append(_fallback("there are no candidates"))
    return chosen, trace


def _fallback(why: str, error: ShelfError | None = None) -> dict[str, Any]:
    step = {"step": "ranked_instead", "why": why}
    return step if error is None else {**step, "error": type(error).__name__}
