"""Rewinding what others made of: merges, what reflection wrote, rollups that came back, what was hidden by hand."""

from typing import Any

import pytest

from fakes import Api
from shelfd.memory.log.logical import logical_hash

SESSION = "chat"


@pytest.fixture
async def chat(either: Api) -> Api:
    for session_id in (SESSION, "other"):
        await either.call("session.open", session_id=session_id)
    return either


async def say(api: Api, turn: int, content: str, **named: object) -> str:
    note = await api.remember(content, session_id=SESSION, turn=turn, **named)
    return str(note["id"])


async def retract(api: Api, from_turn: int, session_id: str = SESSION) -> dict[str, Any]:
    """Take turns back, and see to it that undoing that brings back exactly what was."""
    was = logical_hash(api.shelf().view)
    first = await api.call("session.retract_turns", session_id=session_id, from_turn=from_turn)
    became = logical_hash(api.shelf().view)
    undone = await api.call("reflection.undo", run_id=first["run_id"])
    assert logical_hash(api.shelf().view) == was
    again = await api.call("reflection.undo", run_id=undone["run_id"])
    assert logical_hash(api.shelf().view) == became
    return {**again, "kept": first["kept"]}


async def contents(api: Api) -> dict[str, str]:
    """What is visible, by title."""
    return {note["title"]: note["content"] for note in (await api.call("note.list", order="created_at"))["notes"]}


async def texts(api: Api) -> list[str]:
    return [note["content"] for note in (await api.call("note.list", order="created_at"))["notes"]]


def own(note: dict[str, Any]) -> list[str]:
    """The tags that somebody gave a note."""
    return [tag for tag in note["tags"] if tag in ("red", "wet", "old")]


async def links(api: Api, note_id: str) -> list[tuple[str, str]]:
    return sorted((link["relation"], link["to"]) for link in (await api.note(note_id))["links"])


# ---------------------------------------------------------------------- merges


async def test_a_target_loses_what_it_received_from_a_note_of_a_turn_taken_back(chat: Api) -> None:
    boat = await say(chat, 1, "A boat.", title="Boat", tags=["red"])
    third = await say(chat, 1, "A pier.", title="Pier")
    ship = await say(chat, 2, "It leaks.", title="Ship", tags=["wet"])
    await chat.call("link.upsert", source=ship, target=third, relation="moored_at", direction="outgoing")
    await chat.call("note.merge", target=boat, source=ship)
    merged = await chat.note(boat)
    assert ("It leaks." in merged["content"], "wet" in merged["tags"]) == (True, True)
    assert ("moored_at", third) in await links(chat, boat)
    await retract(chat, 2)
    left = await chat.note(boat)
    assert (left["content"], own(left), left.get("aliases", [])) == ("A boat.", ["red"], [])
    assert await links(chat, boat) == []
    assert await contents(chat) == {"Boat": "A boat.", "Pier": "A pier."}


async def test_a_source_returns_when_its_target_is_taken_back(chat: Api) -> None:
    await say(chat, 1, "It leaks.", title="Ship")
    target = await say(chat, 2, "A boat.", title="Boat")
    source = next(note["id"] for note in (await chat.call("note.list"))["notes"] if note["title"] == "Ship")
    await chat.call("note.merge", target=target, source=source)
    assert list(await contents(chat)) == ["Boat"]
    await retract(chat, 2)
    assert await contents(chat) == {"Ship": "It leaks."}


async def test_a_merge_of_texts_that_a_turn_edited_is_taken_apart(chat: Api) -> None:
    boat = await say(chat, 1, "A boat.", title="Boat")
    ship = await say(chat, 1, "It floats.", title="Ship")
    await chat.call("session.edit_node", session_id=SESSION, id=ship, content="It leaks.", turn=2)
    await chat.call("note.merge", target=boat, source=ship)
    await chat.remember("A pier.", title="Pier")
    await retract(chat, 2)
    assert await contents(chat) == {"Boat": "A boat.", "Ship": "It floats.", "Pier": "A pier."}


async def test_what_was_written_on_top_of_a_merge_that_is_taken_apart_stays_and_is_said(chat: Api) -> None:
    boat = await say(chat, 1, "A boat.", title="Boat")
    ship = await say(chat, 2, "It leaks.", title="Ship")
    await chat.call("note.merge", target=boat, source=ship)
    await chat.call("note.edit", id=boat, tags=["old"], content="A boat that leaks, they say.")
    await retract(chat, 2)
    left = await chat.note(boat)
    assert (left["content"], own(left)) == ("A boat that leaks, they say.", ["old"])


async def test_merges_in_a_row_fall_as_far_as_they_rest_on_a_turn(chat: Api) -> None:
    one, two = await say(chat, 1, "One.", title="A"), await say(chat, 2, "Two.", title="B")
    three, four = await say(chat, 1, "Three.", title="C"), await say(chat, 1, "Four.", title="D")
    await chat.call("note.merge", target=three, source=four)
    await chat.call("note.merge", target=two, source=three)
    await chat.call("note.merge", target=one, source=two)
    assert list(await contents(chat)) == ["A"]
    await retract(chat, 2)
    assert {title: text.split() for title, text in (await contents(chat)).items()} == {
        "A": ["One."], "C": ["Three.", "Four."]
    }  # fmt: skip


