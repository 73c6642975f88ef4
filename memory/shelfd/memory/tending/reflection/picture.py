"""The picture a reflection plans on: the shelf as it is, and what the plan has changed of it so far."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from shelfd.memory.notes.filter import RECALLABLE
from shelfd.memory.notes.note import Note, Usage
from shelfd.memory.ports.tending import ReflectionProgress
from shelfd.memory.ports.view import View
from shelfd.memory.recall import RecallIndex
from shelfd.memory.tending.reflection.action import Action
from shelfd.memory.tending.reflection.words import text_about, words_of
from shelfd.protocol import Limits

_LAST_ROW: Final = 2**63 - 1

#: (updated_at, row): the order in which notes are looked at.
Position = tuple[int, int]


def position_of(note: Note) -> Position:
    """Return where *note* stands in the order in which notes are looked at."""
    return note.updated_at, note.row


@dataclass(slots=True)
class Visit:
    """What a run looked at in one nugget.

    Attributes:
        tended: How far runs before it had come.
        changed: The last note of those that are new or changed since; all up to it were looked at.
        again: Position and id of notes looked at once more, in order, hidden ones included.
        ids: Every visible note looked at, in order.
        is_round: Whether the second look came round to where it began.
    """

    tended: ReflectionProgress
    changed: Position
    again: list[tuple[Position, str]] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    is_round: bool = False

    @classmethod
    def of(cls, tended: ReflectionProgress) -> "Visit":
        """Return the visit that begins where *tended* says."""
        return cls(tended, tended.changed)

    def outcome(self, inspected: frozenset[str], left: frozenset[str], now: int) -> ReflectionProgress:
        """Return how far runs have come after this one.

        The second look continues at the first note that had to be left; when it went all the way round, after the
        last one inspected, which so goes to the back. A nugget that got nothing while it needs something comes
        first next time.
        """
        again = self.tended.again
        for position, note_id in self.again:
            if note_id in left:
                break
            if not self.is_round or note_id in inspected:
                again = position
        waits = not left.isdisjoint(self.ids) and inspected.isdisjoint(self.ids)
        served_at = self.tended.served_at if waits else now
        # Not ahead of the clock: what is changed after it was set back would stand before that and be passed over.
        latest: Position = (now, _LAST_ROW)
        return ReflectionProgress(self.tended.nugget, min(self.changed, latest), min(again, latest), served_at)


#: Characters; a longer text is a document and no note. Reflection leaves it unchanged, so that no note takes long.
LONGEST = 16_384


@dataclass(slots=True)
class Picture:
    """What steps read, and where they leave what others need. Nothing here writes to the shelf.

    Attributes:
        view: The shelf's rows.
        index: Its recall index, for notes that are near others.
        usage: Returns the usage of notes by row.
        now: When the run began, microseconds.
        nugget: The only nugget to look at; None for all.
        limit: Notes inspected at most; merges and links at most, too.
        limits: The configured limits.
        stop: Words that are no names, even with a capital letter.
        visits: By nugget, in the order the nuggets had their turn.
        looked: Ids of the notes that were looked at, in order; pairs are sought for all of them.
        inspected: Ids of the notes that steps may improve by themselves.
        left: Ids of notes with something to do that this run has no room for.
        unseen: How many notes are new or changed and were not looked at yet.
    """

    view: View
    index: RecallIndex
    usage: Callable[[Iterable[Note]], dict[int, Usage]]
    now: int
    nugget: str | None
    limit: int
    limits: Limits
    stop: frozenset[str]
    visits: list[Visit] = field(default_factory=list)
    looked: list[str] = field(default_factory=list)
    inspected: list[str] = field(default_factory=list)
    left: set[str] = field(default_factory=set)
    unseen: int = 0
    _planned: dict[str, Note] = field(default_factory=dict)
    _links: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))

    def take(self, action: Action) -> None:
        """Make *action* part of the picture."""
        for revision in action.revisions:
            self._planned[revision.new.id] = revision.new
        for link in action.links:
            self._links[link.source].add(link.target)

    def live(self, note_id: str) -> Note | None:
        """Return the note as planned, unless it is gone, hidden, replaced, quarantined or expired."""
        note = self._planned.get(note_id) or self.view.notes.get(note_id)
        return note if note is not None and self.is_live(note) else None

    def is_live(self, note: Note) -> bool:
        """Return whether *note* is one that reflection looks at."""
        if not note.live or note.extra.level == "episodic":  # what was said stays
            return False
        return note.expires_at is None or note.expires_at > self.now

    def idle_words(self, note: Note) -> frozenset[str]:
        """Return the words of *note* that say nothing of what it is about, in whatever language it is."""
        words = words_of(text_about(note))
        return self.index.analyzer.idle_words(words) | self.stop.intersection(words)

    def hits(self, note: Note) -> int:
        """Return in how many sessions the note was returned."""
        usage = self.usage([note]).get(note.row)
        return 0 if usage is None else usage.hits

    def linked(self, note_id: str) -> set[str]:
        """Return the notes that links of this note lead to, planned ones included."""
        return {link.target for link in self.view.links.leaving([note_id])[note_id]} | self._links[note_id]

    def is_linked(self, source: str, target: str) -> bool:
        """Return whether a link leads from one note to the other."""
        return target in self._links[source] or bool(self.view.links.between(source, target))

    def near(self, note: Note, words: Iterable[str], *, terms: int, missing: int | None, limit: int) -> Sequence[str]:
        """Return ids of other notes of its nugget that share the note's rarest words, the nearest first.

        See :meth:`~shelfd.memory.recall.RecallIndex.near`. A note kept to one session has its like in that only.
        """
        filters = RECALLABLE._replace(
            nugget=note.nugget, now=self.now, scope="session" if note.scope == "session" else None
        )
        found = self.index.near(words, filters, terms=terms, missing=missing, limit=limit + 1)
        return [note_id for note_id in found if note_id != note.id][:limit]

    def may_meet(self, note: Note, other: Note) -> bool:
        """Return whether the two may know of each other: a session's own notes belong to that session alone."""
        if "session" not in (note.scope, other.scope):
            return True
        return note.scope == other.scope and note.session_id == other.session_id

    def tended(self) -> list[ReflectionProgress]:
        """Return how far the run has come in each nugget it visited, where that is news."""
        inspected, left = frozenset(self.inspected), frozenset(self.left)
        outcomes = [(visit.tended, visit.outcome(inspected, left, self.now)) for visit in self.visits]
        return [after for before, after in outcomes if after != before]
