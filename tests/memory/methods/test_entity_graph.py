"""The graph of entities over each kind of stores: what is told of it, and when it is withdrawn."""

import json
import xml.etree.ElementTree as ET
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fakes import Api, memory
from shelfd.memory.knowledge.graph.edges import put_read, text_of
from shelfd.memory.ports.edges import Edge, EdgeEnd
from shelfd.memory.ports.log import Origin
from shelfd.storage import SqliteStores
from shelfd.storage.inmemory import InMemoryStores

GRAPHML = "{http://graphml.graphdrawing.org/xmlns}"


async def related(api: Api, type_: str, value: str, **named: Any) -> list[str]:
    result = await api.call("get_entity_relationships", entity_type=type_, entity_value=value, **named)
    arrows = {"outgoing": "->", "incoming": "<-"}
    return [
        f"{one['relationship']} {arrows[one['direction']]} {one['node']['value']}" for one in result["relationships"]
    ]


async def reached(api: Api, type_: str, value: str, **named: Any) -> list[tuple[str, int]]:
    result = await api.call("traverse_graph", start_type=type_, start_value=value, **named)
    return [(node["value"], node["depth"]) for node in result["nodes"]]


async def timeline(api: Api, **named: Any) -> list[tuple[str, str, str]]:
    result = await api.call("graph.timeline", **named)
    return [(one["at"][:10], one["event"], one["text"]) for one in result["entries"]]


# ----------------------------------------------------------- relationships


async def test_what_a_note_says_is_told_with_where_it_is_from(either: Api) -> None:
    note = await either.remember("APT28 deployed X-Agent.", occurred_at="2025-03-01T00:00:00Z")
    result = await either.call("get_entity_relationships", entity_type="actor", entity_value="Fancy Bear")
    assert result["entity"] == {"type": "actor", "value": "fancy-bear", "canonical": "apt28"}
    assert [one["relationship"] for one in result["relationships"]] == ["uses", "USES_TOOL"]
    assert result["relationships"][0] == {
        "node": {"type": "malware", "value": "x-agent"},
        "relationship": "uses",
        "direction": "outgoing",
        "edge_type": "causal",
        "note_id": note["id"],
        "confidence": 0.76,
        "properties": {"engine": "rules", "observed_at": "2025-03-01T00:00:00Z"},
    }
    assert await related(either, "malware", "X-Agent") == ["uses <- apt28", "USES_TOOL <- apt28"]
    assert await related(either, "tool", "x agent") == ["uses <- apt28", "USES_TOOL <- apt28"]


async def test_names_of_one_entity_are_one_node(either: Api) -> None:
    await either.remember("APT28 deployed X-Agent.")
    await either.remember("Fancy Bear deployed Mimikatz.")
    everything = ["uses -> mimikatz", "USES_TOOL -> mimikatz", "uses -> x-agent", "USES_TOOL -> x-agent"]
    for name in ("APT28", "fancy bear", "Pawn Storm"):
        assert await related(either, "actor", name) == everything, name
    assert await reached(either, "tool", "mimikatz") == [("apt28", 1), ("x-agent", 2)]


async def test_an_alias_joins_nodes_and_taking_it_back_parts_them(either: Api) -> None:
    await either.remember("Sandworm deployed Mimikatz.")
    await either.remember("Turla deployed Sliver.")
    await either.call("alias.add", type="actor", alias="Turla", canonical="Sandworm")
    assert await reached(either, "actor", "Sandworm", max_depth=1) == [("sliver", 1), ("mimikatz", 1)]
    await either.call("alias.remove", type="actor", alias="Turla")
    assert await reached(either, "actor", "Sandworm", max_depth=1) == [("mimikatz", 1)]


