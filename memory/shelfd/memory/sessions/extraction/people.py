"""What a turn says of people for good: who they are, what they are like, want and own, and how they are related."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from shelfd.memory.sessions.extraction.language import lexicon
from shelfd.memory.sessions.extraction.names import ARTICLES, POSSESSIVES, Cast, described, noun_phrase
from shelfd.memory.sessions.extraction.sentences import Sentence

_IS: Final = frozenset("is was 's am 'm are were".split())
_HAS: Final = frozenset("has had carries carried owns owned wears wore".split())
_CLAUSE_ENDS: Final = frozenset(
    ", ; : ( ) - \u2013 \u2014 but because when while though although if since unless so which who".split()
)
_LONGEST_VALUE: Final = 12
_SPEAKERS: Final = frozenset(("i", "he", "she", "my"))
_COUNTS: Final = ARTICLES | {"his", "her", "two", "three", "four", "only", "some"}
_TASTES: Final = frozenset(
    "hate hates hated love loves loved prefer prefers likes dislike dislikes despise despises".split()
)
_NO_GOALS: Final = frozenset("be know say see do hear tell share ask thank let keep talk show".split())
_WHAT: Final = frozenset("how what when where who that working doing being seeing".split())


class Subject(NamedTuple):
    """Somebody of whom the words from token *end* on say something."""

    title: str
    end: int
    is_named: bool = True


class Relation(NamedTuple):
    """How two people are related."""

    source: str
    relation: str
    target: str


class Portraits:
    """What the sentences of a turn say of people."""

    def __init__(self, cast: Cast) -> None:
        self.columns: defaultdict[str, dict[str, list[str]]] = defaultdict(dict)
        self.relations: list[Relation] = []
        self._cast = cast
        for title, names in cast.aliases.items():
            self.columns[title]["aliases"] = list(names)

    def read(self, at: int, sentence: Sentence, author: str | None, before: str | None) -> None:
        """Take what *sentence*, number *at*, says.

        Args:
            author: Who says "I" in it.
            before: Whom "he" or "she" at its beginning means.
        """
        people = self._cast.of(at, "person")
        if not people and _SPEAKERS.isdisjoint(sentence.low):
            return
        for mention in people:
            title = self._cast.title(mention.name)
            self._introduced(sentence, mention.start, title, author, before)
            if (phrase := described(sentence, mention.end)) is not None:
                self._identity(sentence, phrase, title, author, before, at)
        for subject in self._subjects(at, sentence, author, before):
            self._said_of(sentence, subject, is_self=subject.title == author)
            if not subject.is_named and (phrase := described(sentence, subject.end)) is not None:
                self._identity(sentence, phrase, subject.title, author, None, at)
        if author is not None and sentence.low[:4] == ("my", "goal", "is", "to"):
            self._put(author, "goal", clause(sentence, 4))
        self._pairs(at, sentence)

    def _put(self, title: str, column: str, value: str) -> None:
        values = self.columns[title].setdefault(column, [])
        if value and value.casefold() not in map(str.casefold, values):
            values.append(value)

    def _relate(self, whose: str | None, word: str, title: str) -> None:
        lists = lexicon()
        names = (
            ("partners", "partner_of"), ("family", "family_of"), ("enemies", "hostile_to"), ("allies", "allied_with"),
        )  # fmt: skip
        if whose is None or whose == title:
            return
        for name, relation in names:
            if word in lists[name]:
                self.relations.append(Relation(whose, relation, title))
                return
        if word in lists["mentors"]:
            self.relations.append(Relation(title, "mentor_of", whose))
        elif word in lists["apprentices"]:
            self.relations.append(Relation(whose, "mentor_of", title))

    def _introduced(self, sentence: Sentence, start: int, title: str, author: str | None, before: str | None) -> None:
        """Take what stands before a name: "my new coach, Anneke", "Ada's husband Piet"."""
        low, lists = sentence.low, lexicon()
        end = start - 1 if start and low[start - 1] == "," else start
        if end and low[end - 1] in ("is", "'s", "called", "named"):
            self._called(sentence, end, title, author, before)
            return
        if not end or low[end - 1] not in lists["people"]:
            return
        first = end - 1
        while first and end - first < 5 and low[first - 1] not in ARTICLES | POSSESSIVES | {"'s", ",", "and", "is"}:
            first -= 1
        opener = low[first - 1] if first else ""
        if opener not in ARTICLES | POSSESSIVES | {"'s"}:
            first, opener = end - 1, ""
        if end != start and not (opener or first == 0):
            return
        self._put(title, "identity", sentence.span(first, end))
        self._relate(self._owner(sentence, first - 1, author, before), low[end - 1], title)

    def _called(self, sentence: Sentence, end: int, title: str, author: str | None, before: str | None) -> None:
        """Take "our guide is called Astrid", "our host in Oaxaca is Don Ernesto"."""
        low = sentence.low
        first = next((at for at in range(end) if low[at] in POSSESSIVES | ARTICLES), None)
        if first is None or first > 1 or end - first > 8:
            return
        phrase = noun_phrase(sentence, first)
        if phrase is not None and (phrase[1] in (end - 1, end - 2) or low[phrase[1]] in ("in", "at", "from", "for")):
            self._put(title, "identity", sentence.span(*phrase))
            self._relate(self._owner(sentence, first, author, before), low[phrase[1] - 1], title)

    def _owner(self, sentence: Sentence, at: int, author: str | None, before: str | None) -> str | None:
        """Return whose somebody is, by the possessive at token *at*."""
        if at < 0:
            return None
        word = sentence.low[at]
        if word == "my":
            return author
        if word in ("his", "her"):
            number = self._number(sentence)
            earlier = [mention for mention in self._cast.of(number, "person") if mention.end <= at]
            return self._cast.title(earlier[-1].name) if earlier else before
        if word == "'s":
            number = self._number(sentence)
            owners = [mention for mention in self._cast.of(number, "person") if mention.end == at]
            return self._cast.title(owners[0].name) if owners else None
        return None

    def _number(self, sentence: Sentence) -> int:
        return self._numbers[id(sentence)]

    def number(self, sentences: Sequence[Sentence]) -> None:
        """Know the numbers of the turn's *sentences*."""
        self._numbers = {id(sentence): at for at, sentence in enumerate(sentences)}

    def _identity(
        self, sentence: Sentence, phrase: tuple[int, int], title: str, author: str | None, before: str | None, at: int
    ) -> None:
        """Take "Eileen, a retired smuggler", "Karim is my neighbour's son", "Ilse, his wife"."""
        low = sentence.low
        if "not" in low[max(0, phrase[0] - 3) : phrase[0]]:
            return
        self._put(title, "identity", sentence.span(*phrase))
        own = [here for here in range(*phrase) if low[here] == "'s"]
        if own:
            owner = self._owner(sentence, own[0], author, before)
            self._relate(owner, low[phrase[1] - 1], title)
        elif phrase[0] and low[phrase[0] - 1] in POSSESSIVES:
            earlier = [each for each in self._cast.of(at, "person") if self._cast.title(each.name) != title]
            others = [each for each in earlier if each.end <= phrase[0]]
            whose = author if low[phrase[0] - 1] == "my" else None
            if low[phrase[0] - 1] in ("his", "her"):
                whose = self._cast.title(others[-1].name) if others else before
            self._relate(whose, low[phrase[1] - 1], title)

    def _subjects(self, at: int, sentence: Sentence, author: str | None, before: str | None) -> Iterator[Subject]:
        low = sentence.low
        for mention in self._cast.of(at, "person"):
            if mention.start and low[mention.start - 1] in ("'s", "to", "with", "of", "for", "than"):
                continue
            end = mention.end
            if end < len(low) and low[end] == "and":
                continue
            yield Subject(self._cast.title(mention.name), end)
        named = [(mention.end, self._cast.title(mention.name)) for mention in self._cast.of(at, "person")]
        if _SPEAKERS.isdisjoint(low):
            return
        for here, word in enumerate(low):
            starts = here == 0 or low[here - 1] in (",", "and", "but", ":", ";", "'s")
            if word in ("he", "she") and starts:
                earlier = [title for end, title in named if end <= here]
                whom = earlier[-1] if earlier else before
                if whom is not None and len(set(earlier)) < 2:
                    yield Subject(whom, here + 1, is_named=False)
            elif word == "i" and author is not None and not sentence.is_quoted:
                yield Subject(author, here + 1, is_named=False)

    def _said_of(self, sentence: Sentence, subject: Subject, is_self: bool) -> None:
        lists, low = lexicon(), sentence.low
        at = subject.end
        while at < len(low) and low[at] in lists["adverbs"]:
            at += 1
        if at >= len(low) - 1:
            return
        word, after = low[at], low[at + 1]
        if word in _IS and not (is_self and word == "was"):
            self._traits(sentence, subject.title, at + 1, is_self)
        elif word in _HAS and after in _COUNTS and not (is_self and word in ("had", "has")):
            self._inventory(sentence, subject.title, at + 1)
        elif lists.is_in("goal_words", word) and after == "to" and word not in ("tried", "try"):
            if is_self and word.endswith("ed"):
                return
            end = clause_end(sentence, at + 2)
            if end - at > 3 and low[at + 2] not in _NO_GOALS and not _is_vague(low[at + 3 : end]):
                self._put(subject.title, "goal", sentence.span(at + 2, end))
        elif word in _TASTES and not (is_self and word.endswith("ed")):
            end = clause_end(sentence, at + 1)
            is_plain = after[0].isalpha() and after not in lists["light_words"] | _IS | _WHAT and end - at <= 5
            if is_plain and not self._cast_at(sentence, at + 1):
                self._put(subject.title, "traits", sentence.span(at, end))

    def _cast_at(self, sentence: Sentence, at: int) -> bool:
        people = self._cast.of(self._number(sentence), "person")
        return any(mention.start == at for mention in people)

    def _traits(self, sentence: Sentence, title: str, at: int, is_self: bool) -> None:
        lists, low = lexicon(), sentence.low
        traits = lists["traits"] - lists["moods"] if is_self else lists["traits"]
        start = end = at
        while at < len(low):
            while at < len(low) and low[at] in lists["adverbs"] - {"now", "still"}:
                at += 1
            if low[at : at + 2] == ("allergic", "to"):
                end = clause_end(sentence, at + 2)
                break
            if at >= len(low) or low[at] not in traits:
                break
            at = end = at + 1
            if at < len(low) and low[at] in (",", "and", "but"):
                at += 1
                at += at < len(low) and low[at] in ("and", "but")
        follows = low[end] if end < len(low) else ""
        if end > start and not (
            follows[:1].isalpha() and follows not in ("but", "and", "now", "as", "because", "though")
        ):
            self._put(title, "traits", sentence.span(start, end))

    def _inventory(self, sentence: Sentence, title: str, at: int) -> None:
        lists, low = lexicon(), sentence.low
        end = at
        while end < len(low) and end < at + 9 and (low[end][0].isalnum() or low[end] == "'s"):
            if low[end] in (
                "with",
                "in",
                "on",
                "that",
                "who",
                "which",
                "for",
                "at",
                "to",
                "from",
                "but",
                "because",
                "of",
            ):
                break
            end += 1
        things = low[at:end]
        vague = lists["abstract_things"] | lists["people"] | lists["pleasant_words"] | lists["meals"]
        if len(things) < 2 or any(word in vague for word in things):
            return
        if all(word in lists["light_words"] or word in ARTICLES for word in things):
            return
        self._put(title, "inventory", sentence.span(at, end))

    def _pairs(self, at: int, sentence: Sentence) -> None:
        """Take "Ben and Yara are siblings", "Krane hated Baroness Vex", "owes a debt to Lord Pim"."""
        lists, low = lexicon(), sentence.low
        people = self._cast.of(at, "person")
        if len(people) < 2:
            return
        debtors = [each for each in people if any(word in ("owes", "owed") for word in low[each.end : each.end + 3])]
        creditors = [
            each
            for each in people
            if debtors and each.start > debtors[0].end and low[each.end : each.end + 1] != ("'s",)
        ]
        if creditors:
            titles = [self._cast.title(each.name) for each in (debtors[0], creditors[0])]
            self.relations.append(Relation(titles[0], "debt_owed_to", titles[1]))
        for first, second in pairwise(people):
            one, other = self._cast.title(first.name), self._cast.title(second.name)
            between = low[first.end : second.start]
            rest = low[second.end : second.end + 3]
            if between == ("and",) and rest and rest[0] in ("are", "were"):
                if any(word in lists["kin_plural"] for word in rest):
                    self.relations.append(Relation(one, "family_of", other))
                elif any(word in lists["couple_words"] for word in rest):
                    self.relations.append(Relation(one, "partner_of", other))
            elif between and between[0] in ("hates", "hated", "despises", "despised") and len(between) == 1:
                self.relations.append(Relation(one, "hostile_to", other))


def _is_vague(words: Sequence[str]) -> bool:
    small = lexicon()["light_words"] | lexicon()["vague_words"]
    return all(word in small or not word[0].isalnum() for word in words)


def clause_end(sentence: Sentence, at: int, longest: int = _LONGEST_VALUE) -> int:
    """Return where the clause that goes on at token *at* ends, *longest* tokens later at most."""
    low, end = sentence.low, at
    while end < len(low) and end - at < longest and low[end] not in _CLAUSE_ENDS:
        if low[end] == "and" and end + 1 < len(low) and low[end + 1] in ("i", "he", "she", "we", "they", "it", "the"):
            break
        end += 1
    return end


def clause(sentence: Sentence, at: int, longest: int = _LONGEST_VALUE) -> str:
    """Return the text of the clause that goes on at token *at*."""
    return sentence.span(at, clause_end(sentence, at, longest))
