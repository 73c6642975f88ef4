"""How the original finds a key and a kind: by strings alone, the vectors take no part."""

import re
from collections import Counter
from collections.abc import Sequence

FUZZY_THRESHOLD = 0.55
OVERLAP_THRESHOLD = 0.5

_TOKEN = re.compile(r"[a-z0-9]+")
_STOP_WORDS = frozenset(
    """a about after again all also an and any are at be been before being both but by can could did do does during
    each few for from further had has have he here how i if in into is it its just may me might more most must my need
    no nor not now of on once only or other our own run same shall she should show so some such tell than that the
    their them then there these they this those through to too up use using very was we were what when where which who
    whom why will with would you your""".split()
)
_USER_PREFIXES = ("pref:", "learn", "likes-")
_PROJECT_PREFIXES = ("file:", "edited:", "cmd:", "project:")


def fuzzy_ratio(a: str, b: str) -> float:
    """Return 2 * (characters in common, wherever they stand) / (characters of both); two empty strings give 1."""
    if not a and not b:
        return 1.0
    shared = sum((Counter(a) & Counter(b)).values())
    return 2 * shared / (len(a) + len(b))


def content_tokens(text: str) -> list[str]:
    """Return the distinct tokens of *text* in order: a-z and digits, two at least, no stop words."""
    found = _TOKEN.findall(text.lower())
    return list(dict.fromkeys(token for token in found if len(token) >= 2 and token not in _STOP_WORDS))


def token_overlap(query: str, key: str) -> float:
    """Return the share of tokens in common, of the shorter side."""
    asked, held = set(content_tokens(query)), set(content_tokens(key))
    if not asked or not held:
        return 0.0
    return len(asked & held) / min(len(asked), len(held))


def resolve(query: str, keys: Sequence[str]) -> int | None:
    """Return the position of the key that *query* means: equal, else contained, else overlapping, else alike."""
    asked = query.strip().lower()
    lowered = [key.lower() for key in keys]
    for position, key in enumerate(lowered):
        if key == asked:
            return position
    for position, key in enumerate(lowered):
        if asked in key or key in asked:
            return position
    found = _best([token_overlap(asked, key) for key in lowered], OVERLAP_THRESHOLD)
    if found is not None:
        return found
    return _best([fuzzy_ratio(asked, key) for key in lowered], FUZZY_THRESHOLD)


def _best(scores: Sequence[float], threshold: float) -> int | None:
    """The first of the highest *scores*, if it reaches *threshold*."""
    highest = max(scores, default=0.0)
    return scores.index(highest) if highest >= threshold and highest > 0 else None


def memory_kind(key: str, value: str) -> str:
    """Return "user", "project" or "agent": whose fact this is, read off its text."""
    lowered = key.lower()
    if lowered.startswith(_USER_PREFIXES) or "user" in lowered or "favorite" in lowered:
        return "user"
    hints = ("path", "repo", "script", "test")
    if lowered.startswith(_PROJECT_PREFIXES) or lowered == "_task" or any(hint in lowered for hint in hints):
        return "project"
    return "project" if "/" in value else "agent"
