"""Follows a shelf's log and keeps its entities: in the background, in batches, after the callers."""
# A port's method is its docstring; there is nothing to return.
# pyright: reportReturnType=false

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any, Final, NamedTuple, Protocol

import structlog

from shelfd.memory.errors import ShelfError, traced
from shelfd.memory.knowledge.deriving import Derived, prepare, steps_of
from shelfd.memory.knowledge.entities.aliases import ALIASES_KNOWN, Aliases
from shelfd.memory.knowledge.entities.extract import RULES_VERSION
from shelfd.memory.knowledge.entities.kinds import folded, related_types
from shelfd.memory.knowledge.entities.own import own_types
from shelfd.memory.knowledge.evolution.applying import contest, state, store_held
from shelfd.memory.knowledge.graph.edges import text_of
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.notes.note import Note
from shelfd.memory.ports.edges import NoteEdges
from shelfd.memory.ports.entities import Enrichment, EntityNames, NoteEntities
from shelfd.memory.ports.log import LogRow, Origin
from shelfd.memory.ports.projection import PURGED
from shelfd.memory.ports.store import Applied
from shelfd.memory.shelf.shelf import Shelf

log = structlog.get_logger("shelfd.memory")

_SKIPPED: Final = Derived(Note())
#: Changes, or notes, of one batch.
_BATCH: Final = 256
#: Mentions written in one transaction: some milliseconds.
_MENTIONS: Final = 400
#: How long notes are read without giving way to other tasks, and how long these then have the loop for themselves: a
#: request takes several turns of it, and would wait in each. Longer if somebody asks meanwhile.
_TURN_S: Final = 0.002
_PAUSE, _PAUSE_WHEN_ASKED = timedelta(milliseconds=2), timedelta(milliseconds=20)
#: Nothing is done until no change and no question came for so long; while changes keep coming, one batch after each so
#: many of these, and while only questions do, after fewer if one is all there is to do.
_QUIET: Final = timedelta(milliseconds=400)
_PATIENCE: Final = 25
_PATIENCE_WHEN_ASKED: Final = 5
#: Between two batches.
_REST: Final = timedelta(milliseconds=5)
_RETRY: Final = timedelta(seconds=10)
#: Other names that a query is asked with, at most, for each that it has.
_OTHER_NAMES: Final = 3
_ORIGIN: Final = Origin("shelfd", "entities.derive")


class _Position(NamedTuple):
    """How far the shelf was read.

    Attributes:
        seq: The last change of the log whose notes were read.
        rules: By which rules, those of the configuration included.
        is_scanning: Whether notes are read again, newest first, for rules or aliases changed.
        below: Those with a row below this one are left to be read again; None begins at the newest.
        phrases: Only notes with one of these are read again, folded; empty for all.
        aliases: How often the aliases changed.
    """

    seq: int = 0
    rules: str = ""
    is_scanning: bool = False
    below: int | None = None
    phrases: tuple[str, ...] = ()
    aliases: int = 0


def _position_of(stored: Mapping[str, Any] | None) -> _Position:
    if stored is None:
        return _Position()
    return _Position(**{**stored, "rules": str(stored["rules"]), "phrases": tuple(stored["phrases"])})


def read_again(tx: Transaction, phrases: Sequence[str]) -> None:
    """Have every note read again that has one of *phrases*, after an alias was given or taken back."""
    position = _position_of(tx.rows.entities.position())
    known: tuple[str, ...] = ()
    if not position.is_scanning or position.phrases:
        known = tuple(dict.fromkeys((*position.phrases, *(folded(phrase) for phrase in phrases))))
    renewed = position._replace(is_scanning=True, below=None, phrases=known, aliases=position.aliases + 1)
    tx.rows.entities.put_position(renewed._asdict())


def aliases_changed(tx: Transaction) -> None:
    """Have aliases be looked up anew, after some went that no note is left to be read by."""
    position = _position_of(tx.rows.entities.position())
    tx.rows.entities.put_position(position._replace(aliases=position.aliases + 1)._asdict())


class _Batch(NamedTuple):
    """Notes that are derived together.

    Attributes:
        began: Where it began.
        position: Where it ends.
        seen: The last change when its notes were read.
        later: What a model is to do with some of them.
    """

    began: _Position
    position: _Position
    seen: int
    later: Mapping[str, Sequence[int]]


