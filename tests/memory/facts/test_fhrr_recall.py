"""recall with keys that are only like a fact's: mode fhrr, and the answer of the usual mode."""

import asyncio
import gc
from datetime import timedelta
from typing import Any

import pytest

from fakes import BOB, Api
from shelfd.memory.facts.fact_memory import ShelfFacts
from shelfd.memory.notes.note import Note

NOT_FOUND = {"found": False, "confidence": 0.0, "margin": 0.0}


async def asked(api: Api, query: str, **named: Any) -> dict[str, Any]:
    """The answer of the mode that asks the memory of facts alone."""
    answer: dict[str, Any] = (await api.call("recall", query=query, mode="fhrr", **named))["answer"]
    return answer


async def facts(api: Api, **values: str) -> None:
    """Remember facts, blanks in their keys written as underscores."""
    for key, value in values.items():
        await api.remember(value, key=key.replace("_", " "))


@pytest.fixture
async def told(either: Api) -> Api:
    """A memory with a few facts, over each kind of stores."""
    await facts(
        either,
        favorite_color="blue",
        deploy_command="make ship",
        python_version="3.11",
        favorite_food="ramen",
    )
    return either


@pytest.mark.parametrize(
    ("query", "value"),
    [
        ("favorite color", "blue"),
        ("FAVORITE  Color", "blue"),
        ("favorit color", "blue"),
        ("favourite colour", "blue"),
        ("color", "blue"),
        ("color favorite", "blue"),
        ("how to deploy", "make ship"),
        ("which python version", "3.11"),
        ("what food do they like", "ramen"),
    ],
)
async def test_a_fact_is_found_by_words_like_its_key(told: Api, query: str, value: str) -> None:
    assert (await asked(told, query))["value"] == value


@pytest.mark.parametrize(
    "query",
    [
        "can you tell me my favorite color please",
        "Hey, whats my favorite color again?",
        "I forgot the favorite color",
        "please remind me of the favorit color",
        "show me the favourite color they use",
    ],
)
async def test_words_around_a_question_are_no_part_of_it(told: Api, query: str) -> None:
    result = await told.call("recall", query=query)

    assert result["answer"]["value"] == "blue"


async def test_a_word_that_mostly_asks_is_one_like_others_where_a_key_has_it(told: Api) -> None:
    await facts(told, what_to_tell_anna="the truth", what_to_give_anna="a book")

    assert (await asked(told, "what should I tell anna please"))["value"] == "the truth"
    assert (await asked(told, "what should I give anna"))["value"] == "a book"
    assert (await asked(told, "please"))["found"] is False


@pytest.mark.parametrize(
    "query",
    [
        "what is the weather forecast tomorrow",
        "how tall is mount everest in meters",
        "please tell me",
        "a",
        "¯\\_(ツ)_/¯",
    ],
)
@pytest.mark.parametrize("mode", ["auto", "fhrr"])
async def test_an_unrelated_question_is_not_answered(told: Api, query: str, mode: str) -> None:
    result = await told.call("recall", query=query, mode=mode)

    assert [result["results"], result["abstained"], result["mode"]] == [
        [], True, "lexical" if mode == "auto" else "fhrr",
    ]  # fmt: skip
    assert result.get("answer", NOT_FOUND) == NOT_FOUND


async def test_an_empty_shelf_or_nugget_knows_nothing(either: Api) -> None:
    assert await asked(either, "color") == NOT_FOUND
    await either.call("nugget.create", name="empty")
    assert await asked(either, "color", nugget="empty") == NOT_FOUND
    await facts(either, favorite_color="blue")
    assert await asked(either, "color", nugget="empty") == NOT_FOUND


async def test_a_typo_is_answered_in_the_usual_mode_and_competes_among_the_results(told: Api) -> None:
    await told.remember("the favorit of all dogs is barking")
    result = await told.call("recall", query="favorit colr")

    answer = result["answer"]
    assert [answer["value"], answer["key"], answer["nugget"]] == ["blue", "favorite color", "memory"]
    assert 0.5 <= answer["confidence"] < 1
    assert result["results"][0]["note"]["id"] == answer["note_id"]
    scores = [hit["score"] for hit in result["results"]]
    assert scores == sorted(scores, reverse=True)
    assert len({hit["note"]["id"] for hit in result["results"]}) == len(scores)


