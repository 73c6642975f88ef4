"""A note's expiry is an event, once; nothing else of the note changes."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from fakes import ROOT, Api
from shelfd.memory import Shelf
from shelfd.memory.tending import expiry

DAY = timedelta(days=1)
MICROSECOND = timedelta(microseconds=1)


async def told(api: Api) -> list[dict[str, Any]]:
    """Let the daemon look once more; return what it told so far."""
    changed = asyncio.Event()
    end = api.shelf().follow(lambda _: changed.set())
    for _ in range(3):  # it may be about to look
        api.clock.advance(timedelta(seconds=60))
        await asyncio.sleep(0)
    while api.shelf().view.notes.expired(api.clock.now(), limit=1):
        await changed.wait()
        changed.clear()
    end()
    events = (await api.call("events.since", seq=0, limit=1000))["events"]
    return [event for event in events if event["type"] == "shelfd.note.expired.v1"]


async def test_a_note_that_expires_is_told_of_once(either: Api) -> None:
    note = await either.remember("tea at four", ttl_days=2)
    await either.remember("stays")
    assert await told(either) == []
    either.clock.advance(2 * DAY)
    (event,) = await told(either)
    assert (event["subject"], event["data"]["id"]) == (note["id"], note["id"])
    assert event["data"]["expires_at"] == note["expires_at"]
    assert event["data"]["nugget"] == "memory"
    either.clock.advance(2 * DAY)
    assert await told(either) == [event]


async def test_nothing_else_of_the_note_changes(either: Api) -> None:
    note = await either.remember("tea at four", ttl_days=1)
    either.clock.advance(DAY)
    assert len(await told(either)) == 1
    after = await either.note(note["id"])
    assert {**after, "last_accessed_at": ""} == {**note, "last_accessed_at": ""}
    assert len((await either.call("note.history", id=note["id"]))["versions"]) == 1
    reverted = await either.call("note.revert", id=note["id"], rev=1)
    assert reverted["changed"] is False


async def test_a_life_that_is_prolonged_ends_again(either: Api) -> None:
    note = await either.remember("tea at four", ttl_days=1)
    either.clock.advance(DAY)
    assert len(await told(either)) == 1
    await either.call("note.edit", id=note["id"], metadata={"ttl_days": 3})
    assert len(await told(either)) == 1
    either.clock.advance(2 * DAY)
    assert len(await told(either)) == 2
    await either.call("note.edit", id=note["id"], metadata={"ttl_days": None})
    either.clock.advance(30 * DAY)
    assert len(await told(either)) == 2


async def test_what_expires_while_the_daemon_is_down_is_told_of_afterwards(durable: Api) -> None:
    await durable.remember("tea at four", ttl_days=1)
    await durable.shelves.close()
    durable.clock.advance(9 * DAY)
    await durable.reopen()
    assert len(await told(durable)) == 1
    await durable.reopen()
    assert len(await told(durable)) == 1


async def test_a_clock_that_jumps_tells_nothing_twice(either: Api) -> None:
    await either.remember("tea at four", ttl_days=1)
    either.clock.advance(DAY)
    assert len(await told(either)) == 1
    either.clock.set_back(5 * DAY)
    assert len(await told(either)) == 1
    later = await either.remember("tea at five", ttl_days=1)
    either.clock.advance(5 * DAY)
    assert [event["data"]["id"] for event in (await told(either))[1:]] == [later["id"]]


async def test_many_are_told_of_in_steps(either: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(expiry, "AT_ONCE", 4)
    await either.call("remember_many", notes=[{"content": f"n {n}", "ttl_days": 1} for n in range(11)])
    either.clock.advance(DAY)
    events = await told(either)
    assert sorted(event["tx_size"] for event in events) == [3] * 3 + [4] * 8


async def test_nothing_is_written_while_nothing_expires(either: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    await either.remember("stays")
    await either.remember("later", ttl_days=9)
    await told(either)
    store, methods = either.shelf().store, set[str]()
    submit = store.submit

    def watched(change: Any, done: Any) -> None:
        methods.add(change.origin.method)
        submit(change, done)

    monkeypatch.setattr(store, "submit", watched)
    for _ in range(5):
        await told(either)
    assert "note.expire" not in methods


async def test_what_is_purged_expires_no_more(either: Api) -> None:
    note = await either.remember("tea at four", ttl_days=1)
    await either.call("forget", id=note["id"], purge=True, principal=ROOT)
    either.clock.advance(DAY)
    assert await told(either) == []


async def test_an_undo_of_the_telling_does_nothing(either: Api) -> None:
    await either.remember("tea at four", ttl_days=1)
    either.clock.advance(DAY)
    (event,) = await told(either)
    undone = await either.call("undo", tx=event["tx"], principal=ROOT)
    assert (undone["undone"], undone["kept"]) == (0, [])


async def test_what_expired_is_recalled_only_if_asked_for(either: Api) -> None:
    await either.remember("tea at four", ttl_days=1)
    either.clock.advance(DAY)
    await told(either)
    assert await either.found("tea") == []
    assert await either.found("tea", include_expired=True) == ["tea at four"]


async def test_a_shelf_that_is_closed_opens_when_a_note_expires(either: Api) -> None:
    await either.call("shelf.create", shelf="other")
    note = await either.remember("tea at four", shelf="other", ttl_days=1)
    assert either.stores.next_expiry("other") in (None, expires_at := either.clock.now() + DAY // MICROSECOND)
    for closing in ("idle", "restart"):
        if closing == "idle":
            either.clock.advance(timedelta(hours=1))
            await either.shelves.close_idle()
        else:
            await either.reopen()
            await either.shelves.resumed()
        assert either.shelves.opened("other") is None
        assert either.stores.next_expiry("other") == expires_at
    either.clock.advance(DAY)
    await opened(either, "other")
    events = (await either.call("events.since", shelf="other", seq=0))["events"]
    assert [event["subject"] for event in events if event["type"] == "shelfd.note.expired.v1"] == [note["id"]]
    assert either.stores.next_expiry("other") is None


async def opened(api: Api, name: str) -> None:
    """Wait until a shelf is open and its expired notes are told of."""
    told = asyncio.Event()

    def watch(shelf: Shelf) -> None:
        if shelf.name == name:
            shelf.follow(lambda _: told.set())

    end = api.shelves.on_open(watch)
    api.clock.advance(timedelta(seconds=60))
    await told.wait()
    end()


async def test_a_store_that_is_not_there_has_nothing_that_expires(either: Api) -> None:
    assert either.stores.next_expiry("nobody") is None
