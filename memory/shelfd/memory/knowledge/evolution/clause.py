"""One clause of a language with spaces between words, read as a statement."""

from collections.abc import Sequence
from typing import Final

from shelfd.memory.knowledge.evolution.arity import arity_of, is_make_of
from shelfd.memory.knowledge.evolution.lexicon import ME, US, AlphabeticLexicon
from shelfd.memory.knowledge.evolution.manner import is_description, manner_of
from shelfd.memory.knowledge.evolution.marking import find_marks, marked
from shelfd.memory.knowledge.evolution.statement import NOBODY, Arity, Effect, Statement, Value
from shelfd.memory.knowledge.evolution.verbs import find_verb, form_of, is_participle, progressive, with_verb
from shelfd.memory.knowledge.evolution.whom import subject_end, subject_of, unnamed
from shelfd.memory.knowledge.evolution.wordorder import in_order, straightened, turned, with_particle

_LONGEST: Final = 40  #: words of a clause that is compared
# By a name of this module they are found in a tenth of the time that Python 3.11 takes to find an enumeration's member.
_SAYS: Final = Effect.SAYS
_ONE: Final = Arity.ONE
_NAME: Final = Value.NAME
_AMOUNT: Final = Value.AMOUNT
_QUALITY: Final = Value.QUALITY
_ENDED: Final = Effect.ENDED
_LEFT: Final = Effect.LEFT
_INSTEAD: Final = Effect.INSTEAD
_AND: Final = {
    "en": frozenset(("and", "or")),
    "de": frozenset(("und", "oder")),
    "es": frozenset(("y", "o", "e", "u")),
    "fr": frozenset(("et", "ou")),
}


def read_clause(
    words: list[str], amounts: list[float], proper: frozenset[str], lexicon: AlphabeticLexicon, before: list[str]
) -> tuple[Statement, list[str]]:
    """Return what a clause states, and the words of its subject, none if it has no own.

    Args:
        before: The words of the subject of the clause before, which stands for one that is missing.
    """
    said = " ".join(words)
    marks = find_marks(words, said, proper, lexicon)
    if len(words) <= _LONGEST and not lexicon.lists["triggers"].isdisjoint(words):
        places, whole_said = lexicon.patterns_of, f"{' '.join(before)} {said}" if before else said
        is_headless = bool(before) and words[0] in lexicon.lists["perfect"]  # "and has stopped smoking"
        for place in sorted({place for word in ("", *before, *words) for place in places.get(word, ())}):
            name, pattern, part = lexicon.patterns[place]
            if part not in whole_said:
                continue
            match, whole = None if is_headless else pattern.match(said), words
            if match is None and before:
                match, whole = pattern.match(whole_said), [*before, *words]
            if match is not None and _is_described(name, match["s"], lexicon):
                continue
            if match is not None:
                found = match.groupdict()
                statement = _by_pattern(name, found, amounts, proper, lexicon)
                if statement.effect is not _INSTEAD:
                    statement = statement._replace(words=content(whole, lexicon))
                return marked(statement, marks), found["s"].split()
    words, at = _with_its_verb(words, proper, lexicon, before)
    if not before and (speaker := unnamed(words, lexicon)):
        return marked(_said_of(speaker, words, amounts, proper, lexicon), marks), []
    if at is None:
        return marked(Statement(lexicon.language, words=content(words, lexicon), amounts=tuple(amounts)), marks), []
    own = words[: subject_end(words, at, lexicon)]
    if words[at] in lexicon.lists["be"]:
        at = progressive(words, at, lexicon)
    statement = stated(own or before, words[at], words[at + 1 :], amounts, proper, lexicon)
    if len(own) < at and (lexicon.language == "fr" or words[at] in _ALIKE) and _is_done(words, at, lexicon):
        statement = statement._replace(event=True)
    return marked(statement, marks), own


