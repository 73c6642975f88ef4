"""Which of many texts are worth a look for secrets and orders: all of them at once, with arrays instead of a loop each.

What this passes over a look at each would pass over, too; of what it does not, that look decides.
"""

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shelfd.memory.knowledge.governance.leaning import telling_weights
from shelfd.memory.knowledge.governance.orders import APART, BLANKED, DISGUISES, FRAME, WHOLE, with_blanks
from shelfd.memory.knowledge.governance.passwords import ASSIGNING, SHORTEST, announces
from shelfd.memory.notes.latin import as_latin
from shelfd.memory.notes.word_numbers import WordNumbers, places_of

_IntArray = npt.NDArray[np.int64]
_BoolArray = npt.NDArray[np.bool_]


class _Words(NamedTuple):
    """The words that tell of secrets or orders, by their numbers; 0 is any other.

    Attributes:
        table: Finds them.
        leans: How much each tells that a text may be an order.
        orders: Whether a text with it may be one in any case.
        assigns: Whether a text with it may hold a secret.
    """

    table: WordNumbers
    leans: _IntArray
    orders: _BoolArray
    assigns: _BoolArray


@cache
def _words() -> _Words:
    leans = telling_weights()
    words = sorted({*leans, *DISGUISES, *ASSIGNING})
    table = WordNumbers(0)
    table.add(words, range(1, len(words) + 1))
    return _Words(
        table,
        np.array([0, *(leans.get(word, 0) for word in words)], np.int64),
        np.array([False, *(word in DISGUISES for word in words)], np.bool_),
        np.array([False, *(word in ASSIGNING for word in words)], np.bool_),
    )


def worth_a_look(texts: Sequence[str], *, secrets: bool, orders: bool) -> list[bool]:
    """Return for each of *texts* whether it may hold what is looked for; certainly not where this is false.

    Args:
        texts: Some.
        secrets: Whether secrets are looked for.
        orders: Whether orders are.
    """
    plain = list(map(_plain, texts))
    found = np.array([text is None for text in plain], np.bool_)
    joined, known = b" ".join([text or b"" for text in plain]), _words()
    begins, ends, numbers = known.table.find(joined.translate(BLANKED))
    text_of = places_of(begins, np.array([len(text or b"") for text in plain], np.int64))
    if secrets:
        found[text_of[known.assigns[numbers] | (ends - begins >= SHORTEST)]] = True
        found |= np.array(list(map(announces, texts)), np.bool_)
    if orders:
        lengths = np.array(list(map(len, texts)), np.int64)
        found[text_of[known.orders[numbers]]] = True
        found |= _leaning(text_of, numbers, known, len(texts))
        found |= (np.bincount(text_of, minlength=len(texts)) * APART > lengths) & (lengths > FRAME)
    result: list[bool] = found.tolist()
    return result


def _plain(text: str) -> bytes | None:
    """A text in UTF-8 whose words tell all there is to tell of it; None if it is another one, or long."""
    if len(text) > WHOLE:
        return None
    if text.isascii():
        return text.encode()
    return None if as_latin(text) is None else with_blanks(text)


def _leaning(text_of: _IntArray, numbers: _IntArray, known: _Words, count: int) -> _BoolArray:
    """Return for each of so many texts whether its words together lean to an order, however often it has each."""
    (telling,) = numbers.nonzero()
    each = text_of[telling] * len(known.leans) + numbers[telling]
    each.sort()
    each = each[np.diff(each, prepend=-1) != 0]
    where, numbers = np.divmod(each, len(known.leans))
    leaning: _BoolArray = np.bincount(where, known.leans[numbers], count) > 0
    return leaning
