"""Luker's writes: each example of its page as it is printed, over the socket, and its cases of writing.

The page's camel case is understood as it stands. Where something is fixed, the test's docstring says what it was.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from fakes import Api
from gateway.fakes import Client, opener

Call = Callable[..., Awaitable[dict[str, Any]]]
WRITES = ("create_node", "edit_node", "delete_node", "upsert_links", "delete_links", "apply_extraction_batch")


class Conversation:
    """A session over the socket, with the page's names of its methods."""

    def __init__(self, client: Client, session_id: str = "chat") -> None:
        self.client = client
        self.session_id = session_id

    async def open(self, nugget: str = "story") -> "Conversation":
        await self.client.call("session.open", session_id=self.session_id, nugget=nugget)
        return self

    async def call(self, method: str, params: dict[str, Any] | None = None, **named: Any) -> dict[str, Any]:
        given = {"session_id": self.session_id, **(params or {}), **named}
        return dict(await self.client.call(f"session.{method}", **given))

    async def error(self, method: str, params: dict[str, Any] | None = None, **named: Any) -> dict[str, Any]:
        self.client.send(f"session.{method}", session_id=self.session_id, **{**(params or {}), **named})
        return dict(await self.client.error())

    async def create(self, type_: str, title: str | None = None, **named: Any) -> str:
        given = named if title is None else {"title": title, **named}
        return str((await self.call("create_node", type=type_, **given))["id"])

    async def batch(self, *ops: dict[str, Any], **named: Any) -> dict[str, Any]:
        return await self.call("apply_extraction_batch", ops=list(ops), **named)


@pytest.fixture
async def client(api: Api, tmp_path: Path) -> AsyncIterator[Client]:
    async with opener(tmp_path) as open_:
        yield await (await open_(memory=api.service)).connect()


@pytest.fixture
async def chat(client: Client) -> Conversation:
    return await Conversation(client).open()


@pytest.fixture
async def eileen(chat: Conversation) -> str:
    return await chat.create("character_sheet", "Eileen", fields={"name": "Eileen", "aliases": ["艾琳"]})


async def links(client: Client, note_id: str | None = None) -> set[tuple[str, str, str]]:
    found = (await client.call("link.list", **({} if note_id is None else {"id": note_id})))["links"]
    return {(link["source"], link["target"], link["relation"]) for link in found}


async def note(client: Client, note_id: str) -> dict[str, Any]:
    return dict((await client.call("note.get", id=note_id))["note"])


async def last_seq(client: Client) -> int:
    return int((await client.call("get_stats"))["last_seq"])


# ------------------------------------------------------------------ the page's examples


async def test_an_event_with_a_title_and_a_field_that_is_no_column(chat: Conversation) -> None:
    """``createNode({ type: 'event', title: 'Alice draws her sword', fields: { what: '...' } })``; it threw the title
    away.
    """
    made = await chat.call(
        "create_node", {"type": "event", "title": "Alice draws her sword", "fields": {"what": "a blade, at last"}}
    )
    stored = await note(chat.client, made["id"])

    assert made == {"id": made["id"], "created": True, "merged": [], "archived": []}
    assert (stored["title"], stored["fields"]) == ("Alice draws her sword", {"what": "a blade, at last"})
    assert stored["content"] == "what: a blade, at last"
    found = await chat.client.call("recall", query="whose blade was drawn", nugget="story")
    assert [hit["note"]["id"] for hit in found["results"]] == [made["id"]]


async def test_an_event_that_is_edited_by_a_list(chat: Conversation) -> None:
    """``editNode({ id, setFields: { who: ['Alice', 'Bob'] } })``."""
    event = await chat.create("event", "Alice draws her sword", fields={"what": "..."})
    assert await chat.call("edit_node", {"id": event, "setFields": {"who": ["Alice", "Bob"]}}) == {
        "ok": True,
        "changed": True,
        "rev": 2,
    }
    stored = await note(chat.client, event)
    assert stored["fields"] == {"what": "...", "who": ["Alice", "Bob"]}
    assert stored["content"] == "what: ...\nwho: Alice, Bob"


