"""What is asked for while the notes of a large import are being read for what they mention."""

import asyncio
from typing import Any

import pytest

from fakes import Api
from shelfd.memory.knowledge.batches import Batches
from shelfd.memory.methods import caught_up

ENTITY = {"entity_type": "actor", "entity_value": "APT7"}
#: What waited until all notes were read.
READS: list[tuple[str, dict[str, Any]]] = [
    ("traverse_graph", {"start_type": "actor", "start_value": "APT7"}),
    ("graph.timeline", ENTITY),
    ("graph.timeline", {"query": "APT7 used Mimikatz"}),
    ("graph.export", {}),
    ("graph.export", ENTITY),
    ("synthesize", {"query": "What did APT7 use?", "format": "synthesized_brief"}),
    ("synthesize", {"query": "What did APT7 use?", "format": "relationship_map"}),
    ("synthesize", {"query": "What did APT7 use?"}),
]
#: Of these, what goes by the words of notes alone.
BY_WORDS = (READS[2], READS[7])


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have fewer notes be many, and nobody wait long."""
    monkeypatch.setattr(caught_up, "_LEFT_OF_ENTITIES", 50)
    monkeypatch.setattr(caught_up, "_PATIENCE_FOR_ENTITIES_S", 0.05)


@pytest.fixture
def stuck(monkeypatch: pytest.MonkeyPatch) -> asyncio.Event:
    """Have no note be read before this is set."""
    goes_on, step = asyncio.Event(), Batches.step

    async def slow(batches: Batches) -> None:
        await goes_on.wait()
        await step(batches)

    monkeypatch.setattr(Batches, "step", slow)
    return goes_on


async def import_many(api: Api, count: int = 150) -> int:
    """Store many notes at once; return the last change."""
    notes = [{"content": f"APT{n % 30} used Mimikatz on host-{n}.example.org."} for n in range(count)]
    return int((await api.call("remember_many", notes=notes))["last_seq"])


@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize(("method", "params"), READS)
async def test_what_is_read_answers_at_once_and_says_how_far_notes_were_read(
    either: Api, method: str, params: dict[str, Any]
) -> None:
    last_seq = await import_many(either)
    first = await either.call(method, params)
    if (method, params) not in BY_WORDS:
        assert first["index"] == {"state": "warming", "share": 0.0, "seq": 0}
        assert first.get("truncated", True)
    await either.shelf().enrichment.reach()
    then = await either.call(method, params)
    assert then["index"] == {"state": "ready", "share": 1.0, "seq": last_seq}
    if (method, params) in BY_WORDS:
        assert first["index"] == then["index"]


@pytest.mark.usefixtures("hasty")
async def test_a_timeline_has_what_has_the_words_of_the_name_before_all_notes_were_read(either: Api) -> None:
    await import_many(either)
    first = await either.call("graph.timeline", ENTITY)
    await either.shelf().enrichment.reach()
    then = await either.call("graph.timeline", ENTITY)
    assert first["entries"] == then["entries"] != []
    assert (first["truncated"], then["truncated"]) == (True, False)


@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize(("method", "params"), [one for one in READS if one not in BY_WORDS])
async def test_who_says_up_to_which_change_waits_for_it(api: Api, method: str, params: dict[str, Any]) -> None:
    last_seq = await import_many(api)
    caught_up._PATIENCE_FOR_ENTITIES_S = 60.0  # type: ignore[misc]
    found = await api.call(method, params, min_seq=last_seq)
    assert found["index"] == {"state": "ready", "share": 1.0, "seq": last_seq}


@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize("is_dry", [True, False])
async def test_a_purge_that_could_miss_a_note_is_none(either: Api, stuck: asyncio.Event, is_dry: bool) -> None:
    await import_many(either)
    before = (await either.call("get_stats"))["last_seq"]
    refused = await either.refused("entity.purge", ENTITY, dry_run=is_dry)
    assert (refused.code, refused.data["retryable"], refused.reason) == (-32003, True, "WARMING")
    assert refused.data["index"] == {"state": "warming", "share": 0.0, "seq": 0}
    assert "ask again" in refused.message
    assert (await either.call("get_stats"))["last_seq"] == before
    stuck.set()
    await either.shelf().enrichment.reach()
    assert (await either.call("entity.purge", ENTITY, dry_run=is_dry))["notes"] == 5


@pytest.mark.usefixtures("hasty")
async def test_a_purge_waits_as_long_as_its_caller_does(api: Api, stuck: asyncio.Event) -> None:
    await import_many(api)
    purging = asyncio.create_task(api.call("entity.purge", ENTITY, timeout_ms=60_000))
    await asyncio.sleep(0.2)  # longer than the patience of requests that do not say how long they wait
    assert not purging.done()
    stuck.set()
    assert (await purging)["purged"] == 5
    await import_many(api)
    stuck.clear()
    assert (await api.refused("entity.purge", ENTITY, timeout_ms=250)).reason == "WARMING"


@pytest.mark.usefixtures("hasty")
async def test_an_old_note_may_be_missed_behind_newer_ones_and_that_is_said(either: Api, stuck: asyncio.Event) -> None:
    """Of the notes that have the words of a name, the newest are read for the answer."""
    old = "Anna Lund works at Acme."
    await either.remember(old)
    notes = [{"content": f"Lund is a town; {number} people there are called Anna."} for number in range(100)]
    await either.call("remember_many", notes=notes)
    asked = {"entity_type": "person", "entity_value": "Anna Lund"}
    for method in ("recall_entity", "get_entity_relationships", "graph.timeline"):
        found = await either.call(method, asked)
        assert found["index"]["state"] == "warming"
        assert found["index"]["share"] < 1
    stuck.set()
    await either.shelf().enrichment.reach()
    found = await either.call("recall_entity", asked)
    assert [note["content"] for note in found["notes"]] == [old]
    assert found["index"]["state"] == "ready"
