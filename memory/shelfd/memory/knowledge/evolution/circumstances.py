"""What ends with something else: with a death, a move, another diet; and what begins again."""

from collections.abc import Sequence
from itertools import takewhile
from typing import Final

from shelfd.memory.knowledge.evolution.lexicon import ME, NOUN_FIRST, US, AlphabeticLexicon, countries, lexicon, places
from shelfd.memory.knowledge.evolution.manner import are_told_alike
from shelfd.memory.knowledge.evolution.marking import WITH, WITHOUT
from shelfd.memory.knowledge.evolution.statement import NOBODY, Arity, Effect, Statement, Value
from shelfd.memory.knowledge.evolution.states import ended_by_state
from shelfd.memory.knowledge.evolution.values import exclude_each_other, joining

#: Who moves from one town to another may work where they worked.
_WORKING: Final = {"en": ("work", "in"), "de": ("arbeiten", "in"), "es": ("trabajar", "en"), "fr": ("travailler", "a")}


def ended_by(new: Statement, old: Statement) -> str | None:
    """Return how what *old* says has ended, None if it has not."""
    if new.value is Value.STATE and (ended := ended_by_state(new, old)) is not None:
        return ended
    if new.language in ("zh", "ja"):
        return None
    if _is_opposite(new, old) or _is_reversed(new, old):
        return "another state"
    if not are_told_alike(new, old):
        return None
    if _is_put_elsewhere(new, old):
        return "another place"
    if not new.positive or new.event or old.event or not old.positive or new.adds:
        return None
    if _is_served(new, old):
        return "taken otherwise"
    if (new.now or _are_mere_places(new, old)) and _is_elsewhere(new, old):
        return "another place"
    if _is_kept_elsewhere(new, old):
        return "another place"
    if not new.now:
        return None
    return "eats it again" if _breaks_diet(new, old) else None


def _is_elsewhere(new: Statement, old: Statement) -> bool:
    """Return whether a thing lies or hangs, or somebody lives, at another place now."""
    words = lexicon(new.language)
    is_with = WITH.isdisjoint(new.link.split()) is not WITH.isdisjoint(old.link.split())
    if new.adds or (is_with and not new.now and _abides(new.verb, words)):
        return False  # who lives in a tower may live there with somebody
    for each in (new, old):
        is_placed = each.verb in words["placing"] or (each.verb == new.verb and _abides(each.verb, words))
        is_placed = is_placed and not words["spots"].isdisjoint(each.link.split())
        is_placed = is_placed and words["making"].isdisjoint(each.link.split())  # "written in Elixir" is no place
        if not is_placed or each.value is not Value.NAME or each.several or not words["abstract"].isdisjoint(each.core):
            return False
    return not {*new.core} <= {*old.core} and not {*old.core} <= {*new.core}


def _are_mere_places(new: Statement, old: Statement) -> bool:
    """Return whether two statements say nothing but where something is, and not as in "on holiday", or in which town.

    A thing has one place even where nothing says that it is another now, but it may be in a town and behind a door.
    """
    if new.verb == "be" and new.subject.issubset((ME, US)):
        return False  # who is in a town may be in a reading group
    if not (old.rest <= {*new.core, *new.rest} or _is_described(new, old)):
        return False
    if not old.rest.isdisjoint(new.core):
        return False
    if not places().isdisjoint((*new.core, *old.core)):
        return False
    words = lexicon(new.language)
    if (
        new.link != old.link
        and words.alike(new.verb, words.home)
        and not words["nearby"].isdisjoint((*new.link.split(), *old.link.split()))
    ):
        return False  # who lives above a bakery may live near the station
    mere = words["spots"] | words["put"] | {"the", "a", "to"}
    if new.language == "en":
        hangs = all(each.verb != "be" or "on" not in each.link.split() for each in (new, old))
        mere -= set() if hangs and not (new.rest or old.rest) else {"on"}  # "hangs on the hook", but "is on holiday"
    return mere.issuperset((*new.link.split(), *old.link.split()))


def _is_described(new: Statement, old: Statement) -> bool:
    """Return whether what is said besides two places only says where these are: in the drawer in the hall."""
    words = lexicon(new.language)
    said, before = {*new.core, *new.rest}, {*old.core, *old.rest}
    if (
        new.verb not in words["placing"]
        or new.several
        or not said.isdisjoint(before)
        or any(word[0] in "#~" for word in said | before)
    ):
        return False
    if not places().isdisjoint(said | before) or not words["limiting"].isdisjoint((*new.words, *old.words)):
        return False
    return all(not each.rest or joining(each) in words["spots"] | words["of"] for each in (new, old))


