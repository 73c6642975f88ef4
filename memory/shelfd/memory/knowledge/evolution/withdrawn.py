"""Whether what a note names as ended is what an older statement says."""

import re
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from itertools import pairwise
from typing import Final

from shelfd.memory.knowledge.evolution.another_thing import is_another_thing
from shelfd.memory.knowledge.evolution.circumstances import works_there
from shelfd.memory.knowledge.evolution.effects import can_end
from shelfd.memory.knowledge.evolution.ending import Cues, Ending, cues, plain
from shelfd.memory.knowledge.evolution.gone import gone_words
from shelfd.memory.knowledge.evolution.in_full import is_named_in_full
from shelfd.memory.knowledge.evolution.lexicon import NOUN_FIRST, AlphabeticLexicon, lexicon
from shelfd.memory.knowledge.evolution.repeated import Repeated, repeated
from shelfd.memory.knowledge.evolution.statement import NOBODY, Arity, Effect, Statement, Value
from shelfd.memory.knowledge.evolution.values import HAVE, as_planned, joining
from shelfd.memory.knowledge.evolution.verdicts import says_alike
from shelfd.memory.knowledge.evolution.withdrawing import LANGUAGES, SPEAKING, Withdrawal, Word, asks

_DIGIT: Final = re.compile(r"\d")


def withdrawn(found: Sequence[Withdrawal], old: Statement) -> Withdrawal | None:
    """Return which of *found* ends what *old* says; None if none does."""
    if not old.real:
        old = as_planned(old) or old
    if not old.subject or not old.positive or not old.real or old.several or old.past:
        return None
    if old.effect is not Effect.SAYS or old.language not in LANGUAGES or any("#" in word for word in old.subject):
        return None
    if (old.verb, old.link) == ("be", "to"):
        return None  # who "has been to" a place
    words, known = lexicon(old.language), cues(old.language)
    for each in found:
        if each.language != old.language or _is_on_a_day(each, old) or _is_at_another_time(each, old, words):
            continue
        said = repeated(each, old, words, known)
        is_ended = _ends(each, old, said, words) or _is_had_no_longer(each, old, words, known)
        if not is_ended and (_is_of_another_kind(each, said, words) or not is_named_in_full(each, old, words, known)):
            continue
        if not is_another_thing(each, old, said, words, known):
            others = (one for one in found if one.kind is Ending.DENIES and one is not each)
            if each.kind is Ending.DENIES or not any(_begins(one.phrase, said.of_whom) for one in others):
                return each
    return None


def _is_had_no_longer(found: Withdrawal, old: Statement, words: AlphabeticLexicon, known: Cues) -> bool:
    """Return whether somebody no longer has a thing, wherever they had it: "Ida's boat was sold", which lay in Kiel."""
    if not old.rest or found.kind is not Ending.ENDED or not (old.verb in HAVE or old.verb in words["possessing"]):
        return False
    thing = old._replace(rest=NOBODY)
    said = repeated(found, thing, words, known)
    is_bare = found.before <= said.forms | said.of_whom and said.named <= found.before
    return is_bare and bool(said.named) and _ends(found, thing, said, words)


def is_succeeded(found: Sequence[Withdrawal], said: Sequence[Statement], old: Statement) -> bool:
    """Return whether whom *old* speaks of is named as gone, and the same is said of another: "X is gone, Y does it".

    Args:
        found: What the note names as ended.
        said: What it states.
        old: An older statement.
    """
    named = old.subject - SPEAKING
    if not named or not old.core or not old.positive or not old.real or old.event or old.past or old.several:
        return False
    if not any(_does_the_same(each, old) and _is_another(each, old) for each in said):
        return False
    kinds = (Ending.ENDS, Ending.ENDED, Ending.LEAVES)
    gone = (each.before.union(*each.phrase) for each in found if each.kind in kinds and not each.is_kept)
    return any(named <= each for each in gone)


