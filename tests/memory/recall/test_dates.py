"""Explicit dates of queries and how documents' days are graded against them."""

from datetime import date

import numpy as np
import pytest

from shelfd.memory.recall.analyzer import Analyzer
from shelfd.memory.recall.dates import date_grades, days_in_figures, explicit_dates


def grade(query: str, day: date) -> float:
    return float(date_grades(np.array([day.toordinal()], np.int32), explicit_dates(query))[0])


@pytest.mark.parametrize(
    "query",
    ["on 2023-05-07", "7 may 2023", "7th of may 2023", "may 7, 2023", "may 7th 2023?", "may 07 2023", "7 may, 2023"],
)
@pytest.mark.parametrize(
    ("day", "expected"),
    [
        (date(2023, 5, 5), 0.0),
        (date(2023, 5, 6), 0.6),
        (date(2023, 5, 7), 1.0),
        (date(2023, 5, 8), 1.0),
        (date(2023, 5, 17), 0.6),
        (date(2023, 5, 18), 0.0),
    ],
)
def test_a_day(query: str, day: date, expected: float) -> None:
    assert grade(query, day) == expected


@pytest.mark.parametrize("query", ["in december 2023", "dec 2023", "2023-12", "31 december of 2023"[3:]])
@pytest.mark.parametrize(
    ("day", "expected"),
    [
        (date(2023, 11, 30), 0.0),
        (date(2023, 12, 31), 1.0),
        (date(2024, 1, 15), 0.3),
        (date(2024, 1, 16), 0.0),
    ],
)
def test_a_month(query: str, day: date, expected: float) -> None:
    assert grade(query, day) == expected


@pytest.mark.parametrize(
    ("query", "day", "expected"),
    [
        ("during 2022", date(2022, 12, 31), 0.5),
        ("during 2022", date(2023, 1, 1), 0.0),
        ("1899 or 2101 or 20220", date(2022, 1, 1), 0.0),
        ("30 february 2023", date(2023, 2, 1), 1.0),
        ("2023-13-01", date(2023, 7, 1), 0.5),
        ("2022 or 7 may 2023", date(2023, 5, 7), 1.0),
        ("2022 or 7 may 2023", date(2022, 5, 7), 0.5),
        ("31 december 2100", date(2101, 1, 1), 1.0),
    ],
)
def test_years_and_dates_that_do_not_exist(query: str, day: date, expected: float) -> None:
    assert grade(query, day) == expected


def test_no_date() -> None:
    assert explicit_dates("may i have 7 cups in march") == []


TODAY = date(2026, 11, 25)  # a Wednesday


@pytest.mark.parametrize(
    ("query", "first", "last"),
    [
        ("what did I do yesterday", "2026-11-24", "2026-11-24"),
        ("gestern", "2026-11-24", "2026-11-24"),
        ("the day before yesterday", "2026-11-23", "2026-11-23"),
        ("qu'avons-nous fait avant-hier", "2026-11-23", "2026-11-23"),
        ("last night", "2026-11-24", "2026-11-24"),
        ("一昨日", "2026-11-23", "2026-11-23"),
        ("昨天的会议", "2026-11-24", "2026-11-24"),
        ("先週の会議", "2026-11-16", "2026-11-22"),
        ("去年", "2025-01-01", "2025-12-31"),
        ("last week", "2026-11-16", "2026-11-22"),
        ("letzte Woche", "2026-11-16", "2026-11-22"),
        ("two weeks ago", "2026-11-09", "2026-11-15"),
        ("vor drei Tagen", "2026-11-22", "2026-11-22"),
        ("the last three days", "2026-11-22", "2026-11-25"),
        ("last weekend", "2026-11-21", "2026-11-22"),
        ("on Monday", "2026-11-23", "2026-11-23"),
        ("last Wednesday", "2026-11-18", "2026-11-18"),
        ("in May", "2026-05-01", "2026-05-31"),
        ("im Dezember", "2025-12-01", "2025-12-31"),
        ("last month", "2026-10-01", "2026-10-31"),
        ("11 months ago", "2025-12-01", "2025-12-31"),
        ("this year", "2026-01-01", "2026-12-31"),
        ("next week", "2026-11-30", "2026-12-06"),
        ("since Monday", "2026-11-23", "9999-12-31"),
        ("seit Montag", "2026-11-23", "9999-12-31"),
        ("before last Tuesday", "0001-01-01", "2026-11-23"),
        ("before 2024", "0001-01-01", "2023-12-31"),
        ("until May 2023", "0001-01-01", "2023-04-30"),
        ("after May 2023", "2023-06-01", "9999-12-31"),
        ("since 7 May 2023", "2023-05-07", "9999-12-31"),
    ],
)
def test_a_time_as_seen_from_today(query: str, first: str, last: str) -> None:
    (span,) = Analyzer().parse_query(query).dates_on(TODAY)

    assert (date.fromordinal(span.first).isoformat(), date.fromordinal(span.last).isoformat()) == (first, last)


@pytest.mark.parametrize(
    "query",
    [
        "marching in order",
        "which may be it",
        "a week before the trip",
        "days of thunder",
        "ten years",
        "99 years ago"[3:],
    ],
)
def test_what_only_looks_like_a_time(query: str) -> None:
    assert Analyzer().parse_query(query).dates_on(TODAY) == []


def test_a_day_in_no_calendar_is_none() -> None:
    assert Analyzer().parse_query("yesterday and 99 years ago").dates_on(date.min) == []


def test_the_week_before_a_day_is_told_around_that_day() -> None:
    assert grade("the week before 9 june 2023", date(2023, 6, 10)) > 0


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("on 2023-05-07, at noon", ["may", "7"]),
        ("2023/05/17 and 07.05.2023.", ["may", "may", "7"]),
        ("2023-05-17t10:30:00z", ["may", "17"]),
        ("backup-2023-05-17.tar", ["may"]),
        ("5/7/2023 or 05/07/2023", []),
        ("2023-13-01 and 2023-05", []),
        ("12023-05-07, 2023-05-071, 2023-05-07-1, v1.05.2023.4", []),
        ("10.0.0.1 and 1.2.3", []),
        ("1" * 50_000, []),
        ("会議は2026年12月3日、次は1月15日", ["december", "3", "2026", "january", "15"]),
        ("13月1日", []),
    ],
)
def test_days_in_figures(text: str, expected: list[str]) -> None:
    assert list(days_in_figures(text)) == expected
