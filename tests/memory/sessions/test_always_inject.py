"""What stands in every prompt, and what the prompt holds when nothing was recorded of it."""

from typing import Any

import pytest

from fakes import Api

TYPE: dict[str, Any] = {"table_columns": ["title"], "always_inject": True}


class Chat:
    """A session on a nugget of its own."""

    def __init__(self, api: Api, session_id: str = "s", nugget: str = "n") -> None:
        self.api = api
        self.session_id = session_id
        self.nugget = nugget

    async def open(self, **named: Any) -> "Chat":
        await self.api.call("session.open", session_id=self.session_id, nugget=self.nugget, **named)
        return self

    async def call(self, method: str, **named: Any) -> dict[str, Any]:
        return await self.api.call(f"session.{method}", session_id=self.session_id, **named)

    async def create(self, type_: str, title: str, turn: int | None = None, **fields: Any) -> str:
        turned = {} if turn is None else {"turn": turn}
        made = await self.call("create_node", type=type_, title=title, fields=fields, **turned)
        return str(made["id"])

    async def thread(self, title: str, turn: int | None = None) -> str:
        return await self.create("thread", title, turn, status="active", note="open")

    async def event(self, summary: str, turn: int | None = None) -> str:
        return await self.create("event", summary, turn, summary=summary)

    async def injected(self, **named: Any) -> list[str]:
        return [node["id"] for node in (await self.call("list_always_inject", **named))["nodes"]]

    async def state(self) -> tuple[list[str], list[str], list[str]]:
        state = await self.call("get_injection_state")
        return state["always_inject_ids"], state["recall_selected_ids"], state["visible_ids"]


@pytest.fixture
async def chat(either: Api) -> Chat:
    return await Chat(either).open()


async def test_types_that_always_stand_in_the_prompt_do_by_time(chat: Chat) -> None:
    await chat.create("character_sheet", "Eileen", 1)
    first = await chat.event("they met", 2)
    second = await chat.thread("the key", 3)
    third = await chat.event("they parted", 4)
    untimed = await chat.api.remember("an event of no turn", type="event", nugget="n")
    assert await chat.injected() == [first, second, third, untimed["id"]]


async def test_all_fields_of_the_notes_are_shown(chat: Chat) -> None:
    made = await chat.thread("the key", 1)
    (node,) = (await chat.call("list_always_inject"))["nodes"]
    assert (node["id"], node["type"], node["seq_to"]) == (made, "thread", 1)
    assert node["fields"] == {"title": "the key", "status": "active", "note": "open"}


async def test_what_the_raw_turns_tell_is_left_out_but_for_types_with_one_live_note(chat: Chat) -> None:
    events = [await chat.event(f"event {turn}", turn) for turn in range(1, 6)]
    thread = await chat.thread("the key", 5)
    assert await chat.injected(recent_raw_turns=2) == [*events[:3], thread]
    assert await chat.injected(recent_raw_turns=0) == [*events, thread]
    assert await chat.injected(recent_raw_turns=10_000) == [thread]


async def test_what_is_long_past_is_left_out_whatever_its_type(chat: Chat) -> None:
    old = await chat.thread("the key", 1)
    events = [await chat.event(f"event {turn}", turn) for turn in range(2, 6)]
    await chat.api.remember("an event of no turn", type="event", nugget="n")
    assert await chat.injected(max_seq_distance=2) == events[-2:]
    for distance in (5, 6, 2**50):
        assert await chat.injected(max_seq_distance=distance) == [old, *events]
    assert await chat.injected(max_seq_distance=4, recent_raw_turns=2) == events[:2]


async def test_the_event_table_is_forced(chat: Chat) -> None:
    await chat.api.call("schema.set_type", type="event", nugget="n", always_inject=False)
    await chat.api.call("schema.set_type", type="log", nugget="n", table_columns=["title"], table_name="event_table")
    event = await chat.event("they met", 1)
    entry = await chat.create("log", "a line", 2)
    assert await chat.injected() == [event, entry]


async def test_a_type_can_be_made_to_stand_there_and_not_to(chat: Chat) -> None:
    await chat.api.call("schema.set_type", type="rule", nugget="n", **TYPE)
    await chat.api.call("schema.set_type", type="thread", nugget="n", always_inject=False)
    await chat.thread("the key", 1)
    rule = await chat.create("rule", "no magic", 2)
    assert await chat.injected() == [rule]


