"""nugget.remove with purge: a nugget and all of its notes are nowhere any more."""

import asyncio
import itertools
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from fakes import Api, memory
from memory_file import MemoryFile
from shelfd.memory.errors import StoreBusy
from shelfd.memory.ports.store import Applied, Change, OnDone
from shelfd.memory.tending.promotion import Promoter
from shelfd.storage import DiskMemoryFiles, PromotionPaths, SqliteStores


def _text(directory: Path) -> str:
    return "".join(path.read_bytes().decode("latin-1") for path in directory.rglob("*") if path.is_file())


async def test_nothing_of_it_is_left(durable: Api, tmp_path: Path) -> None:
    api = durable
    for number in range(40):  # more than one transaction takes
        await api.remember(f"4711-secret number {number}", nugget="gone", key=f"key {number}" if number % 2 else None)
    hidden = await api.remember("4711-secret and hidden", nugget="gone")
    await api.call("note.hide", id=hidden["id"])
    stays = await api.remember("stays")
    await api.call("link.upsert", source=hidden["id"], target=stays["id"], reason="4711-secret")
    await api.call("recall", query="4711-secret", session_id="s")
    result = await api.call("nugget.remove", name="gone", purge=True)

    assert result == {"removed": "gone", "hidden": 0, "purged": 41, "still_in": []}
    assert [nugget["name"] for nugget in (await api.call("nugget.list"))["nuggets"]] == ["memory"]
    assert (await api.call("note.list", include_hidden=True))["notes"][0]["id"] == stays["id"]
    assert await api.found("4711-secret", include_hidden=True) == []
    assert "answer" not in await api.call("recall", query="key 7")
    log = (await api.call("shelf.log", limit=1000))["log"]
    assert [row["seq"] for row in log] == list(range(1, len(log) + 1))
    assert log[-1]["kind"] == "nugget.removed"
    await api.shelves.close()
    assert "4711-secret" not in _text(tmp_path)


async def test_its_name_is_free_again(either: Api) -> None:
    await either.remember("tea", key="drink", nugget="n")
    await either.call("nugget.remove", name="n", purge=True)
    created = await either.call("nugget.create", name="n")

    assert (created["fact_count"], created["note_count"]) == (0, 0)
    assert (await either.call("remember", content="mate", key="drink", nugget="n"))["status"] == "created"


async def test_an_empty_one_goes_too(either: Api) -> None:
    await either.call("nugget.create", name="n")

    assert (await either.call("nugget.remove", name="n", purge=True))["purged"] == 0
    assert (await either.refused("nugget.remove", name="n", purge=True)).kind == "NuggetNotFound"


async def test_a_merge_inside_of_it_leaves_nothing_to_name(api: Api) -> None:
    target, source = await api.remember("tea", nugget="n"), await api.remember("coffee", nugget="n")
    await api.call("note.merge", target=target["id"], source=source["id"])
    await api.call("note.edit", id=target["id"], content="tea and coffee")

    assert (await api.call("nugget.remove", name="n", purge=True))["still_in"] == []


async def test_a_note_elsewhere_that_holds_text_of_it_is_named(api: Api) -> None:
    target, source = await api.remember("tea", nugget="n"), await api.remember("coffee", nugget="n")
    await api.call("note.merge", target=target["id"], source=source["id"])
    await api.call("nugget.create", name="other")
    await api.call("note.move", id=target["id"], nugget="other")
    await api.call("note.edit", id=target["id"], content="tea and coffee")

    assert (await api.call("nugget.remove", name="n", purge=True))["still_in"] == [target["id"]]


async def test_it_is_told_again_under_its_key(either: Api) -> None:
    await either.remember("tea", nugget="n")
    first = await either.call("nugget.remove", name="n", purge=True, idempotency_key="k")
    again = await either.call("nugget.remove", name="n", purge=True, idempotency_key="k")
    assert again == {**first, "replayed": True}

    await either.remember("coffee", nugget="n")
    refused = await either.refused("nugget.remove", name="n", idempotency_key="k")
    assert refused.kind == "IdempotencyMismatch"
    assert await either.found("coffee") == ["coffee"]


async def test_the_same_request_twice_at_once_is_carried_out_once(either: Api) -> None:
    for number in range(20):
        await either.remember(f"tea {number}", nugget="n")
    request = {"name": "n", "purge": True, "idempotency_key": "k"}
    both = await asyncio.gather(*(either.call("nugget.remove", request) for _ in range(2)))
    log = (await either.call("shelf.log", limit=1000))["log"]

    assert {result["removed"] for result in both} == {"n"}
    assert sum(row["kind"] == "note.purged" for row in log) == 20
    assert sum(row["kind"] == "nugget.removed" for row in log) == 1