def _said_of(
    speaker: str, words: list[str], amounts: list[float], proper: frozenset[str], lexicon: AlphabeticLexicon
) -> Statement:
    """Read a clause that begins with its verb, which tells of whom it speaks."""
    unsaid = lexicon.lists["unsaid"]
    verb, *after = (word for word in words if word not in unsaid)
    statement = stated([], verb, after, amounts, proper, lexicon)
    if statement.verb == "be" and statement.link:
        statement = statement._replace(slot=Arity.MANY)  # "soy de Bilbao", "soy del Athletic"
    return statement._replace(subject=frozenset((speaker,)))


def _is_done(words: list[str], at: int, lexicon: AlphabeticLexicon) -> bool:
    """Return whether the verb at *at* stands in the perfect: "a coûté", "a déjà coûté"."""
    is_after_filler = at > 1 and words[at - 1] in lexicon.lists["fillers"]
    return words[at - 1 - is_after_filler] in lexicon.lists["perfect"]


def _is_described(name: str, subject: str, lexicon: AlphabeticLexicon) -> bool:
    """Return whether what tells of a change describes something here: what is sold for 700 euros, the left eye."""
    last, determiners = subject.rsplit(" ", 1)[-1], lexicon.lists["determiners"]
    if last == subject and last in determiners and last not in lexicon.speaking:
        return True  # "el cambio del velm"
    return last in lexicon.lists["be"] if name == _ENDED else name == _LEFT and last in determiners


#: English participles that are written like "they run", as all in French are: without accents "a travaillé" is
#: "travaille".
_ALIKE: Final = frozenset("run put set come become cut let hit read shut split spread".split())


def _with_its_verb(
    words: list[str], proper: frozenset[str], lexicon: AlphabeticLexicon, before: list[str]
) -> tuple[list[str], int | None]:
    """Return a clause's words and where its verb stands, which may be one that a line leaves out."""
    if before and len(words) > 2 and words[0] in lexicon.lists["fillers"] and words[1] in lexicon.verbs:
        return words[1:], 0  # "and now serves the Warlord"
    at = find_verb(words, lexicon, proper)
    if at is None and before and (words[0] in lexicon.verbs or words[0] in lexicon.lists["be"]):
        return words, 0
    if at is None or at == len(words) - 1:
        whole = with_verb(words, at, lexicon)
        return (words, at) if whole is words else (whole, len(whole) - 2)
    straight = straightened(words, at, lexicon, proper)
    return straight, (at if straight is words else straight.index(words[at]))


#: Makes a statement of all its fields: in a third of the time, and each clause of each note is one.
_new: Final = tuple.__new__


def content(words: list[str], lexicon: AlphabeticLexicon) -> tuple[str, ...]:
    """Return the words that make a difference, the speaker as one word."""
    silent = lexicon.silent
    said = words if silent.isdisjoint(words) else [word for word in words if word not in silent]
    if not lexicon.speaking.isdisjoint(said):
        said = [lexicon.spoken.get(word, word) for word in said]
    return tuple(said)


