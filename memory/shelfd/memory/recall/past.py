"""What a shelf knew after an earlier change: which notes were different then, read from its log.

Recall asks the index of now for what has not changed since, and adds the notes that have as they were. Two such pasts
are kept of a shelf; they follow its log, and nothing of them stays when a note is purged.
"""

import asyncio
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from weakref import WeakKeyDictionary

from shelfd.memory.errors import Conflict, HistoryTrimmed
from shelfd.memory.log.history import KnownThen, all_as_known, as_known, links_then
from shelfd.memory.notes.note import Link, Note
from shelfd.memory.ports.projection import PURGED
from shelfd.memory.ports.store import Applied
from shelfd.memory.recall.analyzer import Analyzer
from shelfd.memory.recall.shelf_index import Planned, ShelfIndex, document_of
from shelfd.memory.shelf.shelf import Shelf

#: Notes that may have changed since, and characters of their text; further back nothing is shown.
MOST_NOTES: Final = 20_000
MOST_CHARACTERS: Final = 20_000_000
#: Pasts kept of a shelf: those that were asked for last.
_KEPT: Final = 2
#: Changes, and notes, read before other tasks have their turn.
_CHANGES: Final = 5_000
_NOTES: Final = 64

#: Changes after which the log itself says something else of what was.
_REWRITTEN: Final = frozenset({PURGED, "nugget.renamed"})


