"""What goes into the index and what comes out of it."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, Final, NamedTuple, TypeAlias

#: Makes a named tuple of a tuple of all its values. Its own constructor is a function in Python and takes three times
#: as long; tens are made for every query.
made: Final = tuple.__new__
_TIERS: Final = {"A": 2, "B": 1, "C": 0}
_IMPORTANCE: Final = 10  #: the highest


def standing_of(tier: str, importance: int) -> int:
    """Return what a note's tier, and within a tier its importance, make it: 1 to 30."""
    return _IMPORTANCE * _TIERS[tier] + importance


class Document(NamedTuple):
    """What the index needs to know of a note.

    A named tuple because one is made for every note written.
    """

    row: int  #: the note's integer number in its shelf; rises with creation, never reused
    id: str
    nugget: str
    session: str | None
    turn: int | None
    author: str | None
    when: int  #: microseconds since 1970 UTC: when it happened, else when it was created
    text: str  #: title, aliases, own tags and content, newline separated
    kind: str
    type: str
    subject: str
    scope: str
    domain: str
    tags: tuple[str, ...]  #: own and system tags
    hidden: bool
    superseded: bool
    expires_at: int | None  #: microseconds since 1970 UTC
    title: str = ""  #: part of the text
    boost: float = 0.0  #: what note search adds for what the note is
    valid_from: int | None = None  #: microseconds since 1970 UTC
    valid_to: int | None = None
    standing: int = 0  #: decides between documents that score alike: see :func:`standing_of`
    quarantined: bool = False


#: The values of some documents by field.
Fields: TypeAlias = Mapping[str, tuple[Any, ...]]


def fields_of(documents: Sequence[Document]) -> Fields:
    """Return the values of *documents*, one at least, by field: many are read faster so."""
    return dict(zip(Document._fields, zip(*documents, strict=True), strict=True))


class Hit(NamedTuple):
    """One document found. A named tuple because ten are made for every query."""

    row: int
    id: str
    score: float  #: 0 to 1, by a measure that is the same on every shelf
    signals: dict[str, float]  #: contributions that add up to ``score``; empty unless asked for


class Ranking(NamedTuple):
    """The documents found, best first; of equal ones the newest."""

    hits: list[Hit]
    matched_terms: int  #: how many of the query's terms occur in the shelf's visible documents
    query_terms: int  #: distinct terms of the query


class Ranked(NamedTuple):
    """Where a document is among all that a query may return."""

    score: float  #: 0 to 1
    rank: int  #: 1 is the best; equal ones have the same
    of: int  #: how many there are


class Words(NamedTuple):
    """What the words of a document say about a query; terms are those of the query, by number."""

    own: AbstractSet[int]
    previous: AbstractSet[int]  #: in the previous note of its session
    answer_types: int  #: which types of answer it holds, bits of :data:`~shelfd.memory.recall.meaning.ANSWER_TYPES`
    question: bool  #: it ends with a question mark
