"""Lines that name a thing and give its value without a verb, as people and programs keep them: "gate: B22"."""

import re
from functools import cache
from itertools import pairwise
from typing import Final

from shelfd.memory.knowledge.evolution.language import language_of, language_of_label
from shelfd.memory.knowledge.evolution.lexicon import ALPHABETIC, NOUN_FIRST, AlphabeticLexicon, lexicon, words_of
from shelfd.memory.knowledge.evolution.predicate import stated
from shelfd.memory.knowledge.evolution.rewording import reword
from shelfd.memory.knowledge.evolution.statement import NOBODY, Arity, Statement, Value
from shelfd.memory.knowledge.evolution.tokens import SentenceWords, tokenise
from shelfd.memory.knowledge.evolution.verbs import BE
from shelfd.memory.notes.words import fold

#: A label, a sign and a value; a list's mark or the time of a log may stand before.
_MARK: Final = re.compile(r"\s*(?:[-*•]\s+)?(?:\[[^\]]{1,30}\]\s*)?")
_LINE: Final = re.compile(
    rf"{_MARK.pattern}(?P<label>[^\s:=|,;()](?:[^:=|;()\n]|(?<=\d):(?=\d)){{0,79}}?)\s*"
    rf"(?P<sign>:|=|->|→)\s+(?P<value>[^=|;!?\n]{{1,90}})"
)
#: What stood there before, after the value or before an arrow.
_ASIDE: Final = re.compile(r"\s*\((?P<said>[^()]*)\)\s*$")
_ARROW: Final = re.compile(r"^.*\s(?:->|→)\s")
_OWNER: Final = re.compile(r"\w['’]s\s|\ws['’]\s")
_INSTEAD: Final = re.compile(r"\s(?:an)?statt\s")
#: Attributes behind a label, and what parts them.
_LIST: Final = re.compile(r"(?P<label>[^:,;()=]{2,60})\s?: (?P<items>[^:=;()]{5,160})")
_ITEM: Final = re.compile(r",\s+(?:and |und |y |et )?")
_YEAR: Final = re.compile(r"\d{4}")
_CODE: Final = re.compile(r"\d{1,3}[A-Za-z]")
_MINE: Final = {"en": "my", "de": "mein", "es": "mi", "fr": "mon"}
_PHRASE: Final = 2  #: words of a state with a preposition
_LONGEST: Final = 12  #: words of a label
_LONGEST_VALUE: Final = 7  #: words of a value
_OWNED: Final = 2  #: words among which the noun stands that a label begins with: an article may come before


def unmarked(sentence: str) -> str:
    """Return a line without the mark of a list's item, or the time of a log's line, that it begins with."""
    return _MARK.sub("", sentence)


def read_label(sentence: str) -> Statement | None:
    """Return what a line of a label and a value states; None if *sentence* is none.

    A label that is no attribute's name says of nothing what it is: "todo", somebody who speaks, a day.
    """
    match = _LINE.fullmatch(sentence)
    if match is None:
        return None
    said = _ASIDE.sub("", match["value"])
    if ": " in said:
        return None
    language = language_of_label(sentence[: match.end("sign")], sentence)
    if language not in ALPHABETIC:
        return None
    words = lexicon(language)
    label, name = _label(match["label"], words)
    value = _value(said, label, words)
    if len(value.words) == _PHRASE and value.words[0] in words["places"]:
        value = value._replace(words=["-".join(value.words)], amounts={})  # "on track"
    named = _named(label, name, words)
    names_one = _names_one(named)
    if (
        _tells_of_change(label.words, words)
        or not _is_label(named, words)
        or not _is_value(value.words, words, names_one=names_one)
        or _is_clause(value, words)
    ):
        return None
    if not names_one and (ends := _attribute_ends(value.words, words)):  # "CVE-2026-1182: severity high"
        named = [*named, *value.words[:ends]]
        value = value._replace(words=value.words[ends:])
    amounts = [*label.amounts.values(), *value.amounts.values()]
    value = _with_place(value, named, words)
    if not names_one and _is_counted(value.words, words):  # "nova-2: 16 GB RAM"
        return stated(named, _HAS[words.language], value.words, amounts, label.proper | value.proper, words)
    found = stated(named, BE[words.language], value.words, amounts, label.proper | value.proper, words)
    if found.value is Value.QUALITY and len(found.core) == 1:
        found = found._replace(value=Value.NAME)  # a level may be elevated
    if found.value is Value.NAME and found.slot is Arity.MANY and names_one:
        found = found._replace(slot=Arity.ONE)
    if value.words.count(",") > (found.slot is Arity.ONE):  # a value and where it is
        found = found._replace(several=True)
    is_of_code = found.value is Value.STATE and any(map(str.isdigit, named[0]))  # a ticket's, say
    if len(named) > 1 or match["sign"] == "=" or names_one or found.slot is not Arity.MANY or is_of_code:
        return found
    return None


