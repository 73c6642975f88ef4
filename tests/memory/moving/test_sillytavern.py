"""Moving in from SillyTavern: the messages of a chat come as raw turns, in their turns and at their times; once."""

import json
from pathlib import Path
from typing import Any

import pytest

from fakes import ROOT, Api
from luker_files import Json, chat_parts, message, write_chat
from memory.moving.test_import import errors, losses, sums
from shelfd.memory.log.logical import logical_hash

CHAT = (
    message("Welcome aboard.", at="2025-05-01T10:00:00.000Z"),
    message("Where do we sail?", name="Tom", user=True, at="2025-05-01T10:01:00.000Z"),
    message("To the lighthouse.", at="2025-05-01T10:02:00.000Z", swipe_id=1, swipes=["Home.", "To the lighthouse."],
            swipe_info=[{"send_date": "2025-05-01T10:01:30.000Z"}, {}], extra={"model": "m"}),
    message("(out of character)", name="Tom", user=True, at="2025-05-01T10:03:00.000Z", is_system=True),
    message("And then?", name="Tom", user=True, at="2025-05-01T10:04:00.000Z"),
)  # fmt: skip


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "evening.jsonl"


async def take_in(api: Api, path: Path, *messages: Json | str, **header: Any) -> Json:
    sent = chat_parts(write_chat(path, messages), **header)
    return await api.call("shelf.import", parts=sent, format="sillytavern", principal=ROOT)


async def turns(api: Api, nugget: str = "evening") -> list[Json]:
    found = await api.call("note.list", nugget=nugget, include_hidden=True, order="created_at")
    return [await api.note(note["id"], full=True) for note in found["notes"]]


async def test_messages_are_raw_turns(either: Api, path: Path) -> None:
    api = either
    result = await take_in(api, path, *CHAT)
    assert sums(result) == {"created": 7}
    found = [one for one in await turns(api) if one["content"] != "Home."]
    assert [(one["author"], one["content"], one["turn"], one["hidden"]) for one in found] == [
        ("Mira", "Welcome aboard.", 1, False),
        ("Tom", "Where do we sail?", 2, False),
        ("Mira", "To the lighthouse.", 2, False),
        ("Tom", "(out of character)", 3, True),
        ("Tom", "And then?", 3, False),
    ]
    assert {(one["type"], one["level"], one["session_id"], one["nugget"]) for one in found} == {
        ("conversation", "episodic", "evening", "evening")
    }
    assert [one["seq_to"] for one in found] == [1, 2, 2, 3, 3]
    assert found[0]["occurred_at"] == found[0]["created_at"] == "2025-05-01T10:00:00Z"
    assert set(losses(result)) == {"extra"}
    assert "To the lighthouse." in await api.found("lighthouse")


async def test_raw_turns_are_no_nodes(api: Api, path: Path) -> None:
    await take_in(api, path, *CHAT)
    assert (await api.call("session.list_visible_candidates", session_id="evening"))["nodes"] == []
    (session,) = (await api.call("session.list"))["sessions"]
    assert (session["session_id"], session["last_turn"]) == ("evening", 3)


async def test_again_changes_nothing_and_more_is_added(either: Api, path: Path) -> None:
    api = either
    await take_in(api, path, *CHAT)
    view = api.shelf().view
    before = logical_hash(view), view.log.last_seq
    assert set(sums(await take_in(api, path, *CHAT))) == {"unchanged"}
    assert (logical_hash(view), view.log.last_seq) == before
    more = await take_in(api, path, *CHAT, message("Nothing more.", at="2025-05-01T10:05:00.000Z"))
    assert sums(more)["created"] == 1
    assert [one["turn"] for one in await turns(api)] == [1, 2, 2, 2, 3, 3, 3]


def swiped(shown: int, *texts: str, **more: Any) -> Json:
    """The third message of the chat, with these alternatives."""
    info = [{"send_date": f"2025-05-01T10:01:{30 + 5 * n}.000Z"} for n in range(len(texts))]
    about = {"swipe_id": shown, "swipes": [*texts], "swipe_info": info, **more}
    return message(texts[shown], at=info[shown]["send_date"], **about)


def chat_with(third: Json) -> tuple[Json, ...]:
    return *CHAT[:2], third, *CHAT[3:]


async def shown(api: Api) -> list[str]:
    found = sorted(await turns(api), key=lambda one: one["occurred_at"])
    return [one["content"] for one in found if not one["hidden"]]


