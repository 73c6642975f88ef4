"""Words in the order in which clauses are read: who or what, verb, value."""

from collections.abc import Set as AbstractSet
from typing import Final

from shelfd.memory.knowledge.evolution.arity import head_of
from shelfd.memory.knowledge.evolution.compounds import FAVOURITE
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
        if at == 1 and words[0] not in lexicon.lists["fillers"]:
            return _with_participle_behind(words, lexicon, proper)
        return _with_doer_first(words, at, lexicon, proper)
    place = words[:at]
    is_time = any(word[0] in "#~" for word in place)
    if is_time and not (_is_arranged(words, at, lexicon) or _is_to_come(place, words[at], lexicon)):
        return words
    begin = at + 1 + (words[at + 1 : at + 2] == ["sich"])
    end = _noun_ends(words, begin, lexicon, proper)
    if end == begin:
        return words
    if is_time:
        end = _owner_ends(words, end, _OF_ONLY, lexicon, proper)
    after = [*words[at + 1 : begin], *words[end:]]
    if words[at] in _IS and len(after) > 1 and after[-1] in lexicon.lists["arranged"]:
        after = [after[-1], *after[:-1]]  # "is booked at Rollfix for Sardinia"
    last = [after.pop()] if after and after[-1] in lexicon.lists["particles"] else []
    return [*words[begin:end], words[at], *after, *place, *last]


def _is_arranged(words: list[str], at: int, lexicon: AlphabeticLexicon) -> bool:
    """Return whether it is said what is booked or planned for a time: "für August ist ein Haus gebucht"."""
    return words[at] in _IS and words[-1] in lexicon.lists["arranged"]


_IS: Final = ("ist", "sind")


def _is_to_come(place: list[str], verb: str, lexicon: AlphabeticLexicon) -> bool:
    """Return whether it is said what happens on a day, and not what was so in a year."""
    known = lexicon.verbs.get(verb)
    if known is None or known[1] or known[0] in lexicon.lists["have"] or any(word[0] == "#" for word in place):
        return False
    times = [word[1:] for word in place if word[0] == "~"]
    if known[0] in lexicon.lists["trips"]:
        return not any(map(str.isdigit, times))  # "im Oktober fliegen sie nach Kreta"
    return not any(word.isdigit() or word in lexicon.lists["months"] for word in times)


def _with_doer_first(words: list[str], at: int, lexicon: AlphabeticLexicon, proper: AbstractSet[str]) -> list[str]:
    """Return a clause that begins with an adverb, or with what somebody does something to, with who does it first.

    "Den Wagen fährt Ida" says what "Ida fährt den Wagen" says. That it is the object is certain of a masculine one.
    """
    following = words[at + 1 : at + 2]
    is_object = words[0] in _TO_WHOM or (following in _DOERS and words[0] not in lexicon.lists["pronouns"])
    if not is_object and (at != 1 or words[0] == _TODAY):
        return words
    if not following or (is_object and words[at] in lexicon.lists["be"]):
        return words
    is_value_left = None if not is_object and words[at] not in lexicon.lists["be"] else not is_object
    end = _noun_ends(words, at + 1, lexicon, proper, is_value_left=is_value_left)
    if end == at + 1 or following[0] in _TO_WHOM:
        return words
    if words[at] in lexicon.lists["be"]:
        end = _owner_ends(words, end, _OF, lexicon, proper)
    after = words[end:]
    last = [after.pop()] if is_object and after and after[-1] in lexicon.lists["particles"] else []
    return [*words[at + 1 : end], words[at], *words[:at], *after, *last]


#: Articles and the like of masculine nouns to which something is done.
_TO_WHOM: Final = frozenset("den einen meinen unseren seinen ihren deinen diesen jeden keinen".split())
_TODAY: Final = "heute"  #: what is said of that may be so on this day alone
_DOERS: Final = (["ich"], ["wir"], ["er"])


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


