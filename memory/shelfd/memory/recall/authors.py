"""Who wrote the visible documents, and which of them a query names."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence


class Authors:
    """Known authors, by their folded name; an author without visible documents is not known."""

    def __init__(self, words: Callable[[str], list[str]]) -> None:
        self._words = words
        self._numbers: dict[tuple[str, ...], int] = {}
        self._names: list[tuple[str, ...]] = []  # by number
        self._by_name: dict[str, tuple[int, tuple[str, ...]]] = {}
        self._documents: Counter[int] = Counter()
        self._by_first: defaultdict[str, dict[int, tuple[str, ...]]] = defaultdict(dict)

    def copy(self) -> "Authors":
        """Return the same authors, free to change."""
        other = Authors(self._words)
        other._numbers, other._names = dict(self._numbers), self._names[:]
        other._by_name, other._documents = dict(self._by_name), Counter(self._documents)
        other._by_first.update((word, dict(names)) for word, names in self._by_first.items())
        return other

    def parse(self, name: str | None) -> tuple[int, tuple[str, ...]]:
        """Return the author's number, -1 for nobody, and the words of the *name*."""
        if name is None:
            return -1, ()
        known = self._by_name.get(name)
        if known is None:
            words = tuple(self._words(name))
            known = self._by_name[name] = (self._number(words) if words else -1), words
        return known

    def add(self, number: int) -> None:
        """Count a visible document of author *number*."""
        if number >= 0:
            documents = self._documents[number] = self._documents[number] + 1
            if documents == 1:
                name = self._names[number]
                self._by_first[name[0]][number] = name

    def discard(self, number: int) -> None:
        """Undo one :meth:`add` of *number*."""
        if number >= 0:
            self._documents[number] -= 1
            if not self._documents[number]:
                first = self._names[number][0]
                del self._documents[number], self._by_first[first][number]
                if not self._by_first[first]:
                    del self._by_first[first]

    def _number(self, words: tuple[str, ...]) -> int:
        number = self._numbers.get(words)
        if number is None:
            number = self._numbers[words] = len(self._names)
            self._names.append(words)
        return number

    def stored(self) -> list[tuple[str, ...]]:
        """Return the authors' names by their numbers, as they are now."""
        return self._names[:]

    def restore(self, names: Sequence[tuple[str, ...]], documents: Iterable[int]) -> None:
        """Begin with what was stored, and how many visible *documents* each has."""
        self._names, self._numbers = list(names), {name: number for number, name in enumerate(names)}
        for number, count in enumerate(documents):
            if count:
                self._documents[number] = int(count)
                self._by_first[names[number][0]][number] = names[number]

    def having(self, word: str) -> list[int]:
        """Return the numbers of the authors whose names have *word*."""
        return [number for number, name in enumerate(self._names) if word in name]

    def named(self, words: list[str]) -> int | None:
        """Return the number of the one known author that a query of *words* names.

        A full name counts if its words stand side by side; its first word
        alone if it has two characters or more and only one known author
        begins with it. Two authors named count as none.
        """
        found: set[int] = set()
        for at, word in enumerate(words):
            candidates = self._by_first.get(word)
            if candidates is None:
                continue
            alone = len(candidates) == 1 and len(word) >= 2
            found.update(
                number for number, name in candidates.items()
                if alone or tuple(words[at : at + len(name)]) == name
            )  # fmt: skip
        return found.pop() if len(found) == 1 else None