async def test_all_alternatives_come_and_the_shown_one_is_live(either: Api, path: Path) -> None:
    api = either
    result = await take_in(api, path, *chat_with(swiped(1, "Home.", "To the lighthouse.", "Far away.")))
    assert sums(result) == {"created": 8}
    assert await shown(api) == ["Welcome aboard.", "Where do we sail?", "To the lighthouse.", "And then?"]
    said = {one["content"]: one for one in await turns(api)}
    assert [said[text]["hidden"] for text in ("Home.", "To the lighthouse.", "Far away.")] == [True, False, True]
    assert {said[text]["turn"] for text in ("Home.", "To the lighthouse.", "Far away.")} == {2}
    assert said["Far away."]["occurred_at"] == "2025-05-01T10:01:40Z"
    assert await api.found("home") == []
    for variant, text in ((2, "Far away."), (0, "Home."), (1, "To the lighthouse.")):
        about: Json = {"session_id": "evening", "turn": 2, "variant": variant, "principal": ROOT}
        assert (await api.call("session.select_variant", **about))["notes"] == 2
        assert await shown(api) == ["Welcome aboard.", "Where do we sail?", text, "And then?"]


async def test_the_first_alternative_may_be_the_live_one(either: Api, path: Path) -> None:
    api = either
    await take_in(api, path, *chat_with(swiped(0, "Home.", "To the lighthouse.")))
    assert await shown(api) == ["Welcome aboard.", "Where do we sail?", "Home.", "And then?"]
    about: Json = {"session_id": "evening", "turn": 2, "principal": ROOT}
    done = await api.call("session.select_variant", variant=1, **about)
    assert (await shown(api))[2] == "To the lighthouse."
    await api.call("reflection.undo", run_id=done["run_id"], principal=ROOT)
    assert (await shown(api))[2] == "Home."


async def test_alternatives_again_change_nothing(either: Api, path: Path) -> None:
    api = either
    chat = chat_with(swiped(1, "Home.", "To the lighthouse.", "Far away."))
    await take_in(api, path, *chat)
    view = api.shelf().view
    before = logical_hash(view), view.log.last_seq
    assert set(sums(await take_in(api, path, *chat))) == {"unchanged"}
    assert (logical_hash(view), view.log.last_seq) == before


async def test_an_edited_message_is_followed_and_so_is_another_alternative(either: Api, path: Path) -> None:
    api = either
    await take_in(api, path, *chat_with(swiped(1, "Home.", "To the lighthouse.")))
    edited = {**CHAT[1], "mes": "Where to?"}
    more = swiped(2, "Homewards.", "To the lighthouse.", "Far away.")
    result = await take_in(api, path, CHAT[0], edited, more, *CHAT[3:])
    assert sums(result) == {"created": 1, "updated": 3, "unchanged": 4}  # a turn that shows another one is among them
    assert await shown(api) == ["Welcome aboard.", "Where to?", "Far away.", "And then?"]
    back = swiped(0, "Homewards.", "To the lighthouse.", "Far away.")
    assert sums(await take_in(api, path, CHAT[0], edited, back, *CHAT[3:]))["updated"] == 1
    assert await shown(api) == ["Welcome aboard.", "Where to?", "Homewards.", "And then?"]
    assert set(sums(await take_in(api, path, CHAT[0], edited, back, *CHAT[3:]))) == {"unchanged"}


async def test_a_message_that_had_no_alternatives_may_get_some(either: Api, path: Path) -> None:
    api = either
    once = message("Home.", at="2025-05-01T10:01:30.000Z")
    await take_in(api, path, *chat_with(once))
    await take_in(api, path, *chat_with(swiped(1, "Home.", "To the lighthouse.")))
    assert await shown(api) == ["Welcome aboard.", "Where do we sail?", "To the lighthouse.", "And then?"]
    await take_in(api, path, *chat_with(swiped(0, "Home.")))  # the other one was deleted there
    assert await shown(api) == ["Welcome aboard.", "Where do we sail?", "Home.", "And then?"]


