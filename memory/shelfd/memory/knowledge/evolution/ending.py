"""By which words a note says that something has ended, or never was: "no longer X", "instead of X", "X is over"."""

import re
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from functools import cache
from typing import Final, NamedTuple

from shelfd.memory.knowledge.evolution.compounds import parts_of
from shelfd.memory.knowledge.evolution.lexicon import AlphabeticLexicon, lexicon, load
from shelfd.memory.knowledge.evolution.stems import stem
from shelfd.memory.knowledge.evolution.tokens import words_in

#: Where a clause ends, beside commas, colons and the words that join clauses.
_PARTS: Final = re.compile(r"[;()\u2013\u2014]| - ")


#: In what German nouns end that tell of what was done with, or is the matter with, what they begin with.
_ARRANGED: Final = ("buchung", "reservierung", "allergie")
_PARTICIPLES: Final = ("ee", "ees", "es")  #: in what French participles end that are not a man's
_FEW: Final = 3  #: words after a denial, among which one that tells of an end says that nothing has ended
_NEAR: Final = 6  #: words before what would tell of an end, among which "not" says that nothing has ended


class Ending(StrEnum):
    """How a note says that something has ended."""

    ENDS = "ends"  #: of what follows: "no longer X"
    LEAVES = "leaves"  #: of where somebody was: "left X"
    ENDED = "ended"  #: of what stands before: "X is over"
    NEVER = "never"  #: what follows was never so: "wrongly listed as X"
    DENIES = "denies"  #: what follows is not so, perhaps never was: "not X"
    WAS = "was"  #: what follows was so once: "formerly X"


class Cues(NamedTuple):
    """What tells in a language that something has ended."""

    phrases: dict[str, tuple[tuple[tuple[str, ...], Ending, int], ...]]  #: word -> phrases, what each says, its place
    telling: frozenset[str]  #: the words of these, which a set finds in a tenth of the time
    unsure: re.Pattern[str]  #: says that something is only heard of, to come, or so for once
    kept: re.Pattern[str]  #: says that something is as it was
    occasion: re.Pattern[str]  #: says that one has ended of what comes again: "this week"
    since: re.Pattern[str]  #: "anymore": makes of a denial an end
    first: frozenset[str]  #: of what something was changed from
    then: frozenset[str]  #: to what
    changed: frozenset[str]  #: says that something changed
    wrong: frozenset[str]  #: says that something was never so
    silent: frozenset[str]  #: what tells nothing where something is denied: "mehr"
    implied: frozenset[str]  #: of whom a note speaks that names nobody
    minor: frozenset[str]  #: what a note need not repeat of an older one: how often, how much
    joining: frozenset[str]  #: between clauses
    people: frozenset[str]  #: whose things are not those of another
    stopping: frozenset[str]  #: forms of verbs that tell that something ended, and of nothing that it is so
    restricting: frozenset[str]  #: prepositions of where, when and with what
    causes: frozenset[str]  #: what stands after one of these and tells why: "on her doctor's orders"
    contrasting: frozenset[str]  #: prepositions that say different things of the same word: from, to; with, without
    active: frozenset[str]  #: before a participle that is not in the passive
    instead: frozenset[str]  #: what was done once instead of another thing ends nothing
    untold: frozenset[str]  #: words that tell nothing
    placing: frozenset[str]  #: prepositions, of all kinds
    joined: frozenset[str]  #: what a verb, or what stands with it, says no more by than "is"
    nominal: Mapping[str, str]  #: noun -> the verb, or what somebody is, that it tells of: a subscription
    deeds: Mapping[str, frozenset[str]]  #: verb -> nouns for what is done by it: who flies somewhere makes a trip
    kinds: Mapping[str, str]  #: noun -> the word for all of its kind: wine is alcohol
    nameless: frozenset[str]  #: words that are in no subject
    unnamed: tuple[frozenset[str], ...]  #: subjects of a note that names nobody


_SETS: Final = (
    "first", "then", "changed", "wrong", "silent", "implied", "minor", "joining", "people", "instead", "contrasting",
    "restricting", "causes", "stopping", "active",
)  # fmt: skip


