"""Room in dictionaries that are caches."""

from itertools import islice
from typing import Any, Final

_PART: Final = 8


def make_room(cache: dict[Any, Any]) -> None:
    """Remove the eighth of a full *cache* that has been in it for longest.

    One at a time would cost more with each: to find the first that is left, a dictionary passes over all that are gone.
    """
    for key in list(islice(cache, max(1, len(cache) // _PART))):
        del cache[key]
