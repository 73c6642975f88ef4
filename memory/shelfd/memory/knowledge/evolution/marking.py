"""How a clause is meant, by the words that mark it: denied, of an earlier time, supposed, corrected."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from itertools import pairwise
from typing import Final

from shelfd.memory.knowledge.evolution.lexicon import NOUN_FIRST, PHRASES, AlphabeticLexicon
from shelfd.memory.knowledge.evolution.statement import Effect, Statement
from shelfd.memory.knowledge.evolution.verbs import begins_with_participle


class Marks(frozenset[str]):
    """What marks a clause: names of :class:`Statement`'s fields."""


_UNMARKED: Final = Marks()
_DENYING: Final = ("negative", "ended")
#: Makes a statement of all its fields: in a third of the time, and each clause of each note is one.
_new: Final = tuple.__new__


def find_marks(words: list[str], said: str, proper: frozenset[str], lexicon: AlphabeticLexicon) -> Marks:
    """Find the words that say how a clause is meant."""
    marking = lexicon.marks.intersection(words)
    if not marking and "," not in said:  # as most
        return _UNMARKED
    lists = {name for word in marking for name in lexicon.marking[word]}
    if "," in said:  # a word with a comma inside may end with what begins a phrase
        lists.update(PHRASES)
    found = set[str]()
    if "negation" in lists:
        found.update(_denial(words, lexicon, is_ended="ended_words" in lists))
    elif "ended_words" in lists and "anymore" in marking:
        found.add("ended")
    if "past_phrases" in lists and lexicon.past.search(said):
        found.add("recent" if lexicon.recent.search(said) else "past")
    if "unreal_words" in lists and _is_unreal(words, marking, proper, lexicon):
        found.add("unreal")
    if "never" in lists and "negative" in found:
        found.add("never")
    if "now" in lists or ("yet" in lists and "negative" in found):
        found.add("now")
    if "correction_phrases" in lists and lexicon.corrects.search(said):
        found.add("corrects")
    if "additive" in lists or ("additive_phrases" in lists and lexicon.adds.search(said)):
        found.add("adds")
    return Marks(found)


def _denial(words: Sequence[str], lexicon: AlphabeticLexicon, *, is_ended: bool) -> tuple[str, ...]:
    """Return the mark of what is denied: none if one thing is not so without another, as walking without crutches."""
    if is_ended:
        return ("ended",)
    denying = lexicon.lists["negation"].intersection(words)
    return () if len(denying) > 1 and not denying.isdisjoint(WITHOUT) else ("negative",)


#: Before what something is not done with.
WITHOUT: Final = frozenset(("without", "ohne", "sin", "sans"))
WITH: Final = frozenset(("with", "mit", "con", "avec"))


def tells_of_past(words: Sequence[str], lexicon: AlphabeticLexicon) -> bool:
    """Return whether a sentence tells of an earlier time, and not of the last days."""
    said = " ".join(words)
    marking = lexicon.marks.intersection(words)
    if "," not in said and not any("past_phrases" in lexicon.marking[word] for word in marking):
        return False  # as most
    return lexicon.past.search(said) is not None and lexicon.recent.search(said) is None


def _is_unreal(words: list[str], marking: frozenset[str], proper: frozenset[str], lexicon: AlphabeticLexicon) -> bool:
    """Return whether a word says that something is only so perhaps: who wants to do something has not done it."""
    wishing = lexicon.lists["wishing"]
    said = marking & lexicon.lists["unreal_words"]
    if lexicon.language != "de":  # where nouns and verbs have capitals, too
        said -= proper
    if lexicon.language in NOUN_FIRST:  # "el tiempo de espera"
        said -= {word for before, word in pairwise(words) if before in lexicon.lists["of"]}
    if not said:
        return False
    if is_passive(words, said, lexicon):
        return False
    if said == _GOING and lexicon.lists["be"].isdisjoint(words[: words.index("going")][-2:]):
        return False  # "before going to bed"
    if lexicon.language == "en" and said <= _PLANS and _is_noun_here(words, proper, lexicon):
        return False  # "the free plan", "the planning meeting lasts"
    if not said <= wishing:
        return True
    ends = _INFINITIVES.get(lexicon.language)
    if ends is None:
        return True
    after = words[max(words.index(word) for word in said) + 1 :]
    after = [word for word in after if word not in lexicon.lists["unsaid"]]
    done = after[-1:] if lexicon.language == "de" else after[:1]
    if lexicon.language == "de":
        done = [word for word in done if word not in lexicon.lists["wished"]]  # who wants mail gets mail
        return any(word.endswith(ends) and word in lexicon.verbs and word not in proper for word in done)
    return any(word.endswith(ends) for word in done)


