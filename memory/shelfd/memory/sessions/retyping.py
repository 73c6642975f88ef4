"""Job: set what a type of notes is, or take that back, and let the notes that are there come along.

First every note is looked at; if one would not fit, nothing happens and the offenders are named. The type is set in the
step in which the last note was looked at: what is written meanwhile comes last in the order, and was looked at, too.
Only then are columns renamed and defaults filled in.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from shelfd.memory.errors import Conflict, ShelfError
from shelfd.memory.jobs.work import JobKind, Work
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.notes.note import EMPTY, Note, fold_key
from shelfd.memory.ports.sessions import WHOLE_SHELF
from shelfd.memory.sessions.columns import Said, missing_columns, row_of, write
from shelfd.memory.sessions.schema import NoteType, type_of
from shelfd.protocol import Limits

#: Notes looked at, and notes changed, in one step: a few milliseconds of the writer.
LOOKED_AT: Final = 256
AT_ONCE: Final = 64
#: Notes named that do not fit.
_NAMED: Final = 100


class TypeUnfit(Conflict):
    """Notes that are there would not fit the type."""

    def __init__(self, name: str, count: int, offenders: Sequence[Mapping[str, Any]]) -> None:
        text = f"{count} notes do not fit type {name}; migrate says how they come to, or edit them first"
        super().__init__(text, field="migrate", reason="TYPE_UNFIT", unfit=count, offenders=list(offenders))


class TypeInUse(Conflict):
    """A type cannot go while there are notes of it."""

    def __init__(self, name: str, count: int) -> None:
        super().__init__(f"{count} visible notes are of type {name}", field="type", reason="TYPE_IN_USE", count=count)


class Plan(NamedTuple):
    """What is to be done.

    Attributes:
        nugget: Where; ``WHOLE_SHELF`` for every nugget that has set nothing of its own.
        kind: What the type will be.
        stored: Whether that is set here; if not, it is what holds once nothing is set here.
        rename: New names of columns by the old ones.
        defaults: Values of columns for notes that have none.
    """

    nugget: str
    kind: NoteType
    stored: bool
    rename: Mapping[str, str] = EMPTY
    defaults: Mapping[str, Any] = EMPTY

    def as_piece(self) -> dict[str, Any]:
        """Return it as it is kept beside a job: defaults may say what memories say."""
        return {
            "nugget": self.nugget,
            "type": self.kind.name,
            "properties": self.kind.as_mapping(),
            "stored": self.stored,
            "rename": dict(self.rename),
            "defaults": dict(self.defaults),
        }

    @classmethod
    def of(cls, piece: Mapping[str, Any]) -> "Plan":
        """Return what :meth:`as_piece` made *piece* of."""
        kind = type_of(piece["type"], piece["properties"])
        return cls(piece["nugget"], kind, piece["stored"], piece["rename"], piece["defaults"])

    def is_meant(self, tx: Transaction, note: Note) -> bool:
        """Return whether a note is of the type that is set."""
        if fold_key(note.type) != self.kind.name:
            return False
        return self.nugget != WHOLE_SHELF or self.kind.name not in tx.rows.note_types.of(note.nugget)

    def migrated(self, note: Note, limits: Limits) -> Note:
        """Return a note with its columns renamed and what it lacks filled in.

        Raises:
            ShelfError: If it cannot be.
        """
        fields = note.extra.fields
        renamed = {old: new for old, new in self.rename.items() if old in fields and new not in fields}
        said: dict[str, Any] = {new: fields[old] for old, new in renamed.items()}
        lacking = missing_columns(self.kind, row_of(note)._replace(fields={**fields, **said}))
        said |= {column: self.defaults[column] for column in lacking if column in self.defaults}
        if not said:
            return note
        return write(None, row_of(note), Said(fields=said, cleared=list(renamed)), limits).on(note)

    def unfit_columns(self, note: Note, limits: Limits) -> list[str]:
        """Return the columns by which a note would not fit."""
        try:
            row = row_of(self.migrated(note, limits))
        except ShelfError as error:
            return [str(error.data.get("field", "fields"))]
        unknown = [column for column in row.fields if not self.kind.is_known_column(column)]
        return [*unknown, *missing_columns(self.kind, row)]


def new_cursor(*, has_to_look: bool) -> dict[str, Any]:
    """Return where it begins."""
    return {"phase": "look" if has_to_look else "set", "after": [-1, 0], "done": 0, "unfit": 0, "offenders": []}


def retype_some(tx: Transaction, cursor: dict[str, Any], plan: Plan, limits: Limits) -> None:
    """Take one step.

    Args:
        tx: The transaction.
        cursor: ``phase`` (look, set, change, over); ``after`` (changed at, row) of the last note looked at in it;
            ``done`` notes were changed; ``unfit`` do not fit, and ``offenders`` names the first of them.
        plan: What is to be done.
        limits: The configured limits.
    """
    looked = 0
    if cursor["phase"] == "look":
        looked = _look(tx, cursor, plan, limits)
    if cursor["phase"] == "set":
        _set(tx, plan)
        cursor["after"] = [-1, 0]
        cursor["phase"] = "change" if plan.rename or plan.defaults else "over"
    if cursor["phase"] == "change" and looked <= LOOKED_AT // 2:
        _change(tx, cursor, plan, limits)


def _set(tx: Transaction, plan: Plan) -> None:
    if plan.stored:
        tx.rows.note_types.put(plan.nugget, plan.kind.name, plan.kind.as_mapping())
    else:
        tx.rows.note_types.delete(plan.nugget, plan.kind.name)


def _next(tx: Transaction, cursor: Mapping[str, Any], plan: Plan) -> list[tuple[tuple[int, int], Note]]:
    """The next notes with their places, by when they were last changed."""
    after = (cursor["after"][0], cursor["after"][1])
    places = tx.rows.notes.changed_positions(plan.nugget or None, after=after, limit=LOOKED_AT)
    notes = tx.rows.notes.by_rows([row for _, row in places])
    return [(place, notes[place[1]]) for place in places]


def _look(tx: Transaction, cursor: dict[str, Any], plan: Plan, limits: Limits) -> int:
    found = _next(tx, cursor, plan)
    for place, note in found:
        cursor["after"] = list(place)
        columns = [] if note.hidden or not plan.is_meant(tx, note) else plan.unfit_columns(note, limits)
        if columns:
            cursor["unfit"] += 1
            if len(cursor["offenders"]) < _NAMED:
                cursor["offenders"].append({"id": note.id, "columns": columns})
    if len(found) < LOOKED_AT:
        cursor["phase"] = "over" if cursor["unfit"] else "set"
    return len(found)


def _change(tx: Transaction, cursor: dict[str, Any], plan: Plan, limits: Limits) -> None:
    """Change the next notes. Each then moves to the end, and is passed over there."""
    found = _next(tx, cursor, plan)
    changed = 0
    for place, note in found:
        if changed == AT_ONCE:
            return
        cursor["after"] = list(place)
        if plan.is_meant(tx, note):
            is_changed = _change_one(tx, plan, note, limits)
            changed += is_changed
            cursor["done"] += is_changed
    if len(found) < LOOKED_AT:
        cursor["phase"] = "over"


def _change_one(tx: Transaction, plan: Plan, note: Note, limits: Limits) -> bool:
    try:
        new = plan.migrated(note, limits)
    except ShelfError as error:
        if error.retryable:
            raise  # of the store, not of the note
        return False  # a hidden one, which was not looked at, or one written since: it stays as it is
    return tx.change_note(note, new) is not note


def result_of(cursor: Mapping[str, Any]) -> dict[str, Any]:
    """Return what came of it: how many notes were changed, or which do not fit."""
    return {"migrated": cursor["done"], "unfit": cursor["unfit"], "offenders": list(cursor["offenders"])}


async def run(work: Work) -> Mapping[str, Any]:
    """Do what is left."""
    ((_, piece),) = work.shelf.view.jobs.pieces(work.job.id, after=-1, limit=1)
    plan = Plan.of(piece)
    while work.cursor["phase"] != "over":
        await work.step(lambda tx, cursor: retype_some(tx, cursor, plan, work.limits))
        await work.shelf.reach(None)  # no faster than recall follows
        await asyncio.sleep(0)
    return result_of(work.cursor)


RETYPING: Final = JobKind("retype", can_end_early=True)
