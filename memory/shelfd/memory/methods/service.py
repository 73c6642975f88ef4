"""The front door of the memory: every transport hands its validated calls in here."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias, cast

import structlog

from shelfd.memory.call import Call, work_in_task, work_soon
from shelfd.memory.encoded import decoded
from shelfd.memory.errors import ShelfError, ShuttingDown
from shelfd.memory.jobs.runner import JobRunner
from shelfd.memory.jobs.work import Procedure as JobProcedure
from shelfd.memory.jobs.work import as_job
from shelfd.memory.knowledge.enricher import Enricher, NoteReader
from shelfd.memory.knowledge.governance.gate import Gate
from shelfd.memory.knowledge.position import KnownAliases
from shelfd.memory.methods import USE_CASES
from shelfd.memory.methods.context import BeginNow, Context, Ended
from shelfd.memory.methods.registry import (
    Answer,
    ChangeMethod,
    Procedure,
    ReadAnswer,
    ReadMethod,
    Settle,
    outcome_is_result,
)
from shelfd.memory.ports.embedder import ABSENT_EMBEDDER, Embedder
from shelfd.memory.ports.job import draw_run_id, job_id_of
from shelfd.memory.ports.language_model import NO_MODEL, LanguageModel
from shelfd.memory.ports.store import OnDone, outcome_of
from shelfd.memory.recall.standing_queries import StandingQueries
from shelfd.memory.shelf.access import Access
from shelfd.memory.shelf.asking import ShelfModel
from shelfd.memory.shelf.shelf import Changed, Shelf
from shelfd.memory.shelf.shelves import Shelves
from shelfd.memory.tending.expiry import tell_as_they_expire
from shelfd.memory.tending.promotion import NoFiles, Promoter
from shelfd.protocol import METHODS, Limits
from shelfd.protocol.lazy_table import importing

log = structlog.get_logger("shelfd.memory")

_Changed: TypeAlias = Changed | Exception
_Answered: TypeAlias = ReadAnswer | Exception


#: Params by which later requests refer to a conversation, or to this one.
_IDENTIFIERS = ("idempotency_key", "session_id", "new_session_id")


class Service(Context):
    """Carries out calls on shelves.

    Args:
        promoter: Writes MEMORY.md; without it there is none.
        limits: The configured limits, for work that no caller waits for.
        model: The language model; without it, what can be done without one is.
        embedder: Makes the vectors of notes and queries; without it, recall goes by words.
    """

    def __init__(
        self,
        shelves: Shelves,
        access: Access,
        promoter: Promoter | None = None,
        limits: Limits | None = None,
        model: LanguageModel = NO_MODEL,
        embedder: Embedder = ABSENT_EMBEDDER,
    ) -> None:
        self.shelves = shelves
        self.access = access
        self.promoter = promoter or Promoter(NoFiles())
        self.limits = limits or Limits()
        self._model = model
        self._embedder = embedder
        self._own_types = frozenset(rule.type for rule in shelves.settings.entity_rules)
        self._jobs: dict[Shelf, JobRunner] = {}
        shelves.on_open(self._resume)

    def submit(self, call: Call, on_done: OnDone[ReadAnswer]) -> None:
        """Begin *call*. A change is queued when this returns, and takes no task: changes apply in the order of these.

        Args:
            call: What to do.
            on_done: Called later, once, on the loop, with the result, a JSON-like dict of the method's result shape
                or its JSON, or with what went wrong. It must not raise.
        """
        call.rules, call.own_types = self.access, self._own_types
        call.has_model = self._model.is_configured
        call.asks_of_similar = call.has_model and self.shelves.settings.decides_on_similar
        try:
            use_case = USE_CASES[call.method.name]
            self.access.check(call.principal, call.shelf, call.method.need)  # a refused call is no use of the shelf
            if isinstance(use_case, Procedure):
                work_in_task(call, partial(use_case.run, self, call), on_done)
            elif (shelf := self.shelves.available(cast("str", call.shelf))) is not None:
                self._begin(use_case, call, on_done, shelf)
            else:
                self.shelves.when_open(cast("str", call.shelf), partial(self._begin_late, use_case, call, on_done))
        except Exception as error:  # noqa: BLE001 - whatever it was, the caller is notified
            asyncio.get_running_loop().call_soon(on_done, error)

    async def handle(self, call: Call) -> Answer:
        """Submit *call* and wait for its result; when this is cancelled, so is a task that is at work on it.

        Raises:
            ShelfError: What the caller gets to know.
        """
        try:
            return decoded(await outcome_of(partial(self.submit, call)))
        except asyncio.CancelledError:
            if call.abort is not None:
                call.abort()
            raise

    def _begin_late(
        self, use_case: ChangeMethod | ReadMethod, call: Call, on_done: OnDone[ReadAnswer], shelf: Shelf | Exception
    ) -> None:
        """Begin a call that waited for its shelf. The shelf of that name may belong to another principal by now."""
        if isinstance(shelf, Exception):
            on_done(shelf)
            return
        try:
            self.access.check(call.principal, call.shelf, call.method.need)
            self._begin(use_case, call, on_done, shelf)
        except Exception as error:  # noqa: BLE001 - as above
            on_done(error)

    def _begin(
        self, use_case: ChangeMethod | ReadMethod, call: Call, on_done: OnDone[ReadAnswer], shelf: Shelf
    ) -> None:
        _check_identifiers(shelf, call)
        shelf.enter()
        try:
            if isinstance(use_case, ReadMethod):
                work_soon(call, partial(_read, use_case, shelf, call), partial(_leave, shelf, on_done))
            elif use_case.dry_run is not None and getattr(call.params, "dry_run", False):
                work_in_task(call, partial(use_case.dry_run, self, shelf, call), partial(_leave, shelf, on_done))
            else:
                self._change(use_case, call, on_done, shelf)
        except BaseException:
            shelf.leave()
            raise

    def _change(self, use_case: ChangeMethod, call: Call, on_done: OnDone[ReadAnswer], shelf: Shelf) -> None:
        def committed(changed: _Changed) -> None:
            try:
                if isinstance(changed, Exception):
                    answer: _Answered = changed
                elif use_case.ended is not None and "job" in changed.outcome:
                    work = partial(self._end_of_job, use_case.ended, shelf, changed, call)
                    work_in_task(call, work, partial(_leave, shelf, on_done))
                    return
                elif use_case.settle is not None and "pending" in changed.outcome:
                    work = partial(self._settled, use_case.settle, use_case, shelf, changed, call)
                    work_in_task(call, work, partial(_leave, shelf, on_done))
                    return
                else:
                    answer = self._rendered(use_case, shelf, changed, call)
            except Exception as error:  # noqa: BLE001 - as above
                answer = error
            _leave(shelf, on_done, answer)

        if use_case.known_as is not None:
            call = replace(call, method=METHODS[use_case.known_as])
        apply = use_case.apply
        if use_case.is_run is not None and use_case.is_run(call.params):
            call.run_id = call.run_id or draw_run_id()
            apply = as_job(apply, shelf.settings.idempotency_retention)
        ahead = None if use_case.ahead is None else partial(use_case.ahead, call.params, call)
        shelf.submit(call, apply, committed, can_repeat=use_case.can_repeat, ahead=ahead)

    def _rendered(self, use_case: ChangeMethod, shelf: Shelf, changed: Changed, call: Call) -> Answer:
        if use_case.then is not None:
            use_case.then(self, shelf, changed)
        answer = use_case.render(shelf, changed, call)
        if changed.replayed:
            answer["replayed"] = True
        return answer

    async def _settled(
        self, settle: Settle, use_case: ChangeMethod, shelf: Shelf, changed: Changed, call: Call
    ) -> Answer:
        await settle(self, shelf, changed, call)
        return self._rendered(use_case, shelf, changed, call)

    async def _end_of_job(self, ended: Ended, shelf: Shelf, changed: Changed, call: Call) -> Answer:
        if call.on_begun is not None:
            call.on_begun()
        answer = ended(shelf, await self.jobs(shelf).end_of(changed.outcome["job"]))
        return answer | {"replayed": True} if changed.replayed else answer

    # ---------------------------------------------------------------- what use cases use

    def jobs(self, shelf: Shelf) -> JobRunner:
        """Return what carries out the jobs of an open shelf. See the port."""
        if shelf not in self._jobs:
            raise ShuttingDown
        return self._jobs[shelf]

    async def perform(self, shelf_name: str, run_id: str) -> Mapping[str, Any]:
        """Try once to finish a job that the scheduler runs; return its result.

        Args:
            shelf_name: Of a shelf that the scheduler keeps open.
            run_id: Of the job.

        Raises:
            ShelfError: What it was refused with.
        """
        shelf = self.shelves.opened(shelf_name) or await self.shelves.get(shelf_name)
        return await self.jobs(shelf).perform(job_id_of(run_id))

    async def carry_out(self, shelf: Shelf, call: Call, begin: BeginNow, ended: Ended | None = None) -> Answer:
        """Do what a ``@job`` does, or a ``@change``, for a use case that had to prepare. See the port."""
        is_run = None if ended is None else lambda _params: True
        use_case = ChangeMethod(lambda tx, _params, _call: begin(tx), outcome_is_result, ended=ended, is_run=is_run)
        return decoded(await outcome_of(lambda on_done: self._begin(use_case, call, on_done, shelf)))

    async def shelf(self, call: Call) -> Shelf:
        """Return the open shelf that *call* is about. See the port."""
        shelf = await self.shelves.get(cast("str", call.shelf))
        self.access.check(call.principal, call.shelf, call.method.need)
        return shelf

    def _resume(self, shelf: Shelf) -> None:
        """Lend a shelf the language model, and resume what a daemon left unfinished in it."""
        shelf.model = ShelfModel(shelf.view, self._model)
        shelf.intake = Gate(shelf.settings.governance, shelf.name)
        shelf.enrichment = Enricher(shelf, partial(self._reader, shelf))
        shelf.watching = StandingQueries(shelf)
        self._jobs[shelf] = JobRunner(shelf, lambda: self.limits, self._procedures)
        shelf.at_close(partial(self._closed, shelf))
        shelf.enrichment.wake()
        if self._embedder.model:
            with importing:
                from shelfd.memory.recall.embedding import ShelfDense  # for those who want it
            shelf.dense = ShelfDense(shelf, self._embedder, shelf.settings.embedding_deadline)
            shelf.dense.wake()
        shelf.spawn(self._resume_work(shelf), "resume")
        shelf.spawn(tell_as_they_expire(shelf), "expiry")

    def _reader(self, shelf: Shelf, aliases: KnownAliases, give_way: Callable[[], Awaitable[None]]) -> NoteReader:
        with importing:  # the rules are needed once there is something to read
            from shelfd.memory.knowledge.batches import Batches
            from shelfd.memory.knowledge.model.enriching import LaterReading
        later = LaterReading(shelf, lambda job_id: self.jobs(shelf).start(job_id))
        return Batches(shelf, aliases, give_way, later)

    def _procedures(self) -> Mapping[str, JobProcedure]:
        with importing:
            from shelfd.memory.methods.job_kinds import procedures  # jobs need a third of all there is to import
        return procedures(self)

    def _closed(self, shelf: Shelf) -> None:
        self._jobs.pop(shelf, None)

    async def _resume_work(self, shelf: Shelf) -> None:
        try:
            await self.promoter.settle(shelf)
        except ShelfError as error:  # the next promotion looks again
            log.warning("promotion.settle_failed", shelf=shelf.name, error=type(error).__name__)
        await self.jobs(shelf).start_unfinished()


def _check_identifiers(shelf: Shelf, call: Call) -> None:
    """Raise GovernanceViolation if a key or a new conversation is called by what must not be kept."""
    said = vars(call.params)
    for field in _IDENTIFIERS:
        name = said.get(field)
        if name is None or shelf.intake.is_name(name):
            continue
        if field != "session_id" or shelf.view.sessions.get(name) is None:
            shelf.intake.admit_name(name, field, call.origin())


def _read(use_case: ReadMethod, shelf: Shelf, call: Call) -> ReadAnswer | Awaitable[ReadAnswer]:
    if not shelf.reaches_at_once(getattr(call.params, "min_seq", None)):
        return _read_later(use_case, shelf, call, None)
    if call.room is not None and (wait := call.room()) is not None:
        return _read_later(use_case, shelf, call, wait)
    return use_case.get(shelf, call.params, call)


async def _read_later(use_case: ReadMethod, shelf: Shelf, call: Call, room: Awaitable[None] | None) -> ReadAnswer:
    if room is None:
        await shelf.reach(getattr(call.params, "min_seq", None), is_urgent=True)
        room = None if call.room is None else call.room()
    if room is not None:
        await room
    answer = use_case.get(shelf, call.params, call)
    return await answer if isinstance(answer, Awaitable) else answer


def _leave(shelf: Shelf, on_done: OnDone[ReadAnswer], answer: _Answered) -> None:
    shelf.leave()
    on_done(answer)
