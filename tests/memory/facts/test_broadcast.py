"""A question to many nuggets: asking the likely ones finds what asking all finds."""

import random
from itertools import permutations

import pytest

from memory.facts.keysets import OWNERS, UNRELATED, keys, misspelt, question
from shelfd.memory.facts import Broadcast, FactAnswer, Options

NUGGETS = 300


@pytest.fixture(scope="module")
def shelf() -> tuple[Broadcast, dict[str, str]]:
    """Nuggets of one to a hundred facts; which key is where."""
    drawn = random.Random(5)
    names = keys(4000, seed=5)
    where: dict[str, str] = {}
    broadcast = Broadcast()
    while names:
        nugget = f"n{len(broadcast.nuggets)}"
        size = drawn.choice([1, 2, 5, 10, 20, 100]) if len(broadcast.nuggets) < NUGGETS else 9999
        for _ in range(min(size, len(names))):
            name = names.pop()
            where[name] = nugget
            broadcast.put(nugget, f"fact-{name}", name, f"value of {name}")
    return broadcast, where


def asked_one_by_one(broadcast: Broadcast, query: str) -> FactAnswer | None:
    """The surest of the answers that the nuggets give by themselves."""
    answers = [answer for nugget in broadcast.nuggets if (answer := broadcast.recall(query, nugget)) is not None]
    return max(answers, key=lambda answer: answer.confidence, default=None)


def sample(where: dict[str, str], count: int = 60) -> list[str]:
    return random.Random(6).sample(sorted(where), count)


def test_the_nugget_that_knows_is_the_likeliest(shelf: tuple[Broadcast, dict[str, str]]) -> None:
    broadcast, where = shelf
    assert all(broadcast.likely(question(name))[0] == where[name] for name in sample(where, 200))


def test_asking_all_finds_what_asking_each_finds(shelf: tuple[Broadcast, dict[str, str]]) -> None:
    broadcast, where = shelf
    drawn = random.Random(7)
    queries = [query for name in sample(where, 15) for query in (question(name), misspelt(name, drawn))]
    for query in queries:
        one, each = broadcast.recall(query), asked_one_by_one(broadcast, query)
        assert one is not None
        assert each is not None
        assert (one.nugget, one.row) == (each.nugget, each.row)


def test_what_is_as_likely_meant_in_another_nugget_is_a_rival(shelf: tuple[Broadcast, dict[str, str]]) -> None:
    broadcast, where = shelf
    for name in sample(where, 30):
        owner, thing, _ = name.split("-")
        rivals = [other for other in where if other.startswith(f"{owner}-{thing}-")]
        answer = broadcast.recall(f"what about the {owner} {thing}?")
        assert len(rivals) == 1 or answer is None or answer.confidence < 0.5


def test_one_key_in_many_nuggets_is_found_in_the_one_that_is_asked() -> None:
    broadcast = Broadcast()
    for number in range(200):
        broadcast.put(f"person {number}", f"f{number}", "favorite color", f"color {number}", ["colour they like"])
    for query in ("favorite color", "favorit colr", "colour they like", "which colour do they like"):
        answer = broadcast.recall(query, "person 77")
        assert answer is not None
        assert (answer.nugget, answer.value) == ("person 77", "color 77")
        assert answer.confidence > 0.7
        everywhere = broadcast.recall(query)
        assert everywhere is None or everywhere.confidence < 0.5


def test_a_word_of_another_nugget_is_unknown_in_the_one_that_is_asked() -> None:
    broadcast = Broadcast()
    broadcast.put("router", "r", "port of the router", "8080")
    broadcast.put("kitchen", "k", "pot for soup", "the red one")
    answer = broadcast.recall("pot of the router", "router")
    assert answer is not None
    assert answer.value == "8080"


def test_an_exact_key_wins_wherever_it_is(shelf: tuple[Broadcast, dict[str, str]]) -> None:
    broadcast, where = shelf
    for name in sample(where):
        answer = broadcast.recall(name)
        assert answer is not None
        assert (answer.nugget, answer.value) == (where[name], f"value of {name}")
        assert answer.confidence >= 0.9


