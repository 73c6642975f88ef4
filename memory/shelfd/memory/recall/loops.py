"""The inner loops of ranking, one number at a time: slow as they stand here, and made to be compiled.

Each does what functions with whole arrays do elsewhere in this package; arguments are arrays without gaps, of the types
that the columns and postings of an index have.
"""

from typing import Final

import numpy as np
import numpy.typing as npt

from shelfd.memory.recall.candidates import AFTER, ASKED, BEFORE, BEFORE_THAT
from shelfd.memory.recall.columns import ALIVE, HIDDEN, QUESTION, TEMPORAL, BoolArray, Codes, FloatArray, IntArray
from shelfd.memory.recall.engine import Singles
from shelfd.memory.recall.fields import EARLIER, K1, NEXT, PREVIOUS, QUESTION_BEFORE, B
from shelfd.memory.recall.inverted import Bytes, Numbers
from shelfd.memory.recall.ranking import AUTHOR, IS_QUESTION, KIND, MANY_WORDS, SESSION, TELLING, WHEN

_ROOM: Final = K1 * (1 - B)
_MORE: Final = K1 + 1
Types = npt.NDArray[np.uint16]


def accumulate(
    ordinals: Numbers,
    frequencies: Bytes,
    ends: IntArray,
    weights: Singles,
    lengths: Codes,
    slope: np.float32,
    room: np.float32,
    nuggets: Codes,
    nugget: int,
    own: Singles,
    touched: IntArray,
) -> int:
    """Add the BM25 of some postings to the scores *own*; write which documents had none, and return how many."""
    count, begin = 0, 0
    for slot in range(len(ends)):
        for at in range(begin, ends[slot]):
            document = ordinals[at]
            if nugget != -1 and nuggets[document] != nugget:
                continue
            frequency = np.float32(frequencies[at])
            weight = frequency / (np.float32(lengths[document]) * slope + room + frequency) * weights[slot]
            had = own[document]
            if had == 0:
                touched[count] = document
                count += 1
            own[document] = had + weight
        begin = ends[slot]
    return count


def base_totals(
    ordinals: Numbers,
    frequencies: Bytes,
    ends: IntArray,
    members: IntArray,
    place: Numbers,
    previous: IntArray,
    following: IntArray,
    flags: Bytes,
    lengths: Codes,
    spans: Codes,
    own_idf: FloatArray,
    previous_idf: FloatArray,
    own_slope: float,
    previous_slope: float,
) -> FloatArray:
    """Return the base score of each of the *members*; *place* is empty if they are all documents."""
    count, whole = len(members), len(place) == 0
    stride = count + 1
    table = np.zeros((len(own_idf), stride))
    begin = 0
    for slot in range(len(ends)):
        for at in range(begin, ends[slot]):
            document = ordinals[at]
            here = document + 1 if whole else place[document]
            if here > 0:
                table[slot, here] = frequencies[at]
        begin = ends[slot]
    before, after = np.zeros(stride, np.int64), np.zeros(count, np.int64)
    for at in range(count):
        document = members[at]
        before[at + 1] = previous[document] + 1 if whole else place[previous[document]]
        after[at] = following[document] + 1 if whole else place[following[document]]
    own, totals, alone = np.zeros(stride), np.zeros(count), np.zeros(count)
    for slot in range(len(own_idf)):
        row = table[slot]
        for at in range(count):
            frequency = row[at + 1]
            earlier = before[before[at + 1]]
            both = frequency + row[before[at + 1]]
            if both > 0:
                norm = spans[members[at]] * previous_slope + _ROOM
                totals[at] += both / (norm + both) * _MORE * (PREVIOUS * previous_idf[slot])
            elif row[earlier] > 0:
                norm = lengths[members[earlier - 1]] * own_slope + _ROOM
                alone[at] += row[earlier] / (norm + row[earlier]) * _MORE * (EARLIER * own_idf[slot])
            if frequency > 0:
                norm = lengths[members[at]] * own_slope + _ROOM
                own[at + 1] += frequency / (norm + frequency) * _MORE * own_idf[slot]
    for at in range(count):
        totals[at] += own[at + 1] + NEXT * own[after[at]] + alone[at] * (own[at + 1] > 0)
        if before[at + 1] > 0 and flags[previous[members[at]]] & QUESTION:
            totals[at] += QUESTION_BEFORE * own[before[at + 1]]
    return totals


