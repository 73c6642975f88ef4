"""The published formula of note search: 0.42 vector + 0.48 text + a boost, then a softmax at T = 0.35.

A note's vector superposes at most 20 tokens such as ``title:deploy``, each a word bound to a role. Bound pairs of
different words are orthogonal, so the cosine of a note with a query is a sum over the tokens whose words the query
has, and no vector is ever built.
"""

import hashlib
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from shelfd.memory.facts.lexicon import content_words, telling_words
from shelfd.memory.notes.note import Note
from shelfd.memory.notes.words import emoji, fold, split

Scores = npt.NDArray[np.float64]

TEMPERATURE: Final = 0.35
CONTAINED: Final = 0.75  #: text score of a query that stands in the note letter by letter
#: How much a word of the query asks of each role; a word says most in a title.
ROLES: Final = {"title": 1.0, "content": 0.8, "tag": 0.8}
_KEYWORDS: Final = 7
MAX_BASIS: Final = 20  #: tokens of one note

_TITLE_TOKENS = 6
_TAG_TOKENS = 4
_OTHER_FORM: Final = 0.75  #: likeness of two forms of one word
_VECTOR_WEIGHT: Final = 0.42
_TEXT_WEIGHT: Final = 0.48
_MOST_TEXT: Final = 1.5  #: text score from which on more does not count
_DURABLE: Final = 0.05
_PERSONAL: Final = 0.03
_CONFIDENT: Final = 0.05


class NoteVector(NamedTuple):
    """What stands for a note's vector; the vector follows from the basis."""

    seed: int  #: 32 bits of a hash of the basis: equal for equal vectors
    basis: tuple[str, ...]  #: tokens "role:word", at most 20, each once

    @property
    def keywords(self) -> list[str]:
        """The words of its first tokens, at most seven, each once."""
        return list(dict.fromkeys(token.partition(":")[2] for token in self.basis))[:_KEYWORDS]


class AskedWord(NamedTuple):
    """What a query asks of the vectors by one index term."""

    weight: float  #: rarity, less for a word that was corrected
    words: frozenset[str]  #: forms of it that the query has


@dataclass(frozen=True, slots=True)
class NoteQuestion:
    """A query as the formula sees it."""

    folded: str  #: all of it, folded
    words: tuple[str, ...]  #: folded words in order, or emoji if there are no words
    distinct: frozenset[str]  #: the same, each once
    is_emoji: bool
    terms: Mapping[int, AskedWord]  #: by the number of an index term
    length: float  #: of the query's vector, words that no note has included
    edition: int  #: of the terms' numbers


class NoteScore(NamedTuple):
    """How well one note fits."""

    raw: float  #: 0 to 1.03; unlike the softmax it compares across queries and nuggets
    vector: float  #: 0.5 for no word in common, to 1
    text: float  #: 0 to 1.75

    @property
    def is_match(self) -> bool:
        """Whether the note has anything of the query."""
        return self.text > 0 or self.vector > 0.5


def score_of(note: Note, question: NoteQuestion, known: Mapping[str, int]) -> NoteScore:
    """Return how well *note* fits the *question*; *known* are the numbers of folded words' index terms."""
    content = fold(note.content)
    words = split(content)
    text = _text_score(question, note, content, words)
    vector = (1 + _cosine(question, note, words, known)) / 2
    return NoteScore(raw_score(vector, text, boost_of(note.stability, note.scope, note.confidence)), vector, text)


@lru_cache  # notes have few different ones
def boost_of(stability: str, scope: str, confidence: float) -> float:
    """Return what a note's own fields add, 0 to 0.13: durable, about oneself or the user, and believed."""
    durable = _DURABLE if stability == "durable" else 0.0
    personal = _PERSONAL if scope in {"user", "self"} else 0.0
    return durable + personal + _CONFIDENT * confidence


def raw_score(vector: float, text: float, boost: float) -> float:
    """Return the score, 0 to 1.03, of a note with this *vector* (0 to 1) and *text* score (0 to 1.75)."""
    return _VECTOR_WEIGHT * vector + _TEXT_WEIGHT * min(text, _MOST_TEXT) / _MOST_TEXT + boost


def raw_scores(vector: Scores, text: Scores, boost: Scores) -> Scores:
    """Return what :func:`raw_score` does, of many notes."""
    return np.asarray(_VECTOR_WEIGHT * vector + _TEXT_WEIGHT * np.minimum(text, _MOST_TEXT) / _MOST_TEXT + boost)


