"""Projections that follow a shelf's notes: filled and rebuilt from the rows, lazy ones not before they are read."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from typing import Any, ClassVar, cast

import pytest
from structlog.testing import capture_logs

from contract.samples import make_note
from fakes import FakeClock
from shelfd.memory.errors import Unavailable
from shelfd.memory.notes.note import Note
from shelfd.memory.ports.projection import Projection, PurgedNote
from shelfd.memory.ports.view import View
from shelfd.memory.shelf.tracks import Tracks


class Copy(Projection):
    """Keeps notes as it was given them; fails as it is told to."""

    name: ClassVar[str] = "copy"
    is_lazy: ClassVar[bool] = True
    at_once: ClassVar[int] = 4

    def __init__(self) -> None:
        self.by_row: dict[int, Note] = {}
        self.told: list[str] = []
        self.poison = ""
        self.fails_to_forget = self.fails_to_clear = 0

    def apply(self, notes: Sequence[Note]) -> None:
        for note in notes:
            if self.poison and self.poison in note.content:
                raise ValueError(note.content)
            self.told.append(note.id)
            self.by_row[note.row] = note

    def purge(self, purged: Sequence[PurgedNote]) -> None:
        if self.fails_to_forget:
            self.fails_to_forget -= 1
            raise KeyError
        for row, note_id in purged:
            self.told.append(f"-{note_id}")
            self.by_row.pop(row, None)

    def clear(self) -> None:
        if self.fails_to_clear:
            self.fails_to_clear -= 1
            raise KeyError
        self.by_row.clear()


class Eager(Copy):
    """The same, not lazy."""

    is_lazy: ClassVar[bool] = False


class Rows:
    """A view that has notes, and projections of them."""

    def __init__(self, count: int, *kinds: type[Copy]) -> None:
        self.by_row = {n: make_note(f"n{n}", row=n) for n in range(1, count + 1)}
        self.failing = 0
        self.notes = self
        self.clock = FakeClock(stands_still=True)
        self.tasks: list[asyncio.Task[None]] = []
        made = [kind() for kind in kinds or (Copy,)]
        self.copy = made[0]
        self.tracks = Tracks(made, cast("View", self), self.clock, "s", spawn=self.spawn)

    def scan(self, *, before_row: int | None, limit: int) -> list[Note]:
        if self.failing:
            self.failing -= 1
            raise OSError("the disk is gone")
        rows = [row for row in reversed(self.by_row) if before_row is None or row < before_row]
        return [self.by_row[row] for row in rows[:limit]]

    def by_ids(self, ids: Sequence[str]) -> dict[str, Note]:
        rows = [int(note_id[1:]) for note_id in ids]
        return {self.by_row[row].id: self.by_row[row] for row in rows if row in self.by_row}

    def spawn(self, work: Any, _name: str) -> None:
        self.tasks.append(asyncio.get_running_loop().create_task(work))

    def catch_up(self) -> bool:
        return self.tracks._take_slice(self.tracks._all[Copy])

    def write(self, row: int, **changes: Any) -> None:
        self.by_row[row] = self.by_row[row]._replace(**changes, rev=self.by_row[row].rev + 1)
        self.tracks.note_changes([self.by_row[row]], ())

    def purge(self, row: int) -> None:
        note = self.by_row.pop(row)
        for track in (*self.tracks.lazy, *self.tracks.eager):
            track.purge([PurgedNote(row, note.id)])

    async def turns(self, count: int = 20) -> None:
        for _ in range(count):
            await asyncio.sleep(0)

    async def later(self, seconds: float) -> None:
        await self.turns()
        self.clock.advance(timedelta(seconds=seconds))
        await self.turns()


def test_changes_before_the_first_question_are_not_looked_at() -> None:
    rows = Rows(3)
    for _ in range(5_000):
        rows.write(1, content="new")
    assert not rows.copy.told
    assert not rows.tasks

    while not rows.catch_up():
        pass
    assert rows.copy.told == ["n3", "n2", "n1"]


def test_a_slice_is_a_slice() -> None:
    rows = Rows(10)

    assert [rows.catch_up() for _ in range(4)] == [False, False, True, True]
    assert rows.copy.told == [f"n{n}" for n in range(10, 0, -1)]


def test_what_changes_meanwhile_is_known_in_the_end_as_it_then_is() -> None:
    rows = Rows(10)
    rows.catch_up()
    rows.write(10, content="changed behind the scan")
    rows.write(1, content="changed before it")
    rows.write(10, content="changed twice")
    rows.purge(5)
    rows.purge(9)
    while not rows.catch_up():
        pass

    assert rows.copy.by_row == rows.by_row


def test_a_slice_that_cannot_be_read_is_read_again() -> None:
    rows = Rows(10)
    assert not rows.catch_up()
    rows.failing = 1
    with pytest.raises(OSError, match="disk"):
        rows.catch_up()
    while not rows.catch_up():
        pass

    assert rows.copy.told == [f"n{n}" for n in range(10, 0, -1)]


def test_a_changed_note_that_is_gone_is_forgotten() -> None:
    rows = Rows(2)
    while not rows.catch_up():
        pass
    rows.write(1, content="new")
    del rows.by_row[1]

    assert rows.catch_up()
    assert rows.copy.told == ["n2", "n1", "-n1"]
    assert rows.copy.by_row == rows.by_row


async def test_a_note_that_changes_often_waits_once() -> None:
    rows = Rows(2)
    await rows.tracks.complete(Copy)
    for n in range(5_000):
        rows.write(1, content=f"{n}")
    assert rows.tasks == []

    await rows.tracks.complete(Copy)
    assert rows.copy.told == ["n2", "n1", "n1"]


async def test_too_many_that_wait_are_taken_in_behind() -> None:
    rows = Rows(1_500)
    await rows.tracks.complete(Copy)
    for row in rows.by_row:
        rows.write(row, content="new")
    assert len(rows.tasks) == 1
    await rows.tasks[0]

    assert rows.copy.by_row == rows.by_row
    assert rows.tracks.catch_up(Copy)


async def test_others_have_their_turn_in_between() -> None:
    rows = Rows(40)
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    other = asyncio.get_running_loop().create_task(count())
    await rows.tracks.complete(Copy)
    other.cancel()

    assert turns >= 9


async def test_what_is_behind_waits_longer_each_time_its_rows_cannot_be_read() -> None:
    rows = Rows(10)
    rows.failing = 3
    with capture_logs() as logs:
        with pytest.raises(OSError, match="disk"):
            rows.tracks.catch_up(Copy)
        rows.failing = 2
        rows.tracks._go_on(rows.tracks._all[Copy])
        for wait in (0.1, 0.2):
            await rows.turns()
            assert rows.tracks.complaint() == "the shelf cannot be read (OSError), which is tried again"
            await rows.later(wait)

    assert rows.copy.by_row == rows.by_row
    assert rows.tracks.complaint() is None
    assert [entry["retry_in_s"] for entry in logs if entry["event"] == "projection.read_failed"] == [0.1, 0.2]


async def test_one_that_fails_is_made_anew_while_the_others_go_on() -> None:
    rows = Rows(10, Copy, Eager)
    rows.spawn(rows.tracks.fill(), "fill")
    await rows.tracks.complete(Copy)
    await rows.turns()
    rows.copy.fails_to_forget = 1
    with capture_logs() as logs:
        rows.purge(3)

    assert rows.copy.by_row == {}
    assert rows.tracks[Eager].by_row == rows.by_row
    assert [entry["event"] for entry in logs] == ["projection.failed"]
    assert rows.tracks.complaint() == "copy failed (KeyError), which is being rebuilt"
    with pytest.raises(Unavailable):
        await rows.tracks.complete(Copy)
    assert not rows.tracks.catch_up(Copy)
    rows.write(4, content="changed meanwhile")
    await rows.later(0.1)
    assert rows.copy.by_row == rows.by_row
    assert rows.tracks.complaint() is None


async def test_one_that_fails_again_waits_longer_and_one_that_cannot_be_cleared_longest() -> None:
    rows = Rows(10, Eager)
    rows.spawn(rows.tracks.fill(), "fill")
    await rows.turns()
    for row, wait in ((1, 0.1), (2, 0.2), (3, 0.4)):
        rows.copy.fails_to_forget = 1
        rows.purge(row)
        assert rows.tracks.state() == {"state": "warming", "share": 0.0}
        await rows.later(0.75 * wait)
        assert rows.copy.by_row == {}
        await rows.later(0.3 * wait)
        assert rows.copy.by_row == rows.by_row
    rows.copy.fails_to_forget, rows.copy.fails_to_clear = 1, 2
    rows.purge(4)
    await rows.later(0.8)
    assert rows.tracks.state()["state"] == "warming"
    await rows.later(30)
    assert rows.copy.by_row == rows.by_row
    assert rows.tracks.state() == {"state": "ready", "share": 1.0}


async def test_a_note_that_breaks_one_is_skipped_when_it_is_made_anew() -> None:
    rows = Rows(10, Eager)
    rows.write(7, content="poison")
    rows.copy.poison, rows.copy.fails_to_forget = "poison", 1
    rows.spawn(rows.tracks.fill(), "fill")
    await rows.later(0.1)

    assert rows.copy.by_row == {row: note for row, note in rows.by_row.items() if row != 7}
    assert rows.tracks.state() == {"state": "ready", "share": 1.0, "skipped": 1}
    rows.by_row[7] = rows.by_row[7]._replace(content="none", rev=9)
    for track in rows.tracks.eager:
        track.apply([rows.by_row[7]])
    assert rows.copy.by_row == rows.by_row
    assert rows.tracks.state() == {"state": "ready", "share": 1.0}
