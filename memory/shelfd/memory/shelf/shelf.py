"""One shelf at work: its durable store, the recall index that follows it, and how its notes are used."""

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine, Mapping, Sequence
from datetime import timedelta
from typing import Any, NamedTuple, TypeAlias, TypeVar

import structlog

from shelfd.memory.call import Call
from shelfd.memory.errors import DeadlineExceeded, InvalidParams, ShuttingDown, traced
from shelfd.memory.facts.fact_memory import ShelfFacts
from shelfd.memory.log.event_log import EventLog
from shelfd.memory.log.idempotency import Apply, Once, Outcome, RolledBack, once
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.notes.note import Note, Usage
from shelfd.memory.ports.log import Origin, Sink
from shelfd.memory.ports.store import Applied, Change, Clock, Store
from shelfd.memory.ports.view import View, Writer
from shelfd.memory.ports.waiting import OnDone, outcome_of
from shelfd.memory.recall import Analyzer, Focus, Names, RecallIndex
from shelfd.memory.settings import MemorySettings
from shelfd.memory.shelf.hot import HotNotes
from shelfd.memory.shelf.indexing import Intake
from shelfd.memory.shelf.queries import LastQueries, QueryBook
from shelfd.memory.shelf.reaching import Reaching
from shelfd.memory.shelf.usage import UsageBook
from shelfd.memory.shelf.usage_writer import UsageSaver
from shelfd.memory.shelf.warming import Warming

log = structlog.get_logger("shelfd.memory")

#: Notes indexed without giving other work a turn: about 5 ms.
_SLICE = 128
#: Notes that may wait to be indexed, and are indexed at once when a read needs them: about 10 ms.
_AT_ONCE = 256
#: How long indexing may take without giving other work a turn, and after how many notes to look.
_TURN_S = 0.005
_LOOKS = 4
#: How long notes may wait to be indexed when nobody reads.
_INDEX_DELAY = timedelta(milliseconds=20)
#: The same while a sink wants to hear of them, which may be a little late but not much.
_SINK_DELAY = timedelta(milliseconds=5)
_MIN_SEQ_WAIT_S = 5.0
#: How far ahead of the last change a read may wait for one: some requests of the largest size.
_AHEAD_CHANGES = 100_000
_LAST_CALLS_S = 5.0  #: how long closing waits for calls at work
T = TypeVar("T")
# A function inside a hot one has its annotations evaluated at each call: hence names for long ones.
_Committed: TypeAlias = Applied[Once] | Exception


class Changed(NamedTuple):
    """What a change did: its outcome, the notes it touched as they are now, and whether it was done before."""

    outcome: Outcome
    notes: Mapping[str, Note]
    replayed: bool
    last_seq: int


