"""What one clause of a note says: of whom, what, and how."""

from enum import StrEnum
from typing import Final, Literal, NamedTuple, TypeAlias


class Effect(StrEnum):
    """What a statement does to what was said of its subject before."""

    SAYS = "says"  #: nothing but what follows from its value
    ENDED = "ended"  #: what it names no longer holds
    CHANGED = "changed"  #: the quantity, time or value is now another
    RENEWED = "renewed"  #: one of its kind is used instead
    MOVED = "moved"  #: the place is now another
    LEFT = "left"  #: a place, an employer or a group
    GONE = "gone"  #: it does not take place
    REMOVED = "removed"  #: it is no longer there, or no longer in use
    INSTEAD = "instead"  #: another takes the place of what it names


class Arity(StrEnum):
    """How many values a subject can have of what is stated."""

    MANY = "many"
    ONE = "one"  #: one at a time
    FIXED = "fixed"  #: one, for good
    SAME_KIND = "same kind"  #: one of a kind, as drinks or seats
    OF_ONE = "of one"  #: several, each of which has one subject: who leads a project that is named


class Value(StrEnum):
    """Of what kind the stated value is: only values of one kind exclude each other."""

    NONE = "none"
    AMOUNT = "amount"
    TIME = "time"
    STATE = "state"  #: one of states that exclude each other
    QUALITY = "quality"
    NAME = "name"


NOBODY: Final[frozenset[str]] = frozenset()
#: A value that says that somebody no longer lives.
DEAD: Final = (("dead",), ("tot",), ("muerto",), ("muerta",), ("mort",), ("morte",))


#: In what manner a value is told: by a name, as something certain, as one of several, as somebody's, without an
#: article, or as a noun with a number ("room 4"); "" where that says nothing.
Manner: TypeAlias = Literal["", "name", "the", "a", "my", "bare", "number"]


class Claim(NamedTuple):
    """What is claimed, and by whom."""

    source: str
    about: frozenset[str]  #: stems of all that is no value
    amounts: tuple[float, ...]
    times: tuple[str, ...]
    turning: frozenset[str]  #: words that others exclude
    is_denied: bool


class Statement(NamedTuple):
    """One statement. Words are folded, without articles and adverbs that make no difference.

    An amount stands among the words as ``#`` and its family, a time begins with ``~``.
    """

    language: str = "en"
    subject: frozenset[str] = NOBODY  #: empty if it cannot be known
    verb: str = ""  #: dictionary form; "be" for a copula
    link: str = ""  #: what joins verb and value: participle and prepositions
    core: tuple[str, ...] = ()  #: the value up to its first preposition
    rest: frozenset[str] = NOBODY  #: what is said besides
    words: tuple[str, ...] = ()  #: all of it in order
    amounts: tuple[float, ...] = ()
    value: Value = Value.NONE
    slot: Arity = Arity.MANY
    effect: Effect = Effect.SAYS
    positive: bool = True
    event: bool = False  #: told in the past tense
    past: bool = False  #: expressly of an earlier time
    real: bool = True  #: neither asked, supposed, intended nor somebody's claim
    now: bool = False
    corrects: bool = False
    adds: bool = False  #: expressly besides what was said
    several: bool = False  #: a value of several parts
    denied: frozenset[str] = NOBODY  #: what is not so, or replaced
    manner: Manner = ""  #: in what manner the value is told
    left_out: frozenset[str] = NOBODY  #: what its sentence says that its plain form does not
    claim: Claim | None = None  #: what its sentence gives as somebody's claim
