"""remember_many: all good items in one transaction."""

import asyncio
from typing import Any

import pytest

from fakes import Api
from shelfd.protocol import Limits


async def test_good_items_are_stored_in_one_transaction(either: Api) -> None:
    result = await either.call("remember_many", notes=[{"content": f"n{n}"} for n in range(3)])

    assert result["rejected"] == []
    log = (await either.call("shelf.log"))["log"]
    assert {(row["tx"], row["tx_size"]) for row in log} == {(1, 4)}
    assert [row["ids"][0] for row in log[1:]] == result["ids"]
    assert result["last_seq"] == 4


async def test_bad_items_are_told_one_by_one_and_the_others_stand(either: Api) -> None:
    other = await either.remember("x")
    result = await either.call(
        "remember_many",
        notes=[
            {"content": "good"},
            {"content": " "},
            {"content": "x", "links": [{"to": "nothing"}]},
            17,
            {"content": "x", "key": "user:"},
            {"content": "x", "evolve": 1},
            {"content": "x", "idempotency_key": "a"},
            {"content": "linked", "links": [{"to": other["id"]}], "sessionId": "s"},
        ],
    )

    told = [(item["index"], item["error"]["code"], item["error"]["data"].get("field")) for item in result["rejected"]]
    assert told == [
        (1, -32602, "notes.1.content"),
        (2, -32001, None),
        (3, -32602, "notes.3"),
        (4, -32602, "notes.4.key"),
        (5, -32602, "notes.5.evolve"),
        (6, -32602, "notes.6.idempotency_key"),
    ]
    assert [note_id is not None for note_id in result["ids"]] == [True, False, False, False, False, False, False, True]
    assert await either.found("good") == ["good"]


async def test_a_rejected_item_leaves_nothing_behind(either: Api) -> None:
    await either.call("remember_many", notes=[{"content": "x", "nugget": "new", "links": [{"to": "nothing"}]}])

    assert (await either.call("nugget.list"))["nuggets"] == []
    assert (await either.call("get_stats"))["last_seq"] == 0


async def test_a_rejected_update_of_a_fact_leaves_the_fact_alone(either: Api) -> None:
    note = await either.remember("old", key="k")
    result = await either.call("remember_many", notes=[{"content": "new", "key": "k", "links": [{"to": note["id"]}]}])

    assert result["rejected"][0]["error"]["data"]["field"] == "links"
    assert (await either.note(note["id"]))["content"] == "old"


async def test_atomic_with_a_bad_item_stores_nothing(either: Api) -> None:
    result = await either.call("remember_many", notes=[{"content": "good"}, {"content": ""}], atomic=True)

    assert result == {"ids": [None, None], "rejected": result["rejected"], "last_seq": 0}
    assert [item["index"] for item in result["rejected"]] == [1]
    assert await either.found("good") == []


async def test_the_same_key_twice_in_a_batch_is_one_fact_with_the_last_value(either: Api) -> None:
    result = await either.call(
        "remember_many",
        notes=[{"content": "one", "key": "K"}, {"content": "two", "key": "k"}, {"content": "two", "key": "K"}],
    )

    assert len(set(result["ids"])) == 1
    note = await either.note(result["ids"][0])
    assert [note["content"], note["rev"]] == ["two", 2]
    assert (await either.call("recall", query="k"))["answer"]["value"] == "two"


async def test_turns_of_a_batch_are_numbered_in_order(either: Api) -> None:
    notes = [{"content": "x", "session_id": "s", "turn": turn} for turn in (1, 2, 2, 3)]
    ids = (await either.call("remember_many", notes=notes))["ids"]

    assert [(await either.note(note_id))["seq_to"] for note_id in ids] == [1, 2, 2, 3]


@pytest.mark.parametrize(("count", "refused"), [(10_000, False), (10_001, True)])
async def test_ten_thousand_items_and_no_more(api: Api, count: int, refused: bool) -> None:
    notes: list[Any] = [{"content": "x"}, *[0] * (count - 1)]  # mostly bad ones: they are cheap
    if refused:
        error = await api.refused("remember_many", notes=notes)
        assert (error.code, error.field, error.limit) == (-32602, "notes", 10_000)
    else:
        assert len((await api.call("remember_many", notes=notes))["rejected"]) == 9_999


async def test_no_items_are_refused(api: Api) -> None:
    assert (await api.refused("remember_many", notes=[])).field == "notes"


async def test_items_are_held_to_the_configured_limits() -> None:
    from fakes import memory

    async with memory(limits=Limits(content_bytes=5)) as api:
        result = await api.call("remember_many", notes=[{"content": "123456"}])
        assert [result["rejected"][0]["error"]["code"], result["rejected"][0]["error"]["data"]["limit"]] == [-32005, 5]


async def test_five_thousand_notes_are_found_at_once(durable: Api) -> None:
    await durable.call("remember_many", notes=[{"content": f"number{n} of many"} for n in range(5000)])

    assert await durable.found("number4999", k=1) == ["number4999 of many"]
    assert await durable.found("number0", k=1) == ["number0 of many"]


async def test_big_and_small_changes_at_once_are_all_found(either: Api) -> None:
    async def many(batch: int) -> None:
        await either.call("remember_many", notes=[{"content": f"batch{batch}x{n}"} for n in range(300)])

    async def one(number: int) -> None:
        await either.remember(f"single{number}")
        assert await either.found(f"single{number}", k=1) == [f"single{number}"]

    work = [many(n) if n % 5 == 0 else one(n) for n in range(25)]
    await asyncio.gather(*work)

    assert (await either.call("shelf.check", principal="uid:0"))["problems"] == []
    assert await either.found("batch20x299", k=1) == ["batch20x299"]