async def test_relationships_come_in_pages_the_newest_note_first(either: Api) -> None:
    tools = ["Mimikatz", "Sliver", "Rubeus", "Nmap", "Havoc", "Empire", "Covenant"]
    for tool in tools:
        await either.remember(f"Sandworm deployed {tool}.")
    whole = await related(either, "actor", "Sandworm", limit=1000)
    assert whole == [f"{name} -> {tool.lower()}" for tool in tools[::-1] for name in ("uses", "USES_TOOL")]
    for limit in (1, 3, 5, 14):
        pages: list[str] = []
        cursor: str | None = None
        while True:
            given_ = {} if cursor is None else {"cursor": cursor}
            page = await either.call(
                "get_entity_relationships", entity_type="actor", entity_value="Sandworm", limit=limit, **given_
            )
            pages += [f"{one['relationship']} -> {one['node']['value']}" for one in page["relationships"]]
            assert len(page["relationships"]) <= limit
            cursor = page.get("next_cursor")
            if cursor is None:
                break
        assert pages == whole, limit


async def test_an_unknown_entity_has_no_relationships(either: Api) -> None:
    await either.remember("Nothing to see here.")
    assert await related(either, "actor", "Turla") == []
    assert await reached(either, "actor", "Turla") == []
    assert await timeline(either, entity_type="actor", entity_value="Turla") == []
    exported = await either.call("graph.export", entity_type="actor", entity_value="Turla")
    assert (exported["nodes"], exported["edges"], exported["truncated"]) == ([], [], False)


async def test_an_edge_counts_as_long_as_its_note_does(either: Api) -> None:
    hidden = await either.remember("Sandworm deployed Mimikatz.")
    old = await either.remember("Sandworm deployed Sliver.")
    new = await either.remember("Sandworm deployed Rubeus.")
    await either.remember("Sandworm deployed Nmap.", ttl_days=1)
    await either.remember("Sandworm deployed Havoc.", scope="session", session_id="mine")
    purged = await either.remember("Sandworm deployed Empire.")
    await either.call("note.hide", id=hidden["id"])
    await either.call("mark_note_superseded", note_id=old["id"], superseded_by_id=new["id"])
    await either.call("forget", id=purged["id"], purge=True)
    near = {"max_depth": 1}
    assert await reached(either, "actor", "Sandworm", **near) == [("nmap", 1), ("rubeus", 1)]
    assert await reached(either, "actor", "Sandworm", session_id="mine", **near) == [
        ("havoc", 1), ("nmap", 1), ("rubeus", 1),
    ]  # fmt: skip
    either.clock.advance(timedelta(days=2))
    assert await reached(either, "actor", "Sandworm", **near) == [("rubeus", 1)]
    await either.call("note.restore", id=hidden["id"])
    assert await reached(either, "actor", "Sandworm", **near) == [("rubeus", 1), ("mimikatz", 1)]
    assert either.shelf().view.entities.get("tool", "empire") is None


async def test_an_edited_note_says_what_it_says_now(either: Api) -> None:
    note = await either.remember("Sandworm deployed Mimikatz.")
    assert await related(either, "tool", "Mimikatz") == ["uses <- sandworm", "USES_TOOL <- sandworm"]
    await either.call("note.edit", id=note["id"], content="Sandworm deployed Sliver.")
    assert await related(either, "tool", "Mimikatz") == []
    assert await related(either, "tool", "Sliver") == ["uses <- sandworm", "USES_TOOL <- sandworm"]
    revived = await either.call("note.get", id=note["id"])
    assert revived["note"]["rev"] == 2


async def test_a_nugget_can_be_asked_for_alone(either: Api) -> None:
    await either.remember("Sandworm deployed Mimikatz.", nugget="work")
    await either.remember("Sandworm deployed Sliver.", nugget="home")
    assert await reached(either, "actor", "Sandworm", nugget="home") == [("sliver", 1)]
    for method, params in (
        ("traverse_graph", {"start_type": "actor", "start_value": "a"}),
        ("get_entity_relationships", {"entity_type": "actor", "entity_value": "a"}),
        ("graph.timeline", {"query": "a"}),
        ("graph.export", {}),
    ):
        assert (await either.refused(method, params, nugget="nowhere")).code == -32001, method


