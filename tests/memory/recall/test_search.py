"""What a search returns, seen from outside."""

import random
from typing import Any

import pytest

from memory.recall.notes import DAY, MAY_7_2023, index_of, note
from shelfd.memory.notes.filter import RECALLABLE
from shelfd.memory.recall import Analyzer, RecallIndex
from shelfd.memory.recall.meaning import ANSWER_TYPES


def ids(index: RecallIndex, query: str, **filters: Any) -> list[str]:
    return [hit.id for hit in index.search(query, RECALLABLE._replace(**filters), 20).hits]


def signal(index: RecallIndex, query: str, row: int, name: str) -> float:
    hits = index.search(query, RECALLABLE, 20, explain=True).hits
    return next(hit.signals[name] for hit in hits if hit.row == row)


def test_an_empty_index_finds_nothing() -> None:
    ranking = index_of().search("tea", RECALLABLE, 5)
    assert (ranking.hits, ranking.matched_terms, ranking.query_terms) == ([], 0, 1)


@pytest.mark.parametrize(("query", "terms"), [("unheard words", 2), ("", 0), ("🙂", 1)])
def test_a_query_without_known_terms_finds_nothing(query: str, terms: int) -> None:
    ranking = index_of(note(1, "tea")).search(query, RECALLABLE, 5)
    assert (ranking.hits, ranking.query_terms) == ([], terms)


@pytest.mark.parametrize(
    ("text", "queries"),
    [
        ("see you soon 🙂", ["🙂", "🙂🙂", "soon 🙂"]),
        ("nice work 👍🏽", ["👍", "👍🏿"]),
        ("東京タワーで茶を飲む", ["茶", "東", "タ", "東京", "茶を"]),
        ("안녕하세요", ["녕"]),
        ("born in Iğdır", ["igdir", "IĞDIR", "Iğdır", "ığdır"]),
        ("a flat in Łódź", ["lodz", "łódź"]),
        (
            "call getUserName first",
            ["getUserName", "get_user_name", "get-user-name", "getusername", "user", "user name"],
        ),
        ("call get_user_name first", ["getUserName", "get_user_name", "get-user-name", "getusername", "user name"]),
        ("call get-user-name first", ["getUserName", "get_user_name", "get-user-name", "getusername", "user name"]),
        ("an HTTPServer", ["httpserver", "http", "server", "HTTPServer"]),
    ],
)
def test_emoji_characters_and_compound_names_are_found(text: str, queries: list[str]) -> None:
    index = index_of(note(1, text), note(2, "something else altogether"), note(3, "別の物"))
    assert [ids(index, query) for query in queries] == [["n0001"]] * len(queries)


def test_the_name_itself_comes_before_notes_with_its_parts() -> None:
    index = index_of(note(1, "the user has a name"), note(2, "getUserName fails"), note(3, "get the name of a user"))
    for query in ("getUserName", "get_user_name"):
        assert ids(index, query)[0] == "n0002"


def test_what_a_text_is_found_by_beside_its_words_makes_it_no_longer() -> None:
    index = index_of(note(1, "tea 🙂 x_y", when=MAY_7_2023), note(2, "tea x y", when=MAY_7_2023))
    one, other = index.search("tea", RECALLABLE, 2).hits
    assert one.score == other.score


def test_a_query_of_question_words_only_searches_for_them() -> None:
    assert ids(index_of(note(1, "what is what"), note(2, "tea")), "what is") == ["n0001"]


@pytest.mark.parametrize(
    ("query", "said", "beside"),
    [
        ("where does Carla live now", "Carla moved to Lisbon in April", "the shoe size is 34 now"),
        ("who currently leads the choir", "Dana leads the choir", "the well is currently dry"),
        ("¿dónde vive ahora la abuela?", "la abuela vive en Zaragoza", "el grifo está roto ahora"),
        ("où habite maintenant mon frère", "mon frère habite à Nantes", "le four est froid maintenant"),
    ],
)
def test_words_that_only_say_that_it_is_now_are_not_looked_for(query: str, said: str, beside: str) -> None:
    hits = index_of(note(1, beside), note(2, said)).search(query, RECALLABLE, 5).hits
    assert hits[0].row == 2
    assert hits[-1].row == 2 or hits[-1].score < hits[0].score / 2


def test_unknown_terms_make_an_answer_weak() -> None:
    index = index_of(note(1, "green tea"), note(2, "coffee"))
    known = index.search("tea", RECALLABLE, 5)
    mixed = index.search("tea zeppelin", RECALLABLE, 5)
    assert 0 < mixed.hits[0].score < known.hits[0].score <= 1
    assert (mixed.matched_terms, mixed.query_terms) == (1, 2)


def test_k_cuts_and_of_equal_ones_the_newest_come_first() -> None:
    index = index_of(note(3, "tea"), note(1, "tea"), note(2, "tea"))
    assert [hit.id for hit in index.search("tea", RECALLABLE, 2).hits] == ["n0003", "n0002"]
    assert index.search("tea", RECALLABLE, 0).hits == []


