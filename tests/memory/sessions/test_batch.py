"""Batches of operations and single ones, on both stores: what is refused, what is merged, what is left of a bad one."""

import asyncio
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from fakes import Api, Refused
from shelfd.memory.log.logical import logical_hash
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.ports.log import Origin
from shelfd.memory.sessions.batch import apply_operations, parse
from shelfd.memory.sessions.draft import Scene
from shelfd.memory.sessions.schema import schema_of
from shelfd.memory.sessions.turns import Moment
from shelfd.protocol import Limits

Op = dict[str, Any]


@pytest.fixture
async def call(either: Api) -> Callable[..., Any]:
    """Call a method of session s, on nugget story."""
    await either.call("session.open", session_id="s", nugget="story")

    async def call_(method: str, **params: Any) -> dict[str, Any]:
        return await either.call(f"session.{method}", session_id="s", **params)

    return call_


async def create(call: Callable[..., Any], type_: str, title: str, **named: Any) -> str:
    return str((await call("create_node", type=type_, title=title, **named))["id"])


async def batch(call: Callable[..., Any], *ops: Op, **named: Any) -> dict[str, Any]:
    return dict(await call("apply_extraction_batch", ops=list(ops), **named))


def reasons(done: dict[str, Any]) -> dict[int, str]:
    return {one["index"]: one["error"]["data"].get("reason", one["error"]["data"]["type"]) for one in done["rejected"]}


def fields_of(done: dict[str, Any]) -> dict[int, str]:
    return {one["index"]: one["error"]["data"].get("field") for one in done["rejected"]}


def state(api: Api) -> tuple[str, int]:
    view = api.shelf().view
    return logical_hash(view), view.log.last_seq


# ------------------------------------------------------------------ refs


async def test_a_ref_given_twice_and_one_that_nothing_creates(either: Api, call: Callable[..., Any]) -> None:
    before = state(either)
    done = await batch(
        call,
        {"op": "create", "type": "event", "title": "a", "ref": "r"},
        {"op": "create", "type": "event", "title": "b", "ref": "r"},
        {"op": "create", "type": "event", "title": "c", "links": [{"targetRef": "x"}]},
    )
    assert fields_of(done) == {1: "ops.1.ref", 2: "ops.2.links.0"}
    assert (done["applied"], done["rolled_back"]) == ([], True)
    assert state(either) == before


async def test_what_names_the_ref_of_a_bad_operation_falls_with_it(call: Callable[..., Any]) -> None:
    """Through several hands, in any order; what has nothing to do with it stands."""
    done = await batch(
        call,
        {"op": "create", "type": "event", "title": "leans on b", "ref": "c", "links": [{"targetRef": "b"}]},
        {"op": "create", "type": "event", "title": "leans on a", "ref": "b", "links": [{"targetRef": "a"}]},
        {"op": "create", "type": "dragon", "title": "bad", "ref": "a"},
        {"op": "link_upsert", "sourceRef": "c", "links": [{"targetRef": "d"}]},
        {"op": "create", "type": "event", "title": "alone", "ref": "d"},
        atomic=False,
    )
    assert reasons(done) == {0: "OP_FAILED", 1: "OP_FAILED", 2: "BAD_ARGS", 3: "OP_FAILED"}
    assert ([op["title"] for op in done["applied"]], list(done["ids"])) == (["alone"], ["d"])


async def test_a_create_whose_link_is_bad_is_refused_as_a_whole(either: Api, call: Callable[..., Any]) -> None:
    """Its note too, and with it what names that; what merged into it is a note of its own then."""
    done = await batch(
        call,
        {"op": "create", "type": "character_sheet", "title": "A", "ref": "a", "links": [{"targetNodeId": "nowhere"}]},
        {"op": "create", "type": "character_sheet", "title": "a", "fields": {"goal": "x"}},
        {"op": "link_upsert", "sourceRef": "a", "links": [{"targetNodeId": "nowhere"}]},
        atomic=False,
    )
    assert (set(reasons(done)), done["applied"][0]["created"], done["ids"]) == ({0, 2}, True, {})
    assert [note["title"] for note in (await either.call("note.list"))["notes"]] == ["a"]


