"""Sketches: superpositions of words that tell, without a look at the keys, which nuggets may know an answer.

A superposition of a few dozen words answers clearly whether it holds a given one; one of a thousand hardly does. So a
nugget's sketch has pages of some ten keys each, and most nuggets have one page.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shelfd.memory.fhrr.keys import word_phasors
from shelfd.memory.fhrr.lexicon import Lexicon, understood
from shelfd.memory.fhrr.rows import KeyRow, Page
from shelfd.memory.fhrr.signs import Bits, SignRows, sign_bits
from shelfd.memory.fhrr.words import content_words

_DIMENSION = 2048  #: of all pages, whatever their nuggets' own dimension: they are compared with each other
_PAGE_WORDS = 32  #: words of the keys on a page; a longer key has a page for itself

_AT_LEAST = 4  #: nuggets returned however little speaks for them

_HELD = 0.4  #: share of the query from which on a page seems to have a word of it (one word of three gives 0.58)


class _Drawn(NamedTuple):
    bits: Bits
    words: int


class Sketches:
    """The pages of many nuggets' sketches, searched all at once. Costs 256 bytes a page and 64 a word."""

    def __init__(self) -> None:
        self.lexicon = Lexicon()  #: counts in how many keys a word is
        self._signs = SignRows(_DIMENSION)
        self._pages: list[Page] = []
        self._words: list[int] = []  #: distinct words on each page
        self._changed: list[Page] = []

    def __len__(self) -> int:
        return len(self._pages)

    def likely(self, query: str, count: int) -> list[str]:
        """Return at most *count* nuggets that may have keys like *query*, likeliest first.

        Some are returned in any case, others only if they seem to have a word of the query.
        """
        asked = self._question(query)
        if asked is None or not self._pages:
            return []
        self.renew()
        distances = self._signs.distances(sign_bits(asked.real))
        # The cosine falls with the root of the words superposed; times that root it is the share of the query on the
        # page, give or take 0.2 on a full one.
        held = np.cos(np.pi / _DIMENSION * distances) * np.sqrt(self._words)
        found: dict[str, None] = {}
        for place in np.argsort(-held, kind="stable"):
            if len(found) == count or (len(found) >= _AT_LEAST and held[place] < _HELD):
                break
            found[self._pages[place].nugget] = None
        return list(found)

    def renew(self) -> None:
        """Compute the pages that changed, 0.3 ms each; otherwise the next question does it."""
        for page in self._changed:
            if page.changed:
                drawn = _draw(page)
                self._signs.replace(page.place, drawn.bits)
                self._words[page.place] = drawn.words
                page.changed = False
        self._changed.clear()

    def begin(self, nugget: str) -> Page:
        """Add an empty page of *nugget*."""
        page = Page(nugget, len(self._pages))
        self._signs.append(np.zeros(_DIMENSION // 64, dtype=np.uint64))
        self._pages.append(page)
        self._words.append(0)
        return page

    def mark(self, page: Page) -> None:
        """Have *page* computed anew before the next question."""
        if not page.changed:
            page.changed = True
            self._changed.append(page)

    def end(self, page: Page) -> None:
        """Remove a *page*."""
        last, words = self._pages.pop(), self._words.pop()
        self._signs.pop_into(page.place)
        if last is not page:
            self._pages[page.place], self._words[page.place] = last, words
            last.place = page.place
        page.changed = False

    def _question(self, query: str) -> npt.NDArray[np.complex64] | None:
        weights: dict[str, float] = {}
        for meant in understood(content_words(query), self.lexicon):
            for word, likeness in meant:
                weights[word] = max(weights.get(word, 0.0), likeness * self.lexicon.rarity(word))
        if not weights:
            return None
        return word_phasors(_DIMENSION).superposition(list(weights), list(weights.values()))


class Sketch:
    """One nugget's pages.

    Args:
        nugget: Whose it is.
        sketches: Where its pages are kept.
    """

    __slots__ = ("_nugget", "_open", "_pages", "_sketches")

    def __init__(self, nugget: str, sketches: Sketches) -> None:
        self._nugget = nugget
        self._sketches = sketches
        self._pages: dict[Page, None] = {}
        self._open: Page | None = None  #: where the next key goes, if there is room

    def add(self, row: KeyRow) -> None:
        """Put a key on a page."""
        page = self._open
        if page is None or (page.rows and page.mentions + len(row.words) > _PAGE_WORDS):
            page = self._open = self._sketches.begin(self._nugget)
            self._pages[page] = None
        page.rows.append(row)
        page.mentions += len(row.words)
        row.page = page
        self._sketches.mark(page)
        self._sketches.lexicon.total += 1
        for word in row.words:
            self._sketches.lexicon.add(word)

    def remove(self, row: KeyRow) -> None:
        """Take a key off its page."""
        page = row.page
        assert page is not None, "the key is on no page"
        row.page = None
        page.rows.remove(row)
        page.mentions -= len(row.words)
        self._sketches.lexicon.total -= 1
        for word in row.words:
            self._sketches.lexicon.discard(word)
        if page.rows:
            self._sketches.mark(page)
            self._open = page
            return
        self._sketches.end(page)
        del self._pages[page]
        if self._open is page:
            self._open = None

    def rename(self, nugget: str) -> None:
        """Say that this is the sketch of *nugget*."""
        self._nugget = nugget
        for page in self._pages:
            page.nugget = nugget

    def clear(self) -> None:
        """Take all keys off."""
        for row in [row for page in self._pages for row in page.rows]:
            self.remove(row)


def _draw(page: Page) -> _Drawn:
    words = list(dict.fromkeys(word for row in page.rows for word in row.words))
    return _Drawn(sign_bits(word_phasors(_DIMENSION).superposition(words, [1.0] * len(words)).real), len(words))
