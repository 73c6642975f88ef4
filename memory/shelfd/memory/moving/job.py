"""Job: import what another memory kept, a piece at a time.

The items lie beside the job, in pieces, until they are imported; the outcome of each piece takes its place, and
is deleted when the job is done. Importing an item twice changes nothing, but no step is done twice.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from pydantic import ValidationError

from shelfd.memory.errors import Conflict, DuplicateKey, ShelfError, Unavailable, error_of
from shelfd.memory.jobs.work import JobKind, Work
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.moving import FORMATS, Importer, ItemOrigin, Tally, pieces
from shelfd.memory.moving.pieces import combine, part_of, waiting_of
from shelfd.memory.moving.reading import IdOf
from shelfd.memory.notes.note import Usage
from shelfd.protocol import Limits, from_validation

_READ_AT_ONCE: Final = 16
#: Pieces of one step: a file of many short conversations has as many small ones.
_PIECES: Final = 16

Outcome = dict[str, Any]


@dataclass(slots=True)
class ImportProgress:
    """What is known of an import so far.

    Attributes:
        number: Of the last piece that was imported.
        known: See :class:`~shelfd.memory.moving.importer.Importer`, as is ``seen``.
        outcomes: By the numbers of their pieces.
    """

    number: int = 0
    known: dict[str, str] = field(default_factory=dict)
    seen: set[tuple[str, int | str]] = field(default_factory=set)
    outcomes: dict[int, Outcome] = field(default_factory=dict)

    def add(self, number: int, outcome: Outcome) -> None:
        """Add the outcome of the next piece."""
        self.number = number
        self.outcomes[number] = outcome
        self.known |= outcome["known"]
        self.seen |= {(part, what) for part, what in outcome["seen"]}


def take(
    tx: Transaction,
    taken: ImportProgress,
    number: int,
    piece: Mapping[str, Any],
    shared: Mapping[str, Any],
    limits: Limits,
) -> tuple[Outcome, dict[int, Usage], dict[str, Any] | None]:
    """Import the items of a piece.

    Args:
        taken: What is known of those before; not changed.
        number: Of the piece.
        piece: ``part``, ``items`` and their ``indexes``.
        shared: ``format`` and ``sources``.

    Returns:
        Their outcomes, the use that the other memory knew of by rows, and a piece of items to be tried again when
        the others of their part are there.
    """
    importer = Importer(tx, limits, shared["format"], dict(taken.known), seen=set(taken.seen))
    source = shared["sources"][part_of(number)]
    origin = ItemOrigin(source["name"], source["header"], limits, tx.now)
    import_one = _importing(importer, piece["part"], origin)
    tally = Tally()
    is_last_try = number == waiting_of(number)
    if piece["part"] == "notes":
        importer.absent |= _absent(tx, piece["items"], FORMATS[importer.format].id_of, origin)
    with tx.writing_together():
        rejected, waiting = _import_items(import_one, piece, tally, is_last_try=is_last_try)
    _raise_use(tx, importer.usages)
    outcome = {
        "created": tally.created,
        "updated": tally.updated,
        "unchanged": tally.unchanged,
        "notes": importer.created,
        "kept": [{"index": index, "id": id_, "fields": list(fields)} for index, id_, fields in tally.kept],
        "rejected": rejected,
        "purge": list(importer.merger.to_purge),
        "not_kept": [{**loss._asdict(), "indexes": indexes} for loss, indexes in tally.losses.items()],
        "known": {name: to for name, to in importer.known.items() if taken.known.get(name) != to},
        "seen": [list(one) for one in importer.seen - taken.seen],
    }
    return outcome, importer.usages, waiting


def _absent(tx: Transaction, items: Sequence[object], id_of: IdOf | None, origin: ItemOrigin) -> set[str]:
    """The ids that items have, or get, and no note has: asked once, not for each."""
    # To ask whether a dict is a mapping takes ten times as long.
    ids = {
        item["id"]
        for item in items
        if (type(item) is dict or isinstance(item, Mapping)) and isinstance(item.get("id"), str)
    }
    if id_of is not None:
        ids |= {found for item in items if (found := id_of(item, origin)) is not None}
    return ids - tx.rows.notes.existing(list(ids))


def _import_items(
    import_one: Callable[[object, int, Tally], None], piece: Mapping[str, Any], tally: Tally, *, is_last_try: bool
) -> tuple[list[dict[str, Any]], dict[str, Any] | None]:
    """Import each item; return those refused, and those whose key another note has, which may get a new one."""
    rejected: list[dict[str, Any]] = []
    again: list[tuple[int, object]] = []
    for index, item in zip(piece["indexes"], piece["items"], strict=True):
        try:
            import_one(item, index, tally)
        except ValidationError as error:
            rejected.append({"index": index, "error": from_validation(error)})
        except ShelfError as error:  # found before the item's first write: the others can stand
            if error.retryable:
                raise  # an error of the store, not of the item
            if isinstance(error, DuplicateKey) and not is_last_try:
                again.append((index, item))
            else:
                rejected.append({"index": index, "error": error_of(error)})
    if not again:
        return rejected, None
    indexes, items = zip(*again, strict=True)
    return rejected, {"part": piece["part"], "indexes": list(indexes), "items": list(items)}


def _importing(importer: Importer, part: str, origin: ItemOrigin) -> Callable[[object, int, Tally], None]:
    """What is done with each item of a part."""
    reader = FORMATS[importer.format].readers[part]

    def import_one(item: object, index: int, tally: Tally) -> None:
        importer.import_record(reader(item, origin), part, index, tally)

    return import_one


def _raise_use(tx: Transaction, usages: Mapping[int, Usage]) -> None:
    """Have the use that the other memory knew of survive with the notes."""
    known = tx.rows.usage.by_rows(list(usages))
    raised = {row: known.get(row, Usage()).raised_to(theirs) for row, theirs in usages.items()}
    tx.rows.usage.put({row: usage for row, usage in raised.items() if usage != known.get(row)})
    sessions = [(row, usage.last_hit_session) for row, usage in raised.items() if usage.last_hit_session]
    tx.rows.usage.add_hit_sessions(sessions)


def import_all(
    tx: Transaction, pieces: Mapping[int, Mapping[str, Any]], limits: Limits
) -> tuple[ImportProgress, dict[int, Usage]]:
    """Import all pieces of a request that fits one transaction; return their outcomes, and the use that is known."""
    taken, usages = ImportProgress(known=dict(pieces[0]["known"])), dict[int, Usage]()
    left = {number: piece for number, piece in pieces.items() if number}
    while left:
        number = min(left)
        outcome, more, waiting = take(tx, taken, number, left.pop(number), pieces[0], limits)
        if waiting is not None:
            add_waiting(left, number, waiting)
        taken.add(number, outcome)
        usages |= {row: usages.get(row, Usage()).raised_to(theirs) for row, theirs in more.items()}
    return taken, usages


def add_waiting(pieces: dict[int, Mapping[str, Any]], number: int, waiting: Mapping[str, Any]) -> None:
    """Put items of piece *number* that have to wait with the others of their part that do."""
    there = pieces.get(waiting_of(number), {"indexes": [], "items": []})
    pieces[waiting_of(number)] = {
        **waiting,
        "indexes": [*there["indexes"], *waiting["indexes"]],
        "items": [*there["items"], *waiting["items"]],
    }


def result_of(taken: ImportProgress, parts: Sequence[str], given: Mapping[str, str]) -> dict[str, Any]:
    """Return the result of an import.

    Args:
        parts: The kind of each part of the request.
        given: What the request said is known.
    """
    known = {name: to for name, to in taken.known.items() if name not in given}
    return {"parts": combine(parts, sorted(taken.outcomes.items())), "known": known}


def new_cursor(*, total: int) -> dict[str, Any]:
    """Return where an import of *total* items begins."""
    return {"done": 0, "total": total, "number": 0}


async def run(work: Work) -> Mapping[str, Any]:
    """Import what is left; return the outcome of each part."""
    shared, taken = await _progress(work)
    while work.cursor["done"] < work.cursor["total"]:
        # Recall takes in one step while the next one is written, so that neither gets far ahead of the other.
        await asyncio.gather(_import_next(work, taken, shared), work.shelf.reach(None))
        await asyncio.sleep(0)
    await work.shelf.reach(None)
    result = result_of(taken, work.job.params["parts"], shared["known"])

    def end(tx: Transaction, _cursor: dict[str, Any]) -> dict[str, Any]:
        tx.rows.jobs.delete_pieces(work.job.id)
        return {**result, "last_seq": tx.rows.log.last_seq}

    return await work.finish(end)


async def _progress(work: Work) -> tuple[Mapping[str, Any], ImportProgress]:
    """What all pieces need, and the outcomes of those imported before the daemon ended.

    Raises:
        Conflict: If a purge has taken the items away, which might bring back what is gone.
    """
    view, job_id, number = work.shelf.view, work.job.id, work.cursor["number"]
    found = view.jobs.pieces(job_id, after=-1, limit=1)
    if not found:
        raise Conflict("what is left to take in went with a purge; import it again", job=job_id)
    shared = found[0][1]
    taken = ImportProgress(known=dict(shared["known"]))
    while taken.number < number and (found := view.jobs.pieces(job_id, after=taken.number, limit=_READ_AT_ONCE)):
        for at, outcome in found:
            if at > number:
                return shared, taken
            taken.add(at, dict(outcome))
        await asyncio.sleep(0)
    return shared, taken


async def _import_next(work: Work, taken: ImportProgress, shared: Mapping[str, Any]) -> None:
    """Import the next piece, and small ones behind it as long as all of them are as little as one may be."""
    limits, job_id = work.limits, work.job.id
    weigh, most = FORMATS[shared["format"]].weigh, pieces.items_of(shared["format"])

    def apply(tx: Transaction, cursor: dict[str, Any]) -> list[tuple[int, Outcome, dict[int, Usage]]]:
        if cursor["number"] != taken.number:
            raise Unavailable("another attempt, cut short since, had one more step in the writer's queue; try again")
        so_far = ImportProgress(taken.number, dict(taken.known), set(taken.seen))
        done: list[tuple[int, Outcome, dict[int, Usage]]] = []
        weight = (0, 0, 0)
        while not (done and (pieces.is_full(weight, most) or len(done) == _PIECES)):
            found = tx.rows.jobs.pieces(job_id, after=so_far.number, limit=1)
            if not found:
                break
            ((number, piece),) = found
            weight = pieces.added(weight, piece, weigh)
            if done and pieces.is_too_much(weight, most):
                break
            outcome, usages, waiting = take(tx, so_far, number, piece, shared, limits)
            tx.rows.jobs.put_piece(job_id, number, outcome)
            so_far.add(number, outcome)
            done.append((number, outcome, usages))
            cursor["number"] = number
            cursor["done"] += len(piece["items"])
            if waiting is not None:
                cursor["done"] -= len(waiting["items"])
                _put_waiting(tx, job_id, number, waiting)
        return done

    for number, outcome, usages in await work.step(apply):
        taken.add(number, outcome)
        work.shelf.notes_created += outcome["notes"]
        work.shelf.raise_use(usages)


def _put_waiting(tx: Transaction, job_id: str, number: int, waiting: Mapping[str, Any]) -> None:
    """Have items wait with the others of their part that do."""
    at = waiting_of(number)
    there = {found: kept for found, kept in tx.rows.jobs.pieces(job_id, after=at - 1, limit=1) if found == at}
    add_waiting(there, number, waiting)
    tx.rows.jobs.put_piece(job_id, at, there[at])


IMPORT: Final = JobKind("import", can_end_early=True)
