"""Names that stand in a text where nothing around them says what they are: one that is known is known there, too."""

from collections.abc import Iterator, Sequence
from typing import Final

from shelfd.memory.knowledge.entities.extract import mentions_in
from shelfd.memory.knowledge.entities.kinds import key_of
from shelfd.memory.knowledge.entities.segment import Segment, segments, word_lists

#: Types whose names are found by what stands around them, so that other places can be missed.
FOUND_BY_SURROUNDINGS: Final = frozenset({"person", "organization", "location", "event"})


def words_of_name(type_: str, value: str) -> tuple[str, ...]:
    """Return the words, in small letters, of the name that *value* gives, without what is only said beside it."""
    low = Segment(value).low
    key = key_of(type_, value)
    for begin in range(len(low)):
        for end in range(len(low), begin, -1):
            if key_of(type_, "".join(low[begin:end])) == key:
                return tuple(low[begin:end])
    return tuple(low)


def is_said(text: str, name: Sequence[str]) -> bool:
    """Return whether a *name*, its words in small letters, stands in *text* as a name and as nothing else."""
    return any(_is_name(segment, at, name) for segment in segments(text) for at in _places(segment, name))


def _places(segment: Segment, name: Sequence[str]) -> Iterator[int]:
    size = len(name)
    for at, word in enumerate(segment.low):
        if word == name[0] and segment.low[at : at + size] == list(name):
            yield at


def _is_name(segment: Segment, at: int, name: Sequence[str]) -> bool:
    end = at + len(name)
    if any(word[0].islower() for word in (segment.words[at], segment.words[end - 1])):
        return False
    if any(segment.between(place) not in {" ", "-", ". ", "'", "’", " & ", "."} for place in range(at, end - 1)):
        return False
    mentions_in(segment)  # which marks what is part of an entity
    if any(segment.taken[at:end]):
        return False
    if len(name) > 1:
        return True
    lists = word_lists()
    if any(name[0] in lists[kind] for kind in ("not_names", "ambiguous_names", "starters", "months")):
        return False
    before = at > 0 and segment.between(at - 1) == " " and segment.words[at - 1][0].isupper()
    after = end < len(segment.words) and segment.between(end - 1) == " " and segment.words[end][0].isupper()
    return not after and not (before and not segment.begins_sentence(at - 1))
