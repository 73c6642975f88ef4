"""Use case: what a caller says of a result."""

from typing import Any

from shelfd.memory.call import Call
from shelfd.memory.errors import InvalidParams, NoteNotFound
from shelfd.memory.log.idempotency import Outcome
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.methods.context import Context
from shelfd.memory.methods.registry import change
from shelfd.memory.ports.feedback import Feedback
from shelfd.memory.recall.analyzer import Analyzer
from shelfd.memory.shelf.feedback import KEPT, hashes_of
from shelfd.memory.shelf.shelf import Changed, Shelf
from shelfd.protocol.methods.recall import FeedbackParams

#: Reads queries on the writer's thread; a stemmer belongs to one thread.
_analyzer = Analyzer()


def _count(_context: Context, shelf: Shelf, changed: Changed) -> None:
    outcome = changed.outcome
    terms = tuple(outcome["terms"])
    shelf.feedback.remove(terms, outcome["row"])
    if outcome["useful"] is not None:
        shelf.feedback.add(Feedback(terms, outcome["row"], outcome["useful"], outcome["at"]))
    for terms, row in outcome["gone"]:
        shelf.feedback.remove(tuple(terms), row)


def _answer(_shelf: Shelf, changed: Changed, call: Call) -> dict[str, Any]:
    params: Any = call.params
    return {"note_id": params.note_id, "useful": params.useful, "revoked": changed.outcome["revoked"]}


@change("recall.feedback", render=_answer, then=_count)
def feedback(tx: Transaction, params: FeedbackParams, _call: Call) -> Outcome:
    """Store, or revoke, what a caller says of a note that a query returned."""
    note = tx.rows.notes.get(params.note_id)
    if note is None:
        raise NoteNotFound(params.note_id)
    parsed = _analyzer.parse_query(params.query)
    if not parsed.terms:
        raise InvalidParams("query: has no word", field="query")
    terms = hashes_of(parsed.terms)
    outcome = {"terms": list(terms), "row": note.row, "useful": params.useful, "at": tx.now, "gone": []}
    if params.useful is None:
        return outcome | {"revoked": tx.rows.feedback.delete(terms, note.row)}
    tx.rows.feedback.put(Feedback(terms, note.row, params.useful, tx.now))
    gone = tx.rows.feedback.delete_oldest(kept=KEPT)
    return outcome | {"revoked": False, "gone": [[list(one.terms), one.note] for one in gone]}
