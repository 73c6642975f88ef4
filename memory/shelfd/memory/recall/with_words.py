"""Documents that have some words, unranked: all that have all of them, and those most like a text."""

from collections.abc import Set as AbstractSet
from functools import reduce
from typing import Final

import numpy as np

from shelfd.memory.notes.filter import NoteFilter
from shelfd.memory.recall.candidates import distinct
from shelfd.memory.recall.columns import IntArray
from shelfd.memory.recall.contents import Contents

_POSTINGS: Final = 250_000  #: read of one word, of which these are the newest
_NEAR_POSTINGS: Final = 6_000  #: read for one text


def having(contents: Contents, words: AbstractSet[str], filters: NoteFilter, most: int | None) -> list[int]:
    """Return rows of the documents, the newest first, that have all *words* (index terms) and that *filters* admit.

    Where all are wanted, and not the *most* newest, none is left out however many have one of the words.
    """
    numbers = [contents.vocabulary.number(word) for word in words]
    if None in numbers or not numbers:
        return []
    looked_at = contents.columns.size if most is None else _POSTINGS
    lists = [contents.postings.some(number, looked_at) for number in numbers if number is not None]
    fewest, *others = sorted(lists, key=len)
    ordinals = reduce(_both, others, distinct(fewest))
    ordinals = ordinals[contents.columns.alive(ordinals)]
    ordinals = ordinals[contents.filtering.admitted(filters, ordinals)]
    rows: list[int] = np.sort(contents.columns.row[ordinals])[::-1][:most].tolist()
    return rows


def _both(fewer: IntArray, more: IntArray) -> IntArray:
    """Return those of *fewer* that are in *more* as well."""
    if not len(more):
        return more
    more = np.sort(more, kind="stable")  # of what is in order already, as nearly all is, that is a glance
    places = np.minimum(more.searchsorted(fewer), len(more) - 1)
    both: IntArray = fewer[more[places] == fewer]
    return both


def near(
    contents: Contents, words: AbstractSet[str], filters: NoteFilter, terms: int, missing: int | None
) -> list[str]:
    """Return ids of documents that have the rarest of *words* (index terms); see :meth:`RecallIndex.near`."""
    statistics = contents.statistics
    known = [number for word in words if (number := contents.vocabulary.number(word)) is not None]
    rarest = sorted((statistics.own[number], number) for number in known if statistics.own[number] > 1)[:terms]
    if missing is not None:
        # Terms of one document only are lacking everywhere else.
        missing -= len(words) - sum(statistics.own[number] > 1 for number in known)
    if not rarest or (missing is not None and missing < 0):
        return []
    lists, weights, room = [], [], _NEAR_POSTINGS
    for frequency, number in rarest:
        found = contents.postings.some(number, max(room, 1))
        lists.append(found)
        weights.append(np.full(len(found), statistics.idfs[frequency]))
        room -= len(found)
        if room <= 0:
            break
    fewest = 1 if missing is None else max(1, len(lists) - missing)
    together = np.concatenate(lists)
    ordinals = distinct(together)
    place = ordinals.searchsorted(together)
    counts = np.bincount(place)
    enough = np.flatnonzero(counts >= fewest)
    enough = enough[contents.filtering.admitted(filters, ordinals[enough])]
    weight = np.bincount(place, np.concatenate(weights), len(ordinals))[enough]
    best = np.lexsort((contents.columns.row[ordinals[enough]], -weight))
    return [contents.postings.id_of(ordinal) for ordinal in ordinals[enough][best].tolist()]
