"""What focus cuts and what it takes for relevant, seen from the index."""

from typing import Any

import pytest

from memory.recall.notes import note
from shelfd.memory.notes.filter import RECALLABLE
from shelfd.memory.recall import Aim, Analyzer, Focus, Names, RecallIndex

HOUSE = (
    "The fridge was defrosted in February.",
    "Grandma moved into room 214 of the residence.",
    "The car is a grey estate with a dent in the door.",
    "Paper is collected on Tuesday before seven.",
    "The piano tuner wants to be paid in cash.",
    "The ladder is with the neighbours across the street.",
    "Theo sleeps with us when there is thunder.",
    "Coffee upset her stomach, so we drink tea.",
)


class Shelf:
    """An index and its names."""

    def __init__(self, **options: Any) -> None:
        self.index = RecallIndex(Analyzer(), **options)
        self.names = Names(self.index.analyzer)
        self.focus = Focus(self.index, self.names)

    def put(self, row: int, content: str, *names: str, **fields: Any) -> None:
        """Remember a note; the first of its *names* is its title."""
        self.index.put(note(row, "\n".join([*names, content]), **fields))
        self.names.put(row, names[1:], title=names[0] if names else "")

    def recall(self, query: str, aim: Aim = "answer", k: int = 5) -> list[int]:
        return [one.hit.row for one in self.focus.recall(query, RECALLABLE, k, aim).found]

    def cut(self, query: str) -> list[tuple[int, str]]:
        return [(one.hit.row, one.reason) for one in self.focus.recall(query, RECALLABLE, 5).cut]

    def relevant(self, query: str, aim: Aim = "answer") -> list[int]:
        return [one.hit.row for one in self.focus.recall(query, RECALLABLE, 5, aim).found if one.relevant]


def house(*named: tuple[Any, ...]) -> Shelf:
    shelf = Shelf()
    for row, content in enumerate(HOUSE, start=100):
        shelf.put(row, content)
    for row, *texts in named:
        shelf.put(row, *texts)
    return shelf


BOILER: tuple[int, str, str, str] = (
    1,
    "Okafor cleans the burner every October, 140 euros.",
    "Boiler service",
    "heating check",
)
WATER: tuple[int, str, str] = (2, "The pressure should be at 1.5 bar, service the valve every October.", "Boiler water")


def test_a_note_whose_name_stands_is_relevant_and_others_with_names_are_cut() -> None:
    shelf = house(BOILER, WATER)

    assert shelf.recall("boiler service") == shelf.relevant("boiler service") == [1]
    assert shelf.cut("boiler service") == [(2, "another_name")]


def test_of_notes_with_names_that_do_not_stand_those_with_little_in_common_are_cut() -> None:
    shelf = house(BOILER, WATER)

    assert shelf.recall("at which pressure should the valve be") == [2]
    assert shelf.cut("October burner sonata in a minor key by a composer") == [(2, "little_in_common")]


def test_an_alias_is_as_good_as_the_title() -> None:
    assert house(BOILER, WATER).relevant("when is the heating check?") == [1]


def test_nothing_is_cut_when_focus_is_off_and_judged_all_the_same() -> None:
    shelf = house(BOILER, WATER)

    assert shelf.recall("boiler service", "all") == [1, 2]
    assert 1 in shelf.relevant("boiler service", "all")


def test_a_note_without_a_name_is_never_cut() -> None:
    shelf = house(BOILER, (3, "The boiler made a noise after the last service."))

    assert sorted(shelf.recall("boiler service")) == [1, 3]
    assert shelf.recall("did a loud noise wake their guests that stormy night, or the boiler?") == [3]


def test_another_named_note_stays_if_it_covers_more() -> None:
    shelf = house(BOILER, (2, "The man of the boiler service, his van is green, ring after nine.", "Okafor"))

    assert 2 in shelf.recall("which colour is the van of the boiler service man? green?")


def test_what_mentions_a_topic_stays_when_all_about_it_is_asked() -> None:
    shelf = house(
        (1, "Runs the network.", "Ada"), (2, "On Mondays Ada, then Ravi.", "Rota"), (3, "Writes the backups.", "Ravi"),
        (4, "Late at night Ada, who had come by the last train, told of a tap that dripped."),
    )  # fmt: skip

    assert shelf.recall("ada", k=1) == [1]
    assert sorted(shelf.recall("what do we know about Ada?", "topic")) == [1, 2, 4]
    assert sorted(shelf.relevant("what do we know about Ada?", "topic")) == [1, 2, 4]
    assert sorted(shelf.recall("Ada and Ravi")) == [1, 2, 3, 4]
    assert shelf.relevant("all we know of the salary of Ada", "topic") == []


@pytest.mark.parametrize(
    "query", ["what is the capital of Mongolia", "who won the chess tournament", "lemon curd recipe"]
)
def test_foreign_questions_have_no_relevant_note(query: str) -> None:
    assert house(BOILER, WATER).relevant(query) == []