async def test_what_a_batch_hides_it_cannot_link(either: Api, call: Callable[..., Any]) -> None:
    a, b = await create(call, "event", "a"), await create(call, "event", "b")
    before = state(either)
    link: Op = {"op": "link_upsert", "sourceNodeId": a, "links": [{"targetNodeId": b}]}
    for ops in ([link, {"op": "delete", "nodeId": b}], [{"op": "delete", "nodeId": b}, link]):
        done = await batch(call, *ops)
        assert list(reasons(done).values()) == ["NODE_ARCHIVED"]
    assert state(either) == before


async def test_refs_are_of_a_batch_alone(call: Callable[..., Any]) -> None:
    a = await create(call, "event", "a", ref="r")
    with pytest.raises(Refused) as refused:
        await call("upsert_links", source={"ref": "r"}, links=[{"target": {"id": a}}])
    assert refused.value.field == "ref"


# ------------------------------------------------------------------ order and effect


async def test_notes_come_first_then_links_each_in_their_order(either: Api, call: Callable[..., Any]) -> None:
    a, b = await create(call, "event", "a"), await create(call, "event", "b")
    link = {"sourceNodeId": a, "relation": "knows", "direction": "outgoing"}
    upsert = {"op": "link_upsert", "sourceNodeId": a, "links": [{"targetNodeId": b, "relation": "knows"}]}
    done = await batch(
        call,
        upsert,
        {"op": "link_delete", "targetNodeId": b, **link},
        {"op": "edit", "nodeId": a, "setFields": {"x": 1}},
        {"op": "edit", "nodeId": a, "clearFields": ["x"], "setFields": {"y": 2}},
    )
    assert [op.get("removed", op.get("added")) for op in done["applied"][:2]] == [2, 1]
    assert [link["source"] for link in (await either.call("link.list"))["links"]] == [b]
    assert ((await either.note(a))["fields"], (await either.note(a))["rev"]) == ({"y": 2}, 2)


async def test_a_batch_that_changes_nothing_leaves_no_trace(either: Api, call: Callable[..., Any]) -> None:
    a = await create(call, "event", "a", fields={"x": 1}, turn=1)
    before = state(either)
    done = await batch(call, {"op": "edit", "nodeId": a, "setFields": {"x": 1}}, {"op": "edit", "nodeId": a}, turn=7)
    assert [op["changed"] for op in done["applied"]] == [False, False]
    assert await batch(call) == {"applied": [], "rejected": [], "rolled_back": False, "ids": {}}
    assert state(either) == before


async def test_two_of_a_name_in_one_batch_are_one(either: Api, call: Callable[..., Any]) -> None:
    done = await batch(
        call,
        {"op": "create", "type": "thread", "title": "Door", "ref": "a", "fields": {"status": "active", "note": "n"}},
        {"op": "create", "type": "thread", "title": "door", "ref": "b", "fields": {"status": "resolved"}},
    )
    assert done["ids"]["a"] == done["ids"]["b"]
    stored = await either.note(done["ids"]["a"])
    assert (stored["rev"], stored["fields"]) == (1, {"status": "resolved", "note": "n"})


async def test_a_repeated_batch_gets_the_first_answer(either: Api, call: Callable[..., Any]) -> None:
    op = {"op": "create", "type": "event", "title": "a", "ref": "r"}
    first = await batch(call, op, idempotency_key="k")
    again = await batch(call, op, idempotency_key="k")
    assert again == {**first, "replayed": True}
    assert (await either.call("note.list"))["total"] == 1


async def test_a_thousand_operations_are_one_transaction(either: Api, call: Callable[..., Any]) -> None:
    ops: list[Op] = [{"op": "create", "type": "event", "title": f"e{n}", "ref": f"r{n}"} for n in range(500)]
    ops += [
        {"op": "link_upsert", "sourceRef": f"r{n}", "links": [{"targetRef": f"r{n - 1}"}]} for n in range(1, 501 - 1)
    ]
    since = state(either)[1]
    done = await batch(call, *ops)
    assert (len(done["applied"]), done["rejected"]) == (999, [])
    rows = either.shelf().view.log.page(since_seq=since, limit=2000)
    assert {row.tx for row in rows} == {since + 1}


# ------------------------------------------------------------------ bad input