def test_signals_come_only_when_asked_for() -> None:
    index = index_of(note(1, "tea"))
    assert index.search("tea", RECALLABLE, 1).hits[0].signals == {}
    hit = index.search("tea", RECALLABLE, 1, explain=True).hits[0]
    assert sum(hit.signals.values()) == pytest.approx(hit.score)


def test_the_answer_after_a_question_is_found() -> None:
    talk = {"session": "s"}
    index = index_of(note(1, "which tea do you like?", turn=1, **talk), note(2, "the green one", turn=2, **talk))
    assert sorted(ids(index, "tea")) == ["n0001", "n0002"]
    assert signal(index, "tea", 2, "question_before") > 0
    assert signal(index, "tea", 1, "question") < 0


@pytest.mark.parametrize("two_stage_from", [0, 1000])
def test_what_stood_two_notes_before_counts_unless_it_is_said_again(two_stage_from: int) -> None:
    talk = {"session": "s"}
    told = [note(turn, text, turn=turn, **talk) for turn, text in enumerate(("tea from Ceylon", "milk", "a cup"), 1)]
    index = index_of(*told, two_stage_from=two_stage_from)
    assert signal(index, "a cup of tea", 3, "earlier") > 0
    assert signal(index, "a cup of tea", 2, "earlier") == 0
    assert sorted(ids(index, "tea")) == ["n0001", "n0002"]  # it brings in no further notes
    index.put(note(2, "milk for the tea", turn=2, **talk))
    assert signal(index, "a cup of tea", 3, "earlier") == 0


@pytest.mark.parametrize("two_stage_from", [0, 1000])
def test_hiding_links_the_neighbours(two_stage_from: int) -> None:
    talk = {"session": "s"}
    first, last = note(1, "tea", turn=1, **talk), note(3, "green", turn=3, **talk)
    index = index_of(first, note(2, "milk", turn=2, **talk), last, two_stage_from=two_stage_from)
    assert ids(index, "tea") == ["n0001", "n0002"]
    index.put(note(2, "milk", turn=2, hidden=True, **talk))
    assert ids(index, "tea") == ["n0001", "n0003"]
    assert ids(index, "tea", include_hidden=True) == ["n0001", "n0003", "n0002"]
    index.put(note(2, "milk", turn=2, **talk))
    assert ids(index, "tea") == ["n0001", "n0002"]


@pytest.mark.parametrize(
    ("query", "applies"),
    [
        ("tea of Ana Lee", True),
        ("Ana's tea", True),
        ("tea of Lee", False),
        ("Ana and Bo had tea", False),
        ("analog tea", False),
        ("tea", False),
    ],
)
def test_the_author_rule(query: str, applies: bool) -> None:
    index = index_of(note(1, "tea", author="Ana Lee"), note(2, "tea", author="Bo"))
    assert (signal(index, query, 1, "author") > 0) is applies


def test_a_shared_first_name_names_nobody() -> None:
    index = index_of(note(1, "tea", author="Ana Lee"), note(2, "tea", author="Ana Roy"))
    assert signal(index, "Ana tea", 1, "author") == 0
    assert signal(index, "Ana Lee tea", 1, "author") > 0
    index.remove(2)
    assert signal(index, "Ana tea", 1, "author") > 0


def test_the_time_rules() -> None:
    index = index_of(note(1, "tea yesterday"), note(2, "tea alone", when=MAY_7_2023 + 60 * DAY))
    assert signal(index, "when was tea", 1, "when") > 0
    assert signal(index, "when was tea", 2, "when") == 0
    assert signal(index, "who had tea", 1, "when") == 0
    assert signal(index, "tea on 7 May 2023", 1, "date") > signal(index, "tea on 7 May 2023", 2, "date") == 0


def test_the_day_is_part_of_the_text() -> None:
    index = index_of(note(1, "tea"), note(2, "tea", when=MAY_7_2023 + 60 * DAY))
    assert ids(index, "July") == ["n0002"]


@pytest.mark.parametrize("name", ["nugget", "domain", "scope", "type", "subject", "author"])
def test_exact_filters(name: str) -> None:
    index = index_of(note(1, "tea", **{name: "this"}), note(2, "tea", **{name: "that"}))
    assert ids(index, "tea", **{name: "this"}) == ["n0001"]
    assert ids(index, "tea", **{name: "other"}) == []
    assert len(ids(index, "tea")) == 2


def test_tags_filter_by_all_of_them() -> None:
    index = index_of(note(1, "tea", tags=("a",)), note(2, "tea", tags=("a", "b")))
    assert ids(index, "tea", tags=("a",)) == ["n0002", "n0001"]
    assert ids(index, "tea", tags=("a", "b")) == ["n0002"]
    assert ids(index, "tea", tags=("a", "c")) == []


def test_state_filters() -> None:
    index = index_of(note(1, "tea", superseded=True), note(2, "tea", expires_at=10), note(3, "tea", hidden=True))
    assert ids(index, "tea", now=9) == ["n0002"]
    assert ids(index, "tea", now=10) == []
    assert ids(index, "tea", now=10, include_expired=True) == ["n0002"]
    assert ids(index, "tea", now=10, include_superseded=True) == ["n0001"]
    assert ids(index, "tea", now=10, include_hidden=True) == ["n0003"]


