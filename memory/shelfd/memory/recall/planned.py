"""What a shelf would look like: changes that somebody means to make, laid over what is there."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from shelfd.memory.notes.note import Link, Note


@dataclass(frozen=True, slots=True)
class Planned:
    """Changes that are not made yet.

    Attributes:
        notes: Notes as they would be, by id; all of them exist already.
        links: Links that would be added, by their source.
    """

    notes: Mapping[str, Note] = field(default_factory=dict)
    links: Mapping[str, Sequence[Link]] = field(default_factory=dict)

    def over(self, notes: Mapping[str, Note]) -> dict[str, Note]:
        """Return *notes* as they would be."""
        return {note_id: self.notes.get(note_id, note) for note_id, note in notes.items()}


#: No change at all.
NOTHING_PLANNED: Final = Planned()
