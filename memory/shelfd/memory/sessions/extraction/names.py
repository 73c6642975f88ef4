"""Names in a turn, and whether each is a person's or a place's.

A capital letter is no proof. A name is a person's if something only said of people is said of it: a title, kinship or
an occupation beside it, a verb of human action after it, a verb of address before it, or "he" or "she" in the next
sentence. It is a place's if a word for a place is part of it or governs it, or somebody arrives there. What has no
proof is left alone.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final, Literal, NamedTuple, TypeAlias

from shelfd.memory.sessions.extraction.language import is_common, is_past, lexicon
from shelfd.memory.sessions.extraction.sentences import Sentence
from shelfd.memory.sessions.extraction.turns import Entity, KnownNotes

Kind: TypeAlias = Literal["person", "place"]

POSSESSIVES: Final = frozenset("my our your his her their".split())
ARTICLES: Final = frozenset("a an the".split())
_BE: Final = frozenset("is was 's are were am 'm be been being".split())
_AUXILIARIES: Final = frozenset(
    "has had have will would can could might may must should did does do didn't doesn't won't 'll 'd 's is was are "
    "were isn't wasn't hasn't hadn't can't cannot couldn't wouldn't not been".split()
)
_INTO: Final = frozenset("in at to from into near through reached inside outside around".split())
_ALIAS_CUES: Final = (("also", "known", "as"), ("known", "as"), ("aka",), ("alias",), ("nicknamed",), ("called",))
_CONJUNCTIONS: Final = frozenset(
    ", and but then : ; since because that when while as until after before if so no yes".split()
)
_LONGEST_NAME: Final = 5
#: Different names that are looked at in a turn; a list of more is no conversation.
_MOST_NAMES: Final = 100
#: Names that have a capital inside: McKay, MacLeod, DeSantis, LeRoy.
_INNER: Final = frozenset(("Mc", "Ma", "De", "Le", "La", "Di", "Du", "Fi", "Va"))


class Mention(NamedTuple):
    """A name in a sentence, from token *start* up to *end*."""

    start: int
    end: int
    name: str


def mentions(sentence: Sentence) -> Iterator[Mention]:
    """Yield what may be a name in *sentence*: runs of capitalised words, without those that only begin it."""
    lists, words, low = lexicon(), sentence.words, sentence.low
    at, count = 0, len(words)
    for first in [here for here, word in enumerate(words) if word[0].isupper() and _is_capital(word)]:
        if first < at:
            continue
        at, end = first, first + 1
        while end < count and end - at < _LONGEST_NAME:
            if _is_capital(words[end]):
                end += 1
            elif low[end] in lists["connectors"] and end + 1 < count and _is_capital(words[end + 1]):
                end += 2
            else:
                break
        start = at
        begins = at == 0 or words[at - 1] in ":-\u2013\u2014("
        while start < end and (
            low[start] in lists["not_names"]
            or low[start] == "the"
            or (begins and start == at and low[start] not in lists["honorifics"] and is_common(low[start]))
        ):
            start += 1
        at = end
        follows = words[end] if end < count else ""
        if (
            start < end
            and follows != "&"
            and not _is_common(low[start:end], lists["organisations"] | lists["relatives"])
        ):
            yield Mention(start, end, sentence.span(start, end))


def short_names(name: str) -> list[str]:
    """Return how a person may be called: without the title and by the last name if there is one, else by the first."""
    words = name.split()
    if len(words) < 2:
        return []
    if is_titled(name):
        rest = words[1:]
        return list(dict.fromkeys((" ".join(rest), rest[-1])))
    return [words[0]]


@lru_cache(maxsize=1024)
def is_titled(name: str) -> bool:
    """Return whether *name* begins with a title as Mr., Captain or Queen."""
    words = name.casefold().split()
    return len(words) > 1 and words[0].strip(".") in lexicon()["honorifics"]


class Cast:
    """The people and places of a turn, proven by its sentences or known before."""

    def __init__(self, sentences: Sequence[Sentence], known: KnownNotes, authors: Sequence[str]) -> None:
        self._known = known
        self._entities: dict[str, Entity | None] = {}
        self._called: dict[str, str] = {}
        self._of: dict[Kind, list[list[Mention]]] = {}
        self._kinds: dict[str, Kind] = dict.fromkeys(authors, "person")
        self._titles: dict[str, str] = {author: author for author in authors}
        self.mentions: list[list[Mention]] = [[] for _ in sentences]
        self._collect(sentences)
        for _ in range(2):  # what joins two names proves one by the other
            for at, sentence in enumerate(sentences):
                following = sentences[at + 1] if at + 1 < len(sentences) else None
                for mention in self.mentions[at]:
                    self._judge(sentence, mention, self.mentions[at], following)
        self.aliases: dict[str, list[str]] = {}
        self._name_aliases(sentences)
        self._called.clear()

    def _name_aliases(self, sentences: Sequence[Sentence]) -> None:
        for at, sentence in enumerate(sentences):
            for mention in self.mentions[at]:
                if self.kind(mention.name) == "person":
                    self._alias(sentence, mention)
        self._called.clear()
        for name, kind in list(self._kinds.items()):
            if kind == "person":
                for short in short_names(name):
                    self._kinds.setdefault(short, "person")
                    self._titles.setdefault(short, name)

    def _collect(self, sentences: Sequence[Sentence]) -> None:
        """Find the names of the turn, up to as many as people speak of at once."""
        names: set[str] = set()
        for found, sentence in zip(self.mentions, sentences, strict=True):
            for mention in mentions(sentence):
                if len(names) < _MOST_NAMES or mention.name in names:
                    names.add(mention.name)
                    found.append(mention)

    def kind(self, name: str) -> Kind | None:
        """Return whether *name* is a person's or a place's, None if nothing says so."""
        if name in self._kinds:
            return self._kinds[name]
        entity = self._entity(name)
        if entity is None:
            return None
        return "person" if entity.type == "character_sheet" else "place"

    def _entity(self, name: str) -> Entity | None:
        if name not in self._entities:
            self._entities[name] = self._known.named(name)
        return self._entities[name]

    def title(self, name: str) -> str:
        """Return the title of whom or what *name* names: as it is known, else the fullest name in the turn."""
        if (title := self._called.get(name)) is None:
            full = self._titles.get(name, name)
            entity = self._entity(name) or self._entity(full)
            title = self._called[name] = entity.title if entity is not None else full
        return title

    def of(self, at: int, kind: Kind) -> list[Mention]:
        """Return the names of *kind* in the sentence with number *at*."""
        if (found := self._of.get(kind)) is None:
            found = [[mention for mention in each if self.kind(mention.name) == kind] for each in self.mentions]
            self._of[kind] = found
        return found[at]

    def place_called(self, noun: str) -> str | None:
        """Return the title of the only place in the turn that has *noun* in its name: the Black Mill is "the mill"."""
        names = [name for name, kind in self._kinds.items() if kind == "place"]
        names += [mention.name for of in self.mentions for mention in of if mention.name not in self._kinds]
        titles = {self.title(name) for name in names if noun in name.casefold().split() and self.kind(name) == "place"}
        return titles.pop() if len(titles) == 1 else None

    def add(self, name: str, kind: Kind) -> None:
        """Take *name* as proven."""
        self._kinds.setdefault(name, kind)
        self._titles.setdefault(name, name)

    def _alias(self, sentence: Sentence, mention: Mention) -> None:
        """Take "Captain Brandt, also known as the Grey Fox"."""
        low, end = sentence.low, mention.end
        at = end + (end < len(low) and low[end] in ("(", ","))
        for cue in _ALIAS_CUES:
            if low[at : at + len(cue)] == cue and (at > end or cue != ("called",)):
                name = _name_at(sentence, at + len(cue))
                if name and name != mention.name:
                    title = self.title(mention.name)
                    self.aliases.setdefault(title, []).append(name)
                    self._kinds[name], self._titles[name] = "person", title
                    self._called.clear()
                return

    def _judge(
        self, sentence: Sentence, mention: Mention, others: Sequence[Mention], following: Sentence | None
    ) -> None:
        if mention.name in self._kinds:
            return
        if self._entity(mention.name) is None:
            if _is_place(sentence, mention):
                self.add(mention.name, "place")
            elif (
                is_titled(mention.name)
                or _is_person(sentence, mention)
                or self._is_joined(sentence, mention, others)
                or (len(others) == 1 and _goes_on_with_a_person(sentence, mention, following))
            ):
                self.add(mention.name, "person")

    def _is_joined(self, sentence: Sentence, mention: Mention, others: Sequence[Mention]) -> bool:
        low = sentence.low
        for other in others:
            first, second = (mention, other) if mention.start < other.start else (other, mention)
            between = low[first.end : second.start]
            if between == ("and",) and self.kind(other.name) == "person":
                return True
            if between[:1] == ("and",) and between[1:2] in (("his",), ("her",)) and between[-1] in lexicon()["people"]:
                return True
        return (mention.end + 1 < len(low) and low[mention.end] == "and" and low[mention.end + 1] == "i") or (
            mention.start >= 2 and low[mention.start - 2 : mention.start] == ("i", "and")
        )


def subject_verb(sentence: Sentence, end: int) -> int | None:
    """Return where the verb of a subject that ends at *end* stands, auxiliaries and adverbs passed over."""
    lists, low = lexicon(), sentence.low
    at = end
    if at + 1 < len(low) and low[at] == "and" and (low[at + 1] == "i" or sentence.words[at + 1][0].isupper()):
        at += 2
    while at < len(low) and at < end + 6 and (low[at] in _AUXILIARIES or low[at] in lists["adverbs"]):
        at += 1
    return at if at < len(low) and low[at][0].isalpha() else None


def _is_capital(word: str) -> bool:
    """Whether *word* is written as a name is: not an acronym, not a product's ``CamelCase``."""
    if not word[0].isupper() or word == "I" or (len(word) > 1 and word.isupper()) or word[-1].isdigit():
        return False
    return word[1:].islower() or len(word) == 1 or "-" in word or "'" in word or "\u2019" in word or word[:2] in _INNER


