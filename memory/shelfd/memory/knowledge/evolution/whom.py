"""Of whom a clause speaks."""

import re
from collections.abc import Iterator
from itertools import zip_longest
from typing import Final

from shelfd.memory.knowledge.evolution.lexicon import ME, US, YOU, AlphabeticLexicon
from shelfd.memory.knowledge.evolution.statement import NOBODY


def subject_of(words: list[str], lexicon: AlphabeticLexicon, proper: frozenset[str] = NOBODY) -> frozenset[str]:
    """Return the words that say of whom; none if it is a pronoun's."""
    lists = lexicon.lists
    if not lists["turning"].isdisjoint(words):
        words = [word for at, word in enumerate(words) if not at or word not in lists["relatives"]]
        words = list(_without_kinds(words, proper, lexicon)) or words
        if not lists["pronouns"].isdisjoint(words) and not _is_known(words, proper, lexicon):
            return NOBODY
        if not lists["directions"].isdisjoint(words):
            words = list(_directed(words, lexicon))
    if lexicon.language == "de" and len(words) > 1:
        words = _inflected_alike(words, lexicon, proper)
    found = frozenset(words) - lexicon.nameless
    if not lexicon.speaking.isdisjoint(found):
        found = frozenset([lexicon.spoken.get(word, word) for word in found])
    if lexicon.feminine:
        found = frozenset([lexicon.of_role(word) for word in found])
    if len(found) == 1:  # as most
        return found
    if US in found:
        found = found - {US} or found  # "our budget" is the budget
    if found.isdisjoint(lists["class_nouns"]):  # as most
        return found
    left = found - lists["class_nouns"]
    # The code name of the malware is not that of the campaign, where neither has a name.
    return found if left <= lists["nouns"] | lists["modifiers"] else left


def _inflected_alike(words: list[str], lexicon: AlphabeticLexicon, proper: frozenset[str]) -> list[str]:
    """Return German words with those that describe a noun in one form: "die nächste Prüfung", "nächster Termin"."""
    numbers, nameless, spoken = lexicon.numbers, lexicon.nameless, lexicon.spoken
    found = [*words]
    for at in range(len(words) - 2, -1, -1):
        word, following = words[at], words[at + 1]
        if word[-2:] not in _INFLECTED or len(word) <= _ADJECTIVE or not word.isalpha():
            continue
        if following not in proper and found[at + 1] is following:
            continue  # no noun follows, nor another adjective
        is_known = word in nameless or word in spoken or word in numbers
        if not is_known and (word not in proper if at else _is_adjective(word, lexicon)):
            found[at] = word[:-1]
    return found


def _is_adjective(word: str, lexicon: AlphabeticLexicon) -> bool:
    """Return whether a word is known to describe what it stands before, though it has a capital as all first words."""
    lists = lexicon.lists
    if any(word in lists[name] for name in ("aged", "new", "modifiers", "ordinals")):
        return True
    return word.endswith(_DESCRIBING) or word[:-2] in lists["qualities"] or word[:-2] in lexicon.states


_INFLECTED: Final = ("er", "es", "en", "em")
#: In what only those words end that describe something.
_DESCRIBING: Final = ("licher", "liches", "lichen", "ischer", "isches", "ischen", "ender", "endes", "enden")
_ADJECTIVE: Final = 4  #: letters, at least one more


def _without_kinds(words: list[str], proper: frozenset[str], lexicon: AlphabeticLexicon) -> Iterator[str]:
    """Yield words without those that say of what kind something is whose name follows: "the server Umber"."""
    kinds, appositives, plain = lexicon.lists["kinds"], lexicon.lists["appositives"], lexicon.plain
    numbered = lexicon.lists.get("numbered", NOBODY)
    for word, name in zip_longest(words, words[1:], fillvalue=""):
        is_kind = word in kinds or (word in appositives and _is_name(name, proper, is_numbered=word in numbered))
        # "des Botnetzes Mistral", which has lost its s
        is_kind = is_kind or (lexicon.language == "de" and word[-1] == "e" and word[:-1] in appositives)
        if not is_kind or len(name) <= _CODE or name in plain:
            yield word


