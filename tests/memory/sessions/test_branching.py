"""Branching a conversation: its memory as it was at a turn, in a nugget of its own."""

from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest

from fakes import Api
from shelfd.memory.log.logical import logical_hash

SESSION = "chat"


@pytest.fixture
async def chat(either: Api) -> Api:
    await either.call("session.open", session_id=SESSION)
    return either


async def say(api: Api, turn: int, content: str, session_id: str = SESSION, **named: object) -> str:
    note = await api.remember(content, session_id=session_id, turn=turn, **named)
    return str(note["id"])


async def notes_in(api: Api, nugget: str) -> list[dict[str, Any]]:
    listed = await api.call("note.list", nugget=nugget, order="created_at")
    return [note for note in listed["notes"] if note["nugget"] == nugget]


async def branch(api: Api, at_turn: int, new: str = "other", **named: Any) -> dict[str, Any]:
    return await api.call("session.branch", session_id=SESSION, at_turn=at_turn, new_session_id=new, **named)


async def test_a_branch_has_what_was_known_at_its_turn(chat: Api) -> None:
    home = await say(chat, 1, "Berlin", key="home")
    await say(chat, 2, "two")
    await say(chat, 3, "Oslo", key="home")
    await say(chat, 3, "three")
    result = await branch(chat, 2)
    assert (result["session_id"], result["nugget"], result["notes"]) == ("other", "memory-other", 2)
    copies = await notes_in(chat, "memory-other")
    assert [(note["content"], note["session_id"], note["turn"]) for note in copies] == [
        ("Berlin", "other", 1),
        ("two", "other", 2),
    ]
    assert copies[0]["copied_from"] == home
    assert copies[0]["id"] != home
    assert [note["content"] for note in await notes_in(chat, "memory")] == ["Oslo", "two", "three"]


async def test_both_go_on_by_themselves(chat: Api) -> None:
    await say(chat, 1, "Berlin", key="home")
    await branch(chat, 1)
    await say(chat, 2, "Rome", "other", key="home", nugget="memory-other")
    assert [note["content"] for note in await notes_in(chat, "memory")] == ["Berlin"]
    branched = await notes_in(chat, "memory-other")
    assert [(note["content"], note["seq_to"]) for note in branched] == [("Rome", 2)]
    await chat.call("session.retract_turns", session_id="other", from_turn=2)
    assert [note["content"] for note in await notes_in(chat, "memory-other")] == ["Berlin"]


async def test_links_are_those_among_what_was_there(chat: Api) -> None:
    a, b = await say(chat, 1, "a"), await say(chat, 1, "b")
    await chat.call("link.upsert", source=a, target=b, relation="knows", direction="outgoing", reason="met")
    c = await say(chat, 2, "c")
    await chat.call("link.upsert", source=a, target=c)
    await chat.call("link.delete", source=a, target=b, relation="knows", direction="outgoing")
    # As of turn 1: before any link was made.
    assert (await branch(chat, 1, "one"))["links"] == 0
    await say(chat, 3, "d")
    assert (await branch(chat, 3, "three"))["links"] == 2
    await chat.call("link.upsert", source=a, target=b, relation="knows", direction="outgoing")
    await say(chat, 4, "e")
    await chat.call("link.delete", source=a, target=b, relation="knows", direction="outgoing")
    assert (await branch(chat, 4, "four", dry_run=True))["links"] == 3
    assert (await branch(chat, 4, "four"))["links"] == 3
    copies = {note["content"]: note for note in await notes_in(chat, "memory-four")}
    assert sorted(link["relation"] for link in copies["a"]["links"]) == ["knows", "related"]
    assert {link["to"] for link in copies["a"]["links"]} == {copies["b"]["id"], copies["c"]["id"]}


async def test_what_was_taken_back_or_written_by_later_turns_is_not_copied(chat: Api) -> None:
    await say(chat, 1, "one")
    await say(chat, 2, "two")
    await chat.call("session.retract_turns", session_id=SESSION, from_turn=2)
    await say(chat, 3, "three, early")
    await say(chat, 2, "two, anew")
    await branch(chat, 2)
    assert [note["content"] for note in await notes_in(chat, "memory-other")] == ["one", "two, anew"]