def test_since_filters_by_time() -> None:
    index = index_of(note(1, "tea", when=100), note(2, "tea", when=200))
    assert ids(index, "tea", since=200) == ["n0002"]


def test_session_scope_stays_in_its_session() -> None:
    index = index_of(
        note(1, "tea", scope="session", session="s1"),
        note(2, "tea", scope="session"),
        note(3, "tea", session="s1"),
    )
    assert sorted(ids(index, "tea")) == ["n0002", "n0003"]
    assert sorted(ids(index, "tea", session="s2")) == ["n0002", "n0003"]
    assert sorted(ids(index, "tea", session="s1")) == ["n0001", "n0002", "n0003"]
    assert sorted(ids(index, "tea", scope="session")) == ["n0001", "n0002"]


def test_rows_can_be_replaced_and_removed() -> None:
    index = index_of(note(1, "tea"), note(1, "coffee"))
    assert (len(index), ids(index, "tea"), ids(index, "coffee")) == (1, [], ["n0001"])
    index.remove(1)
    index.remove(1)
    assert (len(index), 1 in index, ids(index, "coffee")) == (0, False, [])


def test_a_very_long_text_and_query() -> None:
    index = index_of(note(1, "tea " * 1000), note(2, "coffee"))
    assert ids(index, "tea " + " ".join(f"word{n}" for n in range(300))) == ["n0001"]
    many = note(3, " ".join(f"word{n}" for n in range(300)))
    index.put(many)
    assert ids(index, many.text) == ["n0003"]


def test_an_interrupted_extend_keeps_what_came_before() -> None:
    def documents() -> Any:
        for row in range(600):
            yield note(row, "tea")
        raise OSError

    index = index_of()
    with pytest.raises(OSError):  # noqa: PT011  raised above, without a message
        index.extend(documents())
    assert len(index) == 600
    assert len(ids(index, "tea")) == 20


def generated(count: int, seed: int = 7) -> list[Any]:
    """Notes of a skewed vocabulary in sessions of 20."""
    rng = random.Random(seed)
    words = [f"w{n}" for n in range(3000)]
    weights = [1 / (n + 3) for n in range(3000)]
    return [
        note(row, " ".join(rng.choices(words, weights, k=20)), session=f"s{row // 20}", turn=row % 20,
             author=f"a{row // 20 % 90}x{row % 2}", when=MAY_7_2023 + row // 20 * DAY)
        for row in range(count)
    ]  # fmt: skip


QUERIES = [f"w{n} w{3 * n + 50} w{7 * n + 200}" for n in range(5, 105)]


def test_neither_order_nor_compaction_changes_a_result() -> None:
    documents = generated(1500)
    shuffled = random.Random(1).sample(documents, len(documents))
    put, extended = index_of(*documents), index_of()
    extended.extend(shuffled)
    before = [put.search(query, RECALLABLE, 10, explain=True) for query in QUERIES]
    assert before == [extended.search(query, RECALLABLE, 10, explain=True) for query in QUERIES]
    put.compact()
    assert before == [put.search(query, RECALLABLE, 10, explain=True) for query in QUERIES]


def test_two_stages_find_what_the_whole_scan_finds() -> None:
    documents = generated(5000)
    dense, staged = RecallIndex(Analyzer()), RecallIndex(Analyzer(), two_stage_from=0)
    dense.extend(documents)
    staged.extend(documents)
    same = 0
    for query in QUERIES:
        expected = [hit.id for hit in dense.search(query, RECALLABLE, 10).hits]
        same += len(set(expected) & {hit.id for hit in staged.search(query, RECALLABLE, 10).hits})
    assert same >= 0.98 * 10 * len(QUERIES)


def test_of_notes_that_fit_alike_the_one_that_tells_more_is_first() -> None:
    index = index_of(note(1, "tea from hills above lakes dried last June"), note(2, "tea in the cup and the pot too"))
    assert ids(index, "tea") == ["n0001", "n0002"]
    assert signal(index, "tea", 1, "telling") > signal(index, "tea", 2, "telling") > 0


def test_what_tells_the_kind_of_thing_that_is_asked_for_is_first() -> None:
    index = index_of(note(1, "tea is sold for $4 downtown"), note(2, "tea is sold by friends downtown"))
    asked = index.analyzer.parse_query("how much is tea")
    plain = index.rank(asked, RECALLABLE, 2, explain=True).hits
    money = index.rank(asked._replace(wants=ANSWER_TYPES["money"]), RECALLABLE, 2, explain=True).hits
    assert [hit.id for hit in money] == ["n0001", "n0002"]
    assert [hit.signals["kind"] > 0 for hit in money] == [True, False]
    assert [hit.signals["kind"] for hit in plain] == [0.0, 0.0]


def test_a_word_that_none_of_a_nugget_has_finds_nothing_there() -> None:
    index = index_of(note(1, "tea with milk", nugget="kitchen"), note(2, "a ship at sea", nugget="harbour"))
    index.compact()
    assert ids(index, "tea", nugget="kitchen") == ["n0001"]
    assert ids(index, "tea", nugget="harbour") == []
