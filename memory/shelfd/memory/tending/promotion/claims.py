"""Whose line is it: what promotion wrote and is unchanged, what a person changed, what a person removed."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from shelfd.memory.ports.tending import Promoted
from shelfd.memory.tending.promotion.document import Line, MemoryFile, Part
from shelfd.memory.tending.promotion.entries import PromotionLine, title_of


class Place(NamedTuple):
    """Where a line stands."""

    line: Line
    part: Part


class Claims(NamedTuple):
    """What promotion finds of its own in a document, and what it must not write.

    Attributes:
        standing: Entries whose line stands there as it was written, by note.
        stale: Lines of promotion's that belong to no entry any more.
        theirs: Entries whose line a person changed, or whose title a person wrote a line for.
        taken_out: Notes whose line a person changed or took out: entries that still say the same, and notes that
            are no entries now.
    """

    standing: Mapping[str, Place]
    stale: Sequence[Place]
    theirs: frozenset[str]
    taken_out: frozenset[str]


def claim(document: MemoryFile, entries: Sequence[PromotionLine], written: Mapping[str, Promoted]) -> Claims:
    """Find out whose each line is, and mark promotion's own with their notes.

    A line that says exactly what promotion would write now counts as its own even if it is not known to be
    *written*: a crash may have come between the file and the record of it.

    Args:
        written: What promotion wrote last time, by note.
    """
    free = _Free(document)
    standing: dict[str, Place] = {}
    for entry in entries:
        base = written.get(entry.note_id)
        if base is not None and (place := free.take(base.line, base.section, entry.note_id)):
            standing[entry.note_id] = place
    for entry in entries:
        if entry.note_id not in standing and (place := free.take(entry.line, entry.section, entry.note_id)):
            standing[entry.note_id] = place
    current = {entry.note_id for entry in entries}
    stale: list[Place] = []
    absent: set[str] = set()
    for base in (base for base in written.values() if base.note_id not in current):
        if place := free.take(base.line, base.section, base.note_id):
            stale.append(place)
        elif base.line not in free.taken:  # else the line stands for another note that says the same
            absent.add(base.note_id)
    missing = [entry for entry in entries if entry.note_id not in standing]
    theirs, taken_out = _settled(missing, written, _titles(document))
    return Claims(standing, stale, theirs, taken_out | absent)


class _Free:
    """Lines not claimed yet, by their text."""

    def __init__(self, document: MemoryFile) -> None:
        self._places: dict[str, list[Place]] = defaultdict(list)
        self.taken: set[str] = set()
        for place in _places(document):
            self._places[place.line.text].append(place)

    def take(self, text: str, section: str, note_id: str) -> Place | None:
        """Give a note the first such line of its section, or else the first one anywhere."""
        places = self._places.get(text)
        if not places:
            return None
        place = next((place for place in places if place.part.section == section), places[0])
        places.remove(place)
        self.taken.add(text)
        place.line.owner = note_id
        return place


def _places(document: MemoryFile) -> Iterator[Place]:
    for part in document.parts:
        for line in part.body:
            if not line.is_opaque:
                yield Place(line, part)


def _titles(document: MemoryFile) -> dict[str, set[str]]:
    """The titles that people's bullets have, with the sections they stand in."""
    titles: dict[str, set[str]] = defaultdict(set)
    for line, part in _places(document):
        if line.owner is None and (title := title_of(line.text)) is not None:
            titles[title].add(part.section)
    return titles


def _settled(
    missing: Sequence[PromotionLine], written: Mapping[str, Promoted], titles: Mapping[str, set[str]]
) -> tuple[frozenset[str], frozenset[str]]:
    """Of the entries without a line, those that a person has changed or taken out."""
    theirs, taken_out = set(), set()
    for entry in missing:
        title, base = title_of(entry.line) or "", written.get(entry.note_id)
        if base is None:
            if entry.section in titles.get(title, ()):
                theirs.add(entry.note_id)
        elif title in titles or title_of(base.line) in titles:
            theirs.add(entry.note_id)
        elif base.line == entry.line:
            taken_out.add(entry.note_id)
    return frozenset(theirs), frozenset(taken_out)
