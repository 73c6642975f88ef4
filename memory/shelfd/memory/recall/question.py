"""What a query asks for, as far as words show: the terms a note has to speak of, and how much each says."""

import re
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from functools import lru_cache
from typing import Final, NamedTuple

from shelfd.memory.recall.analyzer import Analyzer
from shelfd.memory.recall.document import made
from shelfd.memory.recall.languages import ForeignLanguage
from shelfd.memory.recall.meaning import ANSWER_TYPES, meaning_lists, related_terms

#: Terms of a query that are compared with notes, the first ones.
MOST_TERMS: Final = 32
#: "What colour is", "how old are": the word between names the kind of thing asked for.
_INTERROGATIVES: Final = frozenset({"what", "which", "whose", "how"})
_NAMES_WHAT: Final = frozenset({"what", "which"})
_COUNTS: Final = frozenset({"many", "much"})
_AUXILIARIES: Final = frozenset(
    "is are was were be do does did has have had can could will would should may of".split()
)
#: What these words want by themselves.
_WANTS: Final = {
    "when": ANSWER_TYPES["time"], "until": ANSWER_TYPES["time"], "why": ANSWER_TYPES["cause"],
    "who": ANSWER_TYPES["name"], "whom": ANSWER_TYPES["name"], "whose": ANSWER_TYPES["name"],
}  # fmt: skip
#: What Snowball leaves of the endings by which English makes one word from another.
_ENDINGS: Final = (
    "e", "r", "er", "or", "ur", "atur", "ment", "ion", "ation", "it", "al", "anc", "enc", "ist", "y", "i", "ant",
    "ent", "eri", "ship", "hood", "ness", "th",
)  # fmt: skip
_SHORTEST_STEM: Final = 4
#: What is good enough for one who wants this.
_ENOUGH: Final = {
    ANSWER_TYPES["time"]: ANSWER_TYPES["duration"] | ANSWER_TYPES["frequency"],
    ANSWER_TYPES["money"]: ANSWER_TYPES["rate"],
    ANSWER_TYPES["duration"]: ANSWER_TYPES["length"],
}
#: Words from "what" on in which the thing asked for is named, and from the beginning on in which "when" is a question.
_NEAR: Final = 6
_BEGINNING: Final = 3
#: A word that does not begin the query.
_LATER_WORD: Final = re.compile(r"(?<!^)\b[^\W\d_]+")
#: What begins with a capital, in ASCII; what stands before is looked at then, for a pattern that begins so is quick.
_CAPITAL: Final = re.compile("[A-Z][A-Za-z]*")
_NONE: Final[frozenset[str]] = frozenset()
_NOWHERE: Final[frozenset[int]] = frozenset()


class AskedTerm(NamedTuple):
    """A content term of a query."""

    term: str
    light: bool  #: says little of what the query is about
    joined: str | None  #: the term it makes with the next word; None if only the term itself will do
    wants: int  #: what would answer it, bits of :data:`~shelfd.memory.recall.meaning.ANSWER_TYPES`
    kind: bool  #: names the kind of thing asked for
    run: bool  #: a pair of characters of a script without spaces that overlaps the term before it
    is_name: bool  #: is written as a name
    is_number: bool
    other: str | None = None  #: the same word by the shelf's own word forms, if the query is in another language


#: Stands for a time as seen from today among the terms of a question; no word is written so.
WHEN: Final = AskedTerm("\x1f", False, None, 0, False, False, False, False)
#: Number by which a document has it; no term of an index has such a one.
OF_TIME: Final = -1


class Question(NamedTuple):
    """The distinct content terms of a query, in its order."""

    terms: tuple[AskedTerm, ...]
    wants: int  #: any of these bits of :data:`~shelfd.memory.recall.meaning.ANSWER_TYPES` would answer it; 0: no matter


