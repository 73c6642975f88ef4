"""Which day, month or year a sentence speaks of."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shelfd.memory.knowledge.synthesis.dates import days_said

TODAY = date(2026, 1, 20)


@pytest.mark.parametrize(
    ("sentence", "said"),
    [
        ("Seen on 2025-12-05.", ["2025-12-05"]),
        ("Seen in 2025-12, not 2025-13-01.", ["2025-12"]),
        ("am 12.04.2026 um acht", ["2026-04-12"]),
        ("It began on March 3rd, 2024 and ended in May 2025.", ["2024-03-03", "2025-05"]),
        ("on the 9th of May", ["2026-05-09"]),
        ("from 18 December to 3 January", ["2025-12-18", "2026-01-03"]),
        ("due Aug. 5", ["2026-08-05"]),
        ("It was due Aug. 5", ["2025-08-05"]),
        ("Ann moved to Lisbon in March", ["2025-03"]),
        ("moved in January", ["2026-01"]),
        ("The course starts in December", ["2026-12"]),
        ("The cousins speak of December", ["2025-12"]),
        ("planned for 19 January", ["2027-01-19"]),
        ("until the end of February", ["2026-02"]),
        ("It was postponed from 13 January to 27 January because a test failed", ["2026-01-13", "2026-01-27"]),
        ("The review was moved to the 2nd of February", ["2026-02-02"]),
        ("We were in Rome from 2 May to 5 May", ["2025-05-02", "2025-05-05"]),
        ("paid off in November 2027", ["2027-11"]),
        ("our supplier since 2019", ["2019"]),
        ("yesterday, and again today", ["2026-01-19", "2026-01-20"]),
        ("the day before yesterday", ["2026-01-18"]),
        ("three weeks ago, and two years ago", ["2025-12-30", "2024"]),
        ("next month, last year", ["2026-02", "2025"]),
        ("31 June is no day, 29 February 2024 is one", ["2024-02-29"]),
        ("call 2000 times, version 2019, page 12", []),
        ("they march on, and may win", []),
    ],
)
def test_times_that_are_said(sentence: str, said: list[str]) -> None:
    assert list(days_said(sentence, TODAY)) == said


@given(st.dates(), st.dates())
def test_a_day_with_its_year_is_that_day_whenever_it_is_said(day: date, spoken: date) -> None:
    if 1900 <= day.year < 2100:
        assert list(days_said(f"It was {day:%d %B %Y}.", spoken)) == [day.isoformat()]
        assert list(days_said(f"It was {day.isoformat()}.", spoken)) == [day.isoformat()]


@given(st.text(max_size=200), st.dates())
def test_no_text_fails(text: str, spoken: date) -> None:
    for words in (text, f"{text} days ago", f"999 years ago {text} 31 April", "next year, 999 weeks ago"):
        list(days_said(words, spoken))
