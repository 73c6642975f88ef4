"""Questions about two things at once: what each half of them asks."""

import re
from typing import Final

from shelfd.memory.recall.analyzer import Analyzer
from shelfd.memory.recall.languages import question_words

#: What joins two things.
_AND: Final = re.compile(r",?\s+(?:and|und|y|et)\s+", re.IGNORECASE)


def halves_of(query: str, analyzer: Analyzer) -> tuple[str, str] | None:
    """Return what the two halves of a *query* ask, if it may be about two things.

    Unless the second begins a question of its own, it asks what the first does, of something else than its last words:
    "when is the retro and the deploy" is "when is the retro" and "when is the deploy".
    """
    joints = list(_AND.finditer(query))
    if not joints:
        return None
    first, second = query[: joints[-1].start()], query[joints[-1].end() :]
    language = analyzer.language_of(analyzer.words(query))

    def says_something(text: str) -> bool:
        said = analyzer.words(text)
        return any(analyzer.is_content(word) and not (language and language.is_idle(word)) for word in said)

    if not says_something(first) or not says_something(second):
        return None
    if question_words().isdisjoint(analyzer.words(second)[:1]):
        asked = first.split()
        while asked and says_something(asked[-1]):
            asked.pop()
        second = " ".join([*asked, second])
    return first, second