async def test_what_was_hidden_or_moved_since_is_copied(chat: Api) -> None:
    one, two = await say(chat, 1, "one"), await say(chat, 1, "two")
    await say(chat, 2, "late")
    await chat.call("nugget.create", name="elsewhere")
    await chat.call("forget", id=one)
    await chat.call("note.move", id=two, nugget="elsewhere")
    told = await branch(chat, 1, dry_run=True)
    assert told["notes"] == (await branch(chat, 1))["notes"] == 2
    assert {note["content"] for note in await notes_in(chat, "memory-other")} == {"one", "two"}


async def test_a_long_branch_takes_many_steps_and_a_dry_run_says_the_same(chat: Api) -> None:
    ids = [await say(chat, 1 + number % 3, f"note {number}") for number in range(50)]
    for source, target in pairwise(ids):
        await chat.call("link.upsert", source=source, target=target, direction="outgoing")
    await say(chat, 3, "last")
    was = logical_hash(chat.shelf().view)
    told = await branch(chat, 3, dry_run=True)
    assert (told["notes"], told["links"], told["run_id"], told["dry_run"]) == (51, 49, None, True)
    assert logical_hash(chat.shelf().view) == was
    done = await branch(chat, 3)
    assert (done["notes"], done["links"]) == (51, 49)


async def test_purge_says_which_copies_hold_a_note(chat: Api) -> None:
    secret = await say(chat, 1, "secret")
    await branch(chat, 1)
    (copy,) = await notes_in(chat, "memory-other")
    assert (await chat.call("forget", id=secret, purge=True))["still_in"] == [copy["id"]]
    again = await say(chat, 2, "another")
    assert (await chat.call("forget", id=copy["id"], purge=True))["still_in"] == []
    assert (await chat.call("forget", id=again, purge=True))["still_in"] == []


async def test_what_is_taken_is_refused(chat: Api) -> None:
    await say(chat, 1, "one")
    await chat.call("nugget.create", name="taken")
    for named, field in [
        ({"new_session_id": SESSION}, "new_session_id"),
        ({"new_session_id": "other", "nugget": "taken"}, "nugget"),
        ({"new_session_id": "other", "nugget": "memory"}, "nugget"),
    ]:
        for dry_run in (False, True):
            params = {"session_id": SESSION, "at_turn": 1, "dry_run": dry_run, **named}
            refused = await chat.refused("session.branch", params)
            assert (refused.code, refused.field, refused.reason) == (-32002, field, "TAKEN")
    await branch(chat, 1)
    refused = await chat.refused("session.branch", session_id=SESSION, at_turn=1, new_session_id="other", nugget="n")
    assert (refused.code, refused.field) == (-32002, "new_session_id")


async def test_a_branch_is_not_rewound_to_before_it_was_one(chat: Api) -> None:
    await say(chat, 1, "one")
    await say(chat, 2, "two")
    await branch(chat, 2)
    refused = await chat.refused("session.retract_turns", session_id="other", from_turn=2)
    assert (refused.code, refused.reason, refused.data["first_turn"]) == (-32002, "BRANCHED", 3)
    refused = await chat.refused("session.branch", session_id="other", at_turn=1, new_session_id="third")
    assert (refused.code, refused.reason) == (-32002, "BRANCHED")
    assert (await chat.call("session.branch", session_id="other", at_turn=2, new_session_id="third"))["notes"] == 2


async def test_a_branch_that_is_undone_is_none_any_more(chat: Api) -> None:
    await say(chat, 1, "one")
    run = (await branch(chat, 1))["run_id"]
    undone = (await chat.call("reflection.undo", run_id=run))["run_id"]
    assert chat.shelf().view.nuggets.get("memory-other") is None
    assert (await chat.call("session.retract_turns", session_id="other", from_turn=1))["undone"] == 0
    again = (await chat.call("reflection.undo", run_id=undone))["run_id"]
    assert [note["content"] for note in await notes_in(chat, "memory-other")] == ["one"]
    refused = await chat.refused("session.retract_turns", session_id="other", from_turn=1)
    assert (refused.reason, refused.data["first_turn"]) == ("BRANCHED", 2)
    assert "it is not its own" in str(refused)
    await chat.call("reflection.undo", run_id=again)
    chat.clock.advance(timedelta(seconds=1))
    await say(chat, 1, "anew", "other", nugget="memory-other")
    assert (await chat.call("session.retract_turns", session_id="other", from_turn=1))["undone"] == 1