def _by_pattern(
    name: str, found: dict[str, str | None], amounts: list[float], proper: frozenset[str], lexicon: AlphabeticLexicon
) -> Statement:
    """Read a clause that has the form of one of the language's patterns."""
    subject, gone, new = (found.get(part) or "" for part in "sab")
    effect = Effect(name)
    if effect is _INSTEAD:
        words = subject.split()
        if gone.startswith("statt "):
            words, gone = [*words, "statt"], gone[len("statt ") :]  # "findet im Garten statt statt im Saal"
        gone = gone.partition(" , ")[0]
        at = find_verb(words, lexicon, proper)
        if at is None:
            return Statement(lexicon.language)
        verb = words[at]
        if not lexicon.verbs.get(verb, ("", False))[1]:  # what was done once is told of that time
            words = straightened(words, at, lexicon, proper)
            at = words.index(verb)
        said = stated(words[:at], verb, words[at + 1 :], amounts, proper, lexicon)
        counted = [word for word in words if word[0] == "#"]
        if not said.event and all(map(_has_unit, counted)):  # what was done once is told with both amounts
            said = said._replace(amounts=tuple(amounts[: len(counted)]))
        denied, beside = parted(content(gone.split(), lexicon), lexicon)
        denied = denied - lexicon.lists["prepositions"] or denied
        return said._replace(effect=effect, denied=denied, rest=said.rest | beside)
    base = subject.split()
    when = frozenset(word for word in base if word[0] == "~")
    if when:  # "the review on Tuesday was cancelled"
        base = [word for word in base if word not in when] or base
    unreal = not lexicon.lists["unreal_words"].isdisjoint(base) or _is_denied(base, lexicon)
    owner = subject_of(base, lexicon, proper)
    if effect is _ENDED or effect is _LEFT:
        gone = _without_reason(gone, lexicon)
    verb = found.get("v") or ""
    verb = lexicon.verbs.get(verb, (verb, False))[0]
    if effect is Effect.RENEWED:
        new = _without_when(new, lexicon)
    link, raw = _link((gone if effect in (_ENDED, _LEFT) else new).split(), False, lexicon)
    value = content(raw, lexicon)
    core, rest = _split(value, lexicon)
    if core[1:] and core[0] in owner and core[0] in (ME, US):
        core = core[1:]  # who sold my car owns it
    if effect is _ENDED and verb and all(map(_is_date, core)):
        core, link, when = (), "", when | {*core}  # since when it has ended
    rest |= when
    kind = _kind(core, proper, lexicon)
    if (
        effect is Effect.MOVED
        and kind is _NAME
        and proper.isdisjoint(core)
        and lexicon.lists["homes"].isdisjoint(core[-1:])
    ):
        effect = _SAYS
    return Statement(
        lexicon.language, owner, verb, link, core, rest, (), tuple(amounts), kind, effect=effect, real=not unreal,
        several=not _AND[lexicon.language].isdisjoint(core),
    )  # fmt: skip


def _has_unit(word: str) -> bool:
    return len(word) > 1


def _is_denied(subject: Sequence[str], lexicon: AlphabeticLexicon) -> bool:
    """Return whether a change is denied, or nearly happened: "never stopped", "almost moved"."""
    last = subject[-1] if subject else ""
    return last != "ne" and (last in lexicon.lists["negation"] or last in lexicon.lists["hedges"])


def parted(denied: Sequence[str], lexicon: AlphabeticLexicon) -> tuple[frozenset[str], frozenset[str]]:
    """Return what is denied, and where it is, which is where the other is: "is on, and not off, in the hall"."""
    prepositions = lexicon.lists["prepositions"]
    end = next((at for at, word in enumerate(denied) if at and word in lexicon.lists["spots"]), len(denied))
    if denied[:1] and (denied[0] in prepositions or denied[0][0] == "#"):
        end = len(denied)  # "and not in the cellar", "nine instead of six hours with Ida"
    return frozenset(denied[:end]), frozenset(denied[end:]) - prepositions


def _without_reason(gone: str, lexicon: AlphabeticLexicon) -> str:
    """Return what has ended without why, or since when."""
    words = lexicon.lately.sub("", f" {gone}").split()
    end = next((at for at, word in enumerate(words) if at and word in lexicon.lists["reasons"]), len(words))
    return " ".join(words[:end])


def _without_when(new: str, lexicon: AlphabeticLexicon) -> str:
    """Return what something became without when, unless that is a time of its own: "7.2.1 last night"."""
    left = lexicon.lately.sub("", f" {new}").strip()
    return left if left and "~" not in new[len(left) :] else new


def _is_date(word: str) -> bool:
    return word[0] == "~" and ":" not in word and any(map(str.isdigit, word))


def _split(value: tuple[str, ...], lexicon: AlphabeticLexicon) -> tuple[tuple[str, ...], frozenset[str]]:
    """Return a value up to its first preposition, and what is said besides."""
    if len(value) > 1:
        prepositions = lexicon.lists["prepositions"]
        for at, word in enumerate(value):
            if at and (word in prepositions or word == "," or (word[0] == "~" and value[0][0] != "~")):
                return value[:at], frozenset(value[at:]) - prepositions - {","}
    return value, NOBODY


