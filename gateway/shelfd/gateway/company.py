"""Whether a caller has the daemon to itself: then work of milliseconds is done at once, which holds up nobody else."""

from math import inf
from typing import Final

#: A caller is alone when nobody else has asked for anything for so long: who asks again and again asks sooner.
_QUIET_S: Final = 1.0


class Company:
    """Knows who asked lately, however many are connected: most connections of an agent say nothing for minutes."""

    __slots__ = ("_last", "_shared_until")

    def __init__(self) -> None:
        self._last: str | None = None
        self._shared_until = -inf

    def asks(self, name: str, now: float) -> bool:
        """Note a request of the lane of that *name* and return whether it has been alone for a while.

        Args:
            name: Of the lane.
            now: Of a clock that never goes backwards, in seconds.
        """
        if name != self._last:
            self._last, self._shared_until = name, now + _QUIET_S
        return now >= self._shared_until
