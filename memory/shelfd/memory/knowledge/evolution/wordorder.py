"""Words in the order in which clauses are read: who or what, verb, value."""

from collections.abc import Set as AbstractSet
from typing import Final

from shelfd.memory.knowledge.evolution.arity import head_of
from shelfd.memory.knowledge.evolution.lexicon import AlphabeticLexicon
from shelfd.memory.knowledge.evolution.verbs import begins_with_participle


def straightened(words: list[str], at: int, lexicon: AlphabeticLexicon, proper: AbstractSet[str]) -> list[str]:
    """Return a German clause with whom it speaks of first, and a place that stood there at its end.

    "Im Keller wohnt der Kater" says what "der Kater wohnt im Keller" says. Of a year it is told what was so then: that
    stays in front.

    Args:
        words: Of the clause.
        at: Where its verb stands.
        lexicon: Of its language.
        proper: The words that have a capital, as all nouns do.
    """
    if lexicon.language != "de":
        return words
    if words[0] not in lexicon.lists["prepositions"]:
        return _with_participle_behind(words, lexicon, proper) if at == 1 else words
    place = words[:at]
    is_time = any(word[0] in "#~" for word in place)
    if is_time and not _is_to_come(place, words[at], lexicon):
        return words
    begin = at + 1 + (words[at + 1 : at + 2] == ["sich"])
    end = _noun_ends(words, begin, lexicon, proper)
    if end == begin:
        return words
    if is_time:
        end = _owner_ends(words, end, _OF_ONLY, lexicon, proper)
    after = [*words[at + 1 : begin], *words[end:]]
    last = [after.pop()] if after and after[-1] in lexicon.lists["particles"] else []
    return [*words[begin:end], words[at], *after, *place, *last]


def _is_to_come(place: list[str], verb: str, lexicon: AlphabeticLexicon) -> bool:
    """Return whether it is said what happens on a day, and not what was so in a year."""
    known = lexicon.verbs.get(verb)
    if known is None or known[1] or known[0] in lexicon.lists["have"] or any(word[0] == "#" for word in place):
        return False
    times = [word[1:] for word in place if word[0] == "~"]
    return not any(word.isdigit() or word in lexicon.lists["months"] for word in times)


def _with_participle_behind(words: list[str], lexicon: AlphabeticLexicon, proper: AbstractSet[str]) -> list[str]:
    """Return "the router is housed in the hall" of "housed is the router in the hall", as it is said in German."""
    if words[1] not in lexicon.lists["be"] or not begins_with_participle(words, lexicon):
        return words
    end = _noun_ends(words, _BEHIND_VERB, lexicon, proper)
    if end == _BEHIND_VERB:
        return words
    end = _owner_ends(words, end, _OF if words[1] not in _PASSIVE else _OF_ONLY, lexicon, proper)
    return [*words[_BEHIND_VERB:end], words[1], words[0], *words[end:]]


def _owner_ends(
    words: list[str], end: int, of: tuple[str, ...], lexicon: AlphabeticLexicon, proper: AbstractSet[str]
) -> int:
    """Return where a noun that ends at *end* ends with whose it is: "the certificate of the shop"."""
    while end + 1 < len(words) and words[end] in of:
        owner = _noun_ends(words, end + (words[end] in _WITHOUT_ARTICLE), lexicon, proper)
        if owner <= end + 1:
            break
        end = owner
    return end


_BEHIND_VERB: Final = 2  #: place of what follows a verb that is the second word
_WITHOUT_ARTICLE: Final = ("von", "vom")  #: and before who does something to it
_OF_ONLY: Final = ("des", "der", "eines", "einer")
_OF: Final = (*_OF_ONLY, *_WITHOUT_ARTICLE)
_PASSIVE: Final = ("wird", "werden")


def _noun_ends(words: list[str], begin: int, lexicon: AlphabeticLexicon, proper: AbstractSet[str]) -> int:
    """Return where the noun, name or pronoun ends that begins at *begin*; *begin* if none does."""
    if begin >= len(words):
        return begin
    if words[begin] in lexicon.speaking or words[begin] in lexicon.lists["clause_subjects"]:
        return begin + 1
    noun = begin
    if words[begin] in lexicon.lists["determiners"] or words[begin] in lexicon.lists["negation"]:
        noun = next((at for at in range(begin + 1, len(words)) if words[at] in proper), begin)
    if words[noun] not in proper or noun - begin > _DESCRIBED:
        return begin
    end = noun + 1
    while end < len(words) and words[end] in proper:
        end += 1
    is_object_left = end == len(words) and end - noun > 1 and words[noun] not in _TITLES
    return noun + 1 if is_object_left and noun == begin else end