class Later(Protocol):
    """Has a language model read new notes."""

    def wanted(self, notes: Iterable[Note], rows: Sequence[LogRow]) -> Mapping[str, Sequence[int]]:
        """Return what it is to do with which of *notes*, by what happened to them; nothing if nothing."""

    def begin(self, tx: Transaction, wanted: Mapping[str, Sequence[int]]) -> str:
        """Add the job that does what is *wanted*; return its id."""

    def started(self, job_id: str) -> None:
        """Start a job that is durable now."""


class Enricher(Enrichment):
    """Keeps the entities of one open shelf.

    It writes transactions of its own, of which only conflicts are in the log. What it has done is stored with how far
    it is; after a crash it goes on there. It waits until nobody changes anything, unless somebody asks for entities.

    Args:
        shelf: The shelf.
        later: Has a model read new notes after the rules, if there is one.
    """

    def __init__(self, shelf: Shelf, later: Later | None = None) -> None:
        self._shelf = shelf
        self._later = later
        self._view = shelf.view
        self._types = own_types(shelf.settings.entity_rules)
        self._rules = f"{RULES_VERSION}.{self._types.version}"
        self._working = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None
        self._awaiting = 0  # calls that wait for entities
        self._last_seq = 0
        self._quiet_at = -1, -1  # the last change and question, if nothing came for a while after them
        self._aliases = Aliases(())
        self._aliases_read = -1
        shelf.at_close(shelf.store.follow(self._followed))

    # ------------------------------------------------------------ when

    def _followed(self, group: Sequence[Applied[Any]]) -> None:
        if (last_seq := group[-1].last_seq) > self._last_seq:
            self._last_seq = last_seq
            if self._task is None:
                self._start()

    def wake(self) -> None:
        """Go on in the background with what is left to do. See the port."""
        self._last_seq = self._view.log.last_seq
        if self._task is None and self._is_behind(self._position(), self._last_seq):
            self._start()

    def _start(self) -> None:
        self._task = self._shelf.spawn(self._work(), "entities")

    async def _work(self) -> None:
        try:
            while self._is_behind(self._position(), self._view.log.last_seq):
                await self._until_quiet()
                try:
                    async with self._working:
                        await self._step()
                except ShelfError as error:
                    log.warning("entities.derive_failed", shelf=self._shelf.name, error=type(error).__name__)
                    await self._shelf.clock.sleep(_RETRY)
        finally:
            self._task = None

    async def _until_quiet(self) -> None:
        """Wait until no change and no question came for a while, but not for ever."""
        await self._shelf.clock.sleep(_REST)
        done = self._position()
        is_much = self._view.log.last_seq - (0 if done.is_scanning else done.seq) > _BATCH
        for waited in range(1, _PATIENCE + 1):
            seen = self._last_seq, self._shelf.retrievals
            if seen == self._quiet_at:
                return
            await self._shelf.clock.sleep(_QUIET)
            now = self._last_seq, self._shelf.retrievals
            if now == seen or (now[0] == seen[0] and waited >= (_PATIENCE if is_much else _PATIENCE_WHEN_ASKED)):
                self._quiet_at = now
                return

    async def reach(self) -> None:
        """Derive what is left of all that is committed by now. See the port."""
        goal = self._view.log.last_seq
        self._awaiting += 1
        try:
            while self._is_behind(self._position(), goal):
                async with self._working:
                    if self._is_behind(self._position(), goal):
                        await self._step()
        finally:
            self._awaiting -= 1

    def _position(self) -> _Position:
        stored = self._view.entities.position()
        return _Position(rules=self._rules) if stored is None else _position_of(stored)

    def _is_behind(self, position: _Position, goal: int) -> bool:
        if position.is_scanning or position.seq < goal:
            return True
        return position.rules != self._rules and goal > 0

    # ------------------------------------------------------------ what

    async def _step(self) -> None:
        """Derive the entities of the next batch of notes."""
        await self._shelf.commit(_ORIGIN, store_held)  # what was read with a note need not be read again
        began, last_seq = self._position(), self._view.log.last_seq
        position = began
        later: Mapping[str, Sequence[int]] = {}
        if position.rules != self._rules or self._view.log.first_seq > position.seq + 1:
            # Other rules, or the log no longer reaches back.
            position = _Position(last_seq, self._rules, is_scanning=True, aliases=began.aliases)
        if position.seq < last_seq:
            rows = self._view.log.page(since_seq=position.seq, limit=_BATCH)
            wanted = sorted({row.row for row in rows if _says_something(row) and row.row is not None})
            notes: Sequence[Note] = list(self._view.notes.by_rows(wanted).values())
            position = position._replace(seq=rows[-1].seq)
            later = {} if self._later is None else self._later.wanted(notes, rows)
            if any(row.kind == PURGED for row in rows):
                self._aliases_read = -1  # what a purged note said of names went with it
        else:
            notes = self._view.notes.scan(before_row=position.below, limit=_BATCH)
            if notes:
                position = position._replace(below=notes[-1].row)
            else:
                position = position._replace(is_scanning=False, below=None, phrases=())
            if position.phrases:
                notes = [note for note in notes if _has_any(note, position.phrases)]
        await self._derive(notes, _Batch(began, position, last_seq, later))

    async def _derive(self, notes: Sequence[Note], batch: _Batch) -> None:
        """Derive the entities of *notes*; store them and then the position."""
        if notes and not prepare.cache_info().currsize:
            await asyncio.to_thread(prepare)
        waiting: list[Derived] = []
        aliases = self.aliases
        count, until = 0, self._shelf.clock.monotonic() + _TURN_S
        for note in notes:
            is_stated = not batch.began.is_scanning and self._view.statements.rev(note.row) == note.rev
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

    async def _give_way(self) -> None:
        is_asked = self._shelf.retrievals != self._quiet_at[1]
        if self._awaiting:
            await asyncio.sleep(0)
        else:
            await self._shelf.clock.sleep(_PAUSE_WHEN_ASKED if is_asked else _PAUSE)

    def _next(self, derivation: Iterator[Derived | None], note: Note) -> Derived | None:
        try:
            return next(derivation)
        except Exception as error:  # noqa: BLE001 - a note that rules stumble over must not keep the others waiting
            log.error("entities.note_skipped", shelf=self._shelf.name, row=note.row, **traced(error))
            return _SKIPPED

    async def _store(self, derived: Sequence[Derived], batch: _Batch, *, is_last: bool) -> None:
        changed = [name for one in derived for name in self._aliases.changed(one.note.row, one.learned)]

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
            if not batch.began.is_scanning:  # they are in order, and all older ones were read
                contest(tx, said)
            if is_last:
                self._store_position(tx, batch)
            if changed:  # other notes may mention what one of these gave another name, or no longer does
                read_again(tx, changed)
            if is_last and batch.later and self._later is not None:
                return self._later.begin(tx, batch.later)
            return None

        job_id = (await self._shelf.commit(_ORIGIN, apply)).value
        if job_id is not None and self._later is not None:
            self._later.started(job_id)

    def _store_position(self, tx: Transaction, batch: _Batch) -> None:
        position, stored = batch.position, _position_of(tx.rows.entities.position())
        if stored[2:] != batch.began[2:]:  # an alias was given meanwhile
            position = stored._replace(seq=position.seq, rules=position.rules)
        tx.rows.entities.put_position(position._asdict())

    # --------------------------------------------------------- aliases

    @property
    def aliases(self) -> Aliases:
        """The aliases of the shelf as they are now."""
        times = self._position().aliases
        if times != self._aliases_read:
            self._aliases = Aliases(self._view.entities.aliases(limit=ALIASES_KNOWN))
            self._aliases_read = times
        return self._aliases

    def canonical(self, type_: str, value: str) -> str:
        """Return the name that stands for *value*, as it is shown. See the port."""
        return self.aliases.canonical(type_, value)

    def same(self, type_: str, value: str) -> Sequence[tuple[str, str]]:
        """Return type and canonical form of everything that *value* is known by. See the port."""
        return self.aliases.same(type_, value)

    def names(self) -> EntityNames:
        """Return which names mean the same as of now. See the port."""
        return self.aliases

    def other_names(self, text: str) -> Sequence[tuple[str, str]]:
        """Return names in *text*, each with another that means the same and that notes mention. See the port."""
        aliases = self.aliases if self._aliases_read < 0 else self._aliases  # a moment old at worst
        if not aliases.may_name(text):
            return ()
        get = self._view.entities.get
        found: list[tuple[str, str]] = []
        for said, type_, key in aliases.in_text(text):
            root, *others = aliases.group(type_, key)
            names = [root] if root != key else []
            names += [other for other in others if other != key and any(get(t, other) for t in related_types(type_))]
            found += [(said, aliases.spelled(type_, name)) for name in names[:_OTHER_NAMES]]
        return found


def _says_something(row: LogRow) -> bool:
    return row.kind.startswith("note.") and row.kind != PURGED


def _has_any(note: Note, phrases: Sequence[str]) -> bool:
    text = folded(f"{note.title} {' '.join(note.tags)} {note.content}")
    bare = text.replace("-", " ")
    return any(phrase in text or phrase.replace("-", " ") in bare for phrase in phrases)