def _noun_ends(
    words: list[str],
    begin: int,
    lexicon: AlphabeticLexicon,
    proper: AbstractSet[str],
    *,
    is_value_left: bool | None = None,
) -> int:
    """Return where the noun, name or pronoun ends that begins at *begin*; *begin* if none does.

    Args:
        words: Of the clause.
        begin: Where it may begin.
        lexicon: Of the language.
        proper: Which words have a capital.
        is_value_left: Whether the last of several words with capitals is no part of it; if None, unless it has an
            article, or somebody's title.
    """
    if begin >= len(words):
        return begin
    is_own = words[begin] in lexicon.lists["determiners"] and words[begin + 1 : begin + 2] != []
    is_own = is_own and words[begin + 1] in proper  # "mein Zahnarzt"
    if not is_own and (words[begin] in lexicon.speaking or words[begin] in lexicon.lists["clause_subjects"]):
        return begin + 1
    noun = begin
    if words[begin] in lexicon.lists["determiners"] or words[begin] in lexicon.lists["negation"]:
        noun = next((at for at in range(begin + 1, len(words)) if words[at] in proper), begin)
    if words[noun] not in proper or noun - begin > _DESCRIBED:
        return begin
    end = noun + 1
    while end < len(words) and words[end] in proper:
        end += 1
    if is_value_left is None:
        is_value_left = noun == begin and words[noun] not in _TITLES
    return noun + 1 if is_value_left and end == len(words) and end - noun > 1 else end


_DESCRIBED: Final = 3  #: words before a noun that belong to it
_TITLES: Final = ("frau", "herr", "herrn", "dr", "doktor", "professor", "tante", "onkel", "oma", "opa")


def with_particle(
    verb: str, after: list[str], proper: AbstractSet[str], lexicon: AlphabeticLexicon
) -> tuple[str, list[str]]:
    """Return a German verb that stands in two parts as one, and what follows it: "findet im Saal statt"."""
    if len(after) > 1 and _is_particle(after[-1], verb, lexicon):
        verb, after = after[-1] + verb, after[:-1]
    return verb, _with_object_first(after, verb, lexicon, proper)


def _is_particle(word: str, lemma: str, lexicon: AlphabeticLexicon) -> bool:
    """Return whether a German verb stands in two parts: "findet statt", and not "hat den Schweregrad hoch"."""
    lists = lexicon.lists
    is_state = word in lexicon.states and lemma in lists["have"] | lists["wanting"]
    return word in lists["particles"] and not is_state


def _with_object_first(after: list[str], verb: str, lexicon: AlphabeticLexicon, proper: AbstractSet[str]) -> list[str]:
    """Return what follows a German verb that has an object with that first: "nutzt zur Steuerung jetzt IRC".

    Args:
        after: What follows the verb.
        verb: In its dictionary form.
        lexicon: Of the language.
        proper: Which words have a capital.
    """
    lists = lexicon.lists
    if len(after) <= _OWNED or after[0] not in lists["prepositions"] or verb not in lists["with_object"]:
        return after  # as most
    noun = next((at for at in range(1, len(after)) if after[at] in proper), 0)
    following = after[noun + 1 : noun + 2]
    if not noun or not following or any(word[0] in "#~" or word == "," for word in after[1:noun]):
        return after
    if following[0] not in lists["determiners"] and following[0] not in lists["now"]:
        return after
    said = after[noun + 1 :]
    end = next((at for at, word in enumerate(said) if at and (word in lists["prepositions"] or word == ",")), len(said))
    return [*said[:end], *after[: noun + 1], *said[end:]] if not proper.isdisjoint(said[:end]) else after


def in_order(after: list[str], lexicon: AlphabeticLexicon, proper: AbstractSet[str]) -> list[str]:
    """Return what follows "ist" with the participle or adjective first that stands last: "mit Anna verheiratet"."""
    if len(after) > 2 and after[0] in lexicon.lists["prepositions"]:
        last = after[-1]
        if last in lexicon.states or last in lexicon.lists["joined"] or (last.isalpha() and last not in proper):
            return [last, *after[:-1]]
    return after


def turned(
    subject: list[str], after: list[str], proper: frozenset[str], lexicon: AlphabeticLexicon
) -> tuple[list[str], list[str], frozenset[str]]:
    """Return what a clause with "is" speaks of, what it says of it, and which words have a capital.

    In German the name that a sentence begins with has one as well: "Ramen ist Idas Lieblingsgericht".
    """
    whom, told = _turned(subject, after, proper, lexicon)
    if lexicon.language == "de" and subject and told[:1] == subject[:1]:
        proper = proper.union(subject[:1])
    return whom, told, proper


def _turned(
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
    if lexicon.language == "de" and any(word.startswith(FAVOURITE) for word in after[:_OWNED]):
        is_owned = not any(word.startswith(FAVOURITE) for word in bare)  # "ist das Lieblingslokal von Ida"
    if lexicon.language == "en" and after[0] == "the":
        is_owned = len(after) > _OWNED
    if lexicon.language in ("es", "fr"):
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
