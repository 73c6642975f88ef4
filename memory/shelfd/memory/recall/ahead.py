"""What is known of a query before it is answered: what takes long is worked out while the event loop serves others."""

from typing import Final, NamedTuple

from shelfd.memory.notes.filter import NoteFilter
from shelfd.memory.ports.dense import Likeness
from shelfd.memory.recall.analyzer import ParsedQuery
from shelfd.memory.recall.document import Ranking


class RankedFor(NamedTuple):
    """What an index ranked documents for."""

    query: ParsedQuery
    filters: NoteFilter
    most: int  #: hits
    explain: bool


class Ahead(NamedTuple):
    """What is known of a query already.

    Attributes:
        like: How like it documents are in meaning.
        ranked_for: What documents were ranked for, if they were.
        ranking: What came of that, a moment ago.
    """

    like: Likeness | None = None
    ranked_for: RankedFor | None = None
    ranking: Ranking | None = None


NOTHING_AHEAD: Final = Ahead()