async def test_an_alternative_that_was_selected_here_stays(either: Api, path: Path) -> None:
    api = either
    chat = chat_with(swiped(1, "Home.", "To the lighthouse.", "Far away."))
    await take_in(api, path, *chat)
    await api.call("session.select_variant", session_id="evening", turn=2, variant=0, principal=ROOT)
    assert set(sums(await take_in(api, path, *chat))) == {"unchanged"}
    assert (await shown(api))[2] == "Home."
    result = await take_in(api, path, *chat_with(swiped(2, "Home.", "To the lighthouse.", "Far away.")))
    assert [one["fields"] for part in result["parts"] for one in part["kept"]] == [["variant"]]
    assert (await shown(api))[2] == "Home."


async def test_turns_with_alternatives_can_be_taken_back_and_given_back(either: Api, path: Path) -> None:
    api = either
    chat = chat_with(swiped(1, "Home.", "To the lighthouse."))
    await take_in(api, path, *chat)
    result = await api.call("session.retract_turns", session_id="evening", from_turn=2, principal=ROOT)
    assert await shown(api) == ["Welcome aboard."]
    assert set(sums(await take_in(api, path, *chat))) == {"unchanged"}
    assert await shown(api) == ["Welcome aboard."]
    await api.call("reflection.undo", run_id=result["run_id"], principal=ROOT)
    assert await shown(api) == ["Welcome aboard.", "Where do we sail?", "To the lighthouse.", "And then?"]


async def test_an_import_with_alternatives_can_be_taken_back(either: Api, path: Path) -> None:
    api = either
    chat = chat_with(swiped(1, "Home.", "To the lighthouse."))
    result = await take_in(api, path, *chat)
    await api.call("reflection.undo", run_id=result["run_id"], principal=ROOT)
    assert await shown(api) == []
    await take_in(api, path, *chat)
    assert await shown(api) == ["Welcome aboard.", "Where do we sail?", "To the lighthouse.", "And then?"]


async def test_messages_of_one_moment_are_told_apart(api: Api, path: Path) -> None:
    same = [message(text, user=True, at="May 1, 2025 10:00am") for text in ("one", "two", "three")]
    bare = [message("four", user=True), message("five", user=True)]
    await take_in(api, path, *same, *bare)
    assert sorted(one["content"] for one in await turns(api)) == ["five", "four", "one", "three", "two"]
    assert set(sums(await take_in(api, path, *same, *bare))) == {"unchanged"}
    assert set(sums(await take_in(api, path, *same[:2], *bare))) == {"unchanged"}


@pytest.mark.parametrize(
    ("said", "moment"),
    [
        ("2025-05-01T10:00:00.123Z", "2025-05-01T10:00:00.123000Z"),
        ("2025-05-01T12:00:00+02:00", "2025-05-01T10:00:00Z"),
        ("2025-05-01T10:00:00", "2025-05-01T10:00:00Z"),
        ("2025-05-01 10:00:00", "2025-05-01T10:00:00Z"),
        ("May 1, 2025 10:00am", "2025-05-01T10:00:00Z"),
        ("May 1, 2025 12:05 AM", "2025-05-01T00:05:00Z"),
        ("December 31, 2024 12:00pm", "2024-12-31T12:00:00Z"),
        ("2025-5-1@10h00m05s", "2025-05-01T10:00:05Z"),
        ("2025-5-1 @10h 00m 05s 120ms", "2025-05-01T10:00:05.120000Z"),
        (1746093600000, "2025-05-01T10:00:00Z"),
        ("1746093600000", "2025-05-01T10:00:00Z"),
        (1746093600, "2025-05-01T10:00:00Z"),
    ],
)
async def test_times_are_read_in_all_their_forms(api: Api, path: Path, said: Any, moment: str) -> None:
    result = await take_in(api, path, message("Hello.", at=said))
    assert [one["occurred_at"] for one in await turns(api)] == [moment]
    assert errors(result) == []


@pytest.mark.parametrize("said", ["soon", "May 41, 2025 10:00am", "2025-13-01@10h00m00s", True, {}, "9" * 14])
async def test_times_in_no_known_form_are_left_out(api: Api, path: Path, said: Any) -> None:
    result = await take_in(api, path, message("Hello.", at=said))
    (one,) = await turns(api)
    assert one.get("occurred_at") in (None, "2026-01-01T00:00:00Z")
    assert set(losses(result)) == {"send_date"}