def _is_another(new: Statement, old: Statement) -> bool:
    """Return whether a statement speaks of somebody else, who may be named with a pronoun: "her brother Rowan"."""
    if new.subject:
        return new.subject.isdisjoint(old.subject)
    whom = new.words[: new.words.index(new.verb)] if new.verb in new.words else ()
    return len(whom) > 1 and old.subject.isdisjoint(whom)


def _does_the_same(new: Statement, old: Statement) -> bool:
    is_so = new.language == old.language and new.positive and new.real and not (new.event or new.past or new.adds)
    is_same = (new.link, new.core, new.amounts) == (old.link, old.core, old.amounts) and old.rest <= new.rest
    return is_so and is_same and says_alike(new.language, new.verb, old.verb)


def _begins(phrase: Sequence[Word], whom: AbstractSet[str]) -> bool:
    """Return whether it is somebody of *whom* a phrase speaks first: "not Bob"."""
    first = next((each for each in phrase if each[1]), ("", ""))
    return not whom.isdisjoint(first)


def _ends(found: Withdrawal, old: Statement, said: Repeated, words: AlphabeticLexicon) -> bool:
    if old.event or old.slot is Arity.FIXED:
        told = {plain(word, words, cues(found.language)) for word in old.link.split()} - {""}
        if not found.is_correction or not (told <= found.every or _is_blamed(found, old, said, words)):
            return False
    if any(_is_elsewhere(each, found.said, cues(found.language)) for each in said.places):
        return False
    if any(is_ended(found, old, said, words) for is_ended in _WHATEVER_ELSE_IS_SAID):
        return True
    near = found.clause | found.earlier | (found.later if found.is_first else NOBODY)
    if not said.value <= found.every or not _is_of(found, said, near, words):
        return False
    gone = gone_words(found, said, words)
    if said.value and said.verb & gone and said.value <= found.before and said.named <= found.clause:
        return True  # in the passive: "is no longer led by Ann"
    if not gone or (said.value and gone.isdisjoint(said.value)):
        return False
    if _is_asked_otherwise(found, old, words):
        return True
    if not words["ascribing"].isdisjoint(found.said) and _is_blamed(found, old, said, words):
        return True
    is_near = said.value <= found.clause
    if said.verb <= near and (is_near or not old.link.endswith((" a", " the"))):
        return True
    return is_near and _may_lack_verb(found, old, said, gone, words)


def _is_asked_otherwise(found: Withdrawal, old: Statement, words: AlphabeticLexicon) -> bool:
    """Return whether somebody asks for something else than they wanted: "please answer in German, not in English"."""
    return asks(found, words) and old.subject <= SPEAKING and old.verb in words["wanting"] and not old.event


def _is_at_another_time(found: Withdrawal, old: Statement, words: AlphabeticLexicon) -> bool:
    """Return whether something has only ended for another part of the day: no coffee after noon, and one at eight."""
    parts, known = words["day_parts"], cues(found.language)
    said, before = ({word.lstrip("~") for word in each} & parts for each in (found.clause, (*old.core, *old.rest)))
    return bool(said and before) and said.isdisjoint(before) and known.instead.isdisjoint(found.said)


def _is_on_a_day(found: Withdrawal, old: Statement) -> bool:
    """Return whether it is only on one day that something is at another hour: "on 3 May at one instead of two"."""
    if old.value is not Value.TIME or ":" not in old.core[0]:
        return False
    days = {word for word in found.clause if word[0] == "~" and ":" not in word and _DIGIT.search(word)}
    return not days <= {*old.core} | old.rest | old.subject


def _is_blamed(found: Withdrawal, old: Statement, said: Repeated, words: AlphabeticLexicon) -> bool:
    """Return whether it is corrected by whom, or by what, something was caused or done: "it was not the DNS"."""
    is_agent = old.verb == "be" and not words["agent_links"].isdisjoint(old.link.split()[-1:])
    return is_agent and said.value <= gone_words(found, said, words)


