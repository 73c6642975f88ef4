"""Consecutive numbers for documents again, made in steps beside what is in use: dead ones keep theirs until then."""

from collections.abc import Generator
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from shelfd.memory.recall.columns import CHANGING, LASTING
from shelfd.memory.recall.contents import Contents
from shelfd.memory.recall.delta import gathered
from shelfd.memory.recall.inverted import STEP, Numbers
from shelfd.memory.recall.segments import IndexSegment, Lists, merge, starts_at

_DOCUMENTS: Final = 65_536  #: whose values are copied in one step
_IDS: Final = 8_192  #: copied in one step
_LIGHT: Final = 4  #: to copy a value takes less than to merge a posting, by this factor


class Renumbering:
    """Gives the documents that are alive when it begins consecutive ordinals, in one segment.

    Until it is finished the index is used, and changed, as ever; only its segments from before are not merged. What
    dies meanwhile keeps a number, with nothing in the postings. Terms keep theirs. Afterwards there are steps to give
    back what was in use before, for that takes as long.

    Attributes:
        is_finished: Whether the index uses the new numbers.
    """

    def __init__(self, contents: Contents) -> None:
        self._contents = contents
        self._segments = contents.postings.hold()
        self._size = contents.columns.size
        alive = contents.columns.alive(slice(self._size))
        (self._kept,) = alive.nonzero()
        self._numbers = np.where(alive, np.cumsum(alive) - 1, -1)
        self._copied: dict[str, npt.NDArray[Any]] = {}
        self._made: IndexSegment | None = None
        self._old: list[npt.NDArray[Any]] = []
        self.is_finished = False
        self._work = self._prepare()

    def step(self) -> int:
        """Take a step of some milliseconds; return about how many postings that were, 0 if there is nothing left."""
        if self._old:
            self._old.pop()
            return STEP
        done = next(self._work, None)
        return 0 if done is None else max(done, 1)

    def _prepare(self) -> Generator[int, None, None]:
        columns, kept = self._contents.columns, self._kept
        merged = yield from merge(self._segments, columns.alive)
        yield from self._renumber(merged.postings.documents)
        yield from self._renumber(merged.tags.documents)
        steps = [slice(begin, begin + _DOCUMENTS) for begin in range(0, len(kept), _DOCUMENTS)]
        for name in (*LASTING, *CHANGING):  # these are copied again at the end, but their memory is there by then
            column, copied = getattr(columns, name), columns.room_for(name)
            for some in steps:
                yield _DOCUMENTS // _LIGHT
                copied[: len(kept)][some] = column[kept[some]]
            self._copied[name] = copied
        yield _DOCUMENTS
        ids = Lists(starts_at(np.diff(merged.ids.start)[kept]), np.empty(len(merged.ids.values), np.uint8))
        done = 0
        for begin in range(0, len(kept), _IDS):
            yield _IDS
            _, text = gathered(merged.ids.start, merged.ids.values, kept[begin : begin + _IDS])
            ids.values[done : done + len(text)] = text
            done += len(text)
        yield _DOCUMENTS
        # Those that were dead have no terms, so that the others' are side by side.
        terms = merged.terms._replace(start=starts_at(np.diff(merged.terms.start)[kept]))
        ids = ids._replace(values=ids.values[:done])
        self._made = merged._replace(first=0, last=len(kept), terms=terms, ids=ids)
        yield 1

    def _renumber(self, documents: Numbers) -> Generator[int, None, None]:
        for begin in range(0, len(documents), STEP):
            yield STEP // _LIGHT
            documents[begin : begin + STEP] = self._numbers[documents[begin : begin + STEP]]

    def finish(self) -> None:
        """Have the index use the new numbers, once there is nothing left to do."""
        contents, kept, made = self._contents, self._kept, self._made
        assert made is not None, "there are steps left"
        contents.postings.flush()
        last = contents.columns.size
        shift = self._size - len(kept)
        self._old = [getattr(contents.columns, name) for name in self._copied]
        self._old += [array for one in self._segments for part in one.parts for array in part]
        # One more than there are: the pointer -1 reads it.
        numbers = np.concatenate([self._numbers, np.arange(self._size, last) - shift, [-1]])
        contents.postings.renumber(made, self._size, shift)
        contents.columns.renumber(kept, self._size, self._copied, numbers)
        contents.links.renumber(numbers)
        contents.filtering.renumber(numbers)
        self._segments, self._copied, self._made, self.is_finished = (), {}, None, True