def test_unrelated_questions_are_not_answered_by_any(shelf: tuple[Broadcast, dict[str, str]]) -> None:
    assert sum(shelf[0].recall(query) is not None for query in UNRELATED) / len(UNRELATED) <= 0.05


def test_a_small_nugget_does_not_outshout_a_big_one() -> None:
    broadcast = Broadcast()
    broadcast.put("small", "s", "city", "Paris")
    for number, name in enumerate(keys(60)):
        broadcast.put("big", str(number), name, "v")
    broadcast.put("big", "b", "capital city of france", "Lyon")
    answer = broadcast.recall("capital city of france")
    assert answer is not None
    assert answer.nugget == "big"


def test_the_same_key_is_answered_by_the_first_name_and_not_surely() -> None:
    broadcast = Broadcast()
    for nugget in ("one", "two"):
        broadcast.put(nugget, f"f-{nugget}", "name", nugget)
    assert broadcast.recall("name") == FactAnswer("f-one", "name", "one", 0.495, 0.0, "one")
    assert broadcast.recall("name", "two") == FactAnswer("f-two", "name", "two", 0.99, 1.0, "two")
    assert broadcast.recall("name", "nobody") is None
    broadcast.put("two", "f-two", "name", "one")
    assert broadcast.recall("name") == FactAnswer("f-one", "name", "one", 0.99, 1.0, "one")


def test_of_equals_the_same_one_answers_whatever_order_they_came_in() -> None:
    facts = [(f"n{n}", f"row {n}", name, ["hue"]) for n, name in enumerate(("color of ink", "ink color", "paper"))]
    told = set()
    for order in permutations(facts):
        broadcast = Broadcast()
        for nugget, row, key, aliases in order:
            broadcast.put(nugget, row, key, row, aliases)
        told.add(tuple(broadcast.recall(query) for query in ("hue", "which color has ink", "colr of ink")))

    assert len(told) == 1
    assert None not in told.pop()


def test_changes_are_seen_at_once() -> None:
    broadcast = Broadcast()
    for owner in OWNERS:
        broadcast.put(owner, f"f-{owner}", f"budget of {owner}", owner)
    assert broadcast.likely("what is the budget of cedar")[0] == "cedar"
    assert broadcast.remove("f-cedar")
    assert not broadcast.remove("f-cedar")
    broadcast.put("raven", "g", "deadline of cedar", "monday")
    assert broadcast.likely("cedar")[0] == "raven"
    answer = broadcast.recall("which deadline has cedar")
    assert answer is not None
    assert (answer.nugget, answer.value) == ("raven", "monday")


def test_a_nugget_without_facts_knows_nothing_and_leaves_nothing() -> None:
    broadcast = Broadcast()
    traits = ("budget", "deadline", "colour", *(f"trait{number}" for number in range(20)))
    for owner in OWNERS[:9]:
        for trait in traits:
            broadcast.put(owner, f"{owner} {trait}", f"{trait} of {owner}", owner, [f"{owner} {trait}", trait])
    assert all(broadcast.remove(f"{OWNERS[0]} {trait}") for trait in traits)
    assert OWNERS[0] not in broadcast.nuggets
    assert OWNERS[0] not in broadcast.likely(f"budget of {OWNERS[0]}")
    assert broadcast.recall("budget", OWNERS[0]) is None
    assert broadcast.likely(f"the colour of {OWNERS[8]}")[0] == OWNERS[8]
    for owner in OWNERS[1:9]:
        for trait in traits:
            assert broadcast.remove(f"{owner} {trait}")
    assert len(broadcast) == len(broadcast.nuggets) == 0
    assert len(broadcast._keys) == len(broadcast._keys.lexicon) == len(broadcast._names._facts) == 0


def test_keys_and_aliases_that_change_are_followed() -> None:
    broadcast = Broadcast()
    broadcast.put("one", "f", "first", "1", ["both"])
    broadcast.put("two", "g", "second", "2", ["both"])
    broadcast.put("one", "f", "renamed", "1")
    answers = {query: broadcast.recall(query) for query in ("first", "renamed", "both")}
    assert {query: answer and answer.nugget for query, answer in answers.items()} == {
        "first": None, "renamed": "one", "both": "two",
    }  # fmt: skip
    broadcast.remove("g")
    assert broadcast.recall("both") is None
    assert set(broadcast._names._facts) == {"renamed"}


