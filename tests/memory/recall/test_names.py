"""Which names stand in a query."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shelfd.memory.recall import Analyzer
from shelfd.memory.recall.names import Names


def standing(query: str, *names: str, hidden: tuple[int, ...] = ()) -> list[str]:
    """The names among *names*, each of a note of its own, that stand in *query*."""
    index = Names(Analyzer())
    for row, name in enumerate(names):
        index.put(row, [name])
    found = index.standing(query, lambda rows: [row for row in rows if row not in hidden])
    return [names[row] for row in sorted(found.notes)]


@pytest.mark.parametrize(
    ("name", "query"),
    [
        ("boiler service", "When is the BOILER service due?"),
        ("Boiler service", "who services the boilers? boiler services!"),
        ("rights of way", "what do we know of the rights way"),
        ("café crème", "a cafe creme, please"),
        ("TokenBucket", "how does the token bucket refill"),
        ("token_bucket", "what is TokenBucket"),
        ("http.client", "limits of http-client"),
        ("备用钥匙", "备用钥匙在哪里"),
        ("ミーティング", "ミーティングは何時から"),
    ],
)
def test_a_name_stands_if_its_words_are_adjacent(name: str, query: str) -> None:
    assert standing(query, name) == [name]


@pytest.mark.parametrize(
    ("name", "query"),
    [
        ("boiler service", "which service did the new boiler get"),
        ("boiler service", "boiler"),
        ("the", "what is the time"),
        ("what", "what is the time"),
        ("", "anything"),
        ("🙂", "anything"),
        (" ".join(f"w{n}" for n in range(13)), " ".join(f"w{n}" for n in range(13))),
    ],
)
def test_else_it_does_not(name: str, query: str) -> None:
    assert standing(query, name) == []


def test_a_name_of_stop_and_question_words_stands_alone() -> None:
    assert standing("who is it?", "Who is it") == ["Who is it"]
    assert standing("who is it that sings", "Who is it") == []


def test_of_overlapping_names_the_longest_stands() -> None:
    assert standing("when is the boiler service week", "boiler", "boiler service", "week") == ["boiler service", "week"]
    assert standing("the blue door key", "blue door", "door key") == ["blue door", "door key"]


def test_a_name_of_a_note_that_may_not_be_returned_leaves_room_for_a_shorter_one() -> None:
    assert standing("boiler service", "boiler", "boiler service", hidden=(1,)) == ["boiler"]


def test_a_name_that_many_share_is_none() -> None:
    assert len(standing("ada", *["ada"] * 5)) == 5
    assert standing("ada", *["ada"] * 6) == []
    assert len(standing("ada", *["ada"] * 6, hidden=(3,))) == 5


def test_a_note_is_named_while_few_of_those_admitted_share_its_name() -> None:
    names = Names(Analyzer())
    for row in range(6):
        names.put(row, ["ada"])
    assert not names.is_named(0, list)
    assert names.is_named(0, lambda rows: [row for row in rows if row != 3])
    names.remove(2)
    assert names.is_named(0, list)
    assert not names.is_named(2, list)


def test_nothing_is_left_of_names_that_are_gone() -> None:
    names = Names(Analyzer())
    names.put(1, ["blue door", "gate"], title="A title")
    names.put(1, ["blue door"])
    names.put(2, ["blue door"])
    names.remove(1)
    names.remove(2)
    names.remove(3)
    assert names.standing("the blue door and the gate", list).names == 0
    assert vars(names)["_rows"] == {}
    assert dict(vars(names)["_lengths"]) == {}


def test_a_short_title_is_a_name_and_a_sentence_is_none() -> None:
    names = Names(Analyzer())
    names.put(1, [], title="Rights agreement for the play")
    names.put(2, [], title="Rain fell on every tent and dog")
    assert (names.is_named(1, list), names.is_named(2, list)) == (True, False)


NAMES = st.sampled_from(["ada", "boiler", "boiler service", "service", "blue door", "door", "TokenBucket", "who is it"])


@given(st.lists(st.tuples(st.integers(0, 8), st.lists(NAMES, max_size=3)), max_size=40), NAMES, NAMES)
def test_after_any_changes_names_are_those_of_an_index_built_at_once(
    changes: list[tuple[int, list[str]]], one: str, other: str
) -> None:
    changed, built = Names(Analyzer()), Names(Analyzer())
    for row, names in changes:
        changed.put(row, names)
    for row, names in dict(changes).items():
        built.put(row, names)

    query = f"{one} and {other}"
    assert changed.standing(query, list) == built.standing(query, list)
    assert [changed.is_named(row, list) for row in range(9)] == [built.is_named(row, list) for row in range(9)]
    assert vars(changed)["_lengths"] == vars(built)["_lengths"]
    for row in range(9):
        changed.remove(row)
    assert len(changed) == len(vars(changed)["_rows"]) == len(vars(changed)["_lengths"]) == 0
