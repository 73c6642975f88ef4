"""What a turn says of places: their state, who controls them, what is dangerous there."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from shelfd.memory.sessions.extraction.language import lexicon
from shelfd.memory.sessions.extraction.names import ARTICLES, POSSESSIVES, Cast
from shelfd.memory.sessions.extraction.people import clause_end
from shelfd.memory.sessions.extraction.sentences import Sentence
from shelfd.memory.sessions.extraction.turns import KnownNotes

_IS: Final = frozenset("is was are were 's".split())
_SAYING: Final = _IS | {"been", "belongs", "belonged"}
_LONGEST_TITLE: Final = 5
_UNDER: Final = frozenset("construction renovation water attack siege repair quarantine".split())


class PlaceSaid(NamedTuple):
    """What is said of a place: a column and its value."""

    title: str
    column: str
    value: str


def places_said(at: int, sentence: Sentence, cast: Cast, known: KnownNotes) -> Iterator[PlaceSaid]:
    """Yield what *sentence*, number *at* of the turn, says of places."""
    low = sentence.low
    if _SAYING.isdisjoint(low):
        return
    for here, word in enumerate(low):
        if word in _IS or (word == "been" and here and low[here - 1] in ("has", "have", "had")):
            title = place_before(at, sentence, here if word in _IS else here - 1, cast, known)
            if title is not None and (said := _condition(sentence, here + 1)) is not None:
                yield PlaceSaid(title, *said)
        elif word in ("belongs", "belonged") and here + 1 < len(low) and low[here + 1] == "to":
            title = place_before(at, sentence, here, cast, known)
            if title is not None:
                yield PlaceSaid(title, "controller", _agent(sentence, here + 2))


def place_before(at: int, sentence: Sentence, end: int, cast: Cast, known: KnownNotes) -> str | None:
    """Return the title of the place whose words end before token *end*, None if no place stands there."""
    for mention in cast.of(at, "place"):
        if mention.end == end:
            return _governed(sentence, mention.start, end) or cast.title(mention.name)
    low, lists = sentence.low, lexicon()
    start = _start(sentence, end)
    if start >= end:
        return None
    if (entity := known.named(sentence.span(start, end))) is not None:
        return entity.title if entity.type == "location_state" else None
    head = end - 1
    for here in range(start + 1, end - 1):
        if low[here] in ("to", "of", "at", "in") and low[here - 1] in lists["place_nouns"]:
            head = here - 1
            break
    if low[head] not in lists["place_nouns"] or any(word in lists["people"] for word in low[start:head]):
        return None
    if end - start == 1 and (title := cast.place_called(low[head])) is not None:
        return title
    return sentence.span(start, end)


def _governed(sentence: Sentence, start: int, end: int) -> str | None:
    """Return "bridge at Sarn" for a Sarn that begins at *start*, None where no place stands before it."""
    low, nouns = sentence.low, lexicon()["place_nouns"]
    if start >= 2 and low[start - 1] in ("at", "of", "in", "to") and low[start - 2] in nouns:
        return sentence.span(start - 2, end)
    return None


def _start(sentence: Sentence, end: int) -> int:
    """Return where the noun phrase that ends at *end* begins, without article; *end* if it is none."""
    low = sentence.low
    for here in range(end - 1, max(-1, end - _LONGEST_TITLE - 2), -1):
        if low[here] in ARTICLES | POSSESSIVES and not (here and low[here - 1] in ("to", "of", "at", "in")):
            return here + 1
        if not (low[here][0].isalnum() or low[here] == "-"):
            return here + 1
        if here == 0:
            return 0 if end <= 3 else end
    return end


def _condition(sentence: Sentence, at: int) -> tuple[str, str] | None:
    """Return the column and value that the words after "is" say, None if they say nothing of a place."""
    lists, low = lexicon(), sentence.low
    while at < len(low) and low[at] in lists["adverbs"] | {"again", "half", "partly", "completely", "badly"}:
        at += 1
    if at >= len(low):
        return None
    word = low[at]
    following = low[at + 1] if at + 1 < len(low) else ""
    if word in lists["controlling"] and following == "by":
        return "controller", _agent(sentence, at + 2)
    if word == "under" and following == "control" and low[at + 2 : at + 3] == ("of",):
        return "controller", _agent(sentence, at + 3)
    if word == "under" and following == "the" and low[at + 2 : at + 4] == ("control", "of"):
        return "controller", _agent(sentence, at + 4)
    if word == "under" and following in _UNDER:
        return "state", sentence.span(at, at + 2)
    if word == "a" and following == "mess":
        return "state", sentence.span(at, at + 2)
    if word in lists["place_dangers"] or (word == "infested" and following == "with"):
        return "danger", sentence.span(at, clause_end(sentence, at, 4))
    if word in lists["place_states"]:
        end = at + 1
        if end + 1 < len(low) and low[end] == "and" and low[end + 1] in lists["place_states"]:
            end += 2
        return "state", sentence.span(at, end)
    return None


def _agent(sentence: Sentence, at: int) -> str:
    low = sentence.low
    end = clause_end(sentence, at, 6)
    for here in range(at, end):
        if low[here] in ("now", "until", "again", "for", "these", "today", "since"):
            end = here
            break
    at += at < end and low[at] in ARTICLES
    return sentence.span(at, end)