@pytest.mark.parametrize(
    ("op", "field"),
    [
        (7, "ops.0.op"),
        ({}, "ops.0.op"),
        ({"op": "remember", "content": "x"}, "ops.0.op"),
        ({"op": "create", "title": "x"}, "ops.0.type"),
        ({"op": "create", "type": "event", "title": "x", "colour": 1}, "ops.0.colour"),
        ({"op": "create", "type": "event", "title": "x\x07"}, "ops.0.title"),
        ({"op": "create", "type": "event", "on_match": "x", "title": "x"}, "ops.0.on_match"),
        ({"op": "create", "type": "event", "title": "x", "links": [{"relation": "y"}]}, "ops.0.links.0.target"),
        ({"op": "create", "type": "event", "title": "x", "links": [{"target": {}}]}, "ops.0.links.0.target.id"),
        (
            {"op": "create", "type": "event", "title": "x", "links": [{"target": {"id": "a"}, "targetRef": "b"}]},
            "ops.0.links.0.target",
        ),
        (
            {"op": "create", "type": "event", "title": "x", "links": [{"targetRef": "b", "relation": " "}]},
            "ops.0.links.0.relation",
        ),
        (
            {"op": "create", "type": "event", "title": "x", "links": [{"targetRef": "b", "direction": "up"}]},
            "ops.0.links.0.direction",
        ),
        ({"op": "edit", "setFields": {}}, "ops.0.node_id"),
        ({"op": "edit", "nodeId": "a", "setFields": 1}, "ops.0.set_fields"),
        ({"op": "delete"}, "ops.0.node_id"),
        ({"op": "link_upsert", "links": [{"targetRef": "b"}]}, "ops.0.source"),
        ({"op": "link_upsert", "sourceRef": "a", "links": []}, "ops.0.links"),
        ({"op": "link_delete", "sourceNodeId": "a", "targetNodeId": "b"}, "ops.0.relation"),
    ],
)
async def test_a_malformed_operation_is_rejected_by_its_field(api: Api, op: object, field: str) -> None:
    await api.call("session.open", session_id="s")
    before = state(api)
    done = await api.call("session.apply_extraction_batch", session_id="s", ops=[op])
    (rejected,) = done["rejected"]
    assert (rejected["error"]["code"], rejected["error"]["data"]["field"]) == (-32602, field)
    assert (rejected["op"], done["rolled_back"]) == (op, True)
    assert state(api) == before


@pytest.mark.parametrize(
    ("params", "code", "field"),
    [
        ({"ops": [], "turn": 0}, -32602, "turn"),
        ({"ops": [{"op": "create", "type": "event", "title": "x"}], "turn": 10_001}, -32602, "turn"),
        ({"ops": [{"op": "create", "type": "event", "title": "x"}], "max_seq": 2_000_000}, -32602, "max_seq"),
        ({"ops": [], "max_seq": 3, "from_seq": 4}, -32602, "from_seq"),
        ({"ops": [{"op": "delete"}] * 10_000}, -32602, "ops"),
        ({"ops": {}}, -32602, "ops"),
        ({"ops": [], "session_id": "nobody"}, -32001, "session_id"),
    ],
)
async def test_a_bad_request_changes_nothing(api: Api, params: dict[str, Any], code: int, field: str | None) -> None:
    await api.call("session.open", session_id="s")
    before = state(api)
    refused = await api.refused("session.apply_extraction_batch", {"session_id": "s", **params})
    assert (refused.code, refused.field) == (code, field)
    assert state(api) == before


async def test_a_frozen_or_closed_session_cannot_write(either: Api) -> None:
    note = await either.remember("x")
    await either.call("session.open", session_id="s", at_seq=1)
    refused = await either.refused("session.edit_node", session_id="s", id=note["id"], title="y")
    assert refused.code == -32002
    await either.call("session.close", session_id="s")
    assert (await either.refused("session.delete_node", session_id="s", id=note["id"])).code == -32001


async def test_a_note_can_have_so_many_links(either: Api, call: Callable[..., Any]) -> None:
    either.service.limits = either.limits = Limits(links_count=3)
    hub, *others = [await create(call, "event", f"e{number}") for number in range(5)]
    targets = [{"target": {"id": other}, "direction": "outgoing"} for other in others]
    before = state(either)
    with pytest.raises(Refused) as refused:
        await call("upsert_links", source={"id": hub}, links=[*targets[:3], {**targets[3], "relation": "x"}])
    assert (refused.value.field, refused.value.limit) == ("links", 3)
    ops = [{"op": "link_upsert", "sourceNodeId": hub, "links": targets[n : n + 2]} for n in (0, 2)]
    assert reasons(await batch(call, *ops)) == {1: "BAD_ARGS"}
    assert state(either) == before
    assert (await call("upsert_links", source={"id": hub}, links=targets[:3]))["added"] == 3
    assert (await call("upsert_links", source={"id": hub}, links=targets[:3]))["added"] == 0