async def test_the_usual_mode_does_not_guess(told: Api) -> None:
    guessed = await asked(told, "what food do they like")
    result = await told.call("recall", query="what food do they like")

    assert guessed["confidence"] < 0.5
    assert "answer" not in result


async def test_who_asks_for_words_alone_gets_no_fact_that_is_only_like_it(told: Api) -> None:
    assert "answer" not in await told.call("recall", query="favorit color", mode="lexical")
    assert (await told.call("recall", query="favorite color", mode="lexical"))["answer"]["confidence"] == 1.0


async def test_the_mode_returns_the_fact_and_what_it_links_to(told: Api) -> None:
    other = await told.remember("paint is in the cellar")
    await told.remember("green", key="wall paint", links=[{"to": other["id"]}])
    result = await told.call("recall", query="wal paint", mode="fhrr", explain=True)

    assert [hit["note"]["content"] for hit in result["results"]] == ["green", "paint is in the cellar"]
    assert result["results"][1]["via"] == result["answer"]["note_id"]
    assert result["results"][0]["signals"] == {"key": result["answer"]["confidence"]}
    assert [hit["note"]["content"] for hit in (await told.call(
        "recall", query="wal paint", mode="fhrr", include_links=False))["results"]] == ["green"]  # fmt: skip


async def test_an_alias_answers(told: Api) -> None:
    await told.remember("+49 30 1234", key="phone of alice", aliases=["her number"])

    assert (await asked(told, "HER NUMBER"))["value"] == "+49 30 1234"
    assert (await told.call("recall", query="her number"))["answer"]["key"] == "phone of alice"


async def test_a_second_value_replaces_the_first(told: Api) -> None:
    assert (await asked(told, "color"))["value"] == "blue"
    await facts(told, favorite_color="green")

    assert (await asked(told, "color"))["value"] == "green"
    assert len(told.shelf().projection(ShelfFacts)) == 4
    assert (await told.call("nugget.status", name="memory"))["fact_count"] == 4


async def test_what_is_hidden_is_not_found_until_it_is_restored(told: Api) -> None:
    note_id = (await asked(told, "favorit color"))["note_id"]
    await told.call("note.hide", id=note_id)
    assert (await asked(told, "favorit color")).get("value") != "blue"

    await told.call("note.restore", id=note_id)
    assert (await asked(told, "favorit color"))["value"] == "blue"

    await told.call("nugget.clear", name="memory")
    assert await asked(told, "favorit color") == NOT_FOUND


async def test_what_is_replaced_expired_or_purged_is_not_found(told: Api) -> None:
    assert (await asked(told, "favorit color"))["found"]
    old = (await asked(told, "python versio"))["note_id"]
    new = await told.remember("3.13 since June")
    await told.call("mark_note_superseded", note_id=old, superseded_by_id=new["id"])
    await told.call("forget", key="deploy command", purge=True)
    await told.remember("tuna", key="lunch today", ttl_days=1)
    assert (await asked(told, "lunc today"))["value"] == "tuna"
    told.clock.advance(timedelta(days=2))

    assert await asked(told, "python versio") == NOT_FOUND
    assert await asked(told, "deploy comand") == NOT_FOUND
    assert await asked(told, "lunc today") == NOT_FOUND
    assert (await asked(told, "lunc today", include_expired=True))["value"] == "tuna"


async def test_an_edited_key_is_found_by_its_new_words_only(told: Api) -> None:
    note_id = (await asked(told, "python versio"))["note_id"]
    await told.call("note.edit", id=note_id, title="interpreter release", aliases=["runtime"])

    assert await asked(told, "python versio") == NOT_FOUND
    assert (await asked(told, "interpreter releas"))["key"] == "interpreter release"
    assert (await asked(told, "runtime"))["note_id"] == note_id


async def test_two_facts_that_swap_their_keys_are_told_apart(told: Api) -> None:
    color, food = [(await asked(told, query))["note_id"] for query in ("favorite colr", "favorite fod")]
    for note_id, title in ((color, "between"), (food, "favorite color"), (color, "favorite food")):
        await told.call("note.edit", id=note_id, title=title)

    assert (await asked(told, "favorite colr"))["value"] == "ramen"
    assert (await asked(told, "favorite fod"))["value"] == "blue"
    assert await asked(told, "between") == NOT_FOUND


