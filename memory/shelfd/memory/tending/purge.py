"""Job: purge notes from a shelf, and everything kept of them elsewhere.

The rows go first, some in each step. Then stored outcomes that name them, their lines in MEMORY.md, and what the
write-ahead log still holds. Only then is the caller answered; a crash on the way is made good at the next start.
"""

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from datetime import timedelta
from typing import Any, Final, TypeAlias

from shelfd.memory.errors import Conflict
from shelfd.memory.jobs.work import Begun, JobKind, Work
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.notes.note import Note
from shelfd.memory.ports.job import PURGE_KIND
from shelfd.memory.ports.log import Origin
from shelfd.memory.ports.projection import PURGED
from shelfd.memory.shelf.nuggets import remove_nugget
from shelfd.memory.shelf.shelf import Shelf
from shelfd.memory.tending.nuggets import is_written_later, notes_in
from shelfd.memory.tending.purging import Leaving, purge, release, reworded_by

#: Notes purged in one step, and log rows redacted in one: some milliseconds of the writer.
NOTES_AT_ONCE: Final = 16
ROWS_AT_ONCE: Final = 1_000
#: Ids of one piece: a job of many notes has them beside it, for each step writes the job's own row.
IDS_OF_PIECE: Final = 1_024
#: Stored outcomes looked at without yielding to other tasks: some 5 ms.
_OUTCOMES_AT_ONCE: Final = 1_000
#: Records of what prompts held that are looked at without yielding, and rewritten in one step.
_INJECTIONS_AT_ONCE: Final = 32
#: Ids of purged notes held in memory at a time while stored outcomes are looked through.
_IDS_AT_ONCE: Final = 50_000
_LOG_PAGE: Final = 500
#: How often, and after how long, to try again to empty the write-ahead log while another program reads the file.
_SCRUBS: Final = 50
_SCRUB_PAUSE: Final = timedelta(milliseconds=100)
#: What ``still_in`` says when it could not be emptied.
WAL: Final = "shelf.db-wal"
#: The same of the image of the index.
IMAGE: Final = "index/image.json"

PURGE: Final = JobKind(PURGE_KIND)

Cursor: TypeAlias = dict[str, Any]


#: Takes the lines of purged notes, and of promoted ones that held text of them, out of every MEMORY.md: the shelf, the
#: run's origin, the ids of both; returns the files that could not be written.
Withdraw: TypeAlias = Callable[[Shelf, Origin, Sequence[str], Sequence[str]], Awaitable[list[str]]]


def new_cursor(*, total: int) -> Cursor:
    """Return where a purge of *total* notes begins."""
    return {
        "done": 0,
        "total": total,
        "oldest": None,
        "still_in": [],
        "touched": [],
        "promoted": [],
        "last": [],
        "place": [-1, 0],
        "is_empty": False,
    }


def begin_purge(tx: Transaction, ids: Sequence[str], **said: int) -> Begun:
    """Take the first step of a purge of notes: one job purges them all, however many.

    Args:
        tx: Where.
        ids: The notes.
        said: Counts that the answer gives beside what became of the notes.
    """
    params, cursor = {"ids": list(ids[:IDS_OF_PIECE]), **said}, new_cursor(total=len(ids))
    purge_some(tx, cursor, {"ids": ids})
    if len(ids) <= IDS_OF_PIECE:
        return Begun(PURGE, params, cursor)
    firsts = range(0, len(ids), IDS_OF_PIECE)
    pieces = {number: {"ids": list(ids[first : first + IDS_OF_PIECE])} for number, first in enumerate(firsts)}
    return Begun(PURGE, {**params, "pieces": len(pieces)}, cursor, pieces)


