"""Use case: shelf.import."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from shelfd.memory.call import Call
from shelfd.memory.errors import DuplicateKey, ShelfError, Unavailable, error_of
from shelfd.memory.log.idempotency import Outcome
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.methods.registry import whole
from shelfd.memory.moving import FORMATS, Format, Intake, Origin, Tally
from shelfd.protocol import from_validation
from shelfd.protocol.methods.importing import ImportPart, ShelfImportParams

if TYPE_CHECKING:
    from shelfd.memory.methods.service import Service

Take = Callable[[object, int, Tally], None]


class Rehearsed(Exception):
    """A dry run is over; raised so that nothing of it stays."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__()
        self.outcome = outcome


@whole("shelf.import")
async def import_(service: "Service", call: Call) -> dict[str, Any]:
    """Take in what another memory kept, in one transaction."""
    shelf = await service.shelf(call)
    intakes: list[Intake] = []

    def apply(tx: Transaction, params: ShelfImportParams, call: Call) -> Outcome:
        intakes.append(Intake(tx, call.limits, params.format, dict(params.known)))
        outcome = _take_all(intakes[0], params, call)
        if params.dry_run:
            raise Rehearsed(outcome)
        return outcome

    shelf.enter()
    try:
        try:
            changed = await shelf.change(call, apply)
        except Rehearsed as rehearsed:
            return {**rehearsed.outcome, "dry_run": True, "last_seq": shelf.seq}
        result = {**changed.outcome, "dry_run": False, "last_seq": changed.last_seq}
        if changed.replayed:
            return {**result, "replayed": True}
        shelf.notes_created += intakes[0].created
        if shelf.raise_use(intakes[0].usages):
            with suppress(Unavailable):  # the notes are there; what is known of their use is written a little later
                await shelf.write_usage()
        return result
    finally:
        shelf.leave()


def _take_all(intake: Intake, params: ShelfImportParams, call: Call) -> Outcome:
    """Take every part in turn, on the store's thread: many items would hold up the event loop."""
    format_ = FORMATS[params.format]
    parts = [_take_part(intake, format_, part, call) for part in params.parts]
    return {"parts": parts, "known": {name: to for name, to in intake.known.items() if name not in params.known}}


def _take_part(intake: Intake, format_: Format, part: ImportPart, call: Call) -> dict[str, Any]:
    origin = Origin(part.source.name, part.source.header, call.limits, intake.tx.now)
    take = _taking(intake, format_, part.part, origin)
    tally = Tally()
    rejected = _take_items(take, part.items, tally)
    return {
        "part": part.part,
        "created": tally.created,
        "updated": tally.updated,
        "unchanged": tally.unchanged,
        "kept": [{"index": index, "id": id_, "fields": list(fields)} for index, id_, fields in tally.kept],
        "rejected": rejected,
        "not_kept": [{**loss._asdict(), "indexes": indexes} for loss, indexes in tally.losses.items()],
    }


def _take_items(take: Take, items: Sequence[object], tally: Tally) -> list[dict[str, Any]]:
    """Take each item; return those that are refused. One whose key another note has waits until that got a new one."""
    rejected: dict[int, dict[str, Any]] = {}

    def take_one(index: int) -> bool:
        """Whether it may be tried again."""
        rejected.pop(index, None)
        try:
            take(items[index], index, tally)
        except ValidationError as error:
            rejected[index] = from_validation(error)
        except ShelfError as error:  # found before the item's first write: the others can stand
            if error.retryable:
                raise  # trouble of the store's, not of the item
            rejected[index] = error_of(error)
            return isinstance(error, DuplicateKey)
        return False

    for index in [index for index in range(len(items)) if take_one(index)]:
        take_one(index)
    return [{"index": index, "error": rejected[index]} for index in sorted(rejected)]


def _taking(intake: Intake, format_: Format, part: str, origin: Origin) -> Take:
    """What is done with each item of a part."""

    def take(item: object, index: int, tally: Tally) -> None:
        if part == "nuggets":
            intake.take_nugget(format_.read_nugget(item, origin), index, tally)
        elif part == "notes":
            intake.take_note(format_.read_note(item, origin), part, index, tally)
        elif part == "facts":
            intake.take_note(format_.read_fact(item, origin), part, index, tally)
        else:
            intake.take_links(format_.read_links(item, origin), index, tally)

    return take


__all__ = ["import_"]
