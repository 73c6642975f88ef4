"""A job's first step, which is the request's own transaction, and what its procedure is given for the others."""

from collections.abc import Awaitable, Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar

from shelfd.memory.call import Call
from shelfd.memory.errors import Cancelled
from shelfd.memory.log.idempotency import Apply, Outcome
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.ports.job import MANUAL, Job, draw_run_id, job_id_of
from shelfd.memory.ports.log import Origin
from shelfd.memory.shelf.shelf import Shelf
from shelfd.protocol import Limits

T = TypeVar("T")
#: One step: changes rows and the cursor, a JSON-like dict, in one transaction.
Step: TypeAlias = Callable[[Transaction, dict[str, Any]], T]


@dataclass(slots=True)
class Work:
    """A job at work.

    Attributes:
        limits: The configured limits.
        job: As it was stored last.
    """

    shelf: Shelf
    limits: Limits
    job: Job

    @property
    def cursor(self) -> Mapping[str, Any]:
        """How far the job has come."""
        return self.job.cursor

    async def step(self, apply: Step[T], origin: Origin | None = None) -> T:
        """Take one step: what *apply* does and the cursor it leaves become durable together.

        A step takes a few milliseconds of the writer at most, for it holds up everybody else's changes. *apply* goes by
        the cursor it is given: an attempt that was cut short may have had one more step in the writer's queue.

        Args:
            apply: What the step does.
            origin: What the step's log rows name, if that is more than the job's do.

        Raises:
            ShelfError: What *apply* raised, or the store; then neither happened.
            Cancelled: If the job was cancelled meanwhile.
        """
        return await self._take(apply, lambda job, _value: job._replace(state="running", error=None), origin)

    async def finish(self, apply: Step[Mapping[str, Any]]) -> Mapping[str, Any]:
        """Take the last step: what *apply* does and the end of the job become durable together.

        Args:
            apply: Returns the job's result, JSON-like and without memory text.

        Raises:
            ShelfError: As :meth:`step` does.
        """
        return await self._take(
            apply,
            lambda job, result: job._replace(
                state="done", error=None, result=result, cursor=progress_of(job), finished_at=job.updated_at
            ),
        )

    async def _take(self, apply: Step[T], stand: Callable[[Job, T], Job], origin: Origin | None = None) -> T:
        def transact(tx: Transaction) -> tuple[T, Job]:
            stored = tx.rows.jobs.get(self.job.id)
            if stored is None or not stored.is_unfinished:
                raise Cancelled
            cursor = deepcopy(dict(stored.cursor))
            value = apply(tx, cursor)
            job = stand(stored._replace(cursor=cursor, updated_at=tx.now), value)
            tx.rows.jobs.put(job)
            return value, job

        applied = await self.shelf.commit(origin or self.job.origin(), transact)
        value, self.job = applied.value
        return value


def progress_of(job: Job) -> dict[str, int]:
    """Return what there is to say of a job's progress."""
    return {name: job.cursor[name] for name in ("done", "total") if job.cursor.get(name) is not None}


#: Does what is left of a job and returns its result, JSON-like and without memory text. Called again after a crash.
#: It may have finished the job itself, with the same result.
Procedure: TypeAlias = Callable[[Work], Awaitable[Mapping[str, Any]]]


class JobKind(NamedTuple):
    """A kind of job.

    Attributes:
        name: Its name in the store.
        can_end_early: Whether it can be ended half-way: what it did can be taken back, or stands by itself.
        has_slot: Whether the scheduler does it, too: what a caller asks for then stands in its history as well.
    """

    name: str
    can_end_early: bool = False
    has_slot: bool = False


_KEPT: Final = timedelta(days=30)
_FORGOTTEN_AT_ONCE: Final = 20


class Begun(NamedTuple):
    """What the first step of a job has left to do, and input that the job keeps only until it is done."""

    kind: JobKind
    params: Mapping[str, Any]
    cursor: Mapping[str, Any]
    pieces: Mapping[int, Mapping[str, Any]] | None = None


def as_job(begin: Callable[[Transaction, Any, Call], Begun | Outcome], retention: timedelta) -> Apply:
    """Return the change that is the first step of a job, or all of it: what fits the step returns its outcome.

    Args:
        begin: Takes the step.
        retention: How long an idempotency key is remembered, whose outcome may name the job.
    """

    def apply(tx: Transaction, params: object, call: Call) -> Outcome:
        begun = begin(tx, params, call)
        if not isinstance(begun, Begun):
            return begun
        job = put_job(tx, begun, call.origin())
        tx.rows.jobs.delete_ended(tx.now - max(_KEPT, retention) // timedelta(microseconds=1), limit=_FORGOTTEN_AT_ONCE)
        return {"job": job.id}

    return apply


def put_job(tx: Transaction, begun: Begun, origin: Origin) -> Job:
    """Add a job, to be started once the transaction is durable; return it.

    Args:
        tx: Where.
        begun: What there is to do.
        origin: Who asked for it, and its run.
    """
    now, run_id = tx.now, origin.run_id or ""
    job_id = job_id_of(run_id)
    if tx.rows.jobs.get(job_id) is not None:  # of an earlier request, whose run this one goes on with
        job_id = job_id_of(draw_run_id())
    job = Job(
        job_id,
        begun.kind.name,
        "queued",
        origin.principal,
        origin.method,
        origin.request_id,
        run_id,
        begun.params,
        begun.cursor,
        created_at=now,
        updated_at=now,
    )
    if begun.kind.has_slot:
        job = job._replace(slot=f"{MANUAL}:{run_id}", reason=MANUAL, planned_at=now, started_at=now)
    tx.rows.jobs.put(job)
    for number, piece in (begun.pieces or {}).items():
        tx.rows.jobs.put_piece(job.id, number, piece)
    return job