def _kinds(data: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    """Yield each kind of things that a language's *data* list, a colon, and what belongs to it."""
    return (row.partition(":") for row in data.get("kinds", "").split("|"))


@cache
def cues(language: str) -> Cues:
    """Return what tells in *language* that something has ended."""
    data, lists = load(f"{language}.json")["ending"], lexicon(language)
    common = lists["be"] | lists["perfect"] | lists["determiners"] | lists["pronouns"]
    phrases: dict[str, list[tuple[tuple[str, ...], Ending, int]]] = {}
    for kind in Ending:
        for phrase in data[kind].split("|"):
            words = tuple(phrase.split())
            place = next(at for at, word in enumerate(words) if word not in common)  # else each sentence is looked at
            phrases.setdefault(words[place], []).append((words, kind, place))
    longest_first = {word: tuple(sorted(found, key=lambda one: -len(one[0]))) for word, found in phrases.items()}
    patterns = (re.compile(rf"(?<!\S)(?:{data[name]})(?!\S)") for name in ("unsure", "kept", "since", "occasion"))
    unsure, kept, since, occasion = patterns
    sets = {name: frozenset(data[name].split()) for name in _SETS}
    sets["joining"] |= {",", ":"}
    sets["changed"] |= lists["triggers"]
    untold = lists["prepositions"] | lists["be"] | lists["perfect"] | lists["pronouns"] | lists["generic"]
    untold |= lists["asking"]
    silent = ("prepositions", "be", "determiners", "fillers", "negation", "perfect", "triggers")
    return Cues(
        phrases=longest_first,
        telling=frozenset(longest_first),
        unsure=unsure,
        kept=kept,
        since=since,
        occasion=occasion,
        untold=untold,
        placing=lists["prepositions"] | lists["of"],
        nominal=dict([pair.split(":") for pair in data["nominal"].split()]),
        deeds=_deeds(data["deeds"]),
        joined=lists["naming"] | lists["joined"] | {"be"},
        kinds={word: kind for kind, _, group in _kinds(data) for word in group.split()},
        nameless=frozenset[str]().union(*(lists[name] for name in silent)),
        unnamed=tuple(frozenset((word,)) for word in sorted(sets["implied"] - lists.speaking)),
        **sets,
    )


def _deeds(groups: str) -> dict[str, frozenset[str]]:
    found = dict[str, frozenset[str]]()
    for group in groups.split("|") if groups else ():
        nouns, _, verbs = group.partition(" / ")
        found |= {verb: found.get(verb, frozenset()).union(nouns.split()) for verb in verbs.split()}
    return found


def may_end(said: Sequence[str], known: Cues) -> bool:
    """Return whether a sentence of the words *said* can name something as ended, by what is *known* to tell it."""
    if not known.telling.isdisjoint(said):
        return True
    return not known.first.isdisjoint(said) and _changes(said, known)


class Clause(NamedTuple):
    """The words of a clause."""

    said: list[str]  #: folded
    plain: list[str]  #: as :func:`plain` returns them
    joined: str  #: the words as one text

    def told(self) -> frozenset[str]:
        """Return the words that tell something, in either form."""
        said = (word for word, plain in zip(self.said, self.plain, strict=True) if plain and plain[0] != "@")
        return frozenset(self.plain).union(said) - {""}


class Phrase(NamedTuple):
    """Where a clause names something as ended."""

    at: int  #: place of the word that tells it
    kind: Ending
    begin: int  #: place of the first word of what has ended
    end: int
    is_backwards: bool  #: it begins at its end: "X is over"


def clauses_of(sentence: str, language: str) -> list[Clause]:
    """Return the clauses of *sentence*."""
    words, known, found = lexicon(language), cues(language), list[Clause]()
    spoken, silent, joining = words.spoken, known.silent, known.joining
    for part in _PARTS.split(sentence):
        every = words_in(part.strip(), language)
        told: tuple[list[str], list[str]] = [], []
        for at, word in enumerate(every.words):
            if word in joining:
                if told[0]:
                    found.append(Clause(*told, " ".join(told[0])))
                    told = [], []
                continue
            if word.endswith(_ARRANGED) and len(parts := parts_of(word)) > 1 and language == "de":
                told[0].extend(parts)  # the "Mietwagenbuchung" is the booking of a "Mietwagen"
                told[1].extend([plain(part, words, known) for part in parts])
                continue
            said = f"#{every.amounts[at]:g}" if at in every.amounts else spoken.get(word, word)
            is_name = at == 0 or word in every.proper
            told[0].append(word)
            told[1].append("" if word in silent else plain(said, words, known, is_name=is_name))
        if told[0]:
            found.append(Clause(*told, " ".join(told[0])))
    return found


def plain(word: str, words: AlphabeticLexicon, known: Cues, *, is_name: bool = False) -> str:
    """Return the stem of a word after a star, of a verb that of its dictionary form; "" for what tells nothing.

    A name has none, so that Marco is not taken for Marcos.
    """
    untold = known.untold
    if not word or word in untold:
        return ""
    if word[-1].isdigit() and (number := word.lstrip("~#")).replace(".", "", 1).isdigit():
        return f"#{float(number):g}"
    if word[0] in "#@":
        return word
    if word[0] == "~":
        return word.removesuffix("s")
    word = known.nominal.get(word, word)
    verb = words.verbs.get(word, (word, False))[0]
    if verb is word and words.language == "fr" and word.endswith(_PARTICIPLES):
        form = word.removesuffix("s")
        verb = words.verbs.get(form.removesuffix("e") if form.endswith("ee") else form, (word, False))[0]  # "abonnées"
    if verb in untold or verb == "be":
        return ""
    if is_name and words.language != "de":  # where every noun has a capital
        return word
    return "*" + stem(verb, words.language)


def phrases_in(clause: Clause, words: AlphabeticLexicon) -> Iterator[Phrase]:
    """Yield where *clause* names something as ended."""
    known, last = cues(words.language), len(clause.said)
    at = 0
    while at < last:
        begin, at = at, at + 1
        for phrase in _told_by(clause, begin, words, known):
            yield phrase
            at = max(at, phrase.begin)
        if clause.said[begin] in known.first and (then := _then(clause, begin, known)) < last:
            changed = clause.said[then:] if words.language == "de" else clause.said[:then]
            if _are_unlike(clause.plain[begin + 1 : then], clause.plain[then + 1 :]):
                continue  # "the dose of sertraline to 25 mg"
            if _changes(changed, known) and known.stopping.isdisjoint(clause.said[begin + 1 : then]):
                yield Phrase(begin, Ending.ENDS, begin + 1, then, is_backwards=False)


def _told_by(clause: Clause, at: int, words: AlphabeticLexicon, known: Cues) -> Iterator[Phrase]:
    """Yield what the word at place *at*, with those around it, names as ended."""
    said, is_told, denials = clause.said, False, words["negation"]
    for phrase, kind, place in known.phrases.get(said[at], ()):
        begin = at - place
        end = begin + len(phrase)
        if begin < 0 or tuple(said[begin:end]) != phrase:
            continue
        if kind is Ending.ENDED:
            is_end = len(phrase) > 1 or all(not form or form[0] in "#~" for form in clause.plain[end:])  # but for when
            is_said = is_end or said[begin - 1] in words["be"]
            is_said = is_said or (
                said[begin - 1] in words["perfect"] and (words.language != "en" or said[end] in known.placing)
            )
            if begin and is_said and denials.isdisjoint(said[:begin]):
                yield Phrase(begin, kind, 0, _replacement(said, begin), is_backwards=True)
        elif denials.isdisjoint(phrase) and not denials.isdisjoint(said[max(0, begin - _NEAR) : begin]):
            continue  # "saw no reason to stop it"
        elif kind in (Ending.DENIES, Ending.NEVER) and not known.stopping.isdisjoint(said[end : end + _FEW]):
            continue  # "has not stopped": then it goes on
        elif not is_told and (ended := next(filter(None, clause.plain[end:]), "")):
            is_told = True  # by the longest of those that begin with the same word
            if said[at] in known.silent and ended[0] in "#~":
                continue  # "à 8 h, plus à 20 h" is both
            was_never = said[begin] in words["never"] and begin and said[begin - 1] in words["be_past"]
            yield Phrase(begin, Ending.NEVER if was_never else kind, end, len(said), is_backwards=False)
        elif not is_told and begin and words.language == "de" and kind in (Ending.ENDS, Ending.DENIES, Ending.LEAVES):
            is_told = True  # which may stand at the end
            if phrase[0] in words["particles"] and words["be"].isdisjoint(said):
                continue  # "findet im Saal statt", "fährt um neun los"
            yield Phrase(begin, kind, 0, _replacement(said, begin), is_backwards=True)


def _replacement(said: Sequence[str], at: int) -> int:
    """Return where it begins what took the place of what has ended, before the word at *at*; *at* if nothing did.

    In German that stands before "ersetzt": "the lamp was by a candle replaced".
    """
    if said[at] not in _REPLACED:
        return at
    return next((place for place in range(at - 1, 1, -1) if said[place] in _BY), at)


_REPLACED: Final = ("ersetzt", "abgelost", "ausgetauscht", "getauscht", "eingetauscht")
_BY: Final = ("durch", "gegen")


def _then(clause: Clause, first: int, known: Cues) -> int:
    """Return where it is said what something was changed to that was named from place *first* on."""
    last = len(clause.said)
    return next((place for place in range(first + 2, last) if clause.said[place] in known.then), last)


def _are_unlike(gone: Sequence[str], new: Sequence[str]) -> bool:
    """Return whether something became an amount that was none."""
    first = next(filter(None, new), "")
    return first[:1] == "#" and not any(form[:1] == "#" or form[-1:].isdigit() for form in gone)


def _changes(said: Sequence[str], known: Cues) -> bool:
    """Return whether a word among *said* tells of a change; in "mot de passe" it is none."""
    return any(
        word in known.changed and not (place and said[place - 1] in known.placing) for place, word in enumerate(said)
    )