async def test_what_a_model_read_outlives_what_rules_read_again(either: Api) -> None:
    note = await either.remember("Sandworm deployed Mimikatz.")
    shelf = either.shelf()
    await shelf.enrichment.reach()
    row = shelf.view.notes.get(note["id"])
    assert row is not None
    ends = EdgeEnd("event", "blackout", "blackout"), EdgeEnd("actor", "sandworm", "sandworm")
    edge = Edge(*ends, "attributed_to", "causal", 0.9, "llm")
    origin = Origin("shelfd", "test")
    assert (await shelf.commit(origin, lambda tx: put_read(tx, row, [edge]))).value
    await either.call("alias.add", type="tool", alias="Mimikatz", canonical="kiwi")  # has the note read again
    await either.call("note.edit", id=note["id"], add_tags=["seen"])
    assert await related(either, "event", "blackout") == ["attributed_to -> sandworm"]
    await either.call("note.edit", id=note["id"], content="Sandworm deployed Sliver.")
    assert await related(either, "event", "blackout") == []
    assert not (await shelf.commit(origin, lambda tx: put_read(tx, row, [edge]))).value
    assert text_of(row) != 0


# ------------------------------------------------------------------- walks


async def test_a_walk_is_breadth_first_and_comes_to_each_once(either: Api) -> None:
    await either.remember("Sandworm deployed Industroyer.")
    await either.remember("Turla deployed Industroyer.")
    await either.remember("Turla exploited CVE-2024-3094.")
    await either.remember("Sandworm exploited CVE-2024-3094.")
    everything = [("cve-2024-3094", 1), ("industroyer", 1), ("turla", 2)]
    assert await reached(either, "actor", "Sandworm") == everything
    assert await reached(either, "actor", "Sandworm", max_depth=4) == everything
    assert await reached(either, "actor", "Sandworm", max_depth=1) == everything[:2]
    result = await either.call("traverse_graph", start_type="actor", start_value="Sandworm")
    steps = [(step["relationship"], step["direction"], step["value"]) for step in result["nodes"][2]["path"]]
    assert steps == [("exploits", "outgoing", "cve-2024-3094"), ("exploits", "incoming", "turla")]
    notes = [(await either.note(step["note_id"]))["content"] for step in result["nodes"][2]["path"]]
    assert notes == ["Sandworm exploited CVE-2024-3094.", "Turla exploited CVE-2024-3094."]


async def test_a_walk_goes_on_from_all_names_of_what_it_came_to(either: Api) -> None:
    await either.remember("APT28 exploited CVE-2024-1001.")
    await either.remember("Fancy Bear exploited CVE-2024-1002.")
    assert await reached(either, "cve", "CVE-2024-1001") == [("apt28", 1), ("cve-2024-1002", 2)]
    assert await reached(either, "cve", "CVE-2024-1002") == [("apt28", 1), ("cve-2024-1001", 2)]


async def test_a_walk_says_that_there_is_more(either: Api) -> None:
    for number in range(6):
        await either.remember(f"Sandworm exploited CVE-2024-{1000 + number}.")
    full = {"start_type": "actor", "start_value": "Sandworm"}
    assert not (await either.call("traverse_graph", **full, limit=6))["truncated"]
    cut = await either.call("traverse_graph", **full, limit=5)
    assert (len(cut["nodes"]), cut["truncated"]) == (5, True)
    exported = await either.call("graph.export", entity_type="actor", entity_value="Sandworm", limit=3)
    assert exported["truncated"]


async def test_a_walk_reads_more_than_a_page_of_a_hub(api: Api) -> None:
    contents = [f"Sandworm exploited CVE-2024-{10_000 + number}." for number in range(700)]
    await api.call("remember_many", notes=[{"content": content} for content in contents])
    await api.shelf().enrichment.reach()
    assert len(await reached(api, "actor", "Sandworm")) == 700
    assert len(await related(api, "actor", "Sandworm", limit=1000)) == 1000


# ---------------------------------------------------------------- timeline


