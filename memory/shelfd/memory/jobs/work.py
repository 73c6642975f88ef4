"""What the procedure of a job is given: the shelf, what else it may use, and a way to take a step."""

from collections.abc import Awaitable, Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

from shelfd.memory.errors import Cancelled
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.ports.job import Job
from shelfd.memory.shelf.shelf import Shelf

if TYPE_CHECKING:
    from shelfd.memory.methods.service import Service

T = TypeVar("T")
#: One step: changes rows and the cursor, a JSON-like dict, in one transaction.
Step: TypeAlias = Callable[[Transaction, dict[str, Any]], T]


@dataclass(slots=True)
class Work:
    """A job at work.

    Attributes:
        job: As it was stored last.
    """

    service: "Service"
    shelf: Shelf
    job: Job

    @property
    def cursor(self) -> Mapping[str, Any]:
        """How far the job has come."""
        return self.job.cursor

    async def step(self, apply: Step[T]) -> T:
        """Take one step: what *apply* does and the cursor it leaves become durable together.

        A step takes a few milliseconds of the writer at most, for it holds up everybody else's changes.

        Raises:
            ShelfError: What *apply* raised, or the store; then neither happened.
            Cancelled: If somebody ended the job meanwhile.
        """

        def transact(tx: Transaction) -> tuple[T, Job]:
            stored = tx.rows.jobs.get(self.job.id)
            if stored is None or not stored.is_unfinished:
                raise Cancelled
            cursor = deepcopy(dict(stored.cursor))
            value = apply(tx, cursor)
            job = stored._replace(state="running", cursor=cursor, error=None, updated_at=tx.now)
            tx.rows.jobs.put(job)
            return value, job

        applied = await self.shelf.commit(self.job.origin(), transact)
        value, self.job = applied.value
        return value


#: Does what is left of a job and returns its result, JSON-like and without memory text. Called again after a crash.
Procedure: TypeAlias = Callable[[Work], Awaitable[Mapping[str, Any]]]


class JobKind(NamedTuple):
    """A kind of job: its name in the store, and what carries it out."""

    name: str
    run: Procedure
