"""Which words of an older statement a note names as ended."""

from collections.abc import Set as AbstractSet
from typing import Final

from shelfd.memory.knowledge.evolution.ending import Ending, cues
from shelfd.memory.knowledge.evolution.lexicon import NOUN_FIRST, AlphabeticLexicon
from shelfd.memory.knowledge.evolution.repeated import Repeated
from shelfd.memory.knowledge.evolution.withdrawing import Withdrawal

#: Words that say of what kind that is which is named next, or what somebody has been: "resigned the post of warden".
_KINDS: Final = ("concrete_nouns", "groups", "class_nouns", "kinds", "appositives", "posts")
_SILENT: Final = 4  #: words that tell nothing before what has ended


def gone_words(found: Withdrawal, said: Repeated, words: AlphabeticLexicon) -> set[str]:
    """Return what has ended of what is said; nothing if something else has."""
    gone: set[str] = set()
    wanted = said.forms if said.value <= found.before else said.forms - said.verb
    silent = 0  #: words that tell nothing, since the last one that did
    for word, form in found.phrase:
        forms = {word, form}
        if not form or (not gone and _is_only_named(word, found, silent, said, words)):
            silent += 1
            if said.value and said.value <= gone:
                break
        elif not forms.isdisjoint(said.forms):
            gone |= forms
            silent = 0
        elif word in cues(found.language).people and not said.value <= gone | found.before:
            return set()
        elif not gone.isdisjoint(wanted) and (silent or _ends_phrase(word, forms, said, words)):
            return set() if _goes_on(found, word, gone, said) else gone
        elif said.value and said.value <= gone and _is_its_kind(word, said, words):
            return gone  # "the Jenkins server"
        elif not gone and word in words.verbs and words.verbs[word][0] in words["light_verbs"]:
            silent += 1  # "no longer drinks milk in it": of what was taken with milk
        elif forms.isdisjoint(said.of_whom) or silent > _SILENT:
            return set()
    return gone


def _is_its_kind(word: str, said: Repeated, words: AlphabeticLexicon) -> bool:
    """Return whether a word says of what kind that is which is named before it, and no other is said of it."""
    kinds = frozenset[str]().union(*(words[name] for name in (*_KINDS, "software")))
    return word in kinds and kinds.isdisjoint(said.of_whom | said.forms)


def _goes_on(found: Withdrawal, word: str, gone: AbstractSet[str], said: Repeated) -> bool:
    """Return whether *word* tells which of what is named after it has ended: slow on empty files, and not on all."""
    if found.language in NOUN_FIRST:
        return False
    words = [one for one, _ in found.phrase]
    after = found.phrase[words.index(word) + 1 :][:1]
    return any({one, form}.isdisjoint(gone) and not {one, form}.isdisjoint(said.value) for one, form in after)


def _is_only_named(word: str, found: Withdrawal, silent: int, said: Repeated, words: AlphabeticLexicon) -> bool:
    """Return whether a word says of what kind that is which is named next: "the group X", "wrongly listed as X"."""
    if word in said.forms:
        return False
    if any(word in words[name] for name in _KINDS):
        return True
    return found.kind is Ending.NEVER and not silent


def _ends_phrase(word: str, forms: AbstractSet[str], said: Repeated, words: AlphabeticLexicon) -> bool:
    is_verb = word in words.verbs or word in words["ascribing"]
    return is_verb or word[0] == "~" or not forms.isdisjoint(said.of_whom)
