"""The front door: changes hold their place from where they are submitted, and take no task."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from fakes import BOB, ROOT, Api
from shelfd.memory.encoded import EncodedResult
from shelfd.memory.errors import Cancelled, Forbidden, NoteNotFound, ShelfError, ShelfNotFound, ShuttingDown
from shelfd.memory.methods import USE_CASES
from shelfd.memory.methods.registry import Procedure, ReadAnswer, ReadMethod
from shelfd.memory.ports.store import outcome_of
from shelfd.protocol import METHODS


class Done:
    """Takes what a call came to."""

    def __init__(self) -> None:
        self.outcomes: list[ReadAnswer | Exception] = []
        self._some = asyncio.Event()

    def __call__(self, outcome: ReadAnswer | Exception) -> None:
        self.outcomes.append(outcome)
        self._some.set()

    async def one(self) -> ReadAnswer | Exception:
        await self._some.wait()
        (outcome,) = self.outcomes
        return outcome


async def test_a_change_is_queued_at_once_without_a_task_and_its_caller_notified_later(either: Api) -> None:
    await either.remember("water")  # which wakes the shelf's writer
    tasks, done = asyncio.all_tasks(), Done()
    either.service.submit(either.request("remember", content="tea"), done)
    assert done.outcomes == []
    assert asyncio.all_tasks() <= tasks
    assert either.shelf().in_use == 1

    result = await done.one()
    assert isinstance(result, dict)
    assert (result["status"], result["note"]["content"]) == ("created", "tea")
    assert await either.found("tea") == ["tea"]
    assert either.shelf().in_use == 0


async def test_the_outcome_of_a_repetition_says_so(either: Api) -> None:
    first = await either.remember("tea", idempotency_key="once")
    done = Done()
    either.service.submit(either.request("remember", content="tea", idempotency_key="once"), done)
    result = await done.one()

    assert isinstance(result, dict)
    assert (result["note"]["id"], result["replayed"]) == (first["id"], True)


async def test_an_error_is_an_outcome_and_the_shelf_is_let_go(either: Api) -> None:
    done = Done()
    either.service.submit(either.request("note.edit", id="note-memory-0", content="x"), done)

    assert isinstance(await done.one(), NoteNotFound)
    assert either.shelf().in_use == 0


async def test_a_result_that_cannot_be_shown_is_an_error(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: object) -> None:
        raise ValueError("a mistake")

    monkeypatch.setattr("shelfd.memory.methods.remember.note_view", broken)
    done = Done()
    api.service.submit(api.request("remember", content="tea"), done)

    assert isinstance(await done.one(), ValueError)
    assert api.shelf().in_use == 0
    assert (await api.call("get_stats"))["total_notes"] == 1


def test_later_changes_wait_for_every_procedure_that_changes_something() -> None:
    # It has its place among the changes only when it has prepared: nothing else keeps it before them.
    changes = {name: method for name, method in METHODS.items() if method.is_change}
    barriers = {name for name, method in changes.items() if method.is_barrier}
    procedures = {name for name in changes if isinstance(USE_CASES.get(name), Procedure)}
    assert barriers == procedures - {"shelf.backup"}  # which takes long, and changes nothing that is in the shelf


CHANGES: list[tuple[str, dict[str, Any]]] = [
    ("remember", {"content": "0", "key": "k"}),
    ("remember_many", {"notes": [{"content": "1", "key": "k"}]}),
    ("note.create", {"content": "2"}),
    ("forget", {"nugget": "memory", "key": "k"}),
    ("remember", {"content": "3", "key": "k"}),
    ("nugget.clear", {"name": "memory"}),
    ("remember", {"content": "4", "key": "k"}),
    ("nugget.remove", {"name": "memory", "purge": True}),
    ("remember", {"content": "5", "key": "k"}),
]


@pytest.mark.parametrize("shelf", ["default", "closed"])
async def test_changes_of_every_kind_apply_in_the_order_in_which_they_were_submitted(either: Api, shelf: str) -> None:
    await either.call("shelf.create", shelf="closed")
    await either.call("nugget.create", name="memory", shelf=shelf)
    if shelf == "closed":
        await either.shelves._close_one("closed")
    done = []
    for method, params in CHANGES:
        done.append(Done())
        either.service.submit(either.request(method, params, shelf=shelf), done[-1])
    outcomes = [await one.one() for one in done]

    assert all(isinstance(outcome, dict) for outcome in outcomes), outcomes
    log = (await either.call("shelf.log", shelf=shelf, limit=1000))["log"]
    numbers = [int(str(row["request_id"]).removeprefix("test-")) for row in log]
    firsts = [number for n, number in enumerate(numbers) if number not in numbers[:n]]
    assert len(firsts) == len(CHANGES) + 1
    assert firsts == sorted(firsts)


async def test_a_change_of_a_shelf_that_is_not_open_waits_in_the_shelfs_queue(api: Api) -> None:
    await api.call("shelf.create", shelf="closed")
    await api.shelves._close_one("closed")
    tasks, done = asyncio.all_tasks(), [Done() for _ in range(20)]
    for number, one in enumerate(done):
        api.service.submit(api.request("remember", content=str(number), shelf="closed"), one)
    assert len(asyncio.all_tasks() - tasks) == 1  # which opens the shelf
    for one in done:
        await one.one()

    notes = (await api.call("note.list", shelf="closed", order="created_at", desc=False))["notes"]
    assert [note["content"] for note in notes] == [str(number) for number in range(20)]
    assert api.shelf("closed").in_use == 0


async def test_who_waits_for_a_shelf_that_cannot_be_opened_gets_to_know_why(api: Api) -> None:
    done = [Done(), Done()]
    for one in done:
        api.service.submit(api.request("remember", content="x", shelf="nowhere", principal=ROOT), one)

    assert [type(await one.one()) for one in done] == [ShelfNotFound] * 2


async def test_nobody_overtakes_those_who_wait_for_a_shelf(api: Api) -> None:
    first, second = Done(), Done()
    async with api.shelves._locks.held("default"):
        api.service.submit(api.request("remember", content="first", key="k"), first)
        await asyncio.sleep(0)
        api.service.submit(api.request("remember", content="second", key="k"), second)
        await asyncio.sleep(0)
        assert (first.outcomes, second.outcomes) == ([], [])
    await first.one()
    result = await second.one()

    assert isinstance(result, dict)
    assert (result["note"]["content"], result["note"]["rev"]) == ("second", 2)


async def test_a_read_that_was_withdrawn_before_it_began_is_not_made(api: Api) -> None:
    call, done = api.request("recall", query="tea"), Done()
    api.service.submit(call, done)
    assert call.ticket.withdraw()

    assert isinstance(await done.one(), Cancelled)
    assert (api.shelf().in_use, api.shelf().retrievals) == (0, 0)


async def test_who_may_not_is_refused_later(api: Api) -> None:
    await api.call("shelf.create", shelf="mine")
    done = Done()
    api.service.submit(api.request("remember", content="x", shelf="mine", principal=BOB), done)

    assert done.outcomes == []
    assert api.shelf("mine").in_use == 0
    assert isinstance(await done.one(), Forbidden)


async def test_who_may_not_does_not_keep_a_shelf_open(api: Api) -> None:
    await api.call("shelf.create", shelf="mine")
    api.clock.advance(api.settings.idle_close + timedelta(seconds=1))
    api.service.submit(api.request("remember", content="x", shelf="mine", principal=BOB), Done())
    await api.shelves.close_idle()

    assert api.shelves.state("mine") == "closed"


async def test_a_shelf_that_closes_refuses(api: Api) -> None:
    shelf, done = api.shelf(), Done()
    await shelf.store.close()
    api.service.submit(api.request("remember", content="x"), done)

    assert isinstance(await done.one(), ShuttingDown)
    assert shelf.in_use == 0


async def test_an_outcome_that_nobody_waits_for_any_more_is_dropped() -> None:
    done: list[Any] = []
    waiting = asyncio.create_task(outcome_of(done.append))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    done[0](ShelfError("too late"))


async def test_an_exception_that_a_future_refuses_arrives_all_the_same() -> None:
    with pytest.raises(RuntimeError) as caught:
        await outcome_of(lambda on_done: on_done(StopIteration()))
    assert isinstance(caught.value.__cause__, StopIteration)


async def test_a_read_that_need_not_wait_takes_no_task_and_its_caller_is_notified_later(either: Api) -> None:
    await either.remember("water")
    await either.call("recall", query="water")  # the first one begins to fill a cache
    tasks, done = asyncio.all_tasks(), Done()
    either.service.submit(either.request("recall", query="water", count_hits=False), done)
    assert done.outcomes == []
    await asyncio.sleep(0)
    assert asyncio.all_tasks() <= tasks
    [outcome] = done.outcomes
    assert isinstance(outcome, EncodedResult)
    assert [hit["note"]["content"] for hit in outcome.decoded()["results"]] == ["water"]
    assert either.shelf().in_use == 0


async def test_a_read_that_is_withdrawn_after_its_turn_ends_where_it_first_waits(
    either: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    await either.remember("water")
    seen: list[str] = []

    async def slow() -> dict[str, Any]:
        seen.append("begun")
        await asyncio.get_running_loop().create_future()
        pytest.fail("went on")

    monkeypatch.setitem(USE_CASES, "recall", ReadMethod(lambda *_: slow()))
    call, done = either.request("recall", query="water"), Done()
    either.service.submit(call, done)
    asyncio.get_running_loop().call_soon(call.ticket.withdraw)  # between the turn of the read and that of its task
    assert isinstance(await done.one(), Cancelled)
    assert seen == ["begun"]
    assert either.shelf().in_use == 0


async def test_what_a_read_raises_at_once_or_later_reaches_its_caller(
    either: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    await either.remember("water")

    async def late() -> dict[str, Any]:
        await asyncio.sleep(0)
        raise NoteNotFound("gone")

    def now(*_: object) -> dict[str, Any]:
        raise NoteNotFound("gone")

    for get in (now, lambda *_: late()):
        monkeypatch.setitem(USE_CASES, "recall", ReadMethod(get))
        done = Done()
        either.service.submit(either.request("recall", query="water"), done)
        assert isinstance(await done.one(), NoteNotFound)
    assert either.shelf().in_use == 0
