"""What a language model makes of new notes in the background: entities, causes, and notes like them reworded."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, timedelta
from typing import Any

import pytest

from fakes import ROOT, Api, FakeClock, memory
from model_server import Behaviour, ModelServer, drops, refuses, says, says_text, sends, thinks, truncates
from shelfd.memory import MemorySettings
from shelfd.memory.jobs.work import Work
from shelfd.memory.notes.filter import RECALLABLE
from shelfd.models import ConfiguredModel, ModelSettings
from shelfd.storage.inmemory import InMemoryStores

NOTE = "The phishing email of Gustl Brandauer enabled the theft of the ledger, which APT28 had wanted."
ENTITIES = [
    {"type": "person", "value": "Gustl Brandauer"}, {"type": "activity", "value": "theft of the ledger"},
    {"type": "person", "value": "Somebody Else"}, {"type": "wizard", "value": "APT28"}, {"type": "person"}, "x",
    {"type": "person", "value": 7},
]  # fmt: skip
TRIPLES = [
    {"subject": "phishing email", "relation": "enables", "object": "theft of the ledger"},
    ["APT28", "Attributed to", "Gustl Brandauer"],
    {"subject": "phishing email", "relation": "loves", "object": "APT28"},
    {"subject": "the moon", "relation": "causes", "object": "APT28"},
    {"subject": "APT28", "relation": "uses", "object": "APT28"}, ["APT28", "uses"], None,
]  # fmt: skip
READ = {"notes": [{"n": 0, "entities": ENTITIES, "triples": TRIPLES}]}


@dataclass
class House:
    """A memory, and the model's server."""

    api: Api
    server: ModelServer

    async def settled(self, *, moving: timedelta = timedelta(0)) -> list[dict[str, Any]]:
        """Wait until new notes were read by rules and jobs have ended; return these."""
        shelf = self.api.shelf()
        await shelf.enrichment.reach()
        async with asyncio.timeout(30):
            while shelf.view.jobs.page(unfinished=True, before=None, limit=1):
                if moving:
                    self.api.clock.advance(moving)
                await asyncio.sleep(0.005)  # the server answers in a thread of its own
        await shelf.enrichment.reach()
        listed = (await self.api.call("job.list"))["jobs"]
        return [(await self.api.call("job.get", id=one["id"], principal=ROOT))["job"] for one in listed]

    async def entities(self, note: dict[str, Any]) -> set[tuple[str, str]]:
        row = self.api.shelf().view.notes.by_ids([note["id"]])[note["id"]].row
        return {(one.type, one.value) for one in self.api.shelf().view.entities.of_note(row)}

    async def edges(self, note: dict[str, Any]) -> set[tuple[str, str, str, str]]:
        row = self.api.shelf().view.notes.by_ids([note["id"]])[note["id"]].row
        found = self.api.shelf().view.edges.of_note(row)
        return {(one.source.value, one.relation, one.target.value, one.engine) for one in found}


async def house_with(settings: MemorySettings) -> AsyncIterator[House]:
    with ModelServer() as server:
        wanted = ModelSettings(server.url, "m", retries=0, timeout=timedelta(seconds=20), failures=1000)
        configured = ConfiguredModel(wanted, FakeClock(), UTC)
        async with memory(InMemoryStores, model=configured, settings=settings) as api:
            yield House(api, server)
        await configured.close()


@pytest.fixture
async def reading() -> AsyncIterator[House]:
    async for house in house_with(MemorySettings(reads_by_model=True)):
        yield house


@pytest.fixture
async def evolving() -> AsyncIterator[House]:
    async for house in house_with(MemorySettings(evolves_neighbours=True)):
        yield house


# ------------------------------------------------------------------ reading