def purge_some(tx: Transaction, cursor: Cursor, params: Mapping[str, Any]) -> None:
    """Take one step: purge the next notes, or as much as one step may of a note that many rows are about.

    Args:
        cursor: ``done`` notes are gone, the first of them made at ``oldest``; ``last`` (id, row) are those of this
            step, which others still have to drop; ``still_in`` are notes that hold text of them, ``touched``
            promoted notes that did, ``promoted`` those of the purged that a MEMORY.md has a line of; ``after`` says how
            much of the next note is redacted, ``place`` up to where a nugget's notes were looked at; ``is_empty`` that
            no note is left.
        params: ``ids`` of the notes, of very many the first, and then in how many ``pieces`` the ``job`` has all; or a
            ``nugget`` that goes with the notes it had when its change was ``seq`` and the newest note of the shelf was
            at ``row``. What was written later stays.
    """
    tx.rows.queries.delete_naming([note_id for note_id, _ in cursor["last"]])
    cursor["last"] = []
    notes = _next(tx, cursor, params)
    for place, note_id in notes:
        note = tx.rows.notes.get(note_id)  # the one before may have given lines to it; of given ids, some may be gone
        if note is not None and note.row <= params.get("row", note.row) and not _purge_one(tx, cursor, params, note):
            return
        cursor["place"] = list(place)
    promoted = [note_id for note_id in tx.touched if tx.rows.promotions.paths_naming(note_id)]
    cursor["touched"] = list(dict.fromkeys([*cursor["touched"], *promoted]))
    if len(notes) < NOTES_AT_ONCE:
        cursor["is_empty"] = True
        _remove_empty(tx, params)


