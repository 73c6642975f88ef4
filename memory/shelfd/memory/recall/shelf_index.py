"""A shelf's recall index as a projection of its notes."""

from collections.abc import Sequence
from typing import ClassVar

from shelfd.memory.notes.note import Note
from shelfd.memory.ports.projection import Gone, Projection
from shelfd.memory.ports.view import View
from shelfd.memory.recall.analyzer import Analyzer
from shelfd.memory.recall.document import Document
from shelfd.memory.recall.focus import Focus
from shelfd.memory.recall.index import RecallIndex
from shelfd.memory.recall.names import Names
from shelfd.memory.recall.note_score import boost_of
from shelfd.memory.recall.planned import Planned
from shelfd.memory.recall.question import Questions
from shelfd.memory.settings import MemorySettings


class ShelfIndex(Projection):
    """All notes of a shelf as recall finds them, by their words and names; hidden ones, too."""

    name: ClassVar[str] = "index"

    def __init__(self, view: View, settings: MemorySettings) -> None:
        del view
        self._analyzer = Analyzer(language=settings.language, timezone=settings.timezone)
        self._questions = Questions(self._analyzer)
        self.clear()

    def clear(self) -> None:
        """Begin with an empty index."""
        self.index = RecallIndex(self._analyzer)
        self._names = Names(self._analyzer)
        self.focus = Focus(self.index, self._names, questions=self._questions)

    def apply(self, notes: Sequence[Note]) -> None:
        """Index *notes* as they are now."""
        for note in notes:
            self.index.put(document_of(note))
            self._names.put(note.row, names_of(note), title=note.title)

    def forget(self, gone: Sequence[Gone]) -> None:
        """Find these notes no more."""
        for row, _ in gone:
            self._names.remove(row)
            self.index.remove(row)

    def may_be_key(self, query: str) -> bool:
        """Return whether *query* may be the key of a fact; False for certain if this knows all notes."""
        return self._names.may_be(query)

    def as_planned(self, planned: Planned) -> Focus:
        """Return what would recall if what is *planned* had been done; good until the next change."""
        if not planned.notes:
            return self.focus
        notes = planned.notes.values()
        names = self._names.layer()
        for note in notes:
            names.put(note.row, names_of(note), title=note.title)
        return Focus(self.index.overlay(map(document_of, notes)), names, questions=self._questions)


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
