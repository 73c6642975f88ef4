"""Notes of a session's graph by their words and by their names."""

import asyncio
from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from typing import Final, NamedTuple

import numpy as np

from shelfd.memory.notes.digest import is_digest
from shelfd.memory.notes.filter import RECALLABLE
from shelfd.memory.notes.note import Note
from shelfd.memory.recall import ShelfIndex
from shelfd.memory.recall.likening import likeness_of
from shelfd.memory.recall.shelf_index import document_of
from shelfd.memory.sessions.graph import NOWHERE
from shelfd.memory.sessions.name_parts import folded_name, texts_in
from shelfd.memory.sessions.reading import Reading, Visible

#: Notes whose names are compared before other tasks have their turn: some milliseconds.
_COMPARED: Final = 64
#: Notes under rollups with the most words of a query, whose rollups are looked at.
_HIDDEN: Final = 1_024
#: Notes with words of a query that are considered before that.
_AT_ONCE: Final = 4_096


class WordMatch(NamedTuple):
    """A note that has words of a query, and what share of them."""

    node: int
    score: float


class Range(NamedTuple):
    """Among which notes one searches.

    Attributes:
        types: Only notes of these; None for all.
        is_whole: Whether notes under rollups are found, too, and not the frontier alone.
    """

    types: Collection[str] | None
    is_whole: bool

    def has(self, reading: Reading, node: int) -> bool:
        """Return whether a note is one of them."""
        graph = reading.graph
        is_there = graph.is_candidate(node) if self.is_whole else graph.is_in_frontier(node)
        return is_there and (self.types is None or graph.type(node) in self.types) and reading.is_open(node)


async def by_words(reading: Reading, query: str, among: Range, k: int) -> list[WordMatch]:
    """Return the *k* notes that have the most words of a query; of equally many, those with the rarer words, oftener.

    Words are compared in the forms that recall knows as one; stop words count only if there are no others.
    """
    index = reading.shelf.projection(ShelfIndex).index
    filters = RECALLABLE._replace(
        nugget=reading.session.nugget, session=reading.session.session_id, now=reading.shelf.clock.now()
    )
    changed: Collection[int] = reading.graph.unindexed()
    overlap = index.overlap(query, filters)
    best = np.lexsort((overlap.rows, -overlap.weights, -overlap.shares))
    nodes = reading.graph.at_rows(overlap.rows[best])
    of_nugget = nodes != NOWHERE
    nodes, best = nodes[of_nugget], best[of_nugget]
    if not among.is_whole:
        visible = reading.graph.in_frontier(nodes)
        changed = {*changed, *_digests(reading, nodes[~visible][:_HIDDEN].tolist())}
        nodes, best = nodes[visible], best[visible]
    found: list[WordMatch] = []
    for begin in range(0, len(nodes), _AT_ONCE):
        shares = overlap.shares[best[begin : begin + _AT_ONCE]].tolist()
        for node, share in zip(nodes[begin : begin + _AT_ONCE].tolist(), shares, strict=True):
            if node not in changed and among.has(reading, node):
                found.append(WordMatch(node, share))
                if len(found) == k:
                    break
        if len(found) == k:
            break
        await asyncio.sleep(0)
    if changed:
        found = sorted([*found, *_by_text(reading, query, among, changed)], key=lambda match: -match.score)[:k]
    return found


