"""Extraction and decisions by a language model: a real server, which may say anything."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, timedelta
from typing import Any

import pytest

from fakes import Api, FakeClock, memory
from model_server import Behaviour, ModelServer, drops, refuses, says, says_text, sends, thinks, truncates
from shelfd.models import ConfiguredModel, ModelSettings
from shelfd.storage.inmemory import InMemoryStores

TEXT = "Well, so it came about that Ada, of all people, moved over to Lisbon in the spring."
FACT = "Ada lives in Lisbon."


@dataclass
class House:
    """A memory, and the model's server."""

    api: Api
    server: ModelServer

    async def extract(self, content: str = TEXT, **named: Any) -> dict[str, Any]:
        return await self.api.call("remember_with_extraction", content=content, **named)


@pytest.fixture
async def house() -> AsyncIterator[House]:
    with ModelServer() as server:
        settings = ModelSettings(
            server.url, "m", retries=0, timeout=timedelta(seconds=20), failures=100, context_tokens=8_192
        )
        configured = ConfiguredModel(settings, FakeClock(), UTC)
        async with memory(InMemoryStores, model=configured) as api:
            yield House(api, server)
        await configured.close()


def found(*facts: tuple[str, Any]) -> Behaviour:
    return says({"facts": [{"fact": fact, "importance": importance} for fact, importance in facts]})


def decides(operation: str, n: int | None = 0, fact: int = 0) -> Behaviour:
    return says({"decisions": [{"fact": fact, "operation": operation, "n": n, "reason": "so it is"}]})


async def test_the_models_facts_are_kept_with_their_importance(house: House) -> None:
    house.server.then(found((FACT, 8), ("Ada likes the sea.", 4), ("It was spring.", 2), ("Ada has a boat.", "9")))
    answer = await house.extract(context="a letter", max_facts=2, source_ref="l")
    assert answer["engine"] == "llm"
    told = [(one["note"]["content"], one["importance"], one["status"]) for one in answer["results"]]
    assert told == [("Ada has a boat.", 9, "added"), (FACT, 8, "added")]
    assert {one["note"]["source"] for one in answer["results"]} == {"inferred"}
    shown = house.server.received[0].data
    assert (shown["text"], shown["context"]) == (TEXT, "a letter")


async def test_no_facts_are_an_answer(house: House) -> None:
    house.server.then(says({"facts": []}))
    assert (await house.extract())["results"] == []
    assert (await house.extract("Nothing.", nugget="n", min_importance=9))["engine"] == "rules"  # nothing is scripted


async def test_odd_facts_are_straightened(house: House) -> None:
    odd = [{"fact": "  ", "importance": 9}, 7, "Ada owns a mill.", {"fact": FACT, "importance": 99}, {"importance": 3},
           {"fact": "Ada owns a goat.", "importance": "very"}]  # fmt: skip
    house.server.then(says({"facts": odd}))
    answer = await house.extract()
    assert [(one["note"]["content"], one["importance"]) for one in answer["results"]] == [
        (FACT, 10), ("Ada owns a mill.", 5), ("Ada owns a goat.", 5)
    ]  # fmt: skip


BAD: list[Behaviour] = [
    drops, truncates, refuses("500 Oops"), refuses("401 Who"), sends(b"garbage"), says_text("Gladly."), says([1]),
    says({"facts": "none"}), says_text(""), says({}),
]  # fmt: skip


@pytest.mark.parametrize("bad", BAD)
async def test_whatever_goes_wrong_rules_take_the_text(house: House, bad: Behaviour) -> None:
    house.server.otherwise = bad
    answer = await house.extract()
    assert answer["engine"] == "rules"
    assert [one["note"]["content"] for one in answer["results"]] == [TEXT]
    assert len(house.server.received) <= 4


async def test_a_refused_answer_is_asked_for_again_with_the_reason(house: House) -> None:
    house.server.then(says_text("Gladly."), found((FACT, 8)))
    assert (await house.extract())["engine"] == "llm"
    assert "your_last_answer_was_refused" in house.server.received[1].data