class Shelf:
    """An open shelf. All of its methods run on the event loop."""

    def __init__(self, name: str, store: Store, clock: Clock, settings: MemorySettings) -> None:
        self.name = name
        self.store = store
        self.clock = clock
        self.settings = settings
        self.usage = UsageBook(store.view)
        self.queries = QueryBook(is_on=settings.recall_log)
        self.last_queries = LastQueries()
        self.hot = HotNotes(store.view)
        self.index = RecallIndex(Analyzer(language=settings.language, timezone=settings.timezone))
        names = Names(self.index.analyzer)
        self.focus = Focus(self.index, names)
        self.event_log = EventLog(store.view, shelf=name, instance=settings.instance, content=settings.event_content)
        self.seq = store.view.log.last_seq
        self.in_use = 0
        self.last_used = clock.monotonic()
        self.notes_created = 0
        self.retrievals = 0
        self.intake = Intake(self.index, names, name)
        self._warming = Warming(store.view, self.intake, clock, name)
        self._backlog: deque[tuple[int, Sequence[Note]]] = deque()
        self._followers: dict[int, Callable[[int], None]] = {}
        self._follower_count = 0
        self._sinks: list[Sink] = []
        self._backlog_notes = 0
        self._index_task: asyncio.Task[None] | None = None
        self._waiting = Reaching()
        self._tasks: set[asyncio.Task[None]] = set()
        self.facts = ShelfFacts(store.view, self.spawn)
        self._closing = False
        self._at_close: list[Callable[[], None]] = []
        self._unused: asyncio.Future[None] | None = None
        retention = settings.idempotency_retention
        self._usage_writer = UsageSaver(
            self.usage, self.queries, store, clock, shelf=name, spawn=self.spawn, retention=retention
        )
        self._unfollow = store.follow(self._on_group)

    # ---------------------------------------------------------------- life

    def start(self) -> None:
        """Begin to fill the index, behind whatever else happens."""
        self.spawn(self._warming.run(), "warm_up")

    def enter(self) -> None:
        """Say that a call uses the shelf from now on; it is not closed meanwhile."""
        self.in_use += 1

    def leave(self) -> None:
        """Say that a call is over."""
        self.in_use -= 1
        if not self.in_use and self._unused is not None and not self._unused.done():
            self._unused.set_result(None)

    async def close(self) -> None:
        """Let calls end, write what waits and release the store."""
        if self._closing:
            return
        self._closing = True
        for sink in self._sinks:
            sink.closing()
        for callback in self._at_close:
            callback()
        self._usage_writer.close()
        await self._until_unused()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        try:
            await self._usage_writer.write()
        finally:
            # What is queued still becomes durable and reaches recall, and its callers are notified.
            await self.store.close()
            self._unfollow()
            self._backlog.clear()  # nobody will read it
            self._waiting.end(ShuttingDown())

    async def _until_unused(self) -> None:
        if not self.in_use:
            return
        self._unused = asyncio.get_running_loop().create_future()
        try:
            async with asyncio.timeout(_LAST_CALLS_S):
                await self._unused
        except TimeoutError:
            log.warning("shelf.closed_in_use", shelf=self.name, calls=self.in_use)

    @property
    def is_idle(self) -> bool:
        """Whether nothing uses the shelf right now."""
        return not self.in_use and not self._followers and not any(sink.is_behind for sink in self._sinks)

    @property
    def view(self) -> View:
        """The last committed state."""
        return self.store.view

    def at_close(self, callback: Callable[[], None]) -> None:
        """Call *callback* when the shelf is about to close, before its last calls end."""
        self._at_close.append(callback)

    def spawn(self, work: Coroutine[Any, Any, None], name: str) -> asyncio.Task[None]:
        """Start a task that is cancelled when the shelf closes."""
        task: asyncio.Task[None] = asyncio.get_running_loop().create_task(work, name=f"shelfd.{self.name}.{name}")
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:  # nobody awaits it
            log.error("shelf.task_failed", shelf=self.name, task=task.get_name(), **traced(error))

    # ------------------------------------------------------------- changes

    async def change(self, call: Call, apply: Apply) -> Changed:
        """Run *apply* in a transaction and return what it did, once it is durable. Reads that begin later know it.

        With an idempotency key the same request is carried out once and its outcome given again.

        Raises:
            IdempotencyMismatch: If the key was used with other params.
        """
        return await outcome_of(lambda on_done: self.submit(call, apply, on_done))

    def submit(self, call: Call, apply: Apply, on_done: OnDone[Changed]) -> None:
        """Run *apply* in a transaction, after those submitted before; *on_done* is called later with what it did.

        Raises:
            ShuttingDown: If the shelf is being closed; *on_done* is not called.
        """
        transact = once(call, apply, self.settings.idempotency_retention)

        def committed(applied: _Committed) -> None:
            if isinstance(applied, RolledBack):
                on_done(Changed(applied.outcome, {}, replayed=False, last_seq=self.view.log.last_seq))
            elif isinstance(applied, Exception):
                on_done(applied)
            else:
                outcome, replayed = applied.value
                on_done(Changed(outcome, applied.notes, replayed, applied.last_seq))

        self.store.submit(Change(call.origin(), transact, call.ticket), committed)

    async def commit(self, origin: Origin, apply: Callable[[Transaction], T]) -> Applied[T]:
        """Run *apply* in a transaction of the daemon's own; return what it did, once it is durable.

        Raises:
            ShelfError: What *apply* raised; then nothing happened.
        """

        def transact(writer: Writer, now: int) -> tuple[T, Transaction]:
            transaction = Transaction(writer, now)
            return apply(transaction), transaction

        return await self.store.commit(Change(origin, transact))

    def _on_group(self, group: Sequence[Applied[Any]]) -> None:
        if self._followers or self._sinks:
            self.event_log.add(group)
        else:
            self.event_log.forget()  # nobody to tell; and what is kept must have no hole
        for applied in group:
            if applied.notes:
                self.hot.renew(applied.notes.values())
            if applied.rows:
                self._backlog.append((applied.last_seq, tuple(applied.notes.values())))
                self._backlog_notes += len(applied.notes)
        # Callers hear of their change first; recall catches up before it answers anybody. When more comes than
        # is indexed in between, part of it is indexed here, which holds the writers up as it should.
        if self._backlog_notes > _AT_ONCE:
            self._index_some(_SLICE)
        if self._backlog and self._index_task is None and not self._closing:
            # Behind the callers, whose answers need not wait for it.
            asyncio.get_running_loop().call_soon(self._begin_indexing)

    def _begin_indexing(self) -> None:
        if self._backlog and self._index_task is None and not self._closing:
            self._index_task = self.spawn(self._index_backlog(), "index")

    async def _index_backlog(self) -> None:
        try:
            # Notes are indexed several at a time, which costs half as much each, unless somebody waits for them.
            if not self._followers and not self._waiting:
                await self.clock.sleep(_SINK_DELAY if self._sinks else _INDEX_DELAY)
            while self._backlog:
                self._index_some(_SLICE)
                await asyncio.sleep(0)
        finally:
            self._index_task = None

    def _index_some(self, count: int) -> None:
        """Index the next *count* notes of the backlog, fewer if they take long; then notify those who wait for that."""
        reached, until = self.seq, self.clock.monotonic() + _TURN_S
        while self._backlog and count > 0:
            last_seq, notes = self._backlog.popleft()
            done = self._index_notes(notes[:count], until)
            count -= done
            self._backlog_notes -= done
            if done < len(notes):
                self._backlog.appendleft((last_seq, notes[done:]))
                break
            reached = last_seq
        self._advance(reached)

    def _index_notes(self, notes: Sequence[Note], until: float) -> int:
        """Index *notes* in order until the time is over; return how many."""
        for number, note in enumerate(notes):
            if number and number % _LOOKS == 0 and self.clock.monotonic() >= until:
                return number
            self.intake.put(note)
            if not self._closing:
                self.facts.changed(note)
        return len(notes)

    def _advance(self, last_seq: int) -> None:
        if last_seq <= self.seq:
            return
        self.seq = last_seq
        for hear in (*self._followers.values(), *(sink.applied for sink in self._sinks)):
            try:
                hear(last_seq)
            except Exception as error:  # noqa: BLE001 - the trouble of one must reach neither recall nor the others
                log.error("shelf.follower_failed", shelf=self.name, last_seq=last_seq, **traced(error))
        self._waiting.reached(last_seq)

    # --------------------------------------------------------------- reads

    async def reach(self, min_seq: int | None) -> None:
        """Wait until recall knows every change up to *min_seq*, and all that is committed already.

        Raises:
            InvalidParams: If that change is so far ahead that it cannot be on its way.
            DeadlineExceeded: If that change does not come within five seconds.
        """
        if self._backlog:
            await self._catch_up()
        if min_seq is not None and min_seq > self.seq:
            if min_seq > (last := self.view.log.last_seq) + _AHEAD_CHANGES:
                raise InvalidParams(f"min_seq: the last change is {last}", field="min_seq", limit=last)
            try:
                async with asyncio.timeout(_MIN_SEQ_WAIT_S):
                    await self._waiting.wait_for(min_seq)
            except TimeoutError:
                raise DeadlineExceeded from None

    async def _catch_up(self) -> None:
        """Index what is committed by now, in slices if it is much."""
        goal, began = self._backlog[-1][0], self.clock.monotonic()
        self._index_some(_AT_ONCE)
        while self._backlog and self.seq < goal:
            await asyncio.sleep(0)
            began = self.clock.monotonic()
            self._index_some(_SLICE)
        if self.clock.monotonic() - began > _TURN_S / 2:
            await asyncio.sleep(0)  # whoever waited for this has work of its own now

    def index_state(self) -> dict[str, Any]:
        """Return how far the recall index follows the shelf, as a recall reply says it."""
        warming = self._warming
        state = {"state": "ready" if warming.is_done else "warming", "share": round(warming.share, 3), "seq": self.seq}
        return state | {"skipped": self.intake.skipped} if self.intake.skipped else state

    def index_complaint(self) -> str | None:
        """Return what keeps recall from knowing every note, None if nothing does but time."""
        found = []
        if self._warming.failure is not None:
            found.append(f"the shelf cannot be read ({self._warming.failure}), which is tried again")
        if self.intake.skipped:
            found.append(f"{self.intake.skipped} notes cannot be indexed: the log names them (index.note_skipped)")
        return "; ".join(found) or None

    def follow(self, callback: Callable[[int], None]) -> Callable[[], None]:
        """Call *callback* with the last sequence number after each change; return what ends it."""
        self._follower_count += 1
        number = self._follower_count
        self._followers[number] = callback
        if self._backlog:
            self.spawn(self._catch_up(), "catch_up")
        return lambda: self._followers.pop(number, None) and None

    def attach(self, sink: Sink) -> Callable[[], None]:
        """Tell *sink* of each change from now on, at recall's own pace; return what ends it."""
        self._sinks = [*self._sinks, sink]

        def detach() -> None:
            self._sinks = [other for other in self._sinks if other is not sink]

        return detach

    def events(
        self, since_seq: int, limit: int, wanted: Callable[[str, str | None], bool]
    ) -> tuple[list[dict[str, Any]], int]:
        """Return wanted events after *since_seq* among the next *limit* changes, and the last change looked at.

        Changes that recall does not know yet are left for later, so that who hears of one can recall it.

        Raises:
            HistoryTrimmed: If the log no longer reaches back to *since_seq*; ``first_seq`` is where it begins.
        """
        return self.event_log.read(since_seq, limit, self.seq, wanted)

    # --------------------------------------------------------------- usage

    def record_use(self, notes: Sequence[Note], *, session_id: str | None) -> None:
        """Count that *notes* were returned, in a session or (None) without counting a hit."""
        if notes:
            self.usage.record(notes, session_id=session_id, now=self.clock.now())
            self._usage_writer.write_soon()

    def raise_use(self, known: Mapping[int, Usage]) -> bool:
        """Count at least as much use of notes, by row, as another memory knew of; return whether that was more."""
        is_more = self.usage.raise_to(known)
        if is_more:
            self._usage_writer.write_soon()
        return is_more

    def touch(self, note: Note) -> None:
        """Note that somebody looked at *note*."""
        self.usage.touch(note, now=self.clock.now())
        self._usage_writer.write_soon()

    async def write_usage(self) -> None:
        """Store the usage of the last second now, for those who read it from the store.

        Raises:
            Unavailable: If the store did not take it.
        """
        await self._usage_writer.write()
