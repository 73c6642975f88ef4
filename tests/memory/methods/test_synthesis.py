"""synthesize without a language model: sentences of notes, each with the note that says it."""

from typing import Any

import pytest

from fakes import Api, Refused, memory
from shelfd.memory import MemorySettings
from shelfd.storage.inmemory import InMemoryStores

FORMATS = ("direct_answer", "synthesized_brief", "timeline_analysis", "relationship_map")
BOAT = "The boat was painted red. It leaves for Orm at six in the morning. Bread is on board."


async def asked(api: Api, query: str = "when does the boat leave for Orm", **params: Any) -> dict[str, Any]:
    return await api.call("synthesize", query=query, **params)


async def test_the_sentence_that_says_it_is_the_answer(either: Api) -> None:
    boat = await either.remember(BOAT)
    await either.remember("Mira keeps bees behind the lighthouse.")
    found = await asked(either)

    assert found["synthesis"] == {
        "answer": "It leaves for Orm at six in the morning.",
        "confidence": pytest.approx(found["sources"][0]["relevance_score"], abs=1e-3),
        "sources": [boat["id"]],
    }
    source = found["sources"][0]
    assert (source["note_id"], source["tier"]) == (boat["id"], "B")
    assert source["quote"] == "It leaves for Orm at six in the morning."
    assert (found["engine"], found["format"]) == ("rules", "direct_answer")
    metadata = found["metadata"]
    assert (metadata["model_used"], metadata["tokens_used"]) == (None, 0)
    assert (metadata["sources_count"], metadata["tier_filter"]) == (len(found["sources"]), ["A", "B"])
    assert source["relevance_score"] >= metadata["confidence_threshold"]
    assert metadata["query_id"] == (await asked(either))["metadata"]["query_id"]


async def test_sentences_without_a_full_stop_stay_apart(api: Api) -> None:
    await api.remember("Aunt Carla moved to Lisbon in April")
    await api.remember("Aunt Carla moved to Lisbon by train!")
    await api.remember("Aunt Carla moved to Lisbon with a dog")
    answer = (await asked(api, "where did aunt Carla move", format="synthesized_brief"))["synthesis"]["summary"]
    assert answer.count("Aunt Carla") == 3
    assert answer.replace("! ", ". ").count(". Aunt Carla") == 2
    assert not answer.endswith(".")


async def test_a_fact_is_told_with_its_key(api: Api) -> None:
    await api.remember("7731", key="till code")
    assert (await asked(api, "what is the till code"))["synthesis"]["answer"] == "till code: 7731"


@pytest.mark.parametrize("wanted", FORMATS)
async def test_what_nobody_knows_is_not_known(api: Api, wanted: str) -> None:
    found: dict[str, Any] = {"synthesis": {}}
    for _ in range(2):  # on an empty shelf, and on one that knows something else
        found = await asked(api, "who won the chess tournament", format=wanted)
        assert (found["synthesis"]["confidence"], found["sources"]) == (0.0, [])
        quality = await api.call("check_synthesis_quality", response=found)
        assert (quality["grade"], quality["components"]["completeness"]) == ("NEEDS_WORK", 0.0)
        assert not (await api.call("validate_synthesis", response=found))["is_valid"]
        await api.remember("Mira keeps bees behind the lighthouse.")
    if wanted == "direct_answer":
        assert found["synthesis"]["answer"] == "I don't know."


async def test_an_answer_with_a_source_is_valid_and_good(api: Api) -> None:
    await api.remember(BOAT)
    for wanted in FORMATS:
        found = await asked(api, format=wanted)
        assert await api.call("validate_synthesis", response=found) == {"is_valid": True, "errors": []}
        assert (await api.call("check_synthesis_quality", response=found))["grade"] != "NEEDS_WORK"


async def test_a_brief_has_what_notes_have_in_common_with_who_says_so(either: Api) -> None:
    first = await either.remember("APT28 used X-Agent in the campaign against Norway.", tags=["campaign"])
    second = await either.remember("The campaign of APT28 against Norway began with phishing.", tags=["campaign"])
    found = await asked(either, "campaign of APT28 against Norway", format="synthesized_brief")
    synthesis = found["synthesis"]

    assert "APT28 used X-Agent in the campaign against Norway." in synthesis["summary"]
    assert {*synthesis["sources"]} == {first["id"], second["id"]}
    theme = synthesis["themes"][0]
    assert {evidence["note_id"] for evidence in theme["evidence"]} == {first["id"], second["id"]}
    assert theme["name"] == "apt28"
    assert all(evidence["quote"] for evidence in theme["evidence"])