async def test_links_about_somebody_come_and_go(chat: Conversation) -> None:
    """``upsertLinks({ source: { id }, links: [{ target: { id: 'alice_node' }, relation: 'about' }] })``, then
    ``deleteLinks({ source: { id }, target: { id: 'bob_node' }, relation: 'about' })``.
    """
    event = await chat.create("event", "Alice draws her sword")
    alice, bob = await chat.create("character_sheet", "Alice"), await chat.create("character_sheet", "Bob")
    for person in (alice, bob):
        given = {"source": {"id": event}, "links": [{"target": {"id": person}, "relation": "about"}]}
        assert await chat.call("upsert_links", given) == {"applied": 1, "added": 2}
    gone = await chat.call("delete_links", {"source": {"id": event}, "target": {"id": bob}, "relation": "about"})

    assert gone == {"removed": 2}
    assert await links(chat.client) == {(event, alice, "about"), (alice, event, "about")}


async def test_a_batch_that_creates_without_a_title_and_links(chat: Conversation) -> None:
    """``applyExtractionBatch``: a sheet with ``name`` and ``aliases`` and no title, linked by its ``ref``."""
    event = await chat.create("event", "A walk", fields={"summary": "They walk."})
    done = await chat.batch(
        {"op": "create", "type": "character_sheet", "ref": "c1", "fields": {"name": "Eileen", "aliases": ["艾琳"]}},
        {"op": "link_upsert", "sourceRef": "c1", "links": [{"targetNodeId": event, "relation": "mentions"}]},
    )
    person = done["ids"]["c1"]
    stored = await note(chat.client, person)

    assert (len(done["applied"]), done["rejected"], done["rolled_back"]) == (2, [], False)
    assert [op["node_id"] for op in done["applied"]] == [person, person]
    assert (stored["title"], stored["aliases"]) == ("Eileen", ["艾琳"])
    assert await links(chat.client) == {(person, event, "mentions"), (event, person, "mentions")}


async def test_a_sheet_with_a_name_and_aliases(chat: Conversation) -> None:
    """``createNode({ type: 'character_sheet', title: 'Eileen', fields: { name: 'Eileen', aliases: ['艾琳'] } })``."""
    person = await chat.create("character_sheet", "Eileen", fields={"name": "Eileen", "aliases": ["艾琳"]})
    stored = await note(chat.client, person)
    assert stored["fields"] == {"name": "Eileen", "aliases": ["艾琳"]}
    assert stored["type"] == "character_sheet"


async def test_a_sheet_that_gets_a_profession(chat: Conversation, eileen: str) -> None:
    """``editNode({ id: 'n_eileen', setFields: { profession: 'healer' } })``."""
    assert (await chat.call("edit_node", {"id": eileen, "setFields": {"profession": "healer"}}))["ok"]
    assert (await note(chat.client, eileen))["fields"]["profession"] == "healer"


async def test_a_node_that_is_deleted(chat: Conversation, eileen: str) -> None:
    """``deleteNode({ id: 'n_obsolete' })``."""
    assert (await chat.call("delete_node", {"id": eileen}))["ok"]
    assert (await note(chat.client, eileen))["hidden"]


async def test_links_of_which_one_is_directed(chat: Conversation, eileen: str) -> None:
    """``links: [{ relation: 'mentions' }, { relation: 'located_in', direction: 'outgoing' }]``."""
    event, garden = await chat.create("event", "Tea"), await chat.create("location_state", "Garden")
    given = [
        {"target": {"id": event}, "relation": "mentions"},
        {"target": {"id": garden}, "relation": "located_in", "direction": "outgoing"},
    ]
    assert await chat.call("upsert_links", {"source": {"id": eileen}, "links": given}) == {"applied": 1, "added": 3}
    assert await links(chat.client) == {
        (eileen, event, "mentions"),
        (event, eileen, "mentions"),
        (eileen, garden, "located_in"),
    }


async def test_a_link_that_is_taken_back(chat: Conversation, eileen: str) -> None:
    """``deleteLinks({ source: { id: 'n_eileen' }, target: { id: 'event_42' }, relation: 'mentions' })``."""
    event = await chat.create("event", "Tea")
    await chat.call("upsert_links", source={"id": eileen}, links=[{"target": {"id": event}, "relation": "mentions"}])
    given = {"source": {"id": eileen}, "target": {"id": event}, "relation": "mentions"}
    assert await chat.call("delete_links", given) == {"removed": 2}
    assert await chat.call("delete_links", given) == {"removed": 0}


async def test_a_node_of_type_relationship(chat: Conversation) -> None:
    """The page's overview counts ``relationship`` among the types of nodes; the schema had none."""
    bond = await chat.create("relationship", "Alice and Bob", fields={"summary": "They trust each other."})
    assert (await note(chat.client, bond))["content"] == "They trust each other."


