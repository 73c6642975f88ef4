"""Changes that are no news to an older note: of a year before it, undone since, or for a while."""

from datetime import UTC, datetime
from typing import Final

import pytest

from shelfd.memory.knowledge.evolution.deciding import Told, decide
from shelfd.memory.knowledge.evolution.verdicts import Verdict

OLDER: Final = datetime(2026, 5, 2, tzinfo=UTC)
NEWER: Final = datetime(2026, 9, 3, tzinfo=UTC)


def micros(when: datetime) -> int:
    return int(when.timestamp()) * 1_000_000


def verdict(older: str, new: str, *, told: datetime = OLDER) -> Verdict:
    return decide(Told("new", new, micros(NEWER)), [Told("older", older, micros(told))])["older"].verdict


@pytest.mark.parametrize(
    ("older", "new"),
    [
        ("Anna lives in Berlin.", "Anna moved to Hamburg in 1999."),
        ("Anna lives in Berlin.", "In 1999 Anna moved to Hamburg."),
        ("Anna lives in Berlin.", "Anna moved to Hamburg in March 2021."),
        ("Kim is pregnant.", "Kim had her baby in 2015."),
        ("The limit is 10 MB.", "The limit was raised to 5 MB in 2010."),
        ("Anna works at Acme.", "Anna left Acme on 3 May 2019."),
        ("Anna vive en Berlín.", "Anna se mudó a Hamburgo en 1999."),
        ("Anna habite à Berlin.", "Anna a déménagé à Hambourg en 1999."),
    ],
)
def test_what_changed_in_a_former_year_updates_nothing_that_was_told_since(older: str, new: str) -> None:
    assert verdict(older, new) is Verdict.STAYS
    for year in ("1999", "2021", "2015", "2010", "2019"):
        new = new.replace(year, "2026")
    assert verdict(older, new) is Verdict.UPDATED


@pytest.mark.parametrize(
    ("older", "new"),
    [
        ("Anna lives in Berlin.", "Anna lives in Rome until 2015."),
        ("Pilar trabaja en Indra.", "Pilar trabaja en Telefónica hasta 2015."),
        ("Ida wohnt in Bremen.", "Ida wohnt bis 2015 in Köln."),
    ],
)
def test_what_was_so_until_a_former_year_updates_nothing(older: str, new: str) -> None:
    assert verdict(older, new) is Verdict.STAYS


def test_what_was_told_of_that_time_is_updated() -> None:
    then = datetime(1997, 1, 1, tzinfo=UTC)
    assert verdict("Anna lives in Berlin.", "Anna moved to Hamburg in 1999.", told=then) is Verdict.UPDATED


def test_a_year_that_is_corrected_is_a_value() -> None:
    older, new = "The harbour wall was built in 1912.", "Correction: the harbour wall was built in 1921."
    assert verdict(older, new) is Verdict.CORRECTED


@pytest.mark.parametrize(
    ("older", "new"),
    [
        ("Anna works at Acme.", "Anna left Acme and came back."),
        ("Anna works at Acme.", "Anna left Acme in spring but returned in August."),
        ("Anna lives in Berlin.", "Anna moved to Hamburg but came back to Berlin."),
        ("Anna wohnt in Berlin.", "Anna ist nach Hamburg gezogen, aber sie ist nach Berlin zurückgekehrt."),
    ],
)
def test_who_came_back_is_where_they_were(older: str, new: str) -> None:
    assert verdict(older, new) is Verdict.STAYS


def test_who_left_and_returned_elsewhere_is_no_longer_there() -> None:
    assert verdict("Theo is in hospital.", "Theo left hospital and returned home.") is Verdict.UPDATED


@pytest.mark.parametrize("why", ["for lunch", "for the weekend", "for a meeting"])
def test_who_left_for_a_while_is_there_again(why: str) -> None:
    assert verdict("Anna works at Acme.", f"Anna left Acme {why}.") is Verdict.STAYS
    assert verdict("Anna works at Acme.", "Anna left Acme for Initech.") is Verdict.UPDATED