async def test_a_timeline_is_in_the_order_of_time_and_says_how_each_time_is_known(either: Api) -> None:
    await either.remember("The engine of the Albatross failed on 3 May 2025.", occurred_at="2025-05-04T10:00:00Z")
    await either.remember("The Albatross was bought in 2019 and its engine renewed in April 2024.")
    await either.remember("Torben repaired the engine of the Albatross.", occurred_at="2025-06-01T10:00:00Z")
    await either.remember("The engine of the Albatross runs.")
    found = await asked(either, "engine of the Albatross", format="timeline_analysis")

    events = [(event["date"], event["basis"]) for event in found["synthesis"]["timeline"]]
    assert events == [
        ("2019", "text"), ("2024-04", "text"), ("2025-05-03", "text"), ("2025-06-01", "occurred_at"),
        ("2026-01-01", "created_at"),
    ]  # fmt: skip
    ids = {source["note_id"] for source in found["sources"]}
    assert {event["note_id"] for event in found["synthesis"]["timeline"]} == ids


async def test_a_map_has_what_the_notes_mention(either: Api) -> None:
    note = await either.remember("APT28 deployed Mimikatz against the ministry in Oslo.")
    found = await asked(either, "what did APT28 deploy", format="relationship_map")
    named = {(one["type"], one["name"]) for one in found["synthesis"]["entities"]}
    assert {("intrusion_set", "apt28"), ("tool", "mimikatz"), ("location", "oslo")} <= named
    assert all(one["note_ids"] == [note["id"]] for one in found["synthesis"]["entities"])
    related = [(one["from"], one["type"], one["to"], one["note_id"]) for one in found["synthesis"]["relationships"]]
    assert ("apt28", "USES_TOOL", "mimikatz", note["id"]) in related


async def test_tiers_that_are_left_out_take_no_place(either: Api) -> None:
    for number in range(4):
        await either.remember(f"The boat leaves for Orm at six, says rumour {number}.", tier="C")
    good = await either.remember("The boat leaves for Orm at seven.", tier="A")

    found = await asked(either, k=2)
    assert [source["note_id"] for source in found["sources"]] == [good["id"]]
    found = await asked(either, k=20, tier_filter=["C", "A"])
    assert found["metadata"]["tier_filter"] == ["A", "C"]
    assert {source["tier"] for source in found["sources"]} == {"A", "C"}


async def test_the_configuration_says_which_tiers() -> None:
    async with memory(InMemoryStores, settings=MemorySettings(synthesis_tiers=("C",))) as api:
        await api.remember("The boat leaves for Orm at six.")
        assert (await asked(api))["sources"] == []
        assert (await asked(api, tier_filter=["B"]))["sources"] != []


async def test_sources_count_as_accessed_and_not_as_hit(either: Api) -> None:
    boat = await either.remember(BOAT)
    other = await either.remember("Mira keeps bees behind the lighthouse.")
    await asked(either, session_id="s-1")
    boat, other = await either.note(boat["id"]), await either.note(other["id"])
    assert (boat["access_count"], boat["hits"]) == (1, 0)
    assert (other["access_count"], other["hits"]) == (0, 0)


async def test_what_is_hidden_replaced_or_another_sessions_is_no_source(either: Api) -> None:
    hidden, old, new = [await either.remember(f"The boat leaves for Orm at {time}.") for time in ("1", "2", "3")]
    await either.call("note.hide", id=hidden["id"])
    await either.call("mark_note_superseded", note_id=old["id"], superseded_by_id=new["id"])
    await either.remember("The boat leaves for Orm at 4.", scope="session", session_id="another")
    found = await asked(either, session_id="mine")
    assert [source["note_id"] for source in found["sources"]] == [new["id"]]


