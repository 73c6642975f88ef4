"""session.extract with a language model: a real server, which may say anything."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, timedelta
from typing import Any

import pytest

from fakes import Api, FakeClock, memory
from model_server import Behaviour, ModelServer, drops, refuses, says, says_text, sends, thinks, truncates
from shelfd.models import ConfiguredModel, ModelSettings
from shelfd.storage.inmemory import InMemoryStores

TEXT = "Kai sells the boat to Mira at the harbour."
EVENT = {"op": "create", "type": "event", "fields": {"summary": "Kai sells the boat to Mira"}, "ref": "sale"}
MIRA = {
    "op": "create",
    "type": "character_sheet",
    "title": "Mira",
    "fields": {"identity": "buyer of the boat"},
    "ref": "m",
}
LINK = {"op": "link", "source": "sale", "target": "m", "relation": "involved_in"}
GOOD = {"ops": [EVENT, MIRA, LINK]}


@dataclass
class House:
    """A memory with a session on nugget ``story``, and the model's server."""

    api: Api
    server: ModelServer

    async def extract(self, text: str = TEXT, turn: int = 1, **named: Any) -> dict[str, Any]:
        said = [{"text": text, "role": "user", "turn": turn}]
        return await self.api.call("session.extract", session_id="s-1", turns=named.pop("turns", said), **named)

    async def noted(self, type_: str) -> list[dict[str, Any]]:
        found = await self.api.call("note.list", nugget="story", type=type_)
        return [note for note in found["notes"] if not note["hidden"]]


@pytest.fixture
async def house() -> AsyncIterator[House]:
    with ModelServer() as server:
        settings = ModelSettings(
            server.url, "m", retries=0, timeout=timedelta(seconds=20), failures=100, context_tokens=16_384
        )
        configured = ConfiguredModel(settings, FakeClock(), UTC)
        async with memory(InMemoryStores, model=configured) as api:
            await api.call("session.open", session_id="s-1", nugget="story")
            yield House(api, server)
        await configured.close()


async def test_what_the_model_takes_from_a_turn_is_noted(house: House) -> None:
    house.server.then(says(GOOD))
    answer = await house.extract()
    assert (answer["engine"], answer["extracted"], answer["operations"]) == ("model", [1], 3)

    (event,) = await house.noted("event")
    (mira,) = await house.noted("character_sheet")
    assert (event["content"], mira["title"], mira["turn"], mira["session_id"]) == (
        "Kai sells the boat to Mira", "Mira", 1, "s-1"
    )  # fmt: skip
    assert [(link["to"], link["relation"]) for link in event["links"]] == [(mira["id"], "involved_in")]
    shown = house.server.received[0].data
    assert shown["turns"] == [{"turn": 1, "role": "user", "text": TEXT}]
    assert {"event", "thread"} <= {kind["type"] for kind in shown["types"]}


async def test_what_is_known_is_shown_and_edited(house: House) -> None:
    house.server.then(says(GOOD))
    await house.extract()

    def edits(data: dict[str, Any]) -> dict[str, Any]:
        number = next(row["n"] for row in data["known"] if row["title"] == "Mira")
        return {"ops": [EVENT, {"op": "edit", "n": number, "fields": {"identity": "captain"}}]}

    house.server.then(thinks(edits))
    await house.extract("Mira is the captain now.", turn=2)
    (mira,) = await house.noted("character_sheet")
    assert mira["fields"]["identity"] == "captain"


async def test_an_answer_that_the_shelf_refuses_is_asked_for_again_with_the_reason(house: House) -> None:
    unknown = {"op": "create", "type": "thread", "title": "Find the boat", "fields": {}}
    house.server.then(says({"ops": [EVENT, unknown]}), says(GOOD))
    assert (await house.extract())["engine"] == "model"
    assert "status" in house.server.received[1].data["your_last_answer_was_refused"]
    assert len(await house.noted("event")) == 1
    assert not await house.noted("thread")


async def test_types_that_are_not_editable_stay_as_they_are(house: House) -> None:
    house.server.then(says(GOOD))
    await house.extract()

    def rewrites(data: dict[str, Any]) -> dict[str, Any]:
        number = next(row["n"] for row in data["known"] if row["type"] == "event")
        return {"ops": [EVENT, {"op": "edit", "n": number, "fields": {"summary": "nothing happened"}}]}

    house.server.then(thinks(rewrites), thinks(rewrites), says({"ops": [EVENT]}))
    await house.extract("Nothing happened.", turn=2)
    assert all("sells" in event["content"] for event in await house.noted("event"))
    assert len(house.server.received) == 4


BAD: list[Behaviour] = [
    drops, truncates, refuses("500 Oops"), refuses("401 Who"), sends(b"garbage"), says_text("Gladly."),
    says({"ops": []}), says({"ops": [{"op": "delete", "n": 5}]}), says([1]),
    says({"ops": [{**EVENT, "type": "wizard"}]}),
]  # fmt: skip


@pytest.mark.parametrize("bad", BAD)
async def test_whatever_goes_wrong_rules_take_the_turn(house: House, bad: Behaviour) -> None:
    house.server.otherwise = bad
    answer = await house.extract()
    assert (answer["engine"], answer["extracted"]) == ("rules", [1])
    assert len(await house.noted("event")) == 1
    assert len(house.server.received) <= 5


async def test_a_dry_run_shows_what_the_model_would_do(house: House) -> None:
    house.server.then(says(GOOD))
    answer = await house.extract(dry_run=True)
    assert (answer["engine"], answer["dry_run"], len(answer["ops"])) == ("model", True, 3)
    assert (await house.api.call("nugget.list"))["nuggets"] == []


async def test_a_turn_that_was_extracted_is_not_sent_again(house: House) -> None:
    house.server.then(says(GOOD))
    first = await house.extract(idempotency_key="k")
    again = await house.extract(idempotency_key="k")
    assert (again["replayed"], again["ids"]) == (True, first["ids"])
    assert (await house.extract())["skipped"] == [1]
    assert len(house.server.received) == 1


async def test_several_turns_are_a_job_that_asks_for_each(house: House) -> None:
    house.server.then(says(GOOD), refuses("500 Oops"), says({"ops": [EVENT]}))
    turns = [{"text": f"{TEXT} Day {turn}.", "turn": turn} for turn in (1, 2, 3)]
    answer = await house.extract(turns=turns)
    assert (answer["engine"], answer["extracted"]) == ("mixed", [1, 2, 3])
    earlier = [[message["turn"] for message in one.data["earlier"]] for one in house.server.received]
    assert earlier == [[], [1], [1, 2]]
    assert len(house.server.received) == 3
    job = await house.api.call("job.get", id=answer["job"])
    assert "boat" not in str(job)


async def test_turns_of_a_nugget_that_is_local_only_are_not_sent(house: House) -> None:
    await house.api.call("nugget.create", name="story", local_only=True)
    assert (await house.extract())["engine"] == "rules"
    assert not house.server.received


async def test_types_take_part_by_their_cadence(house: House) -> None:
    await house.api.call("schema.set_type", type="character_sheet", extract_every=2)
    house.server.otherwise = says({"ops": [EVENT]})
    await house.extract(turn=1)
    await house.extract("More of it.", turn=2)
    first, second = ({kind["type"] for kind in one.data["types"]} for one in house.server.received)
    assert "character_sheet" not in first
    assert "character_sheet" in second
