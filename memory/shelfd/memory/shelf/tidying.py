"""What makes reads faster and nothing else is done when a shelf is quiet, a step of some milliseconds at a time."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from shelfd.memory.ports.projection import Projection
from shelfd.memory.ports.store import Clock
from shelfd.memory.shelf.tracks import Spawn

#: After the last change: until then what changes takes such steps itself.
_QUIET: Final = timedelta(seconds=1)
#: Between two steps, of which there may be hundreds after many notes were taken in: others are served meanwhile.
_BETWEEN: Final = timedelta(milliseconds=20)


class Tidying:
    """Has projections tidy what they hold, once nothing has changed for a while.

    Args:
        projections: Those that may have something to tidy.
        clock: Tells for how long nothing has changed.
        spawn: Starts a task that ends with the shelf.
    """

    def __init__(self, projections: Sequence[Projection], clock: Clock, spawn: Spawn) -> None:
        self._projections = projections
        self._clock = clock
        self._spawn = spawn
        self._changed_s = 0.0
        self._is_at_work = False

    def advanced(self) -> None:
        """Note that projections took in a change, or what was stored."""
        self._changed_s = self._clock.monotonic()
        if not self._is_at_work:
            self._is_at_work = True
            self._spawn(self._tidy(), "tidy")

    async def _tidy(self) -> None:
        try:
            await self._quiet()
            while any(projection.tidy() for projection in self._projections):
                await self._clock.sleep(_BETWEEN)
                await self._quiet()
        finally:
            self._is_at_work = False

    async def _quiet(self) -> None:
        """Wait until nothing has changed for a while."""
        while (left := _QUIET - timedelta(seconds=self._clock.monotonic() - self._changed_s)) > timedelta():
            await self._clock.sleep(left)
