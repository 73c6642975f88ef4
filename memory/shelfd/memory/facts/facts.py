"""The default codec: the facts of one nugget, found by their keys or by keys that are like them."""

from collections.abc import Iterator, Sequence

from shelfd.memory.facts.banks import Banks, Echo
from shelfd.memory.facts.belief import Belief, exact_belief, likely_belief
from shelfd.memory.facts.codec import Answer, Options, Status
from shelfd.memory.facts.fact import Fact
from shelfd.memory.facts.fullness import fullness
from shelfd.memory.facts.keys import Keys
from shelfd.memory.notes.note import fold_key

_USUAL = Options()


class FactMemory:
    """A nugget's facts; a :class:`~shelfd.memory.facts.codec.FactCodec`.

    A query that is a key or an alias is answered by a look in a dictionary, exact at any size. Any other query
    becomes a vector; it is compared with the vectors of the keys that share a word with it and cleaned up to one key,
    which names the row. The banks hold every fact once more, superposed: :meth:`echo` unbinds one and tells whether it
    confirms the row.

    Writes change what one fact touches, whatever the size. Nothing here reads a clock or does I/O; the same calls give
    the same answers in every process.

    Args:
        options: The usual ones unless given.
        keys: Where the keys of many nuggets are kept together; of its own unless given.
        home: The nugget's number among them.
        name: Of the nugget.
    """

    __slots__ = ("_banks", "_by_alias", "_by_key", "_facts", "_keys", "home", "name", "options")

    def __init__(self, options: Options | None = None, keys: Keys | None = None, home: int = 0, name: str = "") -> None:
        self.options = options or _USUAL
        self._facts: dict[str, Fact] = {}
        self._by_key: dict[str, Fact] = {}
        self._by_alias: dict[str, tuple[Fact, ...]] = {}
        self._keys = Keys() if keys is None else keys
        self.home = home
        self.name = name
        self._banks = Banks(self.options)

    def __len__(self) -> int:
        return len(self._facts)

    def __iter__(self) -> Iterator[str]:
        return iter(self._facts)

    def __contains__(self, row: str) -> bool:
        return row in self._facts

    def put(self, row: str, key: str, value: str, aliases: Sequence[str] = ()) -> None:
        """Keep the fact *row*, or what it says now.

        Args:
            row: The caller's name of the fact.
            key: Unique in the nugget; two spellings are one key if they differ in case or form only.
            value: Any text.
            aliases: Further names of *key*; several facts may share one.

        Raises:
            ValueError: If another row has this key. Remove or rename that one first.
        """
        folded = folded_key(key)
        other = self._by_key.get(folded)
        if other is not None and other.row != row:
            raise ValueError("another fact has this key")
        old = self._facts.get(row)
        others = tuple(name for name in dict.fromkeys(map(folded_key, aliases)) if name and name != folded)
        if old is not None and (old.folded, old.aliases) == (folded, others):
            self._revalue(old, key, value)
            return
        fact = Fact(row, key, folded, value, others, self.name)
        if old is not None:
            self._forget(old)
        self._facts[row] = fact  # in its old place, if it had one
        self._by_key[folded] = fact
        for name in others:
            self._by_alias[name] = (*self._by_alias.get(name, ()), fact)
        fact.bank = self._banks.add(folded, value)
        fact.rows = tuple(self._keys.add(fact, name, self.home) for name in (folded, *others))

    def remove(self, row: str) -> bool:
        """Forget the fact *row*; tell whether there was one."""
        fact = self._facts.pop(row, None)
        if fact is None:
            return False
        self._forget(fact)
        return True

    def recall(self, query: str) -> Answer | None:
        """Return the fact that answers *query*, ``None`` if none is likely to."""
        belief = exact_belief(self.named(folded_key(query))) or self._like(query)
        return None if belief is None else belief.answer

    def named(self, folded: str) -> list[Fact]:
        """Return the fact with this key, given as :func:`folded_key` gives it; else those with such an alias."""
        fact = self._by_key.get(folded)
        return [fact] if fact is not None else list(self._by_alias.get(folded, ()))

    def row_of(self, folded: str) -> str | None:
        """Return the row of the fact with this key, ``None`` if there is none."""
        fact = self._by_key.get(folded)
        return None if fact is None else fact.row

    def names(self, row: str) -> tuple[str, ...]:
        """Return the key and the aliases of *row*, folded; none if there is no such row."""
        fact = self._facts.get(row)
        return () if fact is None else (fact.folded, *fact.aliases)

    def has_name(self, folded: str) -> bool:
        """Tell whether a fact has this key or alias."""
        return folded in self._by_key or folded in self._by_alias

    def echo(self, row: str) -> Echo:
        """Return how clearly the banks give the value of *row* for its key.

        Raises:
            KeyError: If there is no such row.
        """
        fact = self._facts[row]
        return self._banks.echo(fact.folded, fact.value, fact.bank)

    def surplus(self) -> list[str]:
        """Return the rows beyond ``max_facts``, those put first, for the caller to remove."""
        wanted = self.options.max_facts
        return list(self._facts)[: max(len(self._facts) - wanted, 0)] if wanted else []

    def status(self) -> Status:
        """Return how full the banks are, and what that costs."""
        return fullness(len(self._facts), self.options)

    def _like(self, query: str) -> Belief | None:
        return likely_belief(self._keys.like(query, self.home), alone=len(self._facts) == 1)

    def _revalue(self, fact: Fact, key: str, value: str) -> None:
        if fact.value != value:
            self._banks.subtract(fact.folded, fact.value, fact.bank)
            fact.bank = self._banks.add(fact.folded, value)
        fact.key, fact.value = key, value

    def _forget(self, fact: Fact) -> None:
        del self._by_key[fact.folded]
        for name in fact.aliases:
            left = tuple(other for other in self._by_alias[name] if other is not fact)
            if left:
                self._by_alias[name] = left
            else:
                del self._by_alias[name]
        self._banks.subtract(fact.folded, fact.value, fact.bank)
        for row in fact.rows:
            self._keys.remove(row)


def folded_key(key: str) -> str:
    """Return the form that two spellings of one key share: case, compatibility forms and outer blanks left out."""
    folded = fold_key(" ".join(key.split()))
    return key if folded == key else folded  # one string instead of two equal ones