def _is_elsewhere(place: tuple[str, str], said: Sequence[str], known: Cues) -> bool:
    """Return whether a note has another preposition before a place: the flight from Oslo is not that to Oslo."""
    before = [word for word, following in pairwise(said) if following == place[1]]
    return place[0] not in before and (not before or not known.placing.isdisjoint(before))


def _is_replaced(found: Withdrawal, old: Statement, said: Repeated, words: AlphabeticLexicon) -> bool:
    """Return whether another does now what is said of somebody: "Ann leads the team instead of Bob"; or nobody does."""
    kinds = (Ending.ENDS, Ending.DENIES, Ending.LEAVES, Ending.NEVER)  # "Bob stepped down as head" of whom the head is
    if old.link or old.event or found.kind not in kinds or not said.value or not said.named:
        return False
    whom = gone_words(found, said._replace(forms=said.of_whom, of_whom=said.forms), words)
    is_contrast = found.kind is Ending.DENIES and found.phrase[0][0] not in cues(found.language).placing
    around = found.every if is_contrast else found.before  # "it is Ann, not Bob, who leads the team"
    return said.named <= whom and said.verb | said.value <= around


def _is_given_away(found: Withdrawal, old: Statement, said: Repeated, words: AlphabeticLexicon) -> bool:
    """Return whether somebody has no longer what an older statement says is theirs: of the phone it is, say."""
    if old.verb != "be" or old.link or old.value is not Value.NAME or found.kind not in (Ending.ENDS, Ending.ENDED):
        return False
    known = cues(found.language)
    kinds = words["concrete_nouns"]
    if found.by not in words["negation"] and words["modifiers"].isdisjoint(old.subject):
        kinds = kinds | words["nouns"]  # who no longer wears blue may like it best
    owner = old.subject - kinds
    if not owner or owner == old.subject or not old.subject.isdisjoint(known.people):
        return False
    of_kind = old.subject - owner
    if len(of_kind) > 1 and not of_kind - words["concrete_nouns"] <= found.every:
        return False  # the theme of the terminal is not that of the editor
    is_over = found.kind is Ending.ENDED  # and not only repaired
    is_whole = is_over and not words.lists.get("given_away", NOBODY).isdisjoint(found.said)
    if is_over and not is_whole and (not owner - SPEAKING or found.by not in words["triggers"]):
        return False
    changes = {form for word in found.ahead if word[0] in known.changed for form in word}
    others = found.before - owner - said.of_whom - SPEAKING - changes - (said.forms if is_over else NOBODY)
    if not owner <= found.before and not (owner <= SPEAKING and found.is_first and not found.before - changes):
        return False
    things = {word for word, _ in found.phrase} & words["concrete_nouns"]
    if things and things.isdisjoint(old.subject) and words.language in NOUN_FIRST:
        return False  # the bike of the same make as the computer
    if is_whole:  # "Ida's Pixel 8 was sold"
        others = others - said.forms - words["given_away"] - words["aged"]
        others = frozenset([word for word in others if word[0] != "*"])
    return said.value <= gone_words(found, said, words) and not any(word[0] not in "#~@" for word in others)


def _is_handed_on(found: Withdrawal, old: Statement, said: Repeated, words: AlphabeticLexicon) -> bool:
    """Return whether somebody has given up what they do something with: the pharmacy that Ida ran, or owned."""
    if old.verb != "be" or old.event or old.value is not Value.NAME or found.kind not in (Ending.ENDS, Ending.LEAVES):
        return False
    if words["agent_links"].isdisjoint(old.link.split()[-1:]) or not said.value or not said.named:
        return False
    whom = gone_words(found, said._replace(forms=said.of_whom, of_whom=said.forms), words)
    return said.value <= found.before and said.named <= whom


