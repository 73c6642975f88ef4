"""Which turns are the last ones of a conversation, by the numbers that notes keep."""

import pytest

from fakes import Api
from shelfd.memory.notes.note import Nugget
from shelfd.memory.ports.sessions import Session
from shelfd.memory.sessions.recent import last_turns


async def held(api: Api, turns: list[tuple[str, int]], count: int, *, beyond: int = 0) -> list[int]:
    """Numbers that the last turns of session s hold, of all up to some beyond those that were seen."""

    def fill(tx: object) -> None:
        nuggets = tx.rows.nuggets  # type: ignore[attr-defined]
        for number, (session_id, turn) in enumerate(turns, 1):
            nuggets.claim_turn("memory", session_id, turn, number)
        nuggets.put(Nugget("memory", 1024, 4, 1, 0, None, 0, len(turns) + beyond))

    await api.call("shelf.log")
    shelf = api.shelf()
    await shelf.commit(api.request("shelf.log").origin(), fill)
    window = last_turns(shelf.view, Session("s", "memory"), count)
    return [] if window is None else [n for n in range(len(turns) + beyond + 1) if window.holds(n)]


async def test_the_last_turns_of_the_only_conversation(either: Api) -> None:
    assert await held(either, [("s", n) for n in range(1, 6)], 2) == [4, 5]


async def test_turns_without_a_number_count_too(either: Api) -> None:
    assert await held(either, [("s", 1), ("s", 5), ("s", 10)], 2) == [3]
    assert await held(either, [("s", 1), ("s", 5), ("s", 10)], 6) == [2, 3]


async def test_turns_of_other_conversations_are_not_held(either: Api) -> None:
    assert await held(either, [("s", 1), ("t", 1), ("s", 2), ("t", 2), ("s", 3)], 2) == [3, 5]


async def test_numbers_without_turns_count_as_one_each(either: Api) -> None:
    assert await held(either, [], 2, beyond=9) == [8, 9]


async def test_a_conversation_without_turns_beside_another_holds_nothing(either: Api) -> None:
    assert await held(either, [("t", 1), ("t", 2)], 5) == []


@pytest.mark.parametrize("count", [0, -1])
async def test_no_turns_hold_nothing(either: Api, count: int) -> None:
    assert await held(either, [("s", 1)], count) == []


async def test_more_turns_than_there_are_hold_all(either: Api) -> None:
    assert await held(either, [("s", 1), ("s", 2)], 1_000) == [0, 1, 2]


async def test_a_note_of_no_turn_is_in_none(either: Api) -> None:
    await held(either, [("s", 1)], 1)
    window = last_turns(either.shelf().view, Session("s", "memory"), 1)
    assert window is not None
    assert not window.holds(None)
    assert not window.holds(-1)
