"""A shelf's facts in its holographic memory, which finds them by keys that are like theirs."""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache

from shelfd.memory.facts import THRESHOLD, Broadcast, FactAnswer, Options
from shelfd.memory.notes.filter import NoteFilter
from shelfd.memory.notes.note import Note, Nugget
from shelfd.memory.ports.view import View
from shelfd.memory.shelf.following import Follower, Spawn

#: Facts taken in without giving others a turn: some 0.3 ms.
_AT_ONCE = 8
#: Longer values are kept as their hash: the memory only needs to tell them apart, and rows answer.
_LONGEST = 64
_USUAL = Options()


class ShelfFacts:
    """The visible facts of all nuggets of a shelf. Knows none before it is first asked.

    What it finds is a row's id: what the row says, and whether a caller may see it, is for the row to tell.
    """

    def __init__(self, view: View, spawn: Spawn) -> None:
        self._view = view
        self._broadcast = Broadcast()
        self._follower = Follower(view, self._scan, self._take, at_once=_AT_ONCE, spawn=spawn, name="facts")

    def __len__(self) -> int:
        return len(self._broadcast)

    def changed(self, note: Note) -> None:
        """Say that a note changed, came or went."""
        if note.key is not None:
            self._follower.changed(note.id)

    def forget(self, note_id: str) -> None:
        """Let go of a note at once."""
        self._broadcast.remove(note_id)

    def catch_up(self) -> bool:
        """Take in a slice of what is missing; return whether all is known now. What is left follows behind."""
        complete = self._follower.catch_up()
        if not complete:
            self._follower.go_on()
        return complete

    async def complete(self) -> None:
        """Take in all that is missing, giving others a turn after every slice."""
        await self._follower.complete()

    def nearest(
        self, query: str, nugget: str | None, admits: Callable[[str], bool], *, least: float = 0.0
    ) -> FactAnswer | None:
        """Return the fact that answers *query*, of those known so far; ``None`` if none does.

        Args:
            query: A key, an alias, or words like those of one.
            nugget: Whom to ask; ``None`` asks all.
            admits: Tells by a fact's id whether it may be the answer.
            least: How sure a key that is only like the query must be, if more than usual.
        """
        return self._broadcast.recall(query, nugget, admits, least=max(least, THRESHOLD))

    def confirms(self, note: Note) -> bool:
        """Return whether the bank of a fact gives its value back for its key, no list and no row consulted.

        Up to the nugget's capacity it does; beyond it the banks forget, and the fact is known by its row alone.
        """
        return note.id in self._broadcast and self._broadcast.echo(note.id).confirmed

    def _scan(self) -> Iterator[Sequence[Note]]:
        name = ""
        while nuggets := self._view.nuggets.page(after=name, limit=1):
            name = nuggets[0].name
            after: tuple[int, int] | None = None
            while facts := self._page(name, after):
                after = (0, facts[-1].row)
                yield facts
            yield ()  # nuggets without facts take their time too

    def _page(self, nugget: str, after: tuple[int, int] | None) -> list[Note]:
        wanted = NoteFilter(nugget=nugget, kind="fact", include_superseded=False)
        return self._view.notes.page(wanted, order="row", descending=False, after=after, limit=_AT_ONCE)

    def _take(self, note_id: str, note: Note | None) -> None:
        if note is None or note.key is None or note.hidden or note.superseded_by is not None:
            self._broadcast.remove(note_id)
            return
        # A key is one fact's in the store, so what says otherwise here is out of date; its own change is on the way.
        other = self._broadcast.row_of(note.nugget, note.title)
        if other not in (None, note_id):
            self._broadcast.remove(other)
        nugget = None if note.nugget in self._broadcast.nuggets else self._view.nuggets.get(note.nugget)
        self._broadcast.put(
            note.nugget,
            note_id,
            note.title,
            _told_apart(note.content),
            note.extra.aliases,
            _USUAL if nugget is None else options_of(nugget),
        )


def options_of(nugget: Nugget) -> Options:
    """Return the shape of a nugget's memory."""
    return _options(nugget.dimension, nugget.banks, nugget.ensembles, nugget.max_facts)


_options = lru_cache(Options)  # most nuggets have the same


def _told_apart(value: str) -> str:
    if len(value) <= _LONGEST:
        return value
    return hashlib.blake2b(value.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