_DESCRIBED: Final = 3  #: words before a noun that belong to it
_TITLES: Final = ("frau", "herr", "herrn", "dr", "doktor", "professor", "tante", "onkel", "oma", "opa")


def in_order(after: list[str], lexicon: AlphabeticLexicon, proper: AbstractSet[str]) -> list[str]:
    """Return what follows "ist" with the participle or adjective first that stands last: "mit Anna verheiratet"."""
    if len(after) > 2 and after[0] in lexicon.lists["prepositions"]:
        last = after[-1]
        if last in lexicon.states or last in lexicon.lists["joined"] or (last.isalpha() and last not in proper):
            return [last, *after[:-1]]
    return after


def turned(
    subject: list[str], after: list[str], proper: frozenset[str], lexicon: AlphabeticLexicon
) -> tuple[list[str], list[str]]:
    """Return "Tom is the owner of the archive", or "Tom is Kestrel's owner", as "the owner of the archive is Tom"."""
    lists = lexicon.lists
    if len(after) < _OWNED or (after[0] not in proper and after[0] not in lists["definite"]):
        return subject, after  # as most
    if not lists["pronouns"].isdisjoint(subject):
        return subject, after
    bare = [word for word in subject if word not in lists["determiners"]]
    is_named = after[-1] in proper and (lexicon.language == "de" or after[-1] not in lists["nouns"])
    is_owned = after[0] in proper and not is_named and bool(bare) and proper.issuperset(bare[1:])
    if lexicon.language == "de" and len(after) == _OWNED and after[0] in proper and after[1] in lists["nouns"]:
        is_owned = True  # "Dr. Farouk ist Opas Hausarzt"
    if lexicon.language == "en" and after[0] == "the":
        is_owned = len(after) > _OWNED
    if lexicon.language in ("es", "fr"):
        if _is_of_somebody(subject, bare, after, proper, lexicon):
            return subject, after
        is_owned = after[0] in lists["definite"] and not lists["of"].isdisjoint(after) and proper.issuperset(bare[1:])
    is_chosen = not lists["modifiers"].isdisjoint(after) and lists["modifiers"].isdisjoint(bare)
    if is_owned and (is_chosen or (_is_attribute(after, lexicon) and not _is_attribute(bare, lexicon))):
        return after, bare
    if is_owned and lexicon.language == "fr" and bare == subject and _is_somebodys(after, lexicon):
        return after, bare  # "Roseline est l'infirmière de papi"
    is_name = proper.issuperset(bare[1:]) and not proper.isdisjoint(bare) and lexicon.language != "de"
    if is_name and _is_the_only(after, lexicon):
        return after, bare
    return subject, after


def _is_of_somebody(
    subject: list[str], bare: list[str], after: list[str], proper: frozenset[str], lexicon: AlphabeticLexicon
) -> bool:
    """Return whether a subject says what of something there is, so that a value of the same form is no such thing.

    "The client of Sunflower is the town hall of Savigny", "Ida's chemist's is the one of the port".
    """
    lists = lexicon.lists
    if not bare or bare[0] in proper or lists["of"].isdisjoint(subject[1:]):
        return False
    return bare[0] in lists["relations"] or bare[0] == head_of(after, lexicon)


def _is_the_only(words: list[str], lexicon: AlphabeticLexicon) -> bool:
    """Return whether words name what there is one of by a noun that is not known: the antagonist in the second book."""
    lists = lexicon.lists
    if len(words) <= _OWNED or words[0] not in lists["definite"] or words[1] in lists["qualities"]:
        return False
    at = next((at for at, word in enumerate(words) if at > 1 and word in lists["of"]), 0)
    head = head_of(words, lexicon)
    return at > 0 and at < len(words) - 1 and head.isalpha() and head not in lists["relations"]


def _is_somebodys(words: list[str], lexicon: AlphabeticLexicon) -> bool:
    """Return whether words name who, or what, somebody has one of by a noun: the nurse of Ida, and nothing else."""
    lists = lexicon.lists
    is_elsewhere = not (lists["prepositions"] - lists["of"]).isdisjoint(words)
    return not is_elsewhere and head_of(words, lexicon) in lists["concrete_nouns"]


def _is_attribute(words: list[str], lexicon: AlphabeticLexicon) -> bool:
    """Return whether words name what has one value: an owner, a favourite restaurant."""
    if any(part in word for word in words for part in lexicon.noun_parts):
        return True
    return head_of(words, lexicon) in lexicon.lists["nouns"] or not lexicon.lists["modifiers"].isdisjoint(words)


_OWNED: Final = 2  #: words: whose, and what