def _is_common(words: Sequence[str], organisations: frozenset[str]) -> bool:
    return words[-1] in organisations or all(word in organisations for word in words)


def _goes_on_with_a_person(sentence: Sentence, mention: Mention, following: Sentence | None) -> bool:
    """Whether "he" or "she" comes after the only name: in its sentence, or in the next if that is its subject."""
    if any(word in ("he", "she") for word in sentence.low[mention.end :]):
        return True
    if mention.start > 1 or following is None or following.is_quoted or mention.end >= len(sentence.low):
        return False
    word = sentence.low[mention.end]
    if not (word in _AUXILIARIES or is_past(word) or word.endswith("s")):
        return False
    return any(word in ("he", "she", "him") for word in following.low)


def _is_person(sentence: Sentence, mention: Mention) -> bool:
    lists, low, start, end = lexicon(), sentence.low, mention.start, mention.end
    before = low[start - 1] if start else ""
    after = low[end] if end < len(low) else ""
    if before == "to" and start > 1 and low[start - 2] in ("lost", "lose", "married", "engaged"):
        return True
    if before in lists["people"] or (before == "," and start > 1 and low[start - 2] in lists["people"]):
        return True
    if _is_addressed(low, start):
        return True
    if before in ("called", "named") and any(word in lists["people"] for word in low[max(0, start - 6) : start]):
        return True
    if after == "'s" and end + 1 < len(low) and low[end + 1] in lists["people"]:
        return True
    if described(sentence, end) is not None:
        return True
    return before not in ARTICLES and before not in _INTO and _acts(sentence, mention, before)


