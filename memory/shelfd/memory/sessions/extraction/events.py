"""What happened in a turn, in one of its own sentences."""

from collections.abc import Collection, Sequence
from typing import Final, NamedTuple

from shelfd.memory.sessions.extraction.language import is_past, lexicon
from shelfd.memory.sessions.extraction.names import POSSESSIVES, Cast, Mention
from shelfd.memory.sessions.extraction.sentences import Sentence

_LONGEST_SUMMARY: Final = 240  # characters
_SUPPOSING: Final = frozenset("if suppose imagine".split())
_FIRST_PERSON: Final = frozenset(("i", "we", "me", "us"))
#: What is whose cannot be told from a sentence with one of these alone.
_OWN: Final = frozenset(("my", "our", "mine", "ours"))
_HYPOTHETICAL: Final = frozenset("if might could would maybe perhaps".split())
_INTO: Final = frozenset("in at to into inside reached reach reaches through on around near".split())


class Spoken(NamedTuple):
    """A sentence and who said it."""

    sentence: Sentence
    message: int
    role: str
    author: str | None  #: who "I" is; None for a narrator
    occurred_at: int | None = None  #: microseconds since 1970 UTC


def is_courtesy(sentence: Sentence) -> bool:
    """Return whether *sentence* only greets, thanks or acknowledges."""
    small = lexicon()["acknowledgements"]
    return all(word in small or not word[0].isalnum() for word in sentence.low)


def is_introduction(sentence: Sentence, names: Sequence[Mention]) -> bool:
    """Return whether *sentence* says nothing beside names: "Hey, it's Lin", "Mum, this is Clara"."""
    if not names:
        return False
    named = {at for name in names for at in range(name.start, name.end)}
    rest = [word for at, word in enumerate(sentence.low) if at not in named and word[0].isalpha()]
    small = lexicon()["acknowledgements"] | {"this", "it", "he", "she", "mum", "dad", "that"}
    return all(word in small for word in rest)


def is_first_person(sentence: Sentence) -> bool:
    """Return whether its speaker takes part in what *sentence* tells."""
    return not sentence.is_quoted and not _FIRST_PERSON.isdisjoint(sentence.low)


def central(spoken: Sequence[Spoken], cast: Cast, undertakings: Collection[int]) -> int | None:
    """Return the number of the sentence that tells best what happened, None if none does.

    Args:
        undertakings: Numbers of the sentences that say what somebody will do: what they did comes first.
    """
    best: tuple[float, int] | None = None
    for at, one in enumerate(spoken):
        sentence = one.sentence
        people = cast.of(at, "person")
        if sentence.is_question or is_courtesy(sentence) or is_introduction(sentence, cast.mentions[at]):
            continue
        count = len(sentence.low)
        if count < 3 and not people and not is_first_person(sentence):
            continue
        score = -0.4 * at
        score += any(map(is_past, sentence.low))
        score += 1.5 * bool(people) or 1.0 * (sentence.low[0] in ("he", "she"))
        score += 1.0 * (is_first_person(sentence) or is_past(sentence.low[0]))
        score -= 0.8 * (at in undertakings)
        score -= 1.0 * (count < 4)
        score -= 3.0 * sentence.is_quoted
        score -= 4.0 * (sentence.low[0] in _SUPPOSING) or 2.0 * (not _HYPOTHETICAL.isdisjoint(sentence.low))
        score -= 1.0 * (one.role == "assistant" and one.author is None and not people)
        if best is None or score > best[0]:
            best = score, at
    return best[1] if best is not None and best[0] > -3.0 else None


def first_statement(spoken: Sequence[Spoken]) -> int | None:
    """Return the number of the first statement of more than a few words, in whatever language."""
    for at, one in enumerate(spoken):
        sentence = one.sentence
        if not sentence.is_question and (
            len(sentence.low) >= 3 or (len(sentence.text) > 5 and not sentence.text.isascii())
        ):
            return at
    return None


def summary(one: Spoken) -> str:
    """Return the text of an event: the sentence, and who says "I" or "my" in it."""
    text = one.sentence.text.rstrip(" ,;:")
    if len(text) > _LONGEST_SUMMARY:
        text = text[:_LONGEST_SUMMARY].rsplit(" ", 1)[0] + "\u2026"
    is_own = is_first_person(one.sentence) or (not one.sentence.is_quoted and not _OWN.isdisjoint(one.sentence.low))
    return f"{one.author}: {text}" if one.author and is_own else text


def takes_part(sentence: Sentence, mention: Mention) -> bool:
    """Return whether a person named in *sentence* is a party to what it tells, not only spoken of."""
    low = sentence.low
    after = low[mention.end] if mention.end < len(low) else ""
    at = mention.start
    while at and at > mention.start - 4 and low[at - 1] in lexicon()["people"] | POSSESSIVES | {"the", "a"}:
        at -= 1
    before = low[at - 1] if at else ""
    return after != "'s" and before not in ("about", "of", "than", "like", "for")


def is_where(sentence: Sentence, start: int) -> bool:
    """Return whether the place named from token *start* on is where *sentence* happens."""
    low = sentence.low
    at = start - 1
    while at >= 0 and low[at] in ("the", "our", "my", "his", "her", "their", "of", "old", "new"):
        at -= 1
    return at >= 0 and low[at] in _INTO