async def test_what_a_model_reads_stands_beside_what_rules_find(reading: House) -> None:
    note = await reading.api.remember(NOTE, domain="cti")
    reading.server.then(says(READ))
    (job,) = await reading.settled()
    assert (job["kind"], job["state"], job["result"]) == ("enrichment", "done", {"read": 1, "evolved": [], "unread": 0})
    found = await reading.entities(note)
    assert {("person", "gustl-brandauer"), ("activity", "theft-of-the-ledger"), ("intrusion_set", "apt28")} <= found
    assert not {value for _, value in found} & {"somebody-else", "7"}
    edges = {edge for edge in await reading.edges(note) if edge[3] == "llm"}
    assert edges == {
        ("phishing-email", "enables", "theft-of-the-ledger", "llm"),
        ("apt28", "attributed_to", "gustl-brandauer", "llm"),
    }
    told = await reading.api.call("recall_entity", entity_type="activity", entity_value="theft of the ledger")
    assert [one["id"] for one in told["notes"]] == [note["id"]]
    relationships = await reading.api.call(
        "get_entity_relationships", entity_type="activity", entity_value="theft of the ledger"
    )
    assert {(one["relationship"], one["edge_type"], one["note_id"]) for one in relationships["relationships"]} == {
        ("enables", "causal", note["id"])
    }


async def test_it_survives_another_reading_by_rules_and_goes_with_the_text(reading: House) -> None:
    note = await reading.api.remember(NOTE, domain="cti")
    reading.server.then(says(READ))
    await reading.settled()
    await reading.api.call("note.edit", id=note["id"], add_tags=["seen"])
    await reading.api.call("alias.add", type="actor", alias="Sofacy Group", canonical="APT28")
    await reading.settled()
    assert ("activity", "theft-of-the-ledger") in await reading.entities(note)
    assert len(reading.server.received) == 1  # its text is the same
    await reading.api.call("note.edit", id=note["id"], content="APT28 wanted the ledger.")
    reading.server.then(says({"notes": []}))
    await reading.settled()
    assert ("activity", "theft-of-the-ledger") not in await reading.entities(note)
    assert not {edge for edge in await reading.edges(note) if edge[3] == "llm"}


async def test_a_job_takes_a_batch_and_a_question_several_notes(reading: House) -> None:
    for number in range(10):
        await reading.api.remember(f"Group {number} attacked bank {number}.", domain="incident")
    await reading.api.remember("Short, and of no such domain.")
    reading.server.otherwise = says({"notes": []})
    (job,) = await reading.settled()
    assert job["result"]["read"] == 10
    assert [len(one.data["notes"]) for one in reading.server.received] == [8, 2]


async def test_long_notes_are_read_in_any_domain_but_not_what_is_to_stay_here(reading: House) -> None:
    await reading.api.call("nugget.create", name="papers", local_only=True)
    await reading.api.remember("A mill stands by the brook. " * 10, nugget="papers")
    await reading.api.remember("A mill stands by the river. " * 10)
    reading.server.otherwise = says({"notes": []})
    (job,) = await reading.settled()
    assert job["result"]["read"] == 1
    assert "brook" not in reading.server.everything


BAD: list[Behaviour] = [
    drops, truncates, refuses("500 Oops"), refuses("401 Who"), sends(b"garbage"), says_text("Gladly."), says([1]),
    says({"notes": [{"n": 7}]}), says({"notes": "none"}), says_text(""),
]  # fmt: skip


@pytest.mark.parametrize("bad", BAD)
async def test_whatever_goes_wrong_what_rules_found_stands(reading: House, bad: Behaviour) -> None:
    note = await reading.api.remember(NOTE, domain="cti")
    reading.server.otherwise = bad
    (job,) = await reading.settled(moving=timedelta(minutes=20))
    assert (job["state"], job["result"]["unread"]) == ("done", 1)
    assert ("intrusion_set", "apt28") in await reading.entities(note)
    assert len(reading.server.received) <= 8


async def test_a_model_that_comes_back_reads_what_is_left(reading: House) -> None:
    note = await reading.api.remember(NOTE, domain="cti")
    reading.server.then(drops, refuses("503 Later"), says(READ))
    await reading.settled(moving=timedelta(minutes=20))
    assert ("activity", "theft-of-the-ledger") in await reading.entities(note)


async def test_a_purge_takes_what_a_model_read(reading: House) -> None:
    note = await reading.api.remember(NOTE, domain="cti")
    reading.server.then(says(READ))
    await reading.settled()
    await reading.api.call("forget", id=note["id"], purge=True)
    await reading.settled()
    view = reading.api.shelf().view
    assert view.entities.get("activity", "theftoftheledger") is None
    assert view.edges.page(RECALLABLE, before=None, limit=9) == []