def _acts(sentence: Sentence, mention: Mention, before: str) -> bool:
    """Whether what follows a name is what people do or are."""
    lists, low, start, end = lexicon(), sentence.low, mention.start, mention.end
    verb = subject_verb(sentence, end)
    if (
        low[end : end + 1]
        and low[end] in _BE
        and any(word in lists["person_states"] for word in low[end + 1 : end + 4])
    ):
        return True
    if verb is None or (verb == end and start and before not in _CONJUNCTIONS):
        return False
    has = low[verb - 1] in ("has", "had") and low[verb] in ARTICLES | POSSESSIVES
    if verb == end + 1 and low[end] in ("are", "were", "have", "do", "don't"):
        return False  # "Pets are", "Things have": more than one
    if lists.is_in("will_verbs" if verb > end else "thing_verbs", low[verb]) and (verb > end or start == 0):
        return low[verb] in ("got", "came", "went", "took", "brought") and low[verb + 1 : verb + 2] != ("well",)
    return has or _is_human(low, verb, end)


def _is_addressed(low: Sequence[str], start: int) -> bool:
    """Whether the verb before a name is one of speaking to people; not "a place called Windy Point"."""
    if not start or not lexicon().is_in("told_verbs", low[start - 1]) or low[start - 1] in ("lost", "given", "named"):
        return False
    if low[start - 1] != "called":
        return start > 1 or is_past(low[0])
    return start == 1 or low[start - 2] in ("i", "he", "she", "we", "they", "have", "has", "had", "'ve", "and", "then")


