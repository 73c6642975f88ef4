"""Promotion of a shelf: from its notes to the file, then to the shelf's record of it."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final
from weakref import WeakValueDictionary

import structlog

from shelfd.memory.call import Call
from shelfd.memory.errors import Unavailable
from shelfd.memory.ledger import draw_run_id
from shelfd.memory.log import Entry as LogEntry
from shelfd.memory.note import Note
from shelfd.memory.ports import Ticket
from shelfd.memory.promotion.budget import TOKEN_CHARACTERS
from shelfd.memory.promotion.entries import MIN_HITS, entries_of
from shelfd.memory.promotion.merge import Merged, merge
from shelfd.memory.promotion.ports import LeftAlone, MemoryFiles, Target
from shelfd.memory.promotion.preview import no_preview, preview_of
from shelfd.memory.repeats import Outcome
from shelfd.memory.shelf import Shelf
from shelfd.memory.tending import Promoted
from shelfd.memory.transaction import Transaction
from shelfd.protocol import METHODS

log = structlog.get_logger("shelfd.memory")

#: How often a file is read anew that somebody else writes at the same time.
_ATTEMPTS: Final = 2
#: Notes that others became part of, whose hits are counted without giving others a turn: some 5 ms.
_TARGETS_AT_ONCE: Final = 64


@dataclass(frozen=True, slots=True)
class _Plan:
    """What one promotion is about to do.

    Attributes:
        path: The file.
        old: Its bytes as they were read; None is no file.
        new: Its bytes as they shall be; equal to *old* if nothing changes there.
        recorded: What the shelf has on record of the file.
        first_time: Notes that were never promoted before.
    """

    path: str
    old: bytes | None
    new: bytes | None
    recorded: list[Promoted]
    merged: Merged
    first_time: tuple[str, ...]

    @property
    def changes_file(self) -> bool:
        return self.new != self.old

    @property
    def is_settled(self) -> bool:
        """Whether everything is as it shall be already."""
        return not self.changes_file and not self.first_time and list(self.merged.manifest) == self.recorded


class Promoter:
    """Writes what is recalled again and again to MEMORY.md.

    The file is written first, then one transaction records it; what a crash leaves between the two is taken up by
    the next promotion. One promotion of a shelf, and of a file, is at work at a time.

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
            return _nothing(target)
        async with self._lock(f"shelf:{shelf.name}"), self._lock(f"file:{target.path}"):
            await shelf.write_usage()
            try:
                return await self._promote(shelf, call, target.path, dry_run=dry_run)
            except LeftAlone as refusal:
                return _nothing(Target(None, str(refusal)))

    def is_open(self, project: str) -> bool:
        """Return whether everybody who may write to a shelf may name *project*, and not administrators alone."""
        return self._files.is_open(project)

    async def withdraw(
        self, shelf: Shelf, call: Call, note_ids: Sequence[str], changed: Sequence[str] = ()
    ) -> list[str]:
        """Take the lines of notes that are gone out of every file they were written to, and add none.

        Args:
            note_ids: The notes that are gone.
            changed: Notes that held text of them, whose own lines are brought up to date.

        Returns:
            The paths of files that still hold one, or may, because they cannot be written or a person has edited the
            line.
        """
        left = []
        params = METHODS["promote"].params.model_validate({"shelf": shelf.name}, context=call.limits)
        # A call of its own: under the caller's idempotency key the purge is on record, not this.
        own = Call(
            METHODS["promote"], params, call.principal, call.request_id, Ticket(shelf.clock), run_id=draw_run_id()
        )
        for path in dict.fromkeys(
            path for note_id in (*note_ids, *changed) for path in shelf.view.promoted_to(note_id)
        ):
            ours = [row for row in shelf.view.promoted(path) if row.note_id in (*note_ids, *changed)]
            async with self._lock(f"shelf:{shelf.name}"), self._lock(f"file:{path}"):
                try:
                    await self._promote(shelf, own, path, dry_run=False, only_known=True)
                    text = await self._files.read(path) or b""
                except (LeftAlone, Unavailable):
                    left.append(path)
                    continue
            # A line that a person has changed is theirs, and stays.
            written = {row.note_id: row.line.encode() for row in shelf.view.promoted(path)}
            lines = frozenset(text.splitlines())
            if any(written.get(row.note_id) not in lines and _title(row) in text for row in ours):
                left.append(path)
        return left

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
                plan = await self._plan(shelf, target.path, old, only_known=False)
            except LeftAlone as refusal:
                return no_preview(Target(None, str(refusal)), budget)
        return preview_of(shelf, target.path, plan.merged, plan.recorded, budget)

    def _lock(self, name: str) -> asyncio.Lock:
        return self._locks.setdefault(name, asyncio.Lock())

    async def _promote(
        self, shelf: Shelf, call: Call, path: str, *, dry_run: bool, only_known: bool = False
    ) -> dict[str, Any]:
        for _ in range(_ATTEMPTS):
            plan = await self._plan(shelf, path, await self._files.read(path), only_known=only_known)
            if dry_run:
                return _result(plan)
            if plan.new is not None and plan.changes_file and not await self._files.replace(path, plan.old, plan.new):
                continue
            return await _record(shelf, call, plan)
        raise Unavailable(
            "MEMORY.md is being changed by somebody else; nothing was written, try again", file="MEMORY.md"
        )

    async def _plan(self, shelf: Shelf, path: str, old: bytes | None, *, only_known: bool) -> _Plan:
        text, now = _decoded(old), shelf.clock.now()
        notes, recorded = await _candidates(shelf), shelf.view.promoted(path)
        if only_known:
            known = {row.note_id for row in recorded}
            notes = [note for note in notes if note.id in known]
        usage = shelf.usage.of(notes)
        existing = {note.id for note in notes} | shelf.view.notes([row.note_id for row in recorded]).keys()

        def merged_text() -> Merged:
            entries = entries_of(notes, usage, now=now)
            return merge(text, entries, recorded, existing=existing, characters=self._characters, now=now)

        # On a thread, because a shelf may have thousands of such notes and a person's file a thousand headings.
        merged = await asyncio.to_thread(merged_text)
        new = None if merged.text is None else merged.text.encode()
        first_time = (note.id for note in notes if note.id in merged.promoted and "promoted_at" not in note.extra)
        return _Plan(path, old, new, recorded, merged, tuple(first_time))


