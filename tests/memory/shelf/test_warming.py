"""The recall index of an opened shelf: filled whatever a read or one note does, and honest about what is missing."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest
from structlog.testing import capture_logs

from fakes import Api, memory
from shelfd.memory.errors import StoreBusy
from shelfd.memory.notes.note import Note
from shelfd.memory.recall import Document, ShelfIndex
from shelfd.memory.recall.shelf_index import document_of
from shelfd.storage.inmemory.notes import InMemoryNotes


class Reads:
    """The reads of a warm-up; the next ``failing`` of them fail."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.failing = 0
        self.count = 0
        scan_notes = InMemoryNotes.scan

        def scan(notes: InMemoryNotes, *, before_row: int | None, limit: int) -> list[Note]:
            self.count += 1
            if self.failing:
                self.failing -= 1
                raise StoreBusy("the disk reported an error")
            return scan_notes(notes, before_row=before_row, limit=limit)

        monkeypatch.setattr(InMemoryNotes, "scan", scan)


class Poison:
    """Notes that say "poison" cannot be indexed, as long as this is on."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.is_on = True

        def made(note: Note) -> Document:
            if self.is_on and "poison" in note.content:
                raise ValueError(note.content)
            return document_of(note)

        monkeypatch.setattr("shelfd.memory.recall.shelf_index.document_of", made)


@pytest.fixture
async def api() -> AsyncIterator[Api]:
    async with memory() as opened:
        yield opened


def health(api: Api) -> dict[str, Any]:
    return next(shelf for shelf in api.shelves.status() if shelf["shelf"] == "default")


async def until_asleep(reads: Reads) -> None:
    """Wait until the warm-up waits before its next read."""
    before = -1
    while reads.count != before:
        before = reads.count
        for _ in range(9):
            await asyncio.sleep(0)


async def test_a_read_that_fails_is_tried_again(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(300):
        await api.remember(f"tea {number}")
    reads = Reads(monkeypatch)
    reads.failing = 3
    with capture_logs() as logs:
        await api.reopen()
        await until_asleep(reads)
        assert health(api)["index_complaint"] == "the shelf cannot be read (StoreBusy), which is tried again"
        assert (await api.call("recall", query="tea"))["index"]["state"] == "warming"
        assert health(api)["index_share"] == 0.0
        assert "index_remaining_s" not in health(api)
        for wait in (0.1, 0.2, 0.4):
            api.clock.advance(timedelta(seconds=wait))
            await until_asleep(reads)
        await api.warmed()

    assert len(await api.found("tea", k=200)) == 200
    assert len(api.shelf().projection(ShelfIndex).index) == 300
    assert "index_complaint" not in health(api)
    assert [log["retry_in_s"] for log in logs if log["event"] == "projection.read_failed"] == [0.1, 0.2, 0.4]


async def test_a_note_that_cannot_be_indexed_is_skipped_and_named(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(300):
        await api.remember(f"tea {number}")
    bad = await api.remember("tea with poison")
    await api.remember("tea at last")
    poison = Poison(monkeypatch)
    with capture_logs() as logs:
        await api.reopen()
        await api.warmed()

    assert len(api.shelf().projection(ShelfIndex).index) == 301
    assert health(api)["index_complaint"] == "1 notes cannot be indexed: the log names them (projection.note_skipped)"
    assert (await api.call("recall", query="tea"))["index"] == {
        "state": "ready",
        "share": 1.0,
        "seq": 303,
        "skipped": 1,
    }
    [skipped] = [log for log in logs if log["event"] == "projection.note_skipped"]
    assert skipped["id"] == bad["id"]
    assert "poison" not in str(logs)

    poison.is_on = False
    await api.call("note.edit", id=bad["id"], content="no poison any more")
    assert await api.found("poison") == ["no poison any more"]
    assert "index_complaint" not in health(api)


async def test_a_change_that_cannot_be_indexed_holds_up_no_other(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    bad = await api.remember("harbour")
    assert await api.found("harbour") == ["harbour"]
    Poison(monkeypatch)
    await api.call("note.edit", id=bad["id"], content="poison")
    await api.remember("tea")

    assert await api.found("tea") == ["tea"]
    assert await api.found("harbour") == []
    assert health(api)["index_complaint"].startswith("1 notes cannot be indexed")
    await api.call("forget", id=bad["id"], purge=True)
    assert "index_complaint" not in health(api)


async def test_a_follower_that_fails_keeps_neither_recall_nor_the_others_from_going_on(api: Api) -> None:
    heard: list[int] = []

    def fail(_seq: int) -> None:
        raise RuntimeError

    api.shelf().follow(fail)
    api.shelf().follow(heard.append)
    with capture_logs() as logs:
        await api.remember("tea")
        assert await api.found("tea", min_seq=1) == ["tea"]

    assert heard == [2]
    assert [log["event"] for log in logs if log["log_level"] == "error"] == ["shelf.follower_failed"]


async def test_a_fact_that_cannot_be_taken_in_keeps_nobody_waiting(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    def told_apart(value: str) -> str:
        if value == "poison":
            raise ValueError(value)
        return value

    monkeypatch.setattr("shelfd.memory.facts.fact_memory._told_apart", told_apart)
    await api.remember("poison", key="favourite poison")
    await api.remember("green", key="favourite colour of Ada")
    with capture_logs() as logs:
        answer = (await api.call("recall", query="favorite colour Ada", mode="fhrr"))["answer"]

    assert answer["value"] == "green"
    assert [log["id"][:5] for log in logs if log["event"] == "projection.note_skipped"] == ["fact-"]
