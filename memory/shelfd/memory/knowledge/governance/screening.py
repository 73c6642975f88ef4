"""Which of many texts are worth a look for secrets and orders: all of them at once, with arrays instead of a loop each.

What this passes over a look at each would pass over, too; of what it does not, that look decides.
"""

from collections.abc import Sequence
from functools import cache
from itertools import repeat
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from shelfd.memory.knowledge.governance.leaning import telling_weights
from shelfd.memory.knowledge.governance.orders import APART, BLANKED, DISGUISES, FRAME, WHOLE
from shelfd.memory.knowledge.governance.secrets import ASSIGNING, SHORTEST

_IntArray = npt.NDArray[np.int64]
_BoolArray = npt.NDArray[np.bool_]
#: A word that ends each text; what has one itself is worth a look.
_MARK: Final = b"\0"
_BETWEEN: Final = f" {_MARK.decode()} "
_BLANK: Final = ord(" ")
#: Parts of text that announce a secret, whatever words stand around them.
_ANNOUNCING: Final = ("://", "-----BEGIN ")


class _Words(NamedTuple):
    """The words that tell of secrets or orders, and the mark, by their numbers; 0 is any other.

    Attributes:
        numbers: By the word, in UTF-8.
        leans: How much each tells that a text may be an order.
        orders: Whether a text with it may be one in any case.
        assigns: Whether a text with it may hold a secret.
    """

    numbers: dict[bytes, int]
    leans: _IntArray
    orders: _BoolArray
    assigns: _BoolArray


@cache
def _words() -> _Words:
    leans = telling_weights()
    words = [b"", _MARK, *sorted({*leans, *DISGUISES, *ASSIGNING})]
    return _Words(
        {word: number for number, word in enumerate(words) if word},
        np.array([leans.get(word, 0) for word in words], np.int64),
        np.array([word in DISGUISES for word in words], np.bool_),
        np.array([word in ASSIGNING for word in words], np.bool_),
    )


def worth_a_look(texts: Sequence[str], *, secrets: bool, orders: bool) -> list[bool]:
    """Return for each of *texts* whether it may hold what is looked for; certainly not where this is false.

    Args:
        texts: Some.
        secrets: Whether secrets are looked for.
        orders: Whether orders are.
    """
    odd = np.array([not text.isascii() or "\0" in text or len(text) > WHOLE for text in texts], np.bool_)
    plain = ["" if is_odd else text for is_odd, text in zip(odd.tolist(), texts, strict=True)]
    lengths = np.array(list(map(len, plain)), np.int64)
    blanked = _BETWEEN.join([*plain, ""]).encode().translate(BLANKED)
    words, known = blanked.split(), _words()
    numbers = np.fromiter(map(known.numbers.get, words, repeat(0)), np.int64, len(words))
    (at,) = numbers.nonzero()
    numbers = numbers[at]
    is_mark = numbers == known.numbers[_MARK]
    sizes = np.diff(at[is_mark], prepend=-1) - 1
    each = is_mark.cumsum()[~is_mark] * len(known.leans) + numbers[~is_mark]
    each.sort()
    each = each[np.diff(each, prepend=-1) != 0]  # however often a text has a word
    where, numbers = np.divmod(each, len(known.leans))
    found = odd
    if secrets:
        found[where[known.assigns[numbers]]] = True
        found[_texts_with_long_words(blanked, lengths)] = True
        for part in _ANNOUNCING:
            found |= np.array([part in text for text in plain], np.bool_)
    if orders:
        found |= np.bincount(where, known.leans[numbers], len(texts)) > 0
        found[where[known.orders[numbers]]] = True
        found |= (sizes * APART > lengths) & (lengths > FRAME)
    result: list[bool] = found.tolist()
    return result


def _texts_with_long_words(blanked: bytes, lengths: _IntArray) -> _IntArray:
    """Return which of the texts that were joined have a word that is long enough for a secret."""
    (blanks,) = (np.frombuffer(blanked, np.uint8) == _BLANK).nonzero()
    ends = blanks[np.diff(blanks, prepend=-1) > SHORTEST]
    begins = (lengths + len(_BETWEEN)).cumsum() - lengths - len(_BETWEEN)
    found: _IntArray = begins.searchsorted(ends - 1, "right") - 1
    return found
