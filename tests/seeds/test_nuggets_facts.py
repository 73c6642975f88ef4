"""Nuggets' test cases on facts, through the methods. Where a case is fixed, its docstring says how and why."""

from typing import Any

import pytest

from fakes import Api


async def ask(api: Api, query: str, **named: Any) -> dict[str, Any]:
    """What recall answers from the facts."""
    result = await api.call("recall", query=query, **{"mode": "fhrr", **named})
    answer: dict[str, Any] = result.get("answer", {"found": False, "confidence": 0.0, "margin": 0.0})
    return answer


async def tell(api: Api, **facts: str) -> None:
    """Remember facts, underscores of the keys as blanks."""
    for key, value in facts.items():
        await api.remember(value, key=key.replace("_", " "))


async def test_a_fact_is_remembered_and_recalled(api: Api) -> None:
    """Fixed: the original's confidence was one over the number of values; ours is near 1 for the very key."""
    await tell(api, favorite_color="blue")
    for number in range(50):
        await api.remember(f"value {number}", key=f"another {number}")
    answer = await ask(api, "favorite color")

    assert (answer["found"], answer["value"], answer["key"]) == (True, "blue", "favorite color")
    assert answer["confidence"] > 0.9


async def test_the_same_key_is_one_fact_with_the_new_value(api: Api) -> None:
    await tell(api, city="Rome")
    await api.remember("Oslo", key="CITY")

    facts = (await api.call("nugget.facts", name="memory"))["facts"]
    assert [(fact["key"], fact["value"]) for fact in facts] == [("city", "Oslo")]


async def test_forgetting_says_whether_there_was_something(api: Api) -> None:
    """Fixed: the original dropped the row; ours is hidden and can be restored. True and false are ids and none."""
    fact = await api.remember("Rome", key="city")

    assert (await api.call("forget", key=" City "))["forgotten"] == [fact["id"]]
    assert (await api.call("forget", key="city"))["forgotten"] == []
    assert (await ask(api, "city"))["found"] is False


async def test_clearing_a_nugget_leaves_no_fact(api: Api) -> None:
    """Fixed: the original deleted facts and notes for good; ours hides them, and each can come back."""
    await tell(api, city="Rome", drink="tea")

    assert (await api.call("nugget.clear", name="memory"))["hidden"] == 2
    assert (await api.call("nugget.facts", name="memory"))["facts"] == []
    assert (await api.call("nugget.status", name="memory"))["fact_count"] == 0


async def test_status_has_the_original_s_fields(api: Api) -> None:
    """Fixed: default dimension 1024 and not 16384, which costs a sixteenth and loses nothing: rows hold the values."""
    await tell(api, city="Rome", drink="tea")
    status = await api.call("nugget.status", name="memory")

    assert {name: status[name] for name in ("name", "fact_count", "note_count", "max_facts", "capacity_warning")} == {
        "name": "memory", "fact_count": 2, "note_count": 2, "max_facts": 0, "capacity_warning": "",
    }  # fmt: skip
    assert (status["dimension"], status["banks"], status["ensembles"]) == (1024, 4, 1)
    assert status["capacity_used_pct"] == round(100 * 2 / status["capacity"], 1)


async def test_facts_survive_closing_and_opening(api: Api) -> None:
    """Fixed: no file is saved and loaded by hand; what was acknowledged is on disk, with hits and last session."""
    await tell(api, city="Rome", drink="tea")
    await api.call("nugget.create", name="small", dimension=256, banks=2, ensembles=2, max_facts=9)
    await ask(api, "city", session_id="s1")
    before = await api.call("nugget.facts", name="memory")
    await api.reopen()

    assert await api.call("nugget.facts", name="memory") == before
    assert [fact["hits"] for fact in before["facts"]] == [1, 0]
    assert (await ask(api, "drink"))["value"] == "tea"
    small = await api.call("nugget.status", name="small")
    assert (small["dimension"], small["banks"], small["ensembles"], small["max_facts"]) == (256, 2, 2, 9)


