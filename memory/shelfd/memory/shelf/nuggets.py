"""Nuggets: made when first used, kept to their number of facts, renamed and removed."""

from collections.abc import Mapping
from typing import Any

from shelfd.memory.errors import NuggetNotFound
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.notes.filter import NoteFilter
from shelfd.memory.notes.note import Note, Nugget
from shelfd.memory.ports.log import Entry
from shelfd.memory.ports.view import View

_SURPLUS_PAGE = 64
_RENAME_PAGE = 1000


def get_nugget(view: View, name: str) -> Nugget:
    """Return a nugget that must exist.

    Raises:
        NuggetNotFound: If it does not.
    """
    nugget = view.nuggets.get(name)
    if nugget is None:
        raise NuggetNotFound(name)
    return nugget


def ensure_nugget(tx: Transaction, name: str) -> Nugget:
    """Return the nugget, made with defaults if it does not exist."""
    nugget = tx.nugget(name)
    if nugget is None:
        nugget = Nugget(name, dimension=1024, banks=4, ensembles=1, max_facts=0, ttl_days=None, created_at=tx.now)
        tx.admit_name(name, "nugget")
        tx.create_nugget(nugget)
    return nugget


def hide_surplus(tx: Transaction, nugget: Nugget, newest: Note) -> None:
    """Hide the visible facts of *nugget* beyond its ``max_facts``, those first given first.

    A new value does not make a fact younger. Pinned facts and *newest* stay, even if that leaves too many.
    """
    if not nugget.max_facts:
        return
    facts = NoteFilter(nugget=nugget.name, kind="fact")
    surplus = tx.rows.notes.count(facts) - nugget.max_facts
    after: tuple[int, int] | None = None
    while surplus > 0 and (
        page := tx.rows.notes.page(facts, order="row", descending=False, after=after, limit=_SURPLUS_PAGE)
    ):
        after = (0, page[-1].row)
        for fact in [fact for fact in page if not fact.pinned and fact.id != newest.id][:surplus]:
            tx.hide(fact)
            surplus -= 1


def remove_nugget(tx: Transaction, nugget: Nugget) -> None:
    """Remove a nugget, none of whose notes is visible any more, and its types of notes."""
    tx.rows.nuggets.delete(nugget.name)
    types = tx.rows.note_types.of(nugget.name)
    for name in types:
        tx.rows.note_types.delete(nugget.name, name)
    said = {"options": list(nugget), **({"types": types} if types else {})}
    tx.log(Entry("nugget.removed", nugget.name, (), None, said))


def restore_nugget(tx: Transaction, said: Mapping[str, Any]) -> None:
    """Bring a nugget back of which the log has what :func:`remove_nugget` said of it."""
    nugget = Nugget(*said["options"])
    tx.create_nugget(nugget, again=True)
    for name, spec in said.get("types", {}).items():
        tx.rows.note_types.put(nugget.name, name, spec)


def rename_nugget(tx: Transaction, old: str, new: str) -> None:
    """Give a nugget a name that no other one has; its notes, hidden ones too, sessions and types go with it."""
    tx.rows.nuggets.rename(old, new)
    tx.rows.watches.rename_nugget(old, new)
    tx.log(Entry("nugget.renamed", new, (), None, {"old_name": old, "new_name": new}))
    after: tuple[int, int] | None = None
    everything = NoteFilter(nugget=new, include_hidden=True)
    while notes := tx.rows.notes.page(everything, order="row", descending=False, after=after, limit=_RENAME_PAGE):
        tx.touched.update((note.id, note) for note in notes)  # recall files them under the new name
        after = (notes[-1].row, notes[-1].row)
