"""What rules take from a text: whole sentences without small talk, weighed; and how a text is cut."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shelfd.memory.knowledge.distilling.facts import DistilledFact, facts_by_rules, most_important
from shelfd.memory.knowledge.distilling.splitting import chunks, sentences


def facts(text: str) -> list[DistilledFact]:
    return [fact for fact in facts_by_rules(text) if fact is not None]


def said(text: str) -> list[str]:
    return [fact.text for fact in facts(text)]


CUT: list[tuple[str, list[str]]] = [
    ("Dr. Smith lives in St. Ives. He paints.", ["Dr. Smith lives in St. Ives.", "He paints."]),
    ("Version 2.4.1 is out! It costs 3.50 euros.", ["Version 2.4.1 is out!", "It costs 3.50 euros."]),
    ("J. R. Miller, e.g. the uncle, left.", ["J. R. Miller, e.g. the uncle, left."]),
    ("She said \u201cgo.\u201d Then she left.", ["She said \u201cgo.\u201d", "Then she left."]),
    ("- eggs are out\n- milk is low\n", ["eggs are out", "milk is low"]),
    ("First line\nSecond line", ["First line", "Second line"]),
    (
        "This line is wrapped because it is much too long for\none line of the page. Next.",
        ["This line is wrapped because it is much too long for one line of the page.", "Next."],
    ),
    ("彼は東京に住んでいる。猫が好きだ。", ["彼は東京に住んでいる。", "猫が好きだ。"]),
    ("Before.\n```\ncode. more code.\n```\nAfter.", ["Before.", "After."]),
    ("Really?! Yes... maybe. ", ["Really?!", "Yes...", "maybe."]),
    (" \n\n...\n", []),
]


@pytest.mark.parametrize(("text", "found"), CUT)
def test_sentences_end_where_they_end(text: str, found: list[str]) -> None:
    assert list(sentences(text)) == found


@given(st.text(alphabet="ab .!\n-1AD`。", max_size=300), st.integers(20, 80))
def test_chunks_hold_all_of_a_text_and_are_no_longer_than_wanted(text: str, size: int) -> None:
    found = chunks(text, size)
    assert "".join("".join(found).split()) == "".join(text.split())
    assert all(len(chunk) <= size for chunk in found)


def test_chunks_end_with_sentences() -> None:
    text = "Ada rode to the mill at noon. " * 40
    assert all(chunk.endswith(".") for chunk in chunks(text, 200))
    assert max(map(len, chunks(text, 200))) > 150


SMALL_TALK = (
    "Hi there!",
    "Thanks a lot for your help.",
    "How are you?",
    "Can you tell me where the mill is?",
    "Please send me the file.",
    "Guten Morgen!",
    "Vielen Dank und bis bald.",
    "Buenos días.",
    "谢谢。",
    "Findings and notes:",
    "Okay, great.",
)


@pytest.mark.parametrize("text", SMALL_TALK)
def test_small_talk_questions_and_requests_are_no_facts(text: str) -> None:
    assert said(text) == []


def test_a_statement_after_a_greeting_stays_without_it() -> None:
    assert said("Hi Bob, I moved to Lisbon in May. Thanks!") == ["I moved to Lisbon in May."]


def test_what_cannot_stand_alone_stays_with_what_it_is_about() -> None:
    text = "APT28 deployed X-Agent against a ministry. It runs on Windows and Linux. The team was paid."
    assert said(text) == [
        "APT28 deployed X-Agent against a ministry. It runs on Windows and Linux.",
        "The team was paid.",
    ]


def test_the_same_is_said_once() -> None:
    assert said("The pump is blue. The pump is BLUE! The pump is red.") == ["The pump is blue.", "The pump is red."]


ORDERED = [
    ("The weather was fine at the lake today, I think.", "The lake has a long shore."),
    ("The lake has a long shore.", "Ada is allergic to peanuts."),
    ("Somebody wrote a long report.", "CVE-2024-3094 is exploited by ransomware."),
    ("Der Bericht war recht lang geraten.", "Ada ist immer gegen Nüsse allergisch."),
]


@pytest.mark.parametrize(("less", "more"), ORDERED)
def test_what_lasts_weighs_more_than_what_passes(less: str, more: str) -> None:
    (one,), (other,) = facts(less), facts(more)
    assert one.importance < other.importance


@given(st.text(max_size=400))
def test_whatever_the_text_facts_are_weighed_from_1_to_10(text: str) -> None:
    assert all(1 <= fact.importance <= 10 and fact.text.strip() for fact in facts(text))


def test_the_most_important_are_kept_in_their_order() -> None:
    given_ = [DistilledFact(name, weight) for name, weight in (("a", 4), ("b", 9), ("c", 2), ("d", 4), ("e", 7))]
    assert [one.text for one in most_important(given_, at_least=3, most=3)] == ["a", "b", "e"]
    assert [one.text for one in most_important(given_, at_least=8, most=3)] == ["b"]


def test_a_long_text_without_an_end_is_read_in_time() -> None:
    """Linear: a pattern that backtracks would take hours."""
    for text in ("a" * 250_000, "." * 250_000, "A. " * 75_000, "\n- " * 75_000, "hi, " * 60_000):
        assert len(said(text)) < 1_000_000
