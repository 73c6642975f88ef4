"""Words by which it is seen that a pattern cannot fit."""

import json
from pathlib import Path

import pytest

from shelfd.memory.knowledge.evolution.leading import leading_words
from shelfd.memory.knowledge.evolution.lexicon import ALPHABETIC, lexicon, load
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


@pytest.mark.parametrize("language", ALPHABETIC)
def test_what_a_pattern_fits_has_one_of_its_words(language: str) -> None:
    words = lexicon(language)
    notes = [json.loads(line) for line in CASES.read_text("utf-8").splitlines()]
    texts = [note["text"] for case in notes for note in (case["new"], *case["older"]) if case["language"] == language]
    said = [tokenise(sentence, words).words for text in texts for sentence in END.split(text)]
    withdrawals = [(pattern, leading_words(pattern)) for _, pattern in load(f"{language}.json")["withdrawals"]]
    assert sum(bool(leading) for _, leading in withdrawals) > len(withdrawals) / 2
    fits = 0
    for _, pattern, leading in words.patterns:
        for each in said:
            if leading and pattern.match(" ".join(each)) is not None:
                fits += 1
                assert not leading.isdisjoint(each)
    assert fits