async def test_what_is_written_meanwhile_goes_as_well(either: Api) -> None:
    for number in range(20):
        await either.remember(f"tea {number}", nugget="n")
    removing = asyncio.ensure_future(either.call("nugget.remove", name="n", purge=True))
    late = (await either.remember("late", nugget="n"))["id"]
    result = await removing

    # Behind the removal, it has made the nugget anew; before its end, it went with the others.
    names = [nugget["name"] for nugget in (await either.call("nugget.list"))["nuggets"]]
    notes = [note["id"] for note in (await either.call("note.list", include_hidden=True))["notes"]]
    assert (result["purged"], names, notes) in [(20, ["n"], [late]), (21, [], [])]


async def test_its_lines_leave_memory_md(tmp_path: Path) -> None:
    file = MemoryFile(tmp_path / "shelves" / "default" / "MEMORY.md")
    async with memory(lambda clock: SqliteStores(tmp_path / "shelves", clock)) as api:
        api.service.promoter = Promoter(DiskMemoryFiles(PromotionPaths(tmp_path, tmp_path / "home")))
        gone = await api.remember("4711-secret", key="user:combination", nugget="n")
        stays = await api.remember("green", key="user:kettle")
        for note in (gone, stays):
            for session in "abc":
                await api.call("note.record_hit", id=note["id"], session_id=session)
        await api.call("promote")
        assert "4711-secret" in file.text
        assert (await api.call("nugget.remove", name="n", purge=True))["still_in"] == []

    assert "4711-secret" not in file.text
    assert "- **user:kettle**: green" in file.text


async def test_a_long_chain_of_merges_goes_without_being_taken_apart(api: Api) -> None:
    notes = [await api.remember(f"line {number}", nugget="n") for number in range(20)]
    for source, target in itertools.pairwise(notes):
        await api.call("note.merge", target=target["id"], source=source["id"])
    removed = await api.call("nugget.remove", name="n", purge=True)
    log = (await api.call("shelf.log", limit=1000))["log"]

    assert (removed["purged"], removed["still_in"]) == (20, [])
    assert not any(row["kind"] == "note.updated" for row in log)  # none was rewritten only to go as well


async def test_cut_short_it_says_what_went_and_the_same_request_goes_on(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(40):
        await api.remember(f"number {number}", nugget="gone")
    store = api.shelf().store
    submit, full = store.submit, [True]

    def until_full(change: Change[Any], on_done: OnDone[Applied[Any]]) -> None:
        if store.view.counts().notes == 8 and full and full.pop():
            on_done(StoreBusy("the disk is full; nothing happened", reason="SQLITE_FULL"))
        else:
            submit(change, on_done)

    monkeypatch.setattr(store, "submit", until_full)
    refusal = await api.refused("nugget.remove", name="gone", purge=True)
    assert (refusal.kind, refusal.data["reason"], refusal.data["retryable"]) == ("Unavailable", "SQLITE_FULL", True)
    assert refusal.data["progress"] == {"done": 32, "total": 40}
    assert "nothing happened" not in refusal.message
    assert (await api.call("note.list", nugget="gone"))["total"] == 8
    cut_short = (await api.call("job.get", id=refusal.data["job"]))["job"]
    assert (cut_short["state"], cut_short["attempts"], cut_short["error"]) == ("waiting", 1, "StoreBusy")

    assert (await api.call("nugget.remove", name="gone", purge=True))["purged"] == 8


async def test_cut_short_it_goes_on_by_itself(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(40):
        await api.remember(f"number {number}", nugget="gone")
    request = {"name": "gone", "purge": True, "idempotency_key": "k"}
    store = api.shelf().store
    submit, full = store.submit, [True, True]

    def until_full(change: Change[Any], on_done: OnDone[Applied[Any]]) -> None:
        if store.view.counts().notes == 8 and full:  # the step, and the record of its failure
            full.pop()
            on_done(StoreBusy("the disk is full; nothing happened"))
        else:
            submit(change, on_done)

    monkeypatch.setattr(store, "submit", until_full)
    refusal = await api.refused("nugget.remove", request)
    again = asyncio.ensure_future(api.call("nugget.remove", request))
    for _ in range(20):
        await asyncio.sleep(0)
    assert not again.done()
    api.clock.advance(timedelta(seconds=1))

    assert await again == {"removed": "gone", "hidden": 0, "purged": 40, "still_in": [], "replayed": True}
    assert (await api.call("job.get", id=refusal.data["job"]))["job"]["state"] == "done"
