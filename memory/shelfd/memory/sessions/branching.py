"""Job: branch a conversation. Its nugget is copied as it was at a turn, for a session of its own.

What is copied follows from the log without what does not count, nor what this conversation wrote in later turns, up to
the last change of the turn. Notes go first, then references and links among them.
"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, TypeVar

from shelfd.memory.errors import Conflict
from shelfd.memory.jobs.work import JobKind, Work
from shelfd.memory.log.superseding import unsuperseded
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.notes.filter import NoteFilter
from shelfd.memory.notes.note import Link, Note
from shelfd.memory.ports.log import LogRow
from shelfd.memory.ports.sessions import Retraction, Session
from shelfd.memory.ports.view import View
from shelfd.memory.sessions.dead import OPEN, dead_since
from shelfd.memory.sessions.replaying import Replay
from shelfd.memory.sessions.session import open_session
from shelfd.memory.shelf.nuggets import get_nugget
from shelfd.memory.shelf.storing import draw_id

T = TypeVar("T")
#: Notes looked at in one step, and log rows and turns: some milliseconds of the writer.
NOTES_AT_ONCE: Final = 16
_ROWS_AT_ONCE: Final = 64
_TURNS_AT_ONCE: Final = 500


def branched_at(view: View, session_id: str) -> int | None:
    """Return up to which turn a session was copied from another; None if it was not, or its nugget is gone since."""
    found, session = view.meta.get(_property(session_id)), view.sessions.get(session_id)
    nugget = None if session is None else view.nuggets.get(session.nugget)
    if found is None or nugget is None:
        return None
    turn, created_at = found.split()
    return int(turn) if int(created_at) == nugget.created_at else None


def _property(session_id: str) -> str:
    return f"branched_at:{session_id}"


def new_params(view: View, session: Session, at_turn: int, new_session_id: str, into: str) -> dict[str, Any]:
    """Return what is to be copied where, once it is known to be possible.

    Raises:
        NuggetNotFound: If the session's nugget does not exist.
        Conflict: If the new session or the new nugget is there already.
    """
    get_nugget(view, session.nugget)
    if view.sessions.get(new_session_id) is not None or view.log.first_of_turns(new_session_id, from_turn=0):
        raise Conflict("new_session_id: there is a session of this name", field="new_session_id", reason="TAKEN")
    if view.nuggets.get(into) is not None or view.nuggets.counts(into).notes:
        raise Conflict(f"nugget: there is one called {into!r}", field="nugget", reason="TAKEN", nugget=into)
    until = view.log.last_of_turns(session.session_id, until_turn=at_turn)
    if until is None:
        later = view.log.first_of_turns(session.session_id, from_turn=at_turn)
        until = view.log.last_seq if later is None else later - 1
    return {
        "session_id": session.session_id, "nugget": session.nugget, "at_turn": at_turn, "until": until,
        "new_session_id": new_session_id, "into": into, "last": view.log.last_seq,
    }  # fmt: skip


def new_cursor() -> dict[str, Any]:
    """Return where a branching begins."""
    return {"done": 0, "total": None, "phase": 0, "after": 0, "notes": 0, "links": 0, "is_over": False}


def found(tx: Transaction, params: Mapping[str, Any]) -> None:
    """Make the session and its nugget, both of which are empty yet."""
    old = get_nugget(tx.rows, params["nugget"])
    tx.admit_name(params["into"], "nugget")
    # As one that came back: it goes when the branch is undone, although that only hides its notes.
    tx.create_nugget(old._replace(name=params["into"], created_at=tx.now), again=True)
    for name, spec in tx.rows.note_types.of(old.name).items():
        tx.rows.note_types.put(params["into"], name, spec)
    was = tx.rows.sessions.get(params["session_id"])
    session = Session(params["new_session_id"], params["into"], None if was is None else was.actor)
    open_session(tx, session, turn=None, keeps_nugget=False)
    tx.rows.meta.put(_property(session.session_id), f"{params['at_turn']} {tx.now}")


def replay_of(view: View, params: Mapping[str, Any]) -> Replay:
    """Return what notes and links were."""
    until, session_id, at_turn = params["until"], params["session_id"], params["at_turn"]
    first = view.log.first_of_turns(session_id, from_turn=at_turn + 1)
    later = []
    if first is not None and first <= until:
        later.append(Retraction(session_id, at_turn + 1, None, None, first, until, OPEN, ""))
    return Replay(view, dead_since(view, until + 1, before=later), until=until)


def branch_some(tx: Transaction, cursor: dict[str, Any], params: Mapping[str, Any]) -> None:
    """Take one step.

    Args:
        cursor: Which ``phase``, and after what of it to go on; ``notes`` and ``links`` are copied.
        params: See :func:`new_params`.
    """
    replay = replay_of(tx.rows, params)
    ended = _PHASES[cursor["phase"]](tx, replay, cursor, params)
    if ended:
        cursor["phase"] += 1
        cursor["after"] = 0
        cursor["is_over"] = cursor["phase"] == len(_PHASES)


def _copy_turns(tx: Transaction, _replay: Replay, cursor: dict[str, Any], params: Mapping[str, Any]) -> bool:
    """Give the turns of the branch the numbers that they have."""
    last: int = min(params["at_turn"], tx.rows.nuggets.last_turn(params["nugget"], params["session_id"]) or 0)
    until: int = min(last, cursor["after"] + _TURNS_AT_ONCE)
    for turn in range(cursor["after"] + 1, until + 1):
        number = tx.rows.nuggets.turn_number(params["nugget"], params["session_id"], turn)
        if number is not None:
            tx.rows.nuggets.claim_turn(params["into"], params["new_session_id"], turn, number)
    cursor["after"] = until
    return until == last


def _copy_notes(tx: Transaction, replay: Replay, cursor: dict[str, Any], params: Mapping[str, Any]) -> bool:
    notes = _page(tx.rows, params["nugget"], cursor["after"])
    for note in notes:
        cursor["notes"] += _copy(tx, replay, note.id, params)
        cursor["done"] += 1
        cursor["after"] = note.row
    return len(notes) < NOTES_AT_ONCE


def _page(view: View, nugget: str, after: int) -> list[Note]:
    everything = NoteFilter(nugget=nugget, include_hidden=True)
    return view.notes.page(everything, order="row", descending=False, after=(after, after), limit=NOTES_AT_ONCE)


def _copy_moved(tx: Transaction, replay: Replay, cursor: dict[str, Any], params: Mapping[str, Any]) -> bool:
    """Copy the notes that have been moved to another nugget since."""
    for row in (rows := _later(tx.rows, replay, cursor, params)):
        if row.row is not None and (row.before or {}).get("nugget") == params["nugget"]:
            cursor["notes"] += _copy(tx, replay, row.ids[0], params)
    return len(rows) < _ROWS_AT_ONCE


def _later(view: View, replay: Replay, cursor: dict[str, Any], params: Mapping[str, Any]) -> list[LogRow]:
    """The next changes since what is copied, up to when that began."""
    since = max(cursor["after"], replay.dead.floor - 1)
    rows = view.log.page(since_seq=since, limit=min(_ROWS_AT_ONCE, max(params["last"] - since, 0)))
    if rows:
        cursor["after"] = rows[-1].seq
    return rows


def _copy(tx: Transaction, replay: Replay, note_id: str, params: Mapping[str, Any]) -> int:
    """Copy a note if it was visible; return how many that are."""
    was = wanted(replay, note_id, params)
    if was is None or _copy_of(tx.rows, note_id, params) is not None:
        return 0
    is_own = was.session_id == params["session_id"]
    extra = was.extra._replace(copied_from=note_id, imported=None, promoted_at=None, provenance=())
    made = tx.create_note(
        was._replace(
            row=0,
            id=draw_id(was.kind, params["into"]),
            nugget=params["into"],
            session_id=params["new_session_id"] if is_own else was.session_id,
            parent_id=None,
            superseded_by=None,
            updated_at=tx.now,
            rev=1,
            extra=extra,
        ),
        redraw=lambda: draw_id(was.kind, params["into"]),
    )
    tx.rows.rewinds.add_copy(note_id, made.id)
    return 1


def wanted(replay: Replay, note_id: str, params: Mapping[str, Any]) -> Note | None:
    """Return what a note was; None if it was not there to be seen, or no note that is copied stands for it.

    The copy of one that was superseded by what is not copied would count again.
    """
    was = _visible(replay, note_id, params)
    if was is None or was.superseded_by is None:
        return was
    line = _line(replay, was)
    if len(line) == 1:  # what stood for it was purged since
        return unsuperseded(was, (row for row in reversed(replay.view.log.of_note(was.row)) if replay.is_played(row)))
    return None if _visible(replay, line[-1].id, params) is None else was


def _visible(replay: Replay, note_id: str, params: Mapping[str, Any]) -> Note | None:
    was = replay.target(note_id)
    return None if was is None or was.hidden or was.nugget != params["nugget"] else was


def _line(replay: Replay, was: Note) -> list[Note]:
    """A note and those that stood for it, one after the other; in place of a purged one what has stood for it since."""
    found = {was.id: was}
    at: Note | None = was
    while at is not None and (by := at.superseded_by) is not None:
        if replay.note(by) is None:
            now = replay.note(at.id)
            by = None if now is None else now.superseded_by
        at = None if by is None or by in found else replay.target(by)
        if at is not None:
            found[at.id] = at
    return list(found.values())


def _copy_of(view: View, note_id: str | None, params: Mapping[str, Any]) -> Note | None:
    """The branch's copy of a note."""
    copies = [] if note_id is None else view.rewinds.copies(note_id)
    found = (note for copy in copies if (note := view.notes.get(copy)) is not None)
    return next((note for note in found if note.nugget == params["into"]), None)


