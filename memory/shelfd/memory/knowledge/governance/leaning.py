"""How much a text reads like an order to a machine, by what its words mean and in which order they stand.

A linear model: words of one meaning ("forget", "disregard", "vergiss") are one word to it, and each word, each two that
stand together or one apart, and each two meanings in a sentence have a weight. ``benchmarks/leaning.py`` finds the
weights from labelled text; ``leaning.json`` holds them and the meanings.
"""

import json
import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from itertools import pairwise
from math import fsum, sqrt
from typing import Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

#: Pieces that are read by themselves, characters: an order in a long text is one among many sentences.
_PIECE: Final = 300
_WHOLE: Final = 400
#: Meanings in one sentence that are so many words apart are not seen together.
_NEAR: Final = 9
#: What words without a known meaning are known by, letters: their endings change.
_BEGINNING: Final = 6
_ADDRESS: Final = r"[\w.+-]{1,64}@[\w.-]+"
_TOKEN: Final = rf"https?://\S+|{_ADDRESS}|[~/]+[\w./]{{3,}}|[^\W_]+(?:['’-][^\W_]+)*|[<>\[\]|#{{}}]+|[.!?:]"
_tokens: Final = re.compile(_TOKEN).findall
#: The same where no address can be, for which every word would be looked at in two ways.
_tokens_without_address: Final = re.compile(_TOKEN.replace(f"{_ADDRESS}|", "")).findall
#: The same of ASCII without URLs.
_plain_tokens: Final = re.compile(
    r"[0-9A-Za-z]+(?:['-][0-9A-Za-z]+)*|[~/]+[\w./]{3,}|[<>\[\]|#{}]+|[.!?:]", re.ASCII
).findall
#: Words of which is remembered how they are read; beyond that all are forgotten.
_REMEMBERED: Final = 1 << 14
_SENTENCE: Final = "."  #: what ends one, as it is read
_ENDS: Final = re.compile(r"[.!?:;\n]\s+|[。！？]")
_SPACELESS: Final = re.compile("[\u3040-\u9fff]+")


#: A word, what of it counts (see :func:`features`), and the other word.
Feature = tuple[str, int, str]
_IntArray: TypeAlias = npt.NDArray[np.int64]
_FloatArray: TypeAlias = npt.NDArray[np.float64]
_BoolArray: TypeAlias = npt.NDArray[np.bool_]
_Weights: TypeAlias = Mapping[str, float]  #: by word


class _Model(NamedTuple):
    read: "_Read"
    spaceless: re.Pattern[str]  #: words in text that has no blanks
    telling: frozenset[str]  #: meanings of which an order has one
    telling_words: frozenset[bytes]  #: words with such a meaning, in UTF-8
    alone: _Weights  #: of words, and of two signs of a script without blanks
    beside: Mapping[str, tuple[_Weights, _Weights]]  #: of a word with the one that follows it, and the one after that
    near: Mapping[tuple[str, str], float]  #: of two meanings near each other
    marks: frozenset[str]  #: of which two may be near each other, and what begins a sentence
    bias: float


@cache
def _model() -> _Model:
    data = json.loads(files("shelfd.memory.knowledge.governance").joinpath("leaning.json").read_text(encoding="utf-8"))
    meanings = {word: name for name, words in data["meanings"].items() for word in words.split()}
    written = sorted((word for word in meanings if _SPACELESS.fullmatch(word)), key=len, reverse=True)
    telling = frozenset(data["telling"].split())
    weights: dict[str, tuple[float, _Weights, _Weights, _Weights]] = data["weights"]
    near = {(first, second): weight for first, entry in weights.items() for second, weight in entry[3].items()}
    return _Model(
        _Read(meanings),
        re.compile("|".join(written)),
        telling,
        frozenset(form.encode() for word, name in meanings.items() if name in telling for form in (word, word.title())),
        {word: entry[0] for word, entry in weights.items()},
        {word: (entry[1], entry[2]) for word, entry in weights.items() if entry[1] or entry[2]},
        near,
        frozenset((_SENTENCE, *(word for pair in near for word in pair))),
        float(data["bias"]),
    )


def may_lean(text: str, words: Sequence[bytes]) -> bool:
    """Return whether a text has a word that orders have, without which it has no leaning.

    Args:
        text: The text.
        words: Its words in UTF-8.
    """
    return not _model().telling_words.isdisjoint(words) or (not text.isascii() and _SPACELESS.search(text) is not None)


def leaning(text: str) -> float | None:
    """Return how much *text*, in small letters, leans to an order: above 0 more likely one than not.

    Returns:
        That of the piece that leans most; None if no word of it has a meaning that orders have.
    """
    model = _model()
    found = [leans for piece in pieces(text) if (leans := _leaning(piece, model)) is not None]
    return max(found, default=None)