async def test_the_schema_has_the_page_s_fields(chat: Conversation) -> None:
    """``session.getSchema()``: nine fields, and what was hidden: latest_only and the numbers of compression."""
    types = {kind["type"]: kind for kind in (await chat.call("get_schema"))["types"]}
    event = types["event"]
    assert list(types)[:5] == ["event", "character_sheet", "location_state", "thread", "relationship"]
    assert event.pop("compression")["threshold"] == 5
    assert event == {
        "type": "event",
        "table_name": "event_table",
        "table_columns": ["summary"],
        "required_columns": ["summary"],
        "primary_key_columns": [],
        "force_update": True,
        "always_inject": True,
        "editable": False,
        "compression_mode": "hierarchical",
        "latest_only": False,
    }
    assert types["thread"]["required_columns"] == ["title", "status", "note"]


# ------------------------------------------------------------------ cases of writing


async def test_a_ref_is_echoed(chat: Conversation) -> None:
    assert (await chat.call("create_node", type="event", title="x", ref="r1"))["ref"] == "r1"


async def test_a_node_without_a_type_is_refused(chat: Conversation) -> None:
    error = await chat.error("create_node", title="x")
    assert (error["code"], error["data"]["field"]) == (-32602, "type")


async def test_an_unknown_type_is_refused_naming_the_known_ones(chat: Conversation) -> None:
    error = await chat.error("create_node", type="dragon", title="x")
    assert (error["code"], error["data"]["reason"], error["data"]["field"]) == (-32602, "OP_FAILED", "type")
    assert "event, character_sheet, location_state, thread" in error["message"]
    assert error["data"]["rejected"][0]["error"]["data"]["field"] == "type"


async def test_an_edit_needs_no_type_and_a_wrong_one_refuses_it(chat: Conversation, eileen: str) -> None:
    assert (await chat.call("edit_node", id=eileen, set_fields={"goal": "rest"}))["changed"]
    error = await chat.error("edit_node", id=eileen, type="event", set_fields={"goal": "war"})
    assert error["data"]["reason"] == "TYPE_MISMATCH"
    assert (await chat.call("edit_node", id=eileen, type="Character_Sheet", set_fields={"goal": "peace"}))["ok"]


async def test_an_edit_of_what_is_not_there_says_so(chat: Conversation, eileen: str) -> None:
    missing = await chat.call("edit_node", id="n_nobody", title="x")
    assert (missing["ok"], missing["reason"]) == (False, "NODE_NOT_FOUND")
    await chat.call("delete_node", id=eileen)
    archived = await chat.call("edit_node", id=eileen, title="x")
    assert (archived["ok"], archived["changed"], archived["reason"]) == (False, False, "NODE_ARCHIVED")
    assert eileen in archived["message"]


async def test_an_edit_that_changes_nothing_leaves_no_trace(chat: Conversation, eileen: str) -> None:
    before = await last_seq(chat.client)
    assert await chat.call("edit_node", id=eileen, set_fields={"name": "Eileen"}, turn=9) == {
        "ok": True,
        "changed": False,
        "rev": 1,
    }
    assert await last_seq(chat.client) == before
    assert (await note(chat.client, eileen))["seq_to"] == 0


async def test_a_delete_says_whether_there_was_something(chat: Conversation, eileen: str) -> None:
    assert await chat.call("delete_node", id=eileen) == {"ok": True, "freed": []}
    assert (await chat.call("delete_node", id=eileen))["reason"] == "NODE_ARCHIVED"
    assert (await chat.call("delete_node", id="n_nobody"))["reason"] == "NODE_NOT_FOUND"


@pytest.mark.parametrize("form", ["target", "targetNodeId", "target_node_id"])
async def test_a_link_s_target_has_several_forms(chat: Conversation, eileen: str, form: str) -> None:
    event = await chat.create("event", "Tea")
    given = {form: {"id": event} if form == "target" else event, "relation": "mentions"}
    assert (await chat.call("upsert_links", source={"id": eileen}, links=[given]))["added"] == 2
    again = await chat.batch({"op": "link_upsert", "source": {"id": eileen}, "links": [given]})
    assert again["applied"][0]["added"] == 0


