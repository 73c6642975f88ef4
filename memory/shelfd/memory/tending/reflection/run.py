"""Job: one reflection. Draws a plan on a picture of the shelf, then carries it out in small steps.

Between any two bits of work other tasks run, and may change the shelf: what was planned on notes that changed since
is dropped. Wherever a run is cut short, the shelf is consistent. What is left of its plan is in its cursor, as ids; the
texts that go with these are drawn up again, for a job holds no memory text.
"""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias
from weakref import WeakKeyDictionary

import structlog

from shelfd.memory.errors import Unavailable
from shelfd.memory.jobs.work import Work
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.notes.wordlists import word_lists
from shelfd.memory.ports.log import Entry
from shelfd.memory.ports.tending import ReflectionProgress
from shelfd.memory.recall import ShelfIndex
from shelfd.memory.shelf.shelf import Shelf
from shelfd.memory.tending.reflection.action import Action, apply_all
from shelfd.memory.tending.reflection.gate import Replay, hold_back
from shelfd.memory.tending.reflection.picture import Picture
from shelfd.memory.tending.reflection.step import Step
from shelfd.memory.tending.reflection.steps import BY_TYPE, STEPS
from shelfd.protocol import Limits, from_micros

log = structlog.get_logger("shelfd.memory")

_AT_ONCE: Final = 8  # actions in one transaction
#: Turns to wait for an index that does not get on before the run is put off.
_PATIENCE: Final = 20_000
#: Words that are no names, whatever the shelf's language.
_STOP: Final = frozenset(
    "a an and are as at be by for from has have i in is it its of on or that the this to was with".split()
)
#: Of a result, what is logged of it.
_LOGGED: Final = ("inspected", "rewritten", "merged", "hidden", "tagged", "linked", "held_back", "remaining")
_COUNTED: Final = {"rewrite": "rewritten", "merge": "merged", "hide": "hidden", "tag": "tagged", "link": "linked"}

#: One reflection of a shelf at a time: a second one waits, and finds what the first has left.
_at_work: WeakKeyDictionary[Shelf, asyncio.Lock] = WeakKeyDictionary()

Cursor: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ReflectionPlan:
    """What a run means to do.

    Attributes:
        ran_at: When it was drawn, microseconds.
        inspected: How many notes steps looked at one by one.
        actions: In the order they are to be done. One may be taken out: what depends on it is dropped with it.
        tended: Positions in the nuggets that were visited.
        held_back: What was taken out of the actions.
        left: Ids of notes with something to do that the run has no room for.
        unseen: How many notes are new or changed and were not looked at yet.
    """

    ran_at: int
    inspected: int
    actions: list[Action] = field(default_factory=list)
    tended: list[ReflectionProgress] = field(default_factory=list)
    held_back: list[Action] = field(default_factory=list)
    left: frozenset[str] = frozenset()
    unseen: int = 0


async def draw_plan(
    shelf: Shelf, *, nugget: str | None, limit: int, limits: Limits, steps: Sequence[Step] = STEPS
) -> ReflectionPlan:
    """Return what a reflection would do now; changes nothing.

    Raises:
        Unavailable: If the recall index is not complete and does not get on.
    """
    await _until_indexed(shelf)
    picture = _picture(shelf, nugget=nugget, limit=limit, limits=limits, now=shelf.clock.now())
    actions: list[Action] = []
    for step in steps:
        for action in step.plan(picture):
            if action is not None:
                picture.take(action)
                actions.append(action)
            await asyncio.sleep(0)
    return ReflectionPlan(
        picture.now,
        len(picture.inspected),
        actions,
        picture.tended(),
        left=frozenset(picture.left),
        unseen=picture.unseen,
    )


def _picture(shelf: Shelf, *, nugget: str | None, limit: int, limits: Limits, now: int) -> Picture:
    lists = word_lists(shelf.settings.language)
    return Picture(
        view=shelf.view,
        index=shelf.projection(ShelfIndex).index,
        usage=shelf.usage.of,
        now=now,
        nugget=nugget,
        limit=limit,
        limits=limits,
        stop=_STOP | lists.stop | lists.question,
    )


# --------------------------------------------------------------------- the job


def _begin(tx: Transaction, cursor: Cursor, nugget: str | None) -> None:
    """Take the first step: say that a run has begun."""
    tx.log(Entry("reflection.started", nugget, ()))
    cursor["is_started"] = True


def new_cursor(plan: ReflectionPlan) -> Cursor:
    """Return where the carrying out of *plan* begins: ids, revs and counts."""
    ids = {note.id for action in plan.actions for note in action.rests_on()}
    return {
        "done": 0, "total": len(plan.actions), "is_started": True, "ran_at": plan.ran_at, "inspected": plan.inspected,
        "held_back": len(plan.held_back), "left": sorted(plan.left & ids),
        "left_else": len(plan.left - ids) + plan.unseen, "tended": [list(tended) for tended in plan.tended],
        "planned": [[action.type, *([note.id, note.rev] for note in action.rests_on())] for action in plan.actions],
        "revs": {}, "changes": [],
    }  # fmt: skip


async def run(work: Work, replay: Replay) -> Mapping[str, Any]:
    """Do what is left of a reflection; return counts, and what was done to which notes."""
    async with _at_work.setdefault(work.shelf, asyncio.Lock()):
        nugget = work.job.params.get("only")
        if "is_started" not in work.cursor:
            await work.step(lambda tx, cursor: _begin(tx, cursor, nugget))
        limits = work.limits
        if "planned" in work.cursor:
            fresh, actions = work.cursor, await _planned_again(work, limits)
        else:
            plan = await draw_gated_plan(work.shelf, nugget=nugget, limit=_limit(work), limits=limits, replay=replay)
            fresh, actions = new_cursor(plan), list[Action | None](plan.actions)
        first = fresh["done"]
        while first + len(actions) > work.cursor.get("done", 0):
            await work.step(lambda tx, cursor: _apply_some(tx, _current(cursor, fresh), actions, first, limits))
        result = await work.finish(lambda tx, cursor: _complete(tx, _current(cursor, fresh), nugget))
    counts = {name: result[name] for name in _LOGGED}
    log.info("reflection.completed", shelf=work.shelf.name, run_id=work.job.run_id, **counts)
    return result


