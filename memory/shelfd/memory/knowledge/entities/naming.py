"""Whether a note names somebody or something anywhere: in its text, by its tags, author, subject, key or fields.

Rules that look for what a text mentions want to be right. Who wants none left looks here: whatever has all words of a
name beside each other has the name, however it is written. A name that is made of common words, as "Rose" or "The
Guardian", would take too much so; of that only counts what is nothing but the name, or is written as a name.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from itertools import pairwise, permutations
from typing import Final, NamedTuple

from shelfd.memory.knowledge.entities.kinds import IDENTIFIER_TYPES, key_of
from shelfd.memory.knowledge.entities.phrases import words_of_name
from shelfd.memory.knowledge.entities.segment import word_lists
from shelfd.memory.notes.note import Note
from shelfd.memory.notes.particulars import particulars, rows_in
from shelfd.memory.notes.words import LETTER, is_spaceless, whole_words

#: Lists of words that say nothing by themselves, and of those that are more than a name.
_FUNCTION: Final = ("starters", "before_nouns", "followers")
_COMMON: Final = ("ambiguous_names", "not_names", "months", "days", "titles", "kin")
#: What stands between two words of a name. No sentence ends there, and no line but one that was too long.
_BETWEEN: Final = r"[^\w\n.!?:;]{1,6}|[_.:;]|[^\S\n]{0,8}\n[^\S\n]{0,8}"
_AFTER_SHORT: Final = r"|\.[^\S\n]"  #: "J. Amsel", "Dr. Amsel"
_SHORT: Final = 2
_BETWEEN_SPACELESS: Final = r"[\s・·=＝]?"
_KATAKANA: Final = "[\u30a1-\u30fa\u30fc]"
#: Names of more words are looked for as they are, and with the last word first or the first one last.
_REARRANGED: Final = 3
_LONGEST: Final = 512  #: characters of what is nothing but a name
_APART: Final = re.compile(r"[\s,;|<>()\[\]{}\"]+")
_AROUND: Final = ".:!?'`*“”„‘’«»"


class SoughtName(NamedTuple):
    """One way to write what somebody or something is called.

    Attributes:
        words: Its words, in small letters.
        type: As what.
        is_identifier: Whether every sign of it counts.
        is_plain: Whether its words may be words like others, so that more than the words has to be there.
        is_clear: Of a single word, whether that is a name and nothing else.
    """

    words: tuple[str, ...]
    type: str
    is_identifier: bool = False
    is_plain: bool = False
    is_clear: bool = False

    def names(self, note: Note, texts: Sequence[str]) -> bool:
        """Return whether *note*, which says *texts*, folded, has the name."""
        those = [text for text in texts if all(word in text for word in self.words)]
        if self.is_identifier:
            return any(self._is_among(text) for text in those)
        if not self.is_plain:
            patterns = _patterns(self.words)
            return any(one.search(text) for text in those for one in patterns) or self._is_record(note)
        return self._is_all_of_something(note) or (len(self.words) > 1 and bool(those) and self._has_capitals(note))

    def _is_among(self, text: str) -> bool:
        parts = _parts(text)
        size, wanted = len(self.words), list(self.words)
        return any(parts[at : at + size] == wanted for at in range(len(parts) - size + 1))

    def _is_all_of_something(self, note: Note) -> bool:
        """Whether the author, the subject or another name of a note is this name, or, if that is clear, a value is."""
        known = (note.author or "", note.subject, note.subject.rpartition(":")[2], *note.extra.aliases)
        if any(map(self._is, known)):
            return True
        beside = (note.title, *note.tags, *particulars(note))
        is_enough = self.is_clear or len(self.words) > 1
        return any((is_enough or text[:1].isupper()) and self._is(text) for text in beside)

    def _is(self, text: str) -> bool:
        if len(text) > _LONGEST:
            return False
        return _words(text) == self.words or key_of(self.type, text) == key_of(self.type, " ".join(self.words))

    def _has_capitals(self, note: Note) -> bool:
        """Whether the words that say something have capitals where they stand beside each other."""
        function = _words_in(_FUNCTION)
        return any(
            all(word[0].isupper() or word.lower() in function for word in whole_words(found[0]))
            for text in map(_plain, (note.title, note.content, *particulars(note)))
            for pattern in _patterns(self.words)
            for found in re.finditer(pattern.pattern, text, re.IGNORECASE)
        )

    def _is_record(self, note: Note) -> bool:
        """Whether neighbouring values of a record are the name together, as a first and a last name."""
        if len(self.words) < 2 or not note.extra.fields:
            return False
        return any(
            sorted(word for value in values[begin:end] for word in _words(value)) == sorted(self.words)
            for values in rows_in(note.extra.fields)
            for begin in range(len(values))
            for end in range(begin + 2, min(begin + len(self.words), len(values)) + 1)
        )


def names_any(names: Sequence[SoughtName], note: Note) -> bool:
    """Return whether *note* has one of *names*."""
    texts = [_plain(text).casefold() for text in _texts(note)]
    return any(name.names(note, texts) for name in names)


def sought_names(type_: str, names: Iterable[str]) -> list[SoughtName]:
    """Return all ways to write what is called by one of *names*, as something of a type."""
    found: dict[tuple[str, ...], SoughtName] = {}
    for name in names:
        if type_ in IDENTIFIER_TYPES:
            way = tuple(_parts(_plain(name).casefold()))
            found[way] = SoughtName(way, type_, is_identifier=True)
            continue
        plain = _plain(name)
        for way in (_words(plain), _words(" ".join(words_of_name(type_, plain)))):
            if way and way not in found:
                found[way] = SoughtName(way, type_, is_plain=_is_plain(way), is_clear=_is_clear(type_, way))
    for way in list(found):
        if len(way) > 1 and not found[way].is_plain and not found[way].is_identifier:  # "karlawolff"
            found["".join(way),] = SoughtName(("".join(way),), type_)
    return [one for way, one in found.items() if way]


def _parts(text: str) -> list[str]:
    """Return what may be identifiers in a text, each as a whole."""
    parts = (part.strip(_AROUND) for part in _APART.split(text))
    return [part.removeprefix("mailto:") for part in parts if part]


def _is_plain(words: Sequence[str]) -> bool:
    """Whether words may stand beside each other and be no name."""
    if len(words) == 1:
        word = words[0]
        if is_spaceless(word):
            return len(word) < 2
        return word.isalpha() or word.isdigit()
    common, function = _words_in(_COMMON), _words_in(_FUNCTION)
    telling = [word for word in words if word in common or word not in function]
    return len(telling) < 2 or common.issuperset(telling)


def _is_clear(type_: str, words: Sequence[str]) -> bool:
    return len(words) == 1 and type_ == "person" and words[0] in word_lists()["clear_names"]


@cache
def _words_in(lists: Sequence[str]) -> frozenset[str]:
    return frozenset[str]().union(*(word_lists()[name] for name in lists))


def _plain(text: str) -> str:
    return text if text.isascii() else unicodedata.normalize("NFKC", text)


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.casefold() for word in whole_words(_plain(text)))


def _texts(note: Note) -> Iterator[str]:
    """All that a note says, each by itself."""
    yield note.title
    yield from note.tags
    yield from note.extra.aliases
    yield note.content
    yield from particulars(note)


@lru_cache(256)
def _patterns(words: tuple[str, ...]) -> Sequence[re.Pattern[str]]:
    """What finds words beside each other in a folded text, in one order each.

    Each begins with the first word itself, which is looked for much faster than for anything that may stand before it.
    """
    if len(words) <= _REARRANGED:
        orders = list(dict.fromkeys(permutations(words)))
    else:
        orders = [words, (words[-1], *words[:-1]), (*words[1:], words[0])]
    return [re.compile(_in_order(order)) for order in orders]


def _in_order(words: Sequence[str]) -> str:
    parts = [re.escape(words[0]), _before(words[0])]
    for word, following in pairwise(words):
        parts += [_between(word, following), re.escape(following)]
    return "".join([*parts, _after(words[-1])])


def _between(word: str, following: str) -> str:
    if is_spaceless(word) and is_spaceless(following):
        return _BETWEEN_SPACELESS
    is_short = len(word) <= _SHORT or word in word_lists()["titles"]
    return f"(?:{_BETWEEN}{_AFTER_SHORT if is_short else ''})"


def _before(word: str) -> str:
    """What may not stand before *word*, said after it."""
    if not is_spaceless(word):
        return f"(?<!{LETTER}{re.escape(word)})"
    return f"(?<!{_KATAKANA}{re.escape(word)})" if re.match(_KATAKANA, word) else ""


def _after(word: str) -> str:
    """What may follow the last word: "Wolff's" and "Wolffs" are hers."""
    if not is_spaceless(word):
        return f"(?:['’]?s)?(?!{LETTER})"
    return f"(?!{_KATAKANA})" if re.fullmatch(_KATAKANA, word[-1]) else ""
