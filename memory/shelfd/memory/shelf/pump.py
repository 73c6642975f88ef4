"""The pump: delivers one shelf's change log to everything derived from it, each at its own pace.

Callers are notified of their change first, those of a large one when eager projections know it. These catch up a moment
later, several notes at a time, or before the next read; when more changes than they apply in between, writers wait.
Lazy ones read what changed when they are next read. Changes that arrive in no group, because another process made them,
are read from the log.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any, Final

import structlog

from shelfd.memory.errors import DeadlineExceeded, InvalidParams, ShuttingDown, traced
from shelfd.memory.notes.note import Note
from shelfd.memory.ports.log import ENDED, LogRow, Sink
from shelfd.memory.ports.projection import PURGED, Follower, Purgeable
from shelfd.memory.ports.store import Applied, Clock
from shelfd.memory.ports.view import View
from shelfd.memory.shelf.backlog import LARGE, Backlog, Portion, linked_in, portions_of, purged_in
from shelfd.memory.shelf.imaging import ShelfImage
from shelfd.memory.shelf.seq_waiters import SeqWaiters
from shelfd.memory.shelf.tidying import Tidying
from shelfd.memory.shelf.tracks import FIRST_WAIT, Spawn, Tracks

log = structlog.get_logger("shelfd.memory")

#: Notes, or rows of the log, applied without yielding to other tasks: about 8 ms. Six are a request of 1,000.
_SLICE: Final = 168
#: Notes of small changes that may wait to be applied, and are applied at once when a read needs them.
_AT_ONCE: Final = LARGE
#: How long that may take without yielding to other tasks.
_TURN_S: Final = 0.005
#: Notes applied before the clock is looked at, or so many characters of theirs: about 8 ms. In halves they cost more.
_CLOCK_EVERY: Final = 168
_CHARACTERS: Final = 31_500
#: How long notes may wait to be applied when nothing reads.
_DELAY: Final = timedelta(milliseconds=20)
#: The same while a sink is attached, which may be notified a little late.
_SINK_DELAY: Final = timedelta(milliseconds=5)
_MIN_SEQ_WAIT_S: Final = 5.0
#: How far ahead of the last change a read may wait for one: some requests of the largest size.
_AHEAD_CHANGES: Final = 100_000


class Pump:
    """Keeps projections and followers of one shelf up to date with its log.

    Args:
        tracks: State made from notes.
        followers: Take each group as it is committed.
        holders: Others that hold something of notes, which a purge must remove.
        image: Of the eager projections.
        tidying: Of them.
        spawn: Starts a task that ends with the shelf.

    Attributes:
        seq: The last change that all eager projections have applied.
    """

    def __init__(
        self,
        tracks: Tracks,
        view: View,
        clock: Clock,
        shelf: str,
        *,
        followers: Sequence[Follower],
        holders: Sequence[Purgeable],
        image: ShelfImage,
        tidying: Tidying,
        spawn: Spawn,
    ) -> None:
        self._image = image
        self._tidying = tidying
        self.seq = view.log.last_seq
        self._followers = followers
        self._tracks = tracks
        self._view = view
        self._clock = clock
        self._shelf = shelf
        self._holders = holders
        self._spawn = spawn
        self._backlog = Backlog(self.seq)
        self._untold: deque[tuple[int, Callable[[], None]]] = deque()  # callers of large changes, by their last one
        self._is_draining = False
        self._waiting = SeqWaiters()
        self._listeners: dict[int, Callable[[int], None]] = {}
        self._listener_count = 0
        self._sinks: list[Sink] = []
        self._is_closing = False

    def closing(self) -> None:
        """Start nothing more; what still becomes durable is applied as before."""
        self._is_closing = True
        self._tracks.close()
        self._tell(self._backlog.last_seq)
        for sink in self._sinks:
            sink.closing()

    def close(self) -> None:
        """Release everything: nothing will read it. Who still follows is told so."""
        self._backlog.clear()
        for callback in list(self._listeners.values()):
            callback(ENDED)
        self._listeners.clear()
        self._waiting.end(ShuttingDown())

    # --------------------------------------------------------- followers and sinks

    @property
    def is_followed(self) -> bool:
        """Whether anything follows the shelf."""
        return bool(self._listeners or self._sinks)

    @property
    def is_idle(self) -> bool:
        """Whether there is no follower, and no sink lags."""
        return not self._listeners and not any(sink.is_behind for sink in self._sinks)

    def follow(self, callback: Callable[[int], None]) -> Callable[[], None]:
        """Call *callback* with the last sequence number after each change; return a function that ends that.

        When the shelf is closed all the same, as one is that a backup replaces, it is called with :data:`ENDED`.
        """
        self._listener_count += 1
        number = self._listener_count
        self._listeners[number] = callback
        if self._backlog:
            self._spawn(self._catch_up(), "catch_up")
        return lambda: self._listeners.pop(number, None) and None

    def attach(self, sink: Sink) -> Callable[[], None]:
        """Notify *sink* of each change from now on, once recall knows it; return a function that detaches it."""
        self._sinks = [*self._sinks, sink]

        def detach() -> None:
            self._sinks = [other for other in self._sinks if other is not sink]

        return detach

    def _advance(self, last_seq: int) -> None:
        if last_seq <= self.seq:
            return
        self.seq = last_seq
        for notify in (*self._listeners.values(), *(sink.applied for sink in self._sinks)):
            try:
                notify(last_seq)
            except Exception as error:  # noqa: BLE001 - the failure of one must affect neither recall nor the others
                log.error("shelf.follower_failed", shelf=self._shelf, last_seq=last_seq, **traced(error))
        self._waiting.reached(last_seq)
        self._image.advanced(last_seq)
        if not self._is_closing:
            self._tidying.advanced()
        self._tell(last_seq)

    def tell_when_known(self, last_seq: int, tell: Callable[[], None]) -> None:
        """Call *tell* when no read needs to wait for the change *last_seq* any more, which is of a large change.

        It is called at once if nothing is left of large changes, and when the shelf closes.
        """
        if self._is_closing or not self._backlog.has_large or last_seq <= self.seq:
            tell()
        else:
            if not self._untold:
                self._spawn(self._catch_up(), "catch_up")  # what drains may just be waiting for more
            self._untold.append((last_seq, tell))

    def _tell(self, last_seq: int) -> None:
        while self._untold and self._untold[0][0] <= last_seq:
            _, tell = self._untold.popleft()
            try:
                tell()
            except Exception as error:  # noqa: BLE001 - one caller's trouble must not reach the others
                log.error("shelf.caller_failed", shelf=self._shelf, last_seq=last_seq, **traced(error))

    # ------------------------------------------------------------- feeding

    def feed(self, group: Sequence[Applied[Any]]) -> None:
        """Deliver a group of changes, as it becomes durable and before its callers are notified."""
        self._deliver(group)
        changes = [applied for applied in group if applied.rows]
        if changes:
            # Others can lie before a group, not in it: it is one transaction.
            self.announce(changes[0].rows[0].seq - 1)
        for portion in portions_of(changes):
            self._backlog.add(portion)
            self._tell_others(portion)
        # Callers are notified first; eager projections catch up before they are next read. When more changes
        # arrive than they apply in between, some are applied here, which slows the writers down as it should.
        if self._backlog.notes > _AT_ONCE and self._backlog.is_read:
            self._apply_some(_SLICE, is_urgent=True)
        self._drain_soon()

    def announce(self, last_seq: int) -> None:
        """Announce that the log extends to *last_seq*: what arrived in no group is read from it."""
        known_seq = self._backlog.last_seq
        if last_seq > known_seq:
            self._backlog.add(Portion(known_seq, last_seq, since=known_seq))
            self._drain_soon()

    def _deliver(self, group: Sequence[Applied[Any]]) -> None:
        for follower in self._followers:
            try:
                follower.apply(group)
            except Exception as error:  # noqa: BLE001 - the failure of one must not affect the others
                log.error("shelf.follower_failed", shelf=self._shelf, last_seq=self._backlog.last_seq, **traced(error))
                follower.clear()

    def _tell_others(self, portion: Portion) -> None:
        """Notify all but eager projections of a portion, which these apply in its turn."""
        if self._tracks.are_lazy_awake:
            self._tracks.note_changes(portion.notes, portion.linked)
        if portion.purged:
            for holder in (*self._holders, *self._followers, *self._tracks.lazy):
                holder.purge(portion.purged)

    # ----------------------------------------------------------- taking in

    def _drain_soon(self) -> None:
        if self._backlog and not self._is_draining and not self._is_closing:
            self._is_draining = True
            # After the callers, whose answers need not wait for it.
            asyncio.get_running_loop().call_soon(self._begin_draining)

    def _begin_draining(self) -> None:
        if self._backlog and not self._is_closing:
            self._spawn(self._drain(), "index")
        else:
            self._is_draining = False

    async def _drain(self) -> None:
        wait, is_turn_of_large = FIRST_WAIT, False
        try:
            # Several notes at a time cost half as much each, and who writes one by one waits for none of it.
            if not (self._listeners or self._waiting or self._untold or self._backlog.has_large):
                await self._clock.sleep(_SINK_DELAY if self._sinks else _DELAY)
            while self._backlog:
                is_turn_of_large = not is_turn_of_large
                try:
                    self._apply_some(_SLICE, is_turn_of_large=is_turn_of_large)
                except Exception as error:  # noqa: BLE001 - whatever it is, it is retried until it is over
                    wait = await self._tracks.wait("log.read_failed", wait, type(error).__name__)
                else:
                    wait = FIRST_WAIT
                    await asyncio.sleep(0)
        finally:
            self._is_draining = False

    def _apply_some(self, count: int, *, is_urgent: bool = False, is_turn_of_large: bool = False) -> None:
        """Apply the next *count* notes of the backlog, fewer if they take long; then notify waiters.

        Args:
            count: At most so many.
            is_urgent: See :meth:`Backlog.next`, as is *is_turn_of_large*.

        Raises:
            ShelfError: If changes that arrived in no group cannot be read.
        """
        backlog, until = self._backlog, self._clock.monotonic() + _TURN_S
        while count > 0:
            portion = backlog.next(is_urgent=is_urgent, is_turn_of_large=is_turn_of_large)
            if portion is None:
                break
            if portion.since is not None:
                self._read_log(portion, portion.since)
                continue
            done = self._apply(portion, count, until)
            count -= done
            if done < len(portion.notes):
                backlog.shorten(portion, done)
                break
            if portion.purged:
                for track in self._tracks.eager:
                    track.purge(portion.purged)
            backlog.end(portion)
        self._advance(backlog.reached)

    def _apply(self, portion: Portion, count: int, until: float) -> int:
        """Have eager projections apply the first *count* notes of a portion until the time is over; return how many."""
        count, done = min(count, len(portion.notes)), 0
        while done < count:
            if done and self._clock.monotonic() >= until:
                break
            some = _some(portion.notes[done : min(done + _CLOCK_EVERY, count)])
            done += len(some)
            some = self._backlog.current(portion, some)
            for track in self._tracks.eager:
                track.apply(some)
        return done

    def _read_log(self, portion: Portion, since: int) -> None:
        """Replace the portion that says to read the log by its next changes."""
        last_seq = portion.last_seq
        rows = self._view.log.page(since_seq=since, limit=min(_SLICE, last_seq - since))
        is_logged = bool(rows) and rows[0].seq == since + 1 and not any(map(_names_no_notes, rows))
        purged = purged_in(rows)
        wanted = {row.row for row in rows if row.row is not None} - {row for row, _ in purged}
        notes = self._view.notes.by_rows(sorted(wanted))
        reached = rows[-1].seq if rows else last_seq
        found = Portion(since, reached, tuple(notes.values()), purged, linked_in(rows))
        self._backlog.read(portion, found)
        # Its rows are left out: event rings see the gap, for a note may have changed again since.
        self._deliver([Applied(None, (), {note.id: note for note in notes.values()}, reached)])
        self._tell_others(found)
        if not is_logged:  # the log no longer says which notes changed, or never did
            for follower in self._followers:
                follower.clear()
            self._tracks.start_over()

    # --------------------------------------------------------------- reads

    def reaches_at_once(self, min_seq: int | None) -> bool:
        """Do without waiting what an urgent :meth:`reach` does; return False if that takes longer, and has to wait."""
        backlog = self._backlog
        if backlog and backlog.is_before(goal := backlog.small_seq, is_urgent=True):
            began = self._clock.monotonic()
            self._apply_some(_AT_ONCE, is_urgent=True)
            if backlog.is_before(goal, is_urgent=True) or self._clock.monotonic() - began > _TURN_S / 2:
                return False
        return min_seq is None or min_seq <= self.seq

    async def reach(self, min_seq: int | None, *, is_urgent: bool = False) -> None:
        """Wait until eager projections know every change up to *min_seq*, and all that is committed already.

        Args:
            min_seq: A change.
            is_urgent: Whether all that any caller was notified of is enough: that leaves out large changes.

        Raises:
            InvalidParams: If that change is so far ahead that it cannot be on its way.
            DeadlineExceeded: If that change does not come within five seconds.
        """
        if self._backlog:
            await self._catch_up(is_urgent=is_urgent)
        if min_seq is not None and min_seq > self.seq:
            if min_seq > (last := self._view.log.last_seq) + _AHEAD_CHANGES:
                raise InvalidParams(f"min_seq: the last change is {last}", field="min_seq", limit=last)
            try:
                async with asyncio.timeout(_MIN_SEQ_WAIT_S):
                    await self._waiting.wait_for(min_seq)
            except TimeoutError:
                raise DeadlineExceeded from None

    async def _catch_up(self, *, is_urgent: bool = False) -> None:
        """Apply what is committed by now, in slices if it is much."""
        backlog = self._backlog
        goal = backlog.small_seq if is_urgent else backlog.last_seq
        if not backlog.is_before(goal, is_urgent=is_urgent):
            return  # a read was there before this began
        began = self._clock.monotonic()
        self._apply_some(_AT_ONCE, is_urgent=is_urgent)
        while backlog.is_before(goal, is_urgent=is_urgent):
            await asyncio.sleep(0)
            began = self._clock.monotonic()
            self._apply_some(_SLICE, is_urgent=is_urgent)
        if self._clock.monotonic() - began > _TURN_S / 2:
            await asyncio.sleep(0)  # the task that waited for this has work of its own now


def _names_no_notes(row: LogRow) -> bool:
    """Whether a change concerns notes that its row in the log does not name; a purge's did not in earlier versions."""
    return row.kind == "nugget.renamed" or (row.kind == PURGED and row.row is None)


def _some(notes: Sequence[Note]) -> Sequence[Note]:
    """The first of *notes*, fewer if they are long; one at least."""
    characters = 0
    for at, note in enumerate(notes):
        if at and characters > _CHARACTERS:
            return notes[:at]
        characters += len(note.content)
    return notes
