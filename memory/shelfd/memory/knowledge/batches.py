"""Reads notes for their entities, a batch at a time, and stores what is found with how far that is.

With this module all rules are imported: nothing that the daemon's start imports may import it.
"""
# A port's method is its docstring; there is nothing to return.
# pyright: reportReturnType=false

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple, Protocol

import structlog

from shelfd.memory.errors import traced
from shelfd.memory.knowledge.deriving import Derived, prepare, steps_of
from shelfd.memory.knowledge.entities.kinds import folded
from shelfd.memory.knowledge.entities.own import own_types, rules_of
from shelfd.memory.knowledge.evolution.applying import state, store_held
from shelfd.memory.knowledge.evolution.contesting import contest, contest_again
from shelfd.memory.knowledge.evolution.settling import settle
from shelfd.memory.knowledge.graph.edges import text_of
from shelfd.memory.knowledge.position import BATCH, KnownAliases, Position, position_now, position_of, read_again
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.notes.note import QUARANTINED, Note
from shelfd.memory.ports.edges import NoteEdges
from shelfd.memory.ports.entities import MentionedEntity, NoteEntities
from shelfd.memory.ports.log import LogRow, Origin
from shelfd.memory.ports.projection import PURGED
from shelfd.memory.shelf.shelf import Shelf

log = structlog.get_logger("shelfd.memory")

_SKIPPED: Final = Derived(Note())
#: Mentions written in one transaction: some milliseconds.
_MENTIONS: Final = 400
#: How long notes are read without giving way to other tasks.
_TURN_S: Final = 0.002
#: Fields of a note that make no difference to what it says, nor to whether it counts.
_BESIDE: Final = frozenset((
    "title", "tags", "source", "confidence", "stability", "domain", "tier", "importance", "turn", "seq_to", "pinned",
    "extra",
))  # fmt: skip
_ORIGIN: Final = Origin("shelfd", "entities.derive")


class _Batch(NamedTuple):
    """Notes that are derived together.

    Attributes:
        began: Where it began.
        position: Where it ends.
        seen: The last change when its notes were read.
        later: What a model is to do with some of them.
        changed: Rows of those that were there before.
        otherwise: Rows of those of them that may say something else now, or count again.
        over: Ids of notes of which a conflict is over, other than since somebody said that both are so.
        is_following: Whether it is the next of the log, and not notes that are read again.
    """

    began: Position
    position: Position
    seen: int
    later: Mapping[str, Sequence[int]]
    changed: Collection[int] = ()
    otherwise: Collection[int] = ()
    over: Collection[str] = ()
    is_following: bool = False


class Later(Protocol):
    """Has a language model read new notes."""

    def wanted(self, notes: Iterable[Note], rows: Sequence[LogRow]) -> Mapping[str, Sequence[int]]:
        """Return what it is to do with which of *notes*, by what happened to them; nothing if nothing."""

    def begin(self, tx: Transaction, wanted: Mapping[str, Sequence[int]]) -> str:
        """Add the job that does what is *wanted*; return its id."""

    def started(self, job_id: str) -> None:
        """Start a job that is durable now."""


