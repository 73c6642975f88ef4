"""Which documents have a text's rarest words: candidates for what is said twice or belongs together."""

from collections.abc import Set as AbstractSet
from typing import Final

import numpy as np

from shelfd.memory.notes.filter import NoteFilter
from shelfd.memory.recall.contents import Contents

_POSTINGS: Final = 6_000  #: read for one text


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
    lists, weights, room = [], [], _POSTINGS
    for frequency, number in rarest:
        found = contents.postings.some(number, max(room, 1))
        lists.append(found)
        weights.append(np.full(len(found), statistics.idf(frequency)))
        room -= len(found)
        if room <= 0:
            break
    fewest = 1 if missing is None else max(1, len(lists) - missing)
    ordinals, place, counts = np.unique(np.concatenate(lists), return_inverse=True, return_counts=True)
    enough = np.flatnonzero(counts >= fewest)
    enough = enough[contents.filtering.admitted(filters, ordinals[enough])]
    weight = np.bincount(place, np.concatenate(weights), len(ordinals))[enough]
    best = np.lexsort((contents.columns.row[ordinals[enough]], -weight))
    return [contents.ids[ordinal] for ordinal in ordinals[enough][best].tolist()]