def _purge_one(tx: Transaction, cursor: Cursor, params: Mapping[str, Any], note: Note) -> bool:
    """Purge a note, or begin to; return whether it is done."""
    is_kept = cursor.pop("is_kept", None)
    if is_kept is None:  # read before the log is redacted
        is_kept = "nugget" in params and is_written_later(tx, note, params["seq"])
        cursor["still_in"].extend(reworded_by(tx, note))
    reached = tx.rows.notes.redact(note, after=cursor.pop("after", 0), limit=ROWS_AT_ONCE)
    if reached is None and release(tx, note, limit=ROWS_AT_ONCE // 10):
        reached = sys.maxsize  # no more of the log, but of the notes that it replaced
    if reached is not None:
        cursor["after"], cursor["is_kept"] = reached, is_kept
        return False
    if is_kept:
        # A fact got another value since: that stays, what it was before does not.
        cursor["still_in"].append(note.id)
        return True
    if tx.rows.promotions.paths_naming(note.id):
        cursor["promoted"].append(note.id)
    others = {"leaving": Leaving(params["nugget"], params["row"])} if "nugget" in params else {}
    oldest = cursor.get("oldest")
    cursor["oldest"] = note.created_at if oldest is None else min(oldest, note.created_at)
    held = purge(tx, note, **others, is_redacted=True)
    cursor["still_in"] = list(dict.fromkeys([*cursor["still_in"], *held]))
    cursor["last"].append([note.id, note.row])
    cursor["done"] += 1
    return True


def _next(tx: Transaction, cursor: Cursor, params: Mapping[str, Any]) -> list[tuple[tuple[int, int], str]]:
    """The next notes, each with its place among the ids, or among the nugget's notes."""
    first = cursor["place"][0] + 1
    if "pieces" in params:
        number, skipped = divmod(first, IDS_OF_PIECE)
        pieces = tx.rows.jobs.pieces(params["job"], after=number - 1, limit=2)
        ids = [note_id for _, piece in pieces for note_id in piece["ids"]][skipped : skipped + NOTES_AT_ONCE]
        if not ids and first < cursor["total"]:
            raise Conflict("which notes were left is not known any more; ask for the purge again")
        return [((at, 0), note_id) for at, note_id in enumerate(ids, first)]
    if "ids" in params:
        return [((at, 0), params["ids"][at]) for at in range(first, min(first + NOTES_AT_ONCE, len(params["ids"])))]
    notes = notes_in(tx, params["nugget"], after=tuple(cursor["place"]), limit=NOTES_AT_ONCE)
    return [(place, note.id) for place, note in notes]


def _remove_empty(tx: Transaction, params: Mapping[str, Any]) -> None:
    nugget = tx.rows.nuggets.get(params["nugget"]) if "nugget" in params else None
    if nugget is not None and not tx.rows.nuggets.counts(nugget.name).notes:  # else notes were written since
        remove_nugget(tx, nugget)


async def run(work: Work, withdraw: Withdraw) -> Mapping[str, Any]:
    """Purge what is left and clean up after it; return how many notes are gone and what still holds text of them."""
    params = {**work.job.params, "job": work.job.id}
    while True:
        await work.shelf.reach(None)  # what was written of the purged notes before is on its way to recall
        if work.cursor["is_empty"]:
            break
        await work.step(lambda tx, cursor: purge_some(tx, cursor, params))
        await asyncio.sleep(0)
    await _delete_outcomes(work)
    await _redact_injections(work)
    await _delete_watches(work)
    files = await withdraw(work.shelf, work.job.origin(), work.cursor["promoted"], work.cursor["touched"])
    # Now that no write of earlier is under way any more that could bring one back.
    await work.step(lambda tx, cursor: _delete_last(tx, cursor, work.job.id))
    if not await work.shelf.image.forget_purged():
        files.append(IMAGE)
    if not await _scrub(work.shelf):
        files.append(WAL)
    files += _copies(work)
    still_in = [note_id for note_id in work.cursor["still_in"] if work.shelf.view.notes.get(note_id) is not None]
    return {"purged": work.cursor["done"], "still_in": [*still_in, *files]}


def _copies(work: Work) -> list[str]:
    """The copies of the shelf's file that may hold one of the notes: a person has to remove these."""
    oldest = work.cursor.get("oldest", 0)  # a purge that another version began does not say
    return [name for name, made_at in work.shelf.store.copies() if oldest is not None and oldest <= made_at]


def _delete_last(tx: Transaction, cursor: Cursor, job_id: str) -> None:
    tx.rows.jobs.delete_pieces(job_id)
    tx.rows.queries.delete_naming([note_id for note_id, _ in cursor["last"]])


async def _named(work: Work) -> AsyncIterator[tuple[set[str], set[str]]]:
    """The notes that the job purged, some of them at a time, and those that it took text of these out of."""
    since = 0
    while True:
        gone: set[str] = set()
        changed: set[str] = set()
        while len(gone) < _IDS_AT_ONCE and (
            rows := work.shelf.view.log.of_run(work.job.run_id, since_seq=since, limit=_LOG_PAGE)
        ):
            for row in rows:
                if row.kind.startswith("note."):
                    (gone if row.kind == PURGED else changed).add(row.ids[0])
            since = rows[-1].seq
            await asyncio.sleep(0)
        if not gone:
            return
        yield gone, changed


async def _delete_outcomes(work: Work) -> None:
    """Delete stored outcomes that name a purged note: the request that had one is a new one if it comes again."""
    async for gone, _ in _named(work):
        after = None
        while True:
            found, after = work.shelf.view.recorded.naming(gone, after=after, limit=_OUTCOMES_AT_ONCE)
            if found:
                await work.step(lambda tx, _, keys=found: tx.rows.recorded.delete(keys))  # type: ignore[misc]
            if after is None:
                break
            await asyncio.sleep(0)


async def _redact_injections(work: Work) -> None:
    """Take purged notes out of the records of what prompts held, and the text of each that may have quoted one."""
    await work.shelf.unattended.settled()  # get_context may have given one to a prompt just before it was gone
    async for gone, changed in _named(work):
        after: int | None = 0
        while after is not None:
            naming = work.shelf.view.injections.naming
            found, after = naming(gone | changed, after=after, limit=_INJECTIONS_AT_ONCE)
            if found:
                await work.step(lambda tx, _, numbers=found, ids=gone: _redact(tx, numbers, ids))  # type: ignore[misc]
            await asyncio.sleep(0)


async def _delete_watches(work: Work) -> None:
    """Delete standing queries that have a word which only purged notes had."""
    watching = work.shelf.watching
    if ids := watching.telling(began_at=work.job.created_at):
        await work.step(lambda tx, _: tx.rows.watches.delete(ids) and None)
        for watch_id in ids:
            watching.remove(watch_id)


def _redact(tx: Transaction, numbers: Sequence[int], gone: Collection[str]) -> None:
    for number in numbers:
        for _, injection in tx.rows.injections.page(after=number - 1, limit=1):
            tx.rows.injections.replace(number, injection.without(gone))


async def _scrub(shelf: Shelf) -> bool:
    """Let nothing of what was erased stay in the write-ahead log; return whether that worked."""
    for _ in range(_SCRUBS):
        if await shelf.store.scrub():
            return True
        await shelf.clock.sleep(_SCRUB_PAUSE)
    return False
