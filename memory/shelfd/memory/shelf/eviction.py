"""Nuggets that keep a limited number of facts: the oldest make room."""

from shelfd.memory.log.transaction import Transaction
from shelfd.memory.notes.filter import NoteFilter
from shelfd.memory.notes.note import Note, Nugget

_PAGE = 64


def hide_surplus(tx: Transaction, nugget: Nugget, newest: Note) -> None:
    """Hide the visible facts of *nugget* beyond its ``max_facts``, those first given first.

    A new value does not make a fact younger. Pinned facts and *newest* stay, even if that leaves too many.
    """
    if not nugget.max_facts:
        return
    facts = NoteFilter(nugget=nugget.name, kind="fact")
    surplus = tx.rows.notes.count(facts) - nugget.max_facts
    after: tuple[int, int] | None = None
    while surplus > 0 and (page := tx.rows.notes.page(facts, order="row", descending=False, after=after, limit=_PAGE)):
        after = (0, page[-1].row)
        for fact in [fact for fact in page if not fact.pinned and fact.id != newest.id][:surplus]:
            tx.hide(fact)
            surplus -= 1
