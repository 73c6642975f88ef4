"""Luker's cases of sessions, of what a prompt holds, and of what always stands in it, over the socket.

Where something is fixed, the test's docstring says what it was.
"""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from fakes import Api
from gateway.fakes import Client, opener


class Talk:
    """A session over the socket."""

    def __init__(self, client: Client, session_id: str = "chat") -> None:
        self.client = client
        self.session_id = session_id

    async def open(self, nugget: str = "story", **named: Any) -> "Talk":
        await self.client.call("session.open", session_id=self.session_id, nugget=nugget, **named)
        return self

    async def call(self, method: str, **named: Any) -> dict[str, Any]:
        return dict(await self.client.call(f"session.{method}", session_id=self.session_id, **named))

    async def error(self, method: str, **named: Any) -> dict[str, Any]:
        self.client.send(f"session.{method}", session_id=self.session_id, **named)
        return dict(await self.client.error())

    async def event(self, summary: str, **named: Any) -> str:
        return str((await self.call("create_node", type="event", fields={"summary": summary}, **named))["id"])

    async def listed(self) -> list[str]:
        return [node["id"] for node in (await self.call("list_nodes"))["nodes"]]

    async def injected(self, **named: Any) -> list[str]:
        return [node["id"] for node in (await self.call("list_always_inject", **named))["nodes"]]

    async def state(self) -> dict[str, Any]:
        return await self.call("get_injection_state")


@pytest.fixture
async def client(api: Api, tmp_path: Path) -> AsyncIterator[Client]:
    async with opener(tmp_path) as open_:
        yield await (await open_(memory=api.service)).connect()


@pytest.fixture
async def talk(client: Client) -> Talk:
    return await Talk(client).open()


# ------------------------------------------------------------------ sessions


async def test_what_was_there_before_is_readable(client: Client) -> None:
    note = (await client.call("remember", content="they met", type="event", nugget="story"))["note"]
    talk = await Talk(client).open()
    assert await talk.listed() == [note["id"]]
    assert (await talk.call("get_node", id=note["id"]))["node"]["title"]


async def test_what_is_created_is_durable_and_seen_in_the_same_session(api: Api, talk: Talk) -> None:
    made = await talk.event("they met", turn=1)
    assert await talk.listed() == [made]
    await api.reopen()
    assert api.shelf is not None
    assert (await api.call("session.get_node", session_id="chat", id=made))["node"]["seq_to"] == 1


async def test_a_write_in_a_turn_is_appended_and_leaves_what_was_there(talk: Talk) -> None:
    """Fixed: without a message under way the original replaced its whole log by one commit."""
    first = await talk.event("they met", turn=1)
    before = (await talk.client.call("shelf.log"))["log"]
    second = await talk.event("they parted")
    third = await talk.event("they wrote", turn=2)
    log = (await talk.client.call("shelf.log"))["log"]
    assert log[: len(before)] == before
    assert [row["ids"] for row in log[len(before) :]] == [[second], [third]]
    assert set(await talk.listed()) == {first, second, third}


async def test_a_turn_of_which_nothing_is_known_but_its_number_will_do(talk: Talk) -> None:
    await talk.call("record_injection", turn=1)
    made = await talk.event("they met", turn=2)
    assert (await talk.call("get_node", id=made))["node"]["seq_to"] >= 1


async def test_a_write_without_a_turn_is_stored(talk: Talk) -> None:
    """Fixed: the original reported success and wrote nothing when nothing had been extracted yet."""
    made = await talk.event("they met")
    assert (await talk.client.call("note.get", id=made))["note"]["content"] == "they met"


async def test_what_cannot_be_opened_says_why(client: Client) -> None:
    """Fixed: the original returned null for every reason."""
    for named, field in (
        ({}, "session_id"),
        ({"session_id": 5}, "session_id"),
        ({"session_id": "x", "nugget": "no/pe"}, "nugget"),
        ({"session_id": "x", "at_seq": 99}, "at_seq"),
    ):
        client.send("session.open", **named)
        error = await client.error()
        assert (error["code"], error["data"]["field"]) == (-32602, field)
    error = await Talk(client, "never").error("list_nodes")
    assert (error["code"], error["data"]["type"]) == (-32001, "SessionNotFound")


async def test_two_sessions_on_one_nugget_lose_nothing(talk: Talk) -> None:
    """Fixed: each session of the original overwrote the whole graph with its own copy."""
    other = await Talk(talk.client, "other").open()
    for n in range(5):
        for one in (talk, other):  # all under way at once, and answered as each is done
            name = f"{one.session_id} {n}"
            one.client.send("session.create_node", session_id=one.session_id, type="event", fields={"summary": name})
    made = [(await talk.client.read())["result"]["id"] for _ in range(10)]
    assert set(await talk.listed()) == set(await other.listed()) == set(made)
    assert len(set(made)) == 10


# ----------------------------------------------------- what the prompt holds


async def test_an_answer_is_the_callers_own(talk: Talk) -> None:
    made = await talk.event("they met", turn=1)
    await talk.call("record_injection", turn=1, pinned=[made], recalled=[made], frontier=[made])
    state = await talk.state()
    for ids in state.values():
        ids.clear()
    assert await talk.state() == {
        "always_inject_ids": [made],
        "recall_selected_ids": [made],
        "visible_ids": [made],
    }


async def test_what_was_recorded_does_not_follow_what_becomes_of_the_notes(talk: Talk) -> None:
    made = await talk.event("they met", turn=1)
    await talk.call("record_injection", turn=1, pinned=[made])
    await talk.call("delete_node", id=made)
    assert (await talk.state())["always_inject_ids"] == [made]
    assert (await talk.call("context_at", turn=1))["context"]["pinned"] == [made]


