"""Types of notes: what holds, setting one with the notes that are there, taking it back."""

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes import Api
from shelfd.memory.notes.note import MEMORY_TYPES
from shelfd.memory.sessions import retyping
from shelfd.memory.sessions.schema import BUILT_IN, active_in, new_type, type_of

QUEST: dict[str, Any] = {"type": "quest", "table_columns": ["goal", "state"], "required_columns": ["goal"]}


async def types(api: Api, **named: Any) -> dict[str, dict[str, Any]]:
    return {kind["type"]: kind for kind in (await api.call("schema.get", **named))["types"]}


async def quest(api: Api, **fields: Any) -> str:
    """A note of a type that nobody has set."""
    return str((await api.remember_typed(fields, type="quest"))["id"])


async def test_built_in_types_are_open_and_come_first(either: Api) -> None:
    found = await types(either)
    assert list(found) == ["event", "character_sheet", "location_state", "thread", *MEMORY_TYPES]
    assert all(kind["additional_columns"] and kind["origin"] == "built_in" for kind in found.values())
    assert found["event"]["compression"] == {
        "mode": "hierarchical", "threshold": 5, "fan_in": 3, "max_depth": 10, "keep_recent_leaves": 3, "rule": "",
        "summarize_instruction": "",
    }  # fmt: skip
    assert [kind["type"] for kind in found.values() if kind["latest_only"]] == [
        "character_sheet",
        "location_state",
        "thread",
    ]
    assert [kind["type"] for kind in found.values() if kind["always_inject"]] == ["event", "thread"]


async def test_what_is_known_of_relations_is_in_the_schema(api: Api) -> None:
    known = {one["relation"]: one for one in (await api.call("schema.get"))["relations"]}
    assert known["allied_with"] == {"relation": "allied_with", "symmetric": True, "internal": False}
    assert known["contains"]["internal"]
    for relation in known.values():
        if "inverse" in relation:
            assert known[relation["inverse"]]["inverse"] == relation["relation"]


async def test_a_type_is_made_and_changed_and_what_is_not_said_stays(either: Api) -> None:
    made = await either.call("schema.set_type", QUEST, compression={"mode": "hierarchical", "fan_in": 2})
    assert made["migrated"] == 0
    assert made["type"]["compression"]["threshold"] == 6
    changed = (await either.call("schema.set_type", type="Quest", label="A quest"))["type"]
    assert (changed["type"], changed["label"], changed["table_columns"]) == ("quest", "A quest", ["goal", "state"])
    assert changed["compression"] == made["type"]["compression"]
    await either.call("session.open", session_id="s")
    shown = {kind["type"]: kind for kind in (await either.call("session.get_schema", session_id="s"))["types"]}
    assert (shown["quest"]["compression_mode"], shown["quest"]["compression"]["fan_in"]) == ("hierarchical", 2)


async def test_a_nugget_s_own_type_goes_before_the_shelf_s(either: Api) -> None:
    await either.call("schema.set_type", QUEST)
    await either.call("schema.set_type", QUEST, nugget="story", label="Story quest")
    assert (await types(either))["quest"]["label"] == "quest"
    assert (await types(either, nugget="story"))["quest"]["origin"] == "nugget"
    assert (await types(either, nugget="elsewhere"))["quest"]["origin"] == "shelf"
    gone = await either.call("schema.delete_type", type="quest", nugget="story")
    assert (gone["deleted"], gone["type"]["origin"]) == (True, "shelf")
    assert await either.call("schema.delete_type", type="quest") == {"deleted": True}
    assert await either.call("schema.delete_type", type="quest") == {"deleted": False}


async def test_types_go_along_when_a_nugget_is_renamed(either: Api) -> None:
    await either.remember("x", nugget="story")
    await either.call("schema.set_type", QUEST, nugget="story")
    await either.call("nugget.rename", name="story", new_name="novel")
    assert "quest" in await types(either, nugget="novel")
    assert "quest" not in await types(either, nugget="story")


async def test_a_type_is_refused_while_notes_would_not_fit(either: Api) -> None:
    fits, lacks, more = await quest(either, goal="a"), await quest(either, state="b"), await quest(either, goal=1, x=2)
    refused = await either.refused("schema.set_type", QUEST, additional_columns=False)
    assert (refused.code, refused.reason, refused.field) == (-32002, "TYPE_UNFIT", "migrate")
    assert refused.data["unfit"] == 2
    assert refused.data["offenders"] == [{"id": lacks, "columns": ["goal"]}, {"id": more, "columns": ["x"]}]
    assert "quest" not in await types(either)

    for note_id in (lacks, more):
        await either.call("note.hide", id=note_id)
    await either.call("schema.set_type", QUEST, additional_columns=False)
    assert (await either.note(fits))["rev"] == 1


