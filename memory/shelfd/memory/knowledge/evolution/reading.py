"""From text to statements, by rules: subject, verb and value of each clause, and the words that mark it."""

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Final, NamedTuple

from shelfd.memory.knowledge.evolution.claims import claim_of
from shelfd.memory.knowledge.evolution.clause import parted, read_clause
from shelfd.memory.knowledge.evolution.labelling import read_lines, unmarked
from shelfd.memory.knowledge.evolution.language import language_of
from shelfd.memory.knowledge.evolution.lexicon import ME, US, YOU, AlphabeticLexicon, lexicon
from shelfd.memory.knowledge.evolution.rewording import reword
from shelfd.memory.knowledge.evolution.spaceless import read_spaceless
from shelfd.memory.knowledge.evolution.statement import NOBODY, Statement, Value
from shelfd.memory.knowledge.evolution.tokens import SentenceWords, words_in
from shelfd.memory.notes.words import ends_as_question

#: Text and sentences of a note that are read. Of a note that says more, no verdict can be given: it is kept.
LONGEST: Final = 2_000
SENTENCES: Final = 12

#: Makes a named tuple of what is known to have its length, in a fraction of the time.
_new: Final = tuple.__new__

#: Where a sentence ends. It begins with the blank, though what stands before decides: a pattern that begins with a set
#: is found much sooner.
END: Final = re.compile(
    r"\s(?:(?<=[.!?;]\s)(?<!\bDr\.\s)(?<!\bProf\.\s)(?<!\bSr\.\s)(?<!\bSra\.\s)(?<!\bDra\.\s)(?<!\bMr\.\s)(?<!\bMs\.\s)(?<!\bSt\.\s)"
    r"(?<!\bMrs\.\s)(?<!\bM\.\s)(?<!\bMme\.\s)(?<!\bHr\.\s)(?<!\bFr\.\s)(?<!\bNr\.\s)(?<!\bNo\.\s)(?<!\d\.\s)\s*"
    r"|(?<=\d\.\s)\s*(?=[A-Z][a-z]+ (?:is|was|has)\b|(?:The|We|I|It|He|She|They|That|This|My|Our|Your|His|Her|But"
    r"|Die|Der|Das|Wir|Ich|Er|Sie|Es|Mein|Meine|Unser|Unsere|El|La|Los|Las|Lo|Yo|Mi|Mis|Nos|Eso|Le|Les|Il|Elle|On|Nous|Je"
    r"|Mon|Ma|Mes|Notre|Nos|Son|Sa|Ses|Ce|Cette|[JLCDS]['’]|Désolée?|Pardon|Se|Me|Había|Habíamos|Confundí|Confundimos"
    r"|Apunté|Anoté|Leí|Fue|Era|Antes|Ahora|Ya|Pero|Su|Sus|Por|Así|Nuestro|Nuestra|Nuestros|Nuestras)\b)"
    r"|(?<=:\d\d\.\s)\s*(?=[A-ZÁÉÍÓÚÑÄÖÜ])|(?<=\n)\n*)"
)
#: Without this there is no end inside a text: that is seen much sooner.
_MAY_END: Final = re.compile(r"[.!?;]\s|\n")
#: What follows from what was said before is said by itself.
_SO: Final = re.compile(
    r", (?:so (?!that\b|far\b|long\b|as\b|much\b|many\b|dass\b)|donc (?!cette\b|ce\b|seulement\b|uniquement\b)|du coup "
    r"|par conséquent |si bien qu(?:e |')|de sorte que |alors (?=(?:le|la|les|on|nous|je|mon|ma)\b|[lj]')"
    r"|así que |por (?:lo )?tanto,? |por lo que |por eso |por ello |de modo que |de manera que |con lo cual |conque "
    r"|en consecuencia,? |c'est pourquoi |(?=(?:deshalb|daher|darum|deswegen|somit|folglich"
    r"|weshalb|weswegen|sodass|so dass|seither|seitdem|stattdessen) )"
    r"|(?=(?:(?:jetzt|nun|inzwischen|mittlerweile) (?:sind|\w+t)|also (?:ist|sind|hat|heißt|führt|fährt"
    r"|\w+(?:zt|gt|tet))) (?:[A-ZÄÖÜ]|(?:d(?:er|ie|as)|unsere?|meine?) )))"
)
#: What follows a dash says more of what stands before it, as after a comma; a list or a title has other words there.
_DASH: Final = re.compile(r"(?<=[^\W_]) [—–] (?=[^\W\dA-Z]|[A-ZÀ-Þ]\w+ [a-zà-ÿ])([^—–]*)$")
#: What is said to be a correction, as a plain form begins with it, is read as if it stood by itself.
_CORRECTION: Final = re.compile(r"Correction :\s+(?=\S+ \S+ \S)")
#: What is said in brackets at the end of a sentence.
_IN_BRACKETS: Final = re.compile(
    r" \((?!(?:antes|hasta|before|until|formerly|previously|was|vorher|früher|bisher|bis|avant|auparavant)\b)"
    r"([^()]{12,})\)(?=[.!;]?(?:\s|$))",
    re.IGNORECASE,
)
#: With what an item of a list, or a line of a log, begins.
_MARKS: Final = frozenset("[-*•")
_NUMBER: Final = re.compile(r"\d[\d.,:]*")
_SPACELESS_END: Final = re.compile(r"(?<=[。！？；])|\n+")