async def test_facts_follow_their_nugget_and_their_moves(told: Api) -> None:
    note_id = (await asked(told, "favorit color"))["note_id"]
    await told.call("nugget.rename", name="memory", new_name="past")
    assert (await asked(told, "favorit color"))["nugget"] == "past"
    await told.call("nugget.create", name="taste")
    await told.call("note.move", id=note_id, nugget="taste")

    assert (await asked(told, "favorit color"))["nugget"] == "taste"
    assert await asked(told, "favorit color", nugget="past") != await asked(told, "favorit color", nugget="taste")
    assert (await asked(told, "deploy comand", nugget="past"))["value"] == "make ship"


async def test_of_all_nuggets_the_surest_answers_and_a_small_one_does_not_outshout(either: Api) -> None:
    for n in range(60):
        await either.remember(f"value {n}", key=f"city number {n} of the atlas", nugget="big")
    await either.remember("nowhere", key="city", nugget="small")

    assert (await asked(either, "city numbr 7 of the atlas"))["value"] == "value 7"
    assert (await asked(either, "city numbr 7 of the atlas", nugget="small"))["confidence"] < 0.5


async def test_what_several_nuggets_say_differently_is_told_to_who_asks_for_one(either: Api) -> None:
    for name in ("alice", "bob", "carol"):
        await either.remember(f"color of {name}", key="favorite color", nugget=name)
    guess = await asked(either, "favorit color")

    assert guess["confidence"] < 0.5
    assert guess["margin"] == 0.0
    assert "answer" not in await either.call("recall", query="favorit color")
    assert (await either.call("recall", query="favorit color", nugget="bob"))["answer"]["value"] == "color of bob"
    await either.call("note.edit", id=(await asked(either, "favorit color", nugget="bob"))["note_id"], content="blue")
    for name in ("alice", "carol"):
        await either.remember("blue", key="favorite color", nugget=name)
    assert (await either.call("recall", query="favorit color"))["answer"]["value"] == "blue"


@pytest.mark.parametrize("filters", [{"scope": "user"}, {"tags": ["mine"]}, {"type": "preference"}, {"subject": "me"}])
async def test_only_what_the_filters_admit_answers(either: Api, filters: dict[str, Any]) -> None:
    mine = {"scope": "user", "tags": ["mine"], "type": "preference", "subject": "me"}
    await either.remember("theirs", key="favorite colour", scope="shared", nugget="a")
    await either.remember("also theirs", key="favorite coloor", scope="shared", nugget="b")
    await either.remember("blue", key="favorite colour today", nugget="b", **mine)

    assert (await asked(either, "favorite colour", **filters))["value"] == "blue"


async def test_a_fact_of_one_session_answers_no_other(either: Api) -> None:
    await either.remember("1234", key="door code", scope="session", session_id="s1")

    assert (await asked(either, "dor code", session_id="s1"))["value"] == "1234"
    assert await asked(either, "dor code", session_id="s2") == NOT_FOUND


async def test_a_guess_is_no_hit_and_a_find_is_one(told: Api) -> None:
    sure = await asked(told, "favorit color", session_id="s")
    guess = await asked(told, "what food do they like", session_id="s")

    assert (await told.note(sure["note_id"]))["hits"] == 1
    assert (await told.note(guess["note_id"]))["hits"] == 0
    await asked(told, "favorit color", session_id="s")
    assert (await told.note(sure["note_id"]))["hits"] == 1


async def test_long_values_are_answered_whole_and_told_apart(either: Api) -> None:
    one, two = "a" * 5_000 + " one", "a" * 5_000 + " two"
    await facts(either, first_letter=one, second_letter=two)

    assert (await asked(either, "frst letter"))["value"] == one
    assert (await asked(either, "second lettr"))["value"] == two


async def test_many_facts_are_taken_in_before_the_mode_answers_and_behind_the_usual_one(either: Api) -> None:
    notes = [{"content": f"value {n}", "key": f"shelf {n} row {n}"} for n in range(400)]
    await either.call("remember_many", notes=notes)

    first = await either.call("recall", query="shelv 399 row 399")
    assert "answer" not in first
    assert len(either.shelf().projection(ShelfFacts)) < 400
    assert (await asked(either, "shelv 399 row 399"))["value"] == "value 399"
    assert (await either.call("recall", query="shelv 399 row 399"))["answer"]["value"] == "value 399"


async def test_the_usual_mode_is_served_once_the_facts_are_taken_in_behind(either: Api) -> None:
    notes = [{"content": f"value {n}", "key": f"shelf {n} row {n}"} for n in range(100)]
    await either.call("remember_many", notes=notes)

    for _ in range(10_000):
        if "answer" in await either.call("recall", query="shelv 99 row 99"):
            return
        await asyncio.sleep(0)
    raise AssertionError("the facts are not taken in")


