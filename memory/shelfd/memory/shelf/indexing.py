"""What the recall index is told of a note."""

from contextlib import suppress

import structlog

from shelfd.memory.notes.note import Note
from shelfd.memory.recall import Document, Names, RecallIndex
from shelfd.memory.recall.note_score import boost_of

log = structlog.get_logger("shelfd.memory")


class Intake:
    """Takes notes, and their names, into a shelf's recall. One that cannot be is skipped, and named in the log."""

    def __init__(self, index: RecallIndex, names: Names, shelf: str) -> None:
        self._index = index
        self._names = names
        self._shelf = shelf
        self._skipped: set[int] = set()  # rows

    @property
    def skipped(self) -> int:
        """How many notes recall does not know because they could not be indexed as they are now."""
        return len(self._skipped)

    def knows(self, row: int) -> bool:
        """Return whether the note of *row* was taken in or skipped."""
        return row in self._index or row in self._skipped

    def put(self, note: Note) -> None:
        """Index *note* as it is now."""
        try:
            self._index.put(document_of(note))
            self._names.put(note.row, names_of(note), title=note.title)
        except Exception as error:  # noqa: BLE001 - the note is durable; one that cannot be indexed must hold up nobody
            log.error("index.note_skipped", shelf=self._shelf, id=note.id, error=type(error).__name__)
            self._skipped.add(note.row)
            with suppress(Exception):  # it must not be found by what it said before
                self._forget(note.row)
        else:
            self._skipped.discard(note.row)

    def remove(self, row: int) -> None:
        """Forget the note of *row*; an unknown one is no error."""
        self._forget(row)
        self._skipped.discard(row)

    def _forget(self, row: int) -> None:
        self._names.remove(row)
        self._index.remove(row)


def names_of(note: Note) -> tuple[str, ...]:
    """Return by what *note* is called beside its title: its key if it is a fact, its aliases."""
    aliases = note.extra.aliases
    return aliases if note.key is None else (note.title, *aliases)


def document_of(note: Note) -> Document:
    """Return *note* as recall indexes it: title, aliases, own tags and content are its text."""
    parts = [*((note.title,) if note.title else ()), *note.extra.aliases]
    if note.tags:
        parts.append(" ".join(note.tags))
    parts.append(note.content)
    return Document(
        row=note.row,
        id=note.id,
        nugget=note.nugget,
        session=note.session_id,
        turn=note.turn,
        author=note.author,
        when=note.when,
        text="\n".join(parts) if len(parts) > 1 else note.content,
        kind=note.kind,
        type=note.type,
        subject=note.subject,
        scope=note.scope,
        domain=note.domain,
        tags=note.all_tags,
        hidden=note.archived_at is not None,
        superseded=note.superseded_by is not None,
        expires_at=note.expires_at,
        title=note.title,
        boost=boost_of(note.stability, note.scope, note.confidence),
    )