def _is_kept_elsewhere(new: Statement, old: Statement) -> bool:
    """Return whether somebody keeps one thing in another place: the letter in her boot.

    Of several things some may be here, and some there.
    """
    words = lexicon(new.language)
    if new.verb != old.verb or new.verb not in words["keeping"] or new.core != old.core or not new.core:
        return False
    noun = new.core[-1]
    if new.link or old.link or (noun[-1] == "s" and noun[-2:] != "ss" and new.language != "de"):
        return False
    if not all(each.rest and joining(each) in words["spots"] for each in (new, old)):
        return False
    said = new.rest | old.rest
    return not any(word[0] in "#~" for word in said) and new.rest.isdisjoint(old.rest) and places().isdisjoint(said)


def _abides(verb: str, words: AlphabeticLexicon) -> bool:
    """Return whether who does this is where they sleep."""
    return verb in words["abiding"] or words.alike(verb, words.home)


def _is_put_elsewhere(new: Statement, old: Statement) -> bool:
    """Return whether what was hidden in one place is hidden behind another: by one participle, in two places."""
    if new.verb != "be" or new.slot is not Arity.ONE or " " not in new.link or new.value is not Value.NAME:
        return False
    participle, *where = new.link.split() or [""]
    before, *there = old.link.split() or [""]
    if not where or not there or participle != before or old.verb != "be":
        return False
    if old.slot is not Arity.ONE or new.event or old.event or new.adds:
        return False
    spots = lexicon(new.language)["spots"] - {"with", "con", "by"}
    is_so = new.positive and old.positive and not old.several and old.rest <= {*new.core, *new.rest}
    return is_so and spots.issuperset((where[0], there[0])) and {*new.core}.isdisjoint(old.core)


def both_enjoy(new: Statement, old: Statement) -> bool:
    """Return whether two verbs say that somebody is fond of something: who no longer likes jazz listens to none."""
    return new.language not in ("zh", "ja") and lexicon(new.language)["enjoying"].issuperset((new.verb, old.verb))


def wants_none(new: Statement, old: Statement) -> bool:
    """Return whether somebody wants none any more, at the same occasion, of what they liked there: emoji in replies."""
    if new.language in ("zh", "ja") or not new.rest or new.rest != old.rest:
        return False
    words = lexicon(new.language)
    return new.verb in words["wanting"] and (old.verb in words["wanting"] or old.verb in words["enjoying"])


def works_there(old: Statement) -> bool:
    """Return whether somebody works at a place, which a move from there does not end."""
    return (old.verb, old.link) == _WORKING.get(old.language)


def only_begins(ended: set[str], old: Statement) -> bool:
    """Return whether what has ended only begins a longer noun: who sold the boat has its trailer, the boat trailer.

    Of a language whose nouns come first it is the thing itself, and its make: "une moto Filante".
    """
    words = lexicon(old.language)
    owned = old.verb in words["possessing"] or old.verb in words["have"]
    is_longer = len(old.core) > 1 and old.core[-1].isalpha() and old.core[-1] not in ended
    first = next((word for word in old.core if word not in words["some"]), "")
    if old.language in NOUN_FIRST and first in words["concrete_nouns"]:
        return owned and first not in ended and not words["concrete_nouns"].isdisjoint(ended)
    return owned and is_longer and first in ended


def _is_served(new: Statement, old: Statement) -> bool:
    """Return whether somebody takes coffee black or with milk now, who took it otherwise."""
    words = lexicon(new.language)
    if new.verb != old.verb and not words.alike(new.verb, old.verb):
        return False
    if WITHOUT.isdisjoint(old.words) is not WITHOUT.isdisjoint(new.words):
        return False  # without milk, and with sugar
    what, before = ({*each.core, *each.rest} for each in (new, old))
    same, served = what & before, words["served"]
    return bool(same - served) and what != before and bool(before - same) and what ^ before <= served


