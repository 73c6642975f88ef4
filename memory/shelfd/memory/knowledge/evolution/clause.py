"""One clause of a language with spaces between words, read as a statement."""

from collections.abc import Sequence
from typing import Final

from shelfd.memory.knowledge.evolution.lexicon import ME, US, AlphabeticLexicon
from shelfd.memory.knowledge.evolution.marking import find_marks, marked
from shelfd.memory.knowledge.evolution.predicate import AND_OR, content, kind_of, link_of, split_value, stated
from shelfd.memory.knowledge.evolution.statement import Arity, Effect, Statement, Value
from shelfd.memory.knowledge.evolution.verbs import find_verb, progressive, with_verb
from shelfd.memory.knowledge.evolution.whom import subject_end, subject_of, unnamed
from shelfd.memory.knowledge.evolution.wordorder import straightened

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
    if not before and (spoken := _of_speaker(words, amounts, proper, lexicon)):
        return marked(spoken, marks), []
    if at is None:
        return marked(Statement(lexicon.language, words=content(words, lexicon), amounts=tuple(amounts)), marks), []
    own = words[: subject_end(words, at, lexicon)]
    if words[at] in lexicon.lists["be"]:
        at = progressive(words, at, lexicon)
    statement = stated(own or before, words[at], words[at + 1 :], amounts, proper, lexicon)
    if len(own) < at and (lexicon.language == "fr" or words[at] in _ALIKE) and _is_done(words, at, lexicon):
        statement = statement._replace(event=True)
    return marked(statement, marks), own


def _of_speaker(
    words: list[str], amounts: list[float], proper: frozenset[str], lexicon: AlphabeticLexicon
) -> Statement | None:
    """Return what a clause states that begins with its verb and speaks of who speaks; None if it does not."""
    if not (speaker := unnamed(words, lexicon)):
        return None
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


def _by_pattern(
    name: str, found: dict[str, str | None], amounts: list[float], proper: frozenset[str], lexicon: AlphabeticLexicon
) -> Statement:
    """Read a clause that has the form of one of the language's patterns."""
    subject, gone, new = (found.get(part) or "" for part in "sab")
    effect = Effect(name)
    if effect is _INSTEAD:
        return _instead(subject, gone, amounts, proper, lexicon)
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
    link, raw = link_of((gone if effect in (_ENDED, _LEFT) else new).split(), False, lexicon)
    value = content(raw, lexicon)
    core, rest = split_value(value, lexicon)
    if core[1:] and core[0] in owner and core[0] in (ME, US):
        core = core[1:]  # who sold my car owns it
    if effect is _ENDED and verb and all(map(_is_date, core)):
        core, link, when = (), "", when | {*core}  # since when it has ended
    rest |= when
    kind = kind_of(core, proper, lexicon)
    if (
        effect is Effect.MOVED
        and kind is _NAME
        and proper.isdisjoint(core)
        and lexicon.lists["homes"].isdisjoint(core[-1:])
    ):
        effect = _SAYS
    return Statement(
        lexicon.language, owner, verb, link, core, rest, (), tuple(amounts), kind, effect=effect, real=not unreal,
        several=not AND_OR[lexicon.language].isdisjoint(core),
    )  # fmt: skip


def _instead(
    subject: str, gone: str, amounts: list[float], proper: frozenset[str], lexicon: AlphabeticLexicon
) -> Statement:
    """Read a clause that says what is so instead of something else, which has *gone*."""
    words = subject.split()
    if gone.startswith("statt "):
        words, gone = [*words, "statt"], gone[len("statt ") :]  # "findet im Garten statt statt im Saal"
    gone = gone.partition(" , ")[0]
    at = find_verb(words, lexicon, proper)
    said = _of_speaker(words, amounts, proper, lexicon)
    if said is None:
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
    return said._replace(effect=_INSTEAD, denied=denied, rest=said.rest | beside)


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
