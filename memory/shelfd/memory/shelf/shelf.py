"""One shelf at work: its durable store, everything derived from its log, and how its notes are used."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Any, NamedTuple, TypeAlias, TypeVar

import structlog

from shelfd.memory.call import Call
from shelfd.memory.errors import ShelfError, traced
from shelfd.memory.log.event_log import EventLog
from shelfd.memory.log.idempotency import Apply, Once, Outcome, RolledBack, once
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.notes.note import Note, Usage
from shelfd.memory.ports.dense import Dense, NoDense
from shelfd.memory.ports.entities import Enrichment, NoEnrichment
from shelfd.memory.ports.intake import ANY_TEXT, Intake
from shelfd.memory.ports.log import Origin, Sink
from shelfd.memory.ports.projection import PartProjection, Project, Projection
from shelfd.memory.ports.store import Applied, Change, Clock, OnDone, Store, outcome_of
from shelfd.memory.ports.view import View, Writer
from shelfd.memory.ports.watching import NoWatches, Watching
from shelfd.memory.settings import MemorySettings
from shelfd.memory.shelf.asking import ShelfModel
from shelfd.memory.shelf.backlog import is_large, may_be_large
from shelfd.memory.shelf.conflicts import OpenConflicts
from shelfd.memory.shelf.feedback import QueryFeedback
from shelfd.memory.shelf.hot import HotNotes
from shelfd.memory.shelf.imaging import ShelfImage
from shelfd.memory.shelf.pump import Pump
from shelfd.memory.shelf.queries import LastQueries, QueryBuffer
from shelfd.memory.shelf.scanner import Scanner
from shelfd.memory.shelf.tidying import Tidying
from shelfd.memory.shelf.tracks import Tracks
from shelfd.memory.shelf.unattended import Unattended
from shelfd.memory.shelf.usage import UsageBuffer, UsageSaver

log = structlog.get_logger("shelfd.memory")

_LAST_CALLS_S = 5.0  #: how long closing waits for calls at work
_WARMING = timedelta(milliseconds=2)  #: between two steps of filling a cache, so that they take a tenth of the time
T = TypeVar("T")
P = TypeVar("P", bound=Projection)
PartP = TypeVar("PartP", bound=PartProjection)
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

    def __init__(
        self, name: str, store: Store, clock: Clock, settings: MemorySettings, projections: Sequence[Project]
    ) -> None:
        self.name = name
        self.store = store
        self.clock = clock
        self.settings = settings
        self.usage = UsageBuffer(store.view)
        self.queries = QueryBuffer(is_on=settings.recall_log, may_keep=self._may_keep)
        self.last_queries = LastQueries()
        self.feedback = QueryFeedback(store.view)
        self.hot = HotNotes(store.view)
        self.conflicts = OpenConflicts(store.view)
        self.model = ShelfModel(store.view)
        self.enrichment: Enrichment = NoEnrichment()
        self.intake: Intake = ANY_TEXT
        self.watching: Watching = NoWatches()
        self.dense: Dense = NoDense()
        self.scanner = Scanner(clock)
        self.unattended = Unattended(store, shelf=name)
        self.in_use = 0
        self.last_used = clock.monotonic()
        self.notes_created = 0
        self.retrievals = 0
        self.entity_hits = 0
        self._event_log = EventLog(
            store.view,
            shelf=name,
            instance=settings.instance,
            content=settings.event_content,
            is_followed=lambda: self.pump.is_followed,
            watching=lambda: self.watching,
        )
        made = [project(store.view, settings) for project in projections]
        self.tracks = Tracks(made, store.view, clock, name, spawn=self.spawn)
        self.image = ShelfImage(self.tracks.eager, store, clock, name, seq=lambda: self.seq)
        self._tidying = Tidying([track.projection for track in self.tracks.eager], clock, self.spawn)
        self.pump = Pump(
            self.tracks,
            store.view,
            clock,
            name,
            image=self.image,
            tidying=self._tidying,
            followers=(self._event_log, self.hot, self.usage, self.conflicts),
            holders=(self.queries, self.last_queries, self.feedback),
            spawn=self.spawn,
        )
        self._tasks: set[asyncio.Task[None]] = set()
        self._closing = False
        self._at_close: list[Callable[[], None]] = []
        self._unused: asyncio.Future[None] | None = None
        retention = settings.idempotency_retention
        self._usage_writer = UsageSaver(
            self.usage, self.queries, store, clock, shelf=name, spawn=self.spawn, retention=retention
        )
        self._unfollow = store.follow(self.pump.feed)

    # ---------------------------------------------------------------- life

    def start(self) -> None:
        """Begin to read the image, and to fill what it does not have, in the background."""
        self.image.begin()
        self.spawn(self._fill(), "fill")
        if self.view.feedback.count():
            self.spawn(self.feedback.read(), "feedback")

    async def _fill(self) -> None:
        await self.image.load()
        await self.tracks.fill()
        self.image.advanced(self.seq)
        self._tidying.advanced()
        self.hot.when_read = self._begin_to_warm_up

    def _begin_to_warm_up(self) -> None:
        self.spawn(self._warm_up(), "warm_up")

    async def _warm_up(self) -> None:
        with suppress(ShelfError):  # what cannot be read now is read when it is asked for
            for notes in self.hot.warm_up():
                self.usage.know([note.row for note in notes])
                await self.clock.sleep(_WARMING)

    def enter(self) -> None:
        """Note that a call uses the shelf; it is not closed meanwhile."""
        self.in_use += 1

    def leave(self) -> None:
        """Note that a call is over."""
        self.in_use -= 1
        if not self.in_use and self._unused is not None and not self._unused.done():
            self._unused.set_result(None)

    async def close(self) -> None:
        """Let calls end, write what waits and release the store."""
        if self._closing:
            return
        self._closing = True
        self.pump.closing()
        for callback in self._at_close:
            callback()
        self._usage_writer.close()
        await self._until_unused()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        try:
            await self._usage_writer.write()
            await self.image.close()
        finally:
            self.scanner.close()
            # What is queued still becomes durable and reaches recall, and its callers are notified.
            await self.store.close()
            self._unfollow()
            self.pump.close()

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
        return not self.in_use and self.pump.is_idle

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
        if not task.cancelled() and (error := task.exception()) is not None:  # no caller awaits it
            log.error("shelf.task_failed", shelf=self.name, task=task.get_name(), **traced(error))

    # ------------------------------------------------------------- changes

    async def change(self, call: Call, apply: Apply) -> Changed:
        """Run *apply* in a transaction and return what it did, once it is durable. Reads that begin later know it.

        With an idempotency key the same request is carried out once and its stored outcome returned.

        Raises:
            IdempotencyMismatch: If the key was used with other params.
        """
        return await outcome_of(lambda on_done: self.submit(call, apply, on_done))

    def submit(
        self,
        call: Call,
        apply: Apply,
        on_done: OnDone[Changed],
        *,
        can_repeat: bool = False,
        ahead: Callable[[], object] | None = None,
    ) -> None:
        """Run *apply* in a transaction, after those submitted before; *on_done* is called later with the result.

        Args:
            call: The request.
            apply: What it does.
            on_done: Called later, on the loop.
            can_repeat: Whether *apply* may be called again after what it did was rolled back.
            ahead: Does what needs nothing of the shelf, for *apply* to find; it need not be called.

        Raises:
            ShuttingDown: If the shelf is being closed; *on_done* is not called.
        """
        origin = call.origin()
        transact = once(call, origin, apply, self.settings.idempotency_retention, self.intake)

        def committed(applied: _Committed) -> None:
            if isinstance(applied, RolledBack):
                on_done(Changed(applied.outcome, {}, replayed=False, last_seq=self.view.log.last_seq))
            elif isinstance(applied, Exception):
                on_done(applied)
            else:
                outcome, replayed = applied.value
                changed = Changed(outcome, applied.notes, replayed, applied.last_seq)
                if replayed or is_large(applied):  # what is done again may have been a large one
                    self.pump.tell_when_known(applied.last_seq, lambda: on_done(changed))
                else:
                    on_done(changed)

        waits = not can_repeat and may_be_large(call.params)
        self.store.submit(Change(origin, transact, call.ticket, can_repeat, waits, call.sender, ahead), committed)

    async def commit(self, origin: Origin, apply: Callable[[Transaction], T]) -> Applied[T]:
        """Run *apply* in a transaction of the daemon's own; return what it did, once it is durable.

        If that is much, recall knows it then, too.

        Raises:
            ShelfError: What *apply* raised; then nothing happened.
        """

        def transact(writer: Writer, now: int) -> tuple[T, Transaction]:
            transaction = Transaction(writer, now, origin, self.intake)
            return apply(transaction), transaction

        applied = await self.store.commit(Change(origin, transact))
        if is_large(applied):
            await self.pump.reach(None)
        return applied

    # --------------------------------------------------------------- reads

    def projection(self, kind: type[P]) -> P:
        """Return the shelf's projection of this *kind*."""
        return self.tracks[kind]

    def part(self, kind: type[PartP], name: str) -> PartP:
        """Return the shelf's projection of this *kind* of one of its parts, such as a nugget; it is lazy."""
        return self.tracks.part(kind, name, lambda: kind(self.view, self.settings, name))

    def exact(self, kind: type[P]) -> P | None:
        """Return the shelf's projection of this *kind* if it knows all that is committed by now."""
        is_exact = self.seq == self.view.log.last_seq and self.tracks.is_exact(kind)
        return self.tracks[kind] if is_exact else None

    @property
    def seq(self) -> int:
        """The last change that recall knows."""
        return self.pump.seq

    async def reach(self, min_seq: int | None, *, is_urgent: bool = False) -> None:
        """Wait until recall knows every change up to *min_seq*, and all that is committed already.

        Args:
            min_seq: A change.
            is_urgent: Whether all that any caller was told of is enough, as it is for reads.

        Raises:
            InvalidParams: If that change is so far ahead that it cannot be on its way.
            DeadlineExceeded: If that change does not come within five seconds.
        """
        if self.image.is_loading:
            await self.image.loaded()
        await self.pump.reach(min_seq, is_urgent=is_urgent)

    def reaches_at_once(self, min_seq: int | None) -> bool:
        """Do what an urgent :meth:`reach` does if that takes a moment; return False if it has to wait."""
        return not self.image.is_loading and self.pump.reaches_at_once(min_seq)

    def index_state(self) -> dict[str, Any]:
        """Return how far recall follows the shelf, as a recall reply reports it."""
        return {**self.tracks.state(), "seq": self.seq}

    def index_health(self) -> dict[str, Any]:
        """Return how the index is, for those who look after the daemon."""
        health: dict[str, Any] = {"index": self.index_state()["state"]}
        health |= {f"index_{name}": value for name, value in self.tracks.warming().items()}
        complaint = self.index_complaint()
        return health | {"index_complaint": complaint} if complaint else health

    def index_complaint(self) -> str | None:
        """Return why recall does not know every note, None if it does or will soon."""
        found = [self.tracks.complaint()]
        if self.image.problem is not None and self.tracks.state()["state"] != "ready":
            found.append(f"the index is made anew, for its image could not be used: {self.image.problem}")
        return "; ".join(filter(None, found)) or None

    def follow(self, callback: Callable[[int], None]) -> Callable[[], None]:
        """Call *callback* with the last sequence number after each change; return a function that ends that."""
        return self.pump.follow(callback)

    def attach(self, sink: Sink) -> Callable[[], None]:
        """Notify *sink* of each change from now on, once recall knows it; return a function that detaches it."""
        return self.pump.attach(sink)

    def events(
        self, since_seq: int, limit: int, wanted: Callable[[str, str | None], bool], matches: int = 0
    ) -> tuple[list[dict[str, Any]], int]:
        """Return wanted events after *since_seq* among the next *limit* changes, and the last change read.

        See :meth:`EventLog.read` for matches of standing queries. Changes that recall does not know yet are left for
        later, so that a subscriber that receives one can recall it.

        Raises:
            HistoryTrimmed: If the log no longer reaches back to *since_seq*; ``first_seq`` is where it begins.
        """
        return self._event_log.read(since_seq, limit, self.seq, wanted, matches)

    # --------------------------------------------------------------- usage

    def record_use(self, notes: Sequence[Note], *, session_id: str | None) -> None:
        """Count that *notes* were returned, in a session or (None) without counting a hit."""
        if notes:
            self.usage.record(notes, session_id=session_id, now=self.clock.now())
            self._usage_writer.write_soon()

    def raise_use(self, known: Mapping[int, Usage]) -> bool:
        """Count at least as much use of notes, by row, as another memory recorded; return whether that was more."""
        is_more = self.usage.raise_to(known)
        if is_more:
            self._usage_writer.write_soon()
        return is_more

    def touch(self, note: Note) -> None:
        """Record an access to *note*."""
        self.usage.touch(note, now=self.clock.now())
        self._usage_writer.write_soon()

    def _may_keep(self, query: str) -> bool:
        return self.intake.is_clean(query)

    async def write_usage(self) -> None:
        """Store the usage of the last second now, for those who read it from the store.

        Raises:
            Unavailable: If the store did not take it.
        """
        await self._usage_writer.write()
