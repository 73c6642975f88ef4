"""What holds for a nugget while a job works on all of its notes."""

from typing import Final

from shelfd.memory.errors import Conflict
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.notes.note import Note

_WRITTEN: Final = ("note.created", "note.restored")
_MOST: Final = 1000
#: Kinds of jobs that work on all notes of the nugget in their params.
_ON_ALL: Final = ("hide", "purge", "retype")
#: Kinds of jobs that have text beside them of which they make notes, and what they do.
_INTAKE: Final = {"import": "importing", "extraction": "extracting turns", "distillation": "reading a report"}


def check_free(tx: Transaction, name: str) -> None:
    """Make sure that no job works on all notes of a nugget: none may leave, come or change its nugget's name then.

    Raises:
        Conflict: If one does.
    """
    for _, job in tx.rows.jobs.page(unfinished=True, before=None, limit=_MOST):
        if job.kind in _ON_ALL and job.params.get("nugget") == name:
            text = f"job {job.id} is at work on nugget {name!r}; job.get shows how far it is"
            raise Conflict(text, nugget=name, job=job.id)


def check_no_intake(tx: Transaction) -> None:
    """Make sure that no import, extraction or report could bring back what is about to be purged.

    The pieces of those that were given up are deleted: these cannot be retried after the purge.

    Raises:
        Conflict: If something is.
    """
    for kind, doing in _INTAKE.items():
        for _, job in tx.rows.jobs.page(unfinished=True, kind=kind, before=None, limit=1):
            text = f"job {job.id} is {doing}, and may bring back what is purged; try again when it has ended"
            raise Conflict(text, job=job.id)
    tx.rows.jobs.delete_pieces(None)


def is_written_later(tx: Transaction, note: Note, seq: int) -> bool:
    """Return whether *note* was written after change *seq*, with which the job was requested: such a note stays."""
    later = tx.rows.log.of_note(note.row, since_seq=seq)
    return any(row.kind in _WRITTEN or "content" in (row.before or {}) for row in later)


def notes_in(tx: Transaction, name: str, *, after: tuple[int, int], limit: int) -> list[tuple[tuple[int, int], Note]]:
    """Return the next notes of a nugget with their places, in the order in which they were last changed.

    That is how the nugget's index has them; by row, each call would sort all of them.
    """
    places = tx.rows.notes.changed_positions(name, after=after, limit=limit)
    notes = tx.rows.notes.by_rows([row for _, row in places])
    return [(place, notes[place[1]]) for place in places]
