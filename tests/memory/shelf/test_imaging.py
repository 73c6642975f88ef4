"""A shelf's image: a restart reads it and what changed since, and nothing else; one that is no use is passed over."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable, Collection, Sequence
from datetime import timedelta
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
import pytest
from structlog.testing import capture_logs
from structlog.typing import EventDict

from fakes import Api
from shelfd.memory import MemorySettings
from shelfd.memory.errors import Unavailable
from shelfd.memory.notes.note import Note
from shelfd.memory.ports.image import Frozen, Image
from shelfd.memory.recall import ShelfIndex
from shelfd.memory.shelf.imaging import ShelfImage
from shelfd.storage.sqlite.images import SqliteImages

NOTES = 30


@pytest.fixture(autouse=True)
def few_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shelfd.memory.shelf.imaging._CHANGES", 20)
    monkeypatch.setattr("shelfd.memory.shelf.imaging._FEW_CHANGES", 5)


@pytest.fixture
def indexed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Ids of the notes that the index was made of."""
    ids: list[str] = []
    apply = ShelfIndex.apply

    def noted(index: ShelfIndex, notes: Sequence[Note]) -> None:
        ids.extend(note.id for note in notes)
        apply(index, notes)

    monkeypatch.setattr(ShelfIndex, "apply", noted)
    return ids


async def remember(api: Api, count: int = NOTES, **fields: Any) -> list[str]:
    said = [
        {
            "content": f"crane {n % 7} lifts barrel {n} at the harbour",
            "session_id": f"s{n % 3}",
            "turn": n + 1,
            **fields,
        }
        for n in range(count)
    ]
    reply = await api.call("remember_many", notes=said)
    ids: list[str] = reply["ids"]
    return ids


async def saved(api: Api) -> None:
    await api.shelf().reach(None)
    assert await api.shelf().image.save()


async def asked(api: Api, query: str = "which barrel does crane 3 lift") -> list[Any]:
    reply = await api.call("recall", query=query, k=20, count_hits=False)
    assert reply["index"]["state"] == "ready"
    return [(hit["note"]["id"], hit["score"]) for hit in reply["results"]]


async def restarted(api: Api) -> list[EventDict]:
    with capture_logs() as logs:
        await api.reopen()
        await api.shelf().image.loaded()
        await api.warmed()
    return [entry for entry in logs if entry["event"].startswith("image.")]


def events(logs: list[EventDict]) -> list[str]:
    return [entry["event"] for entry in logs]


async def test_a_restart_indexes_what_changed_since_alone(either: Api, indexed: list[str]) -> None:
    ids = await remember(either)
    await saved(either)
    await either.call("note.edit", id=ids[3], content="crane 3 was sold")
    await either.call("forget", id=ids[10])
    new = await remember(either, 2, author="Ada")
    before, counts = await asked(either), await either.call("nugget.list")
    indexed.clear()
    logs = await restarted(either)

    assert "image.read" in events(logs)
    assert set(indexed) <= {ids[3], ids[10], *new}
    assert await asked(either) == before
    assert await either.call("nugget.list") == counts
    assert (await asked(either, "what was sold"))[0][0] == ids[3]


async def test_what_is_written_while_the_image_is_read_is_known_at_once(either: Api) -> None:
    await remember(either)
    await saved(either)
    await either.reopen()
    await either.call("remember", content="the lighthouse burnt down")

    assert await asked(either, "lighthouse")


async def test_it_is_written_when_there_were_many_changes_and_when_the_shelf_is_closed(either: Api) -> None:
    with capture_logs() as logs:
        await remember(either)
        for _ in range(200):
            either.clock.advance(timedelta(seconds=1))
            await asyncio.sleep(0.001 if either.shelf().image._task else 0)
        assert events(logs).count("image.written") == 1
        await remember(either, 6)
        await either.shelf().reach(None)
        await either.shelves.close()

    assert [entry["event"] for entry in logs].count("image.written") == 2
    assert events(await restarted(either)) == ["image.read"]


async def at_rest(api: Api) -> None:
    """Wait until the image is being written no more."""
    await api.shelf().reach(None)
    image = api.shelf().image
    while image._task is not None and not image._is_resting:
        await asyncio.wait([image._task], timeout=0.001)