async def test_hits_are_distinct_sessions(api: Api) -> None:
    """Fixed: the original knew the last session only, so that A, B, A, B, A made five hits; they are two."""
    fact = await api.remember("Rome", key="city")
    for session in ("a", "a", "b", "a", "b", "a"):
        await ask(api, "city", session_id=session)

    note = await api.note(fact["id"])
    assert (note["hits"], note["last_hit_session"], note["access_count"]) == (2, "a", 6)


async def test_without_a_session_the_caller_s_day_is_one(api: Api) -> None:
    """Fixed: the original's own tools passed no session, so that no fact was ever hit; a day of a caller counts."""
    fact = await api.remember("Rome", key="city")
    for _ in range(3):
        await ask(api, "city")

    assert (await api.note(fact["id"]))["hits"] == 1


async def test_a_wrong_answer_earns_no_hit(api: Api) -> None:
    """Fixed: in the original any key that was somehow alike answered and was counted."""
    fact = await api.remember("blue", key="favorite color")
    await ask(api, "how tall is mount everest in meters", session_id="s")

    assert (await api.note(fact["id"]))["hits"] == 0


async def test_beyond_max_facts_the_oldest_goes(api: Api) -> None:
    """Fixed: the original deleted what fell out, note and all; ours hides it and says so by an event."""
    await api.call("nugget.create", name="n", max_facts=3)
    for number in range(5):
        await api.remember(f"value {number}", key=f"key {number}", nugget="n")

    facts = (await api.call("nugget.facts", name="n"))["facts"]
    assert [fact["key"] for fact in facts] == ["key 2", "key 3", "key 4"]
    assert (await api.call("nugget.status", name="n"))["hidden_count"] == 2


async def test_three_facts_are_told_apart(api: Api) -> None:
    await tell(api, name="Ada", city="Rome", drink="tea")

    assert [(await ask(api, key))["value"] for key in ("name", "city", "drink")] == ["Ada", "Rome", "tea"]


async def test_part_of_a_key_is_enough(api: Api) -> None:
    await tell(api, favorite_color="blue", home_town="Rome")

    assert (await ask(api, "color"))["value"] == "blue"


async def test_an_empty_nugget_knows_nothing(api: Api) -> None:
    """Fixed: no null for a value; what is not found has none."""
    await api.call("nugget.create", name="empty")

    assert await ask(api, "anything", nugget="empty") == {"found": False, "confidence": 0.0, "margin": 0.0}


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("how to deploy", "run make ship"),
        ("which python version", "3.11"),
        ("what food do they like", "sushi"),
    ],
)
async def test_questions_find_the_fact_they_are_about(api: Api, question: str, value: str) -> None:
    await tell(api, deploy_command="run make ship", python_version="3.11", favorite_food="sushi")

    assert (await ask(api, question))["value"] == value


async def test_a_question_about_something_else_is_not_answered(api: Api) -> None:
    """Fixed beyond two facts: with fifty, the original answered every unrelated question."""
    await tell(api, python_version="3.11", favorite_food="sushi")
    assert (await ask(api, "weather forecast tomorrow"))["found"] is False
    for number in range(50):
        await api.remember(f"value {number}", key=f"amber anchor {number}")

    assert (await ask(api, "weather forecast tomorrow"))["found"] is False


@pytest.mark.parametrize(
    "params", [{"key": "", "content": "x"}, {"key": "  ", "content": "x"}, {"key": "k", "content": " \n"}]
)
async def test_blank_keys_and_values_leave_no_trace(api: Api, params: dict[str, str]) -> None:
    """Fixed: the original ignored them without a word; the caller is told."""
    assert (await api.refused("remember", params)).code == -32602
    assert (await api.call("get_stats"))["last_seq"] == 0


async def test_an_empty_question_is_refused(api: Api) -> None:
    """Fixed: in the original it meant the first key."""
    await tell(api, city="Rome")

    assert (await api.refused("recall", query="  ")).field == "query"


async def test_thousands_of_facts_are_exact(api: Api) -> None:
    """Fixed: of 5,000 facts the original recalled one in ten by its very key."""
    notes = [{"key": f"amber {n} budget", "content": f"value {n}"} for n in range(5000)]
    await api.call("remember_many", notes=notes)

    for number in range(0, 5000, 500):
        answer = await ask(api, f"amber {number} budget", mode="auto")
        assert (answer["value"], answer["confidence"]) == (f"value {number}", 1.0)