# ------------------------------------------------------------------ reflection


async def test_what_reflection_made_of_a_turn_goes_with_it(chat: Api) -> None:
    text = "The ferry to Mull leaves from the old harbour at nine in the morning every single day"
    first = (await chat.remember(text))["id"]
    second = (await chat.remember("Ada likes tea"))["id"]
    was = await texts(chat)
    for note_id, content in (
        (first, f"{text} but Sunday  "),
        (second, "Ada's  harbour: the ferry, the ferry, the ferry"),
    ):
        await chat.call("session.edit_node", session_id=SESSION, id=note_id, content=content, turn=1)
    for number in range(4):
        await say(chat, 1, text, tags=[f"harbour {number}"])
    await chat.remember(text)
    await chat.call("reflect")
    assert len(await texts(chat)) < len(was) + 5
    await chat.remember("Later, by nobody")
    await chat.call("reflect")
    await retract(chat, 1)
    assert await texts(chat) == [*was, text, "Later, by nobody"]


# ---------------------------------------------------------------- by hand, again


@pytest.mark.parametrize("touches", ["tag", "content"])
async def test_what_was_hidden_taken_back_and_restored_by_hand_stays(chat: Api, touches: str) -> None:
    note = await say(chat, 1, "one", title="One")
    edits: dict[str, Any] = {"tags": ["red"]} if touches == "tag" else {"content": "two"}
    await chat.call("forget", id=note)
    await chat.call("session.retract_turns", session_id=SESSION, from_turn=1)
    await chat.call("note.restore", id=note)
    assert await contents(chat) == {"One": "one"}
    await chat.call("note.edit", id=note, **edits)
    changed = await chat.remember("other", session_id="other", turn=1, title="Other")
    await chat.call("session.edit_node", session_id="other", id=note, content="three", turn=1)
    await retract(chat, 1, "other")
    assert await contents(chat) == {"One": edits.get("content", "one")}
    assert changed["id"] != note
    await chat.call("session.retract_turns", session_id=SESSION, from_turn=1)
    assert await contents(chat) == {"One": edits.get("content", "one")}


async def test_what_was_hidden_and_restored_before_its_turn_was_taken_back_goes(chat: Api) -> None:
    note = await say(chat, 1, "one", title="One")
    await chat.call("forget", id=note)
    await chat.call("note.restore", id=note)
    await retract(chat, 1)
    assert await contents(chat) == {}


# --------------------------------------------------------------------- rollups


async def roll_up(api: Api, *ids: str, summary: str = "all") -> str:
    params = {"session_id": SESSION, "type": "event", "child_ids": list(ids), "summary": summary}
    return str((await api.call("session.compact_nodes", params))["rollup_node_id"])


async def dissolve(api: Api, rollup_id: str) -> int:
    """Hide a rollup; return the transaction, which can be undone."""
    await api.call("session.delete_node", session_id=SESSION, id=rollup_id)
    return api.shelf().view.log.page(since_seq=api.shelf().view.log.last_seq - 1, limit=1)[0].tx


async def happened(api: Api, turn: int, summary: str) -> str:
    fields = {"title": summary, "summary": summary}
    return str(
        (await api.call("session.create_node", session_id=SESSION, type="event", fields=fields, turn=turn))["id"]
    )


async def parents(api: Api, *ids: str) -> list[str | None]:
    return [(await api.note(note_id)).get("parent_id") for note_id in ids]


async def test_rollups_that_displaced_each_other_in_turn_are_told_apart(chat: Api) -> None:
    """The one that was brought back last represents the notes, whatever represented them in between."""
    one, two = await happened(chat, 1, "one"), await happened(chat, 1, "two")
    first = await roll_up(chat, one, two, summary="first")
    dissolved = await dissolve(chat, first)
    second = await roll_up(chat, one, two, summary="second")
    await dissolve(chat, second)
    await chat.call("undo", tx=dissolved)
    assert await parents(chat, one, two) == [first, first]
    for note_id in (one, first, second):
        await chat.call("session.edit_node", session_id="other", id=note_id, set_fields={"where": "here"}, turn=1)
    await retract(chat, 1, "other")
    assert await parents(chat, one, two) == [first, first]
    assert list(await contents(chat)) == ["one", "two", "event Summary L1 #1"]


async def test_a_rollup_brought_back_dissolves_with_what_it_rests_on(chat: Api) -> None:
    one, two = await happened(chat, 1, "one"), await happened(chat, 2, "two")
    first = await roll_up(chat, one, two)
    await chat.call("undo", tx=await dissolve(chat, first))
    assert await parents(chat, one, two) == [first, first]
    await retract(chat, 2)
    assert await parents(chat, one) == [None]
    assert list(await contents(chat)) == ["one"]
