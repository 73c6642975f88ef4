"""The front door's short way: a change of a shelf at hand is queued at once and takes no task."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from fakes import BOB, Api
from shelfd.memory.errors import Forbidden, NoteNotFound, ShelfError, ShuttingDown
from shelfd.memory.ports.waiting import outcome_of


class Told:
    """Takes what a call came to."""

    def __init__(self) -> None:
        self.outcomes: list[dict[str, Any] | Exception] = []
        self._some = asyncio.Event()

    def __call__(self, outcome: dict[str, Any] | Exception) -> None:
        self.outcomes.append(outcome)
        self._some.set()

    async def one(self) -> dict[str, Any] | Exception:
        await self._some.wait()
        (outcome,) = self.outcomes
        return outcome


async def test_a_change_is_queued_at_once_and_its_result_told_later(either: Api) -> None:
    await either.remember("water")  # which wakes the shelf's writer
    tasks, told = asyncio.all_tasks(), Told()
    assert either.service.submit(either.request("remember", content="tea"), told)
    assert told.outcomes == []
    assert asyncio.all_tasks() <= tasks
    assert either.shelf().in_use == 1

    result = await told.one()
    assert isinstance(result, dict)
    assert (result["status"], result["note"]["content"]) == ("created", "tea")
    assert await either.found("tea") == ["tea"]
    assert either.shelf().in_use == 0


async def test_what_it_is_told_of_a_repetition_says_so(either: Api) -> None:
    first = await either.remember("tea", idempotency_key="once")
    told = Told()
    assert either.service.submit(either.request("remember", content="tea", idempotency_key="once"), told)
    result = await told.one()

    assert isinstance(result, dict)
    assert (result["note"]["id"], result["replayed"]) == (first["id"], True)


async def test_an_error_is_told_and_the_shelf_let_go(either: Api) -> None:
    told = Told()
    assert either.service.submit(either.request("note.edit", id="note-memory-0", content="x"), told)

    assert isinstance(await told.one(), NoteNotFound)
    assert either.shelf().in_use == 0


async def test_a_result_that_cannot_be_shown_is_an_error(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: object) -> None:
        raise ValueError("a mistake")

    monkeypatch.setattr("shelfd.memory.methods.remember.note_view", broken)
    told = Told()
    assert api.service.submit(api.request("remember", content="tea"), told)

    assert isinstance(await told.one(), ValueError)
    assert api.shelf().in_use == 0
    assert (await api.call("get_stats"))["total_notes"] == 1


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("recall", {"query": "tea"}),
        ("remember_many", {"notes": [{"content": "x"}]}),
        ("remember", {"content": "x", "shelf": "closed"}),
    ],
)
async def test_what_may_have_to_wait_goes_the_other_way(api: Api, method: str, params: dict[str, Any]) -> None:
    await api.call("shelf.create", shelf="closed")
    await api.shelves._close_one("closed")
    told = Told()
    assert not api.service.submit(api.request(method, **params), told)
    assert await api.call(method, **params)
    assert told.outcomes == []


async def test_a_shelf_that_others_wait_for_is_not_at_hand(api: Api) -> None:
    told = Told()
    async with api.shelves._door("default"):
        waiting = asyncio.create_task(api.remember("first"))
        await asyncio.sleep(0)
        assert not api.service.submit(api.request("remember", content="second"), told)
    await waiting

    assert api.service.submit(api.request("remember", content="second"), told)
    await told.one()
    assert (await api.call("note.list"))["total"] == 2


async def test_who_may_not_is_refused_at_once(api: Api) -> None:
    await api.call("shelf.create", shelf="mine")
    told = Told()
    with pytest.raises(Forbidden):
        api.service.submit(api.request("remember", content="x", shelf="mine", principal=BOB), told)

    assert told.outcomes == []
    assert api.shelves.opened("mine").in_use == 0  # type: ignore[union-attr]


async def test_who_may_not_does_not_keep_a_shelf_open(api: Api) -> None:
    await api.call("shelf.create", shelf="mine")
    api.clock.advance(api.settings.idle_close + timedelta(seconds=1))
    with pytest.raises(Forbidden):
        api.service.submit(api.request("remember", content="x", shelf="mine", principal=BOB), Told())
    await api.shelves.close_idle()

    assert api.shelves.state("mine") == "closed"


async def test_a_shelf_that_closes_refuses_at_once(api: Api) -> None:
    shelf = api.shelf()
    await shelf.store.close()
    with pytest.raises(ShuttingDown):
        api.service.submit(api.request("remember", content="x"), Told())

    assert shelf.in_use == 0


async def test_an_outcome_that_nobody_waits_for_any_more_is_dropped() -> None:
    told: list[Any] = []
    waiting = asyncio.create_task(outcome_of(told.append))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    told[0](ShelfError("too late"))


async def test_an_exception_that_a_future_refuses_arrives_all_the_same() -> None:
    with pytest.raises(RuntimeError) as caught:
        await outcome_of(lambda told: told(StopIteration()))
    assert isinstance(caught.value.__cause__, StopIteration)