async def test_a_timeline_is_in_the_order_of_what_happened(either: Api) -> None:
    await either.remember("Sandworm third.", occurred_at="2024-05-01T00:00:00Z")
    await either.remember("Sandworm first.", valid_from="2023-01-01T00:00:00Z")
    await either.remember("Sandworm fourth.")
    await either.remember("Sandworm second.", occurred_at="2024-04-01T00:00:00Z", valid_from="2020-01-01T00:00:00Z")
    await either.remember("Turla too.")
    expected = [
        ("2023-01-01", "noted", "Sandworm first."),
        ("2024-04-01", "noted", "Sandworm second."),
        ("2024-05-01", "noted", "Sandworm third."),
        ("2026-01-01", "noted", "Sandworm fourth."),
    ]
    assert await timeline(either, entity_type="actor", entity_value="Sandworm") == expected
    assert await timeline(either, query="Sandworm") == expected
    result = await either.call("graph.timeline", entity_type="actor", entity_value="Sandworm")
    assert [one["basis"] for one in result["entries"]] == ["valid_from", "occurred_at", "occurred_at", "created_at"]
    pages: list[str] = []
    more: dict[str, str] = {}
    while True:
        page = await either.call("graph.timeline", entity_type="actor", entity_value="Sandworm", limit=1, **more)
        pages += [one["text"] for one in page["entries"]]
        if "next_cursor" not in page:
            break
        more = {"cursor": page["next_cursor"]}
    assert pages == [text for _, _, text in expected]


async def test_a_timeline_says_what_was_replaced_and_when(either: Api) -> None:
    old = await either.remember("Sandworm uses Mimikatz.", occurred_at="2024-01-01T00:00:00Z")
    new = await either.remember("Sandworm uses Sliver.", occurred_at="2025-01-01T00:00:00Z")
    await either.call("mark_note_superseded", note_id=old["id"], superseded_by_id=new["id"])
    result = await either.call("graph.timeline", entity_type="actor", entity_value="Sandworm")
    assert [(one["at"][:4], one["event"], one["note_id"]) for one in result["entries"]] == [
        ("2024", "noted", old["id"]),
        ("2025", "superseded", old["id"]),
        ("2025", "noted", new["id"]),
    ]
    assert [one.get("superseded_by") for one in result["entries"]] == [new["id"], new["id"], None]
    await either.call("note.hide", id=new["id"])
    result = await either.call("graph.timeline", entity_type="actor", entity_value="Sandworm")
    assert [(one["event"], one.get("superseded_by")) for one in result["entries"]] == [("noted", None)]


async def test_a_timeline_goes_by_the_day_that_a_note_says_unless_it_was_told_when(either: Api) -> None:
    said = {
        "Sandworm hit the grid on 17 December 2016.": "2016-12-17",
        "Sandworm was named in October 2014.": "2014-10",
        "Sandworm attacked the port two days ago.": "2025-12-30",
        "Sandworm uses wipers.": None,
    }
    for text in said:
        await either.remember(text)
    old = await either.remember("Sandworm began on 3 March 2011.", occurred_at="2012-01-01T00:00:00Z")
    entries = (await either.call("graph.timeline", entity_type="actor", entity_value="Sandworm"))["entries"]

    assert {one["text"]: one.get("said") for one in entries} == said | {old["content"]: None}
    assert [one["basis"] for one in entries if one["text"] == old["content"]] == ["occurred_at"]
    assert {one["basis"] for one in entries if one.get("said")} == {"text"}
    assert [one["at"] for one in entries] == sorted(one["at"] for one in entries)


async def test_a_timeline_says_that_there_is_more(api: Api) -> None:
    contents = [f"Sandworm exploited CVE-2024-{10_000 + number}." for number in range(1001)]
    await api.call("remember_many", notes=[{"content": content} for content in contents])
    await api.shelf().enrichment.reach()
    about = {"entity_type": "actor", "entity_value": "Sandworm", "limit": 1000}
    whole = await api.call("graph.timeline", about)
    assert (len(whole["entries"]), whole["truncated"], "next_cursor" in whole) == (1000, True, False)
    assert (await api.call("graph.timeline", query="Sandworm exploited"))["truncated"]
    await api.remember("The kettle is green.")
    assert not (await api.call("graph.timeline", query="which colour is the kettle"))["truncated"]


# ------------------------------------------------------------------ export