async def test_changes_while_facts_are_taken_in_are_not_lost(either: Api) -> None:
    notes = [{"content": f"value {n}", "key": f"shelf {n} row {n}"} for n in range(200)]
    await either.call("remember_many", notes=notes)
    await either.call("recall", query="shelv 1 row 1")
    for n in (0, 1, 150, 199):
        await either.remember(f"new value {n}", key=f"shelf {n} row {n}")
    await either.call("forget", key="shelf 2 row 2")
    await either.call("forget", key="shelf 198 row 198", purge=True)

    for n in (0, 1, 150, 199):
        assert (await asked(either, f"shelv {n} row {n}"))["value"] == f"new value {n}"
    for n in (2, 198):
        assert (await asked(either, f"shelv {n} row {n}")).get("value") != f"value {n}"
    assert len(either.shelf().projection(ShelfFacts)) == 198


async def test_nothing_is_built_before_anybody_asks(either: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[str] = []
    take = ShelfFacts._take

    def noted(held: ShelfFacts, note: Note) -> None:
        taken.append(note.id)
        take(held, note)

    monkeypatch.setattr(ShelfFacts, "_take", noted)
    await either.reopen()
    await facts(either, a="1", b="2")
    await either.call("recall", query="a", mode="lexical")
    await either.call("get_context", query="a")
    assert taken == []

    await asked(either, "c")
    assert len(taken) == 2
    await either.remember("a note")
    await asked(either, "c")
    assert len(taken) == 2


async def test_each_shelf_has_its_own_facts(either: Api) -> None:
    await either.call("shelf.create", shelf="other", principal=BOB)
    await facts(either, favorite_color="blue")

    assert await asked(either, "favorit color", shelf="other", principal=BOB) == NOT_FOUND


async def test_facts_are_known_again_after_a_restart(durable: Api) -> None:
    await facts(durable, favorite_color="blue")
    assert (await asked(durable, "favorit color"))["found"]
    await durable.reopen()
    gc.collect()

    assert (await asked(durable, "favorit color"))["value"] == "blue"


async def test_undo_brings_facts_back_under_their_keys(told: Api) -> None:
    await asked(told, "favorit color")
    changed = await told.call("note.edit", id=(await asked(told, "color"))["note_id"], title="wall paint")
    log = await told.call("shelf.log", limit=1000)
    tx = next(row["tx"] for row in reversed(log["log"]) if changed["note"]["id"] in row["ids"])
    await told.call("undo", tx=tx)

    assert (await asked(told, "favorit color"))["value"] == "blue"
    assert await asked(told, "wall paint") == NOT_FOUND


@pytest.mark.parametrize("query", ["favorite color", "favourite colour"])
async def test_the_mode_says_whether_the_banks_give_the_value_too(told: Api, query: str) -> None:
    assert (await asked(told, query))["confirmed"] is True
    await told.remember("green", key="favorite color")
    assert {name: (await asked(told, query))[name] for name in ("value", "confirmed")} == {
        "value": "green", "confirmed": True,
    }  # fmt: skip
    assert "confirmed" not in (await told.call("recall", query=query))["answer"]


@pytest.mark.parametrize("shape", [{}, {"dimension": 64, "banks": 8}, {"dimension": 512, "banks": 2, "ensembles": 4}])
async def test_banks_confirm_what_they_have_room_for_and_rows_the_rest(api: Api, shape: dict[str, Any]) -> None:
    """Beyond its capacity a nugget knows its facts as well as before, and its banks no longer do."""
    await api.call("nugget.create", name="n", **shape)
    capacity = (await api.call("nugget.status", name="n"))["capacity"]

    async def confirmed(count: int) -> float:
        answers = [await asked(api, f"key {number}", nugget="n") for number in range(count)]
        assert [answer["value"] for answer in answers] == [f"value {number}" for number in range(count)]
        return sum(answer["confirmed"] is True for answer in answers) / count

    for number in range(capacity):
        await api.remember(f"value {number}", key=f"key {number}", nugget="n")
    assert await confirmed(capacity) > 0.9
    for number in range(capacity, 12 * capacity):
        await api.remember(f"value {number}", key=f"key {number}", nugget="n")
    assert await confirmed(capacity) < 0.6