async def test_deleting_one_direction_keeps_the_other(chat: Conversation, eileen: str) -> None:
    event = await chat.create("event", "Tea")
    ends = {"source": {"id": eileen}, "target": {"id": event}, "relation": "mentions"}
    await chat.call("upsert_links", source=ends["source"], links=[{"target": {"id": event}, "relation": "mentions"}])
    assert await chat.call("delete_links", ends, direction="outgoing") == {"removed": 1}
    assert await links(chat.client) == {(event, eileen, "mentions")}


async def test_two_creates_and_a_link_by_their_refs(chat: Conversation) -> None:
    """In any order: a ref is known before its create."""
    done = await chat.batch(
        {"op": "link_upsert", "sourceRef": "a", "links": [{"targetRef": "b", "relation": "hates"}]},
        {"op": "create", "type": "character_sheet", "title": "A", "ref": "a"},
        {"op": "create", "type": "character_sheet", "title": "B", "ref": "b", "links": [{"target": {"ref": "a"}}]},
    )
    a, b = done["ids"]["a"], done["ids"]["b"]
    hates = {(a, b, "hates"), (b, a, "hates")}
    assert await links(chat.client) == hates | {(a, b, "related"), (b, a, "related")}


async def test_a_link_to_itself_is_refused(chat: Conversation, eileen: str) -> None:
    """It was left out silently."""
    done = await chat.batch({"op": "link_upsert", "sourceNodeId": eileen, "links": [{"targetNodeId": eileen}]})
    assert (done["applied"], done["rolled_back"]) == ([], True)
    assert done["rejected"][0]["error"]["data"]["field"] == "ops.0.links.0"


async def test_a_link_that_is_added_again_keeps_its_number(chat: Conversation, eileen: str) -> None:
    event = await chat.create("event", "Tea", turn=1)
    given: dict[str, Any] = {"source": {"id": eileen}, "links": [{"target": {"id": event}, "relation": "mentions"}]}
    await chat.call("upsert_links", given, turn=2)
    assert (await chat.call("upsert_links", given, turn=3))["added"] == 0
    (link,) = (await note(chat.client, eileen))["links"]
    assert link["seq_to"] == 2


async def test_of_a_type_that_is_latest_only_a_second_one_is_the_first(chat: Conversation, eileen: str) -> None:
    again = await chat.call("create_node", type="character_sheet", title="eileen", fields={"goal": "rest"})
    assert (again["id"], again["created"], again["merged"]) == (eileen, False, [eileen])
    stored = await note(chat.client, eileen)
    assert (stored["title"], stored["fields"]["goal"]) == ("Eileen", "rest")
    assert (await chat.client.call("note.list", nugget="story"))["total"] == 1


async def test_others_of_that_title_are_replaced_and_their_links_move(chat: Conversation, eileen: str) -> None:
    """Links that would stand twice, or lead from a note to itself, are gone."""
    other = await chat.create("character_sheet", "Eileen", on_match="new", fields={"goal": "war"})
    event = await chat.create("event", "Tea")
    for person in (eileen, other):
        await chat.call("upsert_links", source={"id": person}, links=[{"target": {"id": event}}])
    await chat.call("upsert_links", source={"id": other}, links=[{"target": {"id": eileen}}])
    done = await chat.call("create_node", type="character_sheet", title="Eileen", fields={"aliases": ["艾琳"]})

    assert (done["merged"], done["archived"]) == ([eileen], [other])
    gone = await note(chat.client, other)
    assert (gone["hidden"], gone["superseded_by"]) == (True, eileen)
    assert await links(chat.client) == {(eileen, event, "related"), (event, eileen, "related")}


# ------------------------------------------------------------------ numbers of turns


async def test_a_turn_gets_the_next_number_of_the_nugget(chat: Conversation) -> None:
    """As the third turn after two that are done."""
    for turn in (1, 2):
        await chat.create("event", f"turn {turn}", turn=turn)
    third = await chat.create("event", "turn 3", turn=3)
    stored = await note(chat.client, third)
    assert (stored["seq_to"], stored["turn"], stored["session_id"]) == (3, 3, "chat")
    assert stored["source_span"] == [3, 3]


async def test_without_a_turn_it_is_the_last_number(chat: Conversation) -> None:
    await chat.create("event", "one", turn=4)
    stored = await note(chat.client, await chat.create("event", "two"))
    assert (stored["seq_to"], "turn" in stored) == (1, False)


