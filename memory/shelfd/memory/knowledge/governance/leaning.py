"""How much a text reads like an order to a machine, by what its words mean and in which order they stand.

A linear model: words of one meaning ("forget", "disregard", "vergiss") are one word to it, and each word, each two that
stand together or one apart, and each two meanings in a sentence have a weight. ``benchmarks/leaning.py`` finds the
weights from labelled text; ``leaning.json`` holds them and the meanings.
"""

import json
import re
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files
from itertools import pairwise
from math import sqrt
from typing import Final, NamedTuple

#: Pieces that are read by themselves, characters: an order in a long text is one among many sentences.
_PIECE: Final = 300
_WHOLE: Final = 400
#: Meanings in one sentence that are so many words apart are not seen together.
_NEAR: Final = 9
#: What words without a known meaning are known by, letters: their endings change.
_BEGINNING: Final = 6
_TOKEN: Final = re.compile(
    r"https?://\S+|[\w.+-]{1,64}@[\w.-]+|[~/]+[\w./]{3,}|[^\W_]+(?:['’-][^\W_]+)*|[<>\[\]|#{}]+|[.!?:]"
)
_ENDS: Final = re.compile(r"[.!?:;\n]\s+|[。！？]")
_SPACELESS: Final = re.compile("[\u3040-\u9fff]+")


#: A word, what of it counts (see :func:`features`), and the other word.
Feature = tuple[str, int, str]
#: Weights of a word: alone, by the word that follows it, by the one after that, and by a meaning near it.
_Weights = tuple[float, dict[str, float], dict[str, float], dict[str, float]]


class _Model(NamedTuple):
    meanings: dict[str, str]  #: of words
    spaceless: re.Pattern[str]  #: words in text that has no blanks
    telling: frozenset[str]  #: meanings of which an order has one
    telling_words: frozenset[bytes]  #: words with such a meaning, in UTF-8
    weights: dict[str, _Weights]  #: by a word, or two signs of a script without blanks
    bias: float


@cache
def _model() -> _Model:
    data = json.loads(files("shelfd.memory.knowledge.governance").joinpath("leaning.json").read_text(encoding="utf-8"))
    meanings = {word: name for name, words in data["meanings"].items() for word in words.split()}
    written = sorted((word for word in meanings if _SPACELESS.fullmatch(word)), key=len, reverse=True)
    telling = frozenset(data["telling"].split())
    return _Model(
        meanings,
        re.compile("|".join(written)),
        telling,
        frozenset(form.encode() for word, name in meanings.items() if name in telling for form in (word, word.title())),
        data["weights"],
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
    found: dict[Feature, float] = {}
    weights, end = model.weights, len(read)
    for at, word in enumerate(read):
        if (entry := weights.get(word)) is not None:
            alone, following, after, _ = entry
            found[word, 0, ""] = alone
            if at + 1 < end and (weight := following.get(read[at + 1])) is not None:
                found[word, 1, read[at + 1]] = weight
            if at + 2 < end and (weight := after.get(read[at + 2])) is not None:
                found[word, 2, read[at + 2]] = weight
        if not word.isascii():
            found |= {(pair, 0, ""): weights[pair][0] for pair in _pairs(word) if pair in weights}
    for first, second in _near(read):
        if (entry := weights.get(first)) is not None and (weight := entry[3].get(second)) is not None:
            found[first, 3, second] = weight
    return sum(found.values()) / sqrt(max(1, len(found))) + model.bias


def _near(read: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Two meanings each in one sentence, and not far apart."""
    before: list[tuple[int, str]] = []
    for at, word in enumerate(read):
        if word == ".":
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
    if _SPACELESS.search(text) is not None:
        text = model.spaceless.sub(lambda match: f" {match[0]} ", text)
    meanings, read = model.meanings, ["."]
    for word in _TOKEN.findall(text):
        meaning = meanings.get(word)
        read.append(_kind(word) if meaning is None else meaning)
    return read


def _kind(word: str) -> str:
    first = word[0]
    if first.isalpha():
        if "@" in word:
            return "MAIL"
        return "URL" if word.startswith("http") and "/" in word else word[:_BEGINNING]
    if first.isdigit():
        return "MAIL" if "@" in word else "NUMBER"
    if first in ".!?:":
        return "."
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
