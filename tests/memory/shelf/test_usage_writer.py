"""How use is counted, and written while it is being written."""

import asyncio
from collections import defaultdict
from random import Random

import pytest

from fakes import Api
from shelfd.memory.shelf import usage


async def test_a_write_waits_for_the_one_before(durable: Api) -> None:
    shelf = durable.shelf()
    notes = [shelf.view.notes.get((await durable.remember(f"note {number}"))["id"]) for number in range(2)]
    stored = [note for note in notes if note is not None]

    shelf.record_use(stored[:1], session_id="a")
    first = asyncio.ensure_future(shelf.write_usage())
    await asyncio.sleep(0)
    shelf.record_use(stored[1:], session_id="a")
    await shelf.write_usage()
    await first

    assert [usage.hits for usage in shelf.view.usage.by_rows([note.row for note in stored]).values()] == [1, 1]


@pytest.mark.parametrize("kept", [3, 1000])
async def test_each_session_is_one_hit_however_often_it_comes_again(
    durable: Api, kept: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(usage, "_KEPT_SESSIONS", kept)
    shelf = durable.shelf()
    notes = [note for number in range(4) if (note := shelf.view.notes.get((await durable.remember(f"{number}"))["id"]))]
    chance, sessions = Random(kept), defaultdict[int, set[str]](set)

    for _ in range(200):
        used, session = chance.sample(notes, 2), chance.choice("abcdefgh")
        shelf.record_use(used, session_id=session)
        for note in used:
            sessions[note.row].add(session)
        if chance.random() < 0.2:
            await shelf.write_usage()
        if chance.random() < 0.1:
            await durable.remember("another")  # a change of any kind
        assert {row: one.hits for row, one in shelf.usage.of(notes).items()} == {
            row: len(of_note) for row, of_note in sessions.items()
        }


async def test_what_was_written_is_not_read_again(durable: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    shelf = durable.shelf()
    notes = [note for number in range(2) if (note := shelf.view.notes.get((await durable.remember(f"{number}"))["id"]))]
    shelf.record_use(notes, session_id="a")
    shelf.record_use(notes, session_id="b")
    await shelf.write_usage()

    for read in ("by_rows", "was_hit"):
        monkeypatch.delattr(type(shelf.view.usage), read)
    shelf.record_use(notes, session_id="a")
    shelf.record_use(notes, session_id="c")

    assert [one.hits for one in shelf.usage.of(notes).values()] == [3, 3]


async def test_a_change_of_another_note_leaves_known_what_is_stored(
    durable: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf = durable.shelf()
    old = shelf.view.notes.get((await durable.remember("old"))["id"])
    assert old is not None
    shelf.record_use([old], session_id="a")
    await shelf.write_usage()

    monkeypatch.delattr(type(shelf.view.usage), "by_rows")
    new = shelf.view.notes.get((await durable.remember("new"))["id"])
    assert new is not None

    assert {row: one.hits for row, one in shelf.usage.of([old, new]).items()} == {old.row: 1}