async def test_max_seq_says_the_number_for_a_replay(chat: Conversation) -> None:
    done = await chat.batch({"op": "create", "type": "event", "title": "then", "ref": "e"}, maxSeq=40, from_seq=38)
    stored = await note(chat.client, done["ids"]["e"])
    assert (stored["seq_to"], stored["source_span"]) == (40, [38, 40])
    later = await note(chat.client, await chat.create("event", "now", turn=1))
    assert later["seq_to"] == 41


async def test_an_edit_of_an_earlier_turn_does_not_set_back_the_number(chat: Conversation) -> None:
    event = await chat.create("event", "x", turn=1)
    await chat.create("event", "y", turn=2)
    await chat.call("edit_node", id=event, set_fields={"a": 1}, turn=2)
    await chat.call("edit_node", id=event, set_fields={"a": 2}, turn=1)
    stored = await note(chat.client, event)
    assert (stored["seq_to"], stored["source_span"]) == (2, [1, 1])


# ------------------------------------------------------------------ its weaknesses


async def test_weakness_1_a_bad_operation_refuses_the_batch(chat: Conversation, eileen: str) -> None:
    """It was best effort; an unknown operation was a create; a link to nowhere vanished; a title was not edited."""
    before = await last_seq(chat.client)
    done = await chat.batch(
        {"op": "edit", "nodeId": eileen, "title": "Eileen the Bold"},
        {"op": "creaet", "type": "event", "title": "typo"},
        {"op": "link_upsert", "sourceNodeId": eileen, "links": [{"targetNodeId": "n_nowhere"}]},
        {"op": "link_upsert", "sourceRef": "c9", "links": [{"targetNodeId": eileen}]},
    )
    assert (done["applied"], done["rolled_back"], done["ids"]) == ([], True, {})
    assert [(one["index"], one["error"]["data"]["reason"]) for one in done["rejected"]] == [
        (1, "BAD_ARGS"),
        (2, "NODE_NOT_FOUND"),
        (3, "NODE_NOT_FOUND"),
    ]
    assert await last_seq(chat.client) == before
    await chat.batch({"op": "edit", "nodeId": eileen, "title": "Eileen the Bold"})
    assert (await note(chat.client, eileen))["title"] == "Eileen the Bold"


async def test_weakness_1_best_effort_says_what_became_of_each(chat: Conversation, eileen: str) -> None:
    done = await chat.batch(
        {"op": "create", "type": "event", "ref": "ok", "title": "fine"},
        {"op": "create", "type": "thread", "ref": "bad", "title": "lacks the rest"},
        {"op": "link_upsert", "sourceRef": "bad", "links": [{"targetNodeId": eileen}]},
        {"op": "link_upsert", "sourceRef": "ok", "links": [{"targetNodeId": eileen}]},
        atomic=False,
    )
    assert [op["op"] for op in done["applied"]] == ["create", "link_upsert"]
    reasons = {one["index"]: one["error"]["data"] for one in done["rejected"]}
    assert reasons[1]["missing"] == ["status", "note"]
    assert reasons[2]["reason"] == "OP_FAILED"
    assert (done["rolled_back"], list(done["ids"])) == (False, ["ok"])


async def test_weakness_2_nothing_that_another_session_wrote_is_lost(api: Api, tmp_path: Path) -> None:
    """The last writer overwrote the graph: each sees the other's notes, and an old rev is refused."""
    async with opener(tmp_path) as open_:
        house = await open_(memory=api.service)
        one, two = [await Conversation(await house.connect(), name).open() for name in ("one", "two")]
        shared = await one.create("character_sheet", "Eileen")
        await asyncio.gather(
            *(
                conversation.call("edit_node", id=shared, set_fields={f"{conversation.session_id}{number}": number})
                for conversation in (one, two)
                for number in range(1)
            )
        )
        assert set((await note(one.client, shared))["fields"]) == {"one0", "two0"}
        late = await two.error("edit_node", id=shared, set_fields={"one0": 9}, if_rev=2)
        assert (late["code"], late["data"]["expected"], late["data"]["actual"]) == (-32002, 2, 3)


async def test_weakness_2_the_same_person_made_by_two_sessions_is_one(api: Api, tmp_path: Path) -> None:
    async with opener(tmp_path) as open_:
        house = await open_(memory=api.service)
        talks = [await Conversation(await house.connect(), f"s{number}").open() for number in range(4)]
        made = await asyncio.gather(*(talk.create("character_sheet", "Eileen") for talk in talks))
        assert len(set(made)) == 1


