"""Words, spellings and how rare they are."""

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.facts.keysets import OWNERS, THINGS
from shelfd.memory.facts.lexicon import Lexicon, content_words
from shelfd.memory.facts.spelling import Meant, is_correctable, spelling_likeness, understood

words = st.text(alphabet="abcd", max_size=10)


def plain_distance(a: str, b: str) -> int:
    """The optimal string alignment distance, written down as it is defined."""
    table = {(i, 0): i for i in range(len(a) + 1)} | {(0, j): j for j in range(len(b) + 1)}
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            same = a[i - 1] == b[j - 1]
            table[i, j] = min(table[i - 1, j] + 1, table[i, j - 1] + 1, table[i - 1, j - 1] + (not same))
            if i > 1 and j > 1 and a[i - 1] == b[j - 2] and a[i - 2] == b[j - 1]:
                table[i, j] = min(table[i, j], table[i - 2, j - 2] + 1)
    return table[len(a), len(b)]


@given(words, words)
def test_one_slip_is_forgiven_in_a_word_and_two_in_a_long_one(a: str, b: str) -> None:
    edits, forgiven = plain_distance(a, b), 2 if min(len(a), len(b)) >= 8 else 1
    if edits <= forgiven:
        assert spelling_likeness(a, b) == 1 - edits / (max(len(a), len(b)) + 1)
    else:
        assert spelling_likeness(a, b) in (0, 0.75)  # 0.75 for two endings of one stem


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("what is the deploy command?", ("deploy", "command")),
        ("user:theme", ("user", "theme")),
        ("python-version", ("python", "version")),
        ("What is the NAME of the dog", ("name", "dog")),
        ("is it", ("is", "it")),
        ("Crème brûlée", ("creme", "brulee")),
        ("东京天气", ("东京", "京天", "天气")),
        ("любимый цвет", ("любимыи", "цвет")),
        ("", ()),
        ("?!", ()),
    ],
)
def test_content_words_of_any_script(text: str, found: tuple[str, ...]) -> None:
    assert content_words(text) == found


@pytest.mark.parametrize(("a", "b"), [("anchor", "anchr"), ("anchor", "nachor"), ("anchor", "anchoor"), ("cat", "cut")])
def test_a_slip_of_the_pen_is_alike(a: str, b: str) -> None:
    assert spelling_likeness(a, b) == spelling_likeness(b, a) >= 0.7


@pytest.mark.parametrize(("a", "b"), [("deploy", "deploying"), ("color", "colors"), ("version", "versioned")])
def test_endings_of_one_stem_are_alike(a: str, b: str) -> None:
    assert spelling_likeness(a, b) >= 0.7


@pytest.mark.parametrize(
    ("a", "b"), [("budget", "basket"), ("abcd", "dcba"), ("cat", "dog"), ("plan", "planetary"), ("forecast", "forest")]
)
def test_other_words_are_not_alike(a: str, b: str) -> None:
    assert spelling_likeness(a, b) == 0


def test_numbers_short_words_and_what_is_too_long_for_a_word_are_never_corrected() -> None:
    assert not any(is_correctable(word) for word in ("2024", "v2", "a", "is", "3rd", "ab" * 25))
    assert is_correctable("cat")
    assert is_correctable("donaudampfschifffahrtselektrizitaetenhaupt")


def test_words_as_long_as_a_text_are_not_compared_letter_by_letter() -> None:
    drawn = random.Random(5)
    # Comparing letter by letter takes time with the square of the length: here, over the limit of a test.
    data = "".join(drawn.choices("abcdefgh", k=64_000))
    lexicon = Lexicon()
    lexicon.total = 1
    lexicon.add(f"x{data}y")

    assert understood([f"z{data}w", "cat"], lexicon) == [[], []]
    assert understood([f"x{data}y"], lexicon) == [[Meant(f"x{data}y", 1.0)]]


def lexicon_of(*known: str) -> Lexicon:
    lexicon = Lexicon()
    for word in known:
        lexicon.add(word)
    lexicon.total = len(known)
    return lexicon


def test_rarer_words_weigh_more() -> None:
    lexicon = lexicon_of("the", "the", "the", "dog")
    assert lexicon.rarity("dog") == pytest.approx(math.log(5))
    assert lexicon.rarity("the") < lexicon.usual_rarity() < lexicon.rarity("dog")


def test_a_misspelt_word_means_the_known_one() -> None:
    lexicon = lexicon_of("anchor", "basket", "castle", "2024")
    assert lexicon.meant("anchro")[0].word == "anchor"
    assert lexicon.meant("2023") == []
    assert lexicon.meant("zebra") == []
    assert Lexicon().meant("anchor") == []


def test_a_forgotten_word_is_meant_no_more_and_its_place_is_used_again() -> None:
    lexicon = lexicon_of("anchor", "anchor")
    lexicon.discard("anchor")
    assert "anchor" in lexicon
    lexicon.discard("anchor")
    assert "anchor" not in lexicon
    assert lexicon.meant("anchr") == []
    lexicon.add("zebra")
    assert len(lexicon) == 1
    assert lexicon.meant("zebr") == [Meant("zebra", 1 - 1 / 6)]


def test_every_slip_in_a_big_lexicon_finds_its_word() -> None:
    drawn = random.Random(3)
    filler = ["".join(drawn.choices("abcdefghijklmnopqrstuvwxyz", k=drawn.randint(4, 9))) for _ in range(5000)]
    lexicon = lexicon_of(*dict.fromkeys([*filler, *OWNERS, *THINGS]))
    slips = [(word, word[:at] + word[at + 1 :]) for word in OWNERS + THINGS for at in range(1, len(word))]
    right = sum(word in {meant.word for meant in lexicon.meant(slip)} for word, slip in slips if slip not in lexicon)
    assert right / len(slips) > 0.97


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        (("deploy", "command"), [["deploy"], ["command"]]),
        (("deploycommand",), [["deploy"], ["command"]]),
        (("deployxcommand",), [["deploy"], ["command"]]),
        (("dep", "loy", "command"), [["deploy"], ["command"]]),
        (("comand",), [["command"]]),
        (("zebra", "deploy"), [[], ["deploy"]]),
        ((), []),
    ],
)
def test_words_of_a_query_are_understood(asked: tuple[str, ...], meant: list[list[str]]) -> None:
    lexicon = lexicon_of("deploy", "command")
    assert [[word for word, _ in group] for group in understood(asked, lexicon)] == meant