@pytest.mark.parametrize(
    "query",
    [
        "who installed the fridge", "which colour is the ladder", "how old is the piano tuner",
        "how much does the fridge weigh", "when does grandma have lunch in the residence",
    ],
)  # fmt: skip
def test_what_is_not_known_of_something_known_is_not_relevant(query: str) -> None:
    assert house().relevant(query) == []


@pytest.mark.parametrize(
    ("query", "row"),
    [
        ("when was the fridge defrosted", 100),
        ("which room is grandma in?", 101),
        ("who has the ladder? the neighbours?", 105),
        ("paper collected", 103),
        ("when was the refrigerator defrosted", 100),
        ("where did grandma move", 101),
    ],
)
def test_what_is_known_is_relevant(query: str, row: int) -> None:
    assert house().relevant(query) == [row]


def test_a_word_that_often_speaks_of_the_same_counts() -> None:
    focus = house().focus
    same, other = (
        focus.recall(f"when was the {word} defrosted", RECALLABLE, 1).found[0] for word in ("freezer", "sailor")
    )

    assert same.coverage > other.coverage
    assert same.relevance > other.relevance


def test_a_question_is_no_answer() -> None:
    shelf = house((1, "What did the zebra eat?"), (2, "The zebra did eat the tulips."))

    assert shelf.relevant("what did the zebra eat") == [2]


def test_a_query_without_a_content_word_finds_nothing() -> None:
    shelf = house(BOILER)

    assert shelf.recall("and why?") == []
    assert shelf.focus.says_nothing("and why?")
    assert not shelf.focus.says_nothing("the boiler?")


def test_a_name_of_stop_words_says_something() -> None:
    shelf = house((1, "A band of four from London.", "Who"))

    assert not shelf.focus.says_nothing("who?")
    assert shelf.recall("who?") == [1]


def test_hidden_and_superseded_notes_lend_no_name() -> None:
    for hidden, superseded in ((True, False), (False, True)):
        shelf = house((2, "It is in the cellar, service it in October.", "Boiler"))
        shelf.put(*BOILER, hidden=hidden, superseded=superseded)
        assert shelf.relevant("boiler service") == [2]


def test_a_replaced_note_has_its_new_name_only() -> None:
    shelf = house(BOILER, WATER)
    shelf.put(1, BOILER[1], "Oven")

    assert shelf.relevant("oven") == [1]
    assert 1 not in shelf.recall("heating check")
    shelf.index.remove(1)
    shelf.names.remove(1)
    assert shelf.recall("oven") == []


def test_what_is_cut_leaves_no_hole() -> None:
    shelf = Shelf()
    for row in range(8):
        shelf.put(row, "Okafor cleans it every October.", f"Burner {row}")
    for row in range(8, 14):
        shelf.put(row, f"Long ago, in a cold October of the year {row}, somebody drove all the way to the coast.")

    query = "Okafor, that October: bells, towers, whistles, drums, trumpets, cymbals"
    assert [one.hit.row for one in shelf.focus.recall(query, RECALLABLE, 5, "all").found] == [7, 6, 5, 4, 3]
    assert shelf.recall(query) == [13, 12, 11, 10, 9]


def test_covers_by_characters_where_words_have_no_spaces() -> None:
    shelf = Shelf()
    shelf.put(1, "放在楼下王阿姨家,她晚上六点以后在。", "备用钥匙")
    for row, content in enumerate(
        ("小雨对花生过敏,学校已经知道了。", "去年我们在青岛过的年。", "洗衣机漏水,要换密封圈。"), start=2
    ):
        shelf.put(row, content)

    assert shelf.relevant("备用钥匙在哪里") == [1]
    assert shelf.relevant("护照放在哪里") == []


def test_all_results_at_any_k_are_those_of_search_where_nothing_has_a_name() -> None:
    shelf = house()
    for k in (0, 1, 3, 20):
        found = shelf.index.search("the piano and the ladder in the street", RECALLABLE, k)
        assert shelf.recall("the piano and the ladder in the street", k=k) == [hit.row for hit in found.hits]


def test_a_query_that_is_only_a_name_finds_the_note_of_that_name_among_many_with_its_words() -> None:
    shelf = house((1, "With Mrs. Lindqvist on the second floor, she is home after five.", "spare key"))
    for row in range(200, 260):
        shelf.put(row, f"The spare key of number {row} hangs here.")
    assert 1 not in [hit.row for hit in shelf.index.search("where's the spare key?", RECALLABLE, 20).hits]
    first = shelf.focus.recall("where's the spare key?", RECALLABLE, 5, explain=True).found[0]
    assert first.hit.row == 1
    assert first.relevant
    assert sum(first.hit.signals.values()) == pytest.approx(first.hit.score)
    assert first.hit.signals["name"] > 0
    assert shelf.recall("where does the spare key of number 230 hang?")[0] == 230
    assert 1 not in shelf.recall("where's the spare key?", "all")
