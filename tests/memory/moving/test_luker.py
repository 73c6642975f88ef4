"""Moving in from Luker: a graph comes as its floor log leaves it, with its tree, turns and types; once."""

from pathlib import Path
from typing import Any

import pytest

from fakes import ROOT, Api
from luker_files import HARBOUR, Json, edge, floor_log, log_parts, node, state, write_log
from memory.moving.test_import import errors, losses, sums
from shelfd.memory.log.logical import logical_hash


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "evening__floor_log.json"


async def take_in(api: Api, path: Path, *states: Json, session_id: str = "evening", **header: Any) -> Json:
    log = floor_log(*states, **header.pop("more", {}))
    sent = log_parts(write_log(path, log), session_id=session_id, **header)
    return await api.call("shelf.import", parts=sent, format="luker", principal=ROOT)


async def shown(api: Api, note_id: str) -> Json:
    return await api.note(note_id, full=True)


async def test_a_graph_comes_as_it_was(either: Api, path: Path) -> None:
    api = either
    result = await take_in(api, path, HARBOUR)
    assert [(p["part"], p["created"], len(p["rejected"])) for p in result["parts"]] == [
        ("sessions", 1, 0), ("notes", 6, 0), ("links", 3, 0),
    ]  # fmt: skip
    first, rollup, mira = await shown(api, "n_1"), await shown(api, "n_5"), await shown(api, "n_3")
    assert (first["nugget"], first["type"], first["title"], first["seq_to"]) == ("evening", "event", "Summary 1", 1)
    assert (first["content"], first["source_span"]) == ("what n_1 is about", [1, 1])
    assert (first["parent_id"], rollup["children_ids"]) == ("n_5", ["n_1", "n_2"])
    assert (rollup["is_rollup"], rollup["rollup_depth"]) == (True, 1)
    assert (mira["aliases"], mira["session_id"]) == (["the pilot", "M."], "evening")
    assert (
        mira["content"] == "title: Mira\naliases: the pilot, M.\ntraits: patient"
        or "traits: patient" in mira["content"]
    )
    old = await shown(api, "n_6")
    assert (old["hidden"], old["superseded_by"]) == (True, "n_3")
    assert {(one["relation"], one["to"]) for one in first["links"]} == {("involved_in", "n_3")}


async def test_its_session_can_be_read_and_written(either: Api, path: Path) -> None:
    api = either
    await take_in(api, path, HARBOUR)
    listed = (await api.call("session.list_visible_candidates", session_id="evening"))["nodes"]
    assert [one["id"] for one in listed] == ["n_3", "n_5", "n_4"]
    edges = (await api.call("session.list_edges", session_id="evening", exclude_internal=True))["edges"]
    assert sorted((one["from"], one["type"], one["to"]) for one in edges) == [
        ("n_1", "involved_in", "n_3"), ("n_2", "occurred_at", "n_4"), ("n_3", "allied_with", "n_4"),
    ]  # fmt: skip
    sheet = {"session_id": "evening", "type": "character_sheet", "fields": {"title": "Mira", "goal": "the lighthouse"}}
    made = await api.call("session.create_node", {**sheet, "turn": 5})
    assert made["id"] == "n_3"
    assert (await shown(api, "n_3"))["seq_to"] == 5  # four turns were there


async def test_links_say_in_which_turn_they_were_made(api: Api, path: Path) -> None:
    await take_in(api, path, HARBOUR)
    links = (await api.call("link.list", id="n_1"))["links"]
    assert [(one["relation"], one["seq_to"]) for one in links if one["relation"] == "involved_in"] == [
        ("involved_in", 1)
    ]


async def test_again_changes_nothing(either: Api, path: Path) -> None:
    api = either
    await take_in(api, path, HARBOUR)
    view = api.shelf().view
    before = logical_hash(view), view.log.last_seq
    again = await take_in(api, path, HARBOUR)
    assert "created" not in sums(again)
    assert "updated" not in sums(again)
    assert (logical_hash(view), view.log.last_seq) == before


async def test_what_the_log_says_anew_is_taken_and_what_was_edited_here_stays(api: Api, path: Path) -> None:
    one = state([node("n_1", "thread", 1, fields={"status": "active"}), node("n_2"), node("n_3")], seqCounter=3)
    await take_in(api, path, one)
    await api.call("note.edit", id="n_3", content="said here")
    two = state(
        [node("n_1", "thread", 3, fields={"status": "resolved"}, parentId="n_2"), node("n_2", archived=True),
         node("n_3", fields={"summary": "said there"})],
        seqCounter=3,
    )  # fmt: skip
    result = await take_in(api, path, one, two)
    (notes,) = (part for part in result["parts"] if part["part"] == "notes")
    assert (notes["updated"], [kept["id"] for kept in notes["kept"]]) == (2, ["n_3"])
    thread = await shown(api, "n_1")
    assert (thread["fields"]["status"], thread["seq_to"], thread["parent_id"]) == ("resolved", 3, "n_2")
    assert "resolved" in thread["content"]
    assert (await shown(api, "n_2"))["hidden"]
    assert (await shown(api, "n_3"))["content"] == "said here"


async def test_two_chats_with_the_same_ids_do_not_mix(either: Api, path: Path) -> None:
    api = either
    await take_in(api, path, HARBOUR)
    nodes = [node("n_1", title="Elsewhere"), node("n_2", seq=2, parentId="n_1", supersededBy="n_1")]
    other = state(nodes, [edge("n_1", "n_2")])
    result = await take_in(api, path, other, session_id="morning")
    assert losses(result)["id"] == ["is another note's here; links follow"]
    listed = (await api.call("note.list", nugget="morning"))["notes"]
    ids = {note["title"]: note["id"] for note in listed}
    assert (await shown(api, "n_1"))["title"] == "Summary 1"
    child = await shown(api, ids["n_2"])
    assert child["parent_id"] == child["superseded_by"] == ids["Elsewhere"]
    assert [one["to"] for one in (await shown(api, ids["Elsewhere"]))["links"]] == [ids["n_2"]]
    assert set(sums(await take_in(api, path, other, session_id="morning"))) == {"unchanged"}


