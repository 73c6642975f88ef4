"""The default codec: the facts of one nugget, found by their keys or by keys that are like them."""

from collections.abc import Callable, Sequence

from shelfd.memory.fhrr.banks import Banks, Echo, capacity
from shelfd.memory.fhrr.codec import Answer, Options, Status, status_of
from shelfd.memory.fhrr.confidence import EXACT, THRESHOLD, confidence
from shelfd.memory.fhrr.keys import Keys, Match
from shelfd.memory.fhrr.rows import KeyRow
from shelfd.memory.fhrr.sketch import Sketch
from shelfd.memory.note import fold_key

#: Tells by the name of a row whether it may be the answer.
Admits = Callable[[str], bool]

#: The margin to report when nothing else came near enough to be looked at.
_UNRIVALLED = 0.25


class _Fact:
    __slots__ = ("aliases", "bank", "folded", "key", "key_rows", "value")

    def __init__(self, key: str, folded: str, value: str, aliases: tuple[str, ...]) -> None:
        self.key = key
        self.folded = folded
        self.value = value
        self.aliases = aliases  #: folded
        self.bank = 0
        self.key_rows: tuple[KeyRow, ...] = ()


class FactMemory:
    """A nugget's facts; a :class:`~shelfd.memory.fhrr.codec.FactCodec`.

    A query that is a key or an alias is answered by a look in a dictionary, exact at any size. Any other query
    becomes a vector; its sign bits are compared with those of all keys, the best are computed again and cleaned up to
    one key, and that key names the row. The banks hold every fact once more, superposed: :meth:`echo` unbinds one and
    tells whether it confirms the row.

    Writes change what one fact touches, whatever the size. Nothing here reads a clock or does I/O; the same calls give
    the same answers in every process.

    Args:
        options: The usual ones unless given. ``dimension`` is the length of the keys' vectors and of each bank.
        sketch: To be kept up to date with the keys, where many nuggets are asked at once.
    """

    def __init__(self, options: Options | None = None, sketch: Sketch | None = None) -> None:
        self.options = options or Options()
        self._sketch = sketch
        self._facts: dict[str, _Fact] = {}
        self._by_key: dict[str, str] = {}
        self._by_alias: dict[str, tuple[str, ...]] = {}
        self._keys = Keys(self.options.dimension)
        self._banks = Banks(self.options)

    def __len__(self) -> int:
        return len(self._facts)

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
        if self._by_key.get(folded, row) != row:
            raise ValueError("another fact has this key")
        old = self._facts.get(row)
        others = tuple(name for name in dict.fromkeys(map(folded_key, aliases)) if name and name != folded)
        if old is not None and (old.folded, old.aliases) == (folded, others):
            self._revalue(old, key, value)
            return
        fact = _Fact(key, folded, value, others)
        if old is not None:
            self._forget(row, old)
        self._facts[row] = fact  # in its old place, if it had one
        self._by_key[folded] = row
        for name in others:
            self._by_alias[name] = (*self._by_alias.get(name, ()), row)
        fact.bank = self._banks.add(folded, value)
        fact.key_rows = tuple(self._learn(row, name) for name in (folded, *others))

    def remove(self, row: str) -> bool:
        """Forget the fact *row*; tell whether there was one."""
        fact = self._facts.pop(row, None)
        if fact is None:
            return False
        self._forget(row, fact)
        return True

    def recall(self, query: str) -> Answer | None:
        """Return the fact that answers *query*, ``None`` if none is likely to."""
        return self.exact(folded_key(query)) or self.like(query)

    def exact(self, folded: str, admits: Admits | None = None) -> Answer | None:
        """Return the fact with this key or alias, given as :func:`~shelfd.memory.note.fold_key` gives it."""
        row = self._by_key.get(folded)
        if row is not None and (admits is None or admits(row)):
            return self._answer(row, EXACT, 1.0)
        rows = [row for row in self._by_alias.get(folded, ()) if admits is None or admits(row)]
        if not rows:
            return None
        values = {self._facts[row].value for row in rows}
        return self._answer(rows[0], EXACT / len(values), 1.0 if len(values) == 1 else 0.0)

    def like(self, query: str, admits: Admits | None = None) -> Answer | None:
        """Return the fact whose key is most like *query*, ``None`` if that says too little.

        Args:
            query: Words like those of a key.
            admits: Passes over facts that may not be the answer, to others about as like the query.
        """
        matches = self._keys.like(query)
        if admits is not None:
            # Only the best is asked after: what else is like the query is just as much a rival unseen.
            first = next((at for at, match in enumerate(matches) if admits(match.owner)), len(matches))
            matches = matches[first:]
        if not matches:
            return None
        best = matches[0]
        margin = best.cosine - self._rival(matches)
        believed = confidence(best.cosine, margin, overlap=best.overlap)
        return self._answer(best.owner, believed, margin) if believed >= THRESHOLD else None

    def names(self, row: str) -> tuple[str, ...]:
        """Return the key and the aliases of *row* as :meth:`exact` wants them, none if there is no such row."""
        fact = self._facts.get(row)
        return () if fact is None else (fact.folded, *fact.aliases)

    def all_names(self) -> list[str]:
        """Return every key and alias as :meth:`exact` wants them, each once."""
        return [*self._by_key, *(name for name in self._by_alias if name not in self._by_key)]

    def has_name(self, folded: str) -> bool:
        """Tell whether :meth:`exact` knows *folded*."""
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
        """Return how full the banks are. Beyond their capacity facts are still found, by their rows alone."""
        return status_of(len(self._facts), self.options, capacity(self.options))

    def _rival(self, matches: Sequence[Match]) -> float:
        """The cosine of the best match with another value than the first; a bound if none was looked at.

        When the query leaves words of the key out, a key that has as many of its words is as likely to be meant, though
        the rest of it may make it look less alike.
        """
        best = matches[0]
        value = self._facts[best.owner].value
        rivals = [match for match in matches[1:] if self._facts[match.owner].value != value]
        if not best.complete and any(match.covered >= best.covered for match in rivals):
            return best.cosine
        if rivals:
            return rivals[0].cosine
        return max(best.cosine - _UNRIVALLED, 0.0) if len(self._facts) > 1 else 0.0

    def _answer(self, row: str, believed: float, margin: float) -> Answer:
        fact = self._facts[row]
        return Answer(row, fact.key, fact.value, believed, min(max(margin, 0.0), 1.0))

    def _learn(self, row: str, name: str) -> KeyRow:
        key_row = self._keys.add(row, name)
        if self._sketch is not None:
            self._sketch.add(key_row)
        return key_row

    def _revalue(self, fact: _Fact, key: str, value: str) -> None:
        if fact.value != value:
            self._banks.subtract(fact.folded, fact.value, fact.bank)
            fact.bank = self._banks.add(fact.folded, value)
        fact.key, fact.value = key, value

    def _forget(self, row: str, fact: _Fact) -> None:
        del self._by_key[fact.folded]
        for name in fact.aliases:
            left = tuple(other for other in self._by_alias[name] if other != row)
            if left:
                self._by_alias[name] = left
            else:
                del self._by_alias[name]
        self._banks.subtract(fact.folded, fact.value, fact.bank)
        for key_row in fact.key_rows:
            self._keys.remove(key_row)
            if self._sketch is not None:
                self._sketch.remove(key_row)


def folded_key(key: str) -> str:
    """Return the form that two spellings of one key share: case, compatibility forms and outer blanks left out."""
    folded = fold_key(" ".join(key.split()))
    return key if folded == key else folded  # one string instead of two equal ones