class Questions:
    """Reads queries, with what is known of the analyzer's language."""

    def __init__(self, analyzer: Analyzer) -> None:
        self._analyzer = analyzer
        lists = meaning_lists(analyzer.language)
        self._asks = lists.asks
        self._conjunctions = lists.conjunctions
        self._light = frozenset(map(analyzer.term, lists.light))
        self._listed = related_terms(lists, analyzer.term)

    def goes_on(self, query: str) -> bool:
        """Return whether *query* begins with a conjunction."""
        return next(iter(self._analyzer.words(query)), "") in self._conjunctions

    def parse(self, query: str, words: list[str]) -> Question:
        """Return what *query*, of those folded *words*, asks for; without content words, that is nothing."""
        return self.parse_in(self._analyzer.language_of(words), query, words)

    def parse_in(
        self, language: ForeignLanguage | None, query: str, words: list[str], timed: AbstractSet[int] = _NOWHERE
    ) -> Question:
        """Return what :meth:`parse` does for a query in a *language* that is known; None is the analyzer's own.

        Words at the places *timed* ask for a time alone, and are left out.
        """
        capitals = _capitals(query)
        found: dict[str, AskedTerm] = {}
        wants, named_at = 0, -_NEAR
        before, is_content = "", self._analyzer.is_content
        for at, word in enumerate(words):
            if at in timed:
                before = word
                continue
            if word in _NAMES_WHAT:
                named_at = at
            asks = self._asks.get(word, 0) if before == "how" or at < named_at + _NEAR else 0
            if language is not None:
                asks |= language.asks.get(word, 0)
            wants |= asks | (_WANTS.get(word, 0) if at < _BEGINNING else 0)
            if is_content(word) and not (language and language.is_idle(word)) and len(found) < MOST_TERMS:
                after = words[at + 1] if at + 1 < len(words) else ""
                kind = before in _COUNTS or (before in _INTERROGATIVES and (asks != 0 or after in _AUXILIARIES))
                term = self._analyzer.term(word)
                asked = self._asked(term, word, before, after, asks, kind=kind, name=word in capitals)
                if language is not None:
                    # A short note does not show its language: then it has the word by the shelf's own word forms.
                    term = self._analyzer.foreign_term(word, language)
                    asked = asked._replace(term=term, other=None if term == asked.term else asked.term)
                found.setdefault(term, asked)
            before = word
        if not found and not timed and language is not None:  # "sein" alone asks for what is called so
            return self.parse_in(None, query, words, timed)
        return made(Question, (tuple(found.values()), self._wants(wants, words, found.values())))

    def _asked(self, term: str, word: str, before: str, after: str, asks: int, *, kind: bool, name: bool) -> AskedTerm:
        # Two pairs of characters with one in common are pieces of one run.
        run = len(before) == 2 == len(word) and not word.isascii() and before[1] == word[0]
        light = term in self._light and not kind
        number = word.isnumeric()
        joined = None if light or name or number or run else self._analyzer.term(word + after)
        return made(AskedTerm, (term, light, joined, asks, kind, run, name, number, None))

    def _wants(self, wants: int, words: list[str], terms: Iterable[AskedTerm]) -> int:
        """What a question of those *words* wants, where the words by themselves want all of *wants*."""
        if "much" in words and any(self._asks.get(word, 0) & ANSWER_TYPES["money"] for word in words):
            wants |= ANSWER_TYPES["money"]
        if wants & ~(ANSWER_TYPES["number"] | ANSWER_TYPES["name"]):
            wants &= ~ANSWER_TYPES["number"]
        if wants & ANSWER_TYPES["age"] and not any(term.is_name for term in terms):
            wants |= ANSWER_TYPES["year"]  # which gives the age of a thing
        for want, enough in _ENOUGH.items():
            if wants & want:
                wants |= enough
        return wants

    def listed(self, term: str) -> frozenset[str]:
        """Return what a note may say instead of *term* by the lists."""
        return self._listed.get(term, _NONE)

    def related_to(self, term: str) -> list[str]:
        """Return what a note may say instead of *term*: by the lists, or with another ending; most are no words."""
        return [*self._listed.get(term, _NONE), *_other_endings(term)]


def _capitals(query: str) -> set[str]:
    """Return the words of a *query*, but for its first, that are written with a capital, in lower case."""
    if query.isascii():
        return {
            found[0].lower()
            for found in _CAPITAL.finditer(query)
            if (at := found.start()) and not query[at - 1].isalnum() and query[at - 1] != "_"
        }
    return {word.lower() for word in _LATER_WORD.findall(query) if word[0].isupper()}


@lru_cache(maxsize=1 << 14)
def reduced(term: str) -> frozenset[str]:
    """Return *term* without the endings it may have: what is related to another term has one of these in common."""
    if len(term) < _SHORTEST_STEM or not term.isascii():
        return _NONE
    found = {term.removesuffix(ending) for ending in _ENDINGS if len(term) >= len(ending) + _SHORTEST_STEM}
    if term[-1] == "e":
        found.add(term[:-1])
    return frozenset(found - {term})


def _other_endings(term: str) -> list[str]:
    """Index terms that derive from the same word: "sign", "signature"; most of them are no words, some come twice."""
    if len(term) < _SHORTEST_STEM or not term.isascii():
        return []
    found = [term + ending for ending in _ENDINGS]
    if len(term) > _SHORTEST_STEM and term.endswith(_ENDINGS):
        longest = len(term) - _SHORTEST_STEM
        found += [term.removesuffix(ending) for ending in _ENDINGS if len(ending) <= longest and term.endswith(ending)]
    if term[-1] == "e":
        stem = term[:-1]
        found += [other for ending in _ENDINGS if (other := stem + ending) != term]
    return found