def read(text: str) -> tuple[Statement, ...]:
    """Return the statements of a note's text in order; none if it is longer than what is read."""
    if len(text) > LONGEST:
        return ()
    language = language_of(text)
    if language in ("zh", "ja"):
        sentences = [part for part in _SPACELESS_END.split(text) if part.strip()]
        return tuple(read_spaceless(sentence.strip(), language) for sentence in sentences[: SENTENCES + 1])
    words = lexicon(language)
    found: list[Statement] = []
    before: SaidLast | None = None
    sentences = sentences_of(text)
    for sentence in sentences[: SENTENCES + 1]:
        stated, before = _read_sentence(sentence, words, before)
        if found and len(stated) == 1 and stated[0].corrects and not stated[0].subject:  # "I had it wrong before."
            found[-1] = found[-1]._replace(corrects=True)
            continue
        found += stated
    if len(sentences) == 1 and found:
        claim = claim_of(sentences[0], words_in(sentences[0], language).words, words)
        found[0] = found[0] if claim is None else found[0]._replace(claim=claim)
    return tuple(found)


def sentences_of(text: str) -> list[str]:
    """Cut the text of a language that has spaces between words where its sentences end."""
    if ", " in text:
        text = _SO.sub(". ", text)
    if ")" in text and ": " not in text:
        text = _IN_BRACKETS.sub(r", \1", text)
    if not text.isascii() and (" — " in text or " – " in text):
        text = _DASH.sub(r", \1", text)
    inside = text[:-1]
    may_end = "." in inside or "\n" in text or "?" in inside or "!" in inside or ";" in inside
    return END.split(text) if may_end and _MAY_END.search(text) is not None else [text]


def statements_of(sentence: str, words: AlphabeticLexicon) -> list[Statement]:
    """Read the clauses of one sentence; a clause without a subject has that of the one before."""
    return _read_sentence(sentence, words, None)[0]


class SaidLast(NamedTuple):
    """What was said last: of whom a pronoun after it may speak."""

    statement: Statement
    subject: list[str]
    proper: frozenset[str]


