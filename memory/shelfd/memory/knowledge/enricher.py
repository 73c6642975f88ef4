"""Follows a shelf's log and keeps its entities: in the background, in batches, after the callers."""
# A port's method is its docstring; there is nothing to return.
# pyright: reportReturnType=false

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from datetime import timedelta
from typing import Any, Final, Protocol, TypeAlias

import structlog

from shelfd.memory.errors import ShelfError
from shelfd.memory.knowledge.entities.kinds import related_types
from shelfd.memory.knowledge.entities.own import own_types, rules_of
from shelfd.memory.knowledge.position import BATCH, KnownAliases, Position, position_now
from shelfd.memory.notes.note import Note
from shelfd.memory.ports.entities import Enrichment, EntityNames, MentionedEntity, ReadSoFar
from shelfd.memory.ports.store import Applied
from shelfd.memory.shelf.shelf import Shelf

log = structlog.get_logger("shelfd.memory")

#: How long other tasks have the loop for themselves when what reads notes gives way: a request takes several turns of
#: it, and would wait in each. Longer if somebody asks meanwhile.
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


class NoteReader(Protocol):
    """Reads notes for their entities."""

    async def step(self) -> None:
        """Derive the entities of the next batch of notes, and store them."""

    async def mentioned(self, notes: Sequence[Note]) -> Sequence[Sequence[MentionedEntity]]:
        """Return what each of some notes mentions."""


#: Makes what reads the notes of a shelf with these aliases, and gives way to others by that.
Reading: TypeAlias = Callable[[KnownAliases, Callable[[], Awaitable[None]]], NoteReader]


class Enricher(Enrichment):
    """Keeps the entities of one open shelf.

    It writes transactions of its own, of which only conflicts are in the log. What it has done is stored with how far
    it is; after a crash it goes on there. It waits until nobody changes anything, unless somebody asks for entities.

    Args:
        shelf: The shelf.
        reading: Makes what reads its notes; called on another thread, for it has much to load.
    """

    def __init__(self, shelf: Shelf, reading: Reading) -> None:
        self._shelf = shelf
        self._reading = reading
        self._reader: NoteReader | None = None
        self._view = shelf.view
        self._rules = rules_of(own_types(shelf.settings.entity_rules))
        self._working = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None
        self._awaiting = 0  # calls that wait for entities
        self._hastened = 0  # the last change of which somebody wanted to know what it mentions
        self._last_seq = 0
        self._quiet_at = -1, -1  # the last change and question, if nothing came for a while after them
        self._aliases = KnownAliases(shelf.view)
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
            self._hastened = 0
        finally:
            self._task = None

    async def _until_quiet(self) -> None:
        """Wait until no change and no question came for a while, but not for ever, nor if somebody has asked for it."""
        await self._shelf.clock.sleep(_REST)
        done = self._position()
        is_much = self._view.log.last_seq - (0 if done.is_scanning else done.seq) > BATCH
        for waited in range(1, _PATIENCE + 1):
            seen = self._last_seq, self._shelf.retrievals
            if seen == self._quiet_at or self._is_hastened(self._position()):
                return
            await self._shelf.clock.sleep(_QUIET)
            now = self._last_seq, self._shelf.retrievals
            if now == seen or (now[0] == seen[0] and waited >= (_PATIENCE if is_much else _PATIENCE_WHEN_ASKED)):
                self._quiet_at = now
                return

    def hasten(self) -> None:
        """Go on in the background without waiting for others to be quiet. See the port."""
        self._hastened = self._view.log.last_seq
        self.wake()

    def _is_hastened(self, position: Position) -> bool:
        return self._is_behind(position, self._hastened) and self._hastened > 0

    async def reach(self, *, most: int | None = None, seq: int | None = None) -> None:
        """Derive what is left of all that is committed by now. See the port."""
        goal = self._view.log.last_seq if seq is None else min(seq, self._view.log.last_seq)
        if most is not None and self._left(self._position(), goal) > most:
            return
        self._awaiting += 1
        try:
            while self._is_behind(self._position(), goal):
                async with self._working:
                    if self._is_behind(self._position(), goal):
                        await self._step()
        finally:
            self._awaiting -= 1

    def _position(self) -> Position:
        return position_now(self._view, self._rules)

    def _is_behind(self, position: Position, goal: int) -> bool:
        return self._left(position, goal) > 0

    def _left(self, position: Position, goal: int) -> int:
        """About how many changes are left to be read, and notes to be read again."""
        if position.rules != self._rules:
            return goal
        again = 0 if not position.is_scanning else 1 + (goal if position.below is None else position.below)
        return max(goal - position.seq, 0) + again

    def read_so_far(self) -> ReadSoFar:
        """Return how far notes were read. See the port."""
        position, goal = self._position(), self._view.log.last_seq
        return ReadSoFar(min(position.seq, goal), 1 - min(self._left(position, goal) / max(goal, 1), 1.0))

    # ------------------------------------------------------------ what

    async def _step(self) -> None:
        """Have the next batch of notes read."""
        await (await self._loaded()).step()

    async def mentioned(self, notes: Sequence[Note]) -> Sequence[Sequence[MentionedEntity]]:
        """Return what each of some notes mentions. See the port."""
        return await (await self._loaded()).mentioned(notes)

    async def _loaded(self) -> NoteReader:
        if self._reader is None:
            self._reader = await asyncio.to_thread(self._reading, self._aliases, self._give_way)
        return self._reader

    async def _give_way(self) -> None:
        is_asked = self._shelf.retrievals != self._quiet_at[1] and not self._is_hastened(self._position())
        if self._awaiting:
            await asyncio.sleep(0)
        else:
            await self._shelf.clock.sleep(_PAUSE_WHEN_ASKED if is_asked else _PAUSE)

    # --------------------------------------------------------- aliases

    def canonical(self, type_: str, value: str) -> str:
        """Return the name that stands for *value*, as it is shown. See the port."""
        return self._aliases.now().canonical(type_, value)

    def same(self, type_: str, value: str) -> Sequence[tuple[str, str]]:
        """Return type and canonical form of everything that *value* is known by. See the port."""
        return self._aliases.now().same(type_, value)

    def spellings(self, type_: str, value: str) -> Collection[str]:
        """Return how a text may write *value*. See the port."""
        return self._aliases.now().spellings(type_, value)

    def is_alias(self, type_: str, value: str) -> bool:
        """Return whether *value* is known as another name of something. See the port."""
        return self._aliases.now().meant_by(type_, value) is not None

    def accented(self, type_: str, value: str) -> str | None:
        """Return the name of an alias with other accents. See the port."""
        return self._aliases.now().accented(type_, value)

    def names(self) -> EntityNames:
        """Return which names mean the same as of now. See the port."""
        return self._aliases.now()

    def other_names(self, text: str) -> Sequence[tuple[str, str]]:
        """Return names in *text*, each with another that means the same and that notes mention. See the port."""
        aliases = self._aliases.last if self._aliases.is_read else self._aliases.now()  # a moment old at worst
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
