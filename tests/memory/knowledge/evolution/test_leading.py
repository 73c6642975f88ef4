"""Words and parts of words by which it is seen that a pattern cannot fit."""

import json
from collections import Counter
from pathlib import Path

import pytest

from shelfd.memory.knowledge.evolution import rewording
from shelfd.memory.knowledge.evolution.leading import leading_words, needed_part
from shelfd.memory.knowledge.evolution.lexicon import ALPHABETIC, lexicon, load
from shelfd.memory.knowledge.evolution.marking import tells_of_past
from shelfd.memory.knowledge.evolution.reading import END
from shelfd.memory.knowledge.evolution.tokens import tokenise

CASES = Path(__file__).parents[4] / "benchmarks" / "data" / "evolution.jsonl"


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("no longer (?P<a>.+)", "no"),
        ("(?:not|no) (?P<a>.+)", "no not"),
        ("(?:stopped|gave up) (?P<a>.+)", "stopped gave"),
        ("^(?P<s>.+?) (?:has |have )?(?:stopped|gave up) (?P<a>.+)$", "stopped gave"),
        ("^(?P<s>.+?) (?:(?:was|were) )?(?:moved|put back) to (?P<b>.+)$", "moved put"),
        ("^(?P<s>.+?) (?:le |les )*(?:dio|dado) (?P<a>.+)$", "dio dado"),
        ("(?:, |and )not (?P<a>.+)", ", and"),
        ("(?:left|resigned (?:as|from)) (?P<a>.+)", "left resigned"),
        ("moved(?: back)? to (?P<b>.+)", ""),  # "movedto" is not what it means, but nothing says so
        ("(?:re)?moved (?P<a>.+)", ""),
        ("(?:re|un)(?:moved|done) (?P<a>.+)", ""),
        ("(?:replace[sd]|swapped) (?P<a>.+)", ""),
        ("(?P<a>.+) again", ""),
    ],
)
def test_words_that_a_pattern_begins_with(pattern: str, words: str) -> None:
    assert leading_words(pattern) == frozenset(words.split())


@pytest.mark.parametrize(
    ("pattern", "part"),
    [
        ("^(?P<b>[^,]+?) (?:has )?(?:took|takes) over (?P<s>.+)", " over "),
        ("(?P<v>moved|raised):? (?P<a>\\S+) from (?P<b>[a-z from]+)", " from "),
        ("^(?P<s>.+?) (?:has |have )?(?:sold|lost) (?P<a>.+)$", " "),
        ("any longers?(?=[.!;,]|$)", "any longer"),  # the last letter may be missing
        ("any longer{0,2}", "any longe"),
        ("any longer+", "any longer"),
        ("ab.cdef.g", "cdef"),
        ("(?:over|under)", ""),
        ("in my office|at work", ""),  # either
        ("ends\\.here", "ends"),
        ("[^(]down(?!\\))", "down"),
        ("(?i:Over) Here", " Here"),
    ],
)
def test_what_stands_in_all_that_a_pattern_fits(pattern: str, part: str) -> None:
    assert needed_part(pattern) == part


@pytest.mark.parametrize("language", ALPHABETIC)
def test_what_a_pattern_fits_has_its_words_and_its_part(language: str) -> None:
    words = lexicon(language)
    said = [tokenise(sentence, words).words for sentence in _sentences(language)]
    fits = 0
    for place, (_, pattern, part) in enumerate(words.patterns):
        for each in said:
            if pattern.match(" ".join(each)) is not None:
                fits += 1
                assert part in " ".join(each)
                assert any(place in words.patterns_of.get(word, ()) for word in ("", *each))
    assert fits


@pytest.mark.parametrize("language", ALPHABETIC)
def test_a_roundabout_form_has_its_part(language: str) -> None:
    _, forms, _ = rewording._rewordings(language)
    texts = _sentences(language)
    fits = [(form, text) for form in forms for text in texts if form.pattern.search(text) is not None]
    assert fits
    assert all(form.part in text.lower() for form, text in fits if text.isascii())


@pytest.mark.parametrize("language", ALPHABETIC)
def test_the_fragments_of_patterns_are_those_that_are_named_and_each_is_used_more_than_once(language: str) -> None:
    data = load(f"{language}.json")
    fragments: dict[str, str] = data.get("fragments", {})
    patterns = [*fragments.values(), *(pattern for _, pattern, _, _ in data["rewordings"])]
    times = Counter(name for pattern in patterns for name in rewording._FRAGMENT.findall(pattern))
    assert times.keys() == fragments.keys()
    assert [name for name, count in times.items() if count == 1] == []


@pytest.mark.parametrize("language", ALPHABETIC)
def test_no_roundabout_form_is_looked_for_by_the_name_of_a_fragment(language: str) -> None:
    _, forms, _ = rewording._rewordings(language)
    assert [form for form in forms if rewording._FRAGMENT.search(form.pattern.pattern + form.part)] == []


@pytest.mark.parametrize("language", ALPHABETIC)
def test_what_came_of_something_is_said_with_the_words_that_it_is_looked_for_by(language: str) -> None:
    words, results = lexicon(language), rewording._results(language)
    wordings = [wording for states in results.states.values() for wording in states]
    texts = [f"{begin} {wording}." for wording in wordings for begin in ("The gate", "Gate 5", "A las 9")]
    texts += [text for text in _sentences(language) if results.pattern.search(text) is not None]
    for text in texts:
        said = tokenise(text, words).words
        if needed := [needed for last, needed in results.words.items() if last in said]:
            assert any("" in each or not each.isdisjoint(said) for each in needed), text
    assert any("" not in each for each in results.words.values())


@pytest.mark.parametrize("language", ALPHABETIC)
def test_an_earlier_time_is_seen_in_all_its_wordings(language: str) -> None:
    words = lexicon(language)
    wordings = load(f"{language}.json")["past_phrases"].split("|")
    for said in [f"a {wording} b" for wording in wordings] + _sentences(language):
        is_past = words.past.search(said) is not None and words.recent.search(said) is None
        assert tells_of_past(said.split(" "), words) == is_past, said


def _sentences(language: str) -> list[str]:
    notes = [json.loads(line) for line in CASES.read_text("utf-8").splitlines()]
    texts = [note["text"] for case in notes for note in (case["new"], *case["older"]) if case["language"] == language]
    return [sentence for text in texts for sentence in END.split(text)]
