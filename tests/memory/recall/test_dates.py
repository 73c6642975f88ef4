"""Explicit dates of queries and how documents' days are graded against them."""

from datetime import date

import numpy as np
import pytest

from shelfd.memory.recall.dates import date_grades, explicit_dates


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
