"""The facts of many nuggets, asked one by one or all at once."""

from collections.abc import Collection, Sequence
from itertools import count
from typing import Final

from shelfd.memory.facts.banks import Banks, Echo, waiting
from shelfd.memory.facts.belief import THRESHOLD, Admits, Belief, FactAnswer, exact_belief, likely_belief
from shelfd.memory.facts.capacity import Options
from shelfd.memory.facts.keys import Fact, Keys
from shelfd.memory.facts.spelling import Knows
from shelfd.memory.notes.note import fold_key

_USUAL: Final = Options()


class Broadcast:
    """The facts of many nuggets, asked one by one or all at once.

    A query that is a key or an alias is answered by a look in a dictionary, exact at any size. Any other query becomes
    a vector; it is compared with the vectors of the keys that share a word with it and cleaned up to one key, which
    names the row. The banks hold every fact once more, superposed: :meth:`echo` unbinds one and tells whether it
    confirms the row.

    The keys of all nuggets are kept together. A nugget's *sketch* is the superposition of its keys, left in parts like
    these; so one look at the words of a query tells which nuggets know of them, and which of their keys to compare.
    What is as like the query in another nugget is a rival, as it would be in the same one.

    Most nuggets of a large shelf hold a fact or a few, so that none has containers of its own before it needs them: a
    nugget of one fact is that fact. Writes change what one fact touches, whatever the size. Nothing here reads a clock
    or does I/O; the same calls give the same answers in every process.
    """

    __slots__ = ("_facts", "_homes", "_keys", "_names", "_nuggets")

    def __init__(self) -> None:
        self._keys = Keys()
        self._facts: dict[str, Fact] = {}  #: by row
        self._names = _Names()
        self._nuggets: dict[str, Fact | _Nugget] = {}  #: the fact itself if it is the only one
        self._homes = count()

    def __len__(self) -> int:
        return len(self._facts)

    def __contains__(self, row: str) -> bool:
        return row in self._facts

    @property
    def nuggets(self) -> Collection[str]:
        """The names of the nuggets that hold a fact."""
        return self._nuggets.keys()

    def put(
        self, nugget: str, row: str, key: str, value: str, aliases: Sequence[str] = (), options: Options = _USUAL
    ) -> None:
        """Keep the fact *row*, or what it says now.

        Args:
            nugget: The name of the one that has it.
            row: The caller's name of the fact, unlike that of any other.
            key: Unique in the nugget; two spellings are one key if they differ in case, form or blanks only.
            value: Any text.
            aliases: Further names of *key*; several facts may share one.
            options: The shape of the nugget's memory, if this is its first fact.

        Raises:
            ValueError: If another row has this key. Remove or rename that one first.
        """
        folded = fold_key(key)
        if self._row_of(nugget, folded) not in (None, row):
            raise ValueError("another fact has this key")
        old = self._facts.get(row)
        others = tuple(name for name in dict.fromkeys(map(fold_key, aliases)) if name and name != folded)
        if old is not None and (old.nugget, old.folded, old.aliases) == (nugget, folded, others):
            self._revalue(old, key, value)
            return
        held = self._nuggets.get(nugget)
        if held is not None:  # it keeps its shape, also if this is its only fact
            options = _USUAL if isinstance(held, Fact) else held.options
        if old is not None:
            self._leave(old)
        fact = self._facts[row] = Fact(row, key, folded, value, others, nugget)
        self._join(fact, options)

    def remove(self, row: str) -> bool:
        """Forget the fact *row*; tell whether there was one. A nugget without facts is not known any more."""
        fact = self._facts.pop(row, None)
        if fact is None:
            return False
        self._leave(fact)
        return True

    def row_of(self, nugget: str, key: str) -> str | None:
        """Return the row of the fact that has this key in *nugget*, ``None`` if there is none."""
        return self._row_of(nugget, fold_key(key))

    def recall(
        self, query: str, nugget: str | None = None, admits: Admits | None = None, *, least: float = THRESHOLD
    ) -> FactAnswer | None:
        """Return the fact that answers *query*, of *nugget* or of all; ``None`` if none is likely to.

        Args:
            query: A key, or words like one.
            nugget: Whom to ask; ``None`` asks all.
            admits: Tells by a row's name whether it may be the answer; all may if not given.
            least: Confidence below which a key that is only like the query is no answer.
        """
        folded = fold_key(query)
        facts = self._names.of(folded, nugget)
        if len(facts) > 1:
            facts = [fact for fact in facts if fact.folded == folded] or facts  # a key goes before an alias
        belief = exact_belief(facts, admits) or self._likely_belief(query, nugget, admits, least)
        return None if belief is None else belief.answer

    def likely(self, query: str) -> list[str]:
        """Return the nuggets that hold keys like *query*, likeliest first."""
        return list(dict.fromkeys(match.fact.nugget for match in self._keys.like(query).matches))

    def echo(self, row: str) -> Echo:
        """Return how clearly the banks give the value of *row* for its key.

        Raises:
            KeyError: If there is no such row.
        """
        fact = self._facts[row]
        nugget = self._nuggets[fact.nugget]
        return _echo(fact, [fact], _USUAL) if isinstance(nugget, Fact) else nugget.echo(fact)

    def _likely_belief(self, query: str, nugget: str | None, admits: Admits | None, least: float) -> Belief | None:
        if nugget is None:
            found, alone = self._keys.like(query), len(self) == 1
        else:
            held = self._nuggets.get(nugget)
            if held is None:
                return None
            if isinstance(held, Fact):
                words = frozenset(self._keys.words_of(held))
                found, alone = self._keys.like(query, self._keys.home_of(held), words.__contains__), True
            else:
                found, alone = self._keys.like(query, held.home, held.knows()), held.count == 1
        return likely_belief(found, admits, alone=alone, least=least)

    def _row_of(self, nugget: str, folded: str) -> str | None:
        for fact in self._names.of(folded, nugget):
            if fact.folded == folded:
                return fact.row
        return None

    def _revalue(self, fact: Fact, key: str, value: str) -> None:
        nugget = self._nuggets[fact.nugget]
        if fact.value != value and not isinstance(nugget, Fact):
            nugget.revalue(fact, value)
        fact.key, fact.value = key, value

    def _join(self, fact: Fact, options: Options) -> None:
        """Make a fact known by its names, its keys, and in its nugget."""
        nugget = self._nuggets.get(fact.nugget)
        if isinstance(nugget, Fact):
            home = self._keys.home_of(nugget)
            first, nugget = nugget, _Nugget(home, _USUAL, self._keys)
            nugget.add(first)
            self._nuggets[fact.nugget] = nugget
        elif nugget is None:
            home = next(self._homes)
            if options == _USUAL:
                self._nuggets[fact.nugget] = fact
            else:
                self._nuggets[fact.nugget] = nugget = _Nugget(home, options, self._keys)
        else:
            home = nugget.home
        for name in (fact.folded, *fact.aliases):
            self._names.add(name, fact)
        fact.at = self._keys.add(fact, fact.folded, home)
        fact.also = tuple(self._keys.add(fact, name, home) for name in fact.aliases)
        if nugget is not None:
            nugget.add(fact)

    def _leave(self, fact: Fact) -> None:
        """Undo that a fact joined."""
        nugget = self._nuggets[fact.nugget]
        if not isinstance(nugget, Fact):
            nugget.remove(fact)
        if isinstance(nugget, Fact) or not nugget.count:
            del self._nuggets[fact.nugget]
        elif len(nugget.few) == 1 and nugget.options == _USUAL:
            self._nuggets[fact.nugget] = nugget.few[0]
        for name in (fact.folded, *fact.aliases):
            self._names.discard(name, fact)
        for row in fact.rows:
            self._keys.remove(row)


