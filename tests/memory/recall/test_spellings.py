"""Words found by a part of them, and by a spelling with slips."""

from hypothesis import given
from hypothesis import strategies as st

from shelfd.memory.facts.spelling import is_correctable, spelling_likeness
from shelfd.memory.recall import Analyzer
from shelfd.memory.recall.spellings import JoinedWords, Spellings
from shelfd.memory.recall.vocabulary import Vocabulary

LETTERS = st.text("abcß東🎉", min_size=1, max_size=4)


@given(st.lists(st.lists(LETTERS, max_size=9), max_size=4), LETTERS, st.booleans(), st.booleans())
def test_parts_are_found_where_they_are(added: list[list[str]], part: str, begins: bool, ends: bool) -> None:
    joined = JoinedWords()
    for words in added:
        joined.extend(words)
    every = [word for words in added for word in words]
    found = joined.find(part, 100, begins=begins, ends=ends)
    assert found == [
        at for at, word in enumerate(every)
        if part in word and (not begins or word.startswith(part)) and (not ends or word.endswith(part))
        and (not (begins and ends) or word == part)
    ]  # fmt: skip
    assert [joined[number] for number in found] == [every[number] for number in found]
    assert joined.find(part, 1, begins=begins, ends=ends) == found[:1]


def spellings_of(*words: str) -> tuple[Vocabulary, Spellings]:
    vocabulary = Vocabulary(Analyzer().term)
    for word in words:
        vocabulary[word]
    spellings = Spellings(vocabulary)
    while not spellings.follow():
        pass
    return vocabulary, spellings


@given(
    st.text("aeilnrst", min_size=3, max_size=10), st.lists(st.text("aeilnrst", min_size=1, max_size=10), max_size=40)
)
def test_of_few_words_all_likely_ones_are_found(word: str, words: list[str]) -> None:
    _, spellings = spellings_of(*words)
    likely = {known: spelling_likeness(word, known) for known in {*words} if is_correctable(known)}
    best = sorted((-likeness, known) for known, likeness in likely.items() if likeness)[:3]
    assert spellings.meant(word) == [(known, -likeness) for likeness, known in best]
