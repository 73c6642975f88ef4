"""Known names in a text: one look-up a word."""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from importlib.resources import files
from json import loads
from typing import Final, NamedTuple

from shelfd.memory.knowledge.entities.kinds import EntityMention, mention
from shelfd.memory.knowledge.entities.occasions import ends_noun, is_rather_a_verb
from shelfd.memory.knowledge.entities.segment import Segment, word_lists

#: Types that only count where no longer name of another type begins, by rank: the first wins.
_RANK: Final = "actor threat_actor malware tool sector asset organization event location activity".split()
#: Types of which a longer name may be made, such as an event's: "Berlin Marathon".
_PLAIN: Final = frozenset({"location", "organization", "activity", "event"})
#: Types of which names can be common nouns.
_COMMON: Final = frozenset({"activity", "event"})
_BEFORE_PLACES: Final = frozenset("in to from near at of through via around visit visited visiting between".split())
#: Names with which places are called too often for them to count without more.
_CONFIDENCE: Final = {"activity": 0.7, "event": 0.8}


class _Entry(NamedTuple):
    tail: tuple[str, ...]
    type: str
    value: str
    capital: bool


class Gazetteer:
    """Names by their first word.

    Args:
        names: (type, name) of each.
        is_strict: Whether a word with a capital is no name without it.
    """

    def __init__(self, names: Iterable[tuple[str, str]], *, is_strict: bool = True) -> None:
        self._entries: dict[str, list[_Entry]] = {}
        self._is_strict = is_strict
        for type_, name in names:
            self._add(type_, name)
        for entries in self._entries.values():
            entries.sort(key=lambda entry: (-len(entry.tail), _rank(entry.type)))

    def __bool__(self) -> bool:
        return bool(self._entries)

    def _add(self, type_: str, name: str) -> None:
        low = Segment(name).low
        if not low:
            return
        needs_capital = self._is_strict and len(low) == 1 and name[0].isupper()
        self._entries.setdefault(low[0], []).append(_Entry(tuple(low[1:]), type_, name, needs_capital))
        if 1 < len(low) <= 2 and type_ in {"tool", "malware", "actor"}:
            self._entries.setdefault("".join(low), []).append(_Entry((), type_, name, name[0].isupper()))

    def find(self, segment: Segment) -> Iterator[EntityMention]:
        """Yield the known names in *segment* that are part of nothing found so far; the longest wins."""
        entries, low = self._entries, segment.low
        end = 0
        for at in [at for at, word in enumerate(low) if word in entries]:
            if at >= end and not segment.taken[at]:
                for entry in entries[low[at]]:
                    size = len(entry.tail)
                    if size and tuple(low[at + 1 : at + 1 + size]) != entry.tail:
                        continue
                    if entry.capital and not segment.words[at][0].isupper():
                        continue
                    if size and not _is_joined(segment, at, at + size):
                        continue
                    if entry.type == "location" and not size and _is_rather_a_person(segment, at):
                        continue
                    if entry.type in _PLAIN and _is_part_of_name(segment, at, at + 1 + size):
                        continue
                    if entry.type in _COMMON and _is_no_noun(segment, at, at + 1 + size):
                        continue
                    end = at + 1 + size
                    segment.take(at, end)
                    confidence = _CONFIDENCE.get(entry.type, 0.95)
                    start, stop = segment.starts[at], segment.ends[end - 1]
                    yield mention(entry.type, entry.value, start, stop, confidence)
                    break


def _is_joined(segment: Segment, first: int, last: int) -> bool:
    return all(segment.between(at).strip(" \t.'’&$/") in {"", "-", "–", "_"} for at in range(first, last))


def _is_part_of_name(segment: Segment, first: int, end: int) -> bool:
    """Whether a name is only a part of one: "University of Oxford", "Berlin Marathon"."""
    lists, low, words = word_lists(), segment.low, segment.words
    if (
        first >= 2
        and low[first - 1] == "of"
        and low[first - 2] in lists["org_before_of"]
        and words[first - 2][0].isupper()
    ):
        return True
    is_head = low[end - 1] in lists["event_heads"]
    if is_head and first and words[first - 1][0].isupper() and segment.between(first - 1) == " ":
        return not segment.begins_sentence(first - 1) or low[first - 1] not in lists["starters"]
    at = end
    while at < len(words) and at < end + 4 and words[at][0].isupper() and segment.between(at - 1) in {" ", "-"}:
        if low[at] in lists["event_heads"] or low[at] in lists["org_heads"] or low[at] in lists["place_heads"]:
            return True
        at += 1
    return False


def _is_no_noun(segment: Segment, first: int, end: int) -> bool:
    """Whether common words only begin a longer noun, or are a verb: "climbing rope", "running out of memory"."""
    if not segment.words[first].islower() and not segment.begins_sentence(first):
        return False
    return not ends_noun(segment, end) or is_rather_a_verb(segment, first)


def _is_rather_a_person(segment: Segment, at: int) -> bool:
    """Whether a place's name that people have too stands where no place would: "Sofia's band", but "in Sofia"."""
    lists, low = word_lists(), segment.low
    if low[at] not in lists["first_names"] and low[at] not in lists["ambiguous_names"]:
        return False
    return at == 0 or low[at - 1] not in _BEFORE_PLACES


def _rank(type_: str) -> int:
    return _RANK.index(type_) if type_ in _RANK else 0


def load_names() -> dict[str, list[str]]:
    """Return the names of the gazetteer by type."""
    text = files("shelfd.memory.knowledge.entities").joinpath("gazetteer.json").read_text("utf-8")
    return {type_: value.split(";") for type_, value in loads(text).items() if type_ != "about"}


@lru_cache(maxsize=1)
def known_names() -> Gazetteer:
    """Return the names that every shelf knows."""
    return Gazetteer((type_, name) for type_, names in load_names().items() for name in names)
