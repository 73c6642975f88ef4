"""Short cuts in reading: what is found sooner is what the plain way finds."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shelfd.memory.knowledge.evolution.numbering import numbered
from shelfd.memory.knowledge.evolution.reading import END, read
from shelfd.memory.knowledge.evolution.slots import places_of
from shelfd.memory.knowledge.evolution.tokens import TOKEN, split
from shelfd.memory.knowledge.graph.clauses import sentences

PARTS = (
    "Dr. Mr. St. Mrs. a b. B. Tom is was has 3. 60,000 10:00 don't e.g. no. , : ; ! ? . ... ( ) \" ” ' ] 。 ！ é"
    " \n \n\n \t \x1c \u3000 The the"
).split(" ")
texts = st.lists(st.tuples(st.sampled_from(PARTS), st.sampled_from((" ", " ", "", "  ")))).map(
    lambda parts: "".join(part + blank for part, blank in parts)
)

#: Where sentences end, written from what stands before to what follows.
PLAIN_END = re.compile(
    r"(?<!\bDr\.)(?<!\bMr\.)(?<!\bMs\.)(?<!\bSt\.)(?<!\bMrs\.)(?<!\d\.)(?<=[.!?;])\s+"
    r"|(?<=\d\.)\s+(?=[A-Z][a-z]+ (?:is|was|has)\b)|\n+"
)
PLAIN_GAP = re.compile(r"(?<=[.!?])[\"”')\]]*\s+(?=[\"“'(\[]?[^\Wa-z_])|(?<=[。！？])")
SHORTENED = re.compile(r"\b(?:dr|mr|mrs|ms|prof|st|vs|inc|no|e\.g|i\.e|approx|[A-Za-z])\.$", re.IGNORECASE)


@given(texts | st.text(max_size=60))
@settings(deadline=None, max_examples=200)
def test_words_are_those_of_their_pattern(text: str) -> None:
    assert split(text) == TOKEN.findall(text)


def test_a_word_that_is_all_endings_stays_a_word() -> None:
    mixed = (
        "Le serveur de fichiers a été migré de Lyon à Roubaix."
        " Der Hofschreiber von Prinz Ludger kam im Jahr 409 an den Hof."
    )
    first, _ = read(mixed)  # as German, in which "ete" would be a verb's ending
    assert first.verb == "ete"
    assert all(first.words)
    assert numbered(places_of([first], ()), 1).standing


@given(texts)
@settings(deadline=None, max_examples=200)
def test_a_note_is_cut_where_its_sentences_end(text: str) -> None:
    assert END.split(text) == PLAIN_END.split(text)


@given(texts)
@settings(deadline=None, max_examples=200)
def test_a_line_is_cut_where_its_sentences_end(text: str) -> None:
    found, begin = [], 0
    for gap in PLAIN_GAP.finditer(text):
        if SHORTENED.search(text, max(begin, gap.start() - 8), gap.start()) is None:
            found.append((begin, gap.start()))
            begin = gap.end()
    if begin < len(text):
        found.append((begin, len(text)))
    assert list(sentences(text)) == found


@pytest.mark.parametrize(
    "text",
    [
        "Der die das und mit von zu bei nach aus dem den des ein eine einer Haus.",
        "The -level of the tank is 4.",
        "Der -pegel des Tanks ist 4.",
        "The tank- level- is 40 percent.",
    ],
)
def test_what_is_written_oddly_is_read(text: str) -> None:
    assert numbered(places_of(read(text), ()), 0).standing


@pytest.mark.parametrize(("sentence", "verb"), [("We tour with a van.", "tour"), ("Ida indents Go files.", "indent")])
def test_a_verb_is_known_though_it_ends_like_a_noun_or_stands_before_a_name(sentence: str, verb: str) -> None:
    assert [statement.verb for statement in read(sentence)] == [verb]
