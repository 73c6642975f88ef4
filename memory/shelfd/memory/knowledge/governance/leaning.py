"""How much a text reads like an order to a machine, by what its words mean and in which order they stand.

A linear model: words of one meaning ("forget", "disregard", "vergiss") are one word to it. Each word and each meaning
has a weight, each two that stand together or one apart, and each two meanings in one piece of text. A simpler model of
single words (``telling.json``) says, at a small part of the cost, that most text need not be looked at.
``benchmarks/leaning.py`` finds the weights of both from labelled text; ``leaning.json`` holds the meanings, too.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from itertools import combinations, pairwise
from math import fsum, sqrt
from typing import Any, Final, NamedTuple, TypeAlias

#: Pieces that are read by themselves, characters: an order in a long text is one among many sentences.
_PIECE: Final = 300
_WHOLE: Final = 400
#: What words without a known meaning are known by, letters: their endings change.
_BEGINNING: Final = 6
_ADDRESS: Final = r"[\w.+-]{1,64}@[\w.-]+"
_WORD: Final = r"[^\W_]++(?>(?:['’-][^\W_]++)*)|[.!?:,]|[~/]+[\w./]{3,}|[<>\[\]|#{}]+"
_tokens: Final = re.compile(rf"https?://\S+|{_ADDRESS}|{_WORD}").findall
#: The same where no address can be, for which every word would be looked at in three ways.
_tokens_without_address: Final = re.compile(_WORD).findall
#: Words of which is remembered how they are read; beyond that all are forgotten.
_REMEMBERED: Final = 1 << 14
#: Text of a script without blanks is worth a look if so many words of it have a known meaning.
_FEWEST_SPACELESS: Final = 2
#: A text whose words lean less than this leans no more than this.
FAR: Final = -4.0
_SENTENCE: Final = "."  #: what ends one, as it is read
_ENDS: Final = re.compile(r"[.!?:;\n]\s+|[。！？]")
_SPACELESS: Final = re.compile("[\u3040-\u9fff]+")


#: A word, what of it counts (see :func:`features`), and the other word.
Feature = tuple[str, int, str]
_Weights: TypeAlias = Mapping[str, float]  #: by word


class _Model(NamedTuple):
    read: "_Read"
    spaceless: re.Pattern[str]  #: words in text that has no blanks
    alone: _Weights  #: of words, and of two signs of a script without blanks
    beside: Mapping[str, tuple[_Weights, _Weights]]  #: of a word with the one that follows it, and the one after that
    both: Mapping[tuple[str, str], float]  #: of two meanings, in the order of the alphabet
    meanings: frozenset[str]  #: that are among these
    bias: float


def _data(name: str) -> dict[str, Any]:
    path = files("shelfd.memory.knowledge.governance").joinpath(name)
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


class _Telling(dict[bytes, int]):
    """How much a word in UTF-8 tells that a text may be an order."""

    def __missing__(self, word: bytes) -> int:
        return 0


@cache
def _telling() -> _Telling:
    return _Telling(
        (form.encode(), int(much))
        for much, words in _data("telling.json").items()
        for word in words.split()
        for form in {word, word if word.isascii() else word.capitalize()}  # only ASCII is folded before
    )


@cache
def _model() -> _Model:
    data = _data("leaning.json")
    meanings = {word: name for name, words in data["meanings"].items() for word in words.split()}
    written = sorted((word for word in meanings if _SPACELESS.fullmatch(word)), key=len, reverse=True)
    weights: dict[str, tuple[float, _Weights, _Weights, _Weights]] = data["weights"]
    both = {(first, second): weight for first, entry in weights.items() for second, weight in entry[3].items()}
    return _Model(
        _Read(meanings),
        re.compile("|".join(written)),
        {word: entry[0] for word, entry in weights.items()},
        {word: (entry[1], entry[2]) for word, entry in weights.items() if entry[1] or entry[2]},
        both,
        frozenset(word for pair in both for word in pair),
        float(data["bias"]),
    )


def telling_words() -> frozenset[bytes]:
    """Return the words of which a text has some if it may lean, in a language with blanks between words; in UTF-8."""
    return frozenset(_telling())


def telling_weights() -> Mapping[bytes, int]:
    """Return how much each of :func:`telling_words` tells that a text may be an order."""
    return _telling()


def may_lean(text: str, among: Iterable[bytes]) -> bool:
    """Return whether a text has enough words that orders have to be worth a look.

    Args:
        text: The text.
        among: Its words in UTF-8, each once, or those of them that are among :func:`telling_words`.
    """
    if sum(map(_telling().__getitem__, among)) > 0:
        return True
    return not text.isascii() and len(set(_model().spaceless.findall(text))) >= _FEWEST_SPACELESS


def leaning(text: str) -> float:
    """Return how much *text*, in small letters, leans to an order: above 0 more likely one than not.

    That of the piece that leans most.
    """
    model = _model()
    return max(_leaning(piece, model) for piece in pieces(text))


def _leaning(text: str, model: _Model) -> float:
    tokens, read = _tokens_and_meanings(text, model)
    words = {*tokens, *read}
    if not all(map(str.isascii, words)):
        words |= {pair for word in read if not word.isascii() for pair in _pairs(word)}
    alone, beside, both = model.alone, model.beside, model.both
    found = [alone[word] for word in words if word in alone]
    if fsum(found) / sqrt(max(1, len(found))) + model.bias < FAR:
        return FAR  # no pairs of words make up for that
    pairs: dict[tuple[int, str, str], float] = {}
    for first, second, third in zip(read, [*read[1:], ""], [*read[2:], "", ""], strict=False):
        if (entry := beside.get(first)) is not None:
            following, after = entry
            if second in following:
                pairs[1, first, second] = following[second]
            if third in after:
                pairs[2, first, third] = after[third]
    found += pairs.values()
    found += [both[pair] for pair in combinations(sorted(words & model.meanings), 2) if pair in both]
    return fsum(found) / sqrt(max(1, len(found))) + model.bias


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


def _tokens_and_meanings(text: str, model: _Model) -> tuple[list[str], list[str]]:
    """The words of *text*, and those with a known meaning as that in capitals; a full stop begins each sentence."""
    if not text.isascii() and _SPACELESS.search(text) is not None:
        text = model.spaceless.sub(lambda match: f" {match[0]} ", text)
    if len(model.read) > _REMEMBERED:
        model.read.clear()
    tokens = _tokens(text) if "@" in text or "://" in text else _tokens_without_address(text)
    return tokens, [_SENTENCE, *map(model.read.__getitem__, tokens)]


class _Read(dict[str, str]):
    """What a word is read as, which is the same wherever it stands: found once."""

    def __init__(self, meanings: Mapping[str, str]) -> None:
        super().__init__()
        self.meanings = meanings

    def __missing__(self, word: str) -> str:
        meaning = self[word] = self.meanings.get(word) or _kind(word)
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


def features(text: str) -> set[Feature]:
    """Return what *text*, in small letters, is judged by: its words, pairs of words and pairs of meanings.

    Returns:
        The first word; 0 for it alone, 1 with the word that follows it, 2 with the one after that, 3 for a meaning with
        another one; and that other word.
    """
    model = _model()
    tokens, read = _tokens_and_meanings(text, model)
    found = {(word, 0, "") for word in read}
    found.update((word, 0, "") for word in tokens if word in model.read.meanings)
    found.update((first, 1, second) for first, second in pairwise(read))
    found.update((first, 2, second) for first, second in zip(read, read[2:], strict=False))
    found.update((first, 3, second) for first, second in combinations(sorted(filter(str.isupper, {*read})), 2))
    found.update((pair, 0, "") for word in read if not word.isascii() for pair in _pairs(word))
    return found


def meanings() -> Mapping[str, str]:
    """Return the known meanings of words, by word."""
    return _model().read.meanings
