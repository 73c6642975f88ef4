"""The pump: feeds everything that follows one shelf's change log, each at its own pace and none in another's way.

Callers hear of their change first. What is read from catches up a moment later, several notes at a time, or before
the next read; when more comes than is taken in between, the writers are held up. What is lazy reads what changed when
it is next asked. Changes that did not come as a group, because another process made them, are read from the log.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any, Final, NamedTuple

import structlog

from shelfd.memory.errors import DeadlineExceeded, InvalidParams, ShuttingDown, traced
from shelfd.memory.notes.note import Note
from shelfd.memory.ports.log import LogRow, Sink
from shelfd.memory.ports.projection import PURGED, Follower, Forgetful, Gone
from shelfd.memory.ports.store import Applied, Clock
from shelfd.memory.ports.view import View
from shelfd.memory.shelf.reaching import Reaching
from shelfd.memory.shelf.tracks import FIRST_WAIT, Spawn, Tracks

log = structlog.get_logger("shelfd.memory")

#: Notes, or rows of the log, taken in without giving other work a turn: about 5 ms.
_SLICE: Final = 128
#: Notes that may wait to be taken in, and are taken in at once when a read needs them: about 10 ms.
_AT_ONCE: Final = 256
#: How long that may take without giving other work a turn, and after how many notes to look.
_TURN_S: Final = 0.005
_LOOKS: Final = 4
#: How long notes may wait to be taken in when nobody reads.
_DELAY: Final = timedelta(milliseconds=20)
#: The same while a sink wants to hear of them, which may be a little late but not much.
_SINK_DELAY: Final = timedelta(milliseconds=5)
_MIN_SEQ_WAIT_S: Final = 5.0
#: How far ahead of the last change a read may wait for one: some requests of the largest size.
_AHEAD_CHANGES: Final = 100_000


class _Step(NamedTuple):
    """What a change did to notes; or, if *since* is given, changes after that number which are yet to be read."""

    last_seq: int
    notes: Sequence[Note] = ()
    gone: Sequence[Gone] = ()
    since: int | None = None


class Pump:
    """Keeps projections and followers of one shelf up with its log.

    Args:
        tracks: State made from notes.
        followers: Take each group as it is committed.
        holders: Others that hold something of notes and must forget what is purged.
        spawn: Starts a task that ends with the shelf.

    Attributes:
        seq: The last change that everything read from knows.
    """

    def __init__(
        self,
        tracks: Tracks,
        view: View,
        clock: Clock,
        shelf: str,
        *,
        followers: Sequence[Follower],
        holders: Sequence[Forgetful],
        spawn: Spawn,
    ) -> None:
        self.seq = self._heard = view.log.last_seq
        self._followers = followers
        self._tracks = tracks
        self._view = view
        self._clock = clock
        self._shelf = shelf
        self._holders = holders
        self._spawn = spawn
        self._backlog: deque[_Step] = deque()
        self._backlog_notes = 0
        self._is_draining = False
        self._waiting = Reaching()
        self._listeners: dict[int, Callable[[int], None]] = {}
        self._listener_count = 0
        self._sinks: list[Sink] = []
        self._is_closing = False

    def closing(self) -> None:
        """Start nothing more; what still becomes durable is taken in as before."""
        self._is_closing = True
        self._tracks.close()
        for sink in self._sinks:
            sink.closing()

    def close(self) -> None:
        """Let go of everything: nobody will read it."""
        self._backlog.clear()
        self._waiting.end(ShuttingDown())

    # --------------------------------------------------------- those told

    @property
    def is_followed(self) -> bool:
        """Whether anybody wants to hear of changes."""
        return bool(self._listeners or self._sinks)

    @property
    def is_idle(self) -> bool:
        """Whether nobody follows, and no sink is behind."""
        return not self._listeners and not any(sink.is_behind for sink in self._sinks)

    def follow(self, callback: Callable[[int], None]) -> Callable[[], None]:
        """Call *callback* with the last sequence number after each change; return what ends it."""
        self._listener_count += 1
        number = self._listener_count
        self._listeners[number] = callback
        if self._backlog:
            self._spawn(self._catch_up(), "catch_up")
        return lambda: self._listeners.pop(number, None) and None

    def attach(self, sink: Sink) -> Callable[[], None]:
        """Tell *sink* of each change from now on, at recall's own pace; return what ends it."""
        self._sinks = [*self._sinks, sink]

        def detach() -> None:
            self._sinks = [other for other in self._sinks if other is not sink]

        return detach

    def _advance(self, last_seq: int) -> None:
        if last_seq <= self.seq:
            return
        self.seq = last_seq
        for hear in (*self._listeners.values(), *(sink.applied for sink in self._sinks)):
            try:
                hear(last_seq)
            except Exception as error:  # noqa: BLE001 - the trouble of one must reach neither recall nor the others
                log.error("shelf.follower_failed", shelf=self._shelf, last_seq=last_seq, **traced(error))
        self._waiting.reached(last_seq)

    # ------------------------------------------------------------- feeding

    def feed(self, group: Sequence[Applied[Any]]) -> None:
        """Take over what a group of changes did, as it becomes durable and before its callers hear of it."""
        self._tell(group)
        for applied in group:
            if applied.rows:
                if applied.rows[0].seq > self._heard + 1:
                    self.hear(applied.rows[0].seq - 1)
                self._heard = applied.last_seq
                self._queue(_Step(applied.last_seq, tuple(applied.notes.values()), gone_in(applied.rows)))
        # Callers hear of their change first; what is read from catches up before it answers anybody. When more comes
        # than is taken in between, part of it is taken in here, which holds the writers up as it should.
        if self._backlog_notes > _AT_ONCE and self._backlog[0].since is None:
            self._take_some(_SLICE)
        self._drain_soon()

    def hear(self, last_seq: int) -> None:
        """Hear that the log goes up to *last_seq*: what came in no group is read from it."""
        if last_seq > self._heard:
            self._backlog.append(_Step(last_seq, since=self._heard))
            self._heard = last_seq
            self._drain_soon()

    def _tell(self, group: Sequence[Applied[Any]]) -> None:
        for follower in self._followers:
            try:
                follower.apply(group)
            except Exception as error:  # noqa: BLE001 - the trouble of one must not reach the others
                log.error("shelf.follower_failed", shelf=self._shelf, last_seq=self._heard, **traced(error))
                follower.clear()

    def _queue(self, step: _Step, *, first: bool = False) -> None:
        """Have a step taken in: what is read from takes it in its turn, all others hear of it now."""
        if first:
            self._backlog.appendleft(step)
        else:
            self._backlog.append(step)
        self._backlog_notes += len(step.notes)
        if self._tracks.are_lazy_awake:
            self._tracks.note_changes(step.notes)
        if step.gone:
            for holder in (*self._holders, *self._followers, *self._tracks.lazy):
                holder.forget(step.gone)

    # ----------------------------------------------------------- taking in

    def _drain_soon(self) -> None:
        if self._backlog and not self._is_draining and not self._is_closing:
            self._is_draining = True
            # Behind the callers, whose answers need not wait for it.
            asyncio.get_running_loop().call_soon(self._begin_draining)

    def _begin_draining(self) -> None:
        if self._backlog and not self._is_closing:
            self._spawn(self._drain(), "index")
        else:
            self._is_draining = False

    async def _drain(self) -> None:
        wait = FIRST_WAIT
        try:
            # Notes are indexed several at a time, which costs half as much each, unless somebody waits for them.
            if not self._listeners and not self._waiting:
                await self._clock.sleep(_SINK_DELAY if self._sinks else _DELAY)
            while self._backlog:
                try:
                    self._take_some(_SLICE)
                except Exception as error:  # noqa: BLE001 - whatever it is, it is tried again until it is over
                    wait = await self._tracks.wait("log.read_failed", wait, type(error).__name__)
                else:
                    wait = FIRST_WAIT
                    await asyncio.sleep(0)
        finally:
            self._is_draining = False

    def _take_some(self, count: int) -> None:
        """Take in the next *count* notes of the backlog, fewer if they take long; then notify those who wait for that.

        Raises:
            ShelfError: If changes that came in no group cannot be read.
        """
        reached, until = self.seq, self._clock.monotonic() + _TURN_S
        while self._backlog and count > 0:
            if self._backlog[0].since is not None:
                self._read_log()
            step = self._backlog.popleft()
            done = self._take(step.notes if len(step.notes) <= count else step.notes[:count], until)
            count -= done
            self._backlog_notes -= done
            if done < len(step.notes):
                self._backlog.appendleft(step._replace(notes=step.notes[done:]))
                break
            if step.gone:
                for track in self._tracks.eager:
                    track.forget(step.gone)
            reached = step.last_seq
        self._advance(reached)

    def _take(self, notes: Sequence[Note], until: float) -> int:
        """Have what is read from take in *notes* in order until the time is over; return how many."""
        for begin in range(0, len(notes), _LOOKS):
            if begin and self._clock.monotonic() >= until:
                return begin
            some = notes if len(notes) <= _LOOKS else notes[begin : begin + _LOOKS]
            for track in self._tracks.eager:
                track.apply(some)
        return len(notes)

    def _read_log(self) -> None:
        """Put the next changes of the log in place of the step that says they are to be read."""
        last_seq, _, _, since = self._backlog[0]
        assert since is not None
        rows = self._view.log.page(since_seq=since, limit=min(_SLICE, last_seq - since))
        is_told = bool(rows) and rows[0].seq == since + 1 and not any(map(_says_too_little, rows))
        gone = gone_in(rows)
        wanted = {row.row for row in rows if row.row is not None} - {row for row, _ in gone}
        notes = self._view.notes.by_rows(sorted(wanted))
        reached = rows[-1].seq if rows else last_seq
        self._backlog.popleft()
        if reached < last_seq:
            self._backlog.appendleft(_Step(last_seq, since=reached))
        # Its rows are not told: who keeps them sees the gap, for a note may have changed again since.
        self._tell([Applied(None, (), {note.id: note for note in notes.values()}, reached)])
        self._queue(_Step(reached, tuple(notes.values()), gone), first=True)
        if not is_told:  # the log no longer says which notes changed, or never did
            for follower in self._followers:
                follower.clear()
            self._tracks.start_over()

    # --------------------------------------------------------------- reads

    async def reach(self, min_seq: int | None) -> None:
        """Wait until what is read from knows every change up to *min_seq*, and all that is committed already.

        Raises:
            InvalidParams: If that change is so far ahead that it cannot be on its way.
            DeadlineExceeded: If that change does not come within five seconds.
        """
        if self._backlog:
            await self._catch_up()
        if min_seq is not None and min_seq > self.seq:
            if min_seq > (last := self._view.log.last_seq) + _AHEAD_CHANGES:
                raise InvalidParams(f"min_seq: the last change is {last}", field="min_seq", limit=last)
            try:
                async with asyncio.timeout(_MIN_SEQ_WAIT_S):
                    await self._waiting.wait_for(min_seq)
            except TimeoutError:
                raise DeadlineExceeded from None

    async def _catch_up(self) -> None:
        """Take in what is committed by now, in slices if it is much."""
        if not self._backlog:
            return  # a read was there before this began
        goal, began = self._backlog[-1].last_seq, self._clock.monotonic()
        self._take_some(_AT_ONCE)
        while self._backlog and self.seq < goal:
            await asyncio.sleep(0)
            began = self._clock.monotonic()
            self._take_some(_SLICE)
        if self._clock.monotonic() - began > _TURN_S / 2:
            await asyncio.sleep(0)  # whoever waited for this has work of its own now


def _says_too_little(row: LogRow) -> bool:
    """Whether a change concerns notes that its row in the log does not name; a purge's did not in earlier versions."""
    return row.kind == "nugget.renamed" or (row.kind == PURGED and row.row is None)


def gone_in(rows: Sequence[LogRow]) -> Sequence[Gone]:
    """Return the notes that changes took out of the shelf for good."""
    for row in rows:
        if row.kind == PURGED:
            return [Gone(row.row, row.ids[0]) for row in rows if row.kind == PURGED and row.row is not None]
    return ()  # nearly always