_GOING: Final = frozenset(("going",))
#: English words for what somebody intends, and for what somebody pays for.
_PLANS: Final = frozenset(("plan", "plans", "planning"))


def is_passive(words: Sequence[str], unreal: AbstractSet[str], lexicon: AlphabeticLexicon) -> bool:
    """Return whether German words tell what is done to something, and not what will be: "wird von Odo geleitet".

    Args:
        words: Of a clause.
        unreal: Which of them may say that something is not so, or not yet.
        lexicon: Of their language.
    """
    if lexicon.language != "de" or not unreal <= _PASSIVE:
        return False
    if _is_participle(words[-1], lexicon):
        return True
    if len(words) > 1 and words[1] in _PASSIVE and begins_with_participle(words, lexicon):
        return True
    instead = next((at for at, word in enumerate(words) if word in _INSTEAD), 0)  # "wird mit Gas statt mit Öl geheizt"
    return instead > 0 and _is_participle(words[instead - 1], lexicon)


def _is_participle(word: str, lexicon: AlphabeticLexicon) -> bool:
    if word.endswith("t") or word.startswith("ge"):
        return True
    known = lexicon.verbs.get(word)
    if word[1:].find("ge") in _AFTER_PARTICLE and (known is None or known[0] != word):
        return True
    return known is not None and known[1] and known[0] != word  # "betrieben"


#: German words that make a passive as well as a future.
_PASSIVE: Final = frozenset(("wird", "werden"))
_INSTEAD: Final = frozenset(("statt", "anstatt"))
_AFTER_PARTICLE: Final = range(1, 6)  #: where "ge" stands in "abgeholt", "weitergegeben"


def _is_noun_here(words: list[str], proper: frozenset[str], lexicon: AlphabeticLexicon) -> bool:
    """Return whether "plan" is a noun: it ends the clause, or an article or a name stands before it."""
    at = next(at for at, word in enumerate(words) if word in _PLANS)
    following = words[at + 1] if at + 1 < len(words) else ""
    if following in ("to", "on"):
        return False
    before = words[at - 1] if at else ""
    if (
        words[0] in lexicon.lists["determiners"]
        and at > 1
        and not lexicon.lists["predicates"].isdisjoint(words[at + 1 :])
    ):
        return True
    return not following or before in proper or before in lexicon.lists["determiners"]


def marked(statement: Statement, marks: Marks) -> Statement:
    """Return *statement* as it is meant by *marks*."""
    if not marks:
        return statement
    if "ended" in marks and statement.effect is Effect.SAYS:
        statement = statement._replace(effect=Effect.ENDED)
    # What was done last week is done: who divorced is divorced.
    past = "past" in marks or ("recent" in marks and statement.effect is Effect.SAYS and statement.event)
    *said, _, event, before, real, _, _, _, several, denied, manner, left_out, claim = statement
    corrects = "corrects" in marks or ("never" in marks and event)
    return _new(
        Statement,
        (
            *said, marks.isdisjoint(_DENYING), event, past or before, "unreal" not in marks and real,
            "now" in marks, corrects, "adds" in marks, several, denied, manner, left_out, claim,
        ),
    )  # fmt: skip


#: What an infinitive ends in, by language.
_INFINITIVES: Final = {"de": ("en", "ern", "eln"), "es": ("ar", "er", "ir"), "fr": ("er", "ir", "re")}
