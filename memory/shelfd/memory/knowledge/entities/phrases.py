"""Names that stand in a text where nothing around them says what they are: one that is known is known there, too."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from shelfd.memory.knowledge.entities.extract import mentions_in
from shelfd.memory.knowledge.entities.kinds import EntityMention, folded, key_of
from shelfd.memory.knowledge.entities.segment import Segment, segments, word_lists
from shelfd.memory.notes.words import fold, is_spaceless

#: Types whose names are found by what stands around them, so that other places can be missed.
FOUND_BY_SURROUNDINGS: Final = frozenset({"person", "organization", "location", "event"})
#: Lists of words that are no names by themselves.
_NO_NAMES: Final = ("not_names", "ambiguous_names", "starters", "months")
_KATAKANA: Final = re.compile("[\u30a1-\u30fa\u30fc]{2}")


def words_of(value: str) -> tuple[str, ...]:
    """Return the words of a name, in small letters."""
    return tuple(Segment(value).low)


def words_of_name(type_: str, value: str) -> tuple[str, ...]:
    """Return the words, in small letters, of the name that *value* gives, without what is only said beside it."""
    low = Segment(value).low
    key = key_of(type_, value)
    for begin in range(len(low)):
        for end in range(len(low), begin, -1):
            if key_of(type_, "".join(low[begin:end])) == key:
                return tuple(low[begin:end])
    return tuple(low)


def is_name_of_its_own(name: Sequence[str]) -> bool:
    """Return whether a *name*, its words in small letters, is one without another note that shows whose it is."""
    return len(name) > 1 or (len(name) == 1 and len(name[0]) > 1 and is_spaceless(name[0]))


def is_said(text: str, name: Sequence[str]) -> bool:
    """Return whether a *name*, its words in small letters, stands in *text* as a name and as nothing else."""
    if len(name) == 1 and is_spaceless(name[0]):
        return _stands_among_others(text, name[0])
    return any(_stands_in(segment, name) for segment in segments(text))


def said_as(text: str, name: Sequence[str]) -> str | None:
    """Return how a *name* of several words, without accents, stands in *text* as a name and as nothing else."""
    size, plain = len(name), list(name)
    for segment in segments(text):
        low = [fold(word) for word in segment.low]
        for at in range(len(low) - size + 1):
            if low[at : at + size] == plain and _is_written(segment, at, at + size):
                written = segment.text[segment.starts[at] : segment.ends[at + size - 1]]
                if _stands_in(segment, words_of(written)):
                    return written
    return None


def _stands_among_others(text: str, name: str) -> bool:
    """Whether a name stands in a text without blanks; in Katakana, what goes on is another word."""
    low = folded(text)
    at = low.find(name)
    while at >= 0:
        around = low[at - 1 : at + 1] if at else "", low[at + len(name) - 1 : at + len(name) + 1]
        if not any(_KATAKANA.fullmatch(pair) for pair in around):
            return True
        at = low.find(name, at + 1)
    return False


def _stands_in(segment: Segment, name: Sequence[str]) -> bool:
    places = [place for place in _places(segment, name) if _is_written(segment, place, place + len(name))]
    mentions = mentions_in(segment) if places else []  # which marks what is part of an entity
    return any(_is_name(segment, at, name, mentions) for at in places)


def _places(segment: Segment, name: Sequence[str]) -> Iterator[int]:
    size = len(name)
    for at, word in enumerate(segment.low):
        if word == name[0] and segment.low[at : at + size] == list(name):
            yield at


def _is_written(segment: Segment, at: int, end: int) -> bool:
    """Whether words are written as a name is: "Vincent van Gogh", "tía Carmen"."""
    if segment.words[end - 1][0].islower():
        return False
    gaps = {segment.between(place) for place in range(at, end - 1)}
    return gaps <= {" ", "-", ". ", "'", "’", " & ", "."}


def _is_name(segment: Segment, at: int, name: Sequence[str], mentions: Sequence[EntityMention]) -> bool:
    end = at + len(name)
    if len(name) > 1:
        first, last = segment.offset + segment.starts[at], segment.offset + segment.ends[end - 1]
        return not any(_is_other(mention, first, last) for mention in mentions)
    lists = word_lists()
    if segment.taken[at] or any(name[0] in lists[kind] for kind in _NO_NAMES):
        return False
    before = at > 0 and segment.between(at - 1) == " " and segment.words[at - 1][0].isupper()
    after = end < len(segment.words) and segment.between(end - 1) == " " and segment.words[end][0].isupper()
    return not after and not (before and not segment.begins_sentence(at - 1))


def _is_other(mention: EntityMention, first: int, last: int) -> bool:
    """Whether characters from *first* to *last* are part of something else, more than what was guessed of a part."""
    if mention.end <= first or mention.start >= last:
        return False
    return mention.type not in FOUND_BY_SURROUNDINGS or mention.start < first or mention.end > last
