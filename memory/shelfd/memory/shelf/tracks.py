"""The projections of one shelf: filled from its rows, rebuilt when they fail, read on demand when they are lazy."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from datetime import timedelta
from typing import Any, Final, TypeAlias, TypeVar, cast

import structlog

from shelfd.memory.errors import Unavailable
from shelfd.memory.notes.note import Note
from shelfd.memory.ports.projection import Projection
from shelfd.memory.ports.store import Clock
from shelfd.memory.ports.view import View
from shelfd.memory.shelf.track import Track

log = structlog.get_logger("shelfd.memory")


#: How long to wait before trying again what failed, and at most after many times.
FIRST_WAIT: Final = timedelta(milliseconds=100)
_LONGEST_WAIT: Final = timedelta(seconds=30)
#: Changed notes that may wait for the next question to a lazy projection; more are read in the background.
_WAITING: Final = 1_000
#: Reads in one slice for a lazy projection, many of which may find nothing.
_READS: Final = 16
P = TypeVar("P", bound=Projection)
Spawn = Callable[[Coroutine[Any, Any, None], str], object]
#: A projection of the whole shelf by its class, one of a part of it by its class and the part's name.
Key: TypeAlias = type[Projection] | tuple[type[Projection], str]


class Tracks:
    """Projections of a shelf by their class.

    Args:
        spawn: Starts a task that ends with the shelf.

    Attributes:
        eager: Those that know of a change before anything is read, in the order they apply it.
        lazy: The others.
        are_lazy_awake: Whether one of those was read.
    """

    def __init__(
        self, projections: Sequence[Projection], view: View, clock: Clock, shelf: str, *, spawn: Spawn
    ) -> None:
        self._view = view
        self._clock = clock
        self._shelf = shelf
        self._spawn = spawn
        self._is_closing = False
        self._began = clock.monotonic()
        self.are_lazy_awake = False
        self._all: dict[Key, Track] = {
            type(projection): Track(projection, view, shelf, self._mend_later) for projection in projections
        }
        self.eager = [track for track in self._all.values() if not track.projection.is_lazy]
        self.lazy = [track for track in self._all.values() if track.projection.is_lazy]

    def __getitem__(self, kind: type[P]) -> P:
        return cast("P", self._all[kind].projection)

    def part(self, kind: type[P], name: str, make: Callable[[], P]) -> P:
        """Return the lazy projection of a part of the shelf; *make* makes it when it is asked for first."""
        track = self._all.get((kind, name))
        if track is None:
            track = self._all[kind, name] = Track(make(), self._view, self._shelf, self._mend_later)
            self.lazy.append(track)
        return cast("P", track.projection)

    # ------------------------------------------------------------- filling

    async def fill(self) -> None:
        """Fill the eager ones."""
        self._began = self._clock.monotonic()
        await self._fill(self.eager)

    def close(self) -> None:
        """Start nothing more."""
        self._is_closing = True

    def start_over(self) -> None:
        """Rebuild all that are awake: which notes changed is unknown."""
        for track in self._all.values():
            if track.is_awake:
                track.fail("HistoryTrimmed")

    async def _fill(self, tracks: Sequence[Track]) -> None:
        """Apply what is missing in *tracks*, which are all at the same place; of each until it fails."""
        started, wait = self._clock.monotonic(), FIRST_WAIT
        fresh = [(track, track.age) for track in tracks]
        while left := [track for track, age in fresh if track.age == age and not track.is_complete]:
            try:
                part = left[0].read()
            except Exception as error:  # noqa: BLE001 - whatever it is, what is read stays partial until it is over
                for track in left:
                    track.read_error = type(error).__name__
                wait = await self.wait("projection.read_failed", wait, type(error).__name__)
                continue
            wait = FIRST_WAIT
            for track in left:
                track.take(part)
            await asyncio.sleep(0)
        duration_ms = round((self._clock.monotonic() - started) * 1000, 1)
        names = [track.projection.name for track in tracks if track.is_complete]
        log.info("projections.filled", shelf=self._shelf, projections=names, duration_ms=duration_ms)

    async def wait(self, event: str, wait: timedelta, cause: str) -> timedelta:
        """Say that something cannot be read, wait, and return how long to wait the next time."""
        log.warning(event, shelf=self._shelf, error=cause, retry_in_s=wait.total_seconds())
        await self._clock.sleep(wait)
        return min(2 * wait, _LONGEST_WAIT)

    def _mend_later(self, track: Track) -> None:
        if not self._is_closing:
            self._spawn(self._mend(track), "mend")

    async def _mend(self, track: Track) -> None:
        """Rebuild a projection, after a delay that grows with its failures; meanwhile the others continue."""
        age = track.age
        await self._clock.sleep(min(_LONGEST_WAIT, FIRST_WAIT * 2 ** min(age - 1, 20)))
        while track.age == age and not track.begin_anew():
            await self._clock.sleep(_LONGEST_WAIT)
        if track.age == age:
            await self._fill([track])

    # ---------------------------------------------------------------- lazy

    def note_changes(self, notes: Sequence[Note], linked: Sequence[str]) -> None:
        """Note for awake lazy ones that *notes* have to be read again, and those *linked*, whose links changed."""
        for track in self.lazy:
            if track.is_awake and not self._is_closing:
                track.note_changes(notes, linked)
                if track.changed_count > _WAITING:
                    self._go_on(track)

    def begin_anew(self, kind: Key) -> None:
        """Have a lazy projection forget what it knows and read all again."""
        self._all[kind].restart()

    def catch_up(self, kind: Key) -> bool:
        """Have a lazy projection apply a slice of what is missing; return whether it knows all. The rest follows."""
        track = self._all[kind]
        complete = self._take_slice(track)
        if not complete:
            self._go_on(track)
        return complete

    async def complete(self, kind: Key) -> None:
        """Have a lazy projection apply all that is missing, yielding to other tasks after every slice.

        Raises:
            Unavailable: If it failed and has to be rebuilt, which takes its time.
        """
        track = self._all[kind]
        while not self._take_slice(track):
            if track.failure is not None:
                raise Unavailable(f"the shelf's {track.projection.name} are being rebuilt; try again later")
            await asyncio.sleep(0)

    def _take_slice(self, track: Track) -> bool:
        track.is_awake = self.are_lazy_awake = True
        left = track.projection.at_once
        for _ in range(_READS):
            if left <= 0 or track.is_complete or track.failure is not None:
                break
            left -= track.take(track.read())
        return track.is_complete

    def _go_on(self, track: Track) -> None:
        """Apply what is missing in a lazy projection in the background."""
        if not track.is_at_work and track.failure is None and not self._is_closing:
            track.is_at_work = True
            self._spawn(self._work(track), track.projection.name)

    async def _work(self, track: Track) -> None:
        try:
            await self._fill([track])
        finally:
            track.is_at_work = False

    # -------------------------------------------------------------- states

    def is_exact(self, kind: Key) -> bool:
        """Return whether a projection knows every note as it is, as far as it was notified of changes."""
        return self._all[kind].is_exact

    def state(self) -> dict[str, Any]:
        """Return how far the eager ones know the shelf: ``state``, ``share``, and how many notes they ``skipped``."""
        share = min((track.share for track in self.eager), default=1.0)
        skipped = {row for track in self.eager for row in track.skipped}
        state = {"state": "ready" if share == 1.0 else "warming", "share": round(share, 3)}
        return state | {"skipped": len(skipped)} if skipped else state

    def warming(self) -> dict[str, float]:
        """Return, while the eager ones are filled, the ``share`` they know and how long the rest may take; else {}."""
        share = min((track.share for track in self.eager), default=1.0)
        spent_s = self._clock.monotonic() - self._began
        if share == 1.0:
            return {}
        left = {"remaining_s": round(spent_s * (1 - share) / share, 1)} if share > 0 else {}
        return {"share": round(share, 3), **left}

    def complaint(self) -> str | None:
        """Return why any of them does not know every note, None if they do or will soon."""
        tracks = self._all.values()
        found = []
        if errors := sorted({track.read_error for track in tracks if track.read_error is not None}):
            found.append(f"the shelf cannot be read ({', '.join(errors)}), which is tried again")
        found += [f"{t.projection.name} failed ({t.failure}), which is being rebuilt" for t in tracks if t.failure]
        if skipped := set[int]().union(*(track.skipped for track in tracks)):
            found.append(f"{len(skipped)} notes cannot be indexed: the log names them (projection.note_skipped)")
        return "; ".join(found) or None