def with_rules(
    relevance: FloatArray,
    ordinals: IntArray,
    groups: IntArray,
    flags: Bytes,
    telling: Bytes,
    answer_types: Types,
    speakers: Codes,
    speaker: int,
    asks_when: bool,
    wants: int,
    first: FloatArray,
    second: FloatArray,
) -> FloatArray:
    """Add to the *relevance* of some documents what the rules add, but for that of days.

    *speaker* is -2 if the query names nobody; *first* and *second* are room, a number for each group.
    """
    count = len(ordinals)
    for at in range(count):
        group = groups[ordinals[at]]
        first[group] = second[group] = -1.0
    for at in range(count):
        group, score = groups[ordinals[at]], relevance[at]
        if score > first[group]:
            second[group] = first[group]
            first[group] = score
        elif score > second[group]:
            second[group] = score
    totals = np.empty(count)
    for at in range(count):
        document = ordinals[at]
        group, flag = groups[document], flags[document]
        mean = first[group] if second[group] < 0 else (first[group] + second[group]) / 2
        total = relevance[at] + SESSION * mean
        if flag & QUESTION:
            total += IS_QUESTION
        if speakers[document] == speaker:
            total += AUTHOR
        if asks_when and flag & TEMPORAL:
            total += WHEN
        if answer_types[document] & wants:
            total += KIND
        total += TELLING * telling[document] / (telling[document] + MANY_WORDS)
        totals[at] = total
    return totals


def around(
    ordinals: IntArray,
    wanted: BoolArray,
    groups: IntArray,
    flags: Bytes,
    previous: IntArray,
    following: IntArray,
    marks: Bytes,
    found: IntArray,
) -> int:
    """Write to *found*, each once, living *ordinals* and their neighbours; return how many.

    Only those in *wanted* groups are taken, all if it is empty. *marks* is zero, and stays it.
    """
    count, every = 0, len(wanted) == 0
    for at in range(len(ordinals)):
        document = ordinals[at]
        if (every or wanted[groups[document]]) and flags[document] & ALIVE:
            for near in (document, previous[document], following[document]):
                if near >= 0 and marks[near] == 0:
                    marks[near] = 1
                    found[count] = near
                    count += 1
    for at in range(count):
        marks[found[at]] = 0
    return count


def surrounded(ordinals: IntArray, previous: IntArray, following: IntArray, marks: Bytes, found: IntArray) -> int:
    """Write to *found*, each once, *ordinals*, the two before and the one after each; return how many."""
    count = 0
    for document in ordinals:
        marks[document] = 1
        found[count] = document
        count += 1
    for document in ordinals:
        before = previous[document]
        earlier = previous[before] if before >= 0 else before
        for near in (before, earlier, following[document]):
            if near >= 0 and marks[near] == 0:
                marks[near] = 1
                found[count] = near
                count += 1
    for at in range(count):
        marks[found[at]] = 0
    return count


def promises(
    ordinals: IntArray, own: Singles, previous: IntArray, following: IntArray, flags: Bytes, promised: Singles
) -> None:
    """Write to *promised* what each of *ordinals* promises."""
    for at in range(len(ordinals)):
        document = ordinals[at]
        before = previous[document]
        earlier = previous[before] if before >= 0 else before
        asks = flags[before] & QUESTION and not flags[document] & HIDDEN
        share = BEFORE + ASKED if asks else BEFORE
        found = own[document] + share * own[before] + BEFORE_THAT * own[earlier]
        promised[at] = found + AFTER * own[following[document]]
