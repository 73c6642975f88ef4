"""Job: rewind a conversation. Turns are taken back, or one alternative of a turn is put away for another.

What is stored first is which changes count no more, or count again; from then on that holds. Then every note and link
they are about is made what the changes that count give, in as many steps as it takes. To undo that is a rewind as well.
"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from shelfd.memory.errors import DuplicateKey
from shelfd.memory.jobs.work import JobKind, Work
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.notes.note import Link, Note
from shelfd.memory.ports.log import Entry
from shelfd.memory.ports.sessions import Retraction, Variant
from shelfd.memory.ports.view import View
from shelfd.memory.sessions.dead import OPEN, dead_since
from shelfd.memory.sessions.planning import EDITED, Kept, LinkName, RewindPlan, Scope
from shelfd.memory.shelf.nuggets import ensure_nugget

_NO_VARIANTS: Final[Mapping[int, int]] = MappingProxyType({})
#: Fields that stay and are named one by one; the cursor holds them, which each step writes.
_NAMED: Final = 1_000


class Intent(NamedTuple):
    """What a rewind is to do to one conversation.

    Attributes:
        taken: Changes that are to count no more.
        given: Numbers of retractions that are to stand no more.
        live: The variants that are to be live from then on, by turn.
        undoes: The run that it takes back, if it does.
    """

    session_id: str
    taken: Sequence[Retraction] = ()
    given: Sequence[int] = ()
    live: Mapping[int, int] = _NO_VARIANTS
    undoes: str | None = None


def retracting(view: View, session_id: str, from_turn: int) -> Intent:
    """Return how to take back a conversation's turns from *from_turn* on, as far as they are written.

    Where nothing of them is left, that they were taken back is stored all the same: what is about to write in one of
    them, an extraction for which a model takes its time, has to know.
    """
    last = view.log.last_seq
    wanted = Retraction(session_id, from_turn, None, None, last + 1, last, OPEN, "")
    first = _first_alive(view, wanted)
    return Intent(session_id, (wanted if first is None else wanted._replace(since_seq=first),))


def was_taken_back(view: View, session_id: str, turn: int, *, since: int) -> bool:
    """Return whether a turn was taken back, or its variant put away, by the change *since* or later."""
    return any(
        one.stands
        and one.session_id == session_id
        and one.from_turn <= turn
        and (one.until_turn is None or turn <= one.until_turn)
        for _, one in view.rewinds.since(since)
    )


def retracting_one(view: View, session_id: str, turn: int) -> Intent:
    """Return how to take back what one turn of a conversation wrote."""
    first = view.log.first_of_turns(session_id, from_turn=turn, until_turn=turn)
    last = view.log.last_seq
    return Intent(
        session_id, () if first is None else (Retraction(session_id, turn, turn, None, first, last, OPEN, ""),)
    )


def _first_alive(view: View, wanted: Retraction) -> int | None:
    """The first change of some turns that was not taken back together with all that follow."""
    first = view.log.first_of_turns(wanted.session_id, from_turn=wanted.from_turn)
    if first is None:
        return None
    taken_before = [
        one.up_to_seq
        for _, one in view.rewinds.since(first)
        if one.stands
        and (one.session_id, one.until_turn, one.variant) == (wanted.session_id, None, None)
        and one.from_turn <= wanted.from_turn
    ]
    if not taken_before:
        return first
    return view.log.first_of_turns(wanted.session_id, from_turn=wanted.from_turn, above=max(taken_before))


def selecting(view: View, session_id: str, turn: int, variant: int, *, undoes: str | None = None) -> Intent:
    """Return how to put away the live variant of a turn for another."""
    live = view.rewinds.live_variant(session_id, turn) or 0
    if live == variant:
        return Intent(session_id, undoes=undoes)
    last = view.log.last_seq
    first = view.log.first_of_turns(session_id, from_turn=turn, until_turn=turn, variant=live)
    put_away = Retraction(session_id, turn, turn, live, first or last + 1, last, OPEN, "")
    given = [number for number, _ in view.rewinds.of_variant(session_id, turn, variant)]
    return Intent(session_id, (put_away,), given, {turn: variant}, undoes)


def undoing(view: View, run_id: str) -> Intent | None:
    """Return how to undo what a rewind did, as far as that stands; None if the run was none."""
    acts = view.rewinds.by_run(run_id)
    if not acts:
        return None
    session_id = acts[0][1].session_id
    standing = [(number, act) for number, act in acts if act.stands]
    if any(act.variant is not None for _, act in acts):
        chosen = [(act.from_turn, act.variant) for _, act in standing if act.variant is not None]
        return selecting(view, session_id, *chosen[0], undoes=run_id) if chosen else Intent(session_id, undoes=run_id)
    again = [view.rewinds.get(act.revives) for _, act in acts if act.revives is not None and act.undone_by is None]
    taken = [one._replace(done_seq=OPEN, run_id="", undone_by=None) for one in again if one is not None]
    given = [*(number for number, _ in standing), *(number for number, act in acts if act.revives and taken)]
    return Intent(session_id, taken, given, undoes=run_id)


def begin(tx: Transaction, intent: Intent, run_id: str) -> dict[str, Any]:
    """Store which changes count no more, or again; return the params of the job that makes them so.

    Returns:
        ``retractions``, the numbers of those that were taken or given back; ``acts``, of what this run stored;
        ``runs``, the rewinds that are taken back; ``session_id``, ``nugget``, ``undoes``.
    """
    rewinds = tx.rows.rewinds
    acts = [rewinds.add_retraction(one._replace(run_id=run_id)) for one in intent.taken]
    retractions = list(acts)
    runs: list[str] = []
    for number in intent.given:
        one = rewinds.get(number)
        assert one is not None
        rewinds.put_retraction(number, one._replace(undone_by=run_id))
        if one.revives is None:
            acts.append(rewinds.add_retraction(one._replace(run_id=run_id, done_seq=OPEN, revives=number)))
            retractions.append(number)
            runs.append(one.run_id)
    for turn, variant in intent.live.items():
        for other in rewinds.variants(intent.session_id, from_turn=turn, until_turn=turn):
            rewinds.put_variant(other._replace(is_live=False, run_id=run_id if other.is_live else other.run_id))
        for one in intent.taken:
            rewinds.put_variant(Variant(intent.session_id, turn, one.variant or 0, is_live=False, run_id=run_id))
        rewinds.put_variant(Variant(intent.session_id, turn, variant, is_live=True))
    session = tx.rows.sessions.get(intent.session_id)
    return {
        "session_id": intent.session_id,
        "nugget": None if session is None else session.nugget,
        "retractions": retractions,
        "acts": acts,
        "runs": runs,
        "undoes": intent.undoes,
    }


def new_cursor() -> dict[str, Any]:
    """Return where a rewind begins."""
    return {
        "done": 0, "total": None, "place": 0, "after": [0, 0], "pending": [],
        "undone": 0, "notes": 0, "kept": [], "more_kept": 0, "is_over": False,
    }  # fmt: skip


def rewind_some(tx: Transaction, cursor: dict[str, Any], params: Mapping[str, Any]) -> None:
    """Take one step: make the next notes and links what they are by the changes that count.

    Args:
        cursor: Of the plan, see :meth:`RewindPlan.go_on`; ``undone`` fields and links changed, of ``notes`` notes;
            ``kept`` (and ``more_kept``) stayed.
        params: See :func:`begin`.
    """
    found = [tx.rows.rewinds.get(number) for number in params["retractions"]]
    ranges = [one for one in found if one is not None]
    if ranges:
        plan = RewindPlan(
            tx.rows, Scope(ranges, params["runs"], dead_since(tx.rows, min(one.since_seq for one in ranges)))
        )
        plan.go_on(cursor)
        plan.kept += _write(tx, plan)
        _count(cursor, plan)
    else:
        cursor["is_over"] = True
    if cursor["is_over"]:
        _end(tx, cursor, params)


def _count(cursor: dict[str, Any], plan: RewindPlan) -> None:
    cursor["undone"] += plan.undone
    cursor["notes"] += len(plan.notes)
    room = _NAMED - len(cursor["kept"])
    cursor["kept"] += [list(one) for one in plan.kept[:room]]
    cursor["more_kept"] += len(plan.kept[room:])


def _write(tx: Transaction, plan: RewindPlan) -> Iterator[Kept]:
    """Make notes and links what was planned; return what could not be."""
    for name, (old, new) in plan.links.items():
        _put_link(tx, name, old, new)
    # What goes first makes room for what comes: of one key there is one fact.
    changes = sorted(plan.notes.values(), key=lambda change: not change[1].hidden)
    return iter([kept for old, new in changes if (kept := _put_note(tx, old, new)) is not None])


def _put_note(tx: Transaction, old: Note, new: Note) -> Kept | None:
    if new.hidden and not old.hidden:
        new = new._replace(archived_at=tx.now)
    if not new.hidden:
        ensure_nugget(tx, new.nugget)  # it may have been removed since
    try:
        tx.change_note(old, new)
    except DuplicateKey:
        extra = new.extra._replace(source_key=old.extra.source_key)
        tx.change_note(old, new._replace(key=old.key, title=old.title, nugget=old.nugget, extra=extra))
        return Kept(old.id, "key", EDITED)
    return None


def _put_link(tx: Transaction, name: LinkName, old: Link | None, new: Link | None) -> None:
    source = tx.rows.notes.get(name[0])
    nugget = "" if source is None else source.nugget
    if old is not None:
        tx.delete_link(old, nugget)
    if new is not None:
        tx.put_link(new, nugget, is_restored=True)


def _end(tx: Transaction, cursor: dict[str, Any], params: Mapping[str, Any]) -> None:
    kept = len(cursor["kept"]) + cursor["more_kept"]
    if params["undoes"] is not None:
        summary = {"undone_run_id": params["undoes"], "undone": cursor["undone"], "kept": kept}
        tx.log(Entry("reflection.undone", None, (), None, summary))
    else:
        summary = {"session_id": params["session_id"], **params["event"], "undone": cursor["undone"], "kept": kept}
        tx.log(Entry("session.retracted", params["nugget"], (), None, summary))
    last = tx.rows.log.last_seq + len(tx.entries)
    for number in params["acts"]:
        if (act := tx.rows.rewinds.get(number)) is not None:
            tx.rows.rewinds.put_retraction(number, act._replace(done_seq=last))


async def preview(view: View, intent: Intent) -> dict[str, Any]:
    """Return what a rewind would do, as :func:`result_of` does. Changes nothing."""
    ended = [one for number in intent.given if (one := view.rewinds.get(number)) is not None]
    ranges = [*intent.taken, *(one for one in ended if one.revives is None)]
    cursor, seen = new_cursor(), set[str]()
    while ranges and not cursor["is_over"]:
        dead = dead_since(view, min(one.since_seq for one in ranges), before=intent.taken)
        dead = dead._replace(retractions=[one for one in dead.retractions if one not in ended])
        plan = RewindPlan(view, Scope(ranges, [one.run_id for one in ended], dead), seen)
        plan.go_on(cursor)
        _count(cursor, plan)
        seen = plan.seen
        await asyncio.sleep(0)
    return result_of(cursor)


def result_of(cursor: Mapping[str, Any]) -> dict[str, Any]:
    """Return the result of a rewind."""
    kept = [Kept(*one)._asdict() for one in cursor["kept"]]
    result = {"undone": cursor["undone"], "notes": cursor["notes"], "kept": kept}
    return result | {"more_kept": cursor["more_kept"]} if cursor["more_kept"] else result


async def run(work: Work) -> Mapping[str, Any]:
    """Rewind what is left; return what changed and what stayed."""
    while not work.cursor["is_over"]:
        await work.step(lambda tx, cursor: rewind_some(tx, cursor, work.job.params))
        await work.shelf.reach(None)  # no faster than recall follows
        await asyncio.sleep(0)
    return {**result_of(work.cursor), "cancelled": work.job.params["cancelled"]}


REWIND: Final = JobKind("rewind")