def goes_without(new: Statement, old: Statement) -> bool:
    """Return whether something is done without what it was done with, or the other way round: crutches, sugar."""
    if new.verb != old.verb or new.adds or new.event or old.event or old.several or new.language in ("zh", "ja"):
        return False
    if new.value is Value.AMOUNT and old.value is Value.AMOUNT and not (new.now or new.corrects):
        return False  # 800 euros without tax are 952 with it
    if new.language == "en":  # where "without" denies
        if new.positive is old.positive:
            return False  # as most
        done, undone = (new, old) if new.positive else (old, new)
        left_out = {*undone.core, *undone.rest}
        said = list(done.core) if done.link in lexicon("en")["means"] and not undone.link else _with(done)
    else:
        given_up, had = (WITHOUT.isdisjoint(each.words) for each in (old, new))
        if given_up is had or not (new.positive and old.positive):
            return False
        done, undone = (old, new) if given_up else (new, old)
        left_out = _without(undone)
        is_other = new.now or new.corrects  # "on crutches", in whatever way that is said
        said = _with(done) or ([*done.core] if is_other and left_out <= {*done.core} else [])
    thing = {word for word in left_out if not _forms(word).isdisjoint(said)}
    if not said or not thing or _forms(said[-1]).isdisjoint(thing):
        return False
    others, rest = {*done.core, *done.rest}.difference(said), {*undone.core, *undone.rest} - thing
    return others <= rest if new.now or new.corrects else others == rest


def _forms(word: str) -> set[str]:
    """Return *word* as one and as several."""
    return {word, f"{word}s", word.removesuffix("s")}


def _with(statement: Statement) -> Sequence[str]:
    """Return what something is done with, however much of it; nothing if that is not said."""
    words, lists = statement.words, lexicon(statement.language).lists
    at = next((at for at, word in enumerate(words) if word in WITH), len(words))
    ends = lists["prepositions"] - lists["of"]
    return list(takewhile(lambda word: word not in ends, words[at + 1 :]))


def _without(statement: Statement) -> set[str]:
    """Return what something is done without; nothing if that is not said."""
    words = statement.words
    at = next((at for at, word in enumerate(words) if word in WITHOUT), len(words))
    prepositions = lexicon(statement.language)["prepositions"]
    return set(takewhile(lambda word: word not in prepositions, words[at + 1 :]))


def _breaks_diet(new: Statement, old: Statement) -> bool:
    """Return whether somebody eats, drinks or smokes now what the word for them in the older note rules out."""
    if old.verb != "be" or old.link or new.link or new.rest or not new.core:
        return False
    return f"{new.verb} {new.core[-1]}" in lexicon(new.language).ruled_out.get(old.core[-1:], ())


def is_one_role(old: tuple[str, ...], new: tuple[str, ...]) -> bool:
    """Return whether two values are the same but for their gender: chef and cheffe, director and directora."""
    return len(old) == len(new) and all(
        one == other or (one[:4] == other[:4] and abs(len(one) - len(other)) in (1, 2))
        for one, other in zip(sorted(old), sorted(new), strict=True)
    )


def became(old: Statement) -> Statement:
    """Return what is so since an older change to another amount or time."""
    if old.effect is not Effect.CHANGED or old.value not in (Value.TIME, Value.AMOUNT) or not old.positive:
        return old
    words = (*sorted(old.subject), "be", *old.core)
    return old._replace(effect=Effect.SAYS, verb="be", link="", words=words, slot=Arity.ONE, event=False)


def said_besides(new: Statement, old: Statement) -> set[str]:
    """Return what an older value is said with: without the hour of a day that is now another."""
    return {word for word in old.rest if word[0] != "~" or new.value is not Value.TIME}


def _is_opposite(new: Statement, old: Statement) -> bool:
    """Return whether something is in what it was out of, or out of what it was in."""
    links = {each.link.removesuffix(" the").removesuffix(" a") for each in (new, old)}
    if links not in _OPPOSITE or new.verb != "be" or old.verb != "be" or not (new.positive and old.positive):
        return False
    return new.core == old.core and new.rest == old.rest and not new.event and not old.event


def _is_reversed(new: Statement, old: Statement) -> bool:
    """Return whether all is said alike but one word, which excludes the other: with low confidence, and with high."""
    if new.verb != old.verb or len(new.core) + len(new.rest) != len(old.core) + len(old.rest) or new.adds:
        return False
    words = lexicon(new.language)
    if new.verb not in words["reversible"] or not (new.positive and old.positive) or new.event or old.event or new.past:
        return False
    if new.link != old.link:
        how, once = new.link.split(), old.link.split()
        is_alike = len(how) == len(once) > 1 and how[1:] == once[1:] and (new.core, new.rest) == (old.core, old.rest)
        return is_alike and exclude_each_other(how[0], once[0], words)
    if old.slot is Arity.FIXED and not {*old.core} <= {*new.core}:
        return False
    after, before = {*new.core, *new.rest}, {*old.core, *old.rest}
    if new.amounts != old.amounts or len(after - before) != 1 or len(before - after) != 1:
        return False
    (word,), (other,) = after - before, before - after
    if new.value is Value.STATE and word in words["shades"]:
        return False  # both are green
    return word not in words["fixed_states"] and exclude_each_other(word, other, words)


