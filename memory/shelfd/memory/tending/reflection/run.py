"""One reflection: draws a plan on a picture of the shelf, then carries it out in small transactions.

Between any two bits of work others get a turn, and may change the shelf: what was planned on notes that changed since
is dropped. Wherever a run ends, the shelf is consistent; one cut short has moved no positions, so the next one looks
at the same notes again.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from shelfd.memory.errors import Unavailable
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.notes.wordlists import word_lists
from shelfd.memory.ports.log import Entry, Origin
from shelfd.memory.ports.tending import Tended
from shelfd.memory.shelf.shelf import Shelf
from shelfd.memory.tending.reflection.action import Action, apply_all
from shelfd.memory.tending.reflection.picture import Picture
from shelfd.memory.tending.reflection.step import Step
from shelfd.memory.tending.reflection.steps import STEPS
from shelfd.protocol import Limits

_AT_ONCE: Final = 8  # actions in one transaction
#: Turns to wait for an index that does not get on before the run is put off.
_PATIENCE: Final = 20_000
#: Words that say nothing, in any language recall knows.
_STOP: Final = frozenset(
    "a an and are as at be by for from has have i in is it its of on or that the this to was with".split()
)
_COUNTED: Final = {"rewrite": "rewritten", "merge": "merged", "hide": "hidden", "tag": "tagged", "link": "linked"}


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run means to do, and how far it has come with that.

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
    tended: list[Tended] = field(default_factory=list)
    held_back: list[Action] = field(default_factory=list)
    left: frozenset[str] = frozenset()
    unseen: int = 0

    def counts(self, done: Sequence[Action]) -> dict[str, int]:
        """Return the numbers of a result whose changes are *done*."""
        found = Counter(_COUNTED[action.type] for action in done)
        return {"inspected": self.inspected, **{name: found[name] for name in _COUNTED.values()}}

    def remaining(self, done: Sequence[Action]) -> int:
        """Return how many notes further runs have to look at once *done* is: left, changed by it, or not seen yet."""
        touched = {note.id for action in done for note in action.rests_on()}
        gone = {revision.new.id for action in done for revision in action.revisions if revision.new.hidden}
        return len((self.left | touched) - gone) + self.unseen


async def draw_plan(
    shelf: Shelf, *, nugget: str | None, limit: int, limits: Limits, steps: Sequence[Step] = STEPS
) -> Plan:
    """Return what a reflection would do now; changes nothing.

    Raises:
        Unavailable: If the recall index is not complete and does not get on.
    """
    await _until_indexed(shelf)
    lists = word_lists(shelf.settings.language)
    picture = Picture(
        view=shelf.view,
        index=shelf.index,
        usage=shelf.usage.of,
        now=shelf.clock.now(),
        nugget=nugget,
        limit=limit,
        limits=limits,
        stop=_STOP | lists.stop | lists.question,
    )
    actions: list[Action] = []
    for step in steps:
        for action in step.plan(picture):
            if action is not None:
                picture.take(action)
                actions.append(action)
            await asyncio.sleep(0)
    return Plan(
        picture.now,
        len(picture.inspected),
        actions,
        picture.tended(),
        left=frozenset(picture.left),
        unseen=picture.unseen,
    )


async def carry_out(shelf: Shelf, origin: Origin, plan: Plan, limits: Limits) -> list[Action]:
    """Do what is planned as far as nobody changed the notes meanwhile; return what was done, in order."""
    revs: dict[str, int] = {}
    done: list[Action] = []
    for start in range(0, len(plan.actions), _AT_ONCE):
        apply = _transaction(plan.actions[start : start + _AT_ONCE], revs, limits)
        some, revs = (await shelf.commit(origin, apply)).value
        done += some
    return done


def _transaction(
    actions: list[Action], revs: dict[str, int], limits: Limits
) -> Callable[[Transaction], tuple[list[Action], dict[str, int]]]:
    return lambda tx: apply_all(tx, actions, revs, limits)


def log_completed(tx: Transaction, plan: Plan, done: Sequence[Action], nugget: str | None) -> None:
    """Put on record how far the run has come and what it did: counts and ids, no text."""
    for tended in plan.tended:
        tx.rows.tended.put(tended)
    changes = [
        {"type": action.type, "nugget": action.note.nugget, "note_id": action.note.id}
        | ({} if action.other is None else {"other_id": action.other.id})
        for action in done
    ]
    told: dict[str, Any] = {"counts": plan.counts(done), "ran_at": plan.ran_at, "changes": changes}
    tx.log(Entry("reflection.completed", nugget, (), None, told))


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
