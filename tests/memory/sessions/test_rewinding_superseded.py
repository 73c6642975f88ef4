"""Turns are taken back whose notes stood for others, or that others stand for since: one of these counts, not two."""

from datetime import timedelta
from typing import Any

import pytest

from fakes import Api
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.ports.log import Origin

SESSION, OTHER = "chat", "other"
LINZ, GRAZ, WELS, ROME = "Eva lives in Linz.", "Eva lives in Graz now.", "Eva moved to Wels.", "Eva lives in Rome."


@pytest.fixture
async def chat(either: Api) -> Api:
    for session_id in (SESSION, OTHER):
        await either.call("session.open", session_id=session_id)
    return either


async def told(api: Api, content: str, turn: int | None = None, session_id: str = SESSION, **named: Any) -> str:
    """Have a note evolve, of a turn or of none, a day after the one before; return its id."""
    api.clock.advance(timedelta(days=1))
    of_turn: dict[str, Any] = {} if turn is None else {"session_id": session_id, "turn": turn}
    return str((await api.call("remember", content=content, evolve=True, **of_turn, **named))["note"]["id"])


async def retract(api: Api, turn: int, session_id: str = SESSION) -> str:
    result = await api.call("session.retract_turns", session_id=session_id, from_turn=turn)
    assert result["kept"] == []
    return str(result["run_id"])


async def standing(api: Api, note_id: str) -> dict[str, Any]:
    """What a note says of whether it counts and until when it holds."""
    note = await api.note(note_id)
    return {name: note[name] for name in ("superseded_by", "superseded_reason", "valid_to") if name in note}


async def lives(api: Api, **named: Any) -> list[str]:
    return await api.found("where does Eva live", **named)


async def test_what_replaced_a_note_that_is_taken_back_replaces_what_that_had(chat: Api) -> None:
    first, second = await told(chat, LINZ), await told(chat, GRAZ, 2)
    was = await standing(chat, first)
    third = await told(chat, WELS)
    ended = await standing(chat, second)
    run_id = await retract(chat, 2)
    assert await lives(chat) == [WELS]
    assert await standing(chat, first) == {**ended, "superseded_by": third}
    await chat.call("reflection.undo", run_id=run_id)
    assert await standing(chat, first) == {**was, "superseded_by": second}
    assert await standing(chat, second) == ended


async def test_several_that_are_taken_back_together_stand_for_nothing(chat: Api) -> None:
    first = await told(chat, LINZ)
    for turn, content in enumerate((GRAZ, WELS), 1):
        await told(chat, content, turn)
    await retract(chat, 1)
    assert await standing(chat, first) == {}
    assert await lives(chat) == [LINZ]


async def test_a_chain_of_two_conversations_comes_and_goes_whatever_the_order(chat: Api) -> None:
    first, second, third = await told(chat, LINZ), await told(chat, GRAZ, 1), await told(chat, WELS, 1, OTHER)
    ends = [await standing(chat, note_id) for note_id in (first, second, third)]
    mine = await retract(chat, 1)
    assert await lives(chat) == [WELS]
    theirs = await retract(chat, 1, OTHER)
    assert await lives(chat) == [LINZ]
    assert await standing(chat, first) == {}
    await chat.call("reflection.undo", run_id=theirs)
    assert await lives(chat) == [WELS]
    assert (await standing(chat, first))["superseded_by"] == third
    await chat.call("reflection.undo", run_id=mine)
    assert [await standing(chat, note_id) for note_id in (first, second, third)] == ends


async def test_a_replacement_of_what_is_taken_back_comes_and_goes(chat: Api) -> None:
    first, third = await told(chat, LINZ), str((await chat.remember("Eva likes figs."))["id"])
    second = await told(chat, GRAZ, 1)
    await replace(chat, second, third, turn=1)
    mine = await retract(chat, 1)
    assert (await standing(chat, first))["superseded_by"] == third
    theirs = await retract(chat, 1, OTHER)
    assert await standing(chat, first) == {}
    await chat.call("reflection.undo", run_id=theirs)
    assert (await standing(chat, first))["superseded_by"] == third
    await chat.call("reflection.undo", run_id=mine)
    assert (await standing(chat, first))["superseded_by"] == second


async def test_a_note_whose_successor_is_taken_back_holds_as_long_as_before(chat: Api) -> None:
    until = "2100-01-01T00:00:00Z"
    first = await told(chat, LINZ, valid_to=until)
    second = str((await chat.remember(ROME, session_id=SESSION, turn=1))["id"])
    await chat.call("mark_note_superseded", note_id=first, superseded_by_id=second)
    assert (await standing(chat, first))["valid_to"] != until
    await retract(chat, 1)
    assert await standing(chat, first) == {"valid_to": until}
    assert await lives(chat, as_of="2050-01-01T00:00:00Z") == [LINZ]


async def test_what_lost_a_conflict_to_a_note_that_is_taken_back_has_no_reason_left(chat: Api) -> None:
    a, b = "Paul's blood type is A positive.", "Paul's blood type is AB negative."
    await told(chat, a)
    new = await chat.call("remember", content=b, evolve=True, session_id=SESSION, turn=1)
    (lost,) = (await chat.call("conflict.resolve", id=new["conflicts"][0], keep="b"))["superseded"]
    await retract(chat, 1)
    assert await standing(chat, lost) == {}
    assert await chat.found("What is Paul's blood type?") == [a]


async def test_notes_do_not_replace_each_other_in_a_circle(chat: Api) -> None:
    first, second, third = [str((await chat.remember(content))["id"]) for content in (LINZ, ROME, "Eva moved.")]
    await replace(chat, second, third, turn=1)
    await replace(chat, first, second, turn=2)
    run_id = await retract(chat, 1, OTHER)
    await chat.call("mark_note_superseded", note_id=third, superseded_by_id=first)
    await chat.call("reflection.undo", run_id=run_id)
    now = [(await standing(chat, note_id)).get("superseded_by") for note_id in (first, second, third)]
    assert now == [second, None, first]


async def replace(api: Api, old: str, new: str, *, turn: int) -> None:
    """Have a turn of the other conversation let one note stand for another."""

    def supersede(tx: Transaction) -> None:
        note = tx.rows.notes.get(old)
        assert note is not None
        tx.supersede(note, new)

    await api.shelf().commit(Origin("p", "test", None, OTHER, turn), supersede)
    await api.shelf().reach(None)