async def test_turns_are_counted_by_what_the_assistant_said(api: Api, path: Path) -> None:
    said = [
        message("hello", user=True),
        message("  "),
        message("one"),
        message("two", is_system=True),
        message("x", user=True),
        message("three"),
        message("y", user=True),
    ]
    await take_in(api, path, *said)
    found = {one["content"]: one["turn"] for one in await turns(api)}
    assert found == {"hello": 1, "one": 1, "two": 2, "x": 3, "three": 3, "y": 4}


async def test_a_message_that_cannot_be_taken_spoils_none_of_the_others(api: Api, path: Path) -> None:
    large = message("x" * 300_000)
    result = await take_in(api, path, large, message("fine", name="A\nB", mood=1))
    assert [(part, index) for part, index, _ in errors(result)] == [("notes", 0)]
    assert [one["content"] for one in await turns(api)] == ["fine"]
    assert set(losses(result)) == {"mood", "name"}


async def test_a_chat_of_no_messages_is_a_session(api: Api, path: Path) -> None:
    await take_in(api, path)
    assert [one["session_id"] for one in (await api.call("session.list"))["sessions"]] == ["evening"]


async def test_what_no_chat_could_be_called_is_named_chat(api: Api, path: Path) -> None:
    await take_in(api, path, message("Hello."), session_id="???")
    assert [one["nugget"] for one in await turns(api, "chat")] == ["chat"]
    await take_in(api, path, message("Hello."), session_id="Mira - 2025-05-01@10h")
    assert [one["nugget"] for one in await turns(api, "mira-2025-05-01-10h")] == ["mira-2025-05-01-10h"]


def test_lines_are_numbered_as_in_the_file(path: Path) -> None:
    write_chat(path, [CHAT[0], "", "{broken", "[]", json.dumps({"name": "x"}), message(" "), CHAT[1]])
    from shelfd.client.chat_file import ChatFile, shown

    chat = ChatFile(str(path), {"session_id": "s"})
    (_, notes) = chat.batches()
    assert notes.indexes == [2, 8]
    assert [(one["index"], one["error"]["message"]) for one in chat.rejected] == [
        (4, "is not JSON"), (5, "is not an object"), (6, "is no message: it has no text `mes`"),
    ]  # fmt: skip
    assert chat.blank == [7]
    assert shown(str(path)) == [0, 0, 0, 0, 0, 0]


async def test_imported_turns_can_be_taken_back_and_stay_so(either: Api, path: Path) -> None:
    api = either
    await take_in(api, path, *CHAT)

    async def shown() -> list[str]:
        return [one["content"] for one in await turns(api) if not one["hidden"]]

    result = await api.call("session.retract_turns", session_id="evening", from_turn=2, principal=ROOT)
    assert (result["undone"], result["notes"]) == (3, 3)  # one was hidden already
    assert await shown() == ["Welcome aboard."]
    assert set(sums(await take_in(api, path, *CHAT))) == {"unchanged"}
    assert await shown() == ["Welcome aboard."]
    undone = await api.call("reflection.undo", run_id=result["run_id"], principal=ROOT)
    assert await shown() == ["Welcome aboard.", "Where do we sail?", "To the lighthouse.", "And then?"]
    await api.call("reflection.undo", run_id=undone["run_id"], principal=ROOT)
    assert set(sums(await take_in(api, path, *CHAT))) == {"unchanged"}
    assert await shown() == ["Welcome aboard."]


async def test_reflection_leaves_raw_turns_as_they_were_said(api: Api, path: Path) -> None:
    said = [message("Ahoy there, all hands.", at=f"2025-05-01T10:0{minute}:00.000Z") for minute in range(5)]
    await take_in(api, path, *said)
    result = await api.call("reflect")
    assert (result["inspected"], result["changes"]) == (0, [])
    assert [one["content"] for one in await turns(api)] == ["Ahoy there, all hands."] * 5


async def test_what_a_person_said_is_of_no_alternative_in_its_history(either: Api, path: Path) -> None:
    api = either
    await take_in(api, path, *chat_with(swiped(1, "Home.", "To the lighthouse.")))
    said = {one["content"]: one["id"] for one in await turns(api)}
    (asked,) = (await api.call("note.history", id=said["Where do we sail?"]))["versions"]
    home = (await api.call("note.history", id=said["Home."]))["versions"]
    assert (asked["turn"], asked.get("variant")) == (2, None)
    assert [(one.get("turn"), one.get("variant")) for one in home if one["kind"] == "note.created"] == [(2, 0)]
    assert (await api.call("shelf.check", principal=ROOT))["problems"] == []
