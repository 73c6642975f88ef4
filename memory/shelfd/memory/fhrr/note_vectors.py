"""Notes as vectors of their words in their roles, compared without ever building the vectors.

A note's *basis* is at most 20 tokens such as ``title:deploy``: a filler in a role. Its vector would be the sum of the
bound pairs' phasors. The similarity of such a sum to a query is the sum of each pair's similarity to the query, so the
pairs are compared once, and a note gathers the numbers of its own.
"""

import hashlib
import math
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from shelfd.memory.fhrr.algebra import bind_phases, phasor
from shelfd.memory.fhrr.keys import word_phasors
from shelfd.memory.fhrr.lexicon import Lexicon, understood
from shelfd.memory.fhrr.phasors import Phasors
from shelfd.memory.fhrr.words import content_words
from shelfd.memory.recall.text import fold, split

MAX_BASIS = 20  #: tokens of one note

_DIMENSION = 1024
_TITLE_TOKENS = 6
_TAG_TOKENS = 4
_FIRST_ROWS = 64

#: How much a word of the query asks of each role; a word says most in a title.
_ROLES = {"title": 1.0, "content": 0.8, "tag": 0.8}

_ROLE_PHASORS = Phasors("role", _DIMENSION)


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


class NoteVectors:
    """Many notes' vectors, 80 bytes each, scored against a query all at once.

    Args:
        lexicon: Counts in how many notes a word is; a new one unless given.
    """

    def __init__(self, lexicon: Lexicon | None = None) -> None:
        self._lexicon = lexicon or Lexicon()
        self._rows: dict[str, int] = {}
        self._ids: list[str] = []
        self._basis = np.zeros((_FIRST_ROWS, MAX_BASIS), dtype=np.int32)  #: numbers of tokens, 0 for none
        self._lengths = np.ones(_FIRST_ROWS, dtype=np.float32)  #: square roots of the numbers of tokens
        self._tokens: dict[str, int] = {}  #: numbers from 1
        self._names: list[str] = [""]
        self._uses: list[int] = [0]
        self._free: list[int] = []

    def __len__(self) -> int:
        return len(self._ids)

    def __contains__(self, note_id: str) -> bool:
        return note_id in self._rows

    def add(self, note_id: str, vector: NoteVector) -> None:
        """Keep a note's *vector*, instead of the one it had."""
        row = self._rows.get(note_id)
        if row is None:
            row = self._rows[note_id] = len(self._ids)
            self._ids.append(note_id)
            self._lexicon.total += 1
            if row == len(self._basis):
                self._basis = np.concatenate([self._basis, np.zeros_like(self._basis)])
                self._lengths = np.concatenate([self._lengths, np.ones_like(self._lengths)])
        else:
            self._release(self.basis(note_id))
        tokens = vector.basis[:MAX_BASIS]
        self._basis[row] = 0
        self._basis[row, : len(tokens)] = [self._use(token) for token in tokens]
        self._lengths[row] = math.sqrt(max(len(tokens), 1))
        for word in _words(tokens):
            self._lexicon.add(word)

    def remove(self, note_id: str) -> bool:
        """Forget a note's vector; tell whether there was one."""
        if note_id not in self._rows:
            return False
        self._release(self.basis(note_id))
        row, last = self._rows.pop(note_id), self._ids.pop()
        self._lexicon.total -= 1
        if last != note_id:
            self._ids[row], self._rows[last] = last, row
            self._basis[row] = self._basis[len(self._ids)]
            self._lengths[row] = self._lengths[len(self._ids)]
        return True

    def basis(self, note_id: str) -> tuple[str, ...]:
        """Return the tokens of a note.

        Raises:
            KeyError: If the note is not known.
        """
        return tuple(self._names[number] for number in self._basis[self._rows[note_id]] if number)

    def cosines(self, query: str) -> npt.NDArray[np.float32]:
        """Return the cosine of every note with *query*, in the order of :attr:`ids`, 0 for no word in common."""
        count = len(self._ids)
        similar = self._similarities(query)
        if similar is None:
            return np.zeros(count, dtype=np.float32)
        gathered = np.zeros(count, dtype=np.float32)
        for column in self._basis[:count].T:  # a column at a time: no array of notes times 20 is made
            gathered += similar[column]
        return np.asarray(np.clip(gathered / self._lengths[:count], 0.0, 1.0))

    def score(self, query: str, note_ids: Sequence[str] | None = None) -> dict[str, float]:
        """Return the cosine with *query* of the notes *note_ids*, or of all that have a word in common with it."""
        if note_ids is None:
            cosines = self.cosines(query)
            return {self._ids[row]: float(cosines[row]) for row in np.flatnonzero(cosines)}
        rows = [self._rows[note_id] for note_id in note_ids]
        similar = self._similarities(query)
        if similar is None:
            return dict.fromkeys(note_ids, 0.0)
        found = np.clip(similar[self._basis[rows]].sum(axis=1) / self._lengths[rows], 0.0, 1.0)
        return dict(zip(note_ids, map(float, found), strict=True))

    @property
    def ids(self) -> Sequence[str]:
        """The notes, in the order of :meth:`cosines`; changes when notes come and go."""
        return self._ids

    def _similarities(self, query: str) -> npt.NDArray[np.float32] | None:
        """Similarity of every token to *query*, by number; ``None`` if none has any.

        Only tokens of words that the query has are compared: of any other pair it is known that it is unrelated, and
        comparing them would add noise.
        """
        weights: dict[str, float] = {}
        unknown = 0.0
        for meant in understood(content_words(query), self._lexicon):
            if not meant:
                unknown += self._lexicon.usual_rarity() ** 2
            for word, likeness in meant:
                weights[word] = max(weights.get(word, 0.0), likeness * self._lexicon.rarity(word))
        pairs = {
            number: (role, word)
            for word in weights
            for role in _ROLES
            if (number := self._tokens.get(f"{role}:{word}")) is not None
        }
        if not pairs:
            return None
        bound = np.stack([phasor(_pair(role, word)) for role, word in pairs.values()])
        asks = np.array([weights[word] * _ROLES[role] for role, word in pairs.values()], dtype=np.float32)
        asked = asks @ bound.view(np.float32)
        # A note that holds each word once, in its best role, is as like the query as can be.
        length = math.sqrt(sum(weight**2 for weight in weights.values()) + unknown)
        similar = np.zeros(len(self._names), dtype=np.float32)
        similar[list(pairs)] = np.einsum("td,d->t", bound.view(np.float32), asked) / (_DIMENSION * length)
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

    def _release(self, tokens: Sequence[str]) -> None:
        for token in tokens:
            number = self._tokens[token]
            self._uses[number] -= 1
            if not self._uses[number]:
                del self._tokens[token]
                self._free.append(number)
        for word in _words(tokens):
            self._lexicon.discard(word)


def _words(tokens: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(token.partition(":")[2] for token in tokens))


def _pair(role: str, word: str) -> npt.NDArray[np.uint8]:
    return bind_phases(_ROLE_PHASORS.phases(role), word_phasors(_DIMENSION).phases(word))
