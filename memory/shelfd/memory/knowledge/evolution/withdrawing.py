"""What a note names as no longer so, or as never so: "not X", "no longer X", "from X to Y", "left X".

Clauses are compared by subject, verb and value, and many a wording fits none of them. Where a note says expressly that
something has ended, less is needed: that an older statement has it as its value, and that the note names all else that
this says.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
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
)
from shelfd.memory.knowledge.evolution.lexicon import ME, US, AlphabeticLexicon, lexicon
from shelfd.memory.knowledge.evolution.marking import is_passive, tells_of_past
from shelfd.memory.knowledge.evolution.reading import SENTENCES, sentences_of
from shelfd.memory.knowledge.evolution.statement import NOBODY, Statement
from shelfd.memory.knowledge.evolution.tokens import words_in
from shelfd.memory.notes.words import ends_as_question

LANGUAGES: Final = ("en", "de", "es", "fr")
SPEAKING: Final = frozenset((ME, US))
_LONGEST: Final = 400  #: letters of a sentence; of a longer one nothing is taken
_PHRASES: Final = 8  #: of a note
_SLOTS: Final = 256  #: looked into for one note
_SUBJECT: Final = 4  #: words of a subject that is looked for
_DATED: Final = 2  #: of these, of one that has a date beside them
_MANY: Final = 12  #: words from which subjects are made
_VALUES: Final = 3  #: words of what has ended by which it is looked for
_KINDS: Final = 6  #: of what may be said of it
#: A word as it was said, and in plain form; "" of what tells nothing.
Word: TypeAlias = tuple[str, str]
#: Language, subjects, and what may be said of each.
Sought: TypeAlias = tuple[str, Sequence[frozenset[str]], tuple[str, ...]]


class Withdrawal(NamedTuple):
    """What has ended, and what is said with it; each word as it was said and in plain form."""

    language: str
    kind: Ending
    phrase: tuple[Word, ...]  #: what has ended, and on to where its clause ends
    by: str  #: the word that tells it, or the first of those
    ahead: tuple[Word, ...]  #: what its clause says before the words that tell that it has ended
    clause: frozenset[str]  #: what is said in its clause
    before: frozenset[str]  #: of that, what stands before: of whom it is said
    earlier: frozenset[str]  #: what is said in clauses before it, and in the sentence before
    later: frozenset[str]  #: what is said in clauses after it, and in the next sentence
    is_first: bool  #: nothing was said in its sentence before
    is_headless: bool  #: its clause begins with a verb, and so speaks of whom the one before spoke
    is_kept: bool  #: its sentence says of something else that it is as it was
    is_correction: bool  #: it was never so
    every: frozenset[str]  #: all of that
    said: tuple[str, ...]  #: all words of its sentence and of that before


def withdrawals(text: str, said: Sequence[Statement]) -> tuple[Withdrawal, ...]:
    """Return what *text*, which states *said*, names as ended."""
    language = said[0].language if said else ""
    if language not in LANGUAGES or len(said) > SENTENCES or ends_as_question(text):
        return ()
    words, known = lexicon(language), cues(language)
    texts = sentences_of(text)
    can_end = [may_end(words_in(sentence, language).words, known) for sentence in texts]
    if True not in can_end:  # as most
        return ()
    looked_at = [(sentence, may) for sentence, may in zip(texts, can_end, strict=True) if len(sentence) <= _LONGEST]
    return tuple(islice(_withdrawals(looked_at, words, known), _PHRASES))


def _withdrawals(texts: Sequence[tuple[str, bool]], words: AlphabeticLexicon, known: Cues) -> Iterator[Withdrawal]:
    """Yield what sentences name as ended, each of which is given with whether it can."""
    sentences = [clauses_of(sentence, words.language) for sentence, _ in texts]
    said = {word for clauses in sentences for clause in clauses for word in clause.said}
    is_correction = not known.wrong.isdisjoint(said) or not words["correction_heads"].isdisjoint(said)
    around = zip([[], *sentences], sentences, [*sentences[1:], []], texts, strict=False)
    for before, clauses, following, (_, may) in around:
        phrases = [list(phrases_in(clause, words)) for clause in clauses] if may else []
        if not any(phrases) or known.unsure.search(" ".join(clause.joined for clause in clauses)) is not None:
            continue
        said_around = _Around(*([_Said.of(clause, known) for clause in part] for part in (before, clauses, following)))
        for at, found in enumerate(phrases):
            if not _is_real(clauses[at], words):
                break  # nor is what follows
            if found and not said_around.sentence[at].is_kept:
                yield from _of_clause(said_around, at, found, is_correction, words, known)


def _is_real(clause: Clause, words: AlphabeticLexicon) -> bool:
    """Return whether a clause is neither supposed nor asked nor to come; a German passive, like its future, is real."""
    unreal = words["unreal_words"].intersection(clause.said)
    return not unreal or is_passive(clause.said, unreal, words)


class _Said(NamedTuple):
    """A clause, and what it says."""

    clause: Clause
    told: frozenset[str]
    is_kept: bool  #: it says that something is as it was

    @classmethod
    def of(cls, clause: Clause, known: Cues) -> "_Said":
        return cls(clause, clause.told(), known.kept.search(clause.joined) is not None)


class _Around(NamedTuple):
    """A sentence in which something is named as ended, and those around it."""

    before: list[_Said]
    sentence: list[_Said]
    following: list[_Said]


def _of_clause(
    around: _Around,
    at: int,
    phrases: Iterable[Phrase],
    is_correction: bool,
    words: AlphabeticLexicon,
    known: Cues,
) -> Iterator[Withdrawal]:
    """Yield what the clause at place *at* of a sentence names as ended."""
    clause, sooner, after = around.sentence[at].clause, around.sentence[:at], around.sentence[at + 1 :]
    is_past, is_certain = _is_past(clause, words), known.since.search(clause.joined) is not None
    for phrase in phrases:
        kind = Ending.ENDS if phrase.kind is Ending.DENIES and is_certain else phrase.kind
        is_contrast = (phrase.at == 0 and bool(sooner)) or any(one.told for one in after[:1])
        if is_past and kind is not Ending.WAS:
            continue
        if kind in (Ending.DENIES, Ending.WAS) and not is_contrast and not (is_correction and kind is Ending.DENIES):
            continue
        if not words["relatives"].isdisjoint(clause.said[: phrase.at]):
            continue
        if clause.said[phrase.at] in known.instead and not is_correction and _happened(clause, words):
            continue
        told, earlier, later = (
            around.sentence[at].told,
            _told([*around.before, *sooner]),
            _told([*after, *around.following]),
        )
        ahead = phrase.end if phrase.is_backwards else phrase.at
        yield Withdrawal(
            words.language,
            kind,
            _words_of(clause, phrase),
            clause.said[phrase.at],
            tuple(zip(clause.said[:ahead], clause.plain[:ahead], strict=True)),
            told,
            Clause(clause.said[:ahead], clause.plain[:ahead], "").told(),
            earlier,
            later,
            is_first=not any(one.told for one in sooner),
            is_headless=_is_headless(clause, bool(sooner or around.before), words),
            is_kept=any(one.is_kept for one in around.sentence),
            is_correction=is_correction or kind in (Ending.NEVER, Ending.DENIES) or _was_not(clause, phrase, words),
            every=told | earlier | later,
            said=tuple(word for one in (*around.before, *around.sentence) for word in one.clause.said),
        )


def _was_not(clause: Clause, phrase: Phrase, words: AlphabeticLexicon) -> bool:
    """Return whether something was not so, which says nothing of until when: "it wasn't the DNS after all"."""
    is_denied = phrase.kind is Ending.DENIES and not words["be_past"].isdisjoint(clause.said)
    return is_denied and words["ended_words"].isdisjoint(clause.said)


def _is_headless(clause: Clause, is_after_others: bool, words: AlphabeticLexicon) -> bool:
    """Return whether a clause speaks of whom one before it spoke: it begins with a verb, or with a pronoun."""
    first = next((word for word in clause.said if word not in words["fillers"]), "")
    return is_after_others and (first in words["predicates"] or first in words["clause_subjects"])


def _told(clauses: Iterable[_Said]) -> frozenset[str]:
    """Return what *clauses* say, but those that something is as it was."""
    return frozenset().union(*(one.told for one in clauses if not one.is_kept))


def _is_past(clause: Clause, words: AlphabeticLexicon) -> bool:
    """Return whether a clause tells of an earlier time, or of what happened once; not of what goes on since."""
    if any(word[0] == "~" and word[1:].isdigit() for word in clause.said):
        return True
    if tells_of_past(clause.said, words):
        return True
    return not words["be_past"].isdisjoint(clause.said) and words.recent.search(clause.joined) is not None


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
    """Yield where something may stand that has ended: subjects, and what may be said of each."""
    room = _SLOTS
    for each in found:
        for language, subjects, kinds in _looked_for(each):
            count = len(subjects) * len(kinds)
            if count > room:
                yield language, subjects[: room // len(kinds)], kinds
                return
            room -= count
            yield language, subjects, kinds


def _looked_for(found: Withdrawal) -> Iterator[Sought]:
    words, known = lexicon(found.language), cues(found.language)
    values = [word for word in found.phrase if word[1]][:_VALUES]
    named = [at for at, word in enumerate(found.said) if word not in known.nameless and word[0] not in "#~"]
    named = named[:_MANY]
    kinds = dict.fromkeys(f"v {verb}" for verb in sorted(words["wanting"])) if asks(found, words) else {}
    if found.kind in (Ending.LEAVES, Ending.ENDED) or not words.lists.get("cancelling", NOBODY).isdisjoint(found.said):
        kinds["v be"] = None  # who was a member of it; when it was to be
    kinds |= dict.fromkeys(kind for value in values for kind in _kinds(value, words))
    kinds |= dict.fromkeys(f"v {words.verbs[word][0]}" for word in found.said if word in words.verbs)
    if values and values[0][0][0] in "#~":
        kinds |= dict.fromkeys(f"c {found.said[at]}" for at in named if found.said[at] in found.before)
    nouns = [at for at in named if found.said[at] not in words.verbs]
    subjects = dict.fromkeys(_subjects(found, named, words))
    if nouns != named:
        subjects |= dict.fromkeys(_subjects(found, nouns, words))
    plainly = [at for at in nouns if not any(map(str.isdigit, found.said[at]))]
    if plainly != nouns:
        subjects |= dict.fromkeys(_subjects(found, plainly, words))  # "the password lark-41 of the Wi-Fi"
    yield found.language, [*subjects], tuple(islice(kinds, _KINDS))
    others = tuple(f"c {word}" for word in sorted(found.before & {*found.said}) if word[0] not in "#~")
    whom = [words.of_role(word) if words.feminine else word for word, _ in values]
    kinds_of = words["class_nouns"] | words["kinds"] | words["appositives"]
    names = [word for word in whom if word not in kinds_of]
    lengths = range(1, len(whom) + 1)
    # Of whom another takes the place.
    taken = dict.fromkeys([frozenset(each[:length]) for each in (whom, names) for length in lengths])
    for subject in taken:
        if subject:
            yield found.language, [subject], others


def asks(found: Withdrawal, words: AlphabeticLexicon) -> bool:
    """Return whether what has ended is named in a request."""
    return not words["asking"].isdisjoint(found.said)


def _kinds(value: Word, words: AlphabeticLexicon) -> list[str]:
    """Return what may be said of somebody that a *value* belongs to."""
    word, stem = value
    if word[0] in "#~":
        return ["k time", "k amount"]
    if word[0].isdigit():
        return [f"c {word}", "k amount"]
    if (state := _states_of_phrases(words.language).get(word)) is not None:
        return [f"c {word}", f"c {state}"]
    if (named := cues(words.language).nominal.get(word)) is not None:  # a subscription
        return [f"c {word}", f"c {named}", f"v {named}"]
    verb = words.verbs.get(word, (stem.removeprefix("*"), False))[0]
    return [f"c {word}"] if stem[0] != "*" else [f"c {word}", f"v {verb}"]


@cache
def _states_of_phrases(language: str) -> dict[str, str]:
    """Return the last word of each state that is a phrase -> the state: "urlaub" -> "im-urlaub"."""
    return {state.split("-", 1)[1]: state for state in lexicon(language).states if "-" in state}


def _subjects(found: Withdrawal, named: list[int], words: AlphabeticLexicon) -> list[frozenset[str]]:
    """Return subjects of which something may have ended."""
    is_spoken_of = not SPEAKING.isdisjoint(found.every)  # "the user" is one of "us"
    is_of_speaker = is_spoken_of or found.is_first or asks(found, words)
    speaking = [frozenset((who,)) for who in sorted(SPEAKING)] if is_of_speaker else []
    subjects: list[frozenset[str]] = [*speaking]
    every, of = found.said, words["of"]
    when = next((word for word in every if word[0] == "~"), "") if found.is_correction else ""  # "the outage of 8 June"
    said = [words.spoken.get(every[at]) or every[at] for at in named]
    for length in range(1, _SUBJECT + 1):
        is_with_speaker = is_spoken_of and length < _SUBJECT - 1
        for end in range(length, len(named) + 1):
            subject = frozenset(said[end - length : end])
            subjects.append(subject)
            if when and length <= _DATED:
                subjects.append(subject | {when})
            if is_with_speaker:
                subjects += [subject | who for who in speaking if not who <= subject]
            if length > 1 and every[(at := named[end - 1]) - 1] in of:  # not the first, for others stand before it
                subjects.append(frozenset((*said[end - length : end - 1], f"{every[at - 1]} {every[at]}")))
    subjects += cues(found.language).unnamed
    return subjects
