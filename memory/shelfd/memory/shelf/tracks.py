"""The projections of one shelf: filled from its rows, rebuilt when they fail, read on demand when they are lazy."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from datetime import timedelta
from itertools import islice
from typing import Any, Final, TypeAlias, TypeVar, cast

import structlog

from shelfd.memory.errors import Unavailable
from shelfd.memory.notes.note import EMPTY, Link, Note
from shelfd.memory.ports.projection import Projection, PurgedNote, ScanPosition, Slice
from shelfd.memory.ports.store import Clock
from shelfd.memory.ports.view import View

log = structlog.get_logger("shelfd.memory")


class Track:
    """How far one projection follows the log.

    Args:
        on_failure: Called when it has to be rebuilt.

    Attributes:
        is_awake: Whether it is in use; a lazy one is not before it is first read.
        is_at_work: Whether a task applies what is missing.
        age: How often it had to be rebuilt.
        read_error: Why its rows cannot be read just now.
        failure: Why it has to be rebuilt; until that begins it holds nothing and applies nothing.
        skipped: Notes it could not apply as they are now: rev by row.
    """

    def __init__(self, projection: Projection, view: View, shelf: str, on_failure: Callable[["Track"], None]) -> None:
        self.projection = projection
        self.is_awake = not projection.is_lazy
        self.is_at_work = False
        self.age = 0
        self.read_error: str | None = None
        self.failure: str | None = None
        self.skipped: dict[int, int] = {}
        self._view = view
        self._shelf = shelf
        self._on_failure = on_failure
        self._place: ScanPosition | None = ScanPosition()  # None once all rows are read
        self._top = self._left = 1  # by row numbers, known once it begins: counting rows takes long in a large shelf
        self._changed: dict[str, int | None] = {}  # rows by id; None if only a link of the note changed

    @property
    def is_complete(self) -> bool:
        """Whether it knows every note, as far as it was notified of changes."""
        return self._place is None and not self._changed

    @property
    def is_exact(self) -> bool:
        """Whether it knows every note as it is, as far as it was notified of changes."""
        return self.is_complete and not self.skipped

    @property
    def share(self) -> float:
        """How much of the shelf it knows, 0 to 1."""
        return 1.0 if self._place is None else min(0.999, 1 - self._left / self._top)

    @property
    def changed_count(self) -> int:
        """How many changed notes are to be read again."""
        return len(self._changed)

    def note_changes(self, notes: Sequence[Note], linked: Sequence[str]) -> None:
        """Note that *notes* have to be read again, and those with ids *linked*, whose links changed."""
        for note in notes:
            if self.projection.concerns(note):
                self._changed[note.id] = note.row
        if self.projection.is_linked:
            for note_id in linked:
                if note_id not in self._changed and self.projection.knows(note_id):
                    self._changed[note_id] = None

    def read(self) -> Slice:
        """Read some of what is missing. What changes before all rows are read waits until then."""
        if self._place is not None:
            part = self.projection.read(self._view, self._place)
        else:
            wanted = dict(islice(self._changed.items(), self.projection.at_once))
            now = self._view.notes.by_ids(list(wanted))
            purged = [PurgedNote(row or 0, note_id) for note_id, row in wanted.items() if note_id not in now]
            part = Slice([now[note_id] for note_id in wanted if note_id in now], None, purged)
        if not self.projection.is_linked:
            return part
        return part._replace(links=self._view.links.leaving([note.id for note in part.notes]))

    def take(self, part: Slice) -> int:
        """Apply what was just read; return how many notes that were."""
        self.read_error = None
        age = self.age
        if self._place is None:
            for note_id in (*(note.id for note in part.notes), *(one.id for one in part.purged)):
                self._changed.pop(note_id, None)
        self.apply([note for note in part.notes if self.skipped.get(note.row) != note.rev], part.links)
        if part.purged:
            self.purge(part.purged)
        if age == self.age and self._place is not None:
            if part.notes:
                self._top = max(self._top, part.notes[0].row)
                self._left = part.notes[-1].row
            self._place = part.place
        return len(part.purged) + len(part.notes)

    def apply(self, notes: Sequence[Note], links: Mapping[str, Sequence[Link]] = EMPTY) -> None:
        """Have the projection apply *notes* as they are now, and the *links* that leave them."""
        if self.failure is not None or not notes:
            return
        try:
            self._give(notes, links)
        except Exception:  # noqa: BLE001 - which note it was shows below
            for note in notes:
                self._apply_one(note, links)
        else:
            if self.skipped:
                for note in notes:
                    self.skipped.pop(note.row, None)

    def _give(self, notes: Sequence[Note], links: Mapping[str, Sequence[Link]]) -> None:
        self.projection.apply(notes)
        if self.projection.is_linked:
            self.projection.link({note.id: links[note.id] for note in notes})

    def _apply_one(self, note: Note, links: Mapping[str, Sequence[Link]]) -> None:
        if self.failure is not None:
            return
        try:
            self._give([note], links)
        except Exception as error:  # noqa: BLE001 - the note is durable; one that cannot be applied holds up nothing
            name, cause = self.projection.name, type(error).__name__
            log.error("projection.note_skipped", shelf=self._shelf, projection=name, id=note.id, error=cause)
            # It must not be found by what it said before.
            self._try(lambda: self.projection.withhold(PurgedNote(note.row, note.id)))
            self.skipped[note.row] = note.rev
        else:
            self.skipped.pop(note.row, None)

    def purge(self, purged: Sequence[PurgedNote]) -> None:
        """Have the projection keep nothing of *gone*."""
        for row, note_id in purged:
            self.skipped.pop(row, None)
            self._changed.pop(note_id, None)
        if self.is_awake and self.failure is None:
            self._try(lambda: self.projection.purge(purged))

    def _try(self, remove: Callable[[], None]) -> None:
        try:
            remove()
        except Exception as error:  # noqa: BLE001 - what it holds can no longer be trusted
            self.fail(type(error).__name__)

    def fail(self, cause: str) -> None:
        """Clear the projection; it is rebuilt once :meth:`begin_anew` is called."""
        log.error("projection.failed", shelf=self._shelf, projection=self.projection.name, error=cause)
        self.failure = cause
        self.age += 1
        self._begin()
        self._clear()
        self._on_failure(self)

    def restart(self) -> None:
        """Have it read all rows again: what it makes of them has changed."""
        if self.is_awake and self.failure is None:
            self.age += 1
            self._begin()
            self.skipped.clear()
            if not self._clear():
                self.fail("clear")

    def _begin(self) -> None:
        self._place, self._top, self._left = ScanPosition(), 1, 1
        self._changed.clear()

    def begin_anew(self) -> bool:
        """Start to rebuild it from the rows; return False if it cannot even be cleared."""
        if not self._clear():
            return False
        self.failure = None
        return True

    def _clear(self) -> bool:
        try:
            self.projection.clear()
        except Exception as error:  # noqa: BLE001 - tried again when it is rebuilt
            name, cause = self.projection.name, type(error).__name__
            log.error("projection.clear_failed", shelf=self._shelf, projection=name, error=cause)
            return False
        return True


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

    def start(self) -> None:
        """Begin to fill the eager ones in the background."""
        self._began = self._clock.monotonic()
        self._spawn(self._fill(self.eager), "fill")

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
