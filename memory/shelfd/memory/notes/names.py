"""By which names a note is known to those who write about the same thing again."""

from shelfd.memory.notes.note import Note, fold_key

_NONE: frozenset[str] = frozenset()


def names_of(note: Note) -> frozenset[str]:
    """Return the folded names by which a visible note of kind ``note`` can be found: its title and its aliases.

    A fact has a key instead; what is hidden, replaced or quarantined answers to no name.
    """
    if (
        not (note.title or note.extra.aliases)
        or note.key is not None
        or note.archived_at is not None
        or note.superseded_by is not None
        or note.quarantined
    ):
        return _NONE
    names = (fold_key(name) for name in (note.title, *note.extra.aliases))
    return frozenset(name for name in names if name)