def _kind(core: tuple[str, ...], proper: frozenset[str], lexicon: AlphabeticLexicon) -> Value:
    if not core:
        return Value.NONE
    for word in core:
        if word[0] == "#":
            return _AMOUNT
    if core[0].startswith("~"):
        return Value.TIME
    if len(core) == 1 and (core[0] in lexicon.states or core[0].startswith(lexicon.shading)) and lexicon.is_state(core):
        return Value.STATE
    if len(core) > 1 and not lexicon.lists["shades"].isdisjoint(core) and lexicon.is_state(core):
        return Value.STATE
    qualities = lexicon.lists["qualities"]
    if qualities.isdisjoint(core) or not any(word in qualities and word not in proper for word in core):  # as most
        return _NAME
    return _QUALITY


#: Kinds of values that are told by a name, or with an article and without one.
_DESCRIBED: Final = (_NAME, _QUALITY, Value.STATE)


def stated(
    subject: list[str],
    verb: str,
    after: list[str],
    amounts: list[float],
    proper: frozenset[str],
    lexicon: AlphabeticLexicon,
) -> Statement:
    """Read what a subject's verb is followed by."""
    lists, language = lexicon.lists, lexicon.language
    is_be = verb in lists["be"]
    lemma, told = ("be", verb in lists["be_past"]) if is_be else form_of(verb, lexicon)
    if language != "en" and verb in lists["perfect"] and after and after[-1].endswith(("t", "en", "ado", "ido")):
        told = told or after[-1].startswith("ge") or "ge" in after[-1][:4]
    if language == "de" and not is_be:
        lemma, after = with_particle(lemma, after, proper, lexicon)
    date: list[str] = []
    if subject and subject[0] in lists["prepositions"] and any(word[0] == "~" for word in subject):
        date = _date_of(subject)
        subject = subject[len(date) :]
    unsaid = lists["unsaid"]
    raw_after = after if unsaid.isdisjoint(after) else [word for word in after if word not in unsaid]
    if is_be and language == "de":
        raw_after = in_order(raw_after, lexicon, proper)
    if is_be:
        subject, raw_after, proper = turned(subject, raw_after, proper, lexicon)
    link, value = _link(raw_after, is_be, lexicon)
    words = content(value, lexicon)
    core, rest = _split(words, lexicon)
    kind = _kind(core, proper, lexicon)
    owner = subject_of(subject, lexicon, proper)
    owner = owner if kind is not Value.STATE else owner - lexicon.states.get(core[0], NOBODY) or owner  # "the lost bag"
    if link == "de" and kind is _AMOUNT and is_be:
        link = ""  # "es de 750 euros", "est de 750 euros"
    if kind is _NAME and _is_told_of(subject, lemma, link, core, value, proper, lexicon):
        kind = _QUALITY
    if is_be and link in lists["places"] and (proper.isdisjoint(core) or _is_owned(core, proper, lexicon)):
        is_certain = value[:1] and (value[0] in lists["definite"] or link in lists["definite"] or value[0] in proper)
        link += " the" if is_certain else " a"
    if kind is _QUALITY and _is_spot(link, core, value, lexicon):
        kind = _NAME  # in the old mill, in the bank safe
    slot = arity_of(subject, lemma, link, core, kind, proper, lexicon)
    manner = manner_of(link, value, core, proper, lexicon) if (link or is_be) and core and kind in _DESCRIBED else ""
    if link and not lexicon.contracted.keys().isdisjoint(link.split()):
        link = " ".join([lexicon.contracted.get(word, word) for word in link.split()])  # "im Flur", "in der Küche"
    if is_be and slot is _ONE:
        owner = owner - lists["new"] or owner
    whom = sorted(owner) if owner else content(subject, lexicon)
    everything = (*(content(date, lexicon) if date else ()), *whom, lemma, *link.split(), *words)
    return _new(
        Statement,
        (
            language, owner, lemma, link, core, rest, everything, tuple(amounts), kind, slot,
            _SAYS, True, told, bool(date), True, False, False, False, not _AND[language].isdisjoint(core),
            NOBODY, manner, NOBODY, None,
        ),
    )  # fmt: skip


