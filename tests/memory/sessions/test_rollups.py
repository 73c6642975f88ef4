"""Rollups: what is due, what a rollup is made of, and what becomes of what it represents."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes import Api, Refused
from memory.tending.reflection.scenes import a_note
from shelfd.memory.notes.digest import digest, is_digest
from shelfd.memory.notes.note import NO_EXTRA
from shelfd.memory.sessions.rollup_rule import rule_of
from shelfd.memory.sessions.rollups import groups
from shelfd.memory.sessions.schema import Compression

SESSION = "talk"


async def opened(api: Api) -> None:
    await api.call("session.open", session_id=SESSION, nugget="story")


async def events(api: Api, count: int) -> list[str]:
    """Open a session, tell it of one event in each turn; return their ids."""
    await opened(api)
    return [await event(api, number) for number in range(1, count + 1)]


async def event(api: Api, number: int) -> str:
    fields = {"summary": f"Ada walked to mill {number}. It rained."}
    made = await api.call("session.create_node", session_id=SESSION, type="event", fields=fields, turn=number)
    return str(made["id"])


async def candidates(api: Api, depth: int = 0) -> list[list[str]]:
    found = await api.call("session.compaction_candidates", session_id=SESSION, type="event", depth=depth)
    assert found["total"] == len(found["groups"])
    assert all(group["depth"] == depth + 1 and group["fan_in"] == 3 for group in found["groups"])
    return [group["child_ids"] for group in found["groups"]]


async def note(api: Api, note_id: str) -> dict[str, Any]:
    return dict((await api.call("note.get", id=note_id, full=True))["note"])


async def refusal(api: Api, **params: Any) -> Refused:
    given = {"session_id": SESSION, "type": "event", "summary": "so it went"} | params
    return await api.refused("session.compact_nodes", given)


# ------------------------------------------------------------ what is due


@given(
    count=st.integers(0, 60),
    threshold=st.integers(2, 9),
    fan_in=st.integers(2, 9),
    keep=st.integers(0, 9),
    depth=st.integers(0, 4),
)
def test_what_is_due_is_what_rolling_up_one_group_after_another_takes(
    count: int, threshold: int, fan_in: int, keep: int, depth: int
) -> None:
    compression = Compression("hierarchical", threshold, fan_in, 3, keep)
    found = groups(range(count), compression, depth)
    left, taken = list(range(count)), []
    protected = keep if depth == 0 else 0
    while depth < 3 and len(left) - protected >= max(threshold, fan_in):
        taken.append(left[:fan_in])
        left = left[fan_in:]
    assert [list(group) for group in found] == taken
    assert groups(range(count), compression._replace(mode="none"), depth) == []


async def test_the_first_group_of_events_is_due_with_the_eighth(api: Api) -> None:
    ids = await events(api, 7)
    assert await candidates(api) == []
    ids.append(await event(api, 8))
    assert await candidates(api) == [ids[:3]]


async def test_candidates_are_none_for_types_that_are_not_rolled_up_or_unknown(api: Api) -> None:
    await opened(api)
    for type_ in ("thread", "nothing"):
        found = await api.call("session.compaction_candidates", session_id=SESSION, type=type_)
        assert found == {"groups": [], "total": 0}


async def test_a_compaction_rolls_up_just_what_is_due_and_then_nothing_is(api: Api) -> None:
    ids = await events(api, 30)
    due = await candidates(api)
    result = await api.call("session.compact", session_id=SESSION)
    assert due == [ids[at : at + 3] for at in range(0, 24, 3)]
    assert result["rollups"] == 8 + 2
    assert result["notes"] == 24 + 6
    assert await candidates(api) == await candidates(api, 1) == await candidates(api, 2) == []
    again = await api.call("session.compact", session_id=SESSION)
    assert (again["rollups"], again["notes"]) == (0, 0)


async def test_undoing_a_compaction_brings_the_frontier_back(api: Api) -> None:
    ids = await events(api, 12)
    due = await candidates(api)
    run = await api.call("session.compact", session_id=SESSION)
    undone = await api.call("reflection.undo", run_id=run["run_id"])
    assert undone["kept"] == []
    assert await candidates(api) == due
    assert [(await note(api, note_id)).get("parent_id") for note_id in ids] == [None] * 12


async def test_what_is_rolled_up_in_a_turn_goes_with_it(api: Api) -> None:
    ids = await events(api, 12)
    due = await candidates(api)
    run = await api.call("session.compact", session_id=SESSION, turn=13)
    assert run["rollups"] > 0
    (one,) = (await api.call("session.list"))["sessions"]
    assert one["last_turn"] == 13
    await api.call("session.retract_turns", session_id=SESSION, from_turn=13)
    assert await candidates(api) == due
    assert [(await note(api, note_id)).get("parent_id") for note_id in ids] == [None] * 12
    by_hand = await api.call(
        "session.compact_nodes", session_id=SESSION, turn=14, type="event", child_ids=ids[:2], summary="said"
    )
    assert (await api.call("session.list"))["sessions"][0]["last_turn"] == 14
    await api.call("session.retract_turns", session_id=SESSION, from_turn=14)
    assert (await note(api, by_hand["rollup_node_id"]))["hidden"]


async def test_a_rule_says_which_notes_may_be_rolled_up(api: Api) -> None:
    await opened(api)
    compression = {"mode": "hierarchical", "threshold": 2, "fan_in": 2, "keep_recent_leaves": 0, "rule": "state = done"}
    await api.call("schema.set_type", type="task", table_columns=["title", "state"], compression=compression)
    ids = []
    for number, state in enumerate(["done", "open", "Done", "done", "open"]):
        fields = {"title": f"task {number}", "state": state}
        made = await api.call("session.create_node", session_id=SESSION, type="task", fields=fields)
        ids.append(made["id"])
    found = await api.call("session.compaction_candidates", session_id=SESSION, type="task")
    assert [group["child_ids"] for group in found["groups"]] == [[ids[0], ids[2]]]


async def test_a_rule_that_is_none_is_refused_where_it_is_set(api: Api) -> None:
    compression = {"mode": "hierarchical", "rule": "state is done"}
    refused = await api.refused("schema.set_type", type="task", compression=compression)
    assert (refused.code, refused.data["field"]) == (-32602, "compression.rule")
    assert "is no condition" in refused.message


RULES = {
    "": True, "exists(state)": True, "HAS( State )": True, "empty(state)": False, "exists(goal)": False,
    "empty(goal)": True, "state = Open": True, "state=open && depth = 0": True, "state != open": False,
    "state in [done|open]": True, "state not in [done|open]": False, "rollup = false\nseq = 7": True,
    "depth = 1": False, "names in [ada|bob]": True, "title = the mill": True, "names = bob": False,
}  # fmt: skip


@pytest.mark.parametrize("rule", RULES)
def test_rules(rule: str) -> None:
    fields = {"state": "open", "names": ["Ada", "Eve"]}
    one = a_note("said", title="The Mill", seq_to=7, extra=NO_EXTRA._replace(fields=fields))
    assert rule_of(rule)(one) is RULES[rule]


# ------------------------------------------------------- what a rollup is


async def test_a_rollup_represents_its_children_and_says_what_it_was_given(api: Api) -> None:
    ids = await events(api, 3)
    made = await api.call(
        "session.compact_nodes", session_id=SESSION, type="event", child_ids=ids[::-1], summary="She\nwalked a lot."
    )
    rollup = await note(api, made["rollup_node_id"])
    assert made["depth"] == 1
    assert rollup["content"] == "She\nwalked a lot."
    assert rollup["title"] == "event Summary L1 #1"
    assert (rollup["is_rollup"], rollup["rollup_depth"], rollup["source_span"]) == (True, 1, [1, 3])
    assert rollup["children_ids"] == ids
    assert rollup["seq_to"] == 3
    for note_id in ids:
        child = await note(api, note_id)
        assert (child["parent_id"], child["hidden"]) == (rollup["id"], False)
    assert [child["seq_to"] for child in [await note(api, note_id) for note_id in ids]] == [1, 2, 3]


async def test_rollups_of_rollups_are_deeper_and_numbered_each(api: Api) -> None:
    ids = await events(api, 8)
    made = [
        await api.call(
            "session.compact_nodes", session_id=SESSION, type="event", child_ids=ids[at : at + 2], summary=f"part {at}"
        )
        for at in range(0, 8, 2)
    ]
    rollups = [one["rollup_node_id"] for one in made]
    titles = [(await note(api, note_id))["title"] for note_id in rollups]
    assert titles == [f"event Summary L1 #{number}" for number in (1, 2, 3, 4)]
    top = await api.call("session.compact_nodes", session_id=SESSION, type="event", child_ids=rollups, summary="all")
    shown = await note(api, top["rollup_node_id"])
    assert (shown["title"], shown["rollup_depth"], shown["source_span"]) == ("event Summary L2 #1", 2, [1, 8])
    mixed = await refusal(api, child_ids=[top["rollup_node_id"], await event(api, 9)])
    assert mixed.data["field"] == "child_ids"
    assert "different depth" in mixed.message


@pytest.mark.parametrize("how", ["delete_node", "note.hide", "forget"])
async def test_what_a_rollup_represents_is_due_again_once_that_is_hidden(api: Api, how: str) -> None:
    ids = await events(api, 8)
    run = await api.call("session.compact", session_id=SESSION)
    assert run["rollups"] == 1
    rollup = (await note(api, ids[0]))["parent_id"]
    if how == "delete_node":
        freed = await api.call("session.delete_node", session_id=SESSION, id=rollup)
        assert freed["freed"] == ids[:3]
    else:
        await api.call(how, id=rollup)
    assert await candidates(api) == [ids[:3]]


async def moved_away(api: Api, rollup: str, children: list[str]) -> None:
    await api.call("nugget.create", name="elsewhere")
    await api.call("note.move", id=rollup, nugget="elsewhere")


async def replaced(api: Api, rollup: str, children: list[str]) -> None:
    await api.call("mark_note_superseded", note_id=rollup, superseded_by_id=children[0])


async def of_another_type(api: Api, rollup: str, children: list[str]) -> None:
    await api.call("note.edit", id=rollup, metadata={"type": "note"})


@pytest.mark.parametrize("become", [moved_away, replaced, of_another_type])
async def test_what_a_rollup_no_longer_stands_for_is_due_again(
    either: Api, become: Callable[[Api, str, list[str]], Awaitable[None]]
) -> None:
    ids = await events(either, 8)
    (due,) = await candidates(either)
    first = await either.call("session.compact", session_id=SESSION)
    assert first["rollups"] == 1
    await become(either, (await note(either, due[0]))["parent_id"], due)
    nodes = (await either.call("session.list_visible_candidates", session_id=SESSION, types=["event"]))["nodes"]
    assert {node["id"] for node in nodes} == set(ids)
    assert await candidates(either) == [due]
    assert (await either.call("session.compact", session_id=SESSION))["rollups"] == 1
    assert await candidates(either) == []
    new = (await note(either, due[0]))["parent_id"]
    assert [(await note(either, child))["parent_id"] for child in due] == [new] * 3


async def test_a_child_that_was_moved_is_rolled_up_where_it_is(either: Api) -> None:
    ids = await events(either, 8)
    await either.call(
        "session.compact_nodes", session_id=SESSION, type="event", child_ids=ids[:3], summary="so it went"
    )
    await either.call("session.open", session_id="other", nugget="elsewhere")
    made = await either.call("session.create_node", session_id="other", type="event", title="Storm")
    await either.call("note.move", id=ids[0], nugget="elsewhere")
    children = [ids[0], made["id"]]
    params = {"session_id": "other", "type": "event", "child_ids": children, "summary": "there"}
    rollup = (await either.call("session.compact_nodes", params))["rollup_node_id"]
    assert (await note(either, ids[0]))["parent_id"] == rollup


async def test_a_child_that_is_represented_is_refused_and_nothing_changes(api: Api) -> None:
    ids = await events(api, 4)
    made = await api.call("session.compact_nodes", session_id=SESSION, type="event", child_ids=ids[:2], summary="two")
    before = await api.call("shelf.log", limit=1000)
    refused = await refusal(api, child_ids=ids[1:3])
    assert (refused.code, refused.data["reason"], refused.data["field"]) == (-32002, "CHILD_HAS_PARENT", "child_ids.0")
    assert refused.data["parent_id"] == made["rollup_node_id"]
    assert await api.call("shelf.log", limit=1000) == before


async def test_what_cannot_be_rolled_up_is_refused_with_its_place(api: Api) -> None:
    ids = await events(api, 3)
    other = await api.call("session.create_node", session_id=SESSION, type="thread",
                           fields={"title": "Find out", "status": "active", "note": "who"})  # fmt: skip
    elsewhere = (await api.call("remember", content="elsewhere", type="event", nugget="other"))["note"]["id"]
    await api.call("note.hide", id=ids[2])
    cases: list[tuple[list[str], int, str]] = [
        ([ids[0]], -32602, "child_ids"),
        ([ids[0], ids[0]], -32602, "child_ids"),
        ([ids[0], "note-x-00000000"], -32001, "child_ids.1"),
        ([ids[0], elsewhere], -32001, "child_ids.1"),
        ([other["id"], ids[0]], -32602, "child_ids.0"),
        ([ids[0], ids[2]], -32602, "child_ids.1"),
    ]
    for child_ids, code, field in cases:
        refused = await refusal(api, child_ids=child_ids)
        assert (refused.code, refused.data["field"]) == (code, field), child_ids
    assert (await refusal(api, child_ids=ids[:2], type="nothing")).data["field"] == "type"
    for blank in ("", " \n "):
        assert (await refusal(api, child_ids=ids[:2], summary=blank)).code == -32602
    differing = await refusal(api, child_ids=ids[:2], fields={"summary": "something else"})
    assert differing.data["field"] == "fields.summary"


async def test_a_sessions_own_notes_are_rolled_up_among_themselves_only(api: Api) -> None:
    await opened(api)
    own = [
        (await api.call("remember", content=f"mine {number}", nugget="story", type="event", scope="session",
                        session_id=SESSION))["note"]["id"]
        for number in range(3)
    ]  # fmt: skip
    shared = await event(api, 1)
    refused = await refusal(api, child_ids=[own[0], shared])
    assert "belong to the session alone" in refused.message
    made = await api.call("session.compact_nodes", session_id=SESSION, type="event", child_ids=own, summary="mine")
    rollup = await note(api, made["rollup_node_id"])
    assert (rollup["scope"], rollup["session_id"]) == ("session", SESSION)
    await api.call("session.open", session_id="another", nugget="story")
    foreign = await api.refused(
        "session.compact_nodes", session_id="another", type="event", child_ids=own, summary="not mine"
    )
    assert (foreign.code, foreign.data["reason"]) == (-32001, "CHILD_NOT_FOUND")


# ------------------------------------------------------------ the digest


async def test_without_a_model_a_rollup_cites_what_it_represents(api: Api) -> None:
    ids = await events(api, 8)
    await api.call("session.compact", session_id=SESSION)
    rollup = await note(api, (await note(api, ids[0]))["parent_id"])
    assert rollup["content"].split("\n") == [
        f"- Ada walked to mill {number}. [{note_id}]" for number, note_id in enumerate(ids[:3], 1)
    ]
    assert rollup["source"] == "agent_reflection"


async def test_recall_finds_what_a_digest_cites_and_not_the_digest(api: Api) -> None:
    ids = await events(api, 8)
    await api.call("session.compact", session_id=SESSION)
    digest_id = (await note(api, ids[0]))["parent_id"]
    found = await api.call("recall", query="Which mill did Ada walk to?", nugget="story", k=20, focus="off")
    assert digest_id not in {result["note"]["id"] for result in found["results"]}
    assert {result["note"]["id"] for result in found["results"]} >= set(ids[:3])
    await api.call("note.edit", id=digest_id, content="Ada walked to the mills of the valley.")
    found = await api.call("recall", query="Which mills of the valley did Ada walk to?", nugget="story", k=20)
    assert digest_id in {result["note"]["id"] for result in found["results"]}


def test_a_digest_takes_of_each_note_what_it_has_in_common_with_the_others() -> None:
    notes = [
        a_note("It rained. The harbour crane broke. Nobody knew why.", id="a"),
        a_note("Eve had lunch. She repaired the harbour crane.", id="b"),
        a_note("", id="c", title="Harbour"),
    ]
    text = digest(notes)
    assert text.split("\n") == [
        "- The harbour crane broke. [a]", "- She repaired the harbour crane. [b]", "- Harbour [c]",
    ]  # fmt: skip
    assert is_digest(a_note(text, extra=NO_EXTRA._replace(is_rollup=True)))
    assert not is_digest(a_note(text))
    again = digest([a_note(text, id="r"), a_note("Eve left the harbour.", id="d")])
    assert again.split("\n")[0] in {"- The harbour crane broke. [r]", "- She repaired the harbour crane. [r]"}


@given(st.lists(st.text(max_size=400), min_size=1, max_size=100))
def test_a_digest_is_short_and_cites_every_note(texts: list[str]) -> None:
    notes = [a_note(text, id=f"n{number}") for number, text in enumerate(texts)]
    lines = digest(notes).split("\n")
    assert [line.rsplit("[", 1)[1] for line in lines] == [f"n{number}]" for number in range(len(texts))]
    assert len("\n".join(lines)) <= max(1_200, 75 * len(texts)) + 20 * len(texts)
