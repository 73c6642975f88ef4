"""What is taken out of a text, and what is not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shelfd.memory.tending.reflection.normalising import normalised

SENTENCE = "The build runs every night."


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("one  \ntwo\t", "one\ntwo"),
        ("one\n\n\n\ntwo", "one\n\ntwo"),
        ("\n\none\n\n", "one"),
        ("one\none\none", "one"),
        ("```x``` is code\none\none", "```x``` is code\none"),
        (f"{SENTENCE}\nother\n{SENTENCE}", f"{SENTENCE}\nother"),
        (f"{SENTENCE}\n\n{SENTENCE}\n\nend", f"{SENTENCE}\n\nend"),
        ("今日はとても良い天気です。\n次\n今日はとても良い天気です。", "今日はとても良い天気です。\n次"),
        ("एक दो तीन चार।\nबीच\nएक दो तीन चार।", "एक दो तीन चार।\nबीच"),
        ("Сборка идёт каждую ночь!\nдалее\nСборка идёт каждую ночь!", "Сборка идёт каждую ночь!\nдалее"),
        ('He said "it is all fine."\nx\nHe said "it is all fine."', 'He said "it is all fine."\nx'),
    ],
)
def test_repetitions_go(content: str, expected: str) -> None:
    assert normalised(content) == expected


@pytest.mark.parametrize(
    "content",
    [
        "yes\nno\nyes",  # too short for a sentence
        "one two three four\nx\none two three four",  # ends no sentence
        "Yes, of course.\nx\nYes, of course.",  # three words
        "```\nx = 1\nx = 1\n\n\n\ny = 2  \n```",
        "~~~ python\nx = 1\nx = 1\n~~~",
        "    x = 1\n    x = 1\n\tx = 1\n\tx = 1",
        "- milk\n- milk\n* tea\n* tea\n1. one\n1. one\n  - deep\n  - deep",
        "• milk\n• milk\na) one\na) one",
        "| a | b |\n| a | b |\na | b | c\na | b | c",
        "a | b\n--- | ---\nx | y\nx | y",
        "(1) one\n(1) one\nii. two\nii. two\n1000. many\n1000. many",
        "– milk\n– milk\n·tea\n·tea\n[ ] water\n[ ] water\n*\n*",
        "\u3000deep\n\u3000deep",
        "````\n```\nx = 1\nx = 1\n```\n````",
        "```\n```python\nx = 1\nx = 1\n```",
        "~~~~\n~~~\nx = 1\nx = 1\n~~~~",
        "> said twice\n> said twice",
        "```\nnever closed\nnever closed\n\n\n",
        "",
    ],
)
def test_what_is_laid_out_stays(content: str) -> None:
    assert normalised(content) == content


LINES = st.sampled_from(
    [
        "",
        " ",
        "a",
        "b",
        "a ",
        SENTENCE,
        SENTENCE + " ",
        "- a",
        "    x",
        "```",
        "~~~",
        "> q",
        "|x|",
        "Is it so, my dear?",
    ]
)


@given(st.lists(LINES, max_size=14).map("\n".join))
def test_twice_is_once(content: str) -> None:
    once = normalised(content)
    assert normalised(once) == once
    assert {line.rstrip() for line in once.split("\n")} <= {line.rstrip() for line in content.split("\n")} | {""}


@given(st.lists(LINES, max_size=14).map("\n".join))
def test_no_line_is_lost(content: str) -> None:
    kept = {line.rstrip() for line in normalised(content).split("\n")}
    assert {line.rstrip() for line in content.split("\n")} - {""} <= kept
