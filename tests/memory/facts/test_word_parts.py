"""Words found by a part of them: what a look at every word finds."""

from hypothesis import given
from hypothesis import strategies as st

from shelfd.memory.facts.word_parts import WordParts

WORDS = st.lists(st.text("abç.*", min_size=1, max_size=5), unique=True, max_size=40)


def parts_of(words: list[str]) -> WordParts:
    parts = WordParts()
    for word in words:
        parts.append(word)
    return parts


@given(WORDS, st.text("abç.*", min_size=1, max_size=3))
def test_a_part_finds_the_words_that_have_it(words: list[str], part: str) -> None:
    parts = parts_of(words)
    assert len(parts) == len(words)
    assert parts.find(part) == [number for number, word in enumerate(words) if part in word]
    assert parts.find(part, begins=True) == [number for number, word in enumerate(words) if word.startswith(part)]
    assert parts.find(part, ends=True) == [number for number, word in enumerate(words) if word.endswith(part)]


def test_many_words_are_found_like_few() -> None:
    words = [f"w{number}x" for number in range(2_000)]
    parts = parts_of(words)
    for part in ("w1", "7x", "w1999x", "99"):
        assert parts.find(part) == [number for number, word in enumerate(words) if part in word]
        assert parts.find(part, ends=True) == [number for number, word in enumerate(words) if word.endswith(part)]
        assert parts.find(part, begins=True) == [number for number, word in enumerate(words) if word.startswith(part)]