def _is_name(word: str, proper: frozenset[str], *, is_numbered: bool) -> bool:
    """Return whether a word is the name of what is named before it, with a capital or put together like a code."""
    if word in proper and not is_numbered:
        return _NAME_OF_KIND.match(word) is not None
    return len(word) > _SHORT and _CODED.fullmatch(word) is not None


_CODE: Final = 2  #: letters, "C2"
_SHORT: Final = 4  #: letters of a word that may be a value, as "v2.1"
_CODED: Final = re.compile(r"[a-z][a-z0-9]*(?:[-._][a-z0-9]+)+")  #: "purge-carts", "lilt-cdn.example"
#: A name that follows what it is the name of: none that may be part of it, as in "the loader's SHA-1".
_NAME_OF_KIND: Final = re.compile(r"[^\W\d_]{5}")


def _directed(words: list[str], lexicon: AlphabeticLexicon) -> Iterator[str]:
    """Yield words, one after "from" or "to" together with it: the train to Bonn is not that from Bonn."""
    direction = ""
    for word in words:
        if word in lexicon.lists["directions"]:
            direction = word
        elif direction and word not in lexicon.lists["dull"]:
            yield f"{direction} {word}"
            direction = ""
        else:
            yield word


def _is_known(words: list[str], proper: frozenset[str], lexicon: AlphabeticLexicon) -> bool:
    """Return whether the only pronouns are those of who was named before, or of nobody: Nadia's, on her phone."""
    lists = lexicon.lists
    if words[0] in lists["pronouns"]:
        return False
    is_named = words[0].isalpha() and words[0] not in lexicon.plain and words[0] not in lexicon.verbs
    return all(
        word == "man" or (word in lists["determiners"] and (is_named or not proper.isdisjoint(words[:at])))
        for at, word in enumerate(words)
        if word in lists["pronouns"]
    )


def subject_end(words: list[str], at: int, lexicon: AlphabeticLexicon) -> int:
    """Return where the subject of the verb at *at* ends: before "has not yet"."""
    begin = at - 1
    while begin > 1 and words[begin] in lexicon.lists["unsaid"]:
        begin -= 1
    return begin if begin > 0 and words[begin] in lexicon.lists["perfect"] else at


def unnamed(words: list[str], lexicon: AlphabeticLexicon) -> str:
    """Return of whom a clause speaks that begins with its verb: who is told to do something, or "uso", who speaks."""
    lists = lexicon.lists
    unsaid, first = lists["unsaid"], words[0]
    if first in unsaid or first in lists["instructions"]:
        said = (word for word in words if word not in unsaid)
        first = next(said, "")
        if first in lists["instructions"] and next(said, "of") != "of":
            return YOU
    if not first or not (ends := lists["spoken_ends"]):
        return ""  # as in most languages
    if first[-3:] == "mos" and (first in lexicon.verbs or first in lists["be"]):
        return US
    if first in lists.get("spoken_forms", NOBODY):  # "soy", "voy"
        return ME
    infinitive, told = lexicon.verbs.get(first, ("", True))
    if first[-1] not in ends or told or _names_somebody(first, words, lexicon):
        return ""
    is_of = words[words.index(first) + 1 :][:1] in (["de"], ["del"])
    is_noun = is_of and first in lists["noun_verbs"] and f"{infinitive}_de" not in lists["functional"]
    return "" if is_noun else ME  # "vuelo de ida", but "trabajo de enfermera"


def _names_somebody(first: str, words: list[str], lexicon: AlphabeticLexicon) -> bool:
    """Return whether what may be "I read" is somebody's name, behind which comes what they do: "Leo vive", "Leo es"."""
    lists = lexicon.lists
    said = (word for word in words[words.index(first) + 1 :] if word != "se" and word not in lists["fillers"])
    after = next(said, "")
    if after in lists["be"]:
        return True
    infinitive, told = lexicon.verbs.get(after, (after, True))
    is_said_of_another = infinitive != after and after[-1] not in lists["spoken_ends"]
    return is_said_of_another and not told and after not in lists["noun_verbs"]
