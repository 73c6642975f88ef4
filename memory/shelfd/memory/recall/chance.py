"""Documents that have words of a question by chance: on a large shelf many do, and none of them is meant.

A document that lacks something of what is asked may still be the one that is meant; but where several in different
sessions seem to be, and lack as much, they share the probability: a shelf has few answers to a question and, the
larger it is, the more documents that hold any two of its words.
"""

from collections.abc import Sequence
from typing import Final

from shelfd.memory.recall.relevance import FEATURES, Features

#: So many documents are compared with each other, however few are wanted: what one is thought of must not depend on it.
COMPARED: Final = 10
#: So many others that cover as much are no chance: of few, each may say what is asked.
FEW: Final = 4
#: Coverage from which on nothing is lacking, and what does not count when coverage is compared.
_COMPLETE: Final = 0.9
_EQUAL: Final = 0.02
_COVERAGE: Final = FEATURES.index("coverage")
_LACKS: Final = FEATURES.index("lacks")
_STANDS: Final = FEATURES.index("stands")


def rivals(likely: Sequence[tuple[Features, int]]) -> list[int]:
    """Return of each document how many others share its probability with it; 0 nearly always.

    Args:
        likely: Of the first :data:`COMPARED` documents of a query those that are relevant by themselves: the features
            and the session of each.
    """
    found = []
    for features, session in likely:
        count = 0
        if not features[_STANDS] and (features[_LACKS] or features[_COVERAGE] < _COMPLETE):
            least = features[_COVERAGE] - _EQUAL
            count = len({other for one, other in likely if one[_COVERAGE] >= least} - {session})
        found.append(count if count > FEW else 0)
    return found
