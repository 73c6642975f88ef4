"""Job: compaction. Rolls up what has grown beyond its type's threshold, depth by depth, the oldest first.

Which notes are due follows from the rows alone, so a job that was cut short finds what is left of its work there. A
rollup's id follows from the notes it represents: the same work leaves the same notes.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Any, Final, TypeAlias

from shelfd.memory.jobs.work import JobKind, Work
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.notes.note import Note
from shelfd.memory.ports.job import Job
from shelfd.memory.ports.log import Origin
from shelfd.memory.sessions.graph import Graph
from shelfd.memory.sessions.reading import live_graph
from shelfd.memory.sessions.rollup_rule import rule_of
from shelfd.memory.sessions.rollups import RollupSummary, groups, in_time, is_represented, roll_up
from shelfd.memory.sessions.schema import NoteType, schema_of
from shelfd.memory.sessions.summarising import Summarise, summarise
from shelfd.memory.shelf.shelf import Shelf
from shelfd.protocol import Limits

#: Notes represented in one step: a few milliseconds of the writer.
AT_ONCE: Final = 24
#: Notes of the frontier looked at without yielding to other tasks: a few milliseconds.
_PAGE: Final = 1_000
_NUGGETS: Final = 100

#: Gives notes by their ids.
GetNotes: TypeAlias = Callable[[Sequence[str]], Mapping[str, Note]]


async def run(work: Work, word: Summarise = summarise) -> Mapping[str, Any]:
    """Roll up what is due, in one nugget or all; return how many notes, into how many rollups."""
    only = work.job.params.get("nugget")
    names = [only] if only else await _nuggets(work.shelf)
    for name in names:
        for kind in schema_of(work.shelf.view, name).types.values():
            if kind.is_hierarchical and work.shelf.view.notes.count_typed(kind.name, name, limit=1):
                for depth in range(kind.compression.max_depth):
                    await _compact(work, name, kind, depth, word)
        await asyncio.sleep(0)
    return {"rollups": work.cursor.get("rollups", 0), "notes": work.cursor.get("done", 0)}


async def _nuggets(shelf: Shelf) -> list[str]:
    names: list[str] = []
    while page := shelf.view.nuggets.page(after=names[-1] if names else "", limit=_NUGGETS):
        names += [nugget.name for nugget in page]
        await asyncio.sleep(0)
    return names


async def due(graph: Graph, notes: GetNotes, kind: NoteType, depth: int) -> list[Sequence[str]]:
    """Return the ids of notes of a depth that would be rolled up now, a group for each rollup, the oldest first.

    Takes time that grows with the notes of the type that nothing represents.

    Args:
        graph: The notes of a nugget.
        notes: Gives notes of the graph by their ids.
        kind: Their type.
        depth: Theirs, not that of the rollups.
    """
    rule, has_rule = rule_of(kind.compression.rule), bool(kind.compression.rule.strip())
    found: list[tuple[int, str]] = []
    after: int | None = None
    while page := list(islice(graph.frontier([kind.name], after=after), _PAGE)):
        after = page[-1][0]
        chosen = [node for _, node in page if _is_due(graph, node, depth)]
        ids = {graph.id(node): node for node in chosen}
        if has_rule:
            said = notes(list(ids))
            ids = {note_id: node for note_id, node in ids.items() if note_id in said and rule(said[note_id])}
        found += [(graph.timeline_key(node), note_id) for note_id, node in ids.items()]
        await asyncio.sleep(0)
    return groups([note_id for _, note_id in sorted(found)], kind.compression, depth)


def _is_due(graph: Graph, node: int, depth: int) -> bool:
    """Whether a note of the frontier, which nothing represents, is one to be rolled up: of that depth, nobody's own."""
    return graph.depth(node) == depth and graph.session(node) is None


async def _compact(work: Work, nugget: str, kind: NoteType, depth: int, word: Summarise) -> None:
    view = work.shelf.view
    graph = await live_graph(work.shelf, nugget, schema_of(view, nugget))
    planned = await due(graph, view.notes.by_ids, kind, depth)
    at_once = max(1, AT_ONCE // kind.compression.fan_in)
    for start in range(0, len(planned), at_once):
        batch = []
        for group in planned[start : start + at_once]:
            children = in_time(view.notes.by_ids(group).values())
            if len(children) == len(group):
                batch.append((children, await word(work.shelf, kind, children)))
        await work.step(
            lambda tx, cursor, batch=batch: _roll_up_some(tx, cursor, kind, batch, work.limits),  # type: ignore[misc]
            _origin(work.job),
        )
        await work.shelf.reach(None)  # no faster than recall follows
        await asyncio.sleep(0)


def _origin(job: Job) -> Origin:
    """What log rows name: the turn in which a conversation asked for it, with which it is taken back, as well."""
    return job.origin()._replace(session_id=job.params.get("session_id"), turn=job.params.get("turn"))


def _roll_up_some(
    tx: Transaction,
    cursor: dict[str, Any],
    kind: NoteType,
    batch: Sequence[tuple[Sequence[Note], RollupSummary]],
    limits: Limits,
) -> None:
    """Take one step: make the rollups of *batch*, but for those whose notes have changed since.

    Args:
        tx: The transaction.
        cursor: ``rollups`` were made of ``done`` notes.
        kind: Type of the notes.
        batch: Notes, and what their rollup is to say.
        limits: The configured limits.
    """
    for children, summary in batch:
        now = tx.rows.notes.by_ids([note.id for note in children])
        current = [now[note.id] for note in children if note.id in now and now[note.id].rev == note.rev]
        if len(current) < len(children) or any(is_represented(tx.rows, note, tx.now) for note in current):
            continue
        roll_up(tx, kind, current, summary, limits, is_repeatable=True)
        cursor["rollups"] = cursor.get("rollups", 0) + 1
        cursor["done"] = cursor.get("done", 0) + len(children)


COMPACTION: Final = JobKind("compaction", can_end_early=True, has_slot=True)
