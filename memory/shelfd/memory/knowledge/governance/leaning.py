"""How much a text reads like an order to a machine, by what its words mean and in which order they stand.

A linear model: words of one meaning ("forget", "disregard", "vergiss") are one word to it, and each word, each two that
stand together or one apart, and each two meanings in a sentence have a weight. ``benchmarks/leaning.py`` finds the
weights from labelled text; ``leaning.json`` holds them and the meanings.
"""

import json
import re
from collections.abc import Container, Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import files
from itertools import pairwise
from math import fsum, sqrt
from typing import Final, NamedTuple, TypeAlias

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
#: Words of which is remembered how they are read; beyond that all are forgotten.
_REMEMBERED: Final = 1 << 14
_SENTENCE: Final = "."  #: what ends one, as it is read
_ENDS: Final = re.compile(r"[.!?:;\n]\s+|[。！？]")
_SPACELESS: Final = re.compile("[\u3040-\u9fff]+")


#: A word, what of it counts (see :func:`features`), and the other word.
Feature = tuple[str, int, str]
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
    return [_SENTENCE, *map(model.read.__getitem__, _tokens(text) if "@" in text else _tokens_without_address(text))]


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
