"""Notes that say the same: told by their words, whatever is looked at first."""

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from shelfd.memory.notes.note import BLANK, Note
from shelfd.memory.recall.analyzer import Analyzer
from shelfd.memory.recall.repetitions import Repetitions

_ANALYZER = Analyzer()
_WORDS = st.one_of(
    st.sampled_from(
        "Then the A an cafe Café naïve straße STRASSE 42 ½ 1½ hat tent C++ C# Ａ 東京 😀 don't o'clock".split()
    ),
    st.text(max_size=6),
)
_BETWEEN = st.sampled_from([" ", ", ", ". ", " the ", " a ", " An ", " \u2014 ", "\u2026 ", " \t", " + "])


def note(row: int, content: str, title: str = "") -> Note:
    return BLANK._replace(row=row, id=f"n_{row}", content=content, title=title)


@st.composite
def variants(draw: st.DrawFn) -> tuple[str, str]:
    """Two texts of about the same words."""
    words = draw(st.lists(_WORDS, max_size=6))
    changes = (str, str.upper, str.lower, str.title, lambda word: unicodedata.normalize("NFD", word))
    return tuple(  # type: ignore[return-value]
        "".join(draw(st.sampled_from(changes))(word) + draw(_BETWEEN) for word in words) for _ in range(2)
    )


@given(variants(), variants())
def test_what_says_the_same_is_never_passed_over(content: tuple[str, str], title: tuple[str, str]) -> None:
    one, other = (note(row, content[row], title[row]) for row in range(2))
    repetitions = Repetitions(_ANALYZER)
    is_same = repetitions.sign(one) == repetitions.sign(other)
    assert repetitions.are_there([one, other]) is is_same


@given(st.text(), st.text())
def test_any_two_texts_are_compared_by_their_words(one: str, other: str) -> None:
    repetitions = Repetitions(_ANALYZER)
    some = [note(0, one), note(1, other)]
    assert repetitions.are_there(some) is (repetitions.sign(some[0]) == repetitions.sign(some[1]))


def test_texts_of_many_pages_say_the_same_if_they_are_equal() -> None:
    long = "word " * 1_000
    repetitions = Repetitions(_ANALYZER)
    assert repetitions.are_there([note(0, long), note(1, long)])
    assert not repetitions.are_there([note(0, long), note(1, long + ".")])
