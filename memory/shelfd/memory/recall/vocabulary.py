"""Numbers for terms, reached from surface words by one dict lookup."""

from collections.abc import Callable, Iterable, Sequence


class Vocabulary(dict[str, int]):
    """Maps a surface word to the number of its term, giving out a new number when needed.

    The mapping is bounded by the words of the texts that were indexed since the shelf was opened, in the order in which
    they came: queries look terms up by :meth:`number` and add nothing.
    """

    __slots__ = ("_below", "_numbers", "_term")

    def __init__(self, term: Callable[[str], str], below: "Vocabulary | None" = None) -> None:
        super().__init__()
        self._term = term
        self._below = below
        self._numbers: dict[str, int] = {}

    def layer(self) -> "Vocabulary":
        """Return a vocabulary that can assign more numbers without adding them here; good until this one changes."""
        return Vocabulary(self._term, self)

    def __missing__(self, word: str) -> int:
        number = None if self._below is None else self._below.get(word)
        if number is None:
            term = self._term(word)
            number = self.number(term)
            if number is None:
                number = self._numbers[term] = self.size
        self[word] = number
        return number

    def extend(self, words: Sequence[str], terms: Sequence[str]) -> list[int]:
        """Return the numbers of *words*, of which these are the *terms*: of many new ones, in a third of the time."""
        known, given, size = self.number_of, self._numbers, self.size
        found: list[int] = []
        for word, term in zip(words, terms, strict=True):
            if (number := known(term)) is None:
                number = given[term] = size
                size += 1
            self[word] = number
            found.append(number)
        return found

    @property
    def size(self) -> int:
        """How many terms have a number."""
        return len(self._numbers) + (0 if self._below is None else self._below.size)

    @property
    def number_of(self) -> Callable[[str], int | None]:
        """What :meth:`number` does, for those who look several terms up one after the other."""
        return self._numbers.get if self._below is None else self.number

    def number(self, term: str) -> int | None:
        """Return the number of *term*, ``None`` if no text held it."""
        number = self._numbers.get(term)
        return self._below.number(term) if number is None and self._below is not None else number

    def numbers(self, terms: Iterable[str]) -> frozenset[int]:
        """Return the numbers of those of *terms* that have one."""
        get = self.number_of
        return frozenset([number for term in terms if (number := get(term)) is not None])

    def stored(self) -> tuple[list[str], list[str], list[int]]:
        """Return the terms by number, and the words with the numbers of their terms, as they are now."""
        return list(self._numbers), list(self), list(self.values())

    def restore(self, terms: Iterable[str], words: Iterable[str], numbers: Iterable[int]) -> None:
        """Begin with what was stored."""
        self._numbers = {term: number for number, term in enumerate(terms)}
        self.clear()
        self.update(zip(words, numbers, strict=True))