# ------------------------------------------------------------------ whose notes, and when


async def test_notes_of_other_nuggets_and_private_ones_are_not_there(either: Api, call: Callable[..., Any]) -> None:
    other = (await either.remember("x", nugget="elsewhere"))["id"]
    private = (await either.remember("y", nugget="story", scope="session", session_id="t"))["id"]
    for note_id in (other, private):
        assert (await call("edit_node", id=note_id, title="z"))["reason"] == "NODE_NOT_FOUND"
        assert (await call("delete_node", id=note_id))["reason"] == "NODE_NOT_FOUND"


async def test_plain_notes_of_the_nugget_can_be_written_as_nodes(either: Api, call: Callable[..., Any]) -> None:
    """Types nobody has set are open; a fact keeps its key."""
    fact = await either.remember("green", nugget="story", key="kettle", type="kitchenware")
    edited = await call("edit_node", id=fact["id"], set_fields={"summary": "red"})
    assert edited["changed"]
    assert await either.found("kettle", nugget="story") == ["red"]
    with pytest.raises(Refused) as refused:
        await call("edit_node", id=fact["id"], title="pot")
    assert refused.value.field == "title"


async def test_an_expired_note_answers_to_no_name(either: Api, call: Callable[..., Any]) -> None:
    await either.call("nugget.create", name="story", ttl_days=1)
    first = await create(call, "character_sheet", "Eileen")
    assert await create(call, "character_sheet", "Eileen") == first
    either.clock.advance(timedelta(days=2))
    assert await create(call, "character_sheet", "Eileen") != first


async def test_children_of_a_rollup_that_is_deleted_return_to_the_frontier(
    either: Api, call: Callable[..., Any]
) -> None:
    ids = [await create(call, "event", f"e{number}") for number in range(3)]

    def roll_up(tx: Transaction) -> None:
        rollup = tx.rows.notes.get(ids[0])
        assert rollup is not None
        extra = rollup.extra._replace(is_rollup=True, rollup_depth=1)
        tx.change_note(rollup, rollup._replace(extra=extra))
        for note in tx.rows.notes.by_ids(ids[1:]).values():
            tx.change_note(note, note._replace(parent_id=ids[0]))

    await either.shelf().commit(Origin("test", "test"), roll_up)
    done = await call("delete_node", id=ids[0], turn=2)
    assert done == {"ok": True, "freed": ids[1:]}
    for child in ids[1:]:
        stored = await either.note(child)
        assert ("parent_id" in stored, stored["seq_to"], stored["hidden"]) == (False, 0, False)
    tx = either.shelf().view.log.page(since_seq=0, limit=99)[-1].tx
    await either.call("undo", tx=tx)
    assert [(await either.note(child))["parent_id"] for child in ids[1:]] == [ids[0]] * 2


async def test_extraction_cannot_change_a_type_that_is_not_editable(either: Api, call: Callable[..., Any]) -> None:
    """A caller can: the rule is for what the daemon reads out of a conversation."""
    event, person = await create(call, "event", "Tea"), await create(call, "character_sheet", "Eileen")
    ops: list[Op] = [
        {"op": "edit", "nodeId": event, "setFields": {"x": 1}},
        {"op": "delete", "nodeId": event},
        {"op": "edit", "nodeId": person, "setFields": {"x": 1}},
    ]

    def extract(tx: Transaction) -> dict[int, Any]:
        scene = Scene("s", "story", Moment(), schema_of(tx.rows, "story"), Limits(), by_extraction=True)
        return dict(apply_operations(tx, scene, parse(ops, Limits()), atomic=False).errors)

    errors = (await either.shelf().commit(Origin("test", "test"), extract)).value
    assert sorted(errors) == [0, 1]
    assert (await call("edit_node", id=event, set_fields={"x": 1}))["changed"]


