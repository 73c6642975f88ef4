"""Changes that take long are durable in several groups, in the order in which they came."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

from contract.samples import create
from fakes import FakeClock
from shelfd.memory.ports.store import Applied, Change
from shelfd.storage import SqliteStores


def slow(made: Change[Any], clock: FakeClock, milliseconds: int) -> Change[Any]:
    """A change during which so much time passes."""

    def apply(writer: Any, now: int) -> Any:
        clock.advance(timedelta(milliseconds=milliseconds))
        return made.apply(writer, now)

    return made._replace(apply=apply)


async def groups_of(directory: Path, milliseconds: Sequence[int]) -> list[list[int]]:
    """Submit changes at once that take so long; return their sequence numbers by group."""
    clock, groups = FakeClock(), []
    store = await SqliteStores(directory, clock).create("work", owner="uid:1")

    def listen(group: Sequence[Applied[Any]]) -> None:
        groups.append([applied.last_seq for applied in group])

    store.follow(listen)
    try:
        changes = [slow(create(f"n{at}"), clock, took) for at, took in enumerate(milliseconds)]
        done = await asyncio.gather(*(store.commit(one) for one in changes))
        assert [applied.value.id for applied in done] == [f"n{at}" for at in range(len(milliseconds))]
        assert [note.id for note in store.view.notes.scan(before_row=None, limit=99)][::-1] == [
            applied.value.id for applied in done
        ]
    finally:
        await store.close()
    return groups


async def test_small_changes_are_one_group(tmp_path: Path) -> None:
    groups = await groups_of(tmp_path, [0] * 40)
    assert [seq for group in groups for seq in group] == list(range(1, 41))
    assert len(groups) <= 2  # whatever came before the writer woke, and the others


async def test_a_large_change_ends_its_group(tmp_path: Path) -> None:
    groups = await groups_of(tmp_path, [1, 1, 700, 1, 1, 700, 700, 1])
    assert [seq for group in groups for seq in group] == list(range(1, 9))
    ends = [group[-1] for group in groups]
    assert {3, 6, 7} <= {*ends}


async def test_a_failure_is_told_to_its_own_caller_alone(tmp_path: Path) -> None:
    clock = FakeClock()
    store = await SqliteStores(tmp_path, clock).create("work", owner="uid:1")

    def fails(writer: Any, now: int) -> Any:
        raise KeyError

    try:
        changes = [create("a"), slow(create("b"), clock, 700), create("c")._replace(apply=fails), create("d")]
        done = await asyncio.gather(*(store.commit(one) for one in changes), return_exceptions=True)
        assert [type(one) for one in done] == [Applied, Applied, KeyError, Applied]
    finally:
        await store.close()


async def order_of(directory: Path, count: int, milliseconds: int) -> list[tuple[str, int]]:
    """Submit so many changes at once; return what was done ahead, which takes so long each, and applied, in order."""
    clock, done = FakeClock(), list[tuple[str, int]]()
    store = await SqliteStores(directory, clock).create("work", owner="uid:1")

    def noted(at: int) -> Change[Any]:
        made = create(f"n{at}")

        def ahead() -> None:
            clock.advance(timedelta(milliseconds=milliseconds))
            done.append(("ahead", at))

        def apply(writer: Any, now: int) -> Any:
            done.append(("apply", at))
            return made.apply(writer, now)

        return made._replace(ahead=ahead, apply=apply)

    try:
        await asyncio.gather(*(store.commit(noted(at)) for at in range(count)))
    finally:
        await store.close()
    assert [at for what, at in done if what == "apply"] == list(range(count))
    return done


async def test_what_can_be_done_ahead_is_done_for_several_changes_before_the_first(tmp_path: Path) -> None:
    done = await order_of(tmp_path, 100, 0)
    early = [at for at in range(1, 100) if ("ahead", at) in done[: done.index(("apply", at - 1))]]
    assert len(early) > 90  # all but the first of some thirty, and those before the writer woke
    assert all(done.index(("ahead", at)) < done.index(("apply", at)) for what, at in done if what == "ahead")


async def test_what_is_done_ahead_is_bounded_in_time(tmp_path: Path) -> None:
    done = await order_of(tmp_path, 30, 4)
    ahead = [at for what, at in done if what == "ahead"]
    assert 0 < len(ahead) <= 3  # ten milliseconds of them


async def test_ahead_of_a_change_alone_nothing_is_done(tmp_path: Path) -> None:
    assert await order_of(tmp_path, 1, 0) == [("apply", 0)]
