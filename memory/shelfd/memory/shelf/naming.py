"""The names of nuggets: taken away, or given to another."""

from typing import Final

from shelfd.memory.log.transaction import Transaction
from shelfd.memory.notes.filter import NoteFilter
from shelfd.memory.notes.note import Nugget
from shelfd.memory.ports.log import Entry

_PAGE: Final = 1000


def drop_nugget(tx: Transaction, nugget: Nugget) -> None:
    """Take a nugget's name away; none of its notes is in sight any more."""
    tx.rows.nuggets.delete(nugget.name)
    tx.log(Entry("nugget.removed", nugget.name, (), None, {"options": list(nugget)}))


def rename_nugget(tx: Transaction, old: str, new: str) -> None:
    """Give a nugget a name that no other one has; its notes, hidden ones too, go with it."""
    tx.rows.nuggets.rename(old, new)
    tx.log(Entry("nugget.renamed", new, (), None, {"old_name": old, "new_name": new}))
    after: tuple[int, int] | None = None
    everything = NoteFilter(nugget=new, include_hidden=True)
    while notes := tx.rows.notes.page(everything, order="row", descending=False, after=after, limit=_PAGE):
        tx.touched.update((note.id, note) for note in notes)  # recall files them under the new name
        after = (notes[-1].row, notes[-1].row)