async def test_only_the_nugget_and_domain_that_were_asked_for(api: Api) -> None:
    await api.remember(BOAT, nugget="sea")
    await api.remember(BOAT, domain="travel")
    assert len((await asked(api))["sources"]) == 2
    assert len((await asked(api, nugget="sea"))["sources"]) == 1
    assert len((await asked(api, domain="travel"))["sources"]) == 1


async def test_and_why_goes_on_from_the_sessions_last_query(api: Api) -> None:
    await api.remember("The ferry was cancelled because of the storm.")
    await asked(api, "was the ferry cancelled", session_id="s-1")
    assert (await asked(api, "and why?", session_id="s-1"))["sources"]


@pytest.mark.parametrize(
    ("params", "field"),
    [
        ({"format": "essay"}, "format"),
        ({"query": " "}, "query"),
        ({"tier_filter": []}, "tier_filter"),
        ({"tier_filter": ["D"]}, "tier_filter.0"),
        ({"k": 0}, "k"),
        ({"k": 21}, "k"),
        ({"nugget": "nowhere"}, None),
    ],
)
async def test_bad_params_are_named(api: Api, params: dict[str, Any], field: str | None) -> None:
    with pytest.raises(Refused) as refused:
        await api.call("synthesize", **{"query": "boat", **params})
    assert refused.value.field == field or field is None


async def test_what_is_no_answer_of_it_may_be_asked_about(api: Api) -> None:
    assert (await api.call("validate_synthesis", response={}))["errors"] == ["synthesis: is no object"]
    assert (await api.call("check_synthesis_quality", response={"sources": 5}))["score"] == 0
    for wrong in ("text", {"synthesis": {"answer": "x" * 300_000}}):
        with pytest.raises(Refused) as refused:
            await api.call("validate_synthesis", response=wrong)
        assert refused.value.field == "response"


async def test_a_long_note_is_read_and_others_have_their_turn(api: Api) -> None:
    await api.remember("The harbour has a wall. " * 400 + "The boat leaves for Orm at six.", title="Boat to Orm")
    found = await asked(api)
    assert found["sources"]
    assert len(found["sources"][0]["quote"]) <= 200


async def test_what_an_entity_has_to_do_with_is_known_by_any_of_its_names(either: Api) -> None:
    used = await either.remember("APT28 deployed X-Agent on the servers. The weather was fine.")
    await either.remember("APT28 was seen in Oslo.")
    await either.remember("APT28 never used Mimikatz.")
    for query in (
        "What tools does Fancy Bear use?",
        "which malware is used by APT28",
        "what tool did pawn storm deploy",
    ):
        found = await asked(either, query)
        assert found["synthesis"]["answer"] == "APT28 deployed X-Agent on the servers."
        assert [source["note_id"] for source in found["sources"]] == [used["id"]]
        assert found["sources"][0]["relevance_score"] >= found["metadata"]["confidence_threshold"]
    assert (await asked(either, "who uses X-Agent?"))["synthesis"]["sources"] == [used["id"]]

    await either.call("note.hide", id=used["id"])
    assert (await asked(either, "What tools does Fancy Bear use?"))["sources"] == []


@pytest.mark.parametrize(
    "query",
    [
        "What tools does Fancy Bear use in Norway on Fridays?",  # asks for more than is known
        "What tools does Cozy Bear use?",
        "which sector does Fancy Bear target?",
        "what tools do carpenters use?",
        "What does Fancy Bear think of tools made of wood?",
    ],
)
async def test_what_the_graph_does_not_say_is_not_known(api: Api, query: str) -> None:
    await api.remember("APT28 deployed X-Agent on the servers.")
    assert (await asked(api, query))["sources"] == []


async def test_tiers_and_nuggets_hold_for_what_the_graph_says(api: Api) -> None:
    await api.remember("APT28 deployed X-Agent on the servers.", tier="C", nugget="rumours")
    query = "What tools does Fancy Bear use?"
    assert (await asked(api, query))["sources"] == []
    assert len((await asked(api, query, tier_filter=["C"]))["sources"]) == 1
    await api.remember("Bread is sold.", nugget="bakery")
    assert (await asked(api, query, tier_filter=["C"], nugget="bakery"))["sources"] == []
