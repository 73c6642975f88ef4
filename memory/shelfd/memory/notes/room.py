"""Room in dictionaries that are caches."""

from collections.abc import Container
from itertools import islice
from typing import Any, Final

_PART: Final = 8


def make_room(cache: dict[Any, Any], *, but: Container[Any] = ()) -> None:
    """Remove from a full *cache* the eighth that has been in it for longest.

    One at a time would cost more with each: to find the first that is left, a dictionary passes over all that are gone.

    Args:
        cache: What is full.
        but: Keys of what is of use: it stays for another turn, as long as half of the eighth goes.
    """
    first = list(islice(cache, max(1, len(cache) // _PART)))
    used = {key: cache[key] for key in first if key in but} if but else {}
    for key in first:
        del cache[key]
    room = len(first) // 2
    cache.update(islice(used.items(), max(0, len(used) - room), None))