async def test_what_was_read_of_a_text_that_changed_meanwhile_is_dropped(reading: House) -> None:
    note = await reading.api.remember(NOTE, domain="cti")
    api, loop = reading.api, asyncio.get_running_loop()

    def edits(_data: dict[str, Any]) -> dict[str, Any]:
        edit = api.call("note.edit", id=note["id"], content="The mill has nine wheels.")
        asyncio.run_coroutine_threadsafe(edit, loop).result(20)
        return READ

    reading.server.then(thinks(edits))
    reading.server.otherwise = says({"notes": []})
    await reading.settled()
    assert ("activity", "theft-of-the-ledger") not in await reading.entities(note)


async def test_without_a_model_nothing_is_begun() -> None:
    async with memory(InMemoryStores, settings=MemorySettings(reads_by_model=True, evolves_neighbours=True)) as api:
        await api.remember(NOTE, domain="cti")
        await api.shelf().enrichment.reach()
        assert (await api.call("job.list"))["jobs"] == []


# --------------------------------------------------------------- neighbours

OLD = "Ada repairs the old mill by the brook."
NEW = "The mill by the brook that Ada repairs was built in 1790."
BETTER = "Ada repairs the old mill by the brook, built in 1790."


def evolves(*, content: str | None = BETTER, action: str = "evolve", n: int = 0) -> Behaviour:
    return says({"decisions": [{"n": n, "action": action, "updated_content": content, "reason": "so it is"}]})


async def told(house: House) -> tuple[dict[str, Any], dict[str, Any]]:
    """Store two notes; the model is asked about the first when the second comes."""
    house.server.then()
    old = await house.api.remember(OLD)
    await house.settled()
    return old, await house.api.remember(NEW)


async def test_a_note_like_a_new_one_is_reworded_with_history(evolving: House) -> None:
    old, new = await told(evolving)
    evolving.server.then(evolves())
    job, *_ = await evolving.settled()
    assert job["result"]["evolved"] == [old["id"]]
    note = await evolving.api.note(old["id"], full=True)
    assert (note["content"], note["evolution_count"], note["evolved_by"]) == (BETTER, 1, [new["id"]])
    assert note["confidence"] == 0.95
    shown = evolving.server.received[0].data
    assert (shown["new"], shown["neighbours"]) == (NEW, [{"n": 0, "text": OLD}])
    versions = (await evolving.api.call("note.history", id=old["id"]))["versions"]
    assert [one["change"].get("content") for one in versions] == [OLD, BETTER]
    assert await evolving.api.found("1790 repairs") != []
    assert len(evolving.server.received) == 1  # its own changes are not looked at again

    assert [(link["to"], link["relation"]) for link in note["links"]] == [(new["id"], "evolved_by")]

    await evolving.api.call("reflection.undo", run_id=job["run_id"])
    note = await evolving.api.note(old["id"], full=True)
    assert note["links"] == []
    assert (note["content"], note["confidence"]) == (OLD, 1.0)
    assert "evolution_count" not in note


async def test_what_was_reworded_is_read_again_and_rewords_nothing() -> None:
    async for both in house_with(MemorySettings(reads_by_model=True, evolves_neighbours=True)):
        old = await both.api.remember(OLD, domain="cti")
        both.server.then(says({"notes": []}))
        await both.settled()
        await both.api.remember(NEW, domain="cti")
        both.server.then(says({"notes": []}), evolves(), says({"notes": []}))
        await both.settled()
        jobs = await both.settled()  # that rewording was a change of its own
        assert [job["result"]["evolved"] for job in jobs] == [[], [old["id"]], []]
        assert [row["text"] for row in both.server.received[-1].data["notes"]] == [BETTER]


async def test_a_purge_says_where_words_of_a_note_may_be(evolving: House) -> None:
    old, new = await told(evolving)
    evolving.server.then(evolves())
    await evolving.settled()
    assert (await evolving.api.call("forget", id=new["id"], purge=True))["still_in"] == [old["id"]]
    assert (await evolving.api.call("forget", id=old["id"], purge=True))["still_in"] == []


