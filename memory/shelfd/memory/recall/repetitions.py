"""Notes that say the same: told by their words, but for case, accents, punctuation and articles."""

from collections.abc import Hashable, Sequence
from operator import attrgetter
from typing import Final

from shelfd.memory.notes.note import Note
from shelfd.memory.notes.words import fold
from shelfd.memory.recall.analyzer import Analyzer

_ARTICLES: Final = frozenset({"a", "an", "the"})
#: What may differ. Other signs count: "C++" is not "C#", a question no statement, and thumbs up are not thumbs down.
_PUNCTUATION: Final = dict.fromkeys(map(ord, ".,;:!'\"()\u2018\u2019\u201c\u201d\u2026\u2013\u2014 \t\n"))
#: What outlines of texts leave out, as bytes: all but digits and those letters that no article has.
_NOT_OUTLINED: Final = bytes(set(range(256)) - {*b"bcdfgijklmopqrsuvwxyz0123456789"})
_said_of: Final = attrgetter(
    *("nugget", "kind", "type", "subject", "scope", "author", "occurred_at", "turn", "valid_from", "valid_to"),
    *("pinned", "tier", "importance", "confidence"),
)
#: Texts that are kept as a number: some 100 bytes each.
_KEPT: Final = 4_096
#: Characters that are compared word by word; longer notes are the same if they are equal.
_COMPARED: Final = 4_000


class Repetitions:
    """Tells whether notes say the same.

    Args:
        analyzer: Splits their texts.
    """

    def __init__(self, analyzer: Analyzer) -> None:
        self._analyzer = analyzer
        self._numbers: dict[int, int] = {}  #: by the hash of a text

    def are_there(self, notes: Sequence[Note]) -> bool:
        """Return whether two of *notes* may say the same; False for certain."""
        if len({(note.session_id, note.turn) for note in notes if note.turn is not None}) == len(notes):
            return False  # turns of conversations, each another
        circumstances = list(map(_circumstances, notes))
        if len({*circumstances}) == len(notes):
            return False
        if len({(of, _outline(note)) for of, note in zip(circumstances, notes, strict=True)}) == len(notes):
            return False  # nearly always, and in a tenth of the time that words take
        return len({*map(self.sign, notes)}) < len(notes)

    def sign(self, note: Note) -> Hashable:
        """Return what two notes have in common that say the same, of the same, by the same.

        Turns of a conversation never say the same, nor does what happened at different times: "thanks" is said often.
        """
        return self._number(note), _circumstances(note)

    def _number(self, note: Note) -> int:
        """Return a number that notes with the same words have in common."""
        text = hash((note.title, note.content))
        number = self._numbers.get(text)
        if number is None:
            if len(self._numbers) >= _KEPT:
                self._numbers.clear()
            number = self._numbers[text] = hash(self._said(note))
        return number

    def _said(self, note: Note) -> Hashable:
        parts = (note.title, note.content)
        if len(note.content) > _COMPARED:
            return parts
        signs = "".join(part.translate(_PUNCTUATION) for part in parts)
        signs = "".join(sign for sign in signs if not sign.isalnum())
        return tuple(tuple(w for w in self._analyzer.words(part) if w not in _ARTICLES) for part in parts), signs


def _circumstances(note: Note) -> Hashable:
    """Return all but the words that two notes have in common that say the same."""
    session = note.session_id if note.turn is not None or note.private else None
    return session, note.superseded_by is None, note.hidden, _said_of(note)


def _outline(note: Note) -> tuple[bytes, bytes]:
    """Return what two notes have in common that say the same, as others may: little of their texts."""
    return _outlined(note.title), _outlined(note.content)


def _outlined(text: str) -> bytes:
    return fold(text[:_COMPARED]).encode("utf-8", "surrogatepass").translate(None, _NOT_OUTLINED)
