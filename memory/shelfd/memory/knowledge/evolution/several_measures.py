"""What a note says of one thing with several measures, each by itself: it leaves at 14:20, and from terminal 2.

An older note may say one of them, and the newer one has another.
"""

from collections.abc import Iterator
from typing import Final

from shelfd.memory.knowledge.evolution.lexicon import ALPHABETIC, lexicon
from shelfd.memory.knowledge.evolution.measures import measured
from shelfd.memory.knowledge.evolution.statement import Effect, Statement
from shelfd.memory.knowledge.evolution.verdicts import Judgement, Verdict

_SAYS: Final = Effect.SAYS
_FEWEST: Final = 2  #: measures


def each_measure(statement: Statement) -> Iterator[Statement]:
    """Yield what *statement* says with each of several measures; nothing if it has but one."""
    language, words = statement.language, statement.words
    if sum(map(_is_measure, words)) < _FEWEST or language not in ALPHABETIC or statement.effect is not _SAYS:
        return  # as most
    if not statement.verb or statement.verb not in words or statement.event:
        return
    begin = words.index(statement.verb) + 1
    parts = list(_parts(words[begin:], lexicon(language)["parting"]))
    if len(parts) < _FEWEST or any(map(_is_measure, words[:begin])):
        return
    amounts = iter(statement.amounts)
    for part in parts:
        own = tuple(next(amounts, 0.0) for word in part if word[0] == "#")
        yield statement._replace(words=(*words[:begin], *part), amounts=own, several=False)


def one_measured(new: Statement, old: Statement) -> Judgement | None:
    """Return what becomes of a measure that is one of several which a newer note gives; None if nothing does."""
    for part in each_measure(new):
        judged = measured(part, old)
        if judged is not None and judged.verdict in (Verdict.UPDATED, Verdict.CORRECTED):
            return judged
    return None


def _parts(words: tuple[str, ...], parting: frozenset[str]) -> Iterator[list[str]]:
    """Yield the parts of a predicate that have one measure each; nothing if one of them has more."""
    parts: list[list[str]] = [[]]
    for word in words:
        if word in parting:
            parts.append([])
        parts[-1].append(word)
    joined: list[list[str]] = []
    for part in parts:
        if joined and not any(map(_is_measure, part)):
            joined[-1] += part
        elif part:
            joined.append(part)
    if all(sum(map(_is_measure, part)) == 1 for part in joined):
        yield from joined


def _is_measure(word: str) -> bool:
    return word[0] in "#~" or word.isdigit()
