"""A shelf's recall index as a projection of its notes."""

from collections.abc import Callable, Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from datetime import tzinfo
from functools import cache, lru_cache
from typing import ClassVar, Final
from zlib import crc32

import numpy as np

from shelfd.memory.notes.digest import is_digest
from shelfd.memory.notes.note import NO_EXTRA, QUARANTINED, Link, Note
from shelfd.memory.ports.image import Frozen
from shelfd.memory.ports.projection import Pictured, PurgedNote
from shelfd.memory.ports.view import View
from shelfd.memory.recall.analyzer import Analyzer
from shelfd.memory.recall.document import Document, made, standing_of
from shelfd.memory.recall.focus import Focus
from shelfd.memory.recall.index import RecallIndex
from shelfd.memory.recall.names import Names
from shelfd.memory.recall.note_score import boost_of
from shelfd.memory.recall.question import Questions
from shelfd.memory.recall.repetitions import Repetitions
from shelfd.memory.recall.stored import texts, texts_of
from shelfd.memory.settings import MemorySettings

#: How names are written in an image: index terms have no such characters.
_NAMES, _BETWEEN_WORDS, _BETWEEN_NAMES = "names", "\x1f", "\x1e"
#: Texts that show how texts are read: whoever reads one of them differently cannot use the image.
_READ: Final = (
    "The geese's children went to Zürich yesterday, on 7 May 2023 at 10:30; didn't they?",
    "getUserName get_user_name HTTPServer2 v1.2.3 CVE-2024-1234 /etc/hosts https://example.org/a?b=c 3.5 km 🙂",
    "日本語の本 한국어 Größe STRASSE café naïve Donaudampfschiff l'été mañana well-known up-to-date",
    "Die Häuser wurden gestern von meinen Freunden gereinigt, aber nicht alle.",
    "Las casas fueron vendidas ayer por mis amigos, pero no todas.",
    "Les maisons ont été vendues hier par mes amis, mais pas toutes.",
    "She earned $1,200.50 a month, weighs 60 kg and calls +49 30 1234567 at 5 Main Street twice a week.",
    "The tests of 2024-03-05 and 6.3.2024 failed.",
    "昨天和去年，昨日と先週。2026年12月3日",
    "Der Thermostat des Kühlschranks: Kühlschrankthermostat, Rauchmelder",
)


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

    def over(self, notes: Mapping[str, Note]) -> Mapping[str, Note]:
        """Return *notes* as they would be."""
        return {note_id: self.notes.get(note_id, note) for note_id, note in notes.items()} if self.notes else notes

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


