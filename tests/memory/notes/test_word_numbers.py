"""What is known of words is found as a dict finds it."""

import random

import pytest

from shelfd.memory.notes.word_numbers import LONGEST, WordNumbers

UNKNOWN = -7


def table_of(known: dict[bytes, int], *, at_once: int) -> list[WordNumbers]:
    """What is known, as it is kept for many words and for few."""
    tables, words = [WordNumbers(UNKNOWN), WordNumbers(UNKNOWN, is_rare=True)], list(known)
    for begin in range(0, len(words), at_once):
        some = words[begin : begin + at_once]
        for table in tables:
            table.add(some, [known[word] for word in some])
    return tables


def found(tables: list[WordNumbers], text: bytes) -> list[tuple[bytes, int]]:
    """The words of *text*, and what each table has of each."""
    all_found = []
    for table in tables:
        begins, ends, values = table.find(text)
        places = zip(begins.tolist(), ends.tolist(), strict=True)
        all_found.append(list(zip((text[begin:end] for begin, end in places), values.tolist(), strict=True)))
    assert all(other == all_found[0] for other in all_found)
    return all_found[0]


def expected(known: dict[bytes, int], text: bytes) -> list[tuple[bytes, int]]:
    """The same by a dict."""
    return [(word, known.get(word, UNKNOWN)) for word in text.split(b" ") if word]


@pytest.mark.parametrize("at_once", [1, 7, 10_000])
@pytest.mark.parametrize("letters", [b"a", b"ab", b"\0a", b"abcdefgh", bytes(range(33, 256))])
def test_words_of_any_length_are_told_from_their_beginnings_and_their_likes(letters: bytes, at_once: int) -> None:
    draw = random.Random(len(letters))
    words = sorted({bytes(draw.choices(letters, k=draw.randint(1, LONGEST))) for _ in range(800)})
    known = {word: draw.randrange(-(1 << 60), 1 << 60) for word in words[::2]}
    texts = [*words, *(word[:-1] for word in words), *(word + letters[:1] for word in words)]
    draw.shuffle(texts)
    text = b" ".join(texts)
    table = table_of(known, at_once=at_once)

    assert found(table, text) == expected(known, text)
    assert found(table, b"  " + text.replace(b" ", b"   ") + b" ") == expected(known, text)


def test_a_word_that_begins_like_the_longest_known_one_is_another() -> None:
    known, longer = b"x" * LONGEST, b"x" * (LONGEST + 1)
    table = table_of({known: 1}, at_once=1)
    assert found(table, known + b" " + longer) == [(known, 1), (longer, UNKNOWN)]


def test_zeros_at_the_end_of_a_word_count() -> None:
    known = {b"end": 1, b"end\0\0": 2, b"\0": 3}
    text = b"end end\0 end\0\0 end\0\0\0\0\0\0\0 \0 \0\0"
    assert found(table_of(known, at_once=3), text) == expected(known, text)


@pytest.mark.parametrize("text", [b"", b" ", b"    "])
def test_text_without_words_has_none(text: bytes) -> None:
    assert found(table_of({b"word": 1}, at_once=1), text) == []


def test_an_empty_table_knows_nothing() -> None:
    assert found(table_of({}, at_once=1), b"a word") == [(b"a", UNKNOWN), (b"word", UNKNOWN)]
