"""Notes as vectors of their words in their roles, compared without ever building the vectors.

A note's *basis* is at most 20 tokens such as ``title:deploy``: a filler in a role. Its vector would be the sum of the
bound pairs' phasors. The similarity of such a sum to a query is the sum of each pair's similarity to the query, so the
pairs are compared once, and a note gathers the numbers of its own.
"""

import hashlib
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shelfd.memory.facts.algebra import Phasors, bind_phases, phasor
from shelfd.memory.facts.lexicon import Lexicon, content_words
from shelfd.memory.facts.spelling import understood
from shelfd.memory.notes.words import fold, split

MAX_BASIS = 20  #: tokens of one note

_DIMENSION = 1024
_TITLE_TOKENS = 6
_TAG_TOKENS = 4
_FIRST_ROWS = 64

#: How much a word of the query asks of each role; a word says most in a title.
_ROLES = {"title": 1.0, "content": 0.8, "tag": 0.8}

_ROLE_PHASORS = Phasors("role", _DIMENSION)
_WORD_PHASORS = Phasors("word", _DIMENSION)


class NoteVector(NamedTuple):
    """What stands for a note's vector; the vector follows from the basis."""

    seed: int  #: 32 bits of a hash of the basis: equal for equal vectors
    basis: tuple[str, ...]  #: tokens "role:word", at most 20, each once


def note_vector(title: str, content: str, tags: Sequence[str]) -> NoteVector:
    """Return the vector of a note.

    Args:
        title: Its first 6 words are taken.
        content: Words that come often and early are taken, as many as there is room for.
        tags: The note's own; words of the first ones, 4 at most.
    """
    titles = content_words(title)[:_TITLE_TOKENS]
    labels = tuple(dict.fromkeys(word for tag in tags for word in content_words(tag)))[:_TAG_TOKENS]
    counts = Counter(split(fold(content)))
    said = sorted(content_words(content), key=lambda word: -counts[word])  # stable: the earlier first
    room = MAX_BASIS - len(titles) - len(labels)
    basis = (
        *(f"title:{word}" for word in titles),
        *(f"content:{word}" for word in said[:room]),
        *(f"tag:{word}" for word in labels),
    )
    digest = hashlib.blake2b("|".join(basis).encode("utf-8", "surrogatepass"), digest_size=4).digest()
    return NoteVector(int.from_bytes(digest, "big"), basis)


class Question(NamedTuple):
    """What a query asks of notes' vectors."""

    weights: Mapping[str, float]  #: of the known words that it means
    length: float  #: of its vector, words that nobody knows included


class NoteVectors:
    """Many notes' vectors, 80 bytes each, scored against a query all at once. Rows are numbers from 0."""

    def __init__(self) -> None:
        self._lexicon = Lexicon()  #: counts in how many notes a word is
        self._count = 0
        self._basis = np.zeros((_FIRST_ROWS, MAX_BASIS), dtype=np.int32)  #: numbers of tokens, 0 for none
        self._tokens: dict[str, int] = {}  #: numbers from 1
        self._names: list[str] = [""]
        self._uses: list[int] = [0]
        self._free: list[int] = []

    def add(self, vector: NoteVector) -> int:
        """Keep a note's *vector* and return its row, the next one."""
        row, self._count = self._count, self._count + 1
        if row == len(self._basis):
            self._basis = np.concatenate([self._basis, np.zeros_like(self._basis)])
        tokens = vector.basis[:MAX_BASIS]
        self._basis[row, : len(tokens)] = [self._use(token) for token in tokens]
        self._lexicon.total += 1
        for word in _words(tokens):
            self._lexicon.add(word)
        return row

    def clear(self, row: int) -> None:
        """Forget the vector in *row*, which stays empty."""
        tokens = self.basis(row)
        self._basis[row] = 0
        self._lexicon.total -= 1
        for token in tokens:
            number = self._tokens[token]
            self._uses[number] -= 1
            if not self._uses[number]:
                del self._tokens[token]
                self._free.append(number)
        for word in _words(tokens):
            self._lexicon.discard(word)

    def keep(self, kept: npt.NDArray[np.int64]) -> None:
        """Keep the rows *kept*, in rising order, as the first ones; the others must be empty."""
        basis = np.zeros((max(_FIRST_ROWS, 2 * len(kept)), MAX_BASIS), dtype=np.int32)
        basis[: len(kept)] = self._basis[kept]
        self._basis, self._count = basis, len(kept)

    def basis(self, row: int) -> tuple[str, ...]:
        """Return the tokens of *row*."""
        return tuple(self._names[number] for number in self._basis[row] if number)

    def asked(self, query: str) -> Question:
        """Return what *query* asks of vectors."""
        weights: dict[str, float] = {}
        unknown = 0.0
        for meant in understood(content_words(query), self._lexicon):
            if not meant:
                unknown += self._lexicon.usual_rarity() ** 2
            for word, likeness in meant:
                weights[word] = max(weights.get(word, 0.0), likeness * self._lexicon.rarity(word))
        return Question(weights, math.sqrt(sum(weight**2 for weight in weights.values()) + unknown))

    def cosines(self, question: Question, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
        """Return the cosine of each of *rows* with a *question*, 0 for no word in common."""
        similar = self._similarities(question)
        if similar is None:
            return np.zeros(len(rows))
        basis = self._basis[rows]
        lengths = np.sqrt(np.maximum(np.count_nonzero(basis, axis=1), 1))
        return np.asarray(np.clip(similar[basis].sum(axis=1) / lengths, 0.0, 1.0))

    def _similarities(self, question: Question) -> npt.NDArray[np.float64] | None:
        """Similarity of every token to the question, by number; ``None`` if none has any.

        Only tokens of words that the query has are compared: of any other pair it is known that it is unrelated, and
        comparing them would add noise.
        """
        pairs = {
            number: (role, word)
            for word in question.weights
            for role in _ROLES
            if (number := self._tokens.get(f"{role}:{word}")) is not None
        }
        if not pairs:
            return None
        bound = np.stack([phasor(_pair(role, word)) for role, word in pairs.values()]).view(np.float32)
        asks = np.array([question.weights[word] * _ROLES[role] for role, word in pairs.values()], dtype=np.float32)
        # einsum, unlike @, stays on this thread: BLAS would wake others for half a millisecond's work
        asked = np.einsum("t,td->d", asks, bound)
        similar = np.zeros(len(self._names))
        # A note that holds each word once, in its best role, is as like the query as can be.
        similar[list(pairs)] = np.einsum("td,d->t", bound, asked) / (_DIMENSION * question.length)
        return similar

    def _use(self, token: str) -> int:
        number = self._tokens.get(token)
        if number is None:
            if self._free:
                number = self._free.pop()
                self._names[number] = token
            else:
                number = len(self._names)
                self._names.append(token)
                self._uses.append(0)
            self._tokens[token] = number
        self._uses[number] += 1
        return number


def _words(tokens: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(token.partition(":")[2] for token in tokens))


def _pair(role: str, word: str) -> npt.NDArray[np.uint8]:
    return bind_phases(_ROLE_PHASORS.phases(role), _WORD_PHASORS.phases(word))
