"""What single words tell of a text: looked at once each, for every text is read word by word."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from shelfd.memory.facts.lexicon import STOP_WORDS
from shelfd.memory.notes.word_numbers import LONGEST, WordNumbers
from shelfd.memory.notes.wordlists import WordLists
from shelfd.memory.recall.columns import IntArray
from shelfd.memory.recall.languages import common_words_of_others, signs_of
from shelfd.memory.recall.meaning import ANSWER_TYPES, MeaningLists
from shelfd.memory.recall.quantities import unit_words
from shelfd.memory.recall.time_spans import TELLING

#: The bits of a word. The types of answer that it tells of are the lowest, see ANSWER_TYPES.
TYPES: Final = (1 << len(ANSWER_TYPES)) - 1
DIGITS: Final = TYPES + 1  #: it begins with a digit
TIME: Final = DIGITS << 1  #: it is an expression of time
OPENS_TIME: Final = DIGITS << 2  #: an expression of time of several words may begin with it
FOREIGN: Final = DIGITS << 3  #: it is a sign of a language that is not the shelf's own
COMMON: Final = DIGITS << 4  #: it is a stop or question word of such a language
TELLS: Final = DIGITS << 5  #: it may tell of a day as seen from another
STOP: Final = DIGITS << 6  #: it says nothing of what a fact is about
IDLE: Final = DIGITS << 7  #: it is a stop or question word of the shelf's language
#: By itself it calls for a closer look at what stands beside numbers: a year, a long number, digits and letters.
CLOSER: Final = DIGITS << 8
LAST_DIGIT: Final = DIGITS << 9  #: it ends with a digit
UNIT: Final = DIGITS << 10  #: after a number it may be its unit
CLOCK: Final = DIGITS << 11  #: beside a number it may be a time of day
BEFORE_CLOCK: Final = DIGITS << 12  #: the same, if one that opens a time of day follows
OPENS_CLOCK: Final = DIGITS << 13
SAYS_NUMBER: Final = ANSWER_TYPES["number"]  #: it is a number in words
NUMBER: Final = SAYS_NUMBER | DIGITS
_COUNTED: Final = STOP | IDLE
_BESIDE_NUMBERS: Final = NUMBER | LAST_DIGIT | OPENS_CLOCK
#: A word's number stands above its bits.
NUMBERED_FROM: Final = 32
BITS: Final = (1 << NUMBERED_FROM) - 1
#: What follows the digits: a folded word that begins with one sorts before it.
_AFTER_DIGITS: Final = ":"
#: Digits that alone are no more than a number: neither a year nor long enough to be a telephone number.
_PLAIN_NUMBER: Final = re.compile("(?!(?:19|20)..$)[0-9]{1,5}")
_DIGIT: Final = re.compile("[0-9]")
_NO_LETTER: Final = re.compile("[^a-z]")
#: Stands between texts that are read together, and is in none of them.
MARK: Final = "\0"
_UNKNOWN: Final = -1  #: what no word is


class Signs(NamedTuple):
    """What a text shows at once, by its words and characters.

    Attributes:
        bits: What any of its words is; of types of answer, also those that characters tell of.
        numbers: How many of them are numbers; one in digits that is in the lists, too, counts twice.
        closer: Whether what stands beside its numbers may tell more.
        clock: Whether that may be a time of day.
        distinct: How many different words there are.
        stop: How many of these say nothing of what a fact is about.
        idle: How many of these are stop or question words of the shelf's language.
    """

    bits: int
    numbers: int
    closer: bool
    clock: bool
    distinct: int
    stop: int
    idle: int


def signs_of_words(words: Sequence[str], traits_of: "WordTraits") -> Signs:
    """Return what the *words* of one text show; see :func:`~shelfd.memory.recall.skimming.skimmed` for many texts."""
    traits_of.make_room()
    traits = list(map(traits_of.__getitem__, words))
    distinct = set(traits)
    bits = stop = idle = 0
    for one in distinct:
        bits |= one
        if one & _COUNTED:
            stop += one & STOP != 0
            idle += one & IDLE != 0
    bits &= BITS
    numbers, closer, clock = 0, bits & CLOSER != 0, False
    if bits & NUMBER:
        clock = closer or bits & CLOCK != 0
        for at in [at for at, one in enumerate(traits) if one & _BESIDE_NUMBERS]:
            one = traits[at]
            numbers += (one & SAYS_NUMBER != 0) + (one & DIGITS != 0)
            if at and one & OPENS_CLOCK and traits[at - 1] & BEFORE_CLOCK:
                clock = True
            if one & LAST_DIGIT and at + 1 < len(traits) and traits[at + 1] & (DIGITS | UNIT):
                closer = clock = True
    return Signs(bits, numbers, closer, clock, len(distinct), stop, idle)


class WordTraits(dict[str, int]):
    """What a folded word is: its bits, and above them a number that no other word has.

    Args:
        language: The shelf's.
        lists: Of that language.
        meanings: Of that language.
        cached: So many words are remembered; beyond that all are forgotten, and numbers begin anew.

    Attributes:
        words: By their numbers.
        edition: How often numbers began anew.
    """

    def __init__(self, language: str, lists: WordLists, meanings: MeaningLists, cached: int) -> None:
        super().__init__()
        self._table = WordNumbers(_UNKNOWN)
        self.words: list[str] = []
        self.edition = 0
        self._cached = cached
        self._language, self._lists, self._meanings = language, lists, meanings
        self._is_time, self._opens_clock = lists.temporal.fullmatch, meanings.opens_clock
        self._listed: Mapping[str, int] = {}  # the bits of words that are in lists; read when there is a first word

    def _read_lists(self) -> Mapping[str, int]:
        lists, meanings = self._lists, self._meanings
        listed = defaultdict(int, meanings.answer_types)
        for bit, words in (
            (OPENS_TIME, re.findall(r"(\w+) ", lists.temporal.pattern)),
            (FOREIGN, signs_of(self._language)),
            (COMMON, common_words_of_others(self._language)),
            (TELLS, TELLING),
            (STOP, STOP_WORDS),
            (IDLE, lists.stop | lists.question),
            (UNIT, (*unit_words(), *map(str.strip, meanings.units))),
            (CLOCK, meanings.clock_words),
            (BEFORE_CLOCK, meanings.before_clock),
        ):
            for word in words:
                listed[word] |= bit
        return dict(listed)

    def __missing__(self, word: str) -> int:
        if not self._listed:
            self._listed = self._read_lists()
        bits = self._listed.get(word, 0)
        if self._is_time(word) is not None:
            bits |= TIME
        if word.startswith(self._opens_clock):
            bits |= OPENS_CLOCK
        if not word.isalpha():
            bits |= self._beside_letters(word)
        traits = self[word] = bits | len(self.words) << NUMBERED_FROM
        self.words.append(word)
        return traits

    def of_words(self, text: bytes) -> IntArray:
        """Return what each of the words of folded *text* is, which are between blanks.

        Asked for many texts together: what is known by then costs a third of looking up each word.
        """
        begins, ends, traits = self._table.find(text)
        (missing,) = (traits == _UNKNOWN).nonzero()
        if len(missing):
            places = zip(begins[missing].tolist(), ends[missing].tolist(), strict=True)
            words = [text[begin:end] for begin, end in places]
            found = [self[word.decode()] for word in words]
            traits[missing] = found
            new = dict(zip(words, found, strict=True))
            if (ends[missing] - begins[missing]).max() > LONGEST:
                new = {word: one for word, one in new.items() if len(word) <= LONGEST}
            self._table.add(list(new), list(new.values()))
        return traits

    def make_room(self) -> None:
        """Forget all words if they are many. Never while a text is read: its words have numbers that differ."""
        if len(self) > self._cached:
            self.clear()
            self._table = WordNumbers(_UNKNOWN)
            self.words = []
            self.edition += 1

    def _beside_letters(self, word: str) -> int:
        """What a word is that is not of letters only."""
        if word == MARK:
            return 0
        if word < _AFTER_DIGITS:
            bits = DIGITS | OPENS_CLOCK
        else:
            bits = self._listed.get(_NO_LETTER.split(word, 1)[0], 0) & UNIT
            if _DIGIT.search(word) is None:
                return bits
        bits |= LAST_DIGIT if word[-1].isdecimal() else 0
        return bits if _PLAIN_NUMBER.fullmatch(word) is not None else bits | CLOSER
