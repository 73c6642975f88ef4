"""``scheduler.jobs``, ``scheduler.run`` and ``scheduler.history`` as callers see them."""

import asyncio
import json
from typing import Any

import pytest

from scheduler.house import HOUR, MINUTE, House, StoresOf, running
from shelfd.memory import Call, Ticket
from shelfd.memory.errors import Cancelled, IdempotencyMismatch, InvalidParams, ShelfNotFound
from shelfd.protocol import METHODS
from shelfd.scheduler import Answers


class Caller:
    """Calls the way the gateway does; every answer must be JSON of the method's shape."""

    def __init__(self, house: House) -> None:
        self.house = house
        self.answers = Answers([house.scheduler], house.shelves)

    async def __call__(self, name: str, *, cancelled: bool = False, **params: Any) -> dict[str, Any]:
        method = METHODS[f"scheduler.{name}"]
        ticket = Ticket(self.house.clock, cancelled=cancelled)
        call = Call(method, method.params.model_validate(params), "uid:1000", "test-1", ticket)
        answer = await getattr(self.answers, name)(call)
        read: dict[str, Any] = json.loads(json.dumps(answer, allow_nan=False))
        method.result.model_validate(read)
        return read


async def test_jobs_and_when_they_are_next_due(stores: StoresOf) -> None:
    async with running(stores=stores) as house:
        call = Caller(house)
        shared = {"shelf": "default", "cron": "0 9 * * *", "tz": "Europe/Berlin", "next_at": "2026-01-14T08:00:00Z"}
        assert (await call("jobs"))["jobs"] == [
            {"job": "reflection", **shared, "last": None},
            {"job": "promotion", **shared, "last": None},
        ]
        house.reflection.result = {"inspected": 10}
        await house.pass_time(HOUR)
        reflection, promotion = (await call("jobs"))["jobs"]
        assert reflection["next_at"] == "2026-01-15T08:00:00Z"
        assert reflection["last"] == {
            "job": "reflection",
            "shelf": "default",
            "slot": "2026-01-14T09:00 Europe/Berlin",
            "reason": "cron",
            "planned_at": "2026-01-14T08:00:00Z",
            "started_at": "2026-01-14T08:00:00Z",
            "finished_at": "2026-01-14T08:00:00Z",
            "status": "done",
            "run_id": house.reflection.calls[0][1],
            "attempts": 1,
            "result": {"inspected": 10},
        }
        assert promotion["last"]["job"] == "promotion"


async def test_a_requested_run_is_reported_and_begun(stores: StoresOf) -> None:
    async with running(stores=stores) as house:
        call = Caller(house)
        house.promotion.held = asyncio.Event()
        asked = await call("run", job="promotion")
        assert set(asked) == {"run_id"}
        await house.caught_up()
        (run,) = (await call("history"))["runs"]
        assert (run["run_id"], run["reason"], run["status"]) == (asked["run_id"], "manual", "running")
        assert (run["slot"], run["finished_at"]) == (f"manual:{asked['run_id']}", None)
        house.promotion.held.set()
        house.promotion.held = None
        await house.caught_up()
        (run,) = (await call("history"))["runs"]
        assert run["status"] == "done"


async def test_the_same_request_again_gets_the_first_run(stores: StoresOf) -> None:
    async with running(stores=stores) as house:
        call = Caller(house)
        first = await call("run", job="reflection", idempotency_key="once")
        again = await call("run", job="reflection", idempotency_key="once")
        assert again == {"run_id": first["run_id"], "replayed": True}
        await house.caught_up()
        assert len(house.reflection.calls) == 1
        with pytest.raises(IdempotencyMismatch):
            await call("run", job="promotion", idempotency_key="once")


async def test_a_request_taken_back_in_time_does_nothing() -> None:
    async with running() as house:
        with pytest.raises(Cancelled):
            await Caller(house)("run", job="reflection", cancelled=True)
        await house.caught_up()
        assert house.runs() == []
        assert house.reflection.calls == []


async def test_jobs_that_are_not_there() -> None:
    async with running() as house:
        call = Caller(house)
        with pytest.raises(InvalidParams, match="expected one of reflection, promotion") as refused:
            await call("run", job="cooking")
        assert refused.value.data["field"] == "job"
        with pytest.raises(InvalidParams, match="expected one of reflection, promotion"):
            await call("run", job="backup")  # which is another schedule's
        assert (await call("history", job="cooking"))["runs"] == []


async def test_shelves_that_are_not_there() -> None:
    async with running() as house:
        call = Caller(house)
        for asked in (
            call("jobs", shelf="nowhere"),
            call("history", shelf="nowhere"),
            call("run", shelf="nowhere", job="reflection"),
        ):
            with pytest.raises(ShelfNotFound):
                await asked


async def test_a_closed_shelf_is_opened_for_it() -> None:
    async with running() as house:
        await house.shelves.create("team", owner="uid:1000")
        await house.pass_time(20 * MINUTE)
        assert house.shelves.opened("team") is None
        await Caller(house)("run", shelf="team", job="reflection")
        await house.caught_up()
        assert house.reflection.calls[0][0] == "team"
        assert house.runs(shelf="team")[0].status == "done"


async def test_history_comes_in_pages_the_last_first(stores: StoresOf) -> None:
    async with running(stores=stores) as house:
        call = Caller(house)
        asked = []
        for number in range(5):
            asked.append((await call("run", job="reflection" if number % 2 else "promotion"))["run_id"])
            await house.caught_up()
        seen: list[str] = []
        cursor: dict[str, Any] = {}
        while True:
            page = await call("history", limit=2, **cursor)
            seen += [run["run_id"] for run in page["runs"]]
            if "next_cursor" not in page:
                break
            cursor = {"cursor": page["next_cursor"]}
        assert seen == asked[::-1]
        assert [run["run_id"] for run in (await call("history", job="reflection"))["runs"]] == [asked[3], asked[1]]
        with pytest.raises(InvalidParams, match="cursor"):
            await call("history", cursor="nonsense")


async def test_what_went_wrong_is_in_the_history_by_its_kind() -> None:
    async with running() as house:
        house.reflection.failures = [OSError("a memory")]
        call = Caller(house)
        await call("run", job="reflection")
        await house.caught_up()
        (run,) = (await call("history"))["runs"]
        assert (run["status"], run["error"]) == ("failed", "OSError")
