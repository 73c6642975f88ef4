"""Rollups worded by a language model: a real server, which may say anything."""

from collections.abc import AsyncIterator
from datetime import UTC, timedelta
from typing import Any

import pytest

from fakes import Api, FakeClock, memory
from model_server import Behaviour, ModelServer, refuses, says, says_text, truncates
from shelfd.models import ConfiguredModel, ModelSettings
from shelfd.storage.inmemory import InMemoryStores

SAID = "Ada rode to nine mills, and found the last one burnt down."


@pytest.fixture
async def house() -> AsyncIterator[tuple[Api, ModelServer]]:
    with ModelServer() as server:
        settings = ModelSettings(
            server.url, "m", retries=0, timeout=timedelta(seconds=20), failures=100, context_tokens=4_096
        )
        configured = ConfiguredModel(settings, FakeClock(), UTC)
        async with memory(InMemoryStores, model=configured) as api:
            yield api, server
        await configured.close()


async def compacted(api: Api, *, text: str = "Ada rode to mill {0}.", **nugget: Any) -> dict[str, Any]:
    """Tell of eight events, three of which are due; return what is rolled up."""
    await api.call("nugget.create", name="story", **nugget)
    await api.call("session.open", session_id="talk", nugget="story")
    first = None
    for turn in range(1, 9):
        fields = {"summary": text.format(turn)}
        made = await api.call("session.create_node", session_id="talk", type="event", fields=fields, turn=turn)
        first = first or made["id"]
    await api.call("session.compact", session_id="talk")
    parent = (await api.call("note.get", id=first))["note"]["parent_id"]
    return dict((await api.call("note.get", id=parent, full=True))["note"])


async def test_a_model_words_what_a_rollup_says(house: tuple[Api, ModelServer]) -> None:
    api, server = house
    server.then(says({"summary": f"  {SAID}\n"}))
    compression = {"summarize_instruction": "Mention the mills."}
    await api.call("schema.set_type", type="event", compression=compression)
    rollup = await compacted(api)
    assert (rollup["content"], rollup["source"], rollup["is_rollup"]) == (SAID, "inferred", True)
    (received,) = server.received
    assert [note["text"] for note in received.data["notes"]] == [f"Ada rode to mill {turn}." for turn in (1, 2, 3)]
    assert (received.data["depth"], received.data["wishes"]) == (1, "Mention the mills.")
    found = await api.call("recall", query="which mill was burnt down", nugget="story")
    assert rollup["id"] in {result["note"]["id"] for result in found["results"]}


@pytest.mark.parametrize(
    "behaviour",
    [refuses("500 Broken"), says_text("no"), truncates, says({"summary": ""}), says({"summary": " \n "}), says([])],
    ids=["refuses", "garbage", "truncates", "empty", "blank", "another shape"],
)
async def test_a_model_that_fails_is_made_up_for(house: tuple[Api, ModelServer], behaviour: Behaviour) -> None:
    api, server = house
    server.then(behaviour, behaviour, behaviour)
    rollup = await compacted(api)
    assert rollup["content"].startswith("- Ada rode to mill 1. [")
    assert rollup["source"] == "agent_reflection"


async def test_notes_that_are_to_stay_here_are_not_sent(house: tuple[Api, ModelServer]) -> None:
    api, server = house
    rollup = await compacted(api, local_only=True)
    assert rollup["source"] == "agent_reflection"
    assert not server.received


async def test_no_more_is_sent_than_the_models_context_holds(house: tuple[Api, ModelServer]) -> None:
    api, server = house
    server.then(says({"summary": SAID}))
    rollup = await compacted(api, text="Ada rode to mill {0}. " + "It rained on and on. " * 2_000)
    assert rollup["content"] == SAID
    assert len(server.received[0].body) < 4 * 4_096