async def test_the_graph_is_exported_in_three_formats(either: Api) -> None:
    first = await either.remember("Sandworm deployed Industroyer.")
    second = await either.remember("Sandworm deployed Industroyer again.")
    exported = await either.call("graph.export")
    assert {node["id"] for node in exported["nodes"]} == {"actor:sandworm", "tool:industroyer"}
    assert exported["edges"][0] == {
        "source": "actor:sandworm",
        "target": "tool:industroyer",
        "relationship": "uses",
        "edge_type": "causal",
        "confidence": 0.76,
        "note_ids": [second["id"], first["id"]],
    }
    assert (exported["node_count"], exported["edge_count"], exported["truncated"]) == (2, 2, False)
    graphml = await either.call("graph.export", format="graphml")
    root = ET.fromstring(graphml["text"])
    assert len(root.findall(f".//{GRAPHML}node")) == graphml["node_count"] == 2
    assert len(root.findall(f".//{GRAPHML}edge")) == graphml["edge_count"] == 2
    dot = await either.call("graph.export", format="dot", entity_type="tool", entity_value="Industroyer")
    assert dot["text"].splitlines()[3] == '  "actor:sandworm" -> "tool:industroyer" [label="uses", style=solid];'


async def test_the_whole_graph_is_exported_in_pages(either: Api) -> None:
    for number in range(40):
        await either.remember(f"Sandworm exploited CVE-2024-{1000 + number}.")
    whole = await either.call("graph.export")
    found: set[tuple[str, str]] = set()
    more: dict[str, str] = {}
    pages = 0
    while True:
        page = await either.call("graph.export", limit=7, **more)
        here = {(edge["target"], edge["relationship"]) for edge in page["edges"]}
        assert not here & found
        found |= here
        pages += 1
        assert page["truncated"] == ("next_cursor" in page)
        if not page["truncated"]:
            break
        more = {"cursor": page["next_cursor"]}
    assert found == {(edge["target"], edge["relationship"]) for edge in whole["edges"]}
    assert (len(found), pages) == (80, 14)


async def test_names_with_signs_of_their_own_are_escaped(either: Api) -> None:
    await either.remember('Lazarus used Mimikatz and https://e.example/?a=1&b="2"<x>\\n.')
    note = await either.remember("Lazarus.")
    shelf = either.shelf()
    await shelf.enrichment.reach()
    row = shelf.view.notes.get(note["id"])
    assert row is not None
    odd = EdgeEnd("event", 'a"b<c>&\\n\x0b', 'a"b<c>&\\n\x0b')
    edges = [Edge(odd, EdgeEnd("actor", "lazarus", "lazarus"), "causes", "causal", 0.5, "llm")]
    await shelf.commit(Origin("shelfd", "test"), lambda tx: put_read(tx, row, edges))
    text = (await either.call("graph.export", format="graphml"))["text"]
    values = [data.text for data in ET.fromstring(text).iter(f"{GRAPHML}data")]
    assert 'a"b<c>&\\n\N{REPLACEMENT CHARACTER}' in values
    dot = (await either.call("graph.export", format="dot"))["text"]
    assert 'label="a\\"b<c>&\\\\n' in dot


# --------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("method", "params", "field"),
    [
        ("get_entity_relationships", {"entity_type": "colour", "entity_value": "red"}, "entity_type"),
        ("get_entity_relationships", {"entity_type": "actor", "entity_value": " "}, "entity_value"),
        ("get_entity_relationships", {"entity_type": "actor", "entity_value": "a", "cursor": "?"}, "cursor"),
        ("traverse_graph", {"start_type": "colour", "start_value": "red"}, "start_type"),
        ("traverse_graph", {"start_type": "actor", "start_value": "a", "max_depth": 0}, "max_depth"),
        ("traverse_graph", {"start_type": "actor", "start_value": "a", "max_depth": 5}, "max_depth"),
        ("traverse_graph", {"start_type": "actor", "start_value": "a", "limit": 1001}, "limit"),
        ("graph.timeline", {}, "query"),
        ("graph.timeline", {"query": "a", "entity_type": "actor", "entity_value": "a"}, "query"),
        ("graph.timeline", {"entity_type": "actor"}, "entity_value"),
        ("graph.timeline", {"entity_type": "colour", "entity_value": "red"}, "entity_type"),
        ("graph.timeline", {"query": "a", "cursor": "WzFd"}, "cursor"),
        ("graph.export", {"format": "svg"}, "format"),
        ("graph.export", {"entity_value": "a"}, "entity_type"),
        ("graph.export", {"entity_type": "actor", "entity_value": "a", "cursor": "WzFd"}, "cursor"),
        ("graph.export", {"max_depth": 9}, "max_depth"),
    ],
)
async def test_what_makes_no_sense_is_refused_with_its_field(
    api: Api, method: str, params: dict[str, Any], field: str
) -> None:
    refused = await api.refused(method, params)
    assert (refused.code, refused.field) == (-32602, field)


