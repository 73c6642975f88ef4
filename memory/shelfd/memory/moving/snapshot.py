"""A snapshot of a shelf: its notes as lines of JSON, for people and for other programs, and to be read back.

A line has the shape that ZettelForge gives a note. What that has no place for is under ``shelfd``, all that is needed
to have the note again as it was: the note's fields but for its text, the links that leave it, and how it was used. The
first line of each nugget has its options and types of notes as well.
"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from pydantic_core import to_json

from shelfd.memory.notes.filter import NoteFilter
from shelfd.memory.notes.note import BLANK, Link, Note, Usage
from shelfd.memory.notes.text import first_sentence
from shelfd.memory.ports.view import View
from shelfd.memory.recall.note_score import note_vector
from shelfd.memory.shelf.shelf import Shelf
from shelfd.protocol import from_micros

#: Of what stands under ``shelfd``.
FORMAT: Final = 1
#: Of a note's fields, those that stand elsewhere in the line, or belong to the shelf.
ELSEWHERE: Final = frozenset({"row", "id", "content"})
_TAGS = 5
#: Notes read with one statement, and how long they are rendered before others get their turn.
_READ_AT_ONCE: Final = 32
_TURN_S: Final = 0.004
_NEVER_USED: Final = Usage()


async def write_snapshot(shelf: Shelf) -> dict[str, Any]:
    """Write all notes of a shelf, as they are at one moment, to a file beside it; return where, and how many.

    Raises:
        Unavailable: If it cannot be written, or the shelf is being closed; then there is no file.
    """
    await shelf.write_usage()
    moment = datetime.fromtimestamp(shelf.clock.now() / 1e6, tz=UTC)
    count = 0
    async with shelf.store.snapshot(f"notes_{moment:%Y%m%d_%H%M%S}") as snapshot:
        lines = ShelfLines(snapshot.view)
        while notes := lines.next_notes():
            part: list[bytes] = []
            until = shelf.clock.monotonic() + _TURN_S
            for line in lines.of(notes):
                part.append(to_json(line) + b"\n")
                if shelf.clock.monotonic() >= until:
                    await asyncio.sleep(0)
                    until = shelf.clock.monotonic() + _TURN_S
            await snapshot.write(b"".join(part))
            count += len(notes)
    return {"path": snapshot.path, "notes": count}


class ShelfLines:
    """The lines of a shelf's notes, by row, a few at a time.

    Args:
        view: The shelf.
        is_lean: Whether what other programs read is left out: what a note's line has beside its text and ``shelfd``.
    """

    def __init__(self, view: View, *, is_lean: bool = False) -> None:
        self._view = view
        self._is_lean = is_lean
        self._after: tuple[int, int] | None = None
        self._nuggets: set[str] = set()

    def next_notes(self) -> Sequence[Note]:
        """Return the next notes; none when there are no more."""
        everything = NoteFilter(include_hidden=True)
        notes = self._view.notes.page(everything, order="row", descending=False, after=self._after, limit=_READ_AT_ONCE)
        if notes:
            self._after = (notes[-1].row, notes[-1].row)
        return notes

    def of(self, notes: Sequence[Note]) -> Iterator[dict[str, Any]]:
        """Yield the line of each note."""
        links = self._view.links.leaving([note.id for note in notes])
        usages = self._view.usage.by_rows([note.row for note in notes])
        for note in notes:
            usage, leaving = usages.get(note.row, _NEVER_USED), links.get(note.id, ())
            rest = self._rest(note, leaving, usage)
            if self._is_lean:
                yield {"id": note.id, "content": {"raw": note.content}, "shelfd": rest}
            else:
                yield {**self._shown(note, leaving, usage), "shelfd": rest}

    def empty_nuggets(self, *, after: str) -> Iterator[dict[str, Any]]:
        """Yield a line for each of the next nuggets that no line has named so far; none when there are no more."""
        for nugget in self._view.nuggets.page(after=after, limit=_READ_AT_ONCE):
            yield {"id": nugget.name, "shelfd": {"format": FORMAT, **self._nugget_of(nugget.name)}}

    def _shown(self, note: Note, links: Sequence[Link], usage: Usage) -> dict[str, Any]:
        extra = note.extra
        system = note.system_tags
        vector = note_vector(note.title, note.content, note.tags)
        entities = self._view.entities.of_note(note.row)
        accessed = from_micros(usage.last_accessed_at) if usage.last_accessed_at else None
        return {
            "id": note.id,
            "version": 1 + extra.evolution_count,
            "created_at": from_micros(note.created_at),
            "updated_at": from_micros(note.updated_at),
            "evolved_from": None,
            "evolved_by": list(extra.evolved_by),
            "content": {
                "raw": note.content,
                "source_type": extra.source_type,
                "source_ref": extra.source_ref or "",
            },
            "semantic": {
                "context": first_sentence(note.content),
                "keywords": vector.keywords,
                "tags": [tag for tag in note.all_tags if tag not in system][:_TAGS],
                "entities": [entity.value for entity in entities],
            },
            "embedding": {"model": "", "vector": [], "dimensions": 0, "input_hash": ""},
            "links": {
                "related": list(dict.fromkeys(link.target for link in links)),
                "superseded_by": note.superseded_by,
                "supersedes": self._view.notes.superseded_by(note.id),
                "causal_chain": [],
            },
            "metadata": {
                "access_count": usage.access_count,
                "last_accessed": accessed,
                "evolution_count": extra.evolution_count,
                "confidence": note.confidence,
                "ttl": extra.ttl_days,
                "domain": note.domain,
                "tier": note.tier,
                "importance": note.importance,
            },
        }

    def _rest(self, note: Note, links: Sequence[Link], usage: Usage) -> dict[str, Any]:
        told = zip(Note._fields, note, BLANK, strict=True)
        fields: dict[str, Any] = {
            name: value for name, value, unset in told if name not in ELSEWHERE and value != unset
        }
        if "extra" in fields:
            fields["extra"] = note.extra.as_mapping()
        rest: dict[str, Any] = {"format": FORMAT, "note": fields}
        if links:
            rest["links"] = [link._asdict() for link in links]
        if usage != _NEVER_USED:
            rest["usage"] = usage._asdict()
        return {**rest, **self._nugget_of(note.nugget)}

    def _nugget_of(self, name: str) -> Mapping[str, Any]:
        """What is said of a nugget, where that is met first."""
        if name in self._nuggets:
            return {}
        self._nuggets.add(name)
        nugget = self._view.nuggets.get(name)
        found: dict[str, Any] = {} if nugget is None else {"nugget": nugget._asdict()}
        types = self._view.note_types.of(name)
        return {**found, "types": types} if types else found