async def rested(api: Api) -> None:
    """Let time pass until the image is neither being written nor resting."""
    await api.shelf().reach(None)
    while (task := api.shelf().image._task) is not None:
        api.clock.advance(timedelta(seconds=11))  # it may only now begin to rest
        await asyncio.wait([task], timeout=0.001)


async def test_it_is_written_when_some_has_changed_and_then_nothing_for_a_while(either: Api) -> None:
    await remember(either)
    await rested(either)
    with capture_logs() as logs:
        await remember(either, 4)
        await at_rest(either)
        assert either.shelf().image._task is None, "too few"
        await remember(either, 4)
        await at_rest(either)
        assert "image.written" not in events(logs)
        while "image.written" not in events(logs):  # it may only now begin to wait
            either.clock.advance(timedelta(seconds=11))
            await asyncio.sleep(0.001)

    assert events(logs).count("image.written") == 1


async def test_it_is_written_while_notes_keep_coming_although_few_had_come_before(either: Api) -> None:
    """What waits for a quiet moment does not wait for it once there is much: a kill then costs little."""
    await remember(either)
    await rested(either)
    await remember(either, 8)
    await at_rest(either)
    with capture_logs() as logs:
        await remember(either, 20)
        await either.shelf().reach(None)
        for _ in range(10_000):  # it was resting, and there is reason to write it
            if "image.written" in events(logs):
                break
            await asyncio.sleep(0.001)
        await at_rest(either)

    assert events(logs).count("image.written") == 1


async def test_what_was_purged_is_in_no_file_when_the_purge_is_answered(
    durable: Api, tmp_path: Path, indexed: list[str]
) -> None:
    secret = "zanzibar"
    ids = await remember(durable)
    fields: dict[str, Any] = {"author": f"{secret}author", "session_id": f"{secret}session", "tags": [f"{secret}tag"]}
    gone = (await durable.call("remember", content=f"the {secret}word was first", **fields))["note"]["id"]
    await saved(durable)
    await durable.call("note.edit", id=gone, content=f"now it is {secret}other")
    await saved(durable)
    folder = tmp_path / "default" / "index"
    assert any(secret.encode() in path.read_bytes() for path in folder.iterdir())
    before = durable.shelf().projection(ShelfIndex).index
    words = [before.number(before.analyzer.term(word)) for word in (f"{secret}word", f"{secret}other")]
    await durable.call("forget", id=gone, purge=True)

    image = await durable.shelf().store.images.load()
    assert image is not None
    held = {
        name: b"".join(array.tobytes() for array in (some or {}).values())
        for name, some in image.parts["index"].items()
    }
    assert [name for name, data in held.items() if secret.encode() in data] == []
    assert not any(secret.encode() in path.read_bytes() for path in folder.iterdir())
    for number in words:  # nor which of the nameless words were together in a note
        assert number is not None
        assert not len(before._contents.postings.lookup([number])[0])
    indexed.clear()
    logs = await restarted(durable)
    assert "image.read" in events(logs)
    assert indexed == []
    assert {note_id for note_id, _ in await asked(durable)} <= set(ids)


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> tuple[Event, Event, list[int]]:
    """Images are read for when the second event is set; the first one says that one is; and how many are at a time."""
    begun, may_go_on, at_once = Event(), Event(), [0]
    freeze = ShelfIndex.freeze

    def slowly(index: ShelfIndex, stored: Collection[str]) -> Callable[[], Frozen]:
        frozen = freeze(index, stored)

        def read() -> Frozen:
            at_once[-1] += 1
            at_once.append(at_once[-1])
            begun.set()
            assert may_go_on.wait(30)
            try:
                return frozen()
            finally:
                at_once[-1] -= 1

        return read

    monkeypatch.setattr("shelfd.memory.shelf.imaging._CHANGES", 10_000)  # none is made unasked
    monkeypatch.setattr("shelfd.memory.shelf.imaging._FEW_CHANGES", 10_000)
    monkeypatch.setattr(ShelfIndex, "freeze", slowly)
    return begun, may_go_on, at_once