def _with_place(value: SentenceWords, named: list[str], words: AlphabeticLexicon) -> SentenceWords:
    """Return a value with "in", if it says where something is kept: "documentación de Kite: Confluence"."""
    is_kept = value.words[0] in value.proper and not words.lists.get("hosted", NOBODY).isdisjoint(named[:_OWNED])
    return value._replace(words=[*words["places"], *value.words]) if is_kept else value


def _tells_of_change(label: list[str], words: AlphabeticLexicon) -> bool:
    """Return whether what stands before a colon is a clause: "Mire a changé de serveur: ...", and no label."""
    changes = words["triggers"]
    return any(word in words["perfect"] and (after in changes or after in _BEEN) for word, after in pairwise(label))


_BEEN: Final = ("been", "sido", "ete")


def _attribute_ends(said: list[str], words: AlphabeticLexicon) -> int:
    """Return where an attribute ends that a value is told behind: "favourite colour teal"; 0 if there is none."""
    at = int(said[:1] != [] and said[0] in words["modifiers"])
    is_noun = len(said) > at + 1 and said[at] in words["nouns"] and said[at] not in words["titles"]
    return at + 1 if is_noun else 0


def read_lines(sentence: str) -> list[Statement]:
    """Return what a line of a label and one value or several states; nothing if *sentence* is none."""
    if ", " in sentence and (found := _read_list(sentence)):
        return found
    line = read_label(sentence)
    return [] if line is None else [line]


def _read_list(sentence: str) -> list[Statement]:
    """Return what a line states that gives several attributes: "Kite: budget 64,000 euros, lead Tom Hale"."""
    match = _LIST.fullmatch(sentence)
    if match is None:
        return []
    language = language_of(sentence)
    words = lexicon(language) if language in ALPHABETIC else None
    items = _ITEM.split(match["items"].rstrip("."))
    if words is None or len(items) < _FEWEST:
        return []
    found = []
    for item in items:
        name, _, value = item.partition(" ")
        if fold(name) not in words["nouns"] or not value:
            return []
        line = read_label(f"{name} {_OF[language]} {match['label'].strip()}: {value}")
        if line is None:
            return []
        found.append(line)
    return found


_FEWEST: Final = 2  #: attributes of a list
_OF: Final = {"en": "of", "de": "von", "es": "de", "fr": "de"}


def _label(text: str, words: AlphabeticLexicon) -> tuple[SentenceWords, str]:
    """Read a label in the form that sentences have it in: the "taux de ferritine" is the "ferritine"."""
    label = tokenise(text, words)
    plain = reword(text, label.words, words) if words.language in _REWORDED else text
    return (label if plain == text else tokenise(plain, words)), plain


#: Languages in which what sentences are put in other words by is written with labels in view.
_REWORDED: Final = ("fr",)


def _named(label: SentenceWords, text: str, words: AlphabeticLexicon) -> list[str]:
    """Return the words of what a label names; "GP" is that of who speaks, "Ida's GP" is not."""
    named = [word for word in label.words if word not in words["pronouns"] or word not in words["determiners"]]
    named = _in_two_parts(named) if "," in named else named
    is_somebody_s = words["personal"].isdisjoint(named) or not words["of"].isdisjoint(named) or _OWNER.search(text)
    return named if is_somebody_s or not label.proper.isdisjoint(named) else [_MINE[words.language], *named]


def _in_two_parts(label: list[str]) -> list[str]:
    """Return the words of a label that says what and of whom, "resting heart rate, Ida"; none if it is no such one.

    Which number belongs to which part is not known where there are two, as in "ward 4, bed 2".
    """
    at = label.index(",")
    parts = label[:at], label[at + 1 :]
    if not all(parts) or "," in parts[1] or sum(any(map(str.isdigit, word)) for word in label) > 1:
        return []
    return [*parts[0], *parts[1]] if any(map(_names_one, parts)) else []