async def _candidates(shelf: Shelf) -> list[Note]:
    """The visible notes that enough sessions used, counting what became part of them."""
    notes = {note.row: note for note in shelf.view.notes_with_hits(MIN_HITS)}
    after = ""
    while ids := shelf.view.merge_targets(after=after, limit=_TARGETS_AT_ONCE):
        targets = [note for note in shelf.view.notes(ids).values() if not note.hidden and note.superseded_by is None]
        usage = shelf.usage.of(targets)
        notes |= {note.row: note for note in targets if note.row in usage and usage[note.row].hits >= MIN_HITS}
        after = ids[-1]
        await asyncio.sleep(0)
    return [notes[row] for row in sorted(notes)]


def _title(row: Promoted) -> bytes:
    """What a line of ours begins with behind its bullet, whatever became of the rest."""
    return row.line.partition("**: ")[0].removeprefix("- ").encode()


def _decoded(data: bytes | None) -> str | None:
    if data is None:
        return None
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise LeftAlone("MEMORY.md is not UTF-8; it was left alone") from None


async def _record(shelf: Shelf, call: Call, plan: _Plan) -> dict[str, Any]:
    """Put on the shelf's record what is in the file now; return the result."""
    result = _result(plan)

    def apply(tx: Transaction, _params: object, _call: Call) -> Outcome:
        if list(plan.merged.manifest) != plan.recorded:
            # A note may have gone since the file was read: no copy of its text stays behind.
            rows = [row for row in plan.merged.manifest if not row.note_id or tx.rows.note(row.note_id) is not None]
            tx.rows.put_promoted(plan.path, rows)
        for note_id in plan.first_time:
            note = tx.rows.note(note_id)
            if note is not None:
                marked = note._replace(extra={**note.extra, "promoted_at": tx.now})
                tx.change_note(note, marked, kind="note.promoted")
        if plan.changes_file or plan.first_time:
            told = {name: value for name, value in result.items() if name not in ("path", "reason")}
            tx.log(LogEntry("promotion.completed", None, (), None, told))
        return result

    if plan.is_settled and getattr(call.params, "idempotency_key", None) is None and call.repeat is None:
        return result
    # The file is written: nothing may take the record of it back any more.
    changed = await shelf.change(replace(call, ticket=Ticket(shelf.clock)), apply)
    log.info("promotion.completed", shelf=shelf.name, run_id=call.run_id, **_counts(plan.merged))
    return dict(changed.outcome)


def _counts(merged: Merged) -> dict[str, int]:
    return {
        "added": merged.added,
        "updated": merged.updated,
        "removed": merged.removed,
        "fell_out": merged.fell_out,
    }


def _result(plan: _Plan) -> dict[str, Any]:
    return {**_counts(plan.merged), "path": plan.path, "sections": plan.merged.sections}


def _nothing(target: Target) -> dict[str, Any]:
    return {
        "added": 0,
        "updated": 0,
        "removed": 0,
        "fell_out": 0,
        "path": None,
        "sections": {},
        "reason": target.reason,
    }