# ------------------------------------------------------------ causal chain


async def test_the_causes_of_a_note_are_told_first_cause_first(either: Api) -> None:
    ids = [(await either.remember(f"Note {name}."))["id"] for name in ("rain", "flood", "power cut", "crash")]
    rain, flood, cut, crash = ids
    link = {"direction": "outgoing"}
    await either.call("link.upsert", source=flood, target=rain, relation="caused_by", **link)
    await either.call("link.upsert", source=flood, target=cut, relation="causes", **link)
    await either.call("link.upsert", source=crash, target=cut, relation="caused_by", **link)
    assert (await either.note(crash, full=True))["causal_chain"] == [rain, flood, cut]
    assert (await either.note(flood, full=True))["causal_chain"] == [rain]
    assert "causal_chain" not in await either.note(rain, full=True)
    assert "causal_chain" not in await either.note(crash)
    await either.call("link.upsert", source=rain, target=crash, relation="caused_by", **link)  # a circle
    assert set((await either.note(crash, full=True))["causal_chain"]) == {rain, flood, cut}
    await either.call("note.hide", id=flood)
    assert flood not in (await either.note(crash, full=True)).get("causal_chain", [])


# ---------------------------------------------------- the same from scratch

_CONTENTS = (
    "Sandworm deployed Mimikatz.",
    "Turla exploited CVE-2024-3094 with Sliver.",
    "APT28 used X-Agent. Fancy Bear targeted the energy sector.",
    "Anna works at Siemens in Munich.",
    "Blue Otter, also known as Sandworm, used Rubeus.",
    "Nothing to see here.",
)
_STEPS = st.lists(
    st.tuples(st.sampled_from(["remember", "edit", "hide", "restore", "purge", "supersede", "read"]),
              st.integers(0, 7), st.sampled_from(_CONTENTS)),
    max_size=14,
)  # fmt: skip


async def _exported(api: Api) -> str:
    exported = await api.call("graph.export")
    edges = [{**edge, "note_ids": len(edge["note_ids"])} for edge in exported["edges"]]
    nodes = [(node["id"], node["value"]) for node in exported["nodes"]]
    return json.dumps([sorted(nodes), sorted(edges, key=json.dumps)])


async def _taken(api: Api, steps: list[tuple[str, int, str]], read: Callable[[], Awaitable[None]]) -> list[str]:
    """Take *steps*; return the ids of the notes that are left."""
    ids: list[str] = []
    purged: set[str] = set()
    for what, which, content in steps:
        if what == "remember" or not ids:
            ids.append((await api.remember(content))["id"])
            continue
        note_id, other = ids[which % len(ids)], ids[which * 3 % len(ids)]
        if note_id in purged:
            continue
        if what == "edit":
            await api.call("note.edit", id=note_id, content=content)
        elif what == "purge":
            await api.call("forget", id=note_id, purge=True)
            purged.add(note_id)
        elif what == "supersede":
            await api.call("mark_note_superseded", note_id=note_id, superseded_by_id=other)
        elif what == "read":
            await read()
        else:
            await api.call(f"note.{what}", id=note_id)
    return [note_id for note_id in ids if note_id not in purged]


