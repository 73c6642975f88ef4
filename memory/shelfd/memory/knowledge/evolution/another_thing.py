"""Whether what a note names as ended is something else than an older statement tells of, in spite of the same words."""

from itertools import pairwise

from shelfd.memory.knowledge.evolution.arity import NOUN_FIRST
from shelfd.memory.knowledge.evolution.ending import Cues, Ending
from shelfd.memory.knowledge.evolution.lexicon import AlphabeticLexicon
from shelfd.memory.knowledge.evolution.repeated import Repeated
from shelfd.memory.knowledge.evolution.statement import Statement, Value
from shelfd.memory.knowledge.evolution.withdrawing import Withdrawal, Word


def is_another_thing(found: Withdrawal, old: Statement, said: Repeated, words: AlphabeticLexicon, known: Cues) -> bool:
    """Return whether what *found* names as ended is none of what *old* says.

    Args:
        found: What has ended.
        old: An older statement in its language.
        said: What it says, in the forms in which the note repeats it.
        words: Those of that language.
        known: What tells in it that something has ended.
    """
    if found.kind is Ending.ENDS:
        return _is_the_other_way(found, old, said, words)
    if found.kind is not Ending.ENDED:
        return False
    if old.verb == "be" and not known.people.isdisjoint(old.core) and old.core[0] not in found.before:
        return True  # who was the king's daughter still is when he is dead
    is_named = _is_named(found, old, said, words, known)
    return not is_named or _goes_another_way(found, old, known) or _is_one_of_many(found, old, words, known)


def _is_named(found: Withdrawal, old: Statement, said: Repeated, words: AlphabeticLexicon, known: Cues) -> bool:
    """Return whether the noun that names what has ended is said: of the dinner after a talk the talk says nothing."""
    if found.is_correction or not known.active.isdisjoint(word for word, _ in found.phrase):
        return True  # "they have taken the licence from Ida" begins with them
    head = _head(found, words, known)
    return head is None or not {*head}.isdisjoint(said.forms | said.of_whom | old.subject | {*old.words})


def _head(found: Withdrawal, words: AlphabeticLexicon, known: Cues) -> Word | None:
    """Return the noun that names what has ended: of a noun phrase the last word, or the first, before what follows."""
    head: Word | None = None
    told = found.phrase[::-1]
    for (word, form), (following, _) in zip(told, (*told[1:], ("", "")), strict=True):
        is_told = bool(form) and word[0] not in "#~@"
        if is_told and found.language in NOUN_FIRST:
            return word, form
        if head is not None and (word in known.placing or word in words["be"] or word in words["relatives"]):
            break
        if is_told:
            if head is not None and _is_participle(word, following, words, known):
                break
            head = word, form
    return head


def _is_participle(word: str, following: str, words: AlphabeticLexicon, known: Cues) -> bool:
    """Return whether a word tells more of the noun before it: "the window planned for May"."""
    is_verb = word in words.verbs and words.verbs[word][0] != word
    is_verb = is_verb or (words.language == "en" and word.endswith("ed") and following in known.placing)
    return is_verb and word not in words["nouns"]


def _is_the_other_way(found: Withdrawal, old: Statement, said: Repeated, words: AlphabeticLexicon) -> bool:
    """Return whether it is the other who no longer does it: Ida no longer owes Bob what Bob owes her."""
    phrase = {form for word in found.phrase for form in word}
    whom, what = said.named - said.value, said.value - said.named
    is_same_verb = any(words.verbs.get(word, (word,))[0] == old.verb for word, _ in found.phrase)
    if not whom or not what or not (is_same_verb or (said.verb and said.verb <= phrase)):
        return False
    first = found.phrase[0][0]
    if words.verbs.get(first, ("", False))[1] or (words.language == "en" and first.endswith("ed")):  # in the passive
        by = words["agent_links"]
        is_by_other = not by.isdisjoint(phrase) and by.isdisjoint(old.link.split())
        return is_by_other and whom <= found.before and what <= phrase
    if not words["agent_links"].isdisjoint(phrase):
        return False
    return whom <= phrase and whom.isdisjoint(found.before) and not what.isdisjoint(found.before) and not what <= phrase


def _goes_another_way(found: Withdrawal, old: Statement, known: Cues) -> bool:
    """Return whether it leads elsewhere: the ferry from Kiel to Oslo is not that from Oslo to Kiel."""
    ways = {place: way for way, place in pairwise(found.said) if way in known.routing}
    return any(way in known.routing and ways.get(place, way) != way for way, place in pairwise(old.words))


def _is_one_of_many(found: Withdrawal, old: Statement, words: AlphabeticLexicon, known: Cues) -> bool:
    """Return whether only one has ended of what comes again: "this week's meeting was cancelled"."""
    days = words["weekdays"] | words["once"] | words["rhythms"]
    is_hour = old.value is Value.TIME and ":" in old.core[0]
    comes_again = is_hour or any(word.lstrip("~") in days for word in (*old.words, *old.subject))
    return comes_again and known.occasion.search(" ".join(found.said)) is not None
