"""A shelf's recall index as a projection of its notes."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import ClassVar, Final

from shelfd.memory.notes.digest import is_digest
from shelfd.memory.notes.note import Link, Note
from shelfd.memory.ports.projection import Projection, PurgedNote
from shelfd.memory.ports.view import View
from shelfd.memory.recall.analyzer import Analyzer
from shelfd.memory.recall.document import Document, standing_of
from shelfd.memory.recall.focus import Focus
from shelfd.memory.recall.index import RecallIndex
from shelfd.memory.recall.names import Names
from shelfd.memory.recall.note_score import boost_of
from shelfd.memory.recall.question import Questions
from shelfd.memory.settings import MemorySettings


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """Changes that are not made yet.

    Attributes:
        notes: Notes as they would be, by id; all of them exist already.
        links: Links that would be added, by their source.
        passed_over: Rows that ranking passes over.
    """

    notes: Mapping[str, Note] = field(default_factory=dict)
    links: Mapping[str, Sequence[Link]] = field(default_factory=dict)
    passed_over: AbstractSet[int] = frozenset()

    def over(self, notes: Mapping[str, Note]) -> dict[str, Note]:
        """Return *notes* as they would be."""
        return {note_id: self.notes.get(note_id, note) for note_id, note in notes.items()}

    def keyed(self, key: str) -> Sequence[Note]:  # noqa: ARG002
        """Return facts that would have a folded key which they do not have now."""
        return ()

    def linked(self, links: Mapping[str, Sequence[Link]]) -> Mapping[str, Sequence[Link]]:
        """Return the *links* that leave notes as they would be."""
        return (
            {note_id: [*now, *self.links.get(note_id, ())] for note_id, now in links.items()} if self.links else links
        )


#: No change at all.
NOTHING_PLANNED: Final = Planned()


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

    def purge(self, purged: Sequence[PurgedNote]) -> None:
        """Remove these notes from the index."""
        for row, _ in purged:
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
    content, session = note.content, note.session_id
    if note.extra.is_rollup and is_digest(note):
        content, session = "", None  # recall finds the notes it cites
    parts.append(content)
    return Document(
        row=note.row,
        id=note.id,
        nugget=note.nugget,
        session=session,
        turn=note.turn,
        author=note.author,
        when=note.when,
        text="\n".join(parts) if len(parts) > 1 else content,
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
        valid_from=note.valid_from,
        valid_to=note.valid_to,
        standing=standing_of(note.tier, note.importance),
        quarantined=note.quarantined,
    )