async def test_notes_come_along_as_the_migration_says(either: Api) -> None:
    first, second = await quest(either, aim="win", state="open"), await quest(either, goal="lose")
    migrate = {"rename": {"aim": "goal"}, "defaults": {"state": "unknown"}}
    params = {**QUEST, "required_columns": ["goal", "state"], "additional_columns": False}
    done = await either.call("schema.set_type", params, migrate=migrate)

    assert done["migrated"] == 2
    assert (await either.note(first))["fields"] == {"goal": "win", "state": "open"}
    assert (await either.note(second))["fields"] == {"goal": "lose", "state": "unknown"}
    assert (await either.note(second))["content"] == "goal: lose\nstate: unknown"
    await either.call("reflection.undo", run_id=done["run_id"])
    assert (await either.note(first))["fields"] == {"aim": "win", "state": "open"}


async def test_many_notes_take_a_job_that_names_the_first_hundred(either: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retyping, "LOOKED_AT", 50)
    await either.call("remember_many", notes=[{"type": "quest", "fields": {"aim": n}} for n in range(130)])
    refused = await either.refused("schema.set_type", QUEST)
    assert (refused.reason, refused.data["unfit"], len(refused.data["offenders"])) == ("TYPE_UNFIT", 130, 100)
    done = await either.call("schema.set_type", QUEST, migrate={"rename": {"aim": "goal"}})
    assert done["migrated"] == 130
    assert [job["kind"] for job in (await either.call("job.list"))["jobs"]] == ["retype", "retype"]


async def test_a_shelf_s_type_leaves_a_nugget_with_its_own_alone(either: Api) -> None:
    await either.call("schema.set_type", type="quest", nugget="story")
    note = await either.remember_typed({"aim": "x"}, type="quest", nugget="story")
    await either.call("schema.set_type", QUEST)
    assert (await either.note(note["id"]))["fields"] == {"aim": "x"}


async def test_a_type_in_use_cannot_go_and_a_built_in_one_returns(either: Api) -> None:
    await either.call("schema.set_type", QUEST)
    note_id = await quest(either, goal="a")
    refused = await either.refused("schema.delete_type", type="quest")
    assert (refused.reason, refused.data["count"]) == ("TYPE_IN_USE", 1)
    await either.call("note.hide", id=note_id)
    assert (await either.call("schema.delete_type", type="quest"))["deleted"]

    await either.call("schema.set_type", type="event", required_columns=[], additional_columns=False)
    odd = await either.remember("it rained", type="event")
    returned = await either.call("schema.delete_type", type="event")
    assert (returned["type"]["origin"], returned["type"]["required_columns"]) == ("built_in", ["summary"])
    assert (await either.note(odd["id"]))["type"] == "event"


@pytest.mark.parametrize(
    ("params", "field"),
    [
        ({"type": "a b"}, "type"),
        ({"type": "-x"}, "type"),
        ({"type": "x" * 65}, "type"),
        ({"type": "x", "required_columns": ["y"]}, "required_columns"),
        ({"type": "x", "primary_key_columns": ["y"]}, "primary_key_columns"),
        ({"type": "x", "embedding_columns": ["y"]}, "embedding_columns"),
        ({"type": "x", "table_columns": []}, "table_columns"),
        ({"type": "x", "table_columns": ["a", "a"]}, "table_columns"),
        ({"type": "x", "compression": {"mode": "flat"}}, "compression.mode"),
        ({"type": "x", "compression": {"threshold": 1}}, "compression.threshold"),
        ({"type": "x", "compression": {"fan_in": 1}}, "compression.fan_in"),
        ({"type": "x", "extract_every": 0}, "extract_every"),
        ({"type": "x", "colour": 1}, "colour"),
        ({"type": "x", "migrate": {"defaults": {"y": 1}}}, "migrate.defaults"),
        ({"type": "x", "migrate": {"rename": {"y": "y"}}}, "migrate.rename"),
        ({"type": "x", "additional_columns": False, "migrate": {"rename": {"y": "z"}}}, "migrate.rename"),
    ],
)
async def test_what_is_no_type_is_refused(api: Api, params: dict[str, Any], field: str) -> None:
    refused = await api.refused("schema.set_type", params)
    assert (refused.code, refused.field) == (-32602, field)
    assert list(await types(api)) == list(BUILT_IN)


async def test_two_types_are_not_set_at_once(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retyping, "LOOKED_AT", 5)
    await api.call("remember_many", notes=[{"type": "quest", "fields": {"goal": n}} for n in range(40)])
    first = api.request("schema.set_type", QUEST)
    second = api.request("schema.set_type", QUEST, label="later")
    told = await asyncio.gather(api.handle(first), api.handle(second), return_exceptions=True)
    assert isinstance(told[0], dict)
    assert "is setting type quest" in str(told[1])


@given(st.sampled_from(sorted(BUILT_IN)))
def test_a_type_is_read_as_it_was_written(name: str) -> None:
    kind = BUILT_IN[name]
    assert type_of(name, kind.as_mapping()) == kind


@given(st.lists(st.integers(1, 6), min_size=1, max_size=5), st.integers(1, 60))
def test_a_type_is_considered_every_so_many_turns(every: list[int], turn: int) -> None:
    kinds = [new_type(f"t{number}")._replace(extract_every=n) for number, n in enumerate(every)]
    assert [kind.extract_every for kind in active_in(kinds, turn)] == [n for n in every if turn % n == 0]