_OPPOSITE: Final = ({"in", "out of"}, {"on", "off"}, {"in", "outside"}, {"inside", "outside"}, {"on", "out of"})


def is_clock(word: str) -> bool:
    """Return whether a time is of the day, and no day itself."""
    said = word.lstrip("~").rstrip("apm")
    return ":" in said or (said.isdigit() and len(said) <= _HOUR)


def is_exchangeable(statement: Statement) -> bool:
    """Return whether another may do instead what somebody does, or be what somebody is: the treasurer."""
    lists, verb = lexicon(statement.language).lists, statement.verb
    if verb in lists["exchangeable"] or verb in lists.get("taken_over", NOBODY):
        return True
    if verb != "be" or statement.link or len(statement.core) != 1 or statement.core[0] not in lists["nouns"]:
        return False
    return statement.value is Value.NAME and not statement.rest


def left_home(new: Statement, old: Statement) -> bool:
    """Return whether all that is said of where somebody lived has ended with the move, as with whom and in what street.

    Who lives in a place for a part of the year or week lives elsewhere, too.
    """
    if not (old.link or old.rest) or old.several or old.adds or old.slot is not Arity.ONE:
        return False
    if any(word[0] in "#~" for word in (*old.core, *old.rest)) or not {*new.core, *new.rest}.isdisjoint(old.core):
        return False
    return countries().isdisjoint(old.core) and countries().isdisjoint(new.core)


def resumed(new: Statement, old: Statement) -> bool:
    """Return whether what was given up is done now; what ended long ago is so until then."""
    if not new.now or not new.positive or new.event or old.effect is not Effect.ENDED or new.language in ("zh", "ja"):
        return False
    if new.verb == "be" or (old.verb and new.verb != old.verb and not lexicon(new.language).alike(new.verb, old.verb)):
        return False
    given_up, taken_up = ({word for word in (*each.core, *each.rest) if word[0] not in "#~"} for each in (old, new))
    given_up -= lexicon(new.language)["lapse"]
    return (bool(given_up) or bool(old.verb)) and given_up == taken_up


def is_version(core: tuple[str, ...]) -> bool:
    """Return whether a value is but a version: "1.25.4", "version 1.25.4"."""
    return len(core) <= _VERSION_WORDS and _is_number(core[-1]) and core[:-1] in _VERSIONS


def _is_number(word: str) -> bool:
    return "." in word and word.lstrip("v")[:1].isdigit()


_VERSION_WORDS: Final = 2
_HOUR: Final = 2  #: digits of an hour
#: What may stand before the number of a version.
_VERSIONS: Final = ((), ("version",), ("release",), ("firmware",), ("v",))


_YEARS: Final = (1900, 2100)


def is_of_a_day(statement: Statement) -> bool:
    """Return whether it is told on which day or in which year something happened."""
    said = (*statement.core, *statement.rest)
    parts = frozenset[str]() if statement.language in ("zh", "ja") else lexicon(statement.language)["day_parts"]
    if any(word[0] == "~" and word[1:] not in parts for word in said):
        return True
    return "#" in said and any(_YEARS[0] <= number <= _YEARS[1] for number in statement.amounts)


def is_numbered_otherwise(new: Statement, old: Statement) -> bool:
    """Return whether subjects that are the same in words are told apart by their numbers: rule 41, report 2271."""
    count = sum(word[0] == "#" for word in new.subject) if "#" in new.subject else 0
    return new.amounts[:count] != old.amounts[:count]  # what is said of them follows


def is_another_version(new: Statement, old: Statement) -> bool:
    """Return whether both say which version of one program somebody or something runs: Postgres 13, Postgres 16."""
    if new.language in ("zh", "ja") or new.verb not in lexicon(new.language)["versioned"]:
        return False
    if new.event or new.rest != old.rest or len(new.core) != len(old.core):
        return False
    if new.core[:-1] != old.core[:-1] or len(new.core) == 1 or new.amounts != old.amounts:
        return False
    one, other = new.core[-1], old.core[-1]
    return one != other and all(each.replace(".", "").isdigit() for each in (one, other))


def works_otherwise(new: Statement, old: Statement) -> bool:
    """Return whether somebody does other work now: a ferryman, and a tax collector."""
    if not new.now or new.language != "en" or new.verb != "be" or new.link or new.rest or old.rest:
        return False
    heads = (new.core[-1], old.core[-1])
    return all(head.endswith(_WORKERS) and head not in lexicon("en")["relations"] for head in heads)


#: In what English words for those who do some work often end.
_WORKERS: Final = ("er", "or", "man", "woman", "ist", "ian", "smith", "eer")