async def test_a_branch_whose_nugget_is_renamed_remains_one(chat: Api) -> None:
    await say(chat, 1, "one")
    await branch(chat, 1)
    await chat.call("nugget.rename", name="memory-other", new_name="elsewhere")
    refused = await chat.refused("session.retract_turns", session_id="other", from_turn=1)
    assert refused.reason == "BRANCHED"


async def test_bad_input_of_a_branch_changes_nothing(chat: Api) -> None:
    await say(chat, 1, "one")
    seq = chat.shelf().view.log.last_seq
    for params, code, field in [
        ({"session_id": SESSION, "at_turn": 0, "new_session_id": "x"}, -32602, "at_turn"),
        ({"session_id": SESSION, "at_turn": 10**9, "new_session_id": "x"}, -32602, "at_turn"),
        ({"session_id": "nobody", "at_turn": 1, "new_session_id": "x"}, -32001, "session_id"),
        ({"session_id": SESSION, "at_turn": 1, "new_session_id": "x/y"}, -32602, "nugget"),
    ]:
        refused = await chat.refused("session.branch", params)
        assert (refused.code, refused.field) == (code, field)
    assert chat.shelf().view.log.last_seq == seq


LINZ, GRAZ, WELS = "Eva lives in Linz.", "Eva lives in Graz now.", "Eva moved to Wels."


async def moved(api: Api) -> list[str]:
    """Have three turns say where Eva lives, each in place of the one before; return the notes' ids."""
    return [await say(api, turn, said, evolve=True) for turn, said in enumerate((LINZ, GRAZ, WELS), 1)]


@pytest.mark.parametrize("way", ["hide", "move"])
async def test_what_was_superseded_does_not_count_in_a_branch_without_its_successor(chat: Api, way: str) -> None:
    ids = await moved(chat)
    await chat.call("nugget.create", name="elsewhere")
    named: dict[str, Any] = {"nugget": "elsewhere"} if way == "move" else {}
    await chat.call(f"note.{way}", id=ids[2], **named)
    await say(chat, 4, "four")
    assert (await branch(chat, 4, dry_run=True))["notes"] == 1
    assert (await branch(chat, 4))["notes"] == 1
    assert [note["content"] for note in await notes_in(chat, "memory-other")] == ["four"]


async def test_what_stood_for_a_hidden_note_stands_in_a_branch_for_what_that_had_replaced(chat: Api) -> None:
    ids = await moved(chat)
    await chat.call("note.hide", id=ids[1])
    await say(chat, 4, "four")
    assert (await branch(chat, 4, dry_run=True))["notes"] == 3
    await branch(chat, 4)
    copies = {note["content"]: note for note in await notes_in(chat, "memory-other")}
    assert copies.keys() == {LINZ, WELS, "four"}
    assert copies[LINZ]["superseded_by"] == copies[WELS]["id"]
    assert copies[LINZ]["valid_to"] == (await chat.note(ids[0]))["valid_to"]


async def test_a_branch_at_a_turn_before_a_purge_has_one_value(chat: Api) -> None:
    ids = await moved(chat)
    await say(chat, 4, "four")
    await chat.call("note.delete", id=ids[1], hard=True)
    await branch(chat, 4)
    copies = {note["content"]: note for note in await notes_in(chat, "memory-other")}
    assert copies[LINZ]["superseded_by"] == copies[WELS]["id"]
    await branch(chat, 2, "earlier")
    (counting,) = await notes_in(chat, "memory-earlier")
    assert (counting["content"], counting.keys() & {"valid_to", "superseded_by", "superseded_reason"}) == (LINZ, set())


async def test_a_branch_goes_on_from_the_turns_that_count(chat: Api) -> None:
    first = await say(chat, 1, LINZ, evolve=True)
    await chat.call("session.open", session_id="aside")
    await say(chat, 1, GRAZ, "aside", evolve=True)
    await say(chat, 2, WELS, evolve=True)
    await chat.call("session.retract_turns", session_id="aside", from_turn=1)
    await branch(chat, 2)
    copies = {note["content"]: note for note in await notes_in(chat, "memory-other")}
    assert copies[LINZ]["superseded_by"] == copies[WELS]["id"]
    assert (await chat.note(first))["superseded_by"] != copies[WELS]["id"]
