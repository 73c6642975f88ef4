"""Names of notes, and which of them stand in a query."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Final, NamedTuple, TypeAlias

from shelfd.memory.recall.analyzer import Analyzer
from shelfd.memory.recall.document import Hit

#: A name that more notes than these share does not identify any of them.
MOST_SHARERS: Final = 5
#: Sharers whose filter columns are looked at; a name of more is none under any filter.
_MOST_ASKED: Final = 1_000
#: Words of the longest name; nobody says more.
_LONGEST: Final = 12
#: Words of a query that are looked at for names.
_LOOKED_AT: Final = 512
#: Content words of a title that is a name; a longer one is a sentence.
_TITLE_WORDS: Final = 4

#: Where a word of an identifier begins: ``TokenBucket``, ``HTTPClient``.
_HUMP: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")

#: Begins the form of a name made of stop and question words only, so that it stands alone and within nothing.
_BARE: Final = "\0"

#: Index terms of a name without stop words; a name that has no other words is one string of all of them.
Name: TypeAlias = tuple[str, ...]

#: Gives those of some rows that a query may return.
Admitted: TypeAlias = Callable[[Sequence[int]], Sequence[int]]


class Standing(NamedTuple):
    """The names that stand in a query."""

    notes: Mapping[int, frozenset[str]]  #: by row of each note so named: the index terms of its names in the query
    names: int  #: how many

    @property
    def terms(self) -> frozenset[str]:
        """All index terms of the names."""
        return frozenset().union(*self.notes.values())


NONE_STANDS: Final = Standing({}, 0)


class Names:
    """The names of all notes, folded and stemmed, without stop words.

    A name counts as it is written and with the humps of identifiers apart (``TokenBucket``, ``token bucket``). What a
    query costs depends on its length, not on how many names there are. All calls belong to one thread.
    """

    def __init__(self, analyzer: Analyzer) -> None:
        self._analyzer = analyzer
        self._rows: dict[Name, int | set[int]] = {}  # most names belong to one note
        self._names: dict[int, tuple[Name, ...]] = {}
        self._lengths: defaultdict[str, Counter[int]] = defaultdict(Counter)  # of names, by their first word
        self._is_layer = False  # what is counted, or shared by several notes, belongs to the names below

    def layer(self) -> "Names":
        """Return the same names, free to change; good until these change."""
        other = Names(self._analyzer)
        other._rows, other._names = dict(self._rows), dict(self._names)
        other._lengths, other._is_layer = defaultdict(Counter, self._lengths), True
        return other

    def stored(self) -> tuple[list[int], list[tuple[Name, ...]]]:
        """Return the notes that have names, and the names of each, as they are now."""
        return list(self._names), list(self._names.values())

    def restore(self, rows: Iterable[int], names: Iterable[tuple[Name, ...]]) -> None:
        """Begin with what was stored."""
        for row, some in zip(rows, names, strict=True):
            self._names[row] = some
            for name in some:
                self._give(name, row)

    def __len__(self) -> int:
        return len(self._names)

    def __contains__(self, row: int) -> bool:
        return row in self._names

    @property
    def named(self) -> AbstractSet[int]:
        """The notes that have names, as they are at any time."""
        return self._names.keys()

    def put(self, row: int, names: Sequence[str], title: str = "") -> None:
        """Set the names of a note.

        Args:
            row: The note.
            names: Its names; none removes those it had.
            title: A name, too, if it is short.
        """
        before = self._names.get(row, ())
        if not names and not title and not before:  # as most notes
            return
        if title and self._is_short(title):
            names = (*names, title)
        after = tuple(dict.fromkeys(form for name in names for form in self.forms(name) if 0 < len(form) <= _LONGEST))
        if before == after:
            return
        for name in before:
            if name not in after:
                self._take(name, row)
        for name in after:
            if name not in before:
                self._give(name, row)
        if after:
            self._names[row] = after
        else:
            del self._names[row]

    def remove(self, row: int) -> None:
        """Remove the names of a note; an unknown one is no error."""
        self.put(row, ())

    def is_named(self, row: int, admitted: Admitted) -> bool:
        """Return whether *row* has a name that few of those *admitted* share."""
        return any(self._few(self._sharers(name), admitted) for name in self._names.get(row, ()))

    def may_be(self, text: str) -> bool:
        """Return whether *text* may be the name of a note; if not, it is the key of no fact that is known here."""
        words, stop = self._analyzer.words(text), self._analyzer.lists.stop
        first = next((word for word in words if word not in stop), None)
        if first is not None and len(words) <= _LONGEST and self._analyzer.term(first) not in self._lengths:
            # Nearly always: no name begins as it does. If it has question words only, names begin with all of them.
            return not self._analyzer.has_content(words) and self._name(text) in self._rows
        form = self._name(text)
        return form in self._rows or not 0 < len(form) <= _LONGEST

    def standing(self, query: str, admitted: Admitted) -> Standing:
        """Return the names that stand in *query*; of overlapping ones the longest."""
        notes: dict[int, frozenset[str]] = {}
        found: set[Name] = set()
        for words in self.forms(query) if self._rows else ():
            spans = self._spans(words[:_LOOKED_AT], admitted)
            for begin, end in _longest(spans):
                found.add(words[begin:end])
                for row in spans[begin, end]:
                    notes[row] = notes.get(row, frozenset()) | frozenset(words[begin:end])
        return Standing(notes, len(found)) if found else NONE_STANDS

    def _spans(self, words: Name, admitted: Admitted) -> dict[tuple[int, int], Sequence[int]]:
        """The notes named by each run of *words* that is a name."""
        found = {}
        for begin, first in enumerate(words):
            for length in self._lengths.get(first, ()):
                sharers = self._sharers(words[begin : begin + length])
                if 0 < len(sharers) <= _MOST_ASKED and 0 < len(rows := admitted(sorted(sharers))) <= MOST_SHARERS:
                    found[begin, begin + length] = rows
        return found

    def forms(self, text: str) -> Iterable[Name]:
        """Return the words of *text* as they are in a name, and those with its humps apart."""
        apart = _HUMP.sub(" ", text)
        return (self._name(text),) if apart == text else dict.fromkeys((self._name(text), self._name(apart)))

    def _is_short(self, title: str) -> bool:
        return sum(map(self._analyzer.is_content, self._analyzer.words(title))) <= _TITLE_WORDS

    def _name(self, text: str) -> Name:
        words = self._analyzer.words(text)
        if not self._analyzer.has_content(words):
            return (_BARE + " ".join(words),) if words else ()
        stop = self._analyzer.lists.stop
        return tuple(self._analyzer.term(word) for word in words if word not in stop)

    def _sharers(self, name: Name) -> Collection[int]:
        rows = self._rows.get(name, ())
        return (rows,) if isinstance(rows, int) else rows

    @staticmethod
    def _few(sharers: Collection[int], admitted: Admitted) -> bool:
        if len(sharers) <= MOST_SHARERS:
            return True
        return len(sharers) <= _MOST_ASKED and len(admitted(sorted(sharers))) <= MOST_SHARERS

    def _own(self, name: Name) -> int | set[int] | None:
        """Return the notes of a name, which may be changed as well as how many names begin as it does."""
        rows = self._rows.get(name)
        if self._is_layer:
            if isinstance(rows, set):
                rows = self._rows[name] = set(rows)
            self._lengths[name[0]] = Counter(self._lengths[name[0]])
        return rows

    def _give(self, name: Name, row: int) -> None:
        rows = self._own(name)
        if rows is None:
            self._rows[name] = row
            self._lengths[name[0]][len(name)] += 1
        elif isinstance(rows, int):
            self._rows[name] = {rows, row}
        else:
            rows.add(row)

    def _take(self, name: Name, row: int) -> None:
        rows = self._own(name)
        if isinstance(rows, set):
            rows.discard(row)
            if len(rows) == 1:
                self._rows[name] = rows.pop()
            return
        del self._rows[name]
        lengths = self._lengths[name[0]]
        lengths[len(name)] -= 1
        if not lengths[len(name)]:
            del lengths[len(name)]
        if not lengths:
            del self._lengths[name[0]]


def named_first(hits: list[Hit], rows: Collection[int], id_of: Callable[[int], str], *, explain: bool) -> list[Hit]:
    """Return the *hits* of a query that is nothing but names, those so named first, with the score of the best.

    On a large shelf many notes have the words of a name, and shorter ones score higher than the note itself.

    Args:
        hits: Best first; one at least.
        rows: Of the notes that are so named, of which some may be among the hits.
        id_of: Gives the id of such a note.
        explain: Whether hits carry their signals.
    """
    if all(hit.row in rows for hit in hits[: len(rows)]):  # nearly always
        return hits
    score = hits[0].score
    here = {hit.row: hit for hit in hits if hit.row in rows}
    absent = [Hit(row, id_of(row), 0.0, {}) for row in sorted({*rows} - here.keys(), reverse=True)]
    named = [
        hit._replace(score=score, signals={**hit.signals, "name": score - hit.score} if explain else {})
        for hit in (*here.values(), *absent)
    ]
    return [*named, *(hit for hit in hits if hit.row not in here)]


def _longest(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Those of *spans* that overlap no longer one."""
    kept: list[tuple[int, int]] = []
    for begin, end in sorted(spans, key=lambda span: span[0] - span[1]):
        if all(end <= other[0] or other[1] <= begin or other[1] - other[0] == end - begin for other in kept):
            kept.append((begin, end))
    return kept
