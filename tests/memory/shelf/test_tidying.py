"""What makes reads faster and nothing else is done when a shelf is quiet."""

import asyncio
from datetime import timedelta

import pytest

from fakes import Api, memory
from shelfd.memory.recall import ShelfIndex

SECOND = timedelta(seconds=1)


@pytest.fixture(autouse=True)
def small_segments(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a shelf of few notes consist of many segments, none of which is merged by who writes."""
    monkeypatch.setattr("shelfd.memory.recall.postings._TIMES", 0)
    monkeypatch.setattr("shelfd.memory.recall.inverted.STEP", 50)


async def remember(api: Api, times: int = 12) -> None:
    for time in range(times):
        notes = [{"content": f"crane {time} lifts barrel {n}", "session_id": f"s{time}"} for n in range(20)]
        await api.call("remember_many", notes=notes)
        await api.shelf().reach(None)
        api.shelf().projection(ShelfIndex).index.flush()


def segments(api: Api) -> int:
    return len(api.shelf().projection(ShelfIndex).index._contents.postings.segments)


async def passes(api: Api, time: timedelta, turns: int = 10) -> None:
    api.clock.advance(time)
    for _ in range(turns):
        await asyncio.sleep(0)


async def test_segments_are_merged_when_nothing_has_changed_for_a_while_and_answers_stay() -> None:
    async with memory() as api:
        await remember(api)
        before = segments(api)
        found = await api.found("which barrel does crane 7 lift", k=20)
        assert before > 6
        await passes(api, SECOND / 2)
        assert segments(api) == before
        for _ in range(500):
            await passes(api, SECOND)
        assert segments(api) < 3
        assert await api.found("which barrel does crane 7 lift", k=20) == found


async def test_a_segment_four_times_as_large_as_those_after_it_is_merged_with_them_unless_it_is_huge(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with memory() as api:
        await remember(api, times=5)
        for _ in range(300):
            await passes(api, SECOND)
        assert segments(api) == 1
        monkeypatch.setattr("shelfd.memory.recall.postings._QUIETLY", 125)
        await remember(api, times=1)
        await remember(api, times=1)
        for _ in range(300):
            await passes(api, SECOND)
        assert segments(api) == 2
        monkeypatch.setattr("shelfd.memory.recall.postings._QUIETLY", 141)
        await api.remember("the crane stands still")
        await api.shelf().reach(None)
        api.shelf().projection(ShelfIndex).index.flush()
        for _ in range(300):
            await passes(api, SECOND)
        assert segments(api) == 1


async def test_one_step_is_taken_at_a_time_and_none_while_notes_are_written() -> None:
    async with memory() as api:
        await remember(api)
        index = api.shelf().projection(ShelfIndex).index
        steps = 0
        take = index.merge_some

        def counted() -> bool:
            nonlocal steps
            steps += 1
            return take()

        index.merge_some = counted  # type: ignore[method-assign]
        for n in range(5):
            await api.remember(f"crane {n} stands still")
            await passes(api, SECOND / 2)
        assert steps == 0
        await passes(api, SECOND)
        assert steps == 1
        await passes(api, SECOND)
        assert steps == 2


async def test_no_step_is_taken_while_another_thread_ranks() -> None:
    async with memory() as api:
        await remember(api)
        index = api.shelf().projection(ShelfIndex).index
        before = segments(api)
        with index._changing:
            assert all(index.merge_some() for _ in range(500))
        assert segments(api) == before
