"""How probable it is that the fact found is the fact meant."""

EXACT = 0.99  #: confidence of a fact whose key is the query: somebody may still have meant another one
THRESHOLD = 0.22  #: below this nothing is answered

_CLEAR = 0.12  #: margin from which on the next fact is no rival
_TIED = 0.3  #: what a tie leaves of the confidence: two facts are as likely, and there may be a third
_CROSSED = 0.45  #: the most for a key that lacks a word of the query and has another


def confidence(cosine: float, margin: float, *, overlap: float | None = None) -> float:
    """Return the confidence in a key that is only like the query, 0 to :data:`EXACT`.

    The squared cosine is the share of the query that the key explains, times the share of the key that the query
    explains. A rival takes from it. "Fax of Alice Smith" is like "email of Alice Smith", but most probably something
    else is meant: such a pair is never believed more than not.

    Args:
        cosine: Of the query's vector and the key's.
        margin: By how much *cosine* exceeds that of the next fact with another value.
        overlap: If query and key each have words that the other has not: the share of words in common of the one,
            times that of the other. Counted, not weighted: that a rare word is in common says less than that another
            one is not.
    """
    clear = min(1.0, _TIED + (1 - _TIED) * max(margin, 0.0) / _CLEAR)
    believed = min(max(cosine, 0.0), 1.0) ** 2 * clear * EXACT
    return believed if overlap is None else min(believed, overlap, _CROSSED)