class ShelfIndex(Pictured):
    """All notes of a shelf as recall finds them, by their words and names; hidden ones, too."""

    name: ClassVar[str] = "index"
    at_once: ClassVar[int] = 128
    image_version: ClassVar[int] = 7

    def __init__(self, view: View, settings: MemorySettings) -> None:
        del view
        self._analyzer = Analyzer(language=settings.language, timezone=settings.timezone)
        self._questions = Questions(self._analyzer)
        self.repetitions = Repetitions(self._analyzer)
        self.clear()

    def clear(self) -> None:
        """Begin with an empty index."""
        self._begin(RecallIndex(self._analyzer), Names(self._analyzer))

    def _begin(self, index: RecallIndex, names: Names) -> None:
        self.index, self._names = index, names
        self.focus = Focus(index, names, questions=self._questions)

    def apply(self, notes: Sequence[Note]) -> None:
        """Index *notes* as they are now."""
        self.index.extend(list(map(document_of, notes)))
        named = self._names.named
        for note in notes:
            if note.title or note.extra is not NO_EXTRA or note.row in named:  # of most notes none of it
                self._names.put(note.row, names_of(note), title=note.title)

    def purge(self, purged: Sequence[PurgedNote]) -> None:
        """Remove these notes from the index, and all that it has of what they said before."""
        for row, _ in purged:
            self._names.remove(row)
        self.index.erase([row for row, _ in purged])

    def tidy(self) -> bool:
        """Merge segments, of which queries look at each; what is written takes such steps, too. See the port."""
        return self.index.merge_some()

    def made_by(self) -> str:
        """Return what differs if texts are read in another way than by this version, with these settings."""
        return _made_by(self._analyzer.language, self._analyzer.timezone)

    def prepare(self) -> None:
        """Make a segment of what was written last. See the port."""
        self.index.flush()

    def freeze(self, stored: Collection[str]) -> Callable[[], Frozen]:
        """Return what gives the index as it is now. See the port."""
        frozen, (rows, names) = self.index.freeze(stored), self._names.stored()

        def parts() -> Frozen:
            facts, arrays = frozen()
            lines = [_BETWEEN_NAMES.join(_BETWEEN_WORDS.join(name) for name in some) for some in names]
            return Frozen(facts, {**arrays, _NAMES: {**texts(lines), "rows": np.array(rows, np.int64)}})

        return parts

    def release(self) -> None:
        """Let what was frozen change again. See the port."""
        self.index.release()

    def thaw(self, frozen: Frozen) -> Callable[[], None]:
        """Make an index of what was stored. See the port."""
        index, names, parts = RecallIndex(self._analyzer), Names(self._analyzer), dict(frozen.parts)
        arrays = parts.pop(_NAMES) or {}
        index.restore(Frozen(frozen.facts, parts))
        lines = (line.split(_BETWEEN_NAMES) for line in texts_of(arrays))
        names.restore(
            arrays["rows"].tolist(), (tuple(tuple(name.split(_BETWEEN_WORDS)) for name in some) for some in lines)
        )

        def use() -> None:
            self._begin(index, names)

        return use

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
        return Focus(self.index.overlay(list(map(document_of, notes))), names, questions=self._questions)


@cache
def _made_by(language: str, timezone: tzinfo) -> str:
    """What :meth:`ShelfIndex.made_by` does: the same in all of a process, and some milliseconds of the event loop."""
    analyzer = Analyzer(language=language, timezone=timezone)
    read = [(analyzer.parse_text(text), analyzer.terms(text)) for text in _READ]
    names = [list(Names(analyzer).forms(text)) for text in _READ]
    day = analyzer.day_words(analyzer.day(0))
    known = crc32(repr((read, names, day)).encode("utf-8", "surrogatepass"))
    return f"{language} {timezone} {known:08x}"


_boost: Final = lru_cache(256)(boost_of)  # notes differ little in what it is made of


def names_of(note: Note) -> tuple[str, ...]:
    """Return by what *note* is called beside its title: its key if it is a fact, its aliases."""
    aliases = note.extra.aliases
    return aliases if note.key is None else (note.title, *aliases)


def document_of(note: Note) -> Document:
    """Return *note* as recall indexes it: title, aliases, own tags and content are its text."""
    # By place, here and below: to ask for each field by its name takes three times as long.
    (
        row, note_id, nugget, kind, title, _, content, tags, type_, subject, scope, _, confidence, stability, domain,
        tier, importance, author, session, turn, _, occurred_at, valid_from, valid_to, expires_at, archived_at,
        superseded_by, _, _, created_at, _, _, extra,
    ) = note  # fmt: skip
    text = content
    if title or tags or extra is not NO_EXTRA:
        if extra.is_rollup and is_digest(note):
            content, session = "", None  # recall finds the notes it cites
        before = (*((title,) if title else ()), *extra.aliases, *((" ".join(tags),) if tags else ()))
        text = "\n".join((*before, content))
    values = (
        row, note_id, nugget, session, turn, author, created_at if occurred_at is None else occurred_at, text, kind,
        type_, subject, scope, domain, note.all_tags, archived_at is not None, superseded_by is not None, expires_at,
        title, _boost(stability, scope, confidence), valid_from, valid_to, standing_of(tier, importance),
        extra.trust == QUARANTINED,
    )  # fmt: skip
    return made(Document, values)