def _is_done_there(found: Withdrawal, old: Statement, said: Repeated, words: AlphabeticLexicon) -> bool:
    """Return whether somebody has left those with whom they did something: who plays the cello in a quartet."""
    if found.kind is not Ending.LEAVES or not old.rest or old.event or old.link:
        return False
    is_admitted = old.verb == "be" and words["admitted"].issuperset(old.core)
    if not is_admitted and old.verb not in words["practising"] and not _is_role(old, words):
        return False
    there = old._replace(core=tuple(sorted(old.rest)), rest=NOBODY)
    with_whom = repeated(found, there, words, cues(found.language))
    return with_whom.value <= gone_words(found, with_whom, words) and said.named <= found.before and bool(said.named)


def _is_role(old: Statement, words: AlphabeticLexicon) -> bool:
    """Return whether a statement says what somebody is where they work or play: a tester on the project."""
    if old.language != "en" or old.verb != "be" or not old.core or joining(old) not in _WHERE:
        return False
    role = old.core[-1]
    return role in words["offices"] or role in words["posts"] or role.endswith(_ROLES)


_WHERE: Final = ("on", "at", "with", "for", "in")
_ROLES: Final = ("er", "or", "ist", "ant", "ian", "eer", "intern", "lead", "head", "nurse", "clerk", "cook", "trainee")


#: How a statement ends without all of its words being repeated.
_WHATEVER_ELSE_IS_SAID: Final = (_is_replaced, _is_given_away, _is_handed_on, _is_done_there)


def _may_lack_verb(
    found: Withdrawal, old: Statement, said: Repeated, gone: AbstractSet[str], words: AlphabeticLexicon
) -> bool:
    """Return whether what is said of a thing ends with it, by whatever verb: who left a place is no longer there."""
    if _is_attended(old, words) and said.value <= gone and said.named <= found.clause:
        return not old.event and old.verb not in words["minding"]  # who dropped the class does not go there
    if found.kind is Ending.LEAVES:
        stays = words["staying"] | words["lodging"] | words["exchangeable"]  # who left a project leads it no longer
        if old.verb in stays or old.verb == "be":
            return True
        if found.by not in cues(found.language).stopping:  # "quit beer"
            return False
    if found.kind is Ending.DENIES or old.event or old.slot is Arity.FIXED or works_there(old):
        return False
    if _may_have_other_verb(old, words) or _is_put_elsewhere(found, old, words):
        return False  # what it says is not certain
    is_of = said.named <= found.clause if said.named else not SPEAKING.isdisjoint(found.before)
    is_told = said.is_whole and (said.value <= gone or _is_rest_said(found, old, gone, words))
    if is_of and is_told and (old.verb not in words["minding"] or _is_tired(found, old, words)):
        return True
    is_kept_at = any(word[0] == "#" for word in old.rest)  # "keep the kitchen at 20 °C"
    return said.named <= found.clause and (old.verb in words["serving"] or (can_end(old) and not is_kept_at))


def _is_tired(found: Withdrawal, old: Statement, words: AlphabeticLexicon) -> bool:
    """Return whether somebody no longer likes what they liked: "has gone off coffee"."""
    return found.by in words.lists.get("tiring", NOBODY) and old.verb in words["enjoying"] | words["wanting"]


def _is_rest_said(found: Withdrawal, old: Statement, gone: AbstractSet[str], words: AlphabeticLexicon) -> bool:
    """Return whether a value is gone, or what stands with it, and its clause says the other: "her GP from X to Y"."""
    parts = (old.core, tuple(sorted(old.rest)))
    if not all(parts) or any(word[0] in "#~" for word in gone):
        return False
    if not old.subject & {*found.said} <= {word for word, _ in found.ahead} | SPEAKING:
        return False  # "PagerDuty no longer hears from the bot"
    known = cues(found.language)
    if any(word not in found.said for word in (*old.core, *old.rest) if not plain(word, words, known)):
        return False  # "Go" may be a language
    values = (repeated(found, old._replace(core=part, rest=NOBODY), words, known).value for part in parts)
    return any(value and value <= gone for value in values)