def _read_sentence(
    sentence: str, words: AlphabeticLexicon, before: SaidLast | None
) -> tuple[list[Statement], SaidLast | None]:
    """Return what a sentence states, and what was said last.

    Args:
        sentence: What is read.
        words: Those of its language.
        before: What was said before it.
    """
    all_words = words_in(sentence, words.language)
    reworded = reword(sentence, all_words.words, words)
    if (mark := _CORRECTION.match(reworded)) is not None:
        corrected, last = _read_sentence(reworded[mark.end() :], words, before)
        return [each._replace(corrects=True) for each in corrected], last
    may_be_label = ":" in sentence or "=" in sentence or "->" in sentence
    if may_be_label and not _is_told(sentence, reworded) and (lines := read_lines(sentence)):
        return lines, None
    if sentence[:1] in _MARKS:
        sentence = unmarked(sentence)
        all_words = words_in(sentence, words.language)
        reworded = reword(sentence, all_words.words, words)
    is_supposed = all_words.words[:1] != [] and all_words.words[0] in words.lists["conditions"]
    found: list[Statement] = []
    asks = ends_as_question(sentence)
    left_out: frozenset[str] = NOBODY
    if reworded is not sentence:
        told, all_words = all_words, words_in(reworded, words.language)
        left_out = _left_out(told, all_words, sentence, reworded, words)
    corrects = False
    subject: list[str] = []
    last = before
    lists = words.lists
    for clause, amounts in _clauses(all_words, words):
        if len(clause) <= 6 and not lists["correction_heads"].isdisjoint(clause) and _is_remark(clause, words):
            corrects = True
            found = [each._replace(corrects=True) for each in found]  # it may follow what it is about
            continue
        if found and clause[0] in lists["negation"]:
            is_over = not lists["ended_words"].isdisjoint(clause)
            found[-1] = _with_denied(found[-1], _before_as(clause[1:]), words, is_over=is_over)
            continue
        whole = (
            _with_noun(clause, last, words) if last is not None and clause[0] in lists["clause_subjects"] else clause
        )
        statement, said = read_clause(whole, amounts, all_words.proper, words, subject)
        subject = said or subject
        last = _new(SaidLast, (statement, subject, all_words.proper))
        if asks or corrects:
            statement = statement._replace(real=statement.real and not asks, corrects=statement.corrects or corrects)
        found.append(statement)
    if left_out and found:
        found[-1] = found[-1]._replace(left_out=left_out)
    if is_supposed or (all_words.words and all_words.words[0] in lists["conditions"]):
        found = [each._replace(real=False) for each in found]
    if corrects and not found:
        return [Statement(words.language, words=tuple(all_words.words), corrects=True)], None
    return found, last


def _is_told(sentence: str, reworded: str) -> bool:
    """Return whether a colon parts a statement from a remark, and no label: in the plain form it is gone."""
    return reworded.count(": ") < sentence.count(": ")


def _with_denied(statement: Statement, said: list[str], words: AlphabeticLexicon, *, is_over: bool) -> Statement:
    """Return a statement and what it denies: "not X" was never so, "no longer X" or "now Y, not X" was until now.

    Args:
        statement: What was stated before.
        said: What is denied. Where it is not so is where the other is: "is on, and not off, in the hall".
        words: Those of its language.
        is_over: It says that what is denied was so before.
    """
    silent = words["determiners"] | words["unsaid"]
    denied, beside = parted([word for word in said if word not in silent], words)
    denied = denied - words["prepositions"] or denied
    statement = statement._replace(rest=statement.rest | beside)
    is_over = is_over or bool(statement.now)
    now, corrects = statement.now or is_over, statement.corrects or not is_over
    return statement._replace(denied=statement.denied | denied, now=now, corrects=corrects)


def _left_out(
    told: SentenceWords, kept: SentenceWords, sentence: str, reworded: str, words: AlphabeticLexicon
) -> frozenset[str]:
    """Return what a sentence says that its plain form does not: sold for 5,000 is not sold for 6,000."""
    numbers = [number for number in _NUMBER.findall(sentence) if number not in reworded]
    said = frozenset([word for word in told.words if word[0] not in "#~,:"]).difference(kept.words)
    for name in _SAYING_NOTHING:
        said = said - words[name]  # which goes through the few that are left, and -= through all of the list
    return said.union(numbers)


#: Lists of words that a plain form may leave out, for it has others of their kind.
_SAYING_NOTHING: Final = ("prepositions", "determiners", "pronouns", "perfect", "telling_verbs", "unsaid")


