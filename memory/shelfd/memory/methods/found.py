"""What a query found, on its way into a reply."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from shelfd.memory.notes.note import Link, Note
from shelfd.memory.recall import Cut
from shelfd.memory.recall.intents import Intent


@dataclass(slots=True)
class Found:
    """A note on its way into a recall reply."""

    note: Note
    score: float
    relevant: bool = False
    via: str | None = None
    signals: dict[str, float] = field(default_factory=dict)
    coverage: float = 0.0  #: see :class:`~shelfd.memory.recall.focus.Judged`
    relevance: float = 0.0
    links: Sequence[Link] = ()  #: that leave it
    named: bool = False  #: a name of it stands in the query
    order: Mapping[str, float] | None = None  #: what decides between it and others that score about the same
    collapsed: Sequence[str] = ()  #: ids of others that say the same, for which it stands
    conflicts: Sequence[str] = ()  #: ids of the open conflicts that it is in


@dataclass(slots=True)
class Recalled:
    """What a query found, and what focus cut off."""

    found: list[Found]
    cut: Sequence[Cut] = ()
    intent: Intent | None = None  #: what kind of question it was; None if nobody had to know

    @property
    def relevant(self) -> list[Found]:
        """What says what is asked."""
        return [item for item in self.found if item.relevant]


def joined(recalled: Recalled, other: Recalled, k: int) -> Recalled:
    """Return the best *k* of two queries for the same; a note that both found counts as the better of the two."""
    best: dict[str, Found] = {}
    for item in (*recalled.found, *other.found):
        known = best.setdefault(item.note.id, item)
        if (item.relevant, item.score) > (known.relevant, known.score):
            best[item.note.id] = item
    found = sorted(best.values(), key=lambda item: -item.score)[:k]
    return Recalled(
        found, [*recalled.cut, *(cut for cut in other.cut if all(cut.hit.id != o.hit.id for o in recalled.cut))]
    )
