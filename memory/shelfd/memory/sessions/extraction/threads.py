"""Threads in a turn: what somebody undertakes or has to find out, and what became of it."""

from collections import defaultdict
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from shelfd.memory.sessions.extraction.language import Phrases, is_past, lexicon, stem, stems
from shelfd.memory.sessions.extraction.names import Cast
from shelfd.memory.sessions.extraction.people import clause, clause_end
from shelfd.memory.sessions.extraction.sentences import Sentence
from shelfd.memory.sessions.extraction.turns import Entity

_WE: Final = frozenset(("i", "we"))
_WH: Final = frozenset("who whom whose what which when where why how whether if".split())
_CONDITIONS: Final = frozenset("if when unless would could might may maybe perhaps suppose whether before".split())
_NEGATIONS: Final = frozenset(
    "not never didn't don't doesn't won't hasn't haven't couldn't can't cannot isn't wasn't no".split()
)
_UNDONE: Final = _NEGATIONS | {"will", "'ll", "if", "would", "should"}
_WILL: Final = Phrases((("'ll",), ("will",)))
_UNDERTAKING: Final = Phrases(
    tuple(phrase.split("_"))
    for phrase in "'ll will 'm_going_to am_going_to 're_going_to are_going_to have_to need_to must plan_to intend_to "
    "am_planning_to 'm_planning_to are_planning_to 're_planning_to 've_got_to".split()
)
_REMINDING: Final = Phrases(
    tuple(phrase.split("_")) for phrase in "don't_forget_to do_not_forget_to remember_to remind_me_to".split()
)
#: One of these is in every sentence that begins a thread.
_CUES: Final = frozenset(("to", "will", "'ll", "must", ":", *_WH))
_LONGEST_TITLE: Final = 14


class ThreadSaid(NamedTuple):
    """A thread that begins, or what becomes of one that is known."""

    title: str
    status: str
    note: str
    known: Entity | None = None


def begun(at: int, sentence: Sentence, cast: Cast, is_person: bool = True) -> ThreadSaid | None:
    """Return the thread that *sentence*, number *at* of its turn, begins; *is_person*: not an assistant speaks."""
    if _CUES.isdisjoint(sentence.low):
        return None
    title = _marked(sentence) or _unknown(sentence)
    if title is None and not sentence.is_question and not sentence.is_quoted:
        start = _undertaken(at, sentence, cast, is_person)
        title = clause(sentence, start, _LONGEST_TITLE) if start is not None else None
        if title and _is_vague(title):
            return None
    if not title or not stems(word.casefold() for word in title.split()):
        return None
    return ThreadSaid(title, "active", sentence.text)


def _is_vague(title: str) -> bool:
    """Return whether *title* names nothing that one could be done with: "do my best", "make it"."""
    lists = lexicon()
    words = [word.casefold().strip(".,;:!?") for word in title.split()[1:]]
    return all(word in lists["vague_words"] or word in lists["light_words"] for word in words) and not any(
        word in lists["dates"] for word in words
    )


def _marked(sentence: Sentence) -> str | None:
    """Take "TODO: rewrite the page", "Plan for tomorrow: visit the mine"."""
    low = sentence.low
    end = lexicon().phrases["marker_cues"].end(low, 0)
    if end is None:
        return None
    colon = next((at for at in range(end, min(end + 4, len(low))) if low[at] == ":"), None)
    if colon is None or (colon > end and low[end] != "for"):
        return None
    return sentence.span(colon + 1, clause_end(sentence, min(colon + 2, len(low)), _LONGEST_TITLE))


def _unknown(sentence: Sentence) -> str | None:
    """Take "we still don't know why the memory doubles"."""
    if sentence.is_question:
        return None
    cues = lexicon().phrases["open_cues"]
    for at in range(min(8, len(sentence.low))):
        end = cues.end(sentence.low, at)
        if end is not None and end < len(sentence.low) and sentence.low[end] in _WH:
            return sentence.span(end, clause_end(sentence, end + 1, _LONGEST_TITLE))
    return None


