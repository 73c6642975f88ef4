"""What follows a shelf's notes: nothing before the first question, all of them after it."""

import asyncio
from collections.abc import Iterator, Sequence
from types import SimpleNamespace
from typing import Any, cast

import pytest

from contract.samples import make_note
from shelfd.memory.notes.note import Note
from shelfd.memory.ports.view import View
from shelfd.memory.shelf.following import Cost, Follower


class Rows:
    """A view that has notes, and who follows it."""

    def __init__(self, count: int, *, at_once: int = 4, cost: Cost = lambda _note: 1) -> None:
        self.by_id = {f"n{n}": make_note(f"n{n}") for n in range(count)}
        self.seen: dict[str, Note | None] = {}
        self.told: list[str] = []
        self.tasks: list[asyncio.Task[None]] = []
        self.at_once = at_once
        self.fails_at = -1
        self.follower = Follower(
            cast("View", SimpleNamespace(notes=self)),
            self.scan,
            self.take,
            at_once=at_once,
            spawn=self.spawn,
            name="test",
            cost=cost,
        )

    def by_ids(self, ids: Sequence[str]) -> dict[str, Note]:
        return {note_id: self.by_id[note_id] for note_id in ids if note_id in self.by_id}

    def scan(self) -> Iterator[Sequence[Note]]:
        at = 0
        while at < len(self.by_id):
            if at == self.fails_at:
                self.fails_at = -1
                raise OSError("the disk is gone")
            yield list(self.by_id.values())[at : at + self.at_once]
            at += self.at_once

    def take(self, note_id: str, note: Note | None) -> None:
        self.told.append(note_id)
        self.seen[note_id] = note

    def spawn(self, work: Any, _name: str) -> None:
        self.tasks.append(asyncio.get_running_loop().create_task(work))

    def write(self, note_id: str, **changes: Any) -> None:
        self.by_id[note_id] = self.by_id[note_id]._replace(**changes)
        self.follower.changed(note_id)

    def erase(self, note_id: str) -> None:
        del self.by_id[note_id]
        self.follower.changed(note_id)


def test_changes_before_the_first_question_are_not_looked_at() -> None:
    rows = Rows(3)
    for _ in range(5_000):
        rows.write("n1", content="new")
    assert not rows.told
    assert not rows.tasks

    assert rows.follower.catch_up()
    assert rows.told == ["n0", "n1", "n2"]


def test_a_slice_is_a_slice() -> None:
    rows = Rows(10)

    assert [rows.follower.catch_up() for _ in range(4)] == [False, False, True, True]
    assert list(rows.seen) == [f"n{n}" for n in range(10)]


def test_what_changes_meanwhile_is_known_in_the_end_as_it_then_is() -> None:
    rows = Rows(10)
    rows.follower.catch_up()
    rows.write("n0", content="changed behind the scan")
    rows.write("n9", content="changed before it")
    rows.write("n0", content="changed twice")
    rows.erase("n5")
    while not rows.follower.catch_up():
        pass

    assert {note_id: note for note_id, note in rows.seen.items() if note is not None} == rows.by_id


def test_a_slice_that_cannot_be_read_is_read_again() -> None:
    rows = Rows(10)
    rows.fails_at = 4
    assert not rows.follower.catch_up()
    with pytest.raises(OSError, match="disk"):
        rows.follower.catch_up()
    while not rows.follower.catch_up():
        pass

    assert rows.seen == rows.by_id


def test_a_note_that_is_gone_is_told_as_none() -> None:
    rows = Rows(2)
    rows.follower.catch_up()
    rows.erase("n1")

    assert rows.follower.catch_up()
    assert rows.seen["n1"] is None
    assert rows.told == ["n0", "n1", "n1"]


def test_what_costs_more_is_taken_in_in_smaller_slices() -> None:
    rows = Rows(8, cost=lambda note: len(note.content))
    for note_id in rows.by_id:
        rows.write(note_id, content="long")
    while not rows.follower.catch_up():
        pass
    for note_id in rows.by_id:
        rows.write(note_id, content="as long")
    rows.told.clear()

    assert not rows.follower.catch_up()
    assert rows.told == ["n0"]
    rows.write("n0", content="short")
    rows.erase("n1")
    while not rows.follower.catch_up():
        pass
    assert rows.told == ["n0", *(f"n{n}" for n in range(1, 8)), "n0"]
    assert {note_id: note for note_id, note in rows.seen.items() if note is not None} == rows.by_id


async def test_a_note_that_changes_often_waits_once() -> None:
    rows = Rows(2)
    await rows.follower.complete()
    for n in range(5_000):
        rows.write("n1", content=f"{n}")
    assert rows.tasks == []

    await rows.follower.complete()
    assert rows.told == ["n0", "n1", "n1"]
    assert rows.seen["n1"] == rows.by_id["n1"]


async def test_too_many_that_wait_are_taken_in_behind() -> None:
    rows = Rows(1_500)
    await rows.follower.complete()
    for note_id in list(rows.by_id):
        rows.write(note_id, content="new")
    assert len(rows.tasks) == 1
    assert rows.follower.is_at_work
    await rows.tasks[0]

    assert rows.seen == rows.by_id
    assert not rows.follower.is_at_work


async def test_others_have_their_turn_in_between() -> None:
    rows = Rows(40)
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    other = asyncio.get_running_loop().create_task(count())
    await rows.follower.complete()
    other.cancel()

    assert turns >= 9
