"""Promotion of a shelf: from its notes to the file, then to the shelf's record of it."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from hashlib import sha256
from typing import Any, Final
from weakref import WeakValueDictionary

import structlog

from shelfd.memory.errors import Unavailable
from shelfd.memory.jobs.work import Work
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.ports.job import PURGE_KIND
from shelfd.memory.ports.log import Entry as LogEntry
from shelfd.memory.ports.log import Origin
from shelfd.memory.ports.tending import Promoted
from shelfd.memory.shelf.shelf import Shelf
from shelfd.memory.tending.promotion.candidates import Candidates, known, none, promotable, usage_of
from shelfd.memory.tending.promotion.entries import TOKEN_CHARACTERS, entries_of
from shelfd.memory.tending.promotion.merge import Merged, merge
from shelfd.memory.tending.promotion.plan import PromotionPlan, counts_of, no_preview, nothing, preview_of, result_of
from shelfd.memory.tending.promotion.ports import LeftAlone, MemoryFiles, Target
from shelfd.memory.tending.promotion.record import edited, intention, is_edited, is_left_in, sealed, settle

log = structlog.get_logger("shelfd.memory")

#: How often to read a file again that another program writes at the same time.
_ATTEMPTS: Final = 5


class Promoter:
    """Writes what is recalled again and again to MEMORY.md.

    What is about to change is recorded first, then the file is replaced, then the record: whichever of these a
    crash falls between, the next start knows each line of its own. One promotion of a shelf, and of a file, is at work
    at a time.

    Args:
        files: The files.
        budget_tokens: How long a file may become by promotion, everything in it counted, 4 characters a token.
    """

    def __init__(self, files: MemoryFiles, *, budget_tokens: int = 4000) -> None:
        self._files = files
        self._characters = budget_tokens * TOKEN_CHARACTERS
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def target(self, shelf: Shelf, project: str | None) -> Target:
        """Return where the shelf's lines go; *project* is a directory whose project's file it shall be instead."""
        return await self._files.target(shelf.name, project)

    async def promote(self, work: Work) -> Mapping[str, Any]:
        """Promote the shelf's notes, or what is left of that; return the result.

        Raises:
            Unavailable: If the file cannot be read or written, or another program keeps writing it.
        """
        target = await self.target(work.shelf, work.job.params.get("project"))

        async def carry_out(path: str) -> Mapping[str, Any]:
            return await self._promote(work.shelf, _ByJob(work), path, candidates=promotable)

        return await self._with(work.shelf, target, carry_out)

    async def dry_run(self, shelf: Shelf, *, project: str | None) -> Mapping[str, Any]:
        """Return what a promotion would do; changes nothing.

        Raises:
            Unavailable: If the file cannot be read.
        """

        async def look(path: str) -> Mapping[str, Any]:
            return result_of(await self._plan(shelf, path, await self._files.read(path), promotable))

        return await self._with(shelf, await self.target(shelf, project), look)

    async def _with(
        self, shelf: Shelf, target: Target, do: Callable[[str], Awaitable[Mapping[str, Any]]]
    ) -> Mapping[str, Any]:
        if target.path is None:
            return nothing(target)
        async with self._lock(f"shelf:{shelf.name}"), self._lock(f"file:{target.path}"):
            await shelf.write_usage()
            try:
                return await do(target.path)
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
            await self._promote(shelf, _ByPart(shelf, origin), path, candidates=known)
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
                        await self._promote(shelf, _ByPart(shelf, origin), path, candidates=none)
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
                plan = await self._plan(shelf, target.path, old, promotable)
            except LeftAlone as refusal:
                return no_preview(Target(None, str(refusal)), budget)
        return preview_of(shelf, target.path, plan.merged, recorded, budget)

    def _lock(self, name: str) -> asyncio.Lock:
        return self._locks.setdefault(name, asyncio.Lock())

    async def _promote(
        self, shelf: Shelf, caller: "_ByPart | _ByJob", path: str, *, candidates: Candidates
    ) -> Mapping[str, Any]:
        for _ in range(_ATTEMPTS):
            plan = await self._plan(shelf, path, await self._files.read(path), candidates)
            if plan.new is not None and plan.changes_file:
                # On record before the file changes: a crash between the two must not leave an unknown line.
                if not await caller.intend(plan):
                    continue
                if not await self._files.replace(path, plan.old, plan.new):
                    continue
            return await caller.record(plan)
        raise Unavailable("MEMORY.md or its notes are being changed by somebody else; try again", file="MEMORY.md")

    async def _plan(self, shelf: Shelf, path: str, old: bytes | None, candidates: Candidates) -> PromotionPlan:
        text, now = _decoded(old), shelf.clock.now()
        recorded = settle(text, *_on_record(shelf, path))
        notes = await candidates(shelf, recorded)
        usage = await usage_of(shelf, notes)
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
        return PromotionPlan(path, old, new, recorded, merged, tuple(first_time), revs, is_recorded)


class _ByPart:
    """A part of the daemon that changes a file: a purge, or the removal of a shelf."""

    def __init__(self, shelf: Shelf, origin: Origin) -> None:
        self._shelf = shelf
        self._origin = origin

    async def intend(self, plan: PromotionPlan) -> bool:
        """Record what the file is about to hold; False if a note has changed since that was planned."""
        return (await self._shelf.commit(self._origin, lambda tx: _intend(plan, tx))).value

    async def record(self, plan: PromotionPlan) -> Mapping[str, Any]:
        """Record what the file holds now; return the result."""
        result = result_of(plan)
        if not plan.is_settled:
            await self._shelf.commit(self._origin, lambda tx: _record(tx, plan, result, is_news=plan.changes_file))
        return result


class _ByJob:
    """A promotion as a job: its cursor results, after a crash, what became of a file that was replaced."""

    def __init__(self, work: Work) -> None:
        self._work = work

    async def intend(self, plan: PromotionPlan) -> bool:
        """Record what the file is about to hold; False if a note has changed since that was planned."""

        def apply(tx: Transaction, cursor: dict[str, Any]) -> bool:
            if not _intend(plan, tx):
                return False
            cursor["intended"] = {"file": _fingerprint(plan.new), "result": result_of(plan)}
            return True

        return await self._work.step(apply)

    async def record(self, plan: PromotionPlan) -> Mapping[str, Any]:
        """Record what the file holds now and that the job is done; return its result."""
        intended = self._work.cursor.get("intended")
        result, is_news = result_of(plan), plan.changes_file
        if intended is not None and not is_news and intended["file"] == _fingerprint(plan.old):
            result, is_news = intended["result"], True  # the daemon died when the file was replaced

        def apply(tx: Transaction, _cursor: dict[str, Any]) -> Mapping[str, Any]:
            _record(tx, plan, result, is_news=is_news)
            return result

        await self._work.finish(apply)
        log.info(
            "promotion.completed", shelf=self._work.shelf.name, run_id=self._work.job.run_id, **counts_of(plan.merged)
        )
        return result


def _fingerprint(data: bytes | None) -> str:
    return sha256(data or b"").hexdigest()


def _decoded(data: bytes | None) -> str | None:
    if data is None:
        return None
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise LeftAlone("MEMORY.md is not UTF-8; it was left alone") from None


def _intend(plan: PromotionPlan, tx: Transaction) -> bool:
    """Record what the file is about to hold; return False if one of the notes has changed since that was planned."""
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


def _edited(tx: Transaction, plan: PromotionPlan) -> list[Promoted]:
    """What to record of lines that people changed, until no purge is under way that has to name the file."""
    if not tx.rows.jobs.page(unfinished=True, kind=PURGE_KIND, before=None, limit=1):
        return []
    ids = {row.note_id for row in plan.recorded if row.note_id}
    gone = ids - tx.rows.notes.by_ids(list(ids)).keys()
    ours = {row.line for row in plan.merged.manifest}
    return edited(plan.recorded, (plan.new or b"").decode(), gone, ours)


def _seal(tx: Transaction, *, path: str, ids: Collection[str]) -> None:
    tx.rows.promotions.put(path, sealed(tx.rows.promotions.lines(path), ids))
    tx.rows.promotions.plan(path, sealed(tx.rows.promotions.planned(path), ids))


def _record(tx: Transaction, plan: PromotionPlan, result: Mapping[str, Any], *, is_news: bool) -> None:
    """Record what is in the file now."""
    if not plan.is_recorded or is_news:
        _put_record(tx, path=plan.path, rows=[*plan.merged.manifest, *_edited(tx, plan)])
    for note_id in plan.first_time:
        note = tx.rows.notes.get(note_id)
        if note is not None:
            marked = note._replace(extra=note.extra._replace(promoted_at=tx.now))
            tx.change_note(note, marked, kind="note.promoted")
    if is_news or plan.first_time:
        summary = {name: value for name, value in result.items() if name not in ("path", "reason")}
        tx.log(LogEntry("promotion.completed", None, (), None, summary))
