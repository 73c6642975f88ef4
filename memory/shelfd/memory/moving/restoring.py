"""Has notes, links and nuggets again that were on a shelf, in every field. What is here already stays as it is."""

from typing import Any, Final

from shelfd.memory.errors import DuplicateKey, InvalidParams
from shelfd.memory.log.transaction import Transaction, changed_fields
from shelfd.memory.moving.record import Loss, RestoredLinks, RestoredNugget
from shelfd.memory.moving.tally import Tally
from shelfd.memory.notes.note import Link, Note
from shelfd.memory.sessions.schema import BUILT_IN, new_type
from shelfd.memory.shelf.nuggets import ensure_nugget

_REV: Final = Note._fields.index("rev")
_made: Final = tuple.__new__  # a named tuple of a tuple of all its values, in a third of the time


def restore_nugget(tx: Transaction, record: RestoredNugget, tally: Tally) -> None:
    """Make a nugget with the types of notes that were set in it; what it has here of these stays."""
    nugget = record.nugget
    here = tx.nugget(nugget.name)
    if here is None:
        tx.create_nugget(nugget)
    elif here.turn_count < nugget.turn_count:  # numbers of turns that notes have are given to no other
        tx.count_turns(here, nugget.turn_count)
    there = tx.rows.note_types.of(nugget.name)
    for name, properties in record.types.items():
        if name not in there:
            kind = (BUILT_IN.get(name) or new_type(name)).with_properties(properties)
            tx.rows.note_types.put(nugget.name, kind.name, kind.as_mapping())
    tally.count("created" if here is None else "unchanged")


def restore_note(tx: Transaction, note: Note, index: int, tally: Tally, *, is_absent: bool = False) -> Note:
    """Make a note as it was; return it, or the one of its id that is here.

    Args:
        is_absent: Whether it is known that no note has its id.

    Raises:
        DuplicateKey: If another note has its key.
    """
    here = None if is_absent else tx.rows.notes.get(note.id)
    if here is not None:
        if kept := _differing(here, note):
            tally.kept.append((index, here.id, kept))
        else:
            tally.count("unchanged")
        return here
    if note.key is not None and (holder := tx.rows.notes.fact(note.nugget, note.key)) is not None:
        raise DuplicateKey(note.nugget, holder.id)
    ensure_nugget(tx, note.nugget)
    tally.created += 1
    # Its history begins here.
    new = _made(Note, (tx.next_row(), *note[1:_REV], 1, *note[_REV + 1 :]))
    return tx.create_note(new, is_free=is_absent and note.key is None)


def _differing(here: Note, note: Note) -> tuple[str, ...]:
    """The fields in which the note that is here says something else."""
    unknown = here._replace(extra=here.extra._replace(lineage=note.extra.lineage))
    before: dict[str, Any] = changed_fields(unknown, note)
    if here.hidden == note.hidden:
        before.pop("archived_at", None)  # when it was hidden makes no difference
    return tuple(sorted(before))


def restore_links(tx: Transaction, record: RestoredLinks, most: int, index: int, tally: Tally) -> None:
    """Make the links that left a note, as far as both ends are here; one that is here stays as it is.

    Args:
        most: How many links may leave a note.

    Raises:
        InvalidParams: If the note is not here.
    """
    source = tx.rows.notes.get(record.source)
    if source is None:
        raise InvalidParams("id: the note that the links leave is not here", field="id")
    room = most - tx.rows.links.count_leaving(source.id)
    for link in record.links:
        here = tx.rows.links.get(*link[:3])
        if here is not None:
            tally.count("unchanged")
        elif (loss := _loss(tx, link, room)) is not None:
            tally.record_loss(index, [loss])
        else:
            tx.put_link(link, source.nugget)
            tally.count("created")
            room -= 1


def _loss(tx: Transaction, link: Link, room: int) -> Loss | None:
    if tx.rows.notes.get(link.target) is None:
        return Loss("links", "the note that a link leads to is not here")
    return Loss("links", "a note has too many links") if room <= 0 else None