def _with_noun(clause: list[str], last: SaidLast, words: AlphabeticLexicon) -> list[str]:
    """Return a clause with the noun that its pronoun stands for, if nothing else was spoken of."""
    return [*last.subject, *clause[1:]] if len(clause) > 1 and _is_alone(last, words) else clause


def _is_alone(last: SaidLast, words: AlphabeticLexicon) -> bool:
    """Return whether a statement speaks of nothing but its subject that a pronoun could stand for."""
    statement = last.statement
    if not statement.subject or not last.subject or not statement.subject.isdisjoint((ME, US, YOU)):
        return False
    if statement.value is not Value.NAME and not statement.rest:
        return True
    others = {word for word in (*statement.core, *statement.rest) if word[0] not in "#~"} - statement.subject
    if statement.verb == "be" and not statement.link and others <= words["triggers"]:
        return True  # "the password was changed: it is ..."
    if statement.verb == "be" or statement.link or statement.rest or not others.isdisjoint(last.proper):
        return False
    return not others & (words["relations"] | words["concrete_nouns"])


def _before_as(words: list[str]) -> list[str]:
    at = next((at for at, word in enumerate(words) if word in _AS), len(words))
    return words[:at]


def _is_remark(clause: list[str], words: AlphabeticLexicon) -> bool:
    """Return whether a clause only says that something was wrong, and nothing is stated in it."""
    rest = [word for word in clause if word not in words["correction_heads"] and word not in words["fillers"]]
    if len(rest) <= 1 or clause[-1] in words["correction_heads"] or words["self"].issuperset(rest[:1]):
        return True
    return clause[0] in words["correction_heads"] and words["telling_verbs"].isdisjoint(clause)  # "correction of 4 May"


def _clauses(sentence: SentenceWords, lexicon_: AlphabeticLexicon) -> Iterable[tuple[list[str], list[float]]]:
    """Cut a sentence at colons, and at commas and conjunctions that a new clause follows."""
    words = sentence.words
    if _CUTS.isdisjoint(words):
        return ((words, list(sentence.amounts.values())),) if words else ()
    return _cut(sentence, lexicon_)


def _cut(sentence: SentenceWords, lexicon_: AlphabeticLexicon) -> Iterator[tuple[list[str], list[float]]]:
    words = sentence.words
    starts = [0]
    for at, word in enumerate(words):
        if (
            word == ":"
            or (word == "," and _begins_clause(words, at + 1, lexicon_))
            or (word in _AND and at and _parts(words, at, lexicon_))
        ):
            starts.append(at + 1)
    starts.append(len(words) + 1)
    for begin, end in pairwise(starts):
        inside = [
            at
            for at in range(begin, min(end - 1, len(words)))
            if words[at] != "," or _is_aside(words, begin, at, end - 1, lexicon_)
        ]
        if inside and words[inside[-1]] in _AND:
            inside.pop()
        if inside:
            amounts = [sentence.amounts[at] for at in inside if at in sentence.amounts]
            yield [words[at] for at in inside], amounts


def _parts(words: list[str], at: int, lexicon_: AlphabeticLexicon) -> bool:
    """Return whether the conjunction at *at* stands between two clauses."""
    if _follows(words, at + 1, lexicon_) or _speaks_of_another(words, at, lexicon_):
        return True
    if lexicon_.language != "de" or words[at - 1] not in lexicon_.states or lexicon_["be"].isdisjoint(words[1:at]):
        return False
    after = [word for word in words[at + 1 :] if word not in lexicon_["fillers"]]
    is_several = any(words[at - 1] in lexicon_.states.get(word, ()) for word in after)  # red and blue
    return len(words) > at + _MORE and not is_several and not (len(after) == 1 and after[0] in lexicon_.states)


_MORE: Final = 2  #: words behind a conjunction, at least: "ist repariert und wieder im Einsatz"


