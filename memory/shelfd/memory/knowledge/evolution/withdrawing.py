"""What a note names as no longer so, or as never so: "not X", "no longer X", "from X to Y", "left X".

Clauses are compared by subject, verb and value, and many a wording fits none of them. Where a note says expressly what
has ended, less is needed: it also names all else that an older statement says, and its value is what has ended.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from functools import cache
from itertools import islice
from typing import Final, NamedTuple

from shelfd.memory.knowledge.evolution.circumstances import works_there
from shelfd.memory.knowledge.evolution.effects import can_end
from shelfd.memory.knowledge.evolution.language import words_of
from shelfd.memory.knowledge.evolution.leading import leading_words
from shelfd.memory.knowledge.evolution.lexicon import ME, US, AlphabeticLexicon, lexicon, load
from shelfd.memory.knowledge.evolution.marking import tells_of_past
from shelfd.memory.knowledge.evolution.reading import sentences_of, statements_of
from shelfd.memory.knowledge.evolution.statement import NOBODY, Arity, Effect, Statement, Value
from shelfd.memory.knowledge.evolution.tokens import words_in
from shelfd.memory.knowledge.evolution.values import HAVE, means_of
from shelfd.memory.knowledge.evolution.verdicts import USE
from shelfd.memory.notes.words import ends_as_question

_LANGUAGES: Final = ("en", "de", "es", "fr")
#: Of a longer sentence nothing is taken: patterns take the square of its length.
_LONGEST: Final = 300
_SLOTS: Final = 64  #: looked into for one note
_SUBJECT: Final = 4  #: words of a subject that is looked for
_MANY: Final = 14  #: words of a scope from which subjects are made


class Withdrawal(NamedTuple):
    """What has ended, by the words that say it. Words are folded, verbs in dictionary form, plurals as singular."""

    language: str
    gone: frozenset[str]  #: what has ended
    scope: frozenset[str]  #: all that is said with it
    subject: frozenset[str]  #: of whom it is said; empty if only what stands before can tell
    is_correction: bool  #: it was never so
    named: tuple[str, ...]  #: the words of the scope in order, as they stand in slots
    values: tuple[str, ...]  #: those of what has ended


def withdrawals(text: str, said: Sequence[Statement]) -> tuple[Withdrawal, ...]:
    """Return what *text*, which states *said*, names as ended."""
    cues, parts = _cues()
    if parts.isdisjoint(words_of(text)) or cues.isdisjoint(text.lower().split()):
        return ()
    language = said[0].language if said else ""
    if language not in _LANGUAGES:
        return ()
    words, sentences = lexicon(language), sentences_of(text)
    stated = [said] if len(sentences) == 1 else [statements_of(sentence, words) for sentence in sentences]
    return tuple(_in_sentences(sentences, stated, words))


@cache
def _cues() -> tuple[frozenset[str], frozenset[str]]:
    """Return the words without one of which nothing has ended, and of each the first part by which it is sought."""
    found = {word for language in _LANGUAGES for word in load(f"{language}.json")["withdrawing"].split()}
    found |= {"isn't", "doesn't", "don't", "wasn't", "can't", "won't", "aren't", "plus", "länger"}
    return frozenset(found), frozenset(words_of(word)[0] for word in found)


@cache
def _patterns(language: str) -> tuple[tuple[bool, re.Pattern[str], frozenset[str]], ...]:
    rows = load(f"{language}.json")["withdrawals"]
    return tuple(
        (kind == "corrects", re.compile(rf"(?<!\S){pattern}"), leading_words(pattern)) for kind, pattern in rows
    )


def _in_sentences(
    sentences: Iterable[str], stated: Iterable[Sequence[Statement]], words: AlphabeticLexicon
) -> Iterator[Withdrawal]:
    before: list[str] = []
    for sentence, clauses in zip(sentences, stated, strict=True):
        every = words_in(sentence, words.language)
        said = [f"#{every.amounts[at]:g}" if at in every.amounts else word for at, word in enumerate(every.words)]
        if _may_withdraw(sentence, said, words):
            joined = " ".join(said)
            for is_correction, pattern, leading in _patterns(words.language):
                if leading and leading.isdisjoint(said):
                    continue  # as most: sooner seen than by the pattern
                if (match := pattern.search(joined)) is not None:
                    found = _withdrawal(match["a"].split(), said, before, clauses, is_correction, words)
                    if found is not None:
                        yield found
        before = said


def _may_withdraw(sentence: str, said: Sequence[str], words: AlphabeticLexicon) -> bool:
    """Return whether a sentence states something of now: not asked, supposed, or told of an earlier time."""
    if len(sentence) > _LONGEST or words["withdrawing"].isdisjoint(said) or ends_as_question(sentence):
        return False
    if not words["unreal_words"].isdisjoint(said) or not words["relatives"].isdisjoint(said):
        return False
    for word in said:
        if word[0] == "~" and word[1:].isdigit():
            return False
    return not tells_of_past(said, words)


def _withdrawal(
    gone: Sequence[str],
    said: list[str],
    before: list[str],
    clauses: Sequence[Statement],
    is_correction: bool,
    words: AlphabeticLexicon,
) -> Withdrawal | None:
    values = _content(gone, words)
    ended = frozenset(plain(value, words) for value in values) - words["generic"]
    if not ended or not any(clause.real for clause in clauses):
        return None
    subjects = {clause.subject for clause in clauses if clause.subject}
    subject, scope = next(iter(subjects), NOBODY), said
    if len(subjects) > 1:
        own = [clause for clause in clauses if ended & {plain(word, words) for word in (*clause.words, *clause.denied)}]
        if len(own) != 1:
            return None
        subject = own[0].subject
        scope = said if not subject else [*own[0].words, *gone]
    if not subject and len(clauses) == 1 and words["clause_subjects"].isdisjoint(said[:1]):
        return None
    if not subject:
        scope = [*before, *scope]
    named = _content(scope, words)
    every = frozenset(plain(word, words) for word in named)
    is_correction = is_correction or any(clause.corrects for clause in clauses)
    return Withdrawal(words.language, ended, every, subject, is_correction, tuple(named), tuple(values))


def _content(said: Iterable[str], words: AlphabeticLexicon) -> list[str]:
    spoken = words.spoken
    return [
        found
        for word in said
        if word not in (",", ":") and word not in words["prepositions"] and (found := spoken.get(word, word))
    ]


def plain(word: str, words: AlphabeticLexicon) -> str:
    """Return a verb in its dictionary form, a plural as its singular."""
    if (verb := words.verbs.get(word)) is not None:
        return verb[0]
    if word in words["be"]:
        return "be"
    if word[-1].isdigit() and (number := word.lstrip("~#")).replace(".", "", 1).isdigit():
        return f"#{float(number):g}"
    return word[:-1] if len(word) > 3 and word[-1] == "s" and word[-2:] != "ss" else word


def withdrawn(found: Iterable[Withdrawal], old: Statement) -> Withdrawal | None:
    """Return which of *found* ends what *old* says; None if none does."""
    if not old.subject or not old.core or not old.positive or not old.real or old.several or old.past:
        return None
    if old.effect is not Effect.SAYS or old.slot is Arity.FIXED or old.language not in _LANGUAGES:
        return None
    words = lexicon(old.language)
    amounts = iter(old.amounts)
    value = {plain(_valued(word, amounts), words) for word in (*old.core, *sorted(old.rest))} - words["generic"]
    subject = {plain(word, words) for word in old.subject}
    link = {plain(word, words) for word in old.link.split()} - words["prepositions"] - words["definite"] - {"a"}
    # Participles that say no more than "is" are left out: called, set to.
    verb = {old.verb, *link} - words["generic"] - words["naming"] - words["joined"]
    for each in found:
        if each.language != old.language or not each.gone <= value | verb or each.gone.isdisjoint(value):
            continue
        if old.event and not each.is_correction:
            continue  # it happened
        if each.subject and _is_of_another(each, old, words):
            continue
        needed = value if _says_when(each.scope) else {word for word in value if word[0] != "~"}
        if old.verb == "be" or old.link or not needed <= each.gone or not can_end(old):
            needed |= verb
        if _is_used(old, each):
            needed = value & each.gone
        named = subject - words["concrete_nouns"] if _is_owned(old, value, each) else subject
        if named | needed <= each.scope | each.subject and not subject & each.gone:
            return each
    return None


def _is_of_another(found: Withdrawal, old: Statement, words: AlphabeticLexicon) -> bool:
    """Return whether what has ended is said of somebody's mother, say, or of another who does the same no longer."""
    whose, subject = ({plain(word, words) for word in each.subject} for each in (found, old))
    if old.subject < found.subject or subject < whose:
        return True
    if whose & subject and whose - subject and subject - whose:
        return True  # each is told from others of its kind by another word
    does_the_same = old.verb in found.scope and (old.verb not in words["generic"] or old.verb in HAVE)
    return does_the_same and whose.isdisjoint(subject) and whose.isdisjoint((ME, US))


