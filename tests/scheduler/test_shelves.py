"""Which shelves are tended: those in use; the others cost nothing."""

from pathlib import Path
from typing import Any

import pytest

from scheduler.house import DAY, HOUR, MINUTE, House, StoresOf, running
from shelfd.memory import Shelf, Stores
from shelfd.memory.ports.log import Entry, Origin
from shelfd.memory.ports.store import Store
from shelfd.storage import SqliteStores


class CountingStores:
    """Stores that note which shelves are opened."""

    def __init__(self, stores: Stores) -> None:
        self._stores = stores
        self.opened: list[str] = []

    async def open(self, shelf: str) -> Store:
        self.opened.append(shelf)
        return await self._stores.open(shelf)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stores, name)


def counting(house: House) -> CountingStores:
    stores = CountingStores(house.stores)
    house.shelves._stores = stores
    return stores


async def changed(shelf: Shelf) -> None:
    await shelf.commit(Origin("uid:1000", "test"), lambda tx: tx.log(Entry("nugget.created", "work", ())))


async def test_a_shelf_that_an_earlier_daemon_left_is_looked_at_once(stores: StoresOf) -> None:
    """It may have been used just before a restart in the night, and nobody opens it before its slot."""
    async with running(stores=stores) as house:
        await house.shelves.create("quiet", owner="uid:1000")
        await house.down_for(MINUTE)
        opened = counting(house)
        await house.pass_time(3 * DAY)
        # Once by the heartbeat, to see that nothing was missed, and once for its slot.
        assert opened.opened == ["quiet", "quiet"]
        assert house.reflection.shelves.count("quiet") == 1
        assert house.reflection.shelves.count("default") > 1


async def test_a_shelf_that_was_used_and_closed_since_is_opened_for_its_slot_once(stores: StoresOf) -> None:
    async with running(stores=stores) as house:
        await house.shelves.create("team", owner="uid:1000")
        await changed(house.shelf("team"))
        await house.pass_time(HOUR - MINUTE)
        assert house.shelves.opened("team") is None
        opened = counting(house)
        await house.pass_time(MINUTE)
        assert opened.opened == ["team"]
        assert sorted(house.reflection.shelves) == ["default", "team"]
        assert house.shelves.opened("team") is None
        await house.pass_time(3 * DAY)
        assert opened.opened == ["team"]
        await house.shelves.get("team")
        await house.pass_time(DAY)
        assert house.reflection.shelves.count("team") == 2


async def test_an_open_shelf_is_tended_in_each_slot() -> None:
    async with running() as house:
        await house.shelves.create("team", owner="uid:1000")
        house.shelf("team").enter()
        await house.pass_time(3 * DAY)
        assert house.reflection.shelves.count("team") == 3
        house.shelf("team").leave()


async def test_a_shelf_opened_after_a_while_is_tended_by_the_heartbeat() -> None:
    async with running() as house:
        await house.shelves.create("team", owner="uid:1000")
        await house.pass_time(2 * HOUR)
        await house.pass_time(2 * DAY)
        (ran,) = [call for call in house.reflection.calls if call[0] == "team"]
        assert ran[2] == "cron"
        await house.shelves.get("team")
        await house.pass_time(HOUR)
        assert [call[2] for call in house.reflection.calls if call[0] == "team"] == ["cron", "heartbeat"]


async def test_a_used_shelf_whose_jobs_failed_is_opened_for_the_next_slot() -> None:
    async with running() as house:
        await house.shelves.create("team", owner="uid:1000")
        house.reflection.failures = [OSError()] * 6
        await house.pass_time(2 * HOUR)
        assert house.reflection.shelves.count("team") == 3
        await house.pass_time(DAY)
        assert house.reflection.shelves.count("team") == 4


async def test_a_dropped_shelf_is_forgotten() -> None:
    async with running() as house:
        await house.shelves.create("team", owner="uid:1000")
        await house.pass_time(20 * MINUTE)
        await house.shelves.drop("team")
        await house.pass_time(DAY)
        assert set(house.reflection.shelves) == {"default"}
        assert "team" not in house.scheduler._states


async def test_tending_is_no_use_of_a_shelf() -> None:
    async with running() as house:
        used = house.shelf().last_used
        await house.pass_time(2 * HOUR)
        assert len(house.reflection.calls) == 1
        assert house.shelf().last_used == used


async def test_a_shelf_at_work_is_not_closed() -> None:
    import asyncio

    async with running() as house:
        await house.shelves.create("team", owner="uid:1000")
        house.reflection.held = asyncio.Event()
        await house.pass_time(HOUR)
        await house.pass_time(5 * MINUTE)
        await house.shelves.close_idle()
        assert house.shelves.opened("team") is not None
        assert house.reflection.at_once == 2
        house.reflection.held.set()
        house.reflection.held = None
        await house.caught_up()
        assert house.runs("promotion")[0].status == "done"


@pytest.mark.parametrize("cron", ["0 9 * * *"])
async def test_one_shelf_s_trouble_is_no_other_s(cron: str) -> None:
    from shelfd.memory.errors import StorageCorrupt

    async with running() as house:
        await house.shelves.create("bad", owner="uid:1000")
        await house.pass_time(20 * MINUTE)
        assert house.shelves.opened("bad") is None
        stores = counting(house)

        async def refuse(shelf: str) -> Store:
            raise StorageCorrupt("damaged")

        stores.open = refuse  # type: ignore[method-assign]
        await house.pass_time(DAY)
        assert set(house.reflection.shelves) == {"default"}
        assert len(house.reflection.calls) == 1


async def test_looking_at_a_shelf_that_has_no_runs_writes_nothing_to_it(tmp_path: Path) -> None:
    async with running(stores=lambda clock: SqliteStores(tmp_path, clock)) as house:
        await house.shelves.create("empty", owner="uid:1000")
        for _ in range(5):  # the schedule looks at every open shelf at once
            await house.pass_time(MINUTE)
            assert house.shelves.state("empty") == "open"
            assert [entry.name for entry in (tmp_path / "empty").iterdir()] == ["shelf.db"]
