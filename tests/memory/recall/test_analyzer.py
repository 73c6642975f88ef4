"""Tokenising: English as measured, other scripts without lists."""

from datetime import date
from zoneinfo import ZoneInfo

import pytest

from memory.recall.notes import MAY_7_2023
from shelfd.memory.recall import Analyzer

HOUR = 3_600_000_000  # microseconds


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("She went to two Meetings!", ["she", "go", "to", "two", "meet"]),
        ("my children's photos", ["my", "child", "s", "pictur"]),
        ("snake_case 2023", ["snake", "case", "2023"]),
        ("Käse, CAFÉ und Straße", ["kase", "cafe", "und", "strass"]),
        ("ｆｕｌｌ ﬁne", ["full", "fine"]),
        ("東京タワー", ["東京", "京タ", "タワ", "ワー"]),
        ("茶 tea", ["茶", "tea"]),
        ("안녕 하세요", ["안녕", "하세", "세요"]),
        ("สวัสดี", ["สว", "วั", "ัส", "สด", "ดี"]),
        ("اَلسَّلَامُ عليكم", ["السلام", "عليكم"]),
        ("שָׁלוֹם", ["שלום"]),
        ("मुझे चाय पसंद है।", ["मुझे", "चाय", "पसंद", "है"]),
        ("Привет Мир", ["привет", "мир"]),
        ("🙂🎉", []),
        ("", []),
    ],
)
def test_terms(text: str, terms: list[str]) -> None:
    assert Analyzer().terms(text) == terms


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("🙂🎉 tea", ["🙂", "🎉"]),
        ("👍🏽 and 👍", ["👍", "👍"]),
        ("❤️ 👩‍💻", ["❤", "👩", "💻"]),
        ("🇩🇪🇹🇷", ["🇩🇪", "🇹🇷"]),
        ("東京 茶", ["東", "京"]),
        ("カフェ 안녕", ["カ", "フ", "ェ", "안", "녕"]),
        ("getUserName", ["get", "user", "name"]),
        ("get_user_name get-user-name", ["getusernam", "getusernam"]),
        (
            "HTTPServer XMLHttp_request utf8Decode",
            ["http", "server", "xml", "http", "request", "xmlhttprequest", "utf8", "decod"],
        ),
        ("TVs iPhone 2023-05-07 _private a - b", ["i", "phone", "may", "7"]),
        ("a" * 50 + "_" + "b" * 50, []),
        ("plain text, twice.", []),
    ],
)
def test_what_a_text_is_found_by_beside_its_words(text: str, terms: list[str]) -> None:
    analyzer = Analyzer()
    assert [analyzer.term(word) for word in analyzer.beside(text)] == terms


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("Iğdır İzmir", ["igdir", "izmir"]),
        ("Łódź Søren Þór", ["lodz", "soren", "thor"]),
        ("Æsir cœur", ["aesir", "coeur"]),
    ],
)
def test_letters_that_unicode_does_not_take_apart_are_folded_too(text: str, terms: list[str]) -> None:
    assert Analyzer().words(text) == terms


@pytest.mark.parametrize(
    ("query", "terms"),
    [
        ("🙂", ("🙂",)),
        ("what 🙂", ("🙂",)),
        ("getUserName", ("get", "getusernam", "user")),
        ("get_user_name", ("get", "getusernam", "user")),
        ("a well-known place", ("know", "place", "well")),
        ("東京", ("東京",)),
        ("京", ("京",)),
    ],
)
def test_terms_of_a_query(query: str, terms: tuple[str, ...]) -> None:
    assert Analyzer().parse_query(query).terms == terms


def test_query_drops_stop_and_question_words() -> None:
    assert Analyzer().parse_query("What did she name the dogs?").terms == ("dog",)


def test_query_of_nothing_else_keeps_them() -> None:
    assert Analyzer().parse_query("What is it?").terms == ("is", "it", "what")


def test_query_terms_are_distinct_and_sorted() -> None:
    assert Analyzer().parse_query("tea cups, teas, a cup").terms == ("cup", "tea")


def test_another_language_has_its_stems_and_no_lists() -> None:
    german = Analyzer("german")
    assert german.terms("Bücher went") == ["buch", "went"]
    assert german.parse_query("what is the").terms == ("is", "the", "what")
    assert not german.parse_query("when").asks_when


def test_an_unknown_language_is_refused() -> None:
    with pytest.raises(KeyError):
        Analyzer("klingon")


@pytest.mark.parametrize(
    ("query", "asks"),
    [("When was it", True), ("how long ago", True), ("in what YEAR", True), ("whenever", False), ("what tea", False)],
)
def test_questions_for_a_time(query: str, asks: bool) -> None:
    assert Analyzer().parse_query(query).asks_when is asks


@pytest.mark.parametrize(
    ("text", "temporal"),
    [("we met Last week", True), ("in 1999", True), ("this morning", True), ("this or that", False), ("12 345", False)],
)
def test_expressions_of_time(text: str, temporal: bool) -> None:
    assert Analyzer().parse_text(text).temporal is temporal


@pytest.mark.parametrize(
    ("text", "question"), [("tea? \n", True), ("茶？", True), ("متى؟", True), ("tea? yes", False), ("", False)]
)
def test_questions(text: str, question: bool) -> None:
    assert Analyzer().parse_text(text).question is question


def test_the_day_is_local() -> None:
    late = MAY_7_2023 + 23 * HOUR
    assert Analyzer().day(late) == date(2023, 5, 7)
    assert Analyzer(timezone=ZoneInfo("Europe/Berlin")).day(late) == date(2023, 5, 8)


def test_a_time_beyond_the_calendar_is_clamped() -> None:
    assert Analyzer().day(2**62) == date.max
    assert Analyzer().day(-(2**62)) == date.min