def test_nuggets_have_their_own_options_as_long_as_they_have_facts() -> None:
    def noise(row: str) -> float:
        return broadcast.echo(row).noise

    broadcast, wide = Broadcast(), Options(dimension=4096, banks=2)
    broadcast.put("wide", "f", "name", "Eve", options=wide)
    broadcast.put("usual", "g", "pet name", "cat")
    assert (noise("f"), noise("g")) == (8192**-0.5, 2048**-0.5)
    broadcast.put("wide", "f", "first name", "Eve")
    assert noise("f") == 8192**-0.5
    broadcast.remove("f")
    broadcast.put("wide", "f", "name", "Eve")
    assert noise("f") == 2048**-0.5


def test_a_fact_that_goes_to_another_nugget_answers_there_only() -> None:
    broadcast = Broadcast()
    broadcast.put("one", "f", "name", "Eve")
    broadcast.put("two", "f", "name", "Eve")
    assert list(broadcast.nuggets) == ["two"]
    assert broadcast.recall("name", "one") is None
    assert broadcast.recall("name") == FactAnswer("f", "name", "Eve", 0.99, 1.0, "two")
    with pytest.raises(ValueError, match="another fact"):
        broadcast.put("two", "g", "NAME", "Ada")


@pytest.mark.parametrize("facts", [1, 2, 16, 17, 40])
def test_a_nugget_of_any_size_confirms_its_facts_and_understands_the_words_of_its_keys(facts: int) -> None:
    broadcast, names = Broadcast(), keys(facts, seed=facts)
    for number, name in enumerate(keys(200, seed=9)):
        broadcast.put(f"other {number % 50}", f"other {number}", name, "v")
    for name in names:
        broadcast.put("n", name, name, f"old value of {name}")
    for name in names:
        broadcast.put("n", name, name, f"value of {name}")
    assert all(broadcast.echo(name).confirmed for name in names)
    for name in names:
        answer = broadcast.recall(misspelt(name, random.Random(1)), "n")
        assert answer is not None
        assert answer.value == f"value of {name}"
    for name in names[1:]:
        broadcast.remove(name)
    assert broadcast.echo(names[0]).confirmed
    assert broadcast.recall(question(names[0]), "n") is not None


def test_nobody_is_likely_to_know_what_nobody_has_a_word_of() -> None:
    broadcast = Broadcast()
    assert broadcast.likely("anything") == []
    broadcast.put("n", "f", "name", "Eve")
    assert broadcast.likely("quarterly figures") == []
    assert broadcast.remove("g") is False


def test_random_changes_leave_the_keys_right() -> None:
    drawn = random.Random(8)
    broadcast, model = Broadcast(), dict[str, str]()
    names = keys(400, seed=8)
    for name in names:
        nugget = f"n{drawn.randrange(12)}"
        broadcast.put(nugget, name, name, name)
        model[name] = nugget
        if drawn.random() < 0.5:
            gone = drawn.choice(sorted(model))
            assert broadcast.remove(gone)
            del model[gone]
    for name, nugget in sorted(model.items())[:80]:
        assert nugget in broadcast.likely(question(name))
        answer = broadcast.recall(question(name))
        assert answer is not None
        assert answer.value == name


def test_a_fact_that_may_not_answer_is_passed_over() -> None:
    broadcast = Broadcast()
    broadcast.put("a", "1", "favorite color", "blue", ["hue"])
    broadcast.put("a", "2", "color favorite", "green", ["hue"])
    broadcast.put("b", "3", "favorite color", "red")

    def told(query: str, *rows: str, nugget: str | None = None) -> str | None:
        found = broadcast.recall(query, nugget, lambda row: row in rows)
        return found and found.row

    assert told("favorite color", "1", "2", "3") == "1"
    assert told("favorite color", "3") == "3"
    assert told("favorite color", "2") == "2"
    assert told("favorite color", "2", nugget="b") is None
    assert told("favorit color", "3") == "3"
    assert told("favorit color", "2", nugget="a") == "2"
    assert told("hue", "2") == "2"
    assert told("hue", "3") is None
    assert told("favorite color") is None
