"""Latin text as one byte a character says the same of its words as the text does."""

import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shelfd.memory.notes.inference import NOTHING_KNOWN, infer, scopes_by_words
from shelfd.memory.notes.latin import _CHARACTERS, LETTERS, SIGNS, WORDS, as_latin, with_letters
from shelfd.memory.notes.words import characters, emoji, fold, split

_TEXT = st.text(_CHARACTERS[1:], max_size=40)
_WORDS = st.sampled_from(
    [
        *"server SERVER the-self «tool» éserver serverß assistant Aßistant aßiSTANT İdentity".split(),
        *"workſpace tool™ tool…".split(),
        *("persona\u0301", "edited\xa0task", "cmd·path", "日本 server", "ﬁle", "Kommand", " ", " ", "x"),
    ]
)


@settings(max_examples=500)
@given(_TEXT)
def test_words_are_those_of_the_folded_text(text: str) -> None:
    latin = as_latin(text)
    assert latin is not None
    assert len(latin) == len(text)
    folded = fold(text)
    assert with_letters(latin).translate(WORDS).decode().split() == split(folded)
    assert folded.isascii() == set(SIGNS.values()).isdisjoint(latin)


def test_ascii_is_itself_and_all_others_are_letters_or_none() -> None:
    ascii_only = "".join(map(chr, range(128)))
    assert as_latin(ascii_only) == ascii_only.encode()
    latin = as_latin(_CHARACTERS)
    assert latin == bytes(range(len(_CHARACTERS)))
    assert {byte for byte in range(128, 256) if chr(WORDS[byte]) not in " \0"} <= LETTERS | set(as_latin("™") or b"")
    assert set(map(chr, WORDS)) <= {" ", *string.ascii_lowercase, *string.digits}


@pytest.mark.parametrize("character", sorted(SIGNS))
def test_signs_are_in_no_word_and_no_pictures(character: str) -> None:
    folded = fold(f"a{character}b")
    assert split(folded) == ["a", "b"]
    assert not [*emoji(folded), *characters(folded)]


@pytest.mark.parametrize("text", ["日本", "e\u0301", "naïve 🙂", "Ω", "\ue000", "\u200b", "x\xad"])
def test_other_text_is_not_told_so(text: str) -> None:
    assert as_latin(text) is None


@settings(max_examples=300)
@given(st.lists(st.tuples(st.lists(_WORDS).map("".join), st.lists(_WORDS, max_size=2).map(tuple)), min_size=1))
def test_scopes_of_many_are_those_of_each(notes: list[tuple[str, tuple[str, ...]]]) -> None:
    alone = [infer("note", "", content, tags, NOTHING_KNOWN).scope for content, tags in notes]
    assert scopes_by_words(notes) == alone