async def test_a_nugget_can_be_named_and_is_kept_to(api: Api, path: Path) -> None:
    await take_in(api, path, HARBOUR, nugget="Harbour")
    assert (await shown(api, "n_1"))["nugget"] == "harbour"
    assert set(sums(await take_in(api, path, HARBOUR))) == {"unchanged"}  # its session's, where none is named
    refused = await take_in(api, path, HARBOUR, nugget="other")
    assert {message.partition(";")[0] for *_, message in errors(refused)} == {
        "nugget: the session works on nugget 'harbour' and keeps to it"
    }


async def test_a_nugget_with_turns_of_its_own_counts_on(api: Api, path: Path) -> None:
    await api.call("session.open", session_id="mine", nugget="evening")
    fields = {"session_id": "mine", "type": "event", "fields": {"summary": "before"}}
    await api.call("session.create_node", {**fields, "turn": 1})
    await take_in(api, path, HARBOUR)
    assert ((await shown(api, "n_1"))["seq_to"], (await shown(api, "n_3"))["seq_to"]) == (2, 4)


async def test_types_come_along_and_those_set_here_stay(either: Api, path: Path) -> None:
    api = either
    schema = [
        {"id": "quest", "label": "Quest", "tableColumns": ["title", "aim"], "requiredColumns": ["aim"],
         "alwaysInject": True, "extractEveryN": 0, "level": "semantic",
         "compression": {"mode": "hierarchical", "threshold": 4, "fanIn": 2, "rule": "what ever"}},
        {"id": "event", "tableName": "event_table", "tableColumns": ["summary", "mood"], "alwaysInject": False},
        {"id": "broken", "tableColumns": ["title"], "requiredColumns": ["aim"]},
        7,
    ]  # fmt: skip
    lamp = state([node("n_1", "quest", fields={"aim": "the lamp"})])
    result = await take_in(api, path, lamp, more={"schema": schema})
    types = {one["type"]: one for one in (await api.call("schema.get", nugget="evening"))["types"]}
    quest = types["quest"]
    assert (quest["label"], quest["always_inject"], quest["compression"]["threshold"]) == ("Quest", True, 4)
    assert (types["event"]["table_columns"], types["event"]["records_span"]) == (["summary", "mood"], True)
    assert [index for _, index, _ in errors(result)] == [2, 3]
    assert set(losses(result)) == {"compression", "extract_every"}
    await api.call("schema.set_type", nugget="evening", type="quest", label="Task")
    again = await take_in(api, path, lamp, more={"schema": schema})
    assert "schema" in losses(again)
    types = {one["type"]: one for one in (await api.call("schema.get", nugget="evening"))["types"]}
    assert types["quest"]["label"] == "Task"


async def test_odd_nodes_are_taken_as_far_as_they_go(api: Api, path: Path) -> None:
    odd = state([
        node("a", title="", fields={"name": "Ada", "title": "The Pilot", "summary": ["x", "y"], "none": None}),
        node("b", fields=7, seqTo="soon", floorRange={"start": 3, "end": 1}, mood="calm"),
        node("c", level="episodic", seqTo=2.7, semanticRollup=True, semanticDepth=99),
        node("d", fields={"big": 2**60}),
        node("e", title="x" * 600, type="  "),
    ])  # fmt: skip
    result = await take_in(api, path, odd)
    one = await shown(api, "a")
    assert (one["title"], one["aliases"], one["content"]) == ("a", ["The Pilot"], '["x", "y"]')
    assert ((await shown(api, "b"))["content"], (await shown(api, "b"))["title"]) == ("b", "b")
    raw = await shown(api, "c")
    assert (raw["level"], raw["rollup_depth"], raw["seq_to"]) == ("episodic", 31, 2)
    assert [index for _, index, _ in errors(result)] == [3]
    long = await shown(api, "e")
    assert (len(long["title"]), long["type"]) == (512, "note")
    assert set(losses(result)) == {
        "fields", "seqTo", "floorRange", "mood", "semanticDepth", "title", "type",
    }  # fmt: skip


async def test_parts_of_another_format_are_refused(api: Api) -> None:
    refused = await api.refused("shelf.import", format="luker", parts=[{"part": "facts", "items": []}], principal=ROOT)
    assert "luker has no facts; expected sessions, types, notes, links" in refused.message


@pytest.mark.parametrize("turns", [None, [1], [0, 3], [5, 3], [1, 2000], [1, "x"], [100_000, 100_001], [True, True]])
async def test_turns_that_are_none_are_refused(api: Api, turns: Any) -> None:
    part = {"part": "sessions", "source": {"header": {"session_id": "s"}}, "items": [{"turns": turns}]}
    result = await api.call("shelf.import", format="luker", parts=[part], principal=ROOT)
    assert "turns: are not" in errors(result)[0][2]
    assert (await api.call("session.list"))["sessions"] == []


async def test_an_import_is_taken_back_and_brought_again(either: Api, path: Path) -> None:
    api = either
    result = await take_in(api, path, HARBOUR)
    await api.call("reflection.undo", run_id=result["run_id"])
    assert (await api.call("note.list", nugget="evening"))["notes"] == []
    await take_in(api, path, HARBOUR)
    listed = (await api.call("session.list_visible_candidates", session_id="evening"))["nodes"]
    assert [one["id"] for one in listed] == ["n_3", "n_5", "n_4"]
