"""What a note names as no longer so, or as never so: "not X", "no longer X", "from X to Y", "left X".

Clauses are compared by subject, verb and value, and many a wording fits none of them. Where a note says expressly that
something has ended, less is needed: that an older statement has it as its value, and that the note names all else that
this says.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Final, NamedTuple, TypeAlias

from shelfd.memory.knowledge.evolution.ending import (
    Clause,
    Cues,
    Ending,
    Phrase,
    clauses_of,
    cues,
    may_end,
    phrases_in,
    told,
)
from shelfd.memory.knowledge.evolution.lexicon import ME, US, AlphabeticLexicon, lexicon
from shelfd.memory.knowledge.evolution.reading import SENTENCES, sentences_of
from shelfd.memory.knowledge.evolution.statement import Statement
from shelfd.memory.knowledge.evolution.tokens import words_in
from shelfd.memory.notes.words import ends_as_question

LANGUAGES: Final = ("en", "de", "es", "fr")
SPEAKING: Final = frozenset((ME, US))
_LONGEST: Final = 400  #: letters of a sentence; of a longer one nothing is taken
_PHRASES: Final = 8  #: of a note
_SLOTS: Final = 256  #: looked into for one note
_SUBJECT: Final = 4  #: words of a subject that is looked for
_MANY: Final = 12  #: words from which subjects are made
_VALUES: Final = 3  #: words of what has ended by which it is looked for
_KINDS: Final = 5  #: of what may be said of it
#: German words that make a passive as well as a future.
_PASSIVE: Final = frozenset(("wird", "werden"))
#: A word as it was said, and in plain form; "" of what tells nothing.
Word: TypeAlias = tuple[str, str]
#: Language, subject, and what is said of it.
Sought: TypeAlias = tuple[str, frozenset[str], str]


class Withdrawal(NamedTuple):
    """What has ended, and what is said with it; each word as it was said and in plain form."""

    language: str
    kind: Ending
    phrase: tuple[Word, ...]  #: what has ended, and on to where its clause ends
    clause: frozenset[str]  #: what is said in its clause
    before: frozenset[str]  #: of that, what stands before: of whom it is said
    earlier: frozenset[str]  #: what is said in clauses before it, and in the sentence before
    later: frozenset[str]  #: what is said in clauses after it, and in the next sentence
    is_first: bool  #: nothing was said in its sentence before
    is_kept: bool  #: its sentence says of something else that it is as it was
    is_correction: bool  #: it was never so
    said: tuple[str, ...]  #: all words of its sentence and of that before

    @property
    def every(self) -> frozenset[str]:
        """All that is said."""
        return self.clause | self.earlier | self.later


def withdrawals(text: str, said: Sequence[Statement]) -> tuple[Withdrawal, ...]:
    """Return what *text*, which states *said*, names as ended."""
    language = said[0].language if said else ""
    if language not in LANGUAGES or len(said) > SENTENCES or ends_as_question(text):
        return ()
    return tuple(islice(_withdrawals(text, lexicon(language), cues(language)), _PHRASES))


def _withdrawals(text: str, words: AlphabeticLexicon, known: Cues) -> Iterator[Withdrawal]:
    texts = [sentence for sentence in sentences_of(text) if len(sentence) <= _LONGEST]
    can_end = [may_end(words_in(sentence, words.language).words, words) for sentence in texts]
    if not any(can_end):
        return
    sentences = [clauses_of(sentence, words.language) for sentence in texts]
    said = {word for clauses in sentences for clause in clauses for word in clause.said}
    is_correction = not known.wrong.isdisjoint(said) or not words["correction_heads"].isdisjoint(said)
    around = zip([[], *sentences], sentences, [*sentences[1:], []], can_end, strict=False)
    for before, clauses, following, may in around:
        if may and known.unsure.search(" ".join(clause.joined for clause in clauses)) is None:
            for at, clause in enumerate(clauses):
                if not _is_real(clause, words):
                    break  # nor is what follows
                if known.kept.search(clause.joined) is None:
                    yield from _of_clause(_Around(before, clauses, following, at), is_correction, words, known)


def _is_real(clause: Clause, words: AlphabeticLexicon) -> bool:
    """Return whether a clause is neither supposed nor asked nor to come; a German passive, like its future, is real."""
    unreal = words["unreal_words"].intersection(clause.said)
    is_passive = words.language == "de" and (clause.said[-1][-1] == "t" or clause.said[-1][:2] == "ge")
    return unreal <= _PASSIVE if is_passive else not unreal


class _Around(NamedTuple):
    """A clause, and what is said around it."""

    sentence_before: list[Clause]
    clauses: list[Clause]  #: of its sentence
    next_sentence: list[Clause]
    at: int

    @property
    def clause(self) -> Clause:
        return self.clauses[self.at]


def _of_clause(around: _Around, is_correction: bool, words: AlphabeticLexicon, known: Cues) -> Iterator[Withdrawal]:
    clause, sooner, after = around.clause, around.clauses[: around.at], around.clauses[around.at + 1 :]
    is_past = _is_past(clause, words)
    is_certain = known.since.search(clause.joined) is not None
    for phrase in phrases_in(clause, words):
        kind = Ending.ENDS if phrase.kind is Ending.DENIES and is_certain else phrase.kind
        is_contrast = (phrase.at == 0 and bool(sooner)) or any(any(one.plain) for one in after[:1])
        if is_past and kind is not Ending.WAS:
            continue
        if kind in (Ending.DENIES, Ending.WAS) and not is_contrast and not (is_correction and kind is Ending.DENIES):
            continue
        if not words["relatives"].isdisjoint(clause.said[: phrase.at]):
            continue
        if clause.said[phrase.at] in known.instead and not is_correction and _happened(clause, words):
            continue
        yield Withdrawal(
            words.language,
            kind,
            _words_of(clause, phrase),
            clause.told(),
            Clause(clause.said[: phrase.at], clause.plain[: phrase.at]).told(),
            told([*around.sentence_before, *sooner], known),
            told([*after, *around.next_sentence], known),
            is_first=not any(any(one.plain) for one in sooner),
            is_kept=any(known.kept.search(one.joined) is not None for one in around.clauses),
            is_correction=is_correction or kind in (Ending.NEVER, Ending.DENIES),
            said=tuple(word for one in (*around.sentence_before, *around.clauses) for word in one.said),
        )


def _is_past(clause: Clause, words: AlphabeticLexicon) -> bool:
    """Return whether a clause tells of an earlier time, or of what happened once; not of what goes on since."""
    if any(word[0] == "~" and word[1:].isdigit() for word in clause.said):
        return True
    if words.recent.search(clause.joined) is not None:
        return not words["be_past"].isdisjoint(clause.said)
    return words.past.search(clause.joined) is not None


def _happened(clause: Clause, words: AlphabeticLexicon) -> bool:
    """Return whether a clause tells what was done once, and of no change."""
    done = [word for word in clause.said if word in words.verbs and words.verbs[word][1]]
    is_since = not (words["perfect"] | words["be"] - words["be_past"]).isdisjoint(clause.said)  # "is done", "has done"
    return bool(done) and words["triggers"].isdisjoint(done) and not is_since


def _words_of(clause: Clause, phrase: Phrase) -> tuple[Word, ...]:
    part = slice(phrase.begin, phrase.end)
    found = list(zip(clause.said[part], clause.plain[part], strict=True))
    return tuple(reversed(found)) if phrase.is_backwards else tuple(found)


def looked_for(found: Iterable[Withdrawal]) -> Iterator[Sought]:
    """Yield where something may stand that has ended."""
    yield from islice(dict.fromkeys(sought for each in found for sought in _looked_for(each)), _SLOTS)


def _looked_for(found: Withdrawal) -> Iterator[Sought]:
    words = lexicon(found.language)
    values = [word for word in found.phrase if word[1]][:_VALUES]
    named = [at for at, word in enumerate(found.said) if _names(word, words)][:_MANY]
    kinds = dict.fromkeys(kind for value in values for kind in _kinds(value, words))
    kinds |= dict.fromkeys(f"v {words.verbs[word][0]}" for word in found.said if word in words.verbs)
    if values and values[0][0][0] in "#~":
        kinds |= dict.fromkeys(f"c {found.said[at]}" for at in named if found.said[at] in found.before)
    nouns = [at for at in named if found.said[at] not in words.verbs]
    both = (subject for places in (named, nouns) for subject in _subjects(found, places, words))
    for subject in dict.fromkeys(both):
        yield from ((found.language, subject, kind) for kind in islice(kinds, _KINDS))
    for length in range(1, len(values) + 1):  # of whom another takes the place
        whom = frozenset(word for word, _ in values[:length])
        yield from ((found.language, whom, f"c {word}") for word in sorted(found.before & {*found.said}))


def _names(word: str, words: AlphabeticLexicon) -> bool:
    silent = ("prepositions", "be", "determiners", "fillers", "negation", "perfect", "triggers")
    return word[0] not in "#~" and all(word not in words[name] for name in silent)


def _kinds(value: Word, words: AlphabeticLexicon) -> list[str]:
    """Return what may be said of somebody that a *value* belongs to."""
    word, stem = value
    if word[0] in "#~":
        return ["k time", "k amount"]
    if word[0].isdigit():
        return [f"c {word}", "k amount"]
    verb = words.verbs.get(word, (stem.removeprefix("*"), False))[0]
    return [f"c {word}"] if stem[0] != "*" else [f"c {word}", f"v {verb}"]


def _subjects(found: Withdrawal, named: list[int], words: AlphabeticLexicon) -> Iterator[frozenset[str]]:
    """Yield subjects of which something may have ended."""
    is_spoken_of = not SPEAKING.isdisjoint(found.every)  # "the user" is one of "us"
    speaking = [frozenset((who,)) for who in sorted(SPEAKING)] if is_spoken_of or found.is_first else []
    yield from speaking
    said = [words.spoken.get(found.said[at]) or found.said[at] for at in named]
    placed = [f"{found.said[at - 1]} {found.said[at]}" if at else "" for at in named]
    for length in range(1, _SUBJECT + 1):
        for begin in range(len(named) - length + 1):
            subject = frozenset(said[begin : begin + length])
            yield subject
            yield from (
                subject | who for who in speaking if is_spoken_of and length < _SUBJECT - 1 and not who <= subject
            )
            if length > 1 and placed[begin + length - 1].split()[0] in words["of"]:
                yield frozenset((*said[begin : begin + length - 1], placed[begin + length - 1]))
    yield from (frozenset((word,)) for word in sorted(cues(found.language).implied - words.speaking))