def _is_used(old: Statement, found: Withdrawal) -> bool:
    """Return whether an older statement says what is done with what has ended: the state that is kept in a store."""
    if old.verb in ("be", *HAVE) or old.verb in found.scope or works_there(old):
        return False  # what is done otherwise now is said, too: reports no longer come by post, letters may
    if _done_otherwise(found.scope, lexicon(old.language)):
        return False  # who takes no milk in the coffee any more may have it with cereals
    means = means_of(old)
    return bool(means) and means <= found.gone


def _done_otherwise(scope: AbstractSet[str], words: AlphabeticLexicon) -> bool:
    """Return whether something is told that is done, but that one thing is used, or takes the place of another."""
    silent = words["generic"] | words["triggers"] | words["withdrawing"]
    done = {words.verbs[word][0] for word in scope - silent if word in words.verbs}
    return any(not words.alike(verb, USE[words.language]) for verb in done - silent)


def _is_owned(old: Statement, value: AbstractSet[str], found: Withdrawal) -> bool:
    """Return whether an older statement says which of its kind somebody has: a phone, which has been sold since."""
    is_which = old.verb == "be" and not old.link and old.value is Value.NAME and value == found.gone
    # of who is no longer a guest, nothing is said of their friend, who is one
    return is_which and bool(found.subject) and found.subject < old.subject and "be" not in found.scope


