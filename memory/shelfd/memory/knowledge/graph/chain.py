"""What led to a note: the notes that others are linked to as its causes, and what led to these."""

from collections.abc import Mapping, Sequence
from typing import Final

from shelfd.memory.notes.note import Note
from shelfd.memory.ports.view import View

#: Relations that lead from what was caused to its cause; those from a cause are :data:`CAUSES` of the port.
CAUSED_BY: Final = frozenset({"caused_by", "results_from", "because_of", "due_to", "enabled_by", "triggered_by"})
#: Notes of one chain, and causes looked at of one note.
_LONGEST: Final = 32
_MOST_CAUSES: Final = 16


def causal_chain(view: View, note: Note) -> list[str]:
    """Return ids of the notes that led to *note*, causes before what they caused and else the oldest first.

    Hidden ones are left out, and so is what is beyond the first 32.
    """
    causes: dict[str, list[Note]] = {}
    waiting = [note]
    while waiting and len(causes) <= _LONGEST:
        effect = waiting.pop(0)
        if effect.id not in causes:
            causes[effect.id] = _causes(view, effect)
            waiting += causes[effect.id]
    return [note_id for note_id in _in_order(note.id, causes) if note_id != note.id][:_LONGEST]


def _causes(view: View, note: Note) -> list[Note]:
    """What is linked as a cause of a note, the oldest first."""
    named = [link.target for link in view.links.leaving([note.id])[note.id] if link.relation in CAUSED_BY]
    ids = list(dict.fromkeys([*named, *view.links.causing(note.id, limit=_MOST_CAUSES)]))[:_MOST_CAUSES]
    found = [cause for cause in view.notes.by_ids(ids).values() if not cause.hidden]
    return sorted(found, key=lambda cause: (cause.when, cause.row))


def _in_order(first: str, causes: Mapping[str, Sequence[Note]]) -> list[str]:
    """Ids in the order in which a walk from *first* is done with them; a circle is entered once."""
    order: list[str] = []
    known = {first}
    path = [(first, iter(causes[first]))]
    while path:
        at, rest = path[-1]
        following = next((cause for cause in rest if cause.id not in known), None)
        if following is None:
            order.append(at)
            path.pop()
        else:
            known.add(following.id)
            path.append((following.id, iter(causes.get(following.id, ()))))
    return order
