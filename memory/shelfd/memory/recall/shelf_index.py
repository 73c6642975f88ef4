"""A shelf's recall index as a projection of its notes."""

from collections.abc import Sequence
from typing import ClassVar

from shelfd.memory.notes.note import Note
from shelfd.memory.ports.projection import Gone, Projection
from shelfd.memory.ports.view import View
from shelfd.memory.recall.analyzer import Analyzer
from shelfd.memory.recall.document import Document
from shelfd.memory.recall.index import RecallIndex
from shelfd.memory.recall.note_score import boost_of
from shelfd.memory.recall.planned import Planned
from shelfd.memory.settings import MemorySettings


class ShelfIndex(Projection):
    """All notes of a shelf as recall finds them, hidden ones included."""

    name: ClassVar[str] = "index"

    def __init__(self, view: View, settings: MemorySettings) -> None:
        del view
        self._settings = settings
        self.index = self._empty()

    def _empty(self) -> RecallIndex:
        return RecallIndex(Analyzer(language=self._settings.language, timezone=self._settings.timezone))

    def apply(self, notes: Sequence[Note]) -> None:
        """Index *notes* as they are now."""
        for note in notes:
            self.index.put(document_of(note))

    def forget(self, gone: Sequence[Gone]) -> None:
        """Find these notes no more."""
        for row, _ in gone:
            self.index.remove(row)

    def as_planned(self, planned: Planned) -> RecallIndex:
        """Return the index as it would be if what is *planned* had been done; good until the next change."""
        return self.index.overlay(map(document_of, planned.notes.values())) if planned.notes else self.index

    def clear(self) -> None:
        """Begin with an empty index."""
        self.index = self._empty()


def document_of(note: Note) -> Document:
    """Return *note* as recall indexes it: title, aliases, own tags and content are its text."""
    parts = [note.title] if note.title else []
    if aliases := note.extra.get("aliases"):
        parts.extend(aliases)
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