async def test_weakness_8_names_merge_as_a_whole_and_what_merged_is_told(chat: Conversation, eileen: str) -> None:
    """A title of an event was thrown away, others were hidden for one word in common, and the wrong id returned."""
    other = await chat.create("character_sheet", "Eileen Grey", fields={"aliases": ["grey"]})
    assert other != eileen
    by_alias = await chat.call("create_node", type="character_sheet", title="艾琳", fields={"goal": "rest"})
    assert (by_alias["id"], by_alias["merged"], by_alias["archived"]) == (eileen, [eileen], [])
    stored = await note(chat.client, eileen)
    assert (stored["title"], stored["aliases"]) == ("Eileen", ["艾琳"])
    fresh = await chat.call("create_node", type="character_sheet", title="Eileen", on_match="new")
    assert fresh["created"]
    error = await chat.error("create_node", type="character_sheet", title="eileen grey", on_match="error")
    assert error["data"]["rejected"][0]["error"]["data"]["id"] == other
    assert await chat.create("event", "Eileen") != await chat.create("event", "Eileen")


async def test_weakness_9_relations_are_folded_once_and_symmetric_ones_stand_once(chat: Conversation) -> None:
    """A relation in capitals could not be deleted, and n_10 came before n_9."""
    people = [await chat.create("character_sheet", f"person {number}") for number in range(3)]
    older, newer = people[0], people[2]
    await chat.call("upsert_links", source={"id": newer}, links=[{"target": {"id": older}, "relation": "Trusts "}])
    gone = {"source": {"id": newer}, "target": {"id": older}, "relation": "TRUSTS"}
    assert await chat.call("delete_links", gone) == {"removed": 2}
    allied = {"target": {"id": older}, "relation": "Allied_With", "direction": "outgoing"}
    assert (await chat.call("upsert_links", source={"id": newer}, links=[allied]))["added"] == 1
    assert await links(chat.client) == {(older, newer, "allied_with")}
    gone = {"source": {"id": newer}, "target": {"id": older}, "relation": "allied_with", "direction": "incoming"}
    assert await chat.call("delete_links", gone) == {"removed": 1}


async def test_weakness_11_the_lines_of_a_summary_stay(chat: Conversation) -> None:
    """They were joined to one."""
    outline = "The heist:\n- in by the window\n- out by the door"
    event = await chat.create("event", "Heist", fields={"summary": outline})
    assert (await note(chat.client, event))["content"] == outline


async def test_weakness_19_names_are_of_one_kind_and_limits_hold(chat: Conversation, eileen: str) -> None:
    """Answers are in snake case; what is malformed is refused by its field; nothing internal can be written."""
    error = await chat.error("apply_extraction_batch", ops=[{"op": "delete", "nodeId": eileen}] * 1001)
    assert (error["code"], error["data"]["field"], error["data"]["limit"]) == (-32602, "ops", 1000)
    for relation in ("contains", "semantic_contains"):
        links_ = [{"target": {"id": eileen}, "relation": relation}]
        error = await chat.error("upsert_links", source={"id": eileen}, links=links_)
        assert (error["code"], error["data"]["field"]) == (-32602, "links.0.relation")
    done = await chat.batch({"op": "edit", "nodeId": eileen, "setFields": {"camelCase": 1}})
    assert done["applied"][0]["set_fields"] == {"camelCase": 1}


async def test_each_write_is_an_event_and_can_be_undone(chat: Conversation, eileen: str) -> None:
    since = await last_seq(chat.client)
    await chat.batch(
        {"op": "create", "type": "event", "ref": "e", "title": "Tea", "links": [{"targetNodeId": eileen}]},
        {"op": "edit", "nodeId": eileen, "setFields": {"goal": "tea"}},
        turn=5,
    )
    events = (await chat.client.call("events.since", seq=since))["events"]
    kinds = [event["type"].removeprefix("shelfd.").removesuffix(".v1") for event in events]
    assert kinds == ["note.created", "note.updated", "link.added", "link.added"]
    assert {event["tx"] for event in events} == {since + 1}
    rows = (await chat.client.call("shelf.log", since_seq=since))["log"]
    assert {(row["session_id"], row["turn"]) for row in rows} == {("chat", 5)}
    await chat.client.call("undo", tx=since + 1)
    assert await links(chat.client) == set()
    assert "goal" not in (await note(chat.client, eileen))["fields"]
