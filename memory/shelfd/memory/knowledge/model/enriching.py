"""Job: what a language model makes of a batch of new notes, after their commit.

It reads them for what they mention and what they say causes what, which stands beside what rules found; and it rewords
notes like them, if that is wanted, which is a change of the job's run and can be taken back.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from itertools import takewhile
from typing import Any, Final, TypeVar

from shelfd.memory.errors import ModelUnavailable
from shelfd.memory.jobs.work import Begun, JobKind, Work, put_job
from shelfd.memory.knowledge.graph.edges import put_read, text_of
from shelfd.memory.knowledge.model.alike import notes_like
from shelfd.memory.knowledge.model.neighbours import NEIGHBOURS, Rewording, may_evolve, reword, rewordings
from shelfd.memory.knowledge.model.reading import NoteReading, fitting, read_notes
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.notes.note import Note
from shelfd.memory.ports.job import draw_run_id
from shelfd.memory.ports.language_model import NO_ANSWER
from shelfd.memory.ports.log import LogRow, Origin
from shelfd.memory.shelf.shelf import Shelf

T = TypeVar("T")
ENRICHMENT: Final = JobKind("enrichment", can_end_early=True)
#: The method that its changes name.
METHOD: Final = "enrich"
#: Notes that are read whatever their length, and how long others have to be.
_DOMAINS: Final = frozenset({"cti", "incident", "threat_intel"})
_LONG: Final = 200
#: How often in a row a model that cannot be reached is asked, until notes are left unread.
_ATTEMPTS: Final = 4
#: Characters by which notes like a new one are looked for.
_ASKED: Final = 500


class LaterReading:
    """Decides which new notes of a shelf a model reads, and has a job do it.

    Args:
        shelf: Their shelf.
        start: Starts a job once it is durable.
    """

    def __init__(self, shelf: Shelf, start: Callable[[str], None]) -> None:
        self._shelf = shelf
        self._start = start

    def wanted(self, notes: Iterable[Note], rows: Sequence[LogRow]) -> Mapping[str, Sequence[int]]:
        """Return the rows of those of *notes* that are to be read, and of those by which others may be reworded.

        Args:
            notes: As they are now.
            rows: What happened to them.
        """
        settings, model = self._shelf.settings, self._shelf.model
        if not (settings.reads_by_model or settings.evolves_neighbours) or not model.context_tokens:
            return {}
        told = {row.row for row in rows if _tells(row)}
        own = {row.row for row in rows if row.origin.method == METHOD}  # else each rewording would bring others
        some = [note for note in notes if note.row in told and note.live and not note.extra.is_rollup]
        some = [note for note in some if model.may_see(note.nugget)]
        found = {
            "read": [note.row for note in some if settings.reads_by_model and is_read(note)],
            "evolve": [note.row for note in some if settings.evolves_neighbours and note.row not in own],
        }
        return found if any(found.values()) else {}

    def begin(self, tx: Transaction, wanted: Mapping[str, Sequence[int]]) -> str:
        """Add the job that does what is *wanted* of a batch; return its id."""
        total = sum(map(len, wanted.values()))
        cursor = {"done": 0, "total": total, "tried": 0, "read": 0, "evolved": [], "unread": 0}
        origin = Origin("shelfd", METHOD, run_id=draw_run_id())
        return put_job(tx, Begun(ENRICHMENT, wanted, cursor), origin).id

    def started(self, job_id: str) -> None:
        """Start a job that is durable now."""
        self._start(job_id)


def is_read(note: Note) -> bool:
    """Return whether a note says enough to be read by a model."""
    return note.domain in _DOMAINS or len(note.content) > _LONG


def _tells(row: LogRow) -> bool:
    """Whether a change gave a note its text."""
    return row.kind == "note.created" or "content" in (row.before or {})


async def run(work: Work) -> Mapping[str, Any]:
    """Do what is left; return how many notes were read, and the ids of those that were reworded."""
    to_read, to_evolve = work.job.params["read"], work.job.params["evolve"]
    while (done := work.cursor["done"]) < work.cursor["total"]:
        if done < len(to_read):
            await _read_next(work, to_read[done:])
        else:
            await _evolve_next(work, to_evolve[done - len(to_read)])
        await asyncio.sleep(0)
    cursor = work.cursor
    return {"read": cursor["read"], "evolved": cursor["evolved"], "unread": cursor["unread"]}


async def _read_next(work: Work, rows: Sequence[int]) -> None:
    """Have the next notes read that fit one question."""
    notes, passed = _next(work, rows)
    found: Sequence[NoteReading] | None = ()
    if notes:

        async def asking() -> Sequence[NoteReading]:
            some = notes[: fitting(work.shelf.model, notes)]
            return await read_notes(work.shelf.model, some)

        found = await _answered(work, asking)
        if found is not None:
            notes = notes[: len(found)]
        passed = rows.index(notes[-1].row) + 1
    read = list(zip(notes, found or (), strict=False))

    def apply(tx: Transaction, cursor: dict[str, Any]) -> None:
        cursor["unread"] += 0 if found is not None else len(notes)
        for note, reading in read:
            if put_read(tx, note, reading.edges):
                tx.rows.entities.put_read(note.row, reading.mentioned, text=text_of(note))
                cursor["read"] += 1

    await _take(work, passed, apply)


def _next(work: Work, rows: Sequence[int]) -> tuple[list[Note], int]:
    """The next notes of one nugget that are to be read, and how many rows there are if there is none."""
    model = work.shelf.model
    known = work.shelf.view.notes.by_rows(list(rows))
    notes = [note for row in rows if (note := known.get(row)) is not None and note.live and is_read(note)]
    notes = [note for note in notes if model.may_see(note.nugget)]
    return [*takewhile(lambda note: note.nugget == notes[0].nugget, notes)], len(rows)


async def _evolve_next(work: Work, row: int) -> None:
    """Have notes like the next one reworded."""
    shelf = work.shelf
    new = shelf.view.notes.by_rows([row]).get(row)
    found: Sequence[Rewording] | None = ()
    if new is not None and new.live and shelf.model.may_see(new.nugget):
        await shelf.reach(None)
        like = notes_like(shelf, new.content[:_ASKED], nugget=new.nugget, session_id=new.session_id, k=NEIGHBOURS + 1)
        older = [note for note in like if note.row != new.row and note.domain == new.domain and may_evolve(note)]
        if older:
            said = new
            found = await _answered(work, lambda: rewordings(shelf.model, said, older[:NEIGHBOURS]))

    def apply(tx: Transaction, cursor: dict[str, Any]) -> None:
        cursor["unread"] += found is None
        for rewording in found or ():
            if new is not None and reword(tx, rewording, new, work.limits):
                cursor["evolved"].append(rewording.note.id)

    await _take(work, 1, apply)


async def _take(work: Work, passed: int, apply: Callable[[Transaction, dict[str, Any]], None]) -> None:
    done, attempts = work.cursor["done"], work.job.attempts

    def step(tx: Transaction, cursor: dict[str, Any]) -> None:
        if cursor["done"] == done:  # else another attempt, cut short since, had one more step in the writer's queue
            apply(tx, cursor)
            cursor["done"] += passed
            cursor["tried"] = attempts

    await work.step(step)


async def _answered(work: Work, asking: Callable[[], Awaitable[T]]) -> T | None:
    """What a model answers; None if it does not.

    Raises:
        ModelUnavailable: If it cannot be reached, and is worth another attempt.
    """
    try:
        return await asking()
    except ModelUnavailable:
        if work.job.attempts - work.cursor["tried"] < _ATTEMPTS:
            raise
    except NO_ANSWER:  # the log has said why
        pass
    return None
