"""ZettelForge's cases that speak of its graph, with the same outcome or a fixed one; its docstrings say which."""

from typing import Any

import pytest

from fakes import Api
from shelfd.memory.knowledge.graph.edges import put_read
from shelfd.memory.ports.edges import Edge, EdgeEnd
from shelfd.memory.ports.log import Origin


async def edges(api: Api, type_: str, value: str) -> list[dict[str, Any]]:
    result = await api.call("get_entity_relationships", entity_type=type_, entity_value=value)
    found: list[dict[str, Any]] = result["relationships"]
    return found


async def walked(api: Api, type_: str, value: str, depth: int) -> dict[str, int]:
    result = await api.call("traverse_graph", start_type=type_, start_value=value, max_depth=depth)
    return {node["value"]: node["depth"] for node in result["nodes"]}


# ---------------------------------------- sqlite_integration: graph edges


@pytest.mark.parametrize(
    ("text", "start", "relation", "other"),
    [
        ("APT28 and Mimikatz.", ("actor", "apt28"), "USES_TOOL", "mimikatz"),
        ("APT28 and CVE-2024-3094.", ("actor", "apt28"), "EXPLOITS_CVE", "cve-2024-3094"),
        ("Mimikatz and CVE-2024-3094.", ("tool", "mimikatz"), "EXPLOITS_CVE", "cve-2024-3094"),
        ("Anna joined Siemens.", ("person", "anna"), "AFFILIATED_WITH", "siemens"),
        ("Anna lives in Berlin.", ("person", "anna"), "LOCATED_AT", "berlin"),
    ],
)
async def test_entities_of_a_note_are_joined_by_what_kind_they_are(
    api: Api, text: str, start: tuple[str, str], relation: str, other: str
) -> None:
    await api.remember(text)
    found = [(one["relationship"], one["node"]["value"]) for one in await edges(api, *start)]
    assert (relation, other) in found


async def test_each_edge_names_its_note_and_goes_with_it(api: Api) -> None:
    """Fixed: heuristic edges had no note there, and so could not be withdrawn with one."""
    note = await api.remember("APT28 and Mimikatz.")
    assert [one["note_id"] for one in await edges(api, "actor", "apt28")] == [note["id"]]
    await api.call("forget", id=note["id"])
    assert await edges(api, "actor", "apt28") == []


# ------------------------------ sqlite_backend: provenance of edges is unique


async def test_two_notes_that_say_the_same_are_two_edges_and_one_that_says_it_twice_is_one(api: Api) -> None:
    await api.remember("APT28 used Mimikatz. APT28 used Mimikatz.")
    assert [one["relationship"] for one in await edges(api, "tool", "mimikatz")] == ["uses", "USES_TOOL"]
    await api.remember("APT28 used Mimikatz again.")
    assert len({one["note_id"] for one in await edges(api, "tool", "mimikatz")}) == 2


async def test_the_headline_example_works_by_every_name(api: Api) -> None:
    """Fixed: relationships of ("actor", "Fancy Bear") were empty there."""
    await api.remember("APT28 used Mimikatz.")
    assert {one["node"]["value"] for one in await edges(api, "actor", "Fancy Bear")} == {"mimikatz"}


# ------------------------------------ causal_extraction, with a model's reply


async def test_a_models_triples_are_causal_edges_with_their_note(api: Api) -> None:
    note = await api.remember("The outage followed the intrusion.")
    row = api.shelf().view.notes.get(note["id"])
    assert row is not None
    triple = Edge(
        EdgeEnd("event", "intrusion", "intrusion"), EdgeEnd("event", "outage", "outage"), "causes", "causal", 0.7, "llm"
    )
    assert (await api.shelf().commit(Origin("shelfd", "test"), lambda tx: put_read(tx, row, [triple]))).value
    [edge] = await edges(api, "event", "Outage")
    assert (edge["relationship"], edge["direction"], edge["edge_type"]) == ("causes", "incoming", "causal")
    assert (edge["note_id"], edge["properties"]["engine"]) == (note["id"], "llm")


# --------------------------------------------------------- graph_retriever


async def test_notes_one_and_two_steps_away_are_reached_each_once(api: Api) -> None:
    await api.remember("Sandworm used Mimikatz.")
    await api.remember("Turla used Mimikatz.")
    await api.remember("Turla used Sliver.")
    assert await walked(api, "actor", "Sandworm", 1) == {"mimikatz": 1}
    assert await walked(api, "actor", "Sandworm", 2) == {"mimikatz": 1, "turla": 2}
    assert await walked(api, "actor", "Sandworm", 3) == {"mimikatz": 1, "turla": 2, "sliver": 3}
    assert await walked(api, "actor", "Nobody", 3) == {}


async def test_a_walk_is_breadth_first(api: Api) -> None:
    """Fixed: there it went depth first, and gave paths instead of entities."""
    await api.remember("Sandworm used Mimikatz.")
    await api.remember("Turla used Mimikatz.")
    await api.remember("Turla used Sliver.")
    await api.remember("Sandworm used Sliver.")
    depths = list((await walked(api, "actor", "Sandworm", 4)).values())
    assert depths == sorted(depths)
    assert (await walked(api, "actor", "Sandworm", 4))["sliver"] == 1


# ---------------------------------------------------------- temporal_graph


async def test_a_timeline_of_an_entity_has_what_superseded_what(api: Api) -> None:
    """Fixed: the case there only printed, and looked at another graph."""
    old = await api.remember("Sandworm used Mimikatz.", occurred_at="2024-01-01T00:00:00Z")
    new = await api.remember("Sandworm used Sliver.", occurred_at="2025-01-01T00:00:00Z")
    await api.call("mark_note_superseded", note_id=old["id"], superseded_by_id=new["id"])
    entries = (await api.call("graph.timeline", entity_type="actor", entity_value="Sandworm"))["entries"]
    assert [(one["event"], one["at"][:4]) for one in entries] == [
        ("noted", "2024"), ("superseded", "2025"), ("noted", "2025"),
    ]  # fmt: skip


# ------------------------------------------------------------------- basic


async def test_what_is_said_again_adds_no_edge_of_the_same_note(api: Api) -> None:
    """There: ingest_relationship is idempotent. Here edges follow from notes, read as often as need be."""
    note = await api.remember("Sandworm used Mimikatz.")
    before = await edges(api, "actor", "Sandworm")
    await api.call("note.edit", id=note["id"], add_tags=["seen"])
    await api.call("note.edit", id=note["id"], pinned=True)
    assert await edges(api, "actor", "Sandworm") == before
