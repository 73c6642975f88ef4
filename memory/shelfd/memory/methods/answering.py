"""The fact that answers a query: by its key, or by a key that is like the query."""

from typing import Any, Final, NamedTuple

from shelfd.memory.facts.fact_memory import ShelfFacts
from shelfd.memory.notes.filter import NoteFilter
from shelfd.memory.notes.note import Note, fold_key
from shelfd.memory.recall import ShelfIndex
from shelfd.memory.recall.shelf_index import NOTHING_PLANNED, Planned
from shelfd.memory.shelf.shelf import Shelf

#: Confidence from which on a fact found by a key like the query is returned to callers that did not ask for one.
SURE: Final = 0.5


class Known(NamedTuple):
    """A fact that answers a query, and how probable it is that it is the one meant."""

    note: Note
    confidence: float
    margin: float
    confirmed: bool | None = None  #: whether the nugget's banks give its value, too; None if they were not asked


def fact_by_key(shelf: Shelf, query: str, filters: NoteFilter, planned: Planned = NOTHING_PLANNED) -> Known | None:
    """Return the fact whose key is *query*; of several nuggets' the one written last."""
    key = fold_key(query)
    others = planned.keyed(key)
    if not others and shelf.tracks.is_exact(ShelfIndex) and not shelf.projection(ShelfIndex).may_be_key(query):
        return None  # most queries are none, and a look at the rows takes longer
    if filters.nugget is not None:
        fact = shelf.view.notes.fact(filters.nugget, key)
        facts = [fact] if fact is not None else []
    else:
        facts = shelf.view.notes.facts(key)
    known = planned.over({fact.id: fact for fact in (*facts, *others)})
    admitted = [fact for fact in known.values() if fact.key == key and filters.admits(fact)]
    note = max(admitted, key=lambda fact: (fact.updated_at, fact.row), default=None)
    return None if note is None else Known(note, 1.0, 1.0)


def fact_like(shelf: Shelf, query: str, filters: NoteFilter, *, least: float = 0.0) -> Known | None:
    """Return the fact whose key or alias is most like *query*, as its row says now, if that is as sure as *least*."""

    def may_answer(note_id: str) -> bool:
        note = shelf.hot.get([note_id]).get(note_id)
        return note is not None and filters.admits(note)

    found = shelf.projection(ShelfFacts).nearest(query, filters.nugget, may_answer, least=least)
    if found is None or found.confidence < least:  # an alias of several facts
        return None
    return Known(shelf.hot.get([found.row])[found.row], round(found.confidence, 6), round(found.margin, 6))


def answer_view(known: Known | None) -> dict[str, Any]:
    """Return what a recall reply says of the fact that answers it, or that none does."""
    if known is None:
        return {"found": False, "confidence": 0.0, "margin": 0.0}
    view = {
        "found": True,
        "value": known.note.content,
        "key": known.note.title,
        "confidence": known.confidence,
        "margin": known.margin,
        "nugget": known.note.nugget,
        "note_id": known.note.id,
    }
    return view if known.confirmed is None else view | {"confirmed": known.confirmed}