async def test_nothing_is_asked_of_a_repeated_request(house: House) -> None:
    house.server.then(found((FACT, 8)))
    first = await house.extract(idempotency_key="k")
    assert await house.extract(idempotency_key="k") == {**first, "replayed": True}
    assert len(house.server.received) == 1


async def test_what_is_to_stay_here_is_not_sent(house: House) -> None:
    await house.api.call("nugget.create", name="papers", local_only=True)
    answer = await house.extract("The safe is behind the picture of the mill.", nugget="papers")
    assert answer["engine"] == "rules"
    assert not house.server.received


async def test_a_text_longer_than_the_models_context_is_shown_whole(house: House) -> None:
    words = [f"Mill {n} has {n} wheels and a keeper." for n in range(3_000)]

    def counts(data: dict[str, Any]) -> dict[str, Any]:
        return {"facts": [{"fact": data["text"].splitlines()[0][:40], "importance": 5}]}

    house.server.otherwise = thinks(counts)
    await house.extract(" ".join(words), max_facts=50)
    sent = " ".join(one.data["text"] for one in house.server.received if "text" in one.data)
    assert all(word in sent for word in words)
    assert all(len(one.body) < 8_192 * 4 for one in house.server.received)


# ------------------------------------------------------------ decisions

OLD = "Ada lives in Porto."


@pytest.mark.parametrize(
    ("operation", "status", "visible"),
    [
        ("ADD", "added", {OLD, FACT}),
        ("UPDATE", "updated", {FACT}),
        ("delete", "corrected", {FACT}),
        ("NOOP", "noop", {OLD}),
    ],
)
async def test_the_model_decides_what_a_fact_does(house: House, operation: str, status: str, visible: set[str]) -> None:
    old = await house.api.remember(OLD)
    house.server.then(found((FACT, 8)), decides(operation))
    (one,) = (await house.extract())["results"]
    assert one["status"] == status
    assert one["superseded"] == ([old["id"]] if status in ("updated", "corrected") else [])
    assert set(await house.api.found("Where does Ada live?")) == visible
    if status == "noop":
        assert one["note"]["id"] == old["id"]
    shown = house.server.received[1].data["facts"]
    assert shown == [{"fact": 0, "text": FACT, "known": [{"n": 0, "text": OLD}]}]
    assert old["id"] not in house.server.everything


WRONG = [
    decides("UPDATE", 7),
    decides("UPDATE", None),
    decides("UPDATE", fact=3),
    decides("PERHAPS"),
    decides("NOOP", -1),
]


@pytest.mark.parametrize("wrong", WRONG)
async def test_a_decision_on_a_note_that_was_not_shown_is_asked_again(house: House, wrong: Behaviour) -> None:
    await house.api.remember(OLD)
    house.server.then(found((FACT, 8)), wrong, decides("ADD"))
    (one,) = (await house.extract())["results"]
    assert one["status"] == "added"
    assert "your_last_answer_was_refused" in house.server.received[2].data


@pytest.mark.parametrize("bad", [decides("UPDATE", 7), says_text("?"), refuses("500 Oops"), drops])
async def test_where_the_model_does_not_decide_rules_do(house: House, bad: Behaviour) -> None:
    await house.api.remember("APT28 uses X-Agent.")
    house.server.then(found(("APT28 stopped using X-Agent.", 8)))
    house.server.otherwise = bad
    answer = await house.extract()
    assert (answer["engine"], answer["results"][0]["status"]) == ("llm", "updated")


async def test_a_note_that_changed_since_it_was_shown_is_decided_on_by_rules(house: House) -> None:
    old = await house.api.remember(OLD)
    api, loop = house.api, asyncio.get_running_loop()

    def edits(_data: dict[str, Any]) -> dict[str, Any]:
        edit = api.call("note.edit", id=old["id"], content="The mill has nine wheels.")
        asyncio.run_coroutine_threadsafe(edit, loop).result(20)
        return {"decisions": [{"fact": 0, "operation": "UPDATE", "n": 0}]}

    house.server.then(found((FACT, 8)), thinks(edits))
    (one,) = (await house.extract())["results"]
    assert (one["status"], one["superseded"]) == ("added", [])
