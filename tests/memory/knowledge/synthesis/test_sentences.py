"""Sentences of a note, as they stand there."""

from hypothesis import given
from hypothesis import strategies as st

from shelfd.memory.knowledge.synthesis.sentences import sentences_of


def cut(text: str) -> list[str]:
    return list(sentences_of(text))


def test_a_sentence_ends_with_its_mark_or_its_line() -> None:
    assert cut("Tea is at five. Coffee is not!\nIs there cake? Yes") == [
        "Tea is at five.", "Coffee is not!", "Is there cake?", "Yes",
    ]  # fmt: skip
    assert cut("我们喝茶。你们好！") == ["我们喝茶。", "你们好！"]
    assert cut('He said "go now." Then he left.') == ['He said "go now."', "Then he left."]


def test_a_full_stop_that_belongs_to_a_word_ends_none() -> None:
    assert cut("Mr. Okafor and J. R. Smith come, e.g. today. Dr. Ito does not.") == [
        "Mr. Okafor and J. R. Smith come, e.g. today.", "Dr. Ito does not.",
    ]  # fmt: skip
    assert cut("Am 12. April um acht. Danach nicht.") == ["Am 12. April um acht.", "Danach nicht."]
    assert cut("Room 12. Ask there.") == ["Room 12.", "Ask there."]
    assert cut("Version 2.4.1 of app.py runs. Good.") == ["Version 2.4.1 of app.py runs.", "Good."]


def test_marks_of_lists_are_left_out() -> None:
    assert cut("- milk\n* bread\n2. eggs\n> said\n\n---") == ["milk", "bread", "eggs", "said"]


def test_nothing_is_longer_than_600_characters() -> None:
    found = cut("word " * 1_000 + "x" * 2_000)
    assert max(map(len, found)) <= 600
    assert "".join("".join(found).split()) == "word" * 1_000 + "x" * 2_000


@given(st.text(alphabet=st.sampled_from("ab .!?\n\"'-。12"), max_size=300))
def test_what_is_said_stands_in_the_text_in_order(text: str) -> None:
    flat, at = " ".join(text.split()), 0
    for sentence in sentences_of(text):
        at = flat.index(sentence, at)
        assert sentence.strip() == sentence != ""


def test_a_text_of_marks_takes_no_long_turn() -> None:
    for text in ("!! " * 90_000, ". " * 130_000, "a." * 130_000, "\n" * 200_000, "12. " * 60_000):
        assert sum(1 for _ in sentences_of(text)) < 20_000  # what backtracks takes longer than a test may
