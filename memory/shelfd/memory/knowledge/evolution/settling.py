"""Closes the conflicts of notes that no longer contradict each other, and opens them again if they do."""

from collections.abc import Iterable
from typing import Final

from shelfd.memory.knowledge.evolution.applying import said_by
from shelfd.memory.knowledge.evolution.deciding import Told, decide
from shelfd.memory.knowledge.evolution.reading import SENTENCES
from shelfd.memory.knowledge.evolution.verdicts import Verdict
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.notes.note import Note
from shelfd.memory.ports.evolution import CHANGED, EDITED_APART, ONE_KEY, OlderNote, StoredConflict

#: Conflicts of one note that are looked at.
_CONFLICTS: Final = 256
#: Which of two notes counts is still to be decided as long as one excludes the other.
_EXCLUDING: Final = (Verdict.CONFLICT, Verdict.UPDATED, Verdict.CORRECTED)


def settle(tx: Transaction, notes: Iterable[Note]) -> set[int]:
    """Compare notes that were changed again with those that they are, or were, in conflict with.

    A conflict of copies of a shelf is nothing that follows from what notes say, and stays.

    Returns:
        The rows of the notes of those conflicts that it closed.
    """
    over: set[int] = set()
    for note in notes:
        for conflict in tx.rows.conflicts.of_note(note.row, limit=_CONFLICTS):
            if conflict.resolution not in (None, CHANGED) or conflict.reason in (EDITED_APART, ONE_KEY):
                continue
            found = _verdicts(tx, note, conflict)
            if conflict.resolution is None and found is not None and found.isdisjoint(_EXCLUDING):
                tx.put_conflict(conflict._replace(resolved_at=tx.now, resolution=CHANGED))
                over.update((conflict.a, conflict.b))
            elif conflict.resolution is not None and found is not None and Verdict.CONFLICT in found:
                tx.put_conflict(conflict._replace(resolved_at=None, resolution=None))
    return over


def _verdicts(tx: Transaction, note: Note, conflict: StoredConflict) -> set[Verdict] | None:
    """What each note of a conflict makes of the other; None if one does not count, or says too much to be compared."""
    ends = tx.rows.notes.by_rows([conflict.a, conflict.b])
    if len({end.nugget for end in ends.values()}) > 1:
        return set()  # what is said in two nuggets is not compared
    if any(end.expires_at is not None and end.expires_at <= tx.now for end in ends.values()):
        return set()
    both = tx.rows.statements.older([conflict.a, conflict.b], note.nugget, now=tx.now)
    if len(both) < 2:
        return None
    if any(one.valid_to is not None and one.valid_to <= tx.now for one in both):
        return set()
    newer, older = (_told(tx, one) for one in both)
    if max(len(newer.statements), len(older.statements)) > SENTENCES:
        return None
    return {decide(one, [other])[other.id].verdict for one, other in ((newer, older), (older, newer))}


def _told(tx: Transaction, one: OlderNote) -> Told:
    return Told(one.id, "", one.when, one.key, said_by(tx, one), ())