def _is_told_of(
    subject: list[str],
    verb: str,
    link: str,
    core: tuple[str, ...],
    value: list[str],
    proper: frozenset[str],
    lexicon: AlphabeticLexicon,
) -> bool:
    """Return whether a value says what sort of thing something is, and does not name one."""
    if verb != "be":  # in German what has no capital says how something is done
        is_plain = lexicon.language == "de" and not link and proper.isdisjoint(core) and core[0] != "sich"
        return is_plain and "".join(core).isalpha()
    if not link and is_description(value, core, proper, lexicon):
        return True
    is_indefinite = value[0] in lexicon.lists["indefinite"]
    if not is_indefinite and not (value[0] == core[0] and _is_predicate(core, proper, lexicon)):
        return False
    if not link and is_make_of(subject, core, proper, lexicon):
        return False
    return is_indefinite or lexicon.lists["modifiers"].isdisjoint(subject)  # "the main target is shipping"


def _is_spot(link: str, core: tuple[str, ...], value: list[str], lexicon: AlphabeticLexicon) -> bool:
    """Return whether a link and a value say where something is, of a noun that is described, or that is certain."""
    lists, joined = lexicon.lists, link.split()
    if joined[1:] and joined[0] in lists["joined"] and joined[-1] in lists["spots"] and len(value) > 1:
        return value[0] in lists["definite"]  # "is stored in the bank safe"
    head = core[0] if lexicon.language in ("es", "fr") else core[-1]
    is_place = not lists["places"].isdisjoint(joined) and len(core) > 1
    return is_place and head not in lists["qualities"] and head not in lists["abstract"]


def _is_owned(core: tuple[str, ...], proper: frozenset[str], lexicon: AlphabeticLexicon) -> bool:
    """Return whether a place is somebody's, as Sera's pocket."""
    return lexicon.language == "en" and len(core) > 1 and core[0] in proper and core[-1] not in proper


def _is_predicate(core: tuple[str, ...], proper: frozenset[str], lexicon: AlphabeticLexicon) -> bool:
    """Return whether one word says how something is, as "expired"."""
    if len(core) != 1 or core[0] in proper:
        return False
    word = core[0]
    return lexicon.language == "en" and (word.endswith(("ed", "ing")) or lexicon.verbs.get(word, ("", False))[1])


def _date_of(subject: list[str]) -> list[str]:
    """Return "In 2021" from the front of a subject."""
    last = next(at for at, word in enumerate(subject) if word.startswith("~"))
    return subject[: last + 1]


def _link(after: list[str], is_be: bool, lexicon: AlphabeticLexicon) -> tuple[str, list[str]]:
    """Cut off what joins a verb to its value: a participle after "be", then prepositions."""
    at = 0
    if is_be and len(after) > 1 and (_joins(after[0], after[1], lexicon) or _is_set_for(after, lexicon)):
        at = 1
    prepositions = lexicon.lists["prepositions"]
    while at < len(after) and after[at] in prepositions:
        at += 1
    if at == len(after) > 0 and after[-1] in lexicon.states:
        at -= 1  # the light is on
    return (" ".join(after[:at]), after[at:]) if at else ("", after)


def _is_set_for(after: list[str], lexicon: AlphabeticLexicon) -> bool:
    """Return whether a participle is followed by a time without a preposition: "prévue le 4 mai"."""
    lists = lexicon.lists
    if after[0] not in lists["joined"] or after[0] in lexicon.states:
        return False
    return next((word for word in after[1:3] if word not in lists["determiners"]), "")[:1] == "~"


def _joins(word: str, following: str, lexicon: AlphabeticLexicon) -> bool:
    """Return whether a word after "be" belongs to the verb: called Mio, stored in, but not closed on."""
    if word in lexicon.lists["naming"]:
        return True
    if following not in lexicon.lists["prepositions"] or not is_participle(word, lexicon):
        return False
    return word not in lexicon.states or word in lexicon.lists["joined"] or following in lexicon.lists["agents"]