def _connect(tx: Transaction, replay: Replay, cursor: dict[str, Any], params: Mapping[str, Any]) -> bool:
    """Give the copies the references and links of their originals."""
    copies = _page(tx.rows, params["into"], cursor["after"])
    originals = {copy.extra.copied_from: copy for copy in copies if copy.extra.copied_from is not None}
    leaving = tx.rows.links.leaving(list(originals))
    for original, copy in originals.items():
        was = replay.target(original)
        if was is not None:
            parent = _copy_of(tx.rows, was.parent_id, params)
            later = (_copy_of(tx.rows, one.id, params) for one in _line(replay, was)[1:])
            successor = next((one.id for one in later if one is not None), None)
            tx.change_note(
                copy, copy._replace(parent_id=None if parent is None else parent.id, superseded_by=successor)
            )
        for link in leaving.get(original, ()):
            cursor["links"] += _copy_link(tx, replay, link, params)
    if copies:
        cursor["after"] = copies[-1].row
    return len(copies) < NOTES_AT_ONCE


def _copy_link(tx: Transaction, replay: Replay, link: Link, params: Mapping[str, Any]) -> int:
    was = replay.link(link.source, link.target, link.relation)
    if was is None:
        return 0
    source, target = (_copy_of(tx.rows, one, params) for one in (link.source, link.target))
    if source is None or target is None:
        return 0
    return tx.put_link(was._replace(source=source.id, target=target.id), params["into"]) == "added"


