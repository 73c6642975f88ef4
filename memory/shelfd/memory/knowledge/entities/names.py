"""People, organisations, places and events in a text, by the words in them and around them.

A capital letter is no proof. A name is something's if a word of its own says so ("Nordwind GmbH", "Lake Garda"), if it
is a first name, or if what stands beside it is only said of such: a title or kinship, "works at", "moved to".
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from shelfd.memory.knowledge.entities.firms import CUSTOMERS, acts_as_firm, is_firm
from shelfd.memory.knowledge.entities.kinds import EntityMention, mention
from shelfd.memory.knowledge.entities.people import is_beside_what_people_do
from shelfd.memory.knowledge.entities.segment import Segment, word_lists

_LONGEST_RUN: Final = 7
_DIGIT: Final = re.compile(r"\d")
_INNER_CAPITAL: Final = re.compile("[a-z][A-Z]")
_CONNECTORS: Final = frozenset("of de da do del della di van von der den la le bin al ibn y und for".split())
_ARTICLES: Final = frozenset({"the", "a", "an"})
#: Words before "in Xyz" that make it a place; and before "to Xyz".
_TOWARDS: Final = frozenset(
    "moved move moves moving flew fly flies flying travelled traveled travel travels traveling travelling went go "
    "goes "
    "going drove drive drives driving trip trips flight flights train trains bus relocated relocate "
    "relocating returned "
    "return returning back commute commutes sailed cycled hiked walked emigrated journey ride ferry visit "
    "shipped delivered transferred rode rides riding sent marched attracts attract drew".split()
)
_STAYS: Final = frozenset(
    "live lives lived living born based stay stays stayed staying grew up arrived arrive arrives arriving "
    "located office "
    "offices house apartment flat headquartered held takes place met meet holiday vacation studied weekend raised "
    "restaurant café cafe hotel wedding museum landed settled lunch dinner conference flat year years week weeks "
    "concert workshop meeting people warehouse factory plant store shop school university marathon snow weather rain "
    "attacks attack targets companies banks government elections operations victims hospitals datacenter home "
    "somewhere "
    "semester cottage cabin farm festival job life retreat while month months days day data center centre team summer "
    "winter spring autumn internship".split()
)
_BREAKS: Final = frozenset(
    "and or on at last next this for with from in to by since until where when which was is are were during after "
    "before but because a an the yesterday today tomorrow who over near as under while every has had will".split()
)
_VISITS: Final = frozenset("visit visited visits visiting toured explored near outside left leaving love loved".split())
#: What is of a place.
_PARTS_OF_PLACES: Final = frozenset(
    "gates streets city town village port harbour harbor coast island fortress castle walls outskirts suburbs mayor "
    "kingdom north south east west centre center bay district province duchy lighthouse hills roofs ruins".split()
)
#: Heads of places that are surnames just as often.
_SURNAMES: Final = frozenset("park lane forest castle rivers hills bay bridge gardens tower garden lake gates".split())


#: Streets are named after these.
_ROYAL: Final = frozenset("king queen prince princess president lord bishop".split())
_STREETS: Final = frozenset("street road avenue lane boulevard square".split())
#: What is named after somebody in German ends with what it is, behind a hyphen: "Karl-Heine-Straße".
_NAMED_AFTER: Final = {
    **dict.fromkeys("straße strasse platz weg allee gasse ring ufer damm brücke park".split(), "location"),
    **dict.fromkeys(
        "schule gymnasium institut stiftung krankenhaus klinik universität hochschule akademie".split(), "organization"
    ),
}


class _Run(NamedTuple):
    first: int
    end: int


def find_names(segment: Segment) -> Iterator[EntityMention]:
    """Yield people, organisations, places and events among the capitalised words that are part of nothing yet."""
    yield from _speaker(segment)
    people: set[str] = set()
    for run in _runs(segment):
        for found in _judged(segment, run, people):
            if found.type == "person":
                people.add(found.value.split("-")[0])
            yield found


def _runs(segment: Segment) -> Iterator[_Run]:
    """Capitalised words in a row, "of" and its like between them."""
    words, taken, count = segment.words, segment.taken, len(segment.words)
    end = 0
    for at in [at for at, word in enumerate(words) if word[0].isupper()]:
        if at < end or taken[at]:
            continue
        end = at + 1
        while end < count and end - at < _LONGEST_RUN and not taken[end] and _continues(segment, end - 1):
            if _is_capital(words[end]):
                end += 1
            elif (
                segment.low[end] in _CONNECTORS
                and end + 1 < count
                and not taken[end + 1]
                and _continues(segment, end)
                and _is_capital(words[end + 1])
            ):
                end += 2
            else:
                break
        yield _Run(at, end)


def _is_capital(word: str) -> bool:
    return word[0].isupper()


def _continues(segment: Segment, at: int) -> bool:
    """Whether the word after *at* may belong to the same name."""
    gap = segment.between(at)
    if gap in {" ", "-", " & ", "&"}:
        return True
    if gap in {"'", "’"}:
        return len(segment.words[at]) == 1  # O'Brien, D'Angelo
    return gap == ". " and (
        len(segment.words[at]) == 1 or segment.low[at] in {"st", "dr", "mr", "mrs", "ms", "mt", "prof"}
    )


_SHORTENED: Final = frozenset({"st", "dr", "mr", "mrs", "ms", "mt", "prof"})


def _speaker(segment: Segment) -> Iterator[EntityMention]:
    """Who speaks, where a line begins as a dialogue's does.

    What is no known first name speaks only if what follows is somebody's words: "Zelda: I am late", "Sleep: six hours".
    """
    if len(segment.words) < 2 or segment.between(0)[:1] != ":" or segment.text[: segment.starts[0]].strip():
        return
    word, lists = segment.words[0], word_lists()
    if segment.taken[0] or not (3 <= len(word) <= 16 and word[0].isupper() and word[1:].islower()):
        return
    if segment.low[0] in lists["not_names"] or segment.low[0] in lists["starters"] or word.lower() in _LABELS:
        return
    if segment.low[0] not in lists["first_names"] and not _is_spoken(segment):
        return
    segment.take(0, 1)
    yield mention("person", word, segment.starts[0], segment.ends[0], 0.9)


def _is_spoken(segment: Segment) -> bool:
    return not _SPOKEN.isdisjoint(segment.low) or not {"?", "!"}.isdisjoint(segment.text)


#: Words of those who speak of themselves, or to somebody.
_SPOKEN: Final = frozenset("i we you me us your yes yeah hi hello hey thanks".split())
_LABELS: Final = frozenset(
    "warning error info debug title subject date time place where what who why when how summary status result results "
    "example question answer problem solution fix cause impact priority owner source target context decision goal "
    "goals task tasks idea ideas plan plans name address email phone web website url host user password key value type "
    "note tip hint important attention reminder deadline budget cost total price file path version output input usage "
    "description details background conclusion recipe ingredients steps step mood weather topic agenda attendees "
    "location device sensor alarm fact story chapter scene today tomorrow monday remember lesson learned risk merge "
    "commit author tree parent reviewed signed changelog".split()
)


def _judged(segment: Segment, run: _Run, people: set[str]) -> Iterator[EntityMention]:
    lists = word_lists()
    first, end = run
    # What only begins the sentence is no part of a name, and neither are words that are never one.
    while first < end and (
        segment.low[first] in lists["starters"]
        and not (segment.low[first] in lists["ambiguous_names"] and _is_name_after_all(segment, first, end))
        and (segment.begins_sentence(first) or segment.low[first] in _ARTICLES or len(segment.words[first]) == 1)
    ):
        first += 1
    if first + 1 < end and segment.low[first] in CUSTOMERS and segment.between(first) == " ":
        first += 1  # "Customer Nordwind"
    if first >= end:
        return
    if segment.low[first] in _CONNECTORS:
        first += 1
    if first >= end:
        return
    for type_, begin, stop, confidence in _kinds(segment, first, end, people):
        segment.take(begin, stop)
        start, until = segment.starts[begin], segment.ends[stop - 1]
        yield mention(type_, segment.text[start:until], start, until, confidence)


def _is_name_after_all(segment: Segment, first: int, end: int) -> bool:
    """Whether a common word that is a name, too, is one here: "May called", "Will Hargreaves teaches"."""
    lists, low = word_lists(), segment.low
    if end >= len(low) or "?" in segment.text:
        return False
    verb, surname = low[end], low[end - 1]
    if segment.between(end - 1) != " " or verb not in lists["human_verbs"]:
        return False
    if end - first == 1:
        return f"{verb}s" not in lists["human_verbs"]  # "May call" and "Will ask" are no people
    return end - first == 2 and not any(surname in lists[kind] for kind in ("not_names", "first_names", "titles"))


def _kinds(segment: Segment, first: int, end: int, people: set[str]) -> Iterator[tuple[str, int, int, float]]:
    low, lists = segment.low, word_lists()
    size = end - first
    if size > 1 and low[end - 1] in _NAMED_AFTER and segment.between(end - 2) == "-":
        begin = end - 2
        while begin > first and segment.between(begin - 1) == "-":
            begin -= 1
        if begin > first:
            yield from _kinds(segment, first, begin, people)
        yield _NAMED_AFTER[low[end - 1]], begin, end, 0.85
        return
    whole = _by_own_words(segment, first, end)
    if whole is not None:
        yield whole, first, end, 0.85
        return
    person = _person(segment, first, end, people)
    if person is not None and not any(map(_DIGIT.search, segment.words[person[0] : person[1]])):
        begin, stop = person
        event = _owned_event(segment, stop)
        yield "person", begin, stop, 0.85
        if event is not None:
            yield "event", event[0], event[1], 0.75
        if stop < end and end - stop >= 2:
            rest = _by_own_words(segment, stop, end)
            if rest is not None:
                yield rest, stop, end, 0.8
        return
    if size == 1 and (low[first] in lists["not_names"] or low[first] in lists["months"]):
        return
    if any(low[at] in lists["not_names"] for at in range(first, end)):
        return
    around = _by_surroundings(segment, first, end)
    if around is not None:
        yield around, first, end, 0.7


def _by_own_words(segment: Segment, first: int, end: int) -> str | None:
    """What a name says it is by a word of its own."""
    low, lists = segment.low, word_lists()
    last, size = low[end - 1], end - first
    if size == 1:
        return _by_one_word(segment, first)
    if last in lists["event_heads"] or low[first] == "festival":
        return "event"
    if low[first] in {"battle", "siege"} and low[first + 1] == "of":
        return "event"
    if "of" in low[first:end] and low[first] in lists["org_before_of"]:
        return "organization"
    if low[first] in lists["titles"] and last not in lists["org_heads"]:
        return "location" if size == 2 and last in _STREETS and low[first] in _ROYAL else None
    if last in lists["org_heads"]:
        return "organization"
    if last in _SURNAMES and size == 2 and low[first] in lists["clear_names"]:
        return None
    if last in lists["place_heads"] or low[first] in lists["place_firsts"]:
        if low[first] in lists["first_names"] and size == 2 and segment.between(first) in {"'", "’"}:
            return None
        return "location"
    if low[first] in lists["org_before_of"] and size > 2:
        return "organization"
    return None


def _by_one_word(segment: Segment, at: int) -> str | None:
    word = segment.words[at]
    if acts_as_firm(segment, at):
        return "organization"
    if len(word) > 4 and word.endswith(("Con", "CON")) and word[-4].islower():
        return "event"
    if len(word) > 6 and segment.low[at].endswith(("strasse", "straße", "platz", "gasse")):
        return "location"
    return None


def _person(segment: Segment, first: int, end: int, people: set[str]) -> tuple[int, int] | None:
    low, lists = segment.low, word_lists()
    begin = first
    if low[first] in lists["titles"] or low[first] in lists["kin"]:
        if end - first > 1:
            begin = first + 1
            return begin, _name_end(segment, begin, end)
        return None
    previous = low[first - 1] if first else ""
    word = low[first]
    if end - first == 1 and _owned_event(segment, end) is not None:
        return first, end
    is_doubtful = word in lists["ambiguous_names"]
    if word in lists["not_names"] and not (is_doubtful and _is_name_after_all(segment, first, end)):
        return None
    if (
        previous in lists["titles"]
        and segment.words[first - 1][0].isupper()
        and segment.between(first - 1) in {" ", ". "}
    ):
        return first, _name_end(segment, first, end)
    is_first_name = word in lists["first_names"]
    if is_first_name and not is_doubtful:
        return first, _name_end(segment, first, end)
    if word in people:
        return first, _name_end(segment, first, end)
    if is_doubtful and end - first == 2 and low[first + 1] not in lists["not_names"] and len(low[first + 1]) > 2:
        return first, end
    if is_beside_what_people_do(segment, first, end, people, doubtful=is_doubtful):
        return first, _name_end(segment, first, end)
    return None


def _name_end(segment: Segment, begin: int, end: int) -> int:
    """Where a person's name ends: after three words, and before one that is no name."""
    lists = word_lists()
    stop = begin + 1
    while stop < end and stop - begin < 4:
        low = segment.low[stop]
        if low in lists["not_names"] or low in lists["months"] or low in lists["event_heads"]:
            break
        if low in {"of", "for", "und", "y"} or low in lists["starters"]:
            break
        stop += 1
    while stop - 1 > begin and segment.low[stop - 1] in _CONNECTORS:
        stop -= 1
    return stop


