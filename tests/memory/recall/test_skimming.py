"""Texts that are read together say what each says alone, and what a look at words passes over is nothing."""

from hypothesis import given, settings
from hypothesis import strategies as st

from shelfd.memory.notes.latin import as_latin
from shelfd.memory.notes.words import fold
from shelfd.memory.recall import Analyzer
from shelfd.memory.recall.authors import Authors
from shelfd.memory.recall.dates import days_in_figures
from shelfd.memory.recall.document import Document, fields_of
from shelfd.memory.recall.document_reader import DocumentReader
from shelfd.memory.recall.meaning import answer_types_of, meaning_lists, types_of_characters
from shelfd.memory.recall.quantities import quantities
from shelfd.memory.recall.texts_together import read_together
from shelfd.memory.recall.vocabulary import Vocabulary
from shelfd.memory.recall.word_traits import TYPES, WordTraits, signs_of_words

_ANALYZER = Analyzer()
_PIECES = st.sampled_from(
    [
        *"5 km kms mph degrees C 1999 20.30 1,200 7:30 v1.2.3 1.2.3 030 1234 123456 km2 5km2 rev2 ft3".split(),
        *"x _ - / . ( ) % $".split(),
        *"2023-05-07 2023-05-07t10:30 7.5.2023 2023 05 7 a2023-05-07 _7.5.2023 1-2-3 v2 1.2 kg percent dollars".split(),
        *"£ € ° ½ é 日本 die das und nicht les des est Häuser ß Ærø « “ … ™ \xa0 Żółw 20€ ¥5 éA É/ü".split(" "),
        *"at by from around about five tennis past May clock".split(),
        *"o'clock yesterday last month ago two weeks three the of to a boat boats".split(),
        *"getUserName get_user-name a-b".split(),
        *("a/b", "me@example.org", "x::y", "\0", "\n", "\t", "?", "TOTAL", "HTTPServer", "st", "am"),
        *([" "] * 12),
    ]
)
_TEXTS = st.lists(st.lists(_PIECES, max_size=16).map("".join), min_size=1, max_size=6)


@settings(max_examples=400)
@given(_TEXTS)
def test_texts_read_together_say_what_each_says_alone(texts: list[str]) -> None:
    found = read_together(_ANALYZER, texts)
    together, skim = found.parsed(), found.skim
    assert together == [_ANALYZER.parse_text(text) for text in texts]
    for text, parsed, begin, end in zip(texts, together, skim.begins, skim.ends, strict=True):
        said = [_ANALYZER.traits.words[number] for number in skim.word_numbers[begin:end].tolist()]
        assert said == (parsed.words if (latin := as_latin(text)) is not None and b"\0" not in latin else [])


@settings(max_examples=400)
@given(_TEXTS)
def test_what_words_show_spares_no_look_that_would_find_something(texts: list[str]) -> None:
    words = _ANALYZER.words(texts[0])
    parsed = _ANALYZER.parse_text(texts[0])
    signs = signs_of_words(words, _ANALYZER.traits)
    shown = signs.bits & TYPES | types_of_characters(texts[0])
    types = answer_types_of(meaning_lists("english"), texts[0], shown, signs.numbers)
    assert parsed.answer_types == types
    if any(word[:1].isdigit() and word.isascii() for word in words):
        assert {*quantities(fold(texts[0])), *days_in_figures(fold(texts[0]))} <= set(parsed.beside)


@settings(max_examples=100)
@given(_TEXTS)
def test_documents_read_together_are_those_read_alone(texts: list[str]) -> None:
    documents = [_document(row, text) for row, text in enumerate(texts * 2)]
    vocabulary, authors = Vocabulary(_ANALYZER.term), Authors(_ANALYZER.words)
    some = DocumentReader(_ANALYZER, vocabulary, authors).read(documents, fields_of(documents))
    alone = DocumentReader(_ANALYZER, vocabulary, authors)
    few = [alone.read([document], fields_of([document])) for document in documents]
    assert some.written.terms.tolist() == [term for one in few for term in one.written.terms.tolist()]
    assert some.written.sizes.tolist() == [one.written.sizes.item() for one in few]
    for name, values in some.columns.items():
        assert list(values) == [one.columns[name][0] for one in few]


def test_forgotten_words_are_read_anew() -> None:
    analyzer = Analyzer()
    analyzer.traits = WordTraits("english", analyzer.lists, meaning_lists("english"), cached=3)
    reader = DocumentReader(analyzer, vocabulary := Vocabulary(analyzer.term), Authors(analyzer.words))
    for begin in range(5):
        texts = [f"crane{begin + at} lifts the {'Häuser' if at % 2 else 'harbour'} again" for at in range(5)]
        documents = [_document(row, text) for row, text in enumerate(texts)]
        read = reader.read(documents, fields_of(documents))
        terms = {vocabulary[word] for text in texts for word in analyzer.words(text)}
        assert terms <= set(read.written.terms.tolist())
    assert analyzer.traits.edition > 1


def _document(row: int, text: str) -> Document:
    return Document(
        row, f"n{row}", "memory", None, None, "Ana Lima", row * 10**13, text, "note", "note", "user:primary", "user",
        "general", (), hidden=False, superseded=False, expires_at=None,
    )  # fmt: skip