def leanings(texts: Sequence[str]) -> list[float | None]:
    """Return what :func:`leaning` does of each of some texts, but for the last digits, in 60 % of the time."""
    tables = _tables()
    tables.numbers.make_room()
    number, sentence = tables.numbers.__getitem__, tables.numbers[_SENTENCE]
    found: list[float | None] = [None] * len(texts)
    places: list[int] = []
    sizes: list[int] = []
    read: list[int] = []
    for place, text in enumerate(texts):
        if len(text) > _WHOLE or not text.isascii():
            found[place] = leaning(text)
            continue
        words = _tokens_of(text)
        read.append(sentence)
        read += map(number, words)
        places.append(place)
        sizes.append(len(words) + 1)
    if places:
        for place, leans in zip(places, tables.leanings(np.array(read, np.int64), sizes), strict=True):
            found[place] = leans
    return found


class _Numbers(dict[str, int]):
    """The number of a word as it is read; 0 if it says nothing of orders."""

    def __init__(self, read: "_Read", known: Mapping[str, int]) -> None:
        super().__init__()
        self._read, self._known = read, known

    def __missing__(self, word: str) -> int:
        number = self[word] = self._known.get(self._read[word], 0)
        return number

    def make_room(self) -> None:
        """Forget all words if they are many."""
        if len(self) > _REMEMBERED:
            self.clear()
            self._read.clear()


class _Pairs(NamedTuple):
    """Pairs of words that have a weight.

    Attributes:
        keys: Of each the number of the first word times how many numbers there are, plus that of the second; sorted.
        first: Which words, by their numbers, are the first of any.
        second: Which are the second.
        begin: The number of the feature that the first pair is.
    """

    keys: _IntArray
    first: _BoolArray
    second: _BoolArray
    begin: int

    def found(self, first: _IntArray, second: _IntArray, texts: _IntArray) -> tuple[_IntArray, _IntArray]:
        """Return the features among pairs of words in some texts, and the text of each."""
        (may_be,) = (self.first[first] & self.second[second]).nonzero()
        keys = first[may_be] * len(self.first) + second[may_be]
        places = np.minimum(self.keys.searchsorted(keys), len(self.keys) - 1)
        (known,) = (self.keys[places] == keys).nonzero()
        return places[known] + self.begin, texts[may_be[known]]


class _Tables(NamedTuple):
    """The model as arrays, for many texts at once.

    Attributes:
        numbers: Of words; those that are read as something with a weight, or a meaning of orders, count from 1 on.
        sentence: The number of what ends a sentence.
        alone: The feature that a word is by itself, by its number; -1 for none.
        following: Pairs of words beside each other.
        after: Pairs with one word between them.
        near: Pairs of meanings near each other.
        is_meaning: Which words are meanings that may be near another.
        telling: Which are meanings that orders have.
        weights: Of features, by their numbers.
        bias: Of the model.
    """

    numbers: _Numbers
    sentence: int
    alone: _IntArray
    following: _Pairs
    after: _Pairs
    near: _Pairs
    is_meaning: _BoolArray
    telling: _BoolArray
    weights: _FloatArray
    bias: float

    def leanings(self, read: _IntArray, sizes: Sequence[int]) -> list[float | None]:
        """Return how much each text leans, of so many words each; None if no word of it has a meaning of orders.

        Args:
            read: The numbers of the words of all texts; each text begins as a sentence does.
            sizes: How many words each has.
        """
        texts = np.arange(len(sizes)).repeat(sizes)
        own = self.alone[read]
        parts = [(own[own >= 0], texts[own >= 0])]
        for apart, pairs in ((1, self.following), (2, self.after)):
            (inside,) = (texts[:-apart] == texts[apart:]).nonzero()
            parts.append(pairs.found(read[inside], read[inside + apart], texts[inside]))
        (at,) = self.is_meaning[read].nonzero()
        sentences = (read == self.sentence).cumsum()[at]
        for apart in range(1, _NEAR):
            (inside,) = ((sentences[:-apart] == sentences[apart:]) & (at[apart:] - at[:-apart] < _NEAR)).nonzero()
            parts.append(self.near.found(read[at[inside]], read[at[inside + apart]], texts[at[inside]]))
        features, where = (np.concatenate(some) for some in zip(*parts, strict=True))
        each = where * len(self.weights) + features
        each.sort()
        each = each[np.diff(each, prepend=-1) != 0]  # however often a text has it
        where, features = np.divmod(each, len(self.weights))
        sums = np.bincount(where, self.weights[features], len(sizes))
        counts = np.bincount(where, minlength=len(sizes))
        leans = (sums / np.sqrt(np.maximum(counts, 1)) + self.bias).tolist()
        tells = np.bincount(texts[self.telling[read]], minlength=len(sizes)).tolist()
        return [one if telling else None for one, telling in zip(leans, tells, strict=True)]


