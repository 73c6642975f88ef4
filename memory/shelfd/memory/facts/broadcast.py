"""The fact memories of many nuggets, asked one by one or all at once."""

from collections.abc import Iterator, Sequence
from itertools import count
from typing import NamedTuple

from shelfd.memory.facts.belief import Admits, exact_belief, likely_belief
from shelfd.memory.facts.codec import Answer, Options
from shelfd.memory.facts.confidence import THRESHOLD
from shelfd.memory.facts.fact import Fact
from shelfd.memory.facts.facts import FactMemory, folded_key
from shelfd.memory.facts.keys import Keys


class NamedAnswer(NamedTuple):
    """An answer and the nugget that gave it."""

    nugget: str
    answer: Answer


class Broadcast:
    """The fact memories of many nuggets, asked one by one or all at once.

    Their keys are kept together. A nugget's *sketch* is the superposition of its keys, left in parts like these; so
    one look at the words of a query tells which nuggets know of them, and which of their keys to compare. What is as
    like the query in another nugget is a rival, as it would be in the same one.

    All changes go through this object.
    """

    def __init__(self) -> None:
        self._keys = Keys()
        self._memories: dict[str, FactMemory] = {}
        self._homes = count()
        self._holders: dict[str, tuple[FactMemory, ...]] = {}  #: who has a key or alias, by its folded form

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
        self._memories[nugget] = FactMemory(options, self._keys, next(self._homes), nugget)

    def drop(self, nugget: str) -> bool:
        """Forget *nugget* and all its facts; tell whether it was known."""
        memory = self._memories.get(nugget)
        if memory is None:
            return False
        for row in list(memory):
            self.remove(nugget, row)
        del self._memories[nugget]
        return True

    def put(self, nugget: str, row: str, key: str, value: str, aliases: Sequence[str] = ()) -> None:
        """Keep a fact in *nugget*, as :meth:`FactMemory.put` does; opens it with the usual options if need be."""
        if nugget not in self._memories:
            self.open(nugget)
        memory = self._memories[nugget]
        before = memory.names(row)
        memory.put(row, key, value, aliases)
        for name in memory.names(row):
            holders = self._holders.get(name, ())
            if memory not in holders:
                self._holders[name] = (*holders, memory)
        self._release(before, memory)

    def remove(self, nugget: str, row: str) -> bool:
        """Forget a fact of *nugget*; tell whether there was one."""
        memory = self._memories.get(nugget)
        if memory is None:
            return False
        before = memory.names(row)
        removed = memory.remove(row)
        self._release(before, memory)
        return removed

    def recall(
        self, query: str, nugget: str | None = None, admits: Admits | None = None, *, least: float = THRESHOLD
    ) -> NamedAnswer | None:
        """Return the answer of *nugget*, or of all; ``None`` if there is none.

        Args:
            query: A key, or words like one.
            nugget: Whom to ask; ``None`` asks all.
            admits: Tells by a row's name whether it may be the answer; all may if not given.
            least: Confidence below which a key that is only like the query is no answer.
        """
        memory = None if nugget is None else self._memories.get(nugget)
        if nugget is not None and memory is None:
            return None
        belief = exact_belief(self._named(folded_key(query), memory), admits)
        if belief is None:
            found = self._keys.like(query, None if memory is None else memory.home)
            alone = len(self._keys if memory is None else memory) == 1
            belief = likely_belief(found, admits, alone=alone, least=least)
        return None if belief is None else NamedAnswer(belief.fact.nugget, belief.answer)

    def likely(self, query: str) -> list[str]:
        """Return the nuggets that hold keys like *query*, likeliest first."""
        return list(dict.fromkeys(match.fact.nugget for match in self._keys.like(query).matches))

    def _named(self, folded: str, memory: FactMemory | None) -> list[Fact]:
        """The facts with this key; if no nugget has it, those with such an alias."""
        if memory is not None:
            return memory.named(folded)
        facts = [fact for holder in self._holders.get(folded, ()) for fact in holder.named(folded)]
        return [fact for fact in facts if fact.folded == folded] or facts

    def _release(self, names: Sequence[str], memory: FactMemory) -> None:
        for name in names:
            if memory.has_name(name):
                continue
            left = tuple(holder for holder in self._holders[name] if holder is not memory)
            if left:
                self._holders[name] = left
            else:
                del self._holders[name]