def _says_when(words: Iterable[str]) -> bool:
    """Return whether a time is said; what has ended at no time has ended at all."""
    return any(word[0] == "~" for word in words)


def _valued(word: str, amounts: Iterator[float]) -> str:
    return f"#{next(amounts, 0):g}" if word[0] == "#" else word


def subjects(found: Withdrawal) -> Iterator[frozenset[str]]:
    """Yield the subjects of which something may have ended."""
    if found.subject:
        yield found.subject
    named = [word for word in found.named if word not in found.values][:_MANY]
    for length in range(1, _SUBJECT + 1):
        for begin in range(len(named) - length + 1):
            words = frozenset(named[begin : begin + length])
            yield words - {ME, US} or words
            if ME in found.subject:
                yield words | {ME}  # "my main editor"


def looked_for(found: Iterable[Withdrawal]) -> Iterator[tuple[str, frozenset[str], str]]:
    """Yield language, subject and what is said of it, of what may have ended."""
    yield from islice(_looked_for(found), _SLOTS)


def _looked_for(found: Iterable[Withdrawal]) -> Iterator[tuple[str, frozenset[str], str]]:
    for each in found:
        word = next((value for value in each.values if value[0] not in "#~"), "")
        kinds = [f"c {word}"] if word else ["k time", "k amount", f"c {each.values[0][1:]}"]
        for subject in dict.fromkeys(subjects(each)):
            yield from ((each.language, subject, kind) for kind in kinds)
