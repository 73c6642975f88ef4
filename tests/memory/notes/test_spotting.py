"""Known words are found among others as a dict finds them."""

import random

import pytest

from shelfd.memory.notes.spotting import LONGEST, Spotter


def found(known: list[bytes], text: bytes) -> list[tuple[bytes, int]]:
    """The words of *text*, each with its number."""
    begins, ends, numbers = Spotter(known).spot(text)
    places = zip(begins.tolist(), ends.tolist(), strict=True)
    return list(zip((text[begin:end] for begin, end in places), numbers.tolist(), strict=True))


def expected(known: list[bytes], text: bytes) -> list[tuple[bytes, int]]:
    """The same by a dict."""
    numbers = {word: number for number, word in enumerate(known, 1)}
    return [(word, numbers.get(word, 0)) for word in text.split(b" ") if word]


@pytest.mark.parametrize("letters", [b"a", b"ab", b"abcdefgh", bytes(range(33, 256))])
def test_words_of_any_length_are_told_from_their_beginnings_and_their_likes(letters: bytes) -> None:
    draw = random.Random(len(letters))
    words = sorted({bytes(draw.choices(letters, k=draw.randint(1, LONGEST))) for _ in range(400)})
    known = words[::2]
    texts = [*words, *(word[:-1] for word in words), *(word + letters[:1] for word in words)]
    draw.shuffle(texts)
    text = b" ".join(texts)

    assert found(known, text) == expected(known, text)
    assert found(known, b"  " + text.replace(b" ", b"   ") + b" ") == expected(known, text)


def test_a_word_that_begins_like_the_longest_known_one_is_another() -> None:
    known = [b"x" * LONGEST]
    assert found(known, b"x" * LONGEST + b" " + b"x" * (LONGEST + 1)) == [
        (b"x" * LONGEST, 1),
        (b"x" * (LONGEST + 1), 0),
    ]


@pytest.mark.parametrize("text", [b"", b" ", b"    "])
def test_text_without_words_has_none(text: bytes) -> None:
    assert found([b"word"], text) == []


@pytest.mark.parametrize("word", [b"x" * (LONGEST + 1), b"a\0b"])
def test_a_word_that_is_too_long_or_has_a_zero_cannot_be_known(word: bytes) -> None:
    with pytest.raises(ValueError, match="too long"):
        Spotter([word])


def test_a_known_word_with_zeros_behind_it_is_another() -> None:
    assert found([b"end"], b"end end\0 end\0\0\0\0\0\0") == [(b"end", 1), (b"end\0", 0), (b"end\0\0\0\0\0\0", 0)]