def shares_of(scores: Scores, temperature: float = TEMPERATURE) -> Scores:
    """Return the softmax of the *scores* of one search: shares that add up to 1 and keep the order.

    Raises:
        ValueError: If *temperature* is not positive.
    """
    if temperature <= 0:
        raise ValueError(f"temperature must be positive, got {temperature}")
    if not len(scores):
        return scores
    raised = np.exp((scores - scores.max()) / temperature)
    return np.asarray(raised / raised.sum())


def note_vector(title: str, content: str, tags: Sequence[str]) -> NoteVector:
    """Return the vector of a note.

    Args:
        title: Its first 6 words are taken.
        content: Words that come often and early are taken, as many as there is room for.
        tags: The note's own; words of the first ones, 4 at most.
    """
    titles, labels = _title_words(title), _tag_words(tags)
    words = split(fold(content))
    said = _said(words, telling_words(words), MAX_BASIS - len(titles) - len(labels))
    roles = (("title", titles), ("content", said), ("tag", labels))
    basis = tuple(f"{role}:{word}" for role, held in roles for word in held)
    digest = hashlib.blake2b("|".join(basis).encode("utf-8", "surrogatepass"), digest_size=4).digest()
    return NoteVector(int.from_bytes(digest, "big"), basis)


def _title_words(title: str) -> Sequence[str]:
    return telling_words(split(fold(title)))[:_TITLE_TOKENS] if title else ()


def _tag_words(tags: Sequence[str]) -> Sequence[str]:
    return tuple(dict.fromkeys(word for tag in tags for word in content_words(tag)))[:_TAG_TOKENS] if tags else ()


def _said(words: Sequence[str], telling: Sequence[str], room: int) -> Sequence[str]:
    """Return as many of the *telling* ones of a content's *words* as there is *room* for: those that come often."""
    if len(telling) <= room:
        return telling
    counts = Counter(words)
    return sorted(telling, key=counts.__getitem__, reverse=True)[:room]  # stable: the earlier first


def _text_score(question: NoteQuestion, note: Note, content: str, words: Sequence[str]) -> float:
    """Return 0.75 if all of the query stands in the text, and the share of its words that are words there.

    The text is the note's title, its *content* (folded, with its *words*), all of its tags, its subject, scope and
    type, each on a line of its own.
    """
    asked = question.distinct
    if not asked:
        return 0.0
    title, labels = fold(note.title), _labels(note)
    missing = set(asked.difference(words))
    if missing:
        missing.difference_update(split(title), split(labels))
        if missing and question.is_emoji:
            missing.difference_update(emoji(title), emoji(content), emoji(labels))
    return 1 - len(missing) / len(asked) + CONTAINED * _stands(question.folded, title, content, labels)


def stands_in(note: Note, question: NoteQuestion) -> bool:
    """Return whether the complete query stands in the text of *note*, if only as part of words."""
    return _stands(question.folded, fold(note.title), fold(note.content), _labels(note))


def _labels(note: Note) -> str:
    return fold("\n".join((" ".join(note.all_tags), note.subject, note.scope, note.type)))


def _stands(folded: str, title: str, content: str, labels: str) -> bool:
    if "\n" in folded:  # it may begin in one of them and end in another
        return folded in f"{title}\n{content}\n{labels}"
    return folded in content or folded in labels or folded in title


def _cosine(question: NoteQuestion, note: Note, words: Sequence[str], known: Mapping[str, int]) -> float:
    """Return the cosine, 0 to 1, of the *note*'s vector with the query's; *words* are those of its content.

    Of a word that stands in one role in several forms the likest counts.
    """
    terms = question.terms
    if not terms:
        return 0.0
    titles, labels = _title_words(note.title), _tag_words(note.tags)
    asked = {word for word in (*titles, *words, *labels) if known.get(word) in terms}
    if not asked:
        return 0.0
    room = MAX_BASIS - len(titles) - len(labels)
    telling = telling_words(words)
    said = telling if asked.isdisjoint(words) else _said(words, telling, room)
    found = 0.0
    for role, held in (("title", titles), ("content", said), ("tag", labels)):
        likest: dict[int, float] = {}
        for word in asked.intersection(held):
            term = terms[known[word]]
            likeness = term.weight if word in term.words else _OTHER_FORM * term.weight
            likest[known[word]] = max(likest.get(known[word], 0.0), likeness)
        found += ROLES[role] * sum(likest.values())
    size = len(titles) + min(len(telling), room) + len(labels)
    return min(found / (question.length * math.sqrt(size)), 1.0) if found else 0.0