def _follows(words: list[str], at: int, lexicon_: AlphabeticLexicon) -> bool:
    """Return whether a verb comes at *at*, perhaps after a pronoun, a word like "now", or "not"."""
    if at < len(words) - 1 and words[at] in lexicon_["denying"]:
        return True
    if at < len(words) and words[at] in lexicon_["clause_subjects"]:
        at += 1
    if at < len(words) and words[at] in lexicon_["fillers"]:
        at += 1
    if at >= len(words):
        return False
    word = words[at]
    return word in lexicon_.verbs or word in lexicon_["triggers"] or word in lexicon_["be"]


def _speaks_of_another(words: list[str], at: int, lexicon_: AlphabeticLexicon) -> bool:
    """Return whether something else is stated behind the conjunction at *at*: "is back, and the queue has drained"."""
    after = words[at + 1 : at + _OTHER]
    if after[:1] == [] or after[0] not in lexicon_["determiners"]:
        return False
    told = lexicon_["be"] | lexicon_["perfect"]
    return not told.isdisjoint(after[2:]) and not lexicon_["predicates"].isdisjoint(words[1:at])


_OTHER: Final = 6  #: words behind a conjunction among which the verb of another clause stands


def _is_aside(words: list[str], begin: int, at: int, end: int, lexicon_: AlphabeticLexicon) -> bool:
    """Return whether what follows the comma at *at* only says more of a value: "is Tom Hale, Mill Lane"."""
    if "," in words[at + 1 : end] or "," in words[begin:at] or at + 1 >= end:
        return False
    return (
        lexicon_["be"].isdisjoint(words[at:end])
        and _AND.isdisjoint(words[at:end])
        and (not lexicon_["be"].isdisjoint(words[begin + 1 : at - 1]))
    )


_AND: Final = frozenset(("and", "und", "y", "et", "but", "aber", "pero", "mais"))
_AS: Final = frozenset(("as", "wie", "como", "comme"))
_CUTS: Final = _AND | {",", ":"}


def _begins_clause(words: list[str], at: int, lexicon_: AlphabeticLexicon) -> bool:
    """Return whether what follows a comma states something, denies something, or follows a remark."""
    before, after = words[: at - 1], words[at:]
    if after[:1] and after[0] in _AND and not lexicon_["clause_subjects"].isdisjoint(after[1:2]):
        after = after[1:]  # ", and she keeps the books"
    if not after:
        return False
    if after[0] in lexicon_["negation"] or after[0] in lexicon_["triggers"]:
        return True
    if len(before) <= 6 and not lexicon_["correction_heads"].isdisjoint(before):
        return True
    if after[0] in lexicon_["self"] and not lexicon_["correction_heads"].isdisjoint(after[1:4]):
        return True
    told = lexicon_["predicates"]
    if after[0] in lexicon_["clause_subjects"] and not told.isdisjoint(before):
        return True
    if not told.isdisjoint(before[1:]) and _speaks_of_another(words, at - 1, lexicon_):
        return True  # "drives a Zoe now, the Clio has broken down"
    if (
        _goes_on_without_subject(after, lexicon_)
        and not told.isdisjoint(before)
        and not _names_another(before, lexicon_)
    ):
        return True
    return (
        not told.isdisjoint(before)
        and not lexicon_["telling_verbs"].isdisjoint(after[:6])
        and before[0] not in lexicon_["prepositions"]
        and not _names_another(before, lexicon_)
    )


def _names_another(before: list[str], lexicon_: AlphabeticLexicon) -> bool:
    """Return whether a clause brings in somebody of whom the next one may speak: "tiene una hermana, vive en Lugo"."""
    return not lexicon_["indefinite"].isdisjoint(before) and not lexicon_["relations"].isdisjoint(before)


def _goes_on_without_subject(after: list[str], lexicon_: AlphabeticLexicon) -> bool:
    """Return whether a verb follows a comma of whom the clause before speaks: "ha vuelto a Lugo, vive en la playa"."""
    if not lexicon_["spoken_ends"] or len(after) < _SHORTEST or after[1] not in lexicon_["prepositions"]:
        return False
    lemma, is_past = lexicon_.verbs.get(after[0], ("", True))
    return not is_past and lemma in lexicon_["now_functional"]


_SHORTEST: Final = 3  #: words of such a clause
