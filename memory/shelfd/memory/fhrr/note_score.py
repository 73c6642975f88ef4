"""The published formula of note search: 0.42 vector + 0.48 text + a boost, then a softmax at T = 0.35."""

from collections.abc import Sequence

import numpy as np

from shelfd.memory.recall.text import fold, split

VECTOR_WEIGHT = 0.42
TEXT_WEIGHT = 0.48
TEMPERATURE = 0.35

_MOST_TEXT = 1.5  #: text score from which on more does not count
_CONTAINED = 0.75  #: text score of a query that stands in the note word for word
_DURABLE = 0.05
_PERSONAL = 0.03
_CONFIDENT = 0.05


def searched_text(*, title: str, content: str, tags: Sequence[str], subject: str, scope: str, type_: str) -> str:
    """Return the text of a note that a query is looked for in."""
    return "\n".join((title, content, " ".join(tags), subject, scope, type_))


def text_score(query: str, text: str) -> float:
    """Return how much of *query* stands in *text*: 0.75 for the whole of it, plus the share of its words; 0 to 1.75.

    Case, accents and compatibility forms make no difference. A word counts where it is a word, not inside of another.
    """
    asked, held = fold(query).strip(), fold(text)
    words = set(split(asked))
    if not words:
        return 0.0
    contained = _CONTAINED if asked in held else 0.0
    return contained + len(words & set(split(held))) / len(words)


def vector_score(cosine: float) -> float:
    """Return *cosine* in [-1, 1] as a score in [0, 1]."""
    return (cosine + 1) / 2


def boost(*, stability: str, scope: str, confidence: float) -> float:
    """Return what a note's own fields add, 0 to 0.13: durable, about oneself or the user, and believed."""
    durable = _DURABLE if stability == "durable" else 0.0
    personal = _PERSONAL if scope in {"user", "self"} else 0.0
    return durable + personal + _CONFIDENT * confidence


def raw_score(vector: float, text: float, added: float) -> float:
    """Return a note's score, 0 to 1.03. Unlike the softmax it compares across queries and nuggets.

    Args:
        vector: Of :func:`vector_score`.
        text: Of :func:`text_score`.
        added: Of :func:`boost`.
    """
    return VECTOR_WEIGHT * vector + TEXT_WEIGHT * min(text, _MOST_TEXT) / _MOST_TEXT + added


def softmax(scores: Sequence[float], temperature: float = TEMPERATURE) -> list[float]:
    """Return the shares of *scores* of one search; they add up to 1 and keep the order.

    Raises:
        ValueError: If *temperature* is not positive.
    """
    if temperature <= 0:
        raise ValueError(f"temperature must be positive, got {temperature}")
    if not scores:
        return []
    raised = np.exp((np.asarray(scores, dtype=np.float64) - max(scores)) / temperature)
    return [float(share) for share in raised / raised.sum()]