@settings(derandomize=True, max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(_STEPS)
async def test_the_graph_is_the_one_of_the_visible_notes(steps: list[tuple[str, int, str]]) -> None:
    async with memory() as api:
        left = [await api.note(note_id) for note_id in await _taken(api, steps, api.shelf().enrichment.reach)]
        exported = await _exported(api)
    async with memory() as scratch:
        for note in left:
            copy = await scratch.remember(note["content"])
            if note["hidden"]:
                await scratch.call("note.hide", id=copy["id"])
            if note.get("superseded_by"):
                by = await scratch.remember("Nothing.")
                await scratch.call("mark_note_superseded", note_id=copy["id"], superseded_by_id=by["id"])
        assert exported == await _exported(scratch)


_STARTS = (("actor", "Sandworm"), ("actor", "fancy bear"), ("malware", "Mimikatz"), ("person", "Anna"))


async def _compare_walks(api: Api) -> None:
    """Walks come to what the exported graph says, by the shortest ways."""
    exported = await api.call("graph.export")
    shown = {node["id"]: node["value"] for node in exported["nodes"]}
    said: dict[str, set[tuple[str, str, str]]] = {}
    for one in exported["edges"]:
        source, target = shown[one["source"]], shown[one["target"]]
        said.setdefault(source, set()).add((one["relationship"], "outgoing", target))
        said.setdefault(target, set()).add((one["relationship"], "incoming", source))
    for type_, value in _STARTS:
        about = await api.call("get_entity_relationships", entity_type=type_, entity_value=value)
        start = about["entity"]["canonical"]
        depths, at = {start: 0}, [start]
        while at:
            nearest = {other: depths[one] + 1 for one in at for _, _, other in said.get(one, ()) if other not in depths}
            depths |= nearest
            at = list(nearest)
        walked = await api.call("traverse_graph", start_type=type_, start_value=value, max_depth=4)
        found = {node["value"]: node["depth"] for node in walked["nodes"]}
        assert found == {other: depth for other, depth in depths.items() if 0 < depth <= 4}
        for node in walked["nodes"]:
            before = start
            assert len(node["path"]) == node["depth"]
            for step in node["path"]:
                assert (step["relationship"], step["direction"], step["value"]) in said[before]
                before = step["value"]
            assert before == node["value"]


@settings(derandomize=True, max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.booleans(), _STEPS)
async def test_walks_between_changes_are_those_of_the_exported_graph(
    is_file: bool, steps: list[tuple[str, int, str]]
) -> None:
    with TemporaryDirectory() as directory:
        async with memory(
            lambda clock: SqliteStores(Path(directory), clock) if is_file else InMemoryStores(clock)
        ) as api:
            await _taken(api, steps, lambda: _compare_walks(api))
            await _compare_walks(api)


async def test_an_entity_that_is_gone_is_not_met_in_the_place_of_another(either: Api) -> None:
    await either.remember("Sandworm deployed Mimikatz.")
    assert await reached(either, "actor", "Sandworm") == [("mimikatz", 1)]
    gone = await either.remember("Sandworm deployed Rubeus.")
    assert await reached(either, "actor", "Sandworm") == [("rubeus", 1), ("mimikatz", 1)]
    await either.call("note.edit", id=gone["id"], content="Nothing to see here.")
    assert await reached(either, "actor", "Sandworm") == [("mimikatz", 1)]
    gone = await either.remember("Sandworm deployed Havoc.")
    assert await reached(either, "actor", "Sandworm") == [("havoc", 1), ("mimikatz", 1)]
    await either.call("forget", id=gone["id"], purge=True)
    await either.remember("Sandworm deployed Nmap.")
    assert await reached(either, "actor", "Sandworm") == [("nmap", 1), ("mimikatz", 1)]


async def test_a_walk_takes_what_two_directions_say_by_the_newest_note(either: Api) -> None:
    await either.remember("Sandworm deployed Mimikatz.")
    await either.remember("The outage was caused by Mimikatz.")
    await either.remember("Turla deployed Mimikatz.")
    values = [value for value, _ in await reached(either, "tool", "Mimikatz", max_depth=1)]
    notes = {one["note_id"]: one["node"]["value"] for one in (
        await either.call("get_entity_relationships", entity_type="tool", entity_value="Mimikatz")
    )["relationships"]}  # fmt: skip
    assert values == list(notes.values())