async def test_hidden_replaced_and_foreign_notes_never_stand_there(chat: Chat) -> None:
    gone = await chat.event("they met", 1)
    stays = await chat.event("they parted", 2)
    replaced = await chat.event("they wrote", 3)
    await chat.api.call("note.hide", id=gone)
    await chat.api.call("mark_note_superseded", note_id=replaced, superseded_by_id=stays)
    await chat.api.remember("elsewhere", type="event", nugget="other")
    await chat.api.remember("private", type="event", nugget="n", scope="session", session_id="t")
    assert await chat.injected() == [stays]


async def test_pages_follow_one_another(chat: Chat) -> None:
    events = [await chat.event(f"event {turn}", turn) for turn in range(1, 6)]
    found: list[str] = []
    more: dict[str, Any] = {}
    while True:
        page = await chat.call("list_always_inject", limit=2, **more)
        found += [node["id"] for node in page["nodes"]]
        if "next_cursor" not in page:
            break
        more = {"cursor": page["next_cursor"]}
    assert found == events


async def test_other_conversations_of_the_nugget_are_not_raw_here(chat: Chat) -> None:
    mine = await chat.event("mine", 1)
    other = await Chat(chat.api, "t").open()
    theirs = await other.event("theirs", 1)
    assert await chat.injected(recent_raw_turns=1) == [theirs]
    assert await other.injected(recent_raw_turns=1) == [mine]


@pytest.mark.parametrize("field", ["recent_raw_turns", "max_seq_distance"])
async def test_a_negative_bound_is_refused(chat: Chat, field: str) -> None:
    refused = await chat.api.refused("session.list_always_inject", {"session_id": "s", field: -1})
    assert (refused.code, refused.field) == (-32602, field)


# ------------------------------------------------------------------- state


async def test_without_a_record_the_state_is_what_it_would_be(chat: Chat) -> None:
    sheet = await chat.create("character_sheet", "Eileen", 1)
    event = await chat.event("they met", 2)
    assert await chat.state() == ([event], [], [event, sheet])


async def test_a_nugget_that_is_not_there_yet_is_empty(chat: Chat) -> None:
    assert await chat.state() == ([], [], [])
    assert await chat.injected() == []


async def test_the_state_is_what_was_recorded_last(chat: Chat) -> None:
    sheet = await chat.create("character_sheet", "Eileen", 1)
    event = await chat.event("they met", 2)
    await chat.call("record_injection", turn=3, pinned=[event], recalled=[sheet], frontier=[event, sheet])
    assert await chat.state() == ([event], [sheet], [event, sheet])
    await chat.call("record_injection", turn=2, recalled=[event])
    assert await chat.state() == ([], [event], [])
    await chat.call("record_injection", turn=3, frontier=None)
    assert await chat.state() == ([], [], [event, sheet])


async def test_a_brief_says_what_the_state_says(chat: Chat) -> None:
    sheet = await chat.create("character_sheet", "Eileen", 1)
    event = await chat.event("they met", 2)

    async def briefs() -> list[bool]:
        found = await chat.call("get_node_briefs", ids=[sheet, event])
        return [brief["always_inject"] for brief in found["briefs"]]

    assert await briefs() == [False, True]
    await chat.api.call("get_context", query="met", session_id="s")  # which does not say what else stands there
    assert await briefs() == [False, True]
    await chat.call("record_injection", turn=3, pinned=[sheet])
    assert await briefs() == [True, False]


async def test_get_context_says_what_was_recalled_and_leaves_the_rest_open(chat: Chat) -> None:
    event = await chat.event("they met in the harbour", 1)
    await chat.api.call("get_context", query="harbour", session_id="s")
    assert await chat.state() == ([event], [event], [event])


async def test_each_session_has_a_state_of_its_own(chat: Chat) -> None:
    event = await chat.event("they met", 1)
    other = await Chat(chat.api, "t").open()
    await chat.call("record_injection", turn=1)
    assert await chat.state() == ([], [], [])
    assert await other.state() == ([event], [], [event])


async def test_a_session_that_is_not_open_has_none(either: Api) -> None:
    for method in ("get_injection_state", "list_always_inject"):
        refused = await either.refused(f"session.{method}", session_id="nobody")
        assert (refused.code, refused.kind) == (-32001, "SessionNotFound")
