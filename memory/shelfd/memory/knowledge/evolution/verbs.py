"""Where the verb of a clause stands."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Final

from shelfd.memory.knowledge.evolution.lexicon import AlphabeticLexicon


def find_verb(words: list[str], lexicon: AlphabeticLexicon, proper: AbstractSet[str] = frozenset()) -> int | None:
    """Return the position of the clause's verb; None if none is known and none looks like one.

    Args:
        words: Of the clause.
        lexicon: Of its language.
        proper: Which of them have a capital.
    """
    be, predicates = lexicon.lists["be"], lexicon.lists["predicates"]
    if not lexicon.lists["relatives"].isdisjoint(words) and (after := _after_relative(words, lexicon)):
        return after
    named = None
    for at in range(1, len(words)):
        word = words[at]
        if word not in predicates:
            continue
        if word in be:
            return at
        if not _may_be_verb(words, at, lexicon, proper):
            continue
        if word in proper and lexicon.language != "en":
            named = named or at  # a name, or a German noun, if there is another verb
            continue
        if word in lexicon.lists["perfect"] and at + 1 < len(words):
            if words[at + 1] in be:
                return at + 1
            after = _next_place(words, at, lexicon)
            if after and _is_done(words[after], lexicon):
                return after
        return at
    unknown = _unknown_verb(words, lexicon, proper)
    return named if unknown is None else unknown


def _after_relative(words: list[str], lexicon: AlphabeticLexicon) -> int:
    """Return where "is" stands after a subject with a clause of its own, "the hotel that Ida booked"; 0 if nowhere."""
    lists = lexicon.lists
    relative = next((at for at, word in enumerate(words) if at and word in lists["relatives"]), 0)
    if not relative or not lists["predicates"].isdisjoint(words[1:relative]):
        return 0
    told = [at for at in range(relative + 1, len(words) - 1) if words[at] in lists["predicates"]]
    after = next((at for at in told if words[at] in lists["be"]), 0)
    return after if told[:1] != [after] else 0


def _unknown_verb(words: list[str], lexicon: AlphabeticLexicon, proper: AbstractSet[str]) -> int | None:
    """Return the position of what looks like a verb."""
    if lexicon.language == "en":
        return _unknown_english_verb(words, lexicon, proper)
    if lexicon.language == "de" and len(words) <= _CLAUSE:
        # Nouns have capitals, and the verb comes after the first of them.
        named = words[0] not in lexicon.lists["dull"]
        for at in range(1, len(words)):
            word = words[at]
            if word in proper:
                named = True
            elif named and word.endswith(("t", "en", "te")) and _is_bare(word, lexicon, proper):
                return at
    elif (shown := _shown_verb(words, lexicon, proper)) is not None:
        return shown
    elif lexicon.language == "fr":
        for at in range(1, len(words) - 1):
            after = _next_said(words, at, lexicon)
            if words[at] in lexicon.lists["perfect"] and (after in lexicon.lists["determiners"] or after[:1] == "#"):
                return at  # "a", which is "has" and without its accent "to"
    return None


def _shown_verb(words: list[str], lexicon: AlphabeticLexicon, proper: AbstractSet[str]) -> int | None:
    """Return the position of what must be a verb, where it stands: after "se", or between a name and a number."""
    ends = _SHOWN.get(lexicon.language, ())
    for at in range(1, len(words) - 1):
        word, before, after = words[at], words[at - 1], words[at + 1]
        if not word.endswith(ends) or not _is_bare(word, lexicon, proper):
            continue
        if before == "se" or (before in proper and (after[0] in "#~" or after.isdigit())):
            return at
    return None


#: In what a verb ends by which somebody does something.
_SHOWN: Final = {"es": ("a", "e", "an", "en"), "fr": ("t", "e", "d", "ent")}


def _unknown_english_verb(words: list[str], lexicon: AlphabeticLexicon, proper: AbstractSet[str]) -> int | None:
    after_speaker = next((at for at in range(1, len(words) - 1) if words[at] not in lexicon.lists["unsaid"]), 0)
    if words[0] in _SPEAKERS and after_speaker and _is_bare(words[after_speaker], lexicon, proper):
        return after_speaker
    if (helped := _after_auxiliary(words, lexicon, proper)) is not None:
        return helped
    found = [at for at in range(1, len(words)) if words[at] not in proper and _ends_as_verb(words[at])]
    if len(found) > 1:
        found = [at for at in found if words[at - 1][0] != "#"] or found  # "4 spaces" are several
    likely = next((at for at in found if _may_be_followed(words, at, lexicon, proper)), None)
    if (
        likely is not None
        and likely == len(words) - 1
        and found[0] < likely
        and words[found[0] + 1] in lexicon.lists["prepositions"]
    ):
        return found[0]  # "the clock rings at six on workdays"
    if likely is not None or not found or found[0] == len(words) - 1:
        return likely
    return found[0]


def _after_auxiliary(words: list[str], lexicon: AlphabeticLexicon, proper: AbstractSet[str]) -> int | None:
    """Return the position of what "can" or "cannot" stands before: "can hover", "cannot yet hover"."""
    auxiliaries = lexicon.lists["auxiliaries"]
    if auxiliaries.isdisjoint(words):
        return None  # as most
    helps = next(at for at, word in enumerate(words) if word in auxiliaries)
    at = _next_place(words, helps, lexicon)
    return at if helps and at and _is_bare(words[at], lexicon, proper) else None


def _ends_as_verb(word: str) -> bool:
    """Return whether an English word may be a verb by what it ends in."""
    return len(word) > _SHORTEST and word.isalpha() and word.endswith(("s", "ed")) and not word.endswith(("ss", "us"))


def _may_be_followed(words: list[str], at: int, lexicon: AlphabeticLexicon, proper: AbstractSet[str]) -> bool:
    """Return whether what follows *at* often follows a verb, and a plural seldom: an article, a name, nothing."""
    lists = lexicon.lists
    if at + 1 == len(words):
        return (
            words[at][-1] == "s" and words[at - 1] not in lists["determiners"] and lists["triggers"].isdisjoint(words)
        )
    after = words[at + 1]
    return after in proper or after[0] in "#~" or after in lists["determiners"]


def _is_bare(word: str, lexicon: AlphabeticLexicon, proper: AbstractSet[str]) -> bool:
    """Return whether a word is none of those that are known for something else than a verb."""
    if not word.isalpha() or len(word) < _SHORTEST or word in proper or word in lexicon.states:
        return False
    lists = lexicon.lists
    return not any(word in lists[name] for name in _NO_VERBS)


def form_of(verb: str, lexicon: AlphabeticLexicon) -> tuple[str, bool]:
    """Return a verb's dictionary form, and whether the form *verb* tells of the past.

    Of one that is not known, something else is returned that its forms have in common.
    """
    if (known := lexicon.verbs.get(verb)) is not None:
        return known
    if lexicon.language == "en":
        if verb[-1] != "s" or verb[-2:] == "ss":
            return verb, verb[-2:] == "ed"
        return (f"{verb[:-3]}y" if verb[-3:] == "ies" else verb[:-2] if verb.endswith(_HISSED) else verb[:-1]), False
    if lexicon.language == "de":
        is_told = verb.endswith(("te", "eten"))
        stem = verb.removesuffix("n").removesuffix("e").removesuffix("t").removesuffix("e")
        return stem or verb, is_told  # of "été", in a German note, nothing would be left
    if lexicon.language == "fr" and verb in lexicon.lists["perfect"]:
        return "avoir", False
    return verb, False


def _may_be_verb(words: list[str], at: int, lexicon: AlphabeticLexicon, proper: AbstractSet[str]) -> bool:
    """Return whether a form of a known verb is one here, and no noun."""
    word, before = words[at], words[at - 1]
    lemma = lexicon.verbs[word][0]
    lists, be = lexicon.lists, lexicon.lists["be"]
    is_modifier = word in lists["modifiers"] and not _is_object_next(words, at, lexicon)
    if is_modifier or before in be or (lexicon.language == "en" and _is_no_form(word, before)):
        return False
    is_noun = before in lists["determiners"] or (before in lists["of"] and before not in lists["perfect"])
    if is_noun and (word == lemma or lexicon.language in _ROMANCE):
        return False  # as "the work", "la marca"
    if word not in lists["perfect"] and at + 1 < len(words) and words[at + 1] in be:
        return False  # "the weekly sync is"
    if at == 1 and before in lists["determiners"] and any(one in lists["predicates"] for one in words[2:]):
        return False  # as "el bebe pesa"
    if any(word in lists[name] for name in _NOUNS) and any(one in be for one in words[at + 1 :]):
        return False
    if lexicon.language != "en" and _describes(words, at, lexicon):
        return False
    if word in lists["helpers"] and _next_said(words, at, lexicon) in lexicon.verbs:
        return False  # "does not work"
    following = words[at + 1] if at + 1 < len(words) else ""
    if lexicon.language == "en" and following and following not in proper and _does(following, word, lexicon):
        return False
    if lexicon.language == "en" and lexicon.verbs[word][1] and before in lists["modifying"]:
        return False  # "the minimum supported version"
    is_noun = lexicon.language == "en" and any(one in be for one in words[at + 1 :])  # "the Kite report is"
    if word != lemma or (word not in lists["noun_verbs"] and not is_noun and not _is_of_one(words, at, lexicon)):
        return True
    if not lists["auxiliaries"].isdisjoint(words[at - 2 : at]):
        return True  # "can swim", "cannot now swim"
    subject = next((one for one in reversed(words[:at]) if one not in lists["unsaid"]), "-")
    return subject in lists["several"] or (subject[-1] == "s" and subject[-2:] != "ss")


def _is_of_one(words: list[str], at: int, lexicon: AlphabeticLexicon) -> bool:
    """Return whether the verb of an English subject, which is one, follows its noun: "the firewall rule allows"."""
    if lexicon.language != "en" or words[0] not in lexicon.lists["determiners"]:
        return False
    verbs = lexicon.verbs
    return any(word[-1] == "s" and word in verbs and verbs[word][0] != word for word in words[at + 1 :])


def _describes(words: list[str], at: int, lexicon: AlphabeticLexicon) -> bool:
    """Return whether a form of a verb is a noun, or describes one: "el rescate exigido es", "die bekannte Version"."""
    word, lists = words[at], lexicon.lists
    if lexicon.language == "de":
        return word.endswith(_DESCRIBING) and not lists["be"].isdisjoint(words[at + 1 :])
    if word in lists["noun_verbs"] and _is_noun_here(words, at, lexicon):
        return True
    is_done = lexicon.language == "es" and word.endswith(_DONE) and words[at - 1] not in lists["perfect"]
    return is_done and not lists["be"].isdisjoint(words[at:])


def _is_object_next(words: list[str], at: int, lexicon: AlphabeticLexicon) -> bool:
    """Return whether an article or an infinitive follows, as what a verb is said of: "préfère lire"."""
    following = _next_said(words, at, lexicon)
    return following in lexicon.lists["determiners"] or lexicon.verbs.get(following, ("",))[0] == following != ""


def _does(word: str, before: str, lexicon: AlphabeticLexicon) -> bool:
    """Return whether an English word tells what the noun *before* does: "the hosts run", "the weekly sync happens"."""
    lemma = lexicon.verbs.get(word, ("",))[0]
    if before[-1] == "s":
        return lemma == word
    is_noun = lexicon.verbs[before][0] == before and word[-1] == "s" and lemma not in ("", word)
    return is_noun and word[:-1] not in lexicon.lists["noun_verbs"] and word[:-1] not in lexicon.lists["nouns"]


def _is_no_form(word: str, before: str) -> bool:
    """Return whether an English word is none that tells what somebody does: doing, and a plural as in "4 spaces"."""
    return word.endswith("ing") or (before[0] == "#" and word[-1] == "s")


def _is_noun_here(words: list[str], at: int, lexicon: AlphabeticLexicon) -> bool:
    """Return whether a form that is a noun or adjective as well is one here: it describes nothing, or a verb follows.

    As in "mi primera cita", and in "la cuenta activa tiene".
    """
    lists = lexicon.lists
    describing = (lists["dull"], lists["new"], lists["ordinals"], lists["aged"], lists["qualities"])
    if all(word not in lists["relations"] and any(word in each for each in describing) for word in words[:at]):
        return words[0] not in lists["self"] and words[0] not in lists["clause_subjects"]
    following = _next_said(words, at, lexicon)
    lemma, told = lexicon.verbs.get(following, (following, True))
    return following != lemma and not told and following not in lists["noun_verbs"]


_DESCRIBING: Final = ("te", "ten", "ter", "tes")  #: in what a German participle ends that describes a noun
_DONE: Final = ("ado", "ada", "ados", "adas", "ido", "ida", "idos", "idas")  #: in what a participle ends
_NOUNS: Final = ("nouns", "noun_verbs", "modifiers")  #: with what describes them
_SPEAKERS: Final = ("i", "we", "they", "you")
_CLAUSE: Final = 14  #: words of a clause in which an unknown German verb is looked for
_SHORTEST: Final = 3
_HISSED: Final = ("ches", "shes", "sses", "xes", "zes")
_NO_VERBS: Final = (
    "prepositions", "determiners", "pronouns", "unsaid", "qualities", "spoken_before", "unreal_words", "triggers",
    "nouns", "concrete_nouns", "times", "perfect", "conditions", "relatives", "be",
)  # fmt: skip
#: Languages in which what says who does something is no noun's form: "compra" is "buys" and "purchase".
_ROMANCE: Final = ("es", "fr")


def _is_done(word: str, lexicon: AlphabeticLexicon) -> bool:
    """Return whether a word behind "has" tells what has been done."""
    if word in lexicon.lists["be"] or lexicon.verbs.get(word, ("", False))[1]:
        return True
    if lexicon.language == "fr":
        return word[-1] == "e" and word in lexicon.verbs and word not in lexicon.lists["noun_verbs"]  # "a acheté"
    return lexicon.language == "en" and len(word) > _SHORTEST + 1 and word[-2:] == "ed" and word not in lexicon.states


def _next_place(words: list[str], at: int, lexicon: AlphabeticLexicon) -> int:
    """Return where the next word behind *at* stands that says something; 0 if there is none."""
    unsaid = lexicon.lists["unsaid"]
    return next((place for place in range(at + 1, len(words)) if words[place] not in unsaid), 0)


def _next_said(words: list[str], at: int, lexicon: AlphabeticLexicon) -> str:
    return next((word for word in words[at + 1 :] if word not in lexicon.lists["unsaid"]), "")


def _is_written_alike(participle: str, lexicon: AlphabeticLexicon) -> bool:
    """Return whether a word may be a French participle, which without its accents is written like the present tense."""
    return lexicon.language == "fr" and (participle in lexicon.verbs or participle.removesuffix("e") in lexicon.verbs)


def progressive(words: list[str], at: int, lexicon: AlphabeticLexicon) -> int:
    """Return where the verb is after "is" at *at*, if it has an object or place: learning Swedish, running on it."""
    verb = at + 1
    while verb < len(words) and words[verb] in lexicon.lists["unsaid"]:
        verb += 1
    if verb >= len(words) or words[verb][-3:] != "ing" or words[verb] not in lexicon.verbs or lexicon.language != "en":
        return at
    return verb if any(word not in lexicon.lists["unsaid"] for word in words[verb + 1 :]) else at


def with_verb(words: list[str], at: int | None, lexicon: AlphabeticLexicon) -> list[str]:
    """Return a line with the "is" that it leaves out before a state, or an amount of what has one: "fridge temp 5 C".

    Args:
        words: Of a clause.
        at: Where its verb stands: nowhere, or at its end, where it may be a state: "cron for backup disabled".
        lexicon: Of its language.
    """
    if len(words) < 2 or (words[-1] not in lexicon.states and (at is not None or words[-1][0] != "#")):
        return words
    if words[-1][0] == "#" and (len(words[-1]) == 1 or words[-2] not in lexicon.lists["nouns"]):
        return words
    owner = words[:-1]
    if not lexicon.lists["predicates"].isdisjoint(owner) or not lexicon.lists["triggers"].isdisjoint(owner):
        return words
    if owner[0] in lexicon.spoken or not lexicon.lists["conditions"].isdisjoint(owner):
        return words
    return [*owner, BE[lexicon.language], words[-1]]


#: What is left out where a line gives a value without a verb.
BE: Final = {"en": "is", "de": "ist", "es": "es", "fr": "est"}


def is_participle(word: str, lexicon: AlphabeticLexicon) -> bool:
    """Return whether a word after a form of "be" may be a participle."""
    if word in lexicon.lists["joined"]:
        return True
    if _is_written_alike(word, lexicon):
        return True
    if lexicon.language == "de" and word[-1] == "t" and word in lexicon.verbs and _is_without_ge(word):
        return True  # "erzählt"
    ends = _PARTICIPLES.get(lexicon.language)
    return (ends is not None and word.endswith(ends)) or lexicon.verbs.get(word, ("", False))[1]


def begins_with_participle(words: Sequence[str], lexicon: AlphabeticLexicon) -> bool:
    """Return whether a German clause begins with a participle that stands before its verb: "betrieben wird …"."""
    word = words[0]
    lists = lexicon.lists
    return word in lists["joined"] or (word not in lists["relations"] and is_participle(word, lexicon))


def _is_without_ge(word: str) -> bool:
    return word.startswith(_WITHOUT_GE) or word.endswith("iert")


_WITHOUT_GE: Final = ("be", "er", "ver", "ent", "zer", "ge", "uber", "unter", "miss", "emp", "wider", "hinter")
#: What a participle ends in.
_PARTICIPLES: Final[dict[str, str | tuple[str, ...]]] = {
    "en": "ed",
    "es": ("ado", "ada", "ados", "adas", "ido", "ida", "idos", "idas"),
}
