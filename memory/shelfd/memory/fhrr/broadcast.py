"""A question to all nuggets: their sketches say which are likely to know, and only those are asked."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from shelfd.memory.fhrr.codec import Answer, Options
from shelfd.memory.fhrr.facts import Admits, FactMemory, folded_key
from shelfd.memory.fhrr.sketch import Sketch, Sketches

_ASKED = 32  #: nuggets that are asked in the end, at most
_FIRST = 4  #: nuggets that are asked first; the others only if these are not sure
_SETTLED = 0.8  #: confidence from which on they are


class NamedAnswer(NamedTuple):
    """An answer and the nugget that gave it."""

    nugget: str
    answer: Answer


class Broadcast:
    """The fact memories of many nuggets, asked one by one or all at once.

    All changes go through this object, so that the sketches follow.
    """

    def __init__(self) -> None:
        self._memories: dict[str, FactMemory] = {}
        self._sketches = Sketches()
        self._sketch: dict[str, Sketch] = {}
        self._holders: dict[str, tuple[str, ...]] = {}  #: nuggets that have a key or alias, by its folded form

    def __contains__(self, nugget: str) -> bool:
        return nugget in self._memories

    def __iter__(self) -> Iterator[str]:
        return iter(self._memories)

    def __len__(self) -> int:
        return len(self._memories)

    def __getitem__(self, nugget: str) -> FactMemory:
        """Return a nugget's memory, to be read, not to be written to.

        Raises:
            KeyError: If the nugget is not known.
        """
        return self._memories[nugget]

    def open(self, nugget: str, options: Options | None = None) -> None:
        """Begin an empty memory for *nugget*.

        Raises:
            ValueError: If it has one.
        """
        if nugget in self._memories:
            raise ValueError("the nugget has a memory")
        self._sketch[nugget] = Sketch(nugget, self._sketches)
        self._memories[nugget] = FactMemory(options, self._sketch[nugget])

    def drop(self, nugget: str) -> bool:
        """Forget *nugget* and all its facts; tell whether it was known."""
        memory = self._memories.pop(nugget, None)
        if memory is None:
            return False
        for name in memory.all_names():
            self._release(name, nugget)
        self._sketch.pop(nugget).clear()
        return True

    def rename(self, nugget: str, name: str) -> None:
        """Call *nugget* by another *name*, with all its facts.

        Raises:
            KeyError: If the nugget is not known.
            ValueError: If the name is taken.
        """
        if name in self._memories:
            raise ValueError("the name is taken")
        memory = self._memories[name] = self._memories.pop(nugget)
        for held in memory.all_names():
            self._holders[held] = tuple(name if holder == nugget else holder for holder in self._holders[held])
        self._sketch[name] = self._sketch.pop(nugget)
        self._sketch[name].rename(name)

    def put(self, nugget: str, row: str, key: str, value: str, aliases: Sequence[str] = ()) -> None:
        """Keep a fact in *nugget*, as :meth:`FactMemory.put` does; opens it with the usual options if need be."""
        if nugget not in self._memories:
            self.open(nugget)
        memory = self._memories[nugget]
        before = memory.names(row)
        memory.put(row, key, value, aliases)
        for name in memory.names(row):
            holders = self._holders.get(name, ())
            if nugget not in holders:
                self._holders[name] = (*holders, nugget)
        self._release_unheld(before, nugget)

    def remove(self, nugget: str, row: str) -> bool:
        """Forget a fact of *nugget*; tell whether there was one."""
        memory = self._memories.get(nugget)
        if memory is None:
            return False
        before = memory.names(row)
        removed = memory.remove(row)
        self._release_unheld(before, nugget)
        return removed

    def recall(
        self, query: str, nuggets: Sequence[str] | None = None, admits: Admits | None = None
    ) -> NamedAnswer | None:
        """Return the most confident answer, ``None`` if there is none; of equal ones, that of the first nugget.

        Args:
            query: A key, or words like one.
            nuggets: Whom to ask; ``None`` asks those that are likely to know.
            admits: Tells by a row's name whether it may be the answer; all may if not given.
        """
        folded = folded_key(query)
        holders = self._holders.get(folded, ())
        exact = _best(
            (name, self._memories[name].exact(folded, admits)) for name in holders if nuggets is None or name in nuggets
        )
        if exact is not None:
            return exact
        if nuggets is not None:
            asked = (name for name in nuggets if name in self._memories)
            return _best((name, self._memories[name].like(query, admits)) for name in asked)
        likely = self.likely(query)
        best = _best((name, self._memories[name].like(query, admits)) for name in likely[:_FIRST])
        if best is not None and best.answer.confidence >= _SETTLED:
            return best
        rest = _best((name, self._memories[name].like(query, admits)) for name in likely[_FIRST:])
        return max(
            (answer for answer in (best, rest) if answer), key=lambda given: given.answer.confidence, default=None
        )

    def likely(self, query: str, count: int = _ASKED) -> list[str]:
        """Return at most *count* nuggets whose keys may be like *query*, likeliest first."""
        return self._sketches.likely(query, count)

    def renew(self) -> None:
        """Compute what changed of the sketches; otherwise the next question to all does it, 0.3 ms per ten keys."""
        self._sketches.renew()

    def _release(self, name: str, nugget: str) -> None:
        left = tuple(holder for holder in self._holders[name] if holder != nugget)
        if left:
            self._holders[name] = left
        else:
            del self._holders[name]

    def _release_unheld(self, names: Iterable[str], nugget: str) -> None:
        for name in names:
            if not self._memories[nugget].has_name(name):
                self._release(name, nugget)


def _best(answers: Iterable[tuple[str, Answer | None]]) -> NamedAnswer | None:
    best: NamedAnswer | None = None
    for nugget, answer in answers:
        if answer is not None and (best is None or answer.confidence > best.answer.confidence):
            best = NamedAnswer(nugget, answer)
    return best