class _Names:
    """Which facts have a key or an alias, by its folded form."""

    __slots__ = ("_facts",)

    def __init__(self) -> None:
        #: Most names are one fact's; those of several are told apart by nugget, for many may have a key called "name".
        self._facts: dict[str, Fact | dict[str, tuple[Fact, ...]]] = {}

    def add(self, name: str, fact: Fact) -> None:
        """Note that *fact* has *name*."""
        held = self._facts.setdefault(name, fact)
        if held is fact:
            return
        if isinstance(held, Fact):
            held = self._facts[name] = {held.nugget: (held,)}
        held[fact.nugget] = (*held.get(fact.nugget, ()), fact)

    def discard(self, name: str, fact: Fact) -> None:
        """Note that *fact* no longer has *name*."""
        held = self._facts[name]
        if isinstance(held, Fact):
            del self._facts[name]
            return
        left = tuple(other for other in held[fact.nugget] if other is not fact)
        if left:
            held[fact.nugget] = left
        else:
            del held[fact.nugget]
        if len(held) == 1:
            (rest,) = held.values()
            if len(rest) == 1:
                self._facts[name] = rest[0]

    def of(self, name: str, nugget: str | None) -> Sequence[Fact]:
        """Return the facts of *nugget*, or of all, that have *name*, in no particular order."""
        held = self._facts.get(name)
        if held is None:
            return ()
        if isinstance(held, Fact):
            return (held,) if nugget is None or held.nugget == nugget else ()
        return held.get(nugget, ()) if nugget is not None else [fact for facts in held.values() for fact in facts]


