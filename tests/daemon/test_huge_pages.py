"""Memory in huge pages: what is asked for, what is left alone, and that the daemon does without."""

import asyncio
import ctypes
import mmap
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from shelfd.daemon import huge_pages
from shelfd.daemon.host import SystemClock

HUGE = 1 << 21


@pytest.fixture
def asked_for() -> list[int]:
    return []


@pytest.fixture
def memory() -> mmap.mmap:
    """Some of one's own, with four huge pages in it at least, not yet written."""
    return mmap.mmap(-1, 5 * HUGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)


def begin_of(memory: mmap.mmap) -> int:
    return ctypes.addressof(ctypes.c_char.from_buffer(memory))


def noting(asked_for: list[int]) -> Callable[[int], bool]:
    """What asks for huge pages: it notes where, and gives all."""

    def collapse(at: int) -> bool:
        asked_for.append(at)
        return True

    return collapse


def inside(asked_for: list[int], memory: mmap.mmap) -> list[int]:
    begin = begin_of(memory)
    return [one for one in asked_for if begin <= one < begin + len(memory)]


def test_what_is_in_memory_is_asked_for_in_whole_huge_pages(memory: mmap.mmap, asked_for: list[int]) -> None:
    memory.write(b"x" * len(memory))
    huge_pages.gather(noting(asked_for))
    found = inside(asked_for, memory)
    assert len(found) in (4, 5)
    assert all(at % HUGE == 0 for at in found)


def test_what_is_mostly_not_in_memory_is_left_alone(memory: mmap.mmap, asked_for: list[int]) -> None:
    memory.madvise(mmap.MADV_NOHUGEPAGE)
    for at in range(0, len(memory), 2 * mmap.PAGESIZE):
        memory[at] = 1
    huge_pages.gather(noting(asked_for))
    assert inside(asked_for, memory) == []


def test_how_many_there_are_is_what_the_kernel_gave(memory: mmap.mmap) -> None:
    memory.write(b"x" * len(memory))
    assert huge_pages.gather(lambda _: False) == 0
    assert huge_pages.gather(lambda _: True) >= 4


def test_nothing_is_lost_by_it(memory: mmap.mmap) -> None:
    written = bytes(range(256)) * (len(memory) // 256)
    memory.write(written)
    huge_pages.gather()  # whatever this kernel does
    assert memory[:] == written


@pytest.mark.parametrize("said", ["always madvise [never]", None])
def test_a_kernel_that_has_none_is_not_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str | None) -> None:
    switch = tmp_path / "enabled"
    if said is not None:
        switch.write_text(said)
    monkeypatch.setattr(huge_pages, "_SWITCH", switch)
    assert huge_pages.gather() == 0
    asyncio.run(asyncio.wait_for(huge_pages.follow(SystemClock()), 5))  # which ends at once


def test_where_nobody_may_see_what_is_in_memory_the_daemon_does_without(monkeypatch: pytest.MonkeyPatch) -> None:
    def hidden(_: object) -> int:
        raise PermissionError

    monkeypatch.setattr(huge_pages, "_collapse", lambda: lambda _: True)
    monkeypatch.setattr(huge_pages, "gather", hidden)
    asyncio.run(asyncio.wait_for(huge_pages.follow(Steps(3)), 5))  # type: ignore[arg-type]


class Steps:
    """A clock whose time passes as soon as somebody waits, until it stops."""

    def __init__(self, most: int) -> None:
        self.slept: list[timedelta] = []
        self._most = most

    async def sleep(self, delay: timedelta) -> None:
        if len(self.slept) == self._most:
            raise asyncio.CancelledError
        self.slept.append(delay)


def looks(monkeypatch: pytest.MonkeyPatch, mebibytes: list[int], most: int) -> tuple[list[int], list[int]]:
    """After which of so many pauses memory of these sizes is gathered, and the seconds of each pause."""
    sizes, gathered, clock = iter(mebibytes), list[int](), Steps(most)
    monkeypatch.setattr(huge_pages, "_collapse", lambda: lambda _: True)
    monkeypatch.setattr(huge_pages, "_resident", lambda: next(sizes) << 20)
    monkeypatch.setattr(huge_pages, "gather", lambda _: gathered.append(len(clock.slept)))
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(huge_pages.follow(clock))  # type: ignore[arg-type]
    return gathered, [int(pause.total_seconds()) for pause in clock.slept]


def test_it_is_done_when_memory_has_grown_and_seldom_later(monkeypatch: pytest.MonkeyPatch) -> None:
    gathered, pauses = looks(monkeypatch, [100, 101, 102, *[103] * 20], 14)
    assert gathered == [1, 3]
    assert pauses[:4] == [1, 1, 2, 4]
    assert pauses[-1] == 600


def test_it_is_done_soon_again_once_memory_has_grown_by_much(monkeypatch: pytest.MonkeyPatch) -> None:
    gathered, pauses = looks(monkeypatch, [100] * 6 + [400] + [401] * 6, 11)
    assert gathered == [1, 7]
    assert pauses == [1, 1, 2, 4, 8, 16, 32, 1, 2, 4, 8]