async def test_an_old_rev_refuses_and_a_race_loses_nothing(either: Api, call: Callable[..., Any]) -> None:
    event = await create(call, "event", "Tea")
    edits = [call("edit_node", id=event, set_fields={f"f{n}": n}) for n in range(10)]
    await asyncio.gather(*edits)
    assert len((await either.note(event))["fields"]) == 10
    outcomes = await asyncio.gather(
        *(call("edit_node", id=event, set_fields={"who": n}, if_rev=11) for n in range(5)), return_exceptions=True
    )
    refused = [outcome for outcome in outcomes if isinstance(outcome, Refused)]
    assert {one.kind for one in refused} == {"RevisionConflict"}
    assert len(refused) == 4
    done = await batch(call, {"op": "delete", "nodeId": event, "if_rev": 3})
    assert reasons(done) == {0: "RevisionConflict"}


async def test_link_upsert_and_remember_fold_relations_too(either: Api) -> None:
    a = (await either.remember("a"))["id"]
    b = (await either.remember("b", links=[{"to": a, "relation": "Hostile_To"}]))["id"]
    assert await either.call("link.upsert", source=b, target=a, relation="ＡＬＬＩＥＤ_with") == {
        "added": 1,
        "updated": 0,
    }
    found = {(link["source"], link["relation"]) for link in (await either.call("link.list"))["links"]}
    assert found == {(a, "hostile_to"), (a, "allied_with")}
    for method, params in (
        ("link.upsert", {"source": a, "target": b, "relation": "Contains"}),
        ("remember", {"content": "c", "links": [{"to": a, "relation": "semantic_contains"}]}),
    ):
        assert "rollup" in (await either.refused(method, params)).message
    assert await either.call("link.delete", source=b, target=a, relation="ALLIED_WITH") == {"removed": 1}


# ------------------------------------------------------------------ what is cleared, and how it is told


async def test_a_column_that_a_closed_type_does_not_have_cannot_be_cleared(
    either: Api, call: Callable[..., Any]
) -> None:
    await either.call("schema.set_type", type="ship", table_columns=["title", "port"], additional_columns=False)
    ship = await create(call, "ship", "Aurora", fields={"port": "Oslo"})
    before = state(either)
    refused = await either.refused("session.edit_node", session_id="s", id=ship, clear_fields=["mast"])
    assert (refused.code, refused.field) == (-32602, "clear_fields.mast")
    assert state(either) == before
    assert (await call("edit_node", id=ship, clear_fields=["port"]))["changed"]
    assert not (await call("edit_node", id=ship, clear_fields=["port", "summary"]))["changed"]


async def test_a_title_can_be_cleared_unless_the_type_or_a_key_needs_it(either: Api, call: Callable[..., Any]) -> None:
    event = await create(call, "event", "Storm", content="There was a storm.")
    assert (await call("edit_node", id=event, clear_fields=["title"]))["changed"]
    assert (await call("get_node", id=event))["node"]["title"] == event
    sheet = await create(call, "character_sheet", "Eileen")
    refused = await either.refused("session.edit_node", session_id="s", id=sheet, clear_fields=["title"])
    assert refused.code == -32602
    fact = await either.remember("Berlin", nugget="story", key="home")
    for change in ({"clear_fields": ["title"]}, {"set_fields": {"title": "x"}}, {"title": "x"}):
        refused = await either.refused("session.edit_node", {"session_id": "s", "id": fact["id"], **change})
        assert (refused.code, refused.field) == (-32602, "title")


async def test_what_was_applied_is_told_by_the_names_of_results(call: Callable[..., Any]) -> None:
    event = await create(call, "event", "Storm")
    given = {"op": "create", "type": "note", "title": "a", "fields": {"camelCase": 1}, "onMatch": "new"}
    done = await batch(call, {**given, "links": [{"targetNodeId": event, "relation": "about", "validFrom": None}]})
    applied = done["applied"][0]
    assert applied["links"] == [{"target_node_id": event, "relation": "about", "valid_from": None}]
    assert (applied["on_match"], applied["fields"]) == ("new", {"camelCase": 1})


async def test_a_rev_that_is_not_the_note_s_is_named(either: Api, call: Callable[..., Any]) -> None:
    event = await create(call, "event", "Storm")
    refused = await either.refused("session.edit_node", session_id="s", id=event, title="x", if_rev=9)
    assert (refused.code, refused.field, refused.data["actual"]) == (-32002, "if_rev", 1)
    done = await batch(call, {"op": "edit", "node_id": event, "title": "x", "if_rev": 9})
    assert fields_of(done) == {0: "ops.0.if_rev"}
