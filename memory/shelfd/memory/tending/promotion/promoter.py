"""Promotion of a shelf: from its notes to the file, then to the shelf's record of it."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, TypeAlias
from weakref import WeakValueDictionary

import structlog

from shelfd.memory.call import Call
from shelfd.memory.errors import Unavailable
from shelfd.memory.log.idempotency import Outcome
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.notes.note import Note
from shelfd.memory.ports.ledger import SCHEDULER, run_by_hand
from shelfd.memory.ports.log import Entry as LogEntry
from shelfd.memory.ports.log import Origin
from shelfd.memory.ports.store import Ticket
from shelfd.memory.ports.tending import Promoted
from shelfd.memory.shelf.shelf import Shelf
from shelfd.memory.tending.promotion.budget import TOKEN_CHARACTERS
from shelfd.memory.tending.promotion.entries import MIN_HITS, entries_of
from shelfd.memory.tending.promotion.merge import Merged, merge
from shelfd.memory.tending.promotion.plan import Plan, counts_of, nothing, result_of
from shelfd.memory.tending.promotion.ports import LeftAlone, MemoryFiles, Target
from shelfd.memory.tending.promotion.preview import no_preview, preview_of
from shelfd.memory.tending.promotion.record import edited, intention, is_edited, is_left_in, sealed, settle

log = structlog.get_logger("shelfd.memory")

#: How often a file is read anew that somebody else writes at the same time.
_ATTEMPTS: Final = 5
#: Notes that others became part of, whose hits are counted without giving others a turn: some 5 ms.
_TARGETS_AT_ONCE: Final = 64


class Promoter:
    """Writes what is recalled again and again to MEMORY.md.

    What is about to change is put on record first, then the file is replaced, then the record: whichever of these a
    crash comes between, the next start knows each line of its own. One promotion of a shelf, and of a file, is at work
    at a time.

    Args:
        files: The files.
        budget_tokens: How long a file may become by promotion, everything in it counted, 4 characters a token.
    """

    def __init__(self, files: MemoryFiles, *, budget_tokens: int = 4000) -> None:
        self._files = files
        self._characters = budget_tokens * TOKEN_CHARACTERS
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def promote(self, shelf: Shelf, call: Call, *, project: str | None, dry_run: bool) -> dict[str, Any]:
        """Promote the shelf's notes and return what came of it.

        Args:
            call: On whose behalf; its run is what the change log names. It has been started.
            project: Directory whose project's file it shall be instead of the configured one.
            dry_run: Only say what would happen.

        Raises:
            Unavailable: If the file cannot be read or written, or somebody else keeps writing it.
        """
        target = await self._files.target(shelf.name, project)
        if target.path is None:
            return nothing(target)
        async with self._lock(f"shelf:{shelf.name}"), self._lock(f"file:{target.path}"):
            await shelf.write_usage()
            try:
                return await self._promote(
                    shelf, _Caller(call.origin(), call), target.path, candidates=_all, dry_run=dry_run
                )
            except LeftAlone as refusal:
                return nothing(Target(None, str(refusal)))

    def is_open(self, project: str) -> bool:
        """Return whether everybody who may write to a shelf may name *project*, and not administrators alone."""
        return self._files.is_open(project)

    async def withdraw(
        self, shelf: Shelf, origin: Origin, gone: Collection[str], touched: Collection[str] = ()
    ) -> list[str]:
        """Take the lines of notes that are gone out of every file they were written to, and add none.

        Nothing that is on record of such a note keeps its text, also where the file cannot be written.

        Args:
            origin: On whose behalf.
            gone: The notes.
            touched: Notes that held text of them, whose own lines are brought up to date.

        Returns:
            The paths of files that still hold one, or may, because they cannot be written or a person has edited the
            line.
        """
        left = []
        for path in shelf.view.promotions.paths():
            async with self._lock(f"shelf:{shelf.name}"), self._lock(f"file:{path}"):
                rows = [*shelf.view.promotions.lines(path), *shelf.view.promotions.planned(path)]
                concerned = [row for row in rows if row.note_id in gone or row.note_id in touched]
                if concerned and not await self._withdraw(shelf, origin, path, concerned, gone):
                    left.append(path)
        return left

    async def _withdraw(
        self, shelf: Shelf, origin: Origin, path: str, concerned: Sequence[Promoted], gone: Collection[str]
    ) -> bool:
        """Bring what is on record of a file and the file up to date; return whether nothing of *concerned* stays."""
        try:
            await self._promote(shelf, _Caller(origin), path, candidates=_known)
            text = _decoded(await self._files.read(path)) or ""
        except (LeftAlone, Unavailable):
            ids = {row.note_id for row in concerned}
            await shelf.commit(origin, partial(_seal, path=path, ids=ids))
            return False
        # A line that a person has changed is theirs, and stays.
        rows = shelf.view.promotions.lines(path)
        ours = {row.line for row in rows}
        others = [row for row in concerned if row.note_id not in gone]
        return not any(row.note_id in gone and is_edited(row) for row in rows) and not any(
            is_left_in(text, row, ours) for row in others
        )

    @asynccontextmanager
    async def retired(self, shelf: Shelf, origin: Origin) -> AsyncIterator[list[str]]:
        """Take every line of the shelf's out of every file, and promote none for the length of a block.

        Yields:
            The paths of files that still hold one, or may.
        """
        async with self._lock(f"shelf:{shelf.name}"):
            left = []
            for path in shelf.view.promotions.paths():
                async with self._lock(f"file:{path}"):
                    rows = [*shelf.view.promotions.lines(path), *shelf.view.promotions.planned(path)]
                    try:
                        await self._promote(shelf, _Caller(origin), path, candidates=_none)
                        text = _decoded(await self._files.read(path)) or ""
                    except (LeftAlone, Unavailable):
                        left.append(path)
                        continue
                    if any(is_left_in(text, row, ()) for row in rows if row.note_id):
                        left.append(path)
            yield left

    async def suspects(self, shelf: str) -> list[str]:
        """Return the paths of files that may hold lines of a shelf that cannot be read: where it is to promote to."""
        path = (await self._files.target(shelf, None)).path
        return [] if path is None else [path]

    async def holds(self, path: str) -> bool:
        """Return whether there is something at *path* that may hold a line."""
        try:
            return await self._files.read(path) is not None
        except (LeftAlone, Unavailable):
            return True

    async def settle(self, shelf: Shelf) -> None:
        """Put right what a daemon left that died while it changed a file: what it wrote besides, and the record.

        Raises:
            Unavailable: If a file cannot be read, or the store did not take the record.
        """
        for path in shelf.view.promotions.planned_paths():
            async with self._lock(f"shelf:{shelf.name}"), self._lock(f"file:{path}"):
                await self._files.clean_up(path)
                try:
                    text = _decoded(await self._files.read(path))
                except LeftAlone:
                    continue  # nobody can tell; the next promotion looks again
                rows = settle(text, *_on_record(shelf, path))
                await shelf.commit(Origin("shelfd", "promotion.settle"), partial(_put_record, path=path, rows=rows))
                log.info("promotion.settled", shelf=shelf.name)

    async def preview(self, shelf: Shelf, *, project: str | None) -> dict[str, Any]:
        """Return which line is which note's, and what a promotion would do to it; changes nothing.

        Raises:
            Unavailable: If the file cannot be read.
        """
        target = await self._files.target(shelf.name, project)
        budget = self._characters // TOKEN_CHARACTERS
        if target.path is None:
            return no_preview(target, budget)
        async with self._lock(f"shelf:{shelf.name}"), self._lock(f"file:{target.path}"):
            await shelf.write_usage()
            try:
                old = await self._files.read(target.path)
                recorded = settle(_decoded(old), *_on_record(shelf, target.path))
                plan = await self._plan(shelf, target.path, old, _all)
            except LeftAlone as refusal:
                return no_preview(Target(None, str(refusal)), budget)
        return preview_of(shelf, target.path, plan.merged, recorded, budget)

    def _lock(self, name: str) -> asyncio.Lock:
        return self._locks.setdefault(name, asyncio.Lock())

    async def _promote(
        self, shelf: Shelf, caller: "_Caller", path: str, *, candidates: "_Candidates", dry_run: bool = False
    ) -> dict[str, Any]:
        for _ in range(_ATTEMPTS):
            plan = await self._plan(shelf, path, await self._files.read(path), candidates)
            if dry_run:
                return result_of(plan)
            if plan.new is not None and plan.changes_file:
                # On record before the file changes: a crash between the two must not leave a line that nobody knows.
                if not (await shelf.commit(caller.origin, partial(_intend, plan))).value:
                    continue
                if not await self._files.replace(path, plan.old, plan.new):
                    continue
            return await _record(shelf, caller, plan)
        raise Unavailable("MEMORY.md or its notes are being changed by somebody else; try again", file="MEMORY.md")

    async def _plan(self, shelf: Shelf, path: str, old: bytes | None, candidates: "_Candidates") -> Plan:
        text, now = _decoded(old), shelf.clock.now()
        recorded = settle(text, *_on_record(shelf, path))
        notes = await candidates(shelf, recorded)
        usage = shelf.usage.of(notes)
        existing = {note.id for note in notes} | shelf.view.notes.by_ids([row.note_id for row in recorded]).keys()

        def merged_text() -> Merged:
            entries = entries_of(notes, usage, now=now)
            return merge(text, entries, recorded, existing=existing, characters=self._characters, now=now)

        # On a thread, because a shelf may have thousands of such notes and a person's file a thousand headings.
        merged = await asyncio.to_thread(merged_text)
        new = None if merged.text is None else merged.text.encode()
        first_time = (note.id for note in notes if note.id in merged.promoted and note.extra.promoted_at is None)
        revs = {note.id: note.rev for note in notes if note.id in merged.promoted}
        is_recorded = not shelf.view.promotions.planned(path) and shelf.view.promotions.lines(path) == list(
            merged.manifest
        )
        return Plan(path, old, new, recorded, merged, tuple(first_time), revs, is_recorded, planned_at=now)


@dataclass(frozen=True, slots=True)
class _Caller:
    """On whose behalf a file changes: a part of the daemon, or a call that may be repeated."""

    origin: Origin
    call: Call | None = None


_Candidates: TypeAlias = Callable[[Shelf, Sequence[Promoted]], Awaitable[list[Note]]]


async def _none(_shelf: Shelf, _recorded: Sequence[Promoted]) -> list[Note]:
    return []


async def _known(shelf: Shelf, recorded: Sequence[Promoted]) -> list[Note]:
    """The notes that may be promoted, of those that are on record."""
    known = {row.note_id for row in recorded}
    return [note for note in await _all(shelf, recorded) if note.id in known]


async def _all(shelf: Shelf, _recorded: Sequence[Promoted]) -> list[Note]:
    """The visible notes that enough sessions used, counting what became part of them."""
    notes = {note.row: note for note in shelf.view.notes.with_hits(MIN_HITS)}
    after = ""
    while ids := shelf.view.links.merge_targets(after=after, limit=_TARGETS_AT_ONCE):
        targets = [
            note for note in shelf.view.notes.by_ids(ids).values() if not note.hidden and note.superseded_by is None
        ]
        usage = shelf.usage.of(targets)
        notes |= {note.row: note for note in targets if note.row in usage and usage[note.row].hits >= MIN_HITS}
        after = ids[-1]
        await asyncio.sleep(0)
    return [notes[row] for row in sorted(notes)]


def _decoded(data: bytes | None) -> str | None:
    if data is None:
        return None
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise LeftAlone("MEMORY.md is not UTF-8; it was left alone") from None


def _intend(plan: Plan, tx: Transaction) -> bool:
    """Put down what the file is about to hold; return False if one of the notes has changed since that was planned."""
    notes = tx.rows.notes.by_ids(list(plan.revs))
    if {note_id: note.rev for note_id, note in notes.items()} != plan.revs:
        return False
    tx.rows.promotions.plan(plan.path, intention(plan.merged.manifest))
    return True


def _on_record(shelf: Shelf, path: str) -> tuple[list[Promoted], list[Promoted]]:
    """What promotion wrote to a file, and what it was about to write."""
    return shelf.view.promotions.lines(path), shelf.view.promotions.planned(path)


def _put_record(tx: Transaction, *, path: str, rows: Sequence[Promoted]) -> None:
    tx.rows.promotions.put(path, rows)
    tx.rows.promotions.plan(path, ())


def _edited(tx: Transaction, plan: Plan) -> list[Promoted]:
    """What to keep in mind of lines that people changed, until no purge is under way that has to name the file."""
    if not tx.rows.jobs.page(unfinished=True, before=None, limit=1):
        return []
    ids = {row.note_id for row in plan.recorded if row.note_id}
    gone = ids - tx.rows.notes.by_ids(list(ids)).keys()
    ours = {row.line for row in plan.merged.manifest}
    return edited(plan.recorded, (plan.new or b"").decode(), gone, ours)


def _seal(tx: Transaction, *, path: str, ids: Collection[str]) -> None:
    tx.rows.promotions.put(path, sealed(tx.rows.promotions.lines(path), ids))
    tx.rows.promotions.plan(path, sealed(tx.rows.promotions.planned(path), ids))


async def _record(shelf: Shelf, caller: _Caller, plan: Plan) -> dict[str, Any]:
    """Put on the shelf's record what is in the file now; return the result."""
    result = result_of(plan)

    def write(tx: Transaction) -> None:
        if not plan.is_recorded or plan.changes_file:
            _put_record(tx, path=plan.path, rows=[*plan.merged.manifest, *_edited(tx, plan)])
        for note_id in plan.first_time:
            note = tx.rows.notes.get(note_id)
            if note is not None:
                marked = note._replace(extra=note.extra._replace(promoted_at=tx.now))
                tx.change_note(note, marked, kind="note.promoted")
        if plan.changes_file or plan.first_time:
            told = {name: value for name, value in result.items() if name not in ("path", "reason")}
            tx.log(LogEntry("promotion.completed", None, (), None, told))

    call = caller.call
    is_by_hand = call is not None and call.principal != SCHEDULER  # the scheduler keeps an entry of its own

    def apply(tx: Transaction, _params: object, _call: Call) -> Outcome:
        write(tx)
        if is_by_hand:
            run_id, counts = caller.origin.run_id or "", counts_of(plan.merged)
            run = run_by_hand("promotion", run_id, started_at=plan.planned_at, finished_at=tx.now, result=counts)
            tx.rows.runs.claim(run)
        return result

    if plan.is_settled and not is_by_hand:
        return result
    if call is None:
        await shelf.commit(caller.origin, write)
    else:
        # The file is written: nothing may take the record of it back any more.
        result = dict((await shelf.change(replace(call, ticket=Ticket(shelf.clock)), apply)).outcome)
    log.info("promotion.completed", shelf=shelf.name, run_id=caller.origin.run_id, **counts_of(plan.merged))
    return result
