"""What is known of a note by its text alone, before anything of the shelf is looked at."""

from collections.abc import Sequence
from typing import NamedTuple

from shelfd.memory.knowledge.evolution.naming import keys_of
from shelfd.memory.knowledge.evolution.numbering import Places
from shelfd.memory.knowledge.evolution.reading import read
from shelfd.memory.knowledge.evolution.slots import places_of
from shelfd.memory.knowledge.evolution.statement import Statement
from shelfd.memory.knowledge.evolution.withdrawing import Withdrawal, withdrawals


class TextRead(NamedTuple):
    """A text that was read.

    Attributes:
        text: The text.
        statements: What it states.
        withdrawn: What it names as ended.
        keys: What the subjects and values of these may be known by under another name.
        places: The slots in which that stands and into which it looks, if nothing in it has another name.
    """

    text: str
    statements: Sequence[Statement]
    withdrawn: tuple[Withdrawal, ...]
    keys: Sequence[str]
    places: Places


def read_text(text: str) -> TextRead:
    """Read the *text* of a note."""
    said = read(text)
    withdrawn = withdrawals(text, said)
    return TextRead(text, said, withdrawn, keys_of(said), places_of(said, withdrawn))