def _value(text: str, label: SentenceWords, words: AlphabeticLexicon) -> SentenceWords:
    """Read a value as it stands behind a label, where a capital begins a name."""
    if _CODE.fullmatch(text.rstrip(".")) and not words["coded"].isdisjoint(label.words):
        code = text.rstrip(".").lower()
        return SentenceWords([code], {}, frozenset((code,)))  # a seat, and no temperature
    text = _INSTEAD.split(_ARROW.sub("", text), maxsplit=1)[0].rstrip(".")
    if _YEAR.fullmatch(text) and not words["coded"].isdisjoint(label.words):
        return SentenceWords(["#"], {0: float(text)}, frozenset())  # a code, and no year
    text = reword(text, text.lower().split(), words)
    every = tokenise(f": {text}", words)
    while len(every.words) > 2 and every.words[1] in words["fillers"] and not every.amounts:
        every = every._replace(words=[every.words[0], *every.words[2:]])  # "still open"
    if len(every.words) > 2 and every.words[2][0] == "~" and every.words[1] in words["rhythms"]:
        every = every._replace(words=every.words[1:])  # "daily 9:15"; the colon's place
    amounts = {at - 1: amount for at, amount in every.amounts.items()}
    return SentenceWords(every.words[1:], amounts, every.proper)


def _is_counted(value: list[str], words: AlphabeticLexicon) -> bool:
    """Return whether a value is how much there is of something that has a name: "16 GB RAM"."""
    return (
        len(value) == _AMOUNT_AND_WHAT
        and len(value[0]) > 1
        and value[0][0] == "#"
        and value[1].isalpha()
        and (value[1] in words["nouns"] or value[1] == "ram")
    )


_AMOUNT_AND_WHAT: Final = 2  #: words
_HAS: Final = {"en": "has", "de": "hat", "es": "tiene", "fr": "a"}


def _is_value(said: list[str], words: AlphabeticLexicon, *, names_one: bool) -> bool:
    """Return whether words can be a value, and tell nothing themselves; a pronoun is one where one is asked for."""
    if not 0 < len(said) <= _LONGEST_VALUE:
        return False
    if not words["be"].isdisjoint(said) or not words["unreal_words"].isdisjoint(said):
        return False
    return names_one or (words["pronouns"].isdisjoint(said) and words["self"].isdisjoint(said))


def _is_clause(value: SentenceWords, words: AlphabeticLexicon) -> bool:
    """Return whether a German value tells something itself: "fault repaired: the lamp is lit again"."""
    said, verbs = value.words, words.verbs
    if words.language != "de" or len(said) < _CLAUSE or not (said[0] in words["determiners"] or said[0] in _TITLES):
        return False
    return any(word in verbs and word not in value.proper and word not in words["nouns"] for word in said[2:])


_CLAUSE: Final = 4  #: words, at least
_TITLES: Final = frozenset(("herr", "frau", "dr"))


def _is_label(label: list[str], words: AlphabeticLexicon) -> bool:
    """Return whether words can name what has a value: not what somebody did, or when, and no heading."""
    if not 0 < len(label) <= _LONGEST or label[0] in words["pronouns"]:
        return False
    if label[0] in words["headings"] and (len(label) == 1 or label[1] in words["prepositions"]):
        return False
    is_mine = len(label) > 1 and words["self"].issuperset(label[:-1])
    if label[-1] in _announcing() or (is_mine and label[-1] in words["correction_heads"]):
        return False
    if all(word[0] in "#~" or word in words["prepositions"] for word in label):
        return False
    return words["be"].isdisjoint(label) and not any(
        _tells(word, words) and not _is_noun(label, at, words) for at, word in enumerate(label)
    )


def _tells(word: str, words: AlphabeticLexicon) -> bool:
    """Return whether a word may say what was done, or what changed."""
    return word in words["triggers"] or words.verbs.get(word, ("", False))[1]


def _is_noun(label: list[str], at: int, words: AlphabeticLexicon) -> bool:
    """Return whether a word of a label that looks like one for what was done names something, or describes it."""
    word = label[at]
    if word in words["modifiers"] or word in words["nouns"] or word in words["noun_verbs"]:
        return True
    if at == 0:
        return False
    before = label[at - 1]
    beside = before if words.language in NOUN_FIRST else "".join(label[at + 1 : at + 2])
    describes = beside in words["nouns"] and word not in words["triggers"]  # "the latest observed version"
    return describes or before in words["of"] or before in words["determiners"]  # "presupuesto aprobado"


@cache
def _attributes() -> frozenset[str]:
    """Return what has one value at a time, in all languages: a line of three words does not say which is its own."""
    return frozenset(word for each in ALPHABETIC for word in words_of(each, "nouns", "modifiers"))


@cache
def _announcing() -> frozenset[str]:
    """Return what says that a change follows, in all languages: two words do not always tell theirs."""
    return frozenset(word for each in ALPHABETIC for word in words_of(each, "announcing"))


@cache
def _attribute_parts() -> tuple[str, ...]:
    return tuple(part for each in ALPHABETIC for part in words_of(each, "noun_parts"))


def _names_one(label: list[str]) -> bool:
    """Return whether a label is of what has one value at a time."""
    return not _attributes().isdisjoint(label) or any(
        part in word for word in label[-1:] for part in _attribute_parts()
    )