def _owned_event(segment: Segment, end: int) -> tuple[int, int] | None:
    """The event in "Clara's wedding", from the event's word on."""
    low = segment.low
    if end + 1 >= len(low) or low[end] != "s" or segment.between(end - 1) not in {"'", "’"}:
        return None
    for stop in range(end + 1, min(end + 3, len(low))):
        if low[stop] in word_lists()["event_nouns"]:
            return end + 1, stop + 1
    return None


def _is_brand(word: str) -> bool:
    """Whether a word has a capital inside, as programs have and places have not: "OpenSSH", but "McAllen"."""
    return _INNER_CAPITAL.search(word) is not None and not word.startswith(("Mc", "Mac", "De", "La"))


def _ends_phrase(segment: Segment, end: int) -> bool:
    """Whether what follows begins something new: "in Wolfsburg on Monday", not "in Figma files"."""
    return end >= len(segment.words) or segment.between(end - 1) != " " or segment.low[end] in _BREAKS


def _by_surroundings(segment: Segment, first: int, end: int) -> str | None:
    """What a name must be because of the words before it."""
    low = segment.low
    if first == 0 or segment.begins_sentence(first) or segment.is_foreign:
        return None
    previous = low[first - 1]
    before = low[max(0, first - 6) : first - 1]
    if is_firm(segment, first, end):
        return "organization"
    if end - first == 1 and (segment.words[first].isupper() or _is_brand(segment.words[first])):
        return None
    if previous == "of" and before and before[-1] in _PARTS_OF_PLACES:
        return "location"
    if previous == "in" and (not _STAYS.isdisjoint(before) or not before or _ends_phrase(segment, end)):
        return "location"
    if previous in {"to", "from"} and not _TOWARDS.isdisjoint(before):
        return "location"
    if previous in _VISITS and previous not in {"left", "leaving", "love", "loved"}:
        return "location"
    return None