def _connect_changed(tx: Transaction, replay: Replay, cursor: dict[str, Any], params: Mapping[str, Any]) -> bool:
    """Make the links that were removed since."""
    for row in (rows := _later(tx.rows, replay, cursor, params)):
        if row.kind.startswith("link.") and row.before and "link" in row.before:
            cursor["links"] += _copy_link(tx, replay, Link(*row.before["link"]), params)
    return len(rows) < _ROWS_AT_ONCE


_PHASES: Final = (_copy_turns, _copy_notes, _copy_moved, _connect, _connect_changed)


async def preview(view: View, params: Mapping[str, Any]) -> dict[str, int]:
    """Return how many notes and links would be copied. Changes nothing."""
    ids, names = set[str](), set[tuple[str, str, str]]()
    cursor = new_cursor()
    while notes := _page(view, params["nugget"], cursor["after"]):
        cursor["after"] = notes[-1].row
        ids.update(note.id for note in notes)
        await asyncio.sleep(0)
    cursor["after"] = 0
    while rows := _later(view, replay_of(view, params), cursor, params):
        ids.update(row.ids[0] for row in rows if (row.before or {}).get("nugget") == params["nugget"])
        names.update(
            (row.ids[0], row.ids[1], row.before["link"][2]) for row in rows if row.before and "link" in row.before
        )
        await asyncio.sleep(0)
    there = set[str]()
    for some in _slices(sorted(ids)):
        replay = replay_of(view, params)
        there.update(note_id for note_id in some if wanted(replay, note_id, params) is not None)
        leaving = view.links.leaving(some)
        names.update((link.source, link.target, link.relation) for links in leaving.values() for link in links)
        await asyncio.sleep(0)
    count = 0
    for some_names in _slices(sorted(name for name in names if name[0] in there and name[1] in there)):
        replay = replay_of(view, params)
        count += sum(replay.link(*name) is not None for name in some_names)
        await asyncio.sleep(0)
    return {"notes": len(there), "links": count}


def _slices(items: Sequence[T]) -> Iterator[Sequence[T]]:
    for start in range(0, len(items), _ROWS_AT_ONCE):
        yield items[start : start + _ROWS_AT_ONCE]


async def run(work: Work) -> Mapping[str, Any]:
    """Copy what is left; return how much was."""
    while not work.cursor["is_over"]:
        await work.step(lambda tx, cursor: branch_some(tx, cursor, work.job.params))
        await work.shelf.reach(None)  # no faster than recall follows
        await asyncio.sleep(0)
    return {"notes": work.cursor["notes"], "links": work.cursor["links"]}


BRANCH: Final = JobKind("branch")
