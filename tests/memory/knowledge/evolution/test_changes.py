"""Plain sentences that tell of a change, in four languages, and near misses of them; each line is "older => new"."""

from pathlib import Path
from typing import Final

import pytest

from shelfd.memory.knowledge.evolution.deciding import Told, decide
from shelfd.memory.knowledge.evolution.lexicon import lexicon
from shelfd.memory.knowledge.evolution.numbering import numbered
from shelfd.memory.knowledge.evolution.reading import read
from shelfd.memory.knowledge.evolution.rewording import reword
from shelfd.memory.knowledge.evolution.slots import places_of
from shelfd.memory.knowledge.evolution.verdicts import Verdict
from shelfd.memory.knowledge.evolution.withdrawing import withdrawals

_DATA: Final = Path(__file__).parents[3] / "data"
SUPERSEDED: Final = (Verdict.UPDATED, Verdict.CORRECTED)


def pairs(name: str) -> list[tuple[str, str]]:
    lines = (_DATA / name).read_text(encoding="utf-8").splitlines()
    return [(older, new) for older, _, new in (line.partition(" => ") for line in lines)]


def verdict(older: str, new: str) -> Verdict:
    return decide(Told("new", new, 2), [Told("older", older, 1)])["older"].verdict


def numbers(text: str) -> tuple[set[int], set[int]]:
    """Return the numbers of the slots that a note stands in, and of those that it looks into."""
    said = read(text)
    found = numbered(places_of(said, withdrawals(text, said)), 0)
    return set(found.standing), set(found.of(found.subjects()))


@pytest.mark.parametrize(("older", "new"), [*pairs("changes.txt"), *pairs("changes_in_four_languages.txt")])
def test_a_change_supersedes_and_its_older_note_is_found(older: str, new: str) -> None:
    assert verdict(older, new) in SUPERSEDED
    assert numbers(older)[0] & numbers(new)[1]


@pytest.mark.parametrize(("older", "new"), [*pairs("near_misses.txt"), *pairs("near_misses_in_four_languages.txt")])
def test_a_near_miss_supersedes_nothing(older: str, new: str) -> None:
    assert verdict(older, new) not in SUPERSEDED


@pytest.mark.parametrize(
    ("older", "new", "expected"),
    [
        ("Morel est droitier.", "Morel est gaucher.", Verdict.CONFLICT),
        ("The backup of 12 May took 55 minutes.", "The backup of 12 May took 40 minutes.", Verdict.CONFLICT),
        ("Le roi Aldric est mort noyé.", "Le roi Aldric est mort empoisonné.", Verdict.CONFLICT),
        ("The report is not finished.", "The report is finished.", Verdict.CONFLICT),
        ("The report is not finished yet.", "The report is finished.", Verdict.UPDATED),
        ("The cup is light green.", "The cup is dark green.", Verdict.STAYS),
        ("Lusk is captain of the Heron.", "The captain of the Heron is Lusk.", Verdict.STAYS),
    ],
)
def test_what_neither_change_nor_near_miss_is(older: str, new: str, expected: Verdict) -> None:
    assert verdict(older, new) is expected


def test_what_came_of_something_is_read_as_its_state() -> None:
    for sentence, words, language, plain in (
        ("The pump was finally repaired by Tom.", ["repaired"], "en", "The pump is repaired now."),
        ("Die Pumpe wurde gestern repariert.", ["repariert"], "de", "Die Pumpe ist jetzt repariert."),
        ("Le colis est toujours en route.", ["route"], "fr", "Le colis est toujours en-route."),
        ("La bomba fue reparada en mayo.", ["reparada"], "es", "La bomba está arreglado ahora en mayo."),
        ("The pump that was repaired leaks.", ["repaired"], "en", "The pump that was repaired leaks."),
    ):
        assert reword(sentence, words, lexicon(language)) == plain


@pytest.mark.parametrize(
    "text",
    [
        "Der Drucker wurde " + "von " * 60 + "repariert x.",
        "Die Pumpe wurde " + "heute " * 45 + "repariert x.",
        "The pump was repaired " + "after " * 45 + "x,y",
        "La bomba fue " + "ya " * 90 + "reparada x",
        "La pompe a été " + "enfin " * 45 + "réparée x",
    ],
)
def test_a_sentence_that_goes_on_and_on_is_read_like_others(text: str) -> None:
    assert read(text)  # and not for minutes: patterns must not try all ways to cut it


@pytest.mark.parametrize("text", ["The house was \u017fold.", "The house is for \u017fale."])
def test_a_letter_that_a_pattern_takes_for_another_is_no_trouble(text: str) -> None:
    assert read(text)


def test_what_was_done_today_in_the_morning_is_done() -> None:
    assert verdict("Der Drucker ist kaputt.", "Der Drucker wurde heute Morgen von Tom endlich repariert.") in SUPERSEDED