async def by_meaning(reading: Reading, query: str, among: Range, k: int) -> list[WordMatch]:
    """Return the *k* notes that are most like a query in meaning; the score is how like.

    Raises:
        ShelfError: Why nobody can tell: see :func:`~shelfd.memory.recall.likening.likeness_of`.
    """
    index = reading.shelf.projection(ShelfIndex).index
    filters = RECALLABLE._replace(
        nugget=reading.session.nugget, session=reading.session.session_id, now=reading.shelf.clock.now()
    )
    like = await likeness_of(reading.shelf, query, filters)
    changed: Collection[int] = reading.graph.unindexed()
    best = np.argsort(-like.values, kind="stable")
    nodes = reading.graph.at_rows(like.rows[best])
    here = nodes != NOWHERE
    here[here] = reading.graph.in_frontier(nodes[here])
    nodes, best = nodes[here], best[here]
    found: list[WordMatch] = []
    for begin in range(0, len(nodes), _AT_ONCE):
        some = best[begin : begin + _AT_ONCE]
        admitted = set(index.admitted(like.rows[some].tolist(), filters))
        for node, at in zip(nodes[begin : begin + _AT_ONCE].tolist(), some.tolist(), strict=True):
            if int(like.rows[at]) in admitted and node not in changed and among.has(reading, node):
                found.append(WordMatch(node, min(1.0, max(0.0, float(like.values[at])))))
                if len(found) == k:
                    return found
        await asyncio.sleep(0)
    return found


def _digests(reading: Reading, hidden: Sequence[int]) -> Iterator[int]:
    """Notes of the frontier that say what they represent, which recall's index leaves to that: those of *hidden*."""
    frontier = Visible(reading, None)
    above = dict.fromkeys(node for one in hidden if (node := frontier.nearest(one)) is not None)
    for node, note in reading.notes_at(islice(above, _COMPARED)):
        if is_digest(note):
            yield node


def _by_text(reading: Reading, query: str, among: Range, nodes: Collection[int]) -> Iterator[WordMatch]:
    """Those of *nodes*, which recall's index does not know by all that they say, that have words of the query."""
    analyzer = reading.shelf.projection(ShelfIndex).index.analyzer
    asked = set(analyzer.parse_query(query).terms)
    for node, note in reading.notes_at(node for node in sorted(nodes) if among.has(reading, node)):
        text = f"{document_of(note).text}\n{note.content}"
        share = len(asked.intersection(analyzer.terms(text))) / max(len(asked), 1)
        if share:
            yield WordMatch(node, share)


class NameMatch(NamedTuple):
    """A note with a name that a text is (place 0) or is a part of (1); ``key`` is its place in time."""

    place: int
    key: int
    node: int
    note: Note


async def by_name(
    reading: Reading, text: str, among: Range, *, after: tuple[int, int] | None, limit: int
) -> list[NameMatch]:
    """Return notes with a title, an alias or a key column that *text* is, then those where it is a part of one.

    Case, accents, width and runs of blanks make no difference. Each part is in the order of time.
    """
    sought = folded_name(text)
    found: list[NameMatch] = []
    for place in (0, 1):
        if after is not None and after[0] > place:
            continue
        begin = after[1] if after is not None and after[0] == place else -1
        nodes = reading.graph.named(text, exactly=place == 0)
        begin_at = bisect_right(nodes, begin, key=reading.graph.timeline_key)
        for at in range(begin_at, len(nodes), _COMPARED):
            some = [node for node in nodes[at : at + _COMPARED] if among.has(reading, node)]
            found += _compared(reading, sought, place, some)
            if len(found) >= limit:
                return found[:limit]
            await asyncio.sleep(0)
    return found


def _compared(reading: Reading, sought: str, place: int, nodes: Sequence[int]) -> Iterator[NameMatch]:
    for node, note in reading.notes_at(nodes):
        names = [folded_name(name) for name in names_of(reading, note)]
        is_whole = sought in names
        if (is_whole and place == 0) or (not is_whole and place == 1 and any(sought in name for name in names)):
            yield NameMatch(place, reading.graph.timeline_key(node), node, note)


def names_of(reading: Reading, note: Note) -> Iterator[str]:
    """Yield by what a note is known: its title, its aliases, and the key columns of its type."""
    yield note.title
    yield from note.extra.aliases
    for column in reading.graph.policy.key_columns.get(note.type, ()):
        yield from texts_in(note.extra.fields.get(column))