async def test_nothing_is_reworded_by_what_was_purged_meanwhile(evolving: House) -> None:
    old, new = await told(evolving)
    api, loop = evolving.api, asyncio.get_running_loop()

    def purges(_data: dict[str, Any]) -> dict[str, Any]:
        purge = api.call("forget", id=new["id"], purge=True)
        asyncio.run_coroutine_threadsafe(purge, loop).result(20)
        return {"decisions": [{"n": 0, "action": "evolve", "updated_content": BETTER}]}

    evolving.server.then(thinks(purges))
    await evolving.settled()
    assert (await api.note(old["id"]))["content"] == OLD


KEPT: list[Behaviour] = [
    evolves(action="keep"), evolves(content=OLD), says({"decisions": []}), evolves(content="  "), evolves(content=None),
    evolves(action="burn"), evolves(n=4), says_text("?"), refuses("401 Who"), says({}), says([1]),
]  # fmt: skip


@pytest.mark.parametrize("kept", KEPT)
async def test_what_a_model_does_not_clearly_reword_stays(evolving: House, kept: Behaviour) -> None:
    old, _ = await told(evolving)
    evolving.server.otherwise = kept
    job, *_ = await evolving.settled(moving=timedelta(minutes=20))
    assert (job["state"], job["result"]["evolved"]) == ("done", [])
    assert (await evolving.api.note(old["id"]))["content"] == OLD


async def test_an_invalid_decision_is_asked_again_with_the_reason(evolving: House) -> None:
    old, _ = await told(evolving)
    evolving.server.then(evolves(n=4), evolves(content=""), evolves())
    await evolving.settled()
    assert (await evolving.api.note(old["id"]))["content"] == BETTER
    assert "your_last_answer_was_refused" in evolving.server.received[1].data


async def test_facts_and_notes_of_another_domain_or_nugget_are_left_alone(evolving: House) -> None:
    await evolving.api.remember(OLD, key="mill")
    await evolving.api.remember(OLD, domain="project")
    await evolving.api.remember(OLD, nugget="other")
    await evolving.api.remember(OLD, pinned=True)
    evolving.server.otherwise = says({"decisions": []})
    await evolving.settled()
    sent = len(evolving.server.received)
    await evolving.api.remember(NEW)
    await evolving.settled()
    assert len(evolving.server.received) == sent


async def test_a_neighbour_that_changed_meanwhile_is_left_alone(evolving: House) -> None:
    old, _ = await told(evolving)
    api, loop = evolving.api, asyncio.get_running_loop()

    def edits(_data: dict[str, Any]) -> dict[str, Any]:
        edit = api.call("note.edit", id=old["id"], content="The mill burnt down.")
        asyncio.run_coroutine_threadsafe(edit, loop).result(20)
        return {"decisions": [{"n": 0, "action": "evolve", "updated_content": BETTER}]}

    evolving.server.then(thinks(edits))
    evolving.server.otherwise = says({"decisions": []})
    await evolving.settled()
    assert (await api.note(old["id"]))["content"] == "The mill burnt down."


@pytest.mark.parametrize("steps", [0, 1])
async def test_cut_short_at_any_step_it_ends_as_if_it_had_not_been(
    evolving: House, monkeypatch: pytest.MonkeyPatch, steps: int
) -> None:
    old, _ = await told(evolving)
    evolving.server.otherwise = evolves()
    reached = asyncio.Event()
    take, taken = Work._take, 0

    async def limited(work: Work, *arguments: Any) -> Any:
        nonlocal taken
        if taken == steps:
            reached.set()
            await asyncio.Event().wait()
        taken += 1
        return await take(work, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(Work, "_take", limited)
        await evolving.api.shelf().enrichment.reach()
        await reached.wait()
        (_, job), *_ = evolving.api.shelf().view.jobs.page(unfinished=True, before=None, limit=1)
        assert "mill" not in str(job)
        await evolving.api.reopen()
    await evolving.api.call("note.list")
    done, *_ = await evolving.settled()
    assert (done["id"], done["state"], done["result"]["evolved"]) == (job.id, "done", [old["id"]])
    note = await evolving.api.note(old["id"], full=True)
    assert (note["content"], note["evolution_count"]) == (BETTER, 1)