def _is_human(low: Sequence[str], verb: int, end: int) -> bool:
    lists = lexicon()
    word = low[verb]
    if not lists.is_in("human_verbs", word) or (word.endswith("s") and word in lists["place_nouns"]):
        return False
    helped = low[end:verb]
    if word.endswith("ing"):
        return any(each in _BE for each in helped)
    if any(each in _BE for each in helped):
        return False  # "is closed", "was moved": said of things too
    return bool(helped) or is_past(word) or (word.endswith("s") and not word.endswith("ss"))


def described(sentence: Sentence, end: int) -> tuple[int, int] | None:
    """Return where the words stand that say what the person named before *end* is, None if there are none.

    "Eileen, a retired smuggler with a scar": "retired smuggler". "Karim is my neighbour's son": "neighbour's son".
    """
    low = sentence.low
    if end >= len(low):
        return None
    if low[end] == ",":
        return noun_phrase(sentence, end + 1)
    if low[end] in _BE:
        at = end + 1
        while at < len(low) and low[at] in lexicon()["adverbs"]:
            at += 1
        return noun_phrase(sentence, at)
    return None


def noun_phrase(sentence: Sentence, start: int) -> tuple[int, int] | None:
    """Return the bounds of the words for a kind of person that begin at *start*, without article or possessive."""
    lists, low = lexicon(), sentence.low
    at = start
    has_article = at < len(low) and (low[at] in ARTICLES or low[at] in POSSESSIVES)
    at += has_article
    is_owned = sentence.words[at : at + 1] != () and sentence.words[at][0].isupper() and low[at + 1 : at + 2] == ("'s",)
    found = None
    for here in range(at, min(at + 6, len(low))):
        word = low[here]
        if not (word[0].isalpha() or word == "'s") or word in ("with", "who", "that", "and", "but", "in", "from", "to"):
            break
        if word in lists["people"]:
            found = here + 1
    if found is None or not (has_article or is_owned or low[at] in lists["roles"]):
        return None
    if found + 1 < len(low) and low[found] == "of" and (low[found + 1][0].isalpha()):
        found += 2
        if low[found - 1] in ARTICLES | POSSESSIVES and found < len(low):
            found += 1
    return at, found


def _is_place(sentence: Sentence, mention: Mention) -> bool:
    lists, low, start = lexicon(), sentence.low, mention.start
    if is_titled(mention.name):
        return False
    last = low[mention.end - 1]
    if mention.end - start > 1 and (last in lists["place_nouns"] or low[start] in lists["leading_places"]):
        return True
    if not start or low[start - 1] not in _INTO | {"of"}:
        return False
    if start > 1 and low[start - 2] in lists["place_nouns"]:
        return True
    if low[start - 1] == "of":
        return False
    nearby = low[max(0, start - 6) : start]
    if low[start - 1] == "from":
        return low[max(0, start - 3) : start - 1] in (
            ("i", "'m"),
            ("i", "am"),
            ("he", "'s"),
            ("she", "'s"),
            ("he", "is"),
            ("she", "is"),
            ("i", "come"),
            ("he", "comes"),
            ("she", "comes"),
        )
    if low[start - 1] in ("at", "in") and any(word in lists["meals"] for word in nearby):
        return True
    return any(lists.is_in("presence_verbs", word) or lists.is_in("motion_verbs", word) for word in nearby)


def _name_at(sentence: Sentence, at: int) -> str:
    words = sentence.words
    at += at < len(words) and sentence.low[at] == "the"
    end = at
    while end < len(words) and words[end][0].isupper():
        end += 1
    return sentence.span(at, end)
