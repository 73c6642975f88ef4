"""Words of keys and queries, and how alike two spellings are."""

from collections.abc import Callable

from shelfd.memory.notes.wordlists import word_lists
from shelfd.memory.notes.words import fold, split

_LISTS = word_lists("english")
#: Question words that are nouns as well ("the name of the dog") say something in a key.
_STOP_WORDS = (_LISTS.stop | _LISTS.question) - {"kind", "long", "name", "type"}

#: What people say around a question. In a query these say nothing of what is asked for, unless a key has them.
_ASKING = frozenset(
    "again find forget forgot forgotten give hello hey hi know look need okay please recall remember remind show tell "
    "thank thanks told use want whats wheres whos".split()
)

_SHORTEST = 3  #: letters a word needs to be taken for a misspelling: of two letters any other pair is one away
#: Letters from which on it is no word that anybody mistypes, but data; comparing takes as many steps as its square.
_LONGEST = 48
_LONG = 8  #: letters from which on two edits are forgiven
_STEM = 4  #: letters that two forms of one word share at least
_ENDING = 3  #: letters in which they may differ after that
_SAME_STEM = 0.75  #: how alike they are


def content_words(text: str) -> tuple[str, ...]:
    """Return the distinct folded words of *text* in order, without stop words unless nothing else is left.

    Words are runs of letters and digits of any script; scripts without spaces give overlapping pairs of characters.
    """
    words = dict.fromkeys(split(fold(text)))
    return tuple(word for word in words if word not in _STOP_WORDS) or tuple(words)


def asked_words(query: str, knows: Callable[[str], bool]) -> tuple[str, ...]:
    """Return the content words of *query* without those that only ask, such as "please"; one that is known stays."""
    return tuple(word for word in content_words(query) if word not in _ASKING or knows(word))


def is_correctable(word: str) -> bool:
    """Tell whether *word* may be a misspelling of another: neither too short nor too long, and no number or code."""
    return _SHORTEST <= len(word) <= _LONGEST and word.isalpha()


def spelling_likeness(a: str, b: str) -> float:
    """Return how likely *a* and *b* are one word, 0 to 1: a slip of the pen, or two endings of one stem.

    One insertion, deletion, substitution or swap of neighbours is forgiven, two if both words have eight letters or
    more.
    """
    longer = max(len(a), len(b))
    allowed = 2 if min(len(a), len(b)) >= _LONG else 1
    edits = edit_distance(a, b, allowed)
    if edits <= allowed:
        return 1 - edits / (longer + 1)
    stem = _shared_prefix(a, b)
    return _SAME_STEM if stem >= _STEM and longer - stem <= _ENDING else 0.0


def edit_distance(a: str, b: str, limit: int) -> int:
    """Return the edits from *a* to *b*, swaps of neighbours counted as one; ``limit + 1`` if there are more.

    This is the optimal string alignment distance (a letter is edited once at most).
    """
    # An edit adds or takes away one letter, or two if it is a substitution.
    if abs(len(a) - len(b)) > limit or len(set(a) ^ set(b)) > 2 * limit:
        return limit + 1
    start = _shared_prefix(a, b)  # what both begin and end with needs no edit
    a, b = a[start:], b[start:]
    end = _shared_prefix(a[::-1], b[::-1])
    a, b = a[: len(a) - end], b[: len(b) - end]
    if not a or not b:
        return min(len(a) + len(b), limit + 1)
    previous: list[int] = []
    before: list[int] = []
    row = list(range(len(b) + 1))
    for i, letter in enumerate(a, start=1):
        previous, before, row = before, row, [i]
        for j, other in enumerate(b, start=1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != other))
            if i > 1 and j > 1 and letter == b[j - 2] and other == a[i - 2]:
                cost = min(cost, previous[j - 2] + 1)
            row.append(cost)
        if min(row) > limit and min(before) >= limit:  # a swap reaches back two rows
            return limit + 1
    return min(row[-1], limit + 1)


def _shared_prefix(a: str, b: str) -> int:
    shared = 0
    for one, other in zip(a, b, strict=False):
        if one != other:
            break
        shared += 1
    return shared