@cache
def _tables() -> _Tables:
    model = _model()
    following = {(first, second): w for first, (pairs, _) in model.beside.items() for second, w in pairs.items()}
    after = {(first, second): w for first, (_, pairs) in model.beside.items() for second, w in pairs.items()}
    paired = (word for pairs in (following, after, model.near) for pair in pairs for word in pair)
    words = dict.fromkeys((_SENTENCE, *model.alone, *paired, *model.telling))
    known = {word: number for number, word in enumerate(words, 1)}
    weights: list[float] = list(model.alone.values())
    alone = np.full(len(known) + 1, -1, np.int64)
    alone[[known[word] for word in model.alone]] = np.arange(len(weights))

    def among(words: Iterable[str]) -> _BoolArray:
        found = np.zeros(len(known) + 1, np.bool_)
        found[[known[word] for word in words]] = True
        return found

    def pairs_of(given: Mapping[tuple[str, str], float]) -> _Pairs:
        numbered = sorted(
            (known[first] * (len(known) + 1) + known[second], weight) for (first, second), weight in given.items()
        )
        begin = len(weights)
        weights.extend(weight for _, weight in numbered)
        return _Pairs(
            np.array([key for key, _ in numbered], np.int64),
            among(first for first, _ in given),
            among(second for _, second in given),
            begin,
        )

    return _Tables(
        _Numbers(model.read, known),
        known[_SENTENCE],
        alone,
        pairs_of(following),
        pairs_of(after),
        pairs_of(model.near),
        among(word for word in model.marks if word.isupper()),
        among(model.telling),
        np.array(weights),
        model.bias,
    )


def _leaning(text: str, model: _Model) -> float | None:
    read = meant(text)
    if model.telling.isdisjoint(read):
        return None
    words = set(read)
    if not all(map(str.isascii, words)):
        words |= {pair for word in words if not word.isascii() for pair in _pairs(word)}
    alone, beside, near = model.alone, model.beside, model.near
    found = [alone[word] for word in words if word in alone]
    pairs: dict[tuple[int, str, str], float] = {}
    for first, second, third in zip(read, [*read[1:], ""], [*read[2:], "", ""], strict=True):
        if (entry := beside.get(first)) is not None:
            following, after = entry
            if second in following:
                pairs[1, first, second] = following[second]
            if third in after:
                pairs[2, first, third] = after[third]
    found += pairs.values()
    found += [near[pair] for pair in set(_near(read, model.marks)) if pair in near]
    return fsum(found) / sqrt(max(1, len(found))) + model.bias


def _near(read: Sequence[str], marks: Container[str] | None = None) -> Iterator[tuple[str, str]]:
    """Two meanings each in one sentence, and not far apart; of *marks*, which have the beginning of one, if given."""
    before: list[tuple[int, str]] = []
    for at, word in [(at, word) for at, word in enumerate(read) if marks is None or word in marks]:
        if word == _SENTENCE:
            before.clear()
        elif word.isupper():
            for place, first in before:
                if at - place < _NEAR:
                    yield first, word
            before.append((at, word))


def _pairs(word: str) -> Iterator[str]:
    """Two signs each of a word in a script without blanks."""
    return map("{}{}".format, word, word[1:]) if _SPACELESS.match(word) else iter(())


def pieces(text: str) -> Iterator[str]:
    """Yield the parts of *text* that are read by themselves: a few sentences each."""
    begin = 0
    while len(text) - begin > _WHOLE:
        end = begin + _PIECE
        for match in _ENDS.finditer(text, begin, begin + _PIECE):
            end = match.end()
        yield text[begin:end]
        begin = end
    yield text[begin:]


def meant(text: str) -> list[str]:
    """Return the words of *text*, those with a known meaning as that in capitals; a full stop begins each sentence."""
    model = _model()
    if not text.isascii() and _SPACELESS.search(text) is not None:
        text = model.spaceless.sub(lambda match: f" {match[0]} ", text)
    if len(model.read) > _REMEMBERED:
        model.read.clear()
    return [_SENTENCE, *map(model.read.__getitem__, _tokens_of(text))]


def _tokens_of(text: str) -> list[str]:
    if "@" in text:
        return _tokens(text)
    return _plain_tokens(text) if text.isascii() and "://" not in text else _tokens_without_address(text)


class _Read(dict[str, str]):
    """What a word is read as, which is the same wherever it stands: found once."""

    def __init__(self, meanings: Mapping[str, str]) -> None:
        super().__init__()
        self._meanings = meanings

    def __missing__(self, word: str) -> str:
        meaning = self[word] = self._meanings.get(word) or _kind(word)
        return meaning


def _kind(word: str) -> str:
    first = word[0]
    if first.isalpha():
        if "@" in word:
            return "MAIL"
        return "URL" if word.startswith("http") and "/" in word else word[:_BEGINNING]
    if first.isdigit():
        return "MAIL" if "@" in word else "NUMBER"
    if first in ".!?:":
        return _SENTENCE
    return "PATH" if first in "~/" else word


def features(read: Sequence[str]) -> set[Feature]:
    """Return what a text is judged by: its words, pairs of words and pairs of meanings.

    Args:
        read: Its words as :func:`meant` returns them.

    Returns:
        The first word, 0 for it alone, 1 with the word that follows it, 2 with the one after that, 3 with a meaning
        near it, and that other word.
    """
    found = {(word, 0, "") for word in read}
    found.update((first, 1, second) for first, second in pairwise(read))
    found.update((first, 2, second) for first, second in zip(read, read[2:], strict=False))
    found.update((first, 3, second) for first, second in _near(read))
    found.update((pair, 0, "") for word in read if not word.isascii() for pair in _pairs(word))
    return found