def _is_put_elsewhere(found: Withdrawal, old: Statement, words: AlphabeticLexicon) -> bool:
    """Return whether it is said where something stands instead, and of an older statement's verb that it does more.

    What stands in the hall instead of in the kitchen may still begin in the kitchen.
    """
    if found.phrase[0][0] not in words["places"] or cues(found.language).instead.isdisjoint(found.said):
        return False
    if old.verb in words["placing"] or old.verb in words["staying"] or old.verb in words["abiding"]:
        return False
    told = [words.verbs[word][0] for word in found.said if word in words.verbs]
    return old.verb not in told and not words["placing"].isdisjoint(told)


def _may_have_other_verb(old: Statement, words: AlphabeticLexicon) -> bool:
    """Return whether a word of a value may be the verb, by its form: "läuft", but not "a run"."""
    verbs, nouns = words.verbs, words["noun_verbs"]
    others = {*old.words} - old.subject - {*old.core}
    told = sum(word in verbs and (word == old.verb or word not in nouns) for word in others)
    forms = (word for word in old.core if word in verbs and verbs[word][0] != word)
    return told + sum(word not in words["nouns"] and word not in words["coded"] for word in forms) > 1


def _is_attended(old: Statement, words: AlphabeticLexicon) -> bool:
    """Return whether a value is what somebody goes to for a time, as a class; German joins such nouns to others."""
    activities = words["activities"]
    if any(word[0] == "#" and len(word) > 1 for word in old.core):
        return False  # what it costs, say
    if not activities.isdisjoint(old.core) or not activities.isdisjoint(old.rest):
        return True
    return words.language == "de" and any(word.endswith(tuple(activities)) for word in old.core)


def _is_of(found: Withdrawal, said: Repeated, near: AbstractSet[str], words: AlphabeticLexicon) -> bool:
    """Return whether what has ended is said of whom an older statement speaks, and not of their mother, say."""
    people, own = cues(found.language).people, said.named
    if any(
        word in people and word not in said.of_whom | said.forms and following not in said.of_whom
        for (word, _), (following, _) in pairwise((*found.ahead, ("", "")))
    ):
        return False  # but "our neighbour Ida"
    if not words["others"].isdisjoint(found.before) and words["others"].isdisjoint(said.of_whom):
        return False  # "the other server"
    if own & found.clause or (said.subject & SPEAKING and found.before & SPEAKING):
        return own <= found.clause and not _is_of_another_kind(found, said, words)
    others = found.before - said.forms
    if found.ahead and found.ahead[0][0] in cues(found.language).changed:
        others -= {*found.ahead[0]}  # "switched from X to Y"
    if found.is_kept or (not found.is_headless and any(word[0] not in "#~@" for word in others)):
        return False
    if found.is_first and not people.isdisjoint(found.later - said.forms - said.of_whom):
        return False
    is_of_speaker = found.is_first or not SPEAKING.isdisjoint(near) or asks(found, words)
    return own <= near and bool(own or is_of_speaker)


def _is_of_another_kind(found: Withdrawal, said: Repeated, words: AlphabeticLexicon) -> bool:
    """Return whether a note names a house or firm of the same name: "the café Aurelia" is no ship."""
    houses = words["establishments"] - said.of_whom - said.forms
    if any(kind in houses and name in said.named for kind, name in pairwise(found.said)):
        return True
    kinds = words["kinds"] | words["appositives"]
    ordinals = words["ordinals"] - said.of_whom - said.forms  # "her first dog Rufus"
    if any(word in ordinals and (kind in kinds or kind in said.of_whom) for word, kind in pairwise(found.said)):
        return True
    named = zip(found.said, found.said[1:], found.said[2:], strict=False)
    return any(  # "the Kestrel backup server"
        name in said.named and kind in kinds and word not in said.of_whom | cues(found.language).nameless
        for name, word, kind in named
    )
