"""The published formula of note search: 0.42 vector + 0.48 text + a boost, then a softmax at T = 0.35.

Scores are of many notes at once, arrays of one length.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from shelfd.memory.notes.words import fold

Scores = npt.NDArray[np.float64]

TEMPERATURE: Final = 0.35

_VECTOR_WEIGHT: Final = 0.42
_TEXT_WEIGHT: Final = 0.48
_MOST_TEXT: Final = 1.5  #: text score from which on more does not count
_CONTAINED: Final = 0.75  #: text score of a query that stands in the note letter by letter
_DURABLE: Final = 0.05
_PERSONAL: Final = 0.03
_CONFIDENT: Final = 0.05


def searched_text(*, title: str, content: str, tags: Sequence[str], subject: str, scope: str, type_: str) -> str:
    """Return the text of a note that a query is looked for in."""
    return "\n".join((title, content, " ".join(tags), subject, scope, type_))


def is_in(query: str, text: str) -> bool:
    """Tell whether the whole *query* stands in *text*. Case, accents and compatibility forms make no difference."""
    return fold(query).strip() in fold(text)


def text_scores(shares: Scores, contained: npt.NDArray[np.bool_]) -> Scores:
    """Return how much of a query stands in each text, 0 to 1.75.

    Args:
        shares: Of the query's words, how many the text has. A word counts where it is a word, not inside of another.
        contained: Whether the whole query stands in the text, if only as part of words.
    """
    return shares + _CONTAINED * contained


def vector_scores(cosines: npt.NDArray[np.floating]) -> Scores:
    """Return *cosines* in [-1, 1] as scores in [0, 1]."""
    return np.asarray((cosines.astype(np.float64) + 1) / 2)


def boost(*, stability: str, scope: str, confidence: float) -> float:
    """Return what a note's own fields add, 0 to 0.13: durable, about oneself or the user, and believed."""
    durable = _DURABLE if stability == "durable" else 0.0
    personal = _PERSONAL if scope in {"user", "self"} else 0.0
    return durable + personal + _CONFIDENT * confidence


def raw_scores(vector: Scores, text: Scores, added: Scores) -> Scores:
    """Return the notes' scores, 0 to 1.03. Unlike the softmax they compare across queries and nuggets.

    Args:
        vector: Of :func:`vector_scores`.
        text: Of :func:`text_scores`.
        added: Of :func:`boost`.
    """
    return _VECTOR_WEIGHT * vector + _TEXT_WEIGHT * np.minimum(text, _MOST_TEXT) / _MOST_TEXT + added


def shares_of(scores: Scores, temperature: float = TEMPERATURE) -> Scores:
    """Return the softmax of the *scores* of one search: shares that add up to 1 and keep the order.

    Raises:
        ValueError: If *temperature* is not positive.
    """
    if temperature <= 0:
        raise ValueError(f"temperature must be positive, got {temperature}")
    if not len(scores):
        return scores
    raised = np.exp((scores - scores.max()) / temperature)
    return np.asarray(raised / raised.sum())