async def test_what_is_purged_while_the_first_image_is_made_is_in_none_either(
    either: Api, held: tuple[Event, Event, list[int]]
) -> None:
    begun, may_go_on, _ = held
    await remember(either)
    gone = (await either.call("remember", content="the zanzibarword was first"))["note"]["id"]
    await either.shelf().reach(None)
    saving = asyncio.ensure_future(either.shelf().image.save())
    assert await asyncio.to_thread(begun.wait, 30)
    purging = asyncio.ensure_future(either.call("forget", id=gone, purge=True))
    for _ in range(500):  # so that it comes as far as it can
        await asyncio.sleep(0)
    may_go_on.set()
    assert await saving
    await purging

    image = await either.shelf().store.images.load()
    assert image is not None
    assert image.parts["index"]
    arrays = [array for some in image.parts["index"].values() for array in (some or {}).values()]
    assert not any(b"zanzibar" in array.tobytes() for array in arrays)


@pytest.fixture
def slowly_written(monkeypatch: pytest.MonkeyPatch) -> tuple[asyncio.Event, asyncio.Event, list[str]]:
    """Images are written when the second event is set; the first one says that one is; and what was written by whom."""
    begun, may_go_on, written = asyncio.Event(), asyncio.Event(), list[str]()
    save = SqliteImages.save

    async def slowly(images: SqliteImages, image: Image) -> None:
        begun.set()
        await may_go_on.wait()
        await save(images, image)
        written.append("written")

    monkeypatch.setattr("shelfd.memory.shelf.imaging._CHANGES", 10_000)  # none is made unasked
    monkeypatch.setattr("shelfd.memory.shelf.imaging._FEW_CHANGES", 10_000)
    monkeypatch.setattr(SqliteImages, "save", slowly)
    return begun, may_go_on, written