class _Nugget:
    """The facts of a nugget of more than one, or of an unusual shape.

    A few are kept as they are: their bank takes 4 KiB, and is superposed when it is asked. Of more there are banks, and
    counts of the words in their keys.

    Args:
        home: Its number among those that have keys.
        options: Its shape.
        keys: Of all nuggets.
    """

    __slots__ = ("_banks", "_keys", "_words", "count", "few", "home", "options")

    def __init__(self, home: int, options: Options, keys: Keys) -> None:
        self.home = home
        self.options = options
        self.count = 0
        self.few: list[Fact] = []  #: all facts, or none once there are banks
        self._keys = keys
        self._banks: Banks | None = None
        self._words: dict[str, int] = {}  #: in how many keys a word is, once there are banks

    def add(self, fact: Fact) -> None:
        """Take a fact in, whose keys are known."""
        self.count += 1
        if self._banks is not None:
            self._superpose(fact, self._banks)
            return
        self.few.append(fact)
        if self.count > waiting(self.options):
            self._banks = Banks(self.options)
            for each in self.few:
                self._superpose(each, self._banks)
            self.few = []

    def remove(self, fact: Fact) -> None:
        """Let go of a fact, whose keys are still known."""
        self.count -= 1
        if self._banks is None:
            self.few.remove(fact)
            return
        self._banks.subtract(fact.folded, fact.value, fact.bank)
        for word in self._keys.words_of(fact):
            self._words[word] -= 1
            if not self._words[word]:
                del self._words[word]

    def revalue(self, fact: Fact, value: str) -> None:
        """Say that *fact* is about to have another *value*."""
        if self._banks is not None:
            self._banks.subtract(fact.folded, fact.value, fact.bank)
            fact.bank = self._banks.add(fact.folded, value)

    def knows(self) -> Knows:
        """Return what tells whether a word is in a key of this nugget."""
        words = self._words if self._banks is not None else {w for fact in self.few for w in self._keys.words_of(fact)}
        return words.__contains__

    def echo(self, fact: Fact) -> Echo:
        """Return how clearly the banks give the value of *fact*."""
        if self._banks is None:
            return _echo(fact, self.few, self.options)
        return self._banks.echo(fact.folded, fact.value, fact.bank)

    def _superpose(self, fact: Fact, banks: Banks) -> None:
        fact.bank = banks.add(fact.folded, fact.value)
        for word in self._keys.words_of(fact):
            self._words[word] = self._words.get(word, 0) + 1


def _echo(fact: Fact, few: Sequence[Fact], options: Options) -> Echo:
    """How clearly a bank of a *few* facts gives the value of one of them."""
    banks = Banks(options)
    for each in few:
        banks.add(each.folded, each.value)
    return banks.echo(fact.folded, fact.value, 0)  # the next one is begun when there are more