class Batches:
    """Reads the notes of one open shelf. To make it takes some 0.1 s, and is for a thread.

    Args:
        shelf: The shelf.
        aliases: Its aliases.
        give_way: Waits while others have the loop for themselves.
        later: Has a model read new notes after the rules, if there is one.
    """

    def __init__(
        self,
        shelf: Shelf,
        aliases: KnownAliases,
        give_way: Callable[[], Awaitable[None]],
        later: Later | None = None,
    ) -> None:
        self._shelf = shelf
        self._aliases = aliases
        self._give_way = give_way
        self._later = later
        self._types = own_types(shelf.settings.entity_rules)
        self._rules = rules_of(self._types)
        prepare()

    async def step(self) -> None:
        """Derive the entities of the next batch of notes, and store them."""
        await self._shelf.commit(_ORIGIN, store_held)  # what was read with a note need not be read again
        began, last_seq = position_now(self._shelf.view, self._rules), self._shelf.view.log.last_seq
        position = began
        later: Mapping[str, Sequence[int]] = {}
        changed: Collection[int] = ()
        otherwise: Collection[int] = ()
        over: Collection[str] = ()
        is_following = False
        if position.rules != self._rules or self._shelf.view.log.first_seq > position.seq + 1:
            # Other rules, or the log no longer reaches back.
            position = Position(last_seq, self._rules, is_scanning=True, aliases=began.aliases)
        if position.seq < last_seq:
            rows = self._shelf.view.log.page(since_seq=position.seq, limit=BATCH)
            wanted = sorted({row.row for row in rows if _says_something(row) and row.row is not None})
            changed = {row.row for row in rows if row.row is not None and row.before is not None}
            otherwise = {row.row for row in rows if row.row is not None and _says_otherwise(row)}
            over = {note_id for row in rows if _is_over(row) for note_id in row.ids}
            is_following = True
            notes: Sequence[Note] = list(self._shelf.view.notes.by_rows(wanted).values())
            position = position._replace(seq=rows[-1].seq)
            later = {} if self._later is None else self._later.wanted(notes, rows)
        else:
            notes = self._shelf.view.notes.scan(before_row=position.below, limit=BATCH)
            if notes:
                position = position._replace(below=notes[-1].row)
            else:
                position = position._replace(is_scanning=False, below=None, phrases=(), entities=())
            if notes and not position.is_reading_all:
                notes = self._concerned(notes, position)
        await self._derive(notes, _Batch(began, position, last_seq, later, changed, otherwise, over, is_following))

    async def mentioned(self, notes: Sequence[Note]) -> Sequence[Sequence[MentionedEntity]]:
        """Return what each of some notes mentions, without storing it."""
        found: list[Sequence[MentionedEntity]] = []
        aliases = self._aliases.now()
        if not aliases.has_names:
            await asyncio.to_thread(lambda: aliases.names)
        until = self._shelf.clock.monotonic() + _TURN_S
        for note in notes:
            derivation = steps_of(note, aliases, self._types, self._shelf.clock.now(), is_stated=True)
            while (derived := self._next(derivation, note)) is None:
                if self._shelf.clock.monotonic() >= until:
                    await asyncio.sleep(0)
                    until = self._shelf.clock.monotonic() + _TURN_S
            found.append(derived.mentioned)
        return found

    def _concerned(self, notes: Iterable[Note], position: Position) -> list[Note]:
        """Those of some notes that are to be read again."""
        entities = self._shelf.view.entities
        names = {(one.type, one.key) for one in entities.numbered(position.entities)}
        return [
            note
            for note in notes
            if _has_any(note, position.phrases)
            or (names and any((one.type, one.key) in names for one in entities.of_note(note.row)))
        ]

    async def _derive(self, notes: Sequence[Note], batch: _Batch) -> None:
        """Derive the entities of *notes*; store them and then the position."""
        waiting: list[Derived] = []
        aliases = self._aliases.now()
        if notes and not aliases.has_names:
            await asyncio.to_thread(lambda: aliases.names)
        count, until = 0, self._shelf.clock.monotonic() + _TURN_S
        for note in notes:
            is_stated = not batch.began.is_scanning and self._shelf.view.statements.rev(note.row) == note.rev
            derivation = steps_of(note, aliases, self._types, self._shelf.clock.now(), is_stated=is_stated)
            while (derived := self._next(derivation, note)) is None:
                if self._shelf.clock.monotonic() >= until:
                    await self._give_way()
                    until = self._shelf.clock.monotonic() + _TURN_S
            if derived is _SKIPPED:
                continue
            waiting.append(derived)
            count += 1 + len(derived.mentioned) + len(derived.edges)
            if count >= _MENTIONS:
                await self._store(waiting, batch, is_last=False)
                waiting, count = [], 0
                until = self._shelf.clock.monotonic() + _TURN_S
        await self._store(waiting, batch, is_last=True)

    def _next(self, derivation: Iterator[Derived | None], note: Note) -> Derived | None:
        try:
            return next(derivation)
        except Exception as error:  # noqa: BLE001 - a note that rules stumble over must not keep the others waiting
            log.error("entities.note_skipped", shelf=self._shelf.name, row=note.row, **traced(error))
            return _SKIPPED

    async def _store(self, derived: Sequence[Derived], batch: _Batch, *, is_last: bool) -> None:
        aliases = self._aliases.last

        def apply(tx: Transaction) -> str | None:
            now = None
            if tx.rows.log.last_seq != batch.seen:  # what changed meanwhile comes again, and what was purged must not
                now = tx.rows.notes.by_rows([one.note.row for one in derived])
            still = [
                one for one in derived if now is None or ((note := now.get(one.note.row)) and note.rev == one.note.rev)
            ]
            rows, texts = tx.rows, [text_of(one.note) for one in still]
            each = list(zip(still, texts, strict=True))
            rows.entities.put([NoteEntities(one.note.row, one.mentioned, one.learned, text) for one, text in each])
            rows.edges.put([NoteEdges(one.note.row, one.edges, text) for one, text in each])
            said = [(one.note, None if one.stated is None else state(tx, one.note, one.stated)) for one in still]
            if batch.is_following:  # they are in order, and all older ones were read
                contest(tx, said, batch.otherwise)
            over: set[int] = set()
            if batch.changed:
                over = settle(tx, [one.note for one in still if one.note.row in batch.changed])
            if is_last:
                over.update(note.row for note in tx.rows.notes.by_ids(list(batch.over)).values())
            contest_again(tx, over)
            if is_last:
                self._store_position(tx, batch)
            changed = [name for one in still for name in aliases.changed(one.note.row, one.learned)]
            if changed:  # other notes may mention what one of these gave another name, or no longer does
                read_again(tx, changed)
            if is_last and batch.later and self._later is not None:
                return self._later.begin(tx, batch.later)
            return None

        job_id = (await self._shelf.commit(_ORIGIN, apply)).value
        if job_id is not None and self._later is not None:
            self._later.started(job_id)

    def _store_position(self, tx: Transaction, batch: _Batch) -> None:
        position, stored = batch.position, position_of(tx.rows.entities.position())
        if stored[2:] != batch.began[2:]:  # an alias was given meanwhile
            position = stored._replace(seq=position.seq, rules=position.rules)
        tx.rows.entities.put_position(position._asdict())


def _says_something(row: LogRow) -> bool:
    return row.kind.startswith("note.") and row.kind != PURGED


def _says_otherwise(row: LogRow) -> bool:
    """Return whether a note may say something else since a change, or count again."""
    before = row.before
    if before is None:
        return False
    was_quarantined = "extra" in before and before["extra"].trust == QUARANTINED
    return was_quarantined or not _BESIDE.issuperset(before)


def _is_over(row: LogRow) -> bool:
    """Return whether a change says that a conflict is over, other than since both of its notes are so."""
    return row.kind == "conflict.resolved" and (row.before or {}).get("resolution") != "both"


def _has_any(note: Note, phrases: Sequence[str]) -> bool:
    text = folded(f"{note.title} {' '.join(note.tags)} {note.content}")
    bare = text.replace("-", " ")
    return any(phrase in text or phrase.replace("-", " ") in bare for phrase in phrases)