class Past:
    """A shelf as it was after a change.

    Attributes:
        seq: That change.
        below: Row of the first note that was created since.
        notes: Those that have changed since, as they were, by id.
        facts: Those that are facts, by folded key.
        redacted: Ids of those of which a purge took out of the log what they said.
    """

    def __init__(self, shelf: Shelf, seq: int) -> None:
        self.seq = seq
        self._view = shelf.view
        self._analyzer: Analyzer = shelf.projection(ShelfIndex).index.analyzer
        self._reading = asyncio.Lock()
        self._times_cleared = 0
        self.clear()

    def clear(self) -> None:
        """Know nothing; it is read again when it is asked for."""
        self._times_cleared += 1
        self.below: int | None = None
        self.notes: dict[str, Note] = {}
        self.facts: defaultdict[str, list[Note]] = defaultdict(list)
        self.redacted: set[str] = set()
        self._rows: set[int] = set()
        self._characters = 0
        self._ids_by_term: defaultdict[str, list[str]] = defaultdict(list)
        self._seen = self.seq

    async def catch_up(self) -> None:
        """Read what has changed since this was called last.

        Raises:
            HistoryTrimmed: If the log no longer reaches back this far.
            Conflict: If too many notes have changed since.
        """
        async with self._reading:
            while self._seen < (last := self._view.log.last_seq):
                if (first := self._view.log.first_seq) > self.seq + 1:
                    raise HistoryTrimmed(f"the change log begins at {first}", field="known_at", first_seq=first)
                until, cleared = min(self._seen + _CHANGES, last), self._times_cleared
                touched = self._view.log.touched(after=self._seen, until=until)
                if touched.created is not None and self.below is None:
                    self.below = touched.created
                await self._read(sorted(row for row in touched.notes - self._rows if self._existed(row)))
                await asyncio.sleep(0)
                if self._times_cleared == cleared:
                    self._seen = until
                else:
                    self.clear()  # of what was read meanwhile

    def _existed(self, row: int) -> bool:
        return self.below is None or row < self.below

    async def _read(self, rows: Sequence[int]) -> None:
        if len(rows) + len(self._rows) > MOST_NOTES:
            text = f"known_at: more than {MOST_NOTES} notes have changed since; ask for a later time"
            raise Conflict(text, field="known_at", reason="TOO_LONG_AGO", limit=MOST_NOTES)
        for start in range(0, len(rows), _NOTES):
            part = rows[start : start + _NOTES]
            for known in all_as_known(self._view, part, self.seq):
                self._add(known)
            if self._characters > MOST_CHARACTERS:
                text = f"known_at: more than {MOST_CHARACTERS} characters have changed since; ask for a later time"
                self.clear()
                raise Conflict(text, field="known_at", reason="TOO_LONG_AGO", limit=MOST_CHARACTERS)
            await asyncio.sleep(0)

    def _add(self, known: KnownThen) -> None:
        note = known.note
        self._rows.add(note.row)
        self._characters += len(note.content)
        self.notes[note.id] = note
        if note.key is not None:
            self.facts[note.key].append(note)
        if known.is_redacted:
            self.redacted.add(note.id)
        for term in self._terms(note):
            self._ids_by_term[term].append(note.id)

    def _terms(self, note: Note) -> set[str]:
        analyzer, document = self._analyzer, document_of(note)
        words = analyzer.found_by(document.text, analyzer.day(document.when))
        return {analyzer.term(word) for word in (*words, *analyzer.words(note.author or ""))}

    def rewound(self, query: str, limit: int) -> "Rewound":
        """Return what ranking has to know of the notes that have changed since and have words of *query*.

        Args:
            query: What is asked.
            limit: At most so many of them: those that have most of its terms, the newest first.
        """
        counts: Counter[str] = Counter()
        for term in self._analyzer.parse_query(query).terms:
            counts.update(self._ids_by_term.get(term, ()))
        best = sorted(counts, key=lambda note_id: (counts[note_id], self.notes[note_id].row), reverse=True)[:limit]
        chosen = {note_id: self.notes[note_id] for note_id in best}
        passed_over = self._rows - {note.row for note in chosen.values()}
        return Rewound(notes=chosen, passed_over=passed_over, past=self)

    def over(self, notes: Mapping[str, Note]) -> dict[str, Note]:
        """Return *notes* as they were, also those that changed since this caught up last, on another thread."""
        found = {note_id: self.notes.get(note_id, note) for note_id, note in notes.items()}
        if self._view.log.last_seq > self._seen:
            for note_id in notes.keys() - self.notes.keys():
                if (known := as_known(self._view, note_id, self.seq)) is not None:
                    found[note_id] = known.note
        return found

    def linked(self, links: Mapping[str, Sequence[Link]]) -> Mapping[str, Sequence[Link]]:
        """Return the *links* that leave notes as they were."""
        return {note_id: links_then(self._view, note_id, now, self.seq) for note_id, now in links.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewound(Planned):
    """Notes and links as they were, in place of those of now."""

    past: Past

    def over(self, notes: Mapping[str, Note]) -> dict[str, Note]:
        """Return *notes* as they were."""
        return self.past.over(notes)

    def keyed(self, key: str) -> Sequence[Note]:
        """Return facts that had a folded key, of those that have changed since."""
        return self.past.facts.get(key, ())

    def linked(self, links: Mapping[str, Sequence[Link]]) -> Mapping[str, Sequence[Link]]:
        """Return the *links* that leave notes as they were."""
        return self.past.linked(links)


_pasts: WeakKeyDictionary[Shelf, OrderedDict[int, Past]] = WeakKeyDictionary()


def _kept(shelf: Shelf) -> OrderedDict[int, Past]:
    kept = _pasts.get(shelf)
    if kept is None:
        kept = _pasts[shelf] = pasts = OrderedDict[int, Past]()

        def followed(group: Sequence[Applied[Any]]) -> None:
            if any(row.kind in _REWRITTEN for applied in group for row in applied.rows):
                for past in pasts.values():
                    past.clear()

        shelf.at_close(shelf.store.follow(followed))
    return kept


async def past_of(shelf: Shelf, seq: int) -> Past:
    """Return a shelf as it was after change *seq*.

    Raises:
        HistoryTrimmed: If the log no longer reaches back this far.
        Conflict: If too many notes have changed since.
    """
    kept = _kept(shelf)
    past = kept.get(seq)
    if past is None:
        past = kept[seq] = Past(shelf, seq)
    kept.move_to_end(seq)
    if len(kept) > _KEPT:
        kept.popitem(last=False)
    await past.catch_up()
    return past