def _undertaken(at: int, sentence: Sentence, cast: Cast, is_person: bool = True) -> int | None:
    """Return where the verb of what somebody undertakes stands."""
    low, lists = sentence.low, lexicon()
    if (end := _REMINDING.end(low, 0)) is not None:
        return end if end < len(low) else None
    subjects = [here + 1 for here, word in enumerate(low) if word in _WE and is_person]
    people = [mention.end for mention in cast.of(at, "person")]
    people += [here + 1 for here, word in enumerate(low) if word in ("he", "she")]
    for end in sorted(subjects + people):
        if any(word in _CONDITIONS for word in low[:end]):
            continue
        here = end
        while (
            here < len(low)
            and low[here] in lists["adverbs"] - {"never"} | {"then", "'ve", "have", "has"}
            and low[here : here + 2] != ("have", "to")
        ):
            here += 1
        if here < len(low) and stem(low[here]) in lists["vow_words"]:
            verb = here + 2 if low[here + 1 : here + 2] == ("to",) else None
        else:
            verb = (_UNDERTAKING if end in subjects else _WILL).end(low, here)
        while verb is not None and verb < len(low) and low[verb] in lists["adverbs"] - {"never"}:
            verb += 1
        if verb is not None and verb + 1 < len(low) and _is_doing(low, verb):
            return verb
    return None


def _is_doing(low: Sequence[str], verb: int) -> bool:
    word = low[verb]
    return (
        word.isalpha()
        and stem(word) not in lexicon()["stative_verbs"]
        and word not in _NEGATIONS
        and (tuple(low[verb : verb + 2]) not in (("make", "sure"), ("reach", "out"), ("make", "it")))
    )


@lru_cache(maxsize=1024)
def _verb_and_rest(title: str) -> tuple[str, frozenset[str]]:
    """Return the stems of a thread's first word, a verb, and of what else its title says."""
    words = [word.casefold().strip(".,;:!?") for word in title.split()]
    first = words[0] if words else ""
    rest = stems(word for word in words[1:] if word) or stems((first,) if first else ())
    return "" if first in _WH else stem(first), rest


class Threads:
    """The threads that are known, found by their words."""

    def __init__(self, known: Sequence[Entity]) -> None:
        self._of: defaultdict[str, list[int]] = defaultdict(list)
        self._known = known
        self._stems: list[tuple[str, frozenset[str]]] = []
        for number, entity in enumerate(known):
            self._stems.append(_verb_and_rest(entity.title))
            for each in self._stems[-1][1]:
                self._of[each].append(number)

    def near(self, words: Sequence[str]) -> list[tuple[float, int]]:
        """Return threads that share words with *words*, the nearest first: share of the thread's words, its number."""
        counts: defaultdict[int, int] = defaultdict(int)
        for each in stems(words):
            for number in self._of.get(each, ()):
                counts[number] += 1
        shares = [(count / len(self._stems[number][1]), number) for number, count in counts.items()]
        return sorted(shares, key=lambda one: (-one[0], one[1]))

    def is_known(self, title: str) -> bool:
        """Return whether a thread of these words is open."""
        words = [word.casefold().strip(".,;:!?") for word in title.split()]
        near = self.near([word for word in words if word])
        return bool(near) and near[0][0] >= 0.8

    def changed(self, sentence: Sentence, is_narrated: bool) -> ThreadSaid | None:
        """Return what *sentence* says has become of a thread."""
        if sentence.is_question or sentence.is_quoted or not self._known:
            return None
        for share, number in self.near(sentence.low):
            if share < 0.5:
                return None
            status = self._status(sentence, number, is_narrated)
            if status is not None:
                entity = self._known[number]
                return ThreadSaid(entity.title, status, sentence.text, entity)
        return None

    def _status(self, sentence: Sentence, number: int, is_narrated: bool) -> str | None:
        low, phrases = sentence.low, lexicon().phrases
        verb = self._stems[number][0]
        if phrases["dropped_cues"].stand_in(low):
            return "abandoned"
        if not _UNDONE.isdisjoint(low):
            return None
        if phrases["solved_cues"].stand_in(low) or (not verb and phrases["answered_cues"].stand_in(low)):
            return "resolved"
        is_done = low[0] in lexicon()["done_words"] and low[1:2] in ((":",), ("with",))
        if is_done:
            return "resolved"
        if verb and any(self._is_did(low, at, verb, is_narrated) for at in range(len(low))):
            return "resolved"
        return None

    @staticmethod
    def _is_did(low: Sequence[str], at: int, verb: str, is_narrated: bool) -> bool:
        word = low[at]
        if stem(word) != verb:
            return False
        if is_past(word):
            return True
        before = low[at - 1] if at else ""
        return is_narrated and before not in ("to", "can", "must", "should", "could", "") and not word.endswith("ing")