def _limit(work: Work) -> int:
    return limit_of(work.shelf, work.job.params.get("limit"))


def limit_of(shelf: Shelf, wanted: int | None) -> int:
    """Return how many notes a run inspects if *wanted* are requested."""
    most = shelf.settings.reflection_max_notes
    return max(1, most if wanted is None else min(wanted, most))


async def draw_gated_plan(
    shelf: Shelf, *, nugget: str | None, limit: int, limits: Limits, replay: Replay
) -> ReflectionPlan:
    """Return what a reflection does now that lets recall find what it found lately; changes nothing.

    Raises:
        Unavailable: If the recall index is not complete and does not get on.
    """
    plan = await draw_plan(shelf, nugget=nugget, limit=limit, limits=limits)
    plan.held_back.extend(await hold_back(shelf, plan.actions, replay))
    return plan


async def _planned_again(work: Work, limits: Limits) -> list[Action | None]:
    """What is left of the plan of a run that was cut short; None for what was planned on notes that changed since."""
    cursor, shelf = work.cursor, work.shelf
    nugget = work.job.params.get("only")
    picture = _picture(shelf, nugget=nugget, limit=_limit(work), limits=limits, now=cursor["ran_at"])
    actions: list[Action | None] = []
    for type_, *planned in cursor["planned"][cursor["done"] :]:
        notes = [picture.live(note_id) for note_id, _ in planned]
        expected = [cursor["revs"].get(note_id, rev) for note_id, rev in planned]
        action = None
        if notes[0] is not None and [note and note.rev for note in notes] == expected:
            action = BY_TYPE[type_].replan(picture, notes[0], notes[1] if len(notes) > 1 else None)
        if action is not None:
            picture.take(action)
        actions.append(action)
        await asyncio.sleep(0)
    return actions


def _current(cursor: Cursor, fresh: Mapping[str, Any]) -> Cursor:
    """The cursor of the transaction, which the plan was not in yet if it was drawn just now.

    Raises:
        Unavailable: If another attempt, cut short since, had one more step in the writer's queue.
    """
    if "planned" not in cursor:
        cursor.update(fresh)
    if cursor["ran_at"] != fresh["ran_at"] or cursor["planned"] != fresh["planned"]:
        raise Unavailable("the run goes by another plan; try again")
    return cursor


def _apply_some(tx: Transaction, cursor: Cursor, actions: Sequence[Action | None], first: int, limits: Limits) -> None:
    """Take one step: do the next actions; an action planned on one that is dropped is dropped, too."""
    start = cursor["done"]
    some = actions[start - first :][:_AT_ONCE]
    dropped = [cursor["planned"][start + n][1:] for n, action in enumerate(some) if action is None]
    revs = cursor["revs"] | {note_id: -1 for notes in dropped for note_id, _ in notes}
    done, cursor["revs"] = apply_all(tx, [action for action in some if action is not None], revs, limits)
    cursor["done"] = start + len(some)
    cursor["changes"] += [
        {"type": action.type, "nugget": action.note.nugget, "note_id": action.note.id}
        | ({} if action.other is None else {"other_id": action.other.id})
        for action in done
    ]


def _complete(tx: Transaction, cursor: Cursor, nugget: str | None) -> dict[str, Any]:
    """Take the last step: record how far the run has come and what it did; return its result."""
    for tended in cursor["tended"]:
        name, changed, again, served_at = tended
        tx.rows.reflection.put(ReflectionProgress(name, tuple(changed), tuple(again), served_at))
    changes, counts = cursor["changes"], counts_of(cursor["inspected"], cursor["changes"])
    summary = {"counts": counts, "ran_at": cursor["ran_at"], "changes": changes}
    tx.log(Entry("reflection.completed", nugget, (), None, summary))
    return {
        "ran_at": from_micros(cursor["ran_at"]),
        **counts,
        "held_back": cursor["held_back"],
        "remaining": remaining(cursor["left"], changes) + cursor["left_else"],
        "changes": changes,
    }


def counts_of(inspected: int, changes: Sequence[Mapping[str, str]]) -> dict[str, int]:
    """Return the numbers of a run that did *changes*."""
    found = Counter(_COUNTED[change["type"]] for change in changes)
    return {"inspected": inspected, **{name: found[name] for name in _COUNTED.values()}}


def remaining(left: Sequence[str], changes: Sequence[Mapping[str, str]]) -> int:
    """Return how many notes further runs have to look at once *changes* are done: left, or changed by them."""
    touched = {change[name] for change in changes for name in ("note_id", "other_id") if name in change}
    gone = {change["note_id"] for change in changes if change["type"] == "hide"}
    gone |= {change["other_id"] for change in changes if change["type"] == "merge"}
    return len(({*left} | touched) - gone)


async def _until_indexed(shelf: Shelf) -> None:
    """Wait until recall knows every note: who is near whom is asked of its index."""
    state = shelf.index_state()
    waited = 0
    while state["state"] != "ready":
        await asyncio.sleep(0)  # filling the index gives way in the same manner
        now = shelf.index_state()
        waited = waited + 1 if now["share"] == state["share"] else 0
        state = now
        if waited > _PATIENCE:
            raise Unavailable("the recall index is not complete; try again later")
    await shelf.reach(None)
