"""A question to all nuggets: their sketches say which are likely to know, and only those are asked."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from shelfd.memory.fhrr.codec import Answer, Options
from shelfd.memory.fhrr.facts import FactMemory, folded_key
from shelfd.memory.fhrr.sketch import Sketch, Sketches

_ASKED = 24  #: nuggets that are asked in the end, at most
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
        if self._memories.pop(nugget, None) is None:
            return False
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
        self._memories[name] = self._memories.pop(nugget)
        self._sketch[name] = self._sketch.pop(nugget)
        self._sketch[name].rename(name)

    def put(self, nugget: str, row: str, key: str, value: str, aliases: Sequence[str] = ()) -> None:
        """Keep a fact in *nugget*, as :meth:`FactMemory.put` does; opens it with the usual options if need be."""
        if nugget not in self._memories:
            self.open(nugget)
        self._memories[nugget].put(row, key, value, aliases)

    def remove(self, nugget: str, row: str) -> bool:
        """Forget a fact of *nugget*; tell whether there was one."""
        memory = self._memories.get(nugget)
        return memory is not None and memory.remove(row)

    def recall(self, query: str, nuggets: Sequence[str] | None = None) -> NamedAnswer | None:
        """Return the most confident answer, of the nugget that came first among equals; ``None`` if there is none.

        Args:
            query: A key, or words like one.
            nuggets: Whom to ask; ``None`` asks those that are likely to know.
        """
        asked = self._memories if nuggets is None else [name for name in nuggets if name in self._memories]
        folded = folded_key(query)
        exact = _best((name, self._memories[name].exact(folded)) for name in asked)
        if exact is not None:
            return exact
        if nuggets is not None:
            return _best((name, self._memories[name].like(query)) for name in asked)
        likely = self.likely(query)
        best = _best((name, self._memories[name].like(query)) for name in likely[:_FIRST])
        if best is not None and best.answer.confidence >= _SETTLED:
            return best
        rest = _best((name, self._memories[name].like(query)) for name in likely[_FIRST:])
        return max(
            (answer for answer in (best, rest) if answer), key=lambda given: given.answer.confidence, default=None
        )

    def likely(self, query: str, count: int = _ASKED) -> list[str]:
        """Return at most *count* nuggets whose keys may be like *query*, likeliest first."""
        return self._sketches.likely(query, count)

    def renew(self) -> None:
        """Compute what changed of the sketches; otherwise the next question to all does it, 0.3 ms per ten keys."""
        self._sketches.renew()


def _best(answers: Iterable[tuple[str, Answer | None]]) -> NamedAnswer | None:
    best: NamedAnswer | None = None
    for nugget, answer in answers:
        if answer is not None and (best is None or answer.confidence > best.answer.confidence):
            best = NamedAnswer(nugget, answer)
    return best