async def test_what_is_purged_while_an_image_is_written_is_whole_in_it(
    durable: Api, slowly_written: tuple[asyncio.Event, asyncio.Event, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, may_go_on, _ = slowly_written
    await remember(durable)
    gone = (await durable.call("remember", content="crane 3 lifts the zanzibarword barrel"))["note"]["id"]
    await durable.shelf().reach(None)
    saving = asyncio.ensure_future(durable.shelf().image.save())
    await begun.wait()
    purging = asyncio.ensure_future(durable.call("forget", id=gone, purge=True))
    await until(lambda: asked(durable, "zanzibarword"))
    monkeypatch.setattr(ShelfImage, "forget_purged", _killed)  # at this point
    may_go_on.set()
    assert await saving
    await asyncio.wait([purging])

    image = await durable.shelf().store.images.load()
    assert image is not None
    index = ShelfIndex(durable.shelf().view, MemorySettings())
    index.thaw(Frozen(image.facts["index"]["facts"], image.parts["index"]))()
    contents = index.index._contents
    columns, counted = contents.columns, np.zeros(len(contents.statistics.own), np.int64)
    for ordinal in columns.alive(slice(columns.size)).nonzero()[0].tolist():
        counted[list(contents.postings.terms_of(ordinal))] += 1
    assert counted.tolist() == list(contents.statistics.own)


async def until(found: Callable[[], Awaitable[list[Any]]]) -> None:
    """Wait until nothing is found any more."""
    for _ in range(1_000):
        if not await found():
            return
        await asyncio.sleep(0.001)
    raise AssertionError("it is still found")


async def _killed(_image: ShelfImage) -> bool:
    raise Unavailable("this never comes to that")


async def test_one_that_is_given_up_while_it_is_written_is_not_written_beside_the_next_one(
    durable: Api, slowly_written: tuple[asyncio.Event, asyncio.Event, list[str]]
) -> None:
    begun, may_go_on, written = slowly_written
    await remember(durable)
    await durable.shelf().reach(None)
    given_up = asyncio.ensure_future(durable.shelf().image.save())
    await begun.wait()
    given_up.cancel()
    for _ in range(10):
        await asyncio.sleep(0)
    assert not given_up.done()
    may_go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await given_up
    assert written == ["written"]
    assert await durable.shelf().image.save()


async def test_one_that_is_given_up_is_not_read_for_beside_the_next_one(
    either: Api, held: tuple[Event, Event, list[int]]
) -> None:
    begun, may_go_on, at_once = held
    await remember(either)
    await either.shelf().reach(None)
    given_up = asyncio.ensure_future(either.shelf().image.save())
    assert await asyncio.to_thread(begun.wait, 30)
    given_up.cancel()
    for _ in range(10):
        await asyncio.sleep(0)
    following = asyncio.ensure_future(either.shelf().image.save())
    for _ in range(10):
        await asyncio.sleep(0)
    may_go_on.set()

    assert await following
    with pytest.raises(asyncio.CancelledError):
        await given_up
    assert max(at_once) == 1


def flipped(folder: Path) -> None:
    part = max(folder.glob("*.part"), key=lambda path: path.stat().st_size)
    damaged = bytearray(part.read_bytes())
    damaged[len(damaged) // 2] ^= 4
    part.write_bytes(damaged)


def cut_short(folder: Path) -> None:
    part = max(folder.glob("*.part"), key=lambda path: path.stat().st_size)
    part.write_bytes(part.read_bytes()[:-1])


def emptied(folder: Path) -> None:
    (folder / "image.json").write_bytes(b"")


@pytest.mark.parametrize("damage", [flipped, cut_short, emptied])
async def test_a_damaged_one_is_named_deleted_and_made_anew(
    durable: Api, tmp_path: Path, indexed: list[str], damage: Callable[[Path], None]
) -> None:
    ids = await remember(durable)
    before = await asked(durable)
    await saved(durable)
    folder = tmp_path / "default" / "index"
    await durable.shelves.close()
    damage(folder)
    [problem] = (await durable_check(durable))[-1:]
    indexed.clear()
    logs = await restarted(durable)

    assert "image" in problem
    assert "image.passed_over" in events(logs)
    assert set(indexed) == set(ids)
    assert await asked(durable) == before


async def durable_check(api: Api) -> list[str]:
    await api.shelves.close()
    store = await api.stores.open("default")
    try:
        return await store.check(full=True)
    finally:
        await store.close()


async def test_one_of_other_settings_is_passed_over(either: Api, indexed: list[str]) -> None:
    ids = await remember(either)
    await saved(either)
    either.settings = MemorySettings(language="german")
    indexed.clear()

    assert "image.passed_over" in events(await restarted(either))
    assert set(indexed) == set(ids)


async def test_one_from_before_a_nugget_was_renamed_is_passed_over(either: Api, indexed: list[str]) -> None:
    ids = await remember(either, 4)
    await saved(either)
    await either.call("nugget.rename", name="memory", new_name="quay")
    indexed.clear()

    assert "image.passed_over" in events(await restarted(either))
    assert set(indexed) == set(ids)


async def test_one_of_rows_that_are_gone_is_passed_over(durable: Api, tmp_path: Path, indexed: list[str]) -> None:
    """A backup was put in place of the file, and more was written since."""
    await remember(durable)
    await durable.shelves.close()
    file, backup = tmp_path / "default" / "shelf.db", tmp_path / "backup"
    backup.write_bytes(file.read_bytes())
    await durable.reopen()
    await remember(durable, 8)
    await saved(durable)
    await durable.shelves.close()
    file.write_bytes(backup.read_bytes())
    durable.clock.advance(timedelta(seconds=5))
    indexed.clear()
    logs = await restarted(durable)

    assert "image.passed_over" in events(logs)
    assert len(set(indexed)) == NOTES


def test_what_an_image_was_made_by_is_the_same_in_every_process() -> None:
    """Otherwise no start would ever use one: what a set shows differs by the seed of a process's hashes."""
    code = (
        "from unittest.mock import Mock\n"
        "from shelfd.memory import MemorySettings\n"
        "from shelfd.memory.recall import ShelfIndex\n"
        "print(ShelfIndex(Mock(), MemorySettings()).made_by())\n"
    )
    said = {
        subprocess.run(
            [sys.executable, "-c", code], env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("1", "2")
    }
    assert len(said) == 1