async def test_missing_parts_are_empty(talk: Talk) -> None:
    await talk.event("they met", turn=1)
    await talk.call("record_injection", turn=1)
    assert await talk.state() == {"always_inject_ids": [], "recall_selected_ids": [], "visible_ids": []}


async def test_the_state_is_the_sessions_own_and_has_what_is_visible(talk: Talk) -> None:
    """Fixed: visible ids were never published, and the state was one for all chats."""
    made = await talk.event("they met", turn=1)
    other = await Talk(talk.client, "other").open("elsewhere")
    await talk.call("record_injection", turn=1, recalled=[made], frontier=[made])
    assert (await talk.state())["visible_ids"] == [made]
    assert await other.state() == {"always_inject_ids": [], "recall_selected_ids": [], "visible_ids": []}


async def test_listeners_are_told_what_changed_and_in_which_order(talk: Talk) -> None:
    """Fixed: listeners of the original were called on recall's path, without saying what changed or when."""
    made = await talk.event("they met", turn=1)
    await talk.call("record_injection", turn=1, recalled=[made], blocks={"core": "4711"}, tokens=3)
    await talk.call("record_injection", turn=2)
    first, second = (await talk.client.call("events.since", seq=0))["events"][-2:]
    assert {first["type"], second["type"]} == {"shelfd.context.changed.v1"}
    assert (first["data"]["ids"], first["data"]["turn"], first["data"]["tokens"]) == ([made], 1, 3)
    assert (second["prev_seq"], second["seq"] > first["seq"]) == (first["seq"], True)
    assert "4711" not in str(first)


async def test_what_was_handed_over_is_what_is_recorded(talk: Talk) -> None:
    """Fixed: the pinned ids that the original published were not those it had put in the prompt."""
    old = await talk.event("they met", turn=1)
    await talk.event("they parted", turn=2)
    pinned = await talk.injected(recent_raw_turns=1)
    await talk.call("record_injection", turn=3, pinned=pinned)
    assert (await talk.state())["always_inject_ids"] == [old]


# --------------------------------------------------- what always stands there


@pytest.fixture
async def story(talk: Talk) -> dict[str, str]:
    """Six turns: an event in each but the third, which has a thread."""
    made: dict[str, str] = {}
    for turn in range(1, 7):
        if turn == 3:
            thread = {"title": "the key", "status": "active", "note": "open"}
            made["thread"] = (await talk.call("create_node", type="thread", fields=thread, turn=3))["id"]
        else:
            made[str(turn)] = await talk.event(f"event {turn}", turn=turn)
    return made


async def numbers(talk: Talk, **named: Any) -> list[int]:
    return [node["seq_to"] for node in (await talk.call("list_always_inject", **named))["nodes"]]


async def test_without_bounds_all_stand_there(talk: Talk, story: dict[str, str]) -> None:
    order = await talk.injected()
    assert set(order) == set(story.values())
    found = await numbers(talk)
    assert found == sorted(found)


async def test_the_bound_of_the_raw_turns_is_exclusive(talk: Talk, story: dict[str, str]) -> None:
    assert set(await talk.injected(recent_raw_turns=2)) == set(story.values()) - {story["5"], story["6"]}
    assert story["6"] not in await talk.injected(recent_raw_turns=1)
    assert story["5"] in await talk.injected(recent_raw_turns=1)


async def test_the_bound_of_the_past_is_inclusive(talk: Talk, story: dict[str, str]) -> None:
    latest = max(await numbers(talk))
    assert min(await numbers(talk, max_seq_distance=3)) == latest - 2
    assert len(await talk.injected(max_seq_distance=3)) == 3


async def test_one_live_note_of_a_thing_is_exempt_from_the_raw_turns_alone(talk: Talk, story: dict[str, str]) -> None:
    assert await talk.injected(recent_raw_turns=10) == [story["thread"]]
    assert story["thread"] not in await talk.injected(max_seq_distance=1)


async def test_both_bounds_hold_together(talk: Talk, story: dict[str, str]) -> None:
    both = await talk.injected(recent_raw_turns=2, max_seq_distance=4)
    apart = set(await talk.injected(recent_raw_turns=2)) & set(await talk.injected(max_seq_distance=4))
    assert set(both) == apart


async def test_the_event_table_stands_there_although_its_type_says_no(talk: Talk, story: dict[str, str]) -> None:
    await talk.client.call("schema.set_type", type="event", nugget="story", always_inject=False)
    assert set(await talk.injected()) == set(story.values())


async def test_a_note_that_no_turn_touched_is_long_past(talk: Talk) -> None:
    note = (await talk.client.call("remember", content="they met", type="event", nugget="story"))["note"]
    await talk.event("they parted", turn=1)
    assert note["id"] in await talk.injected()
    assert note["id"] not in await talk.injected(max_seq_distance=100)


async def test_deleted_notes_and_traces_of_recalls_never_stand_there(talk: Talk, story: dict[str, str]) -> None:
    await talk.client.call("schema.set_type", type="recall_trace", nugget="story", table_columns=["title"])
    await talk.client.call("schema.set_type", type="recall_trace", nugget="story", always_inject=True)
    await talk.call("create_node", type="recall_trace", title="what was asked", turn=7)
    await talk.call("delete_node", id=story["1"])
    assert set(await talk.injected()) == set(story.values()) - {story["1"]}


async def test_what_the_prompt_tells_in_full_is_not_offered_either(talk: Talk, story: dict[str, str]) -> None:
    offered = (await talk.call("list_visible_candidates", exclude_recent_messages=2))["nodes"]
    assert {node["id"] for node in offered} == set(story.values()) - {story["5"], story["6"]}
