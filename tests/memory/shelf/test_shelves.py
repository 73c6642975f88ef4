"""shelf.*, who may do what, and the life of shelves."""

import asyncio
import threading
from datetime import timedelta
from pathlib import Path

import pytest

from fakes import ALICE, BOB, ROOT, Api, FakeClock, memory
from shelfd.memory import MemorySettings, Rule
from shelfd.memory.errors import StorageCorrupt, StoreBusy
from shelfd.memory.ports.log import Origin
from shelfd.memory.recall import ShelfIndex
from shelfd.protocol import Need
from shelfd.storage import SqliteStores
from shelfd.storage.inmemory import InMemoryStore, InMemoryStores


async def names(api: Api, principal: str) -> list[str]:
    return [shelf["shelf"] for shelf in (await api.call("shelf.list", principal=principal))["shelves"]]


async def test_default_is_there_and_cannot_be_dropped(either: Api) -> None:
    assert await names(either, BOB) == ["default"]
    error = await either.refused("shelf.drop", shelf="default", confirm="default", principal=ROOT)

    assert error.code == -32002


async def test_a_shelf_belongs_to_its_creator(either: Api) -> None:
    assert await either.call("shelf.create", shelf="mine") == {"shelf": "mine"}

    await either.remember("tea", shelf="mine")
    assert [await names(either, ALICE), await names(either, BOB)] == [["default", "mine"], ["default"]]
    listed = (await either.call("shelf.list"))["shelves"][1]
    assert listed == {"shelf": "mine", "owner": ALICE, "state": "open"}


async def test_a_shelf_survives_a_restart_with_its_owner(either: Api) -> None:
    await either.call("shelf.create", shelf="mine")
    await either.remember("tea", shelf="mine", key="drink")
    await either.reopen()

    assert (await either.call("shelf.list"))["shelves"][1]["state"] == "closed"
    assert (await either.refused("remember", content="x", shelf="mine", principal=BOB)).code == -32004
    assert (await either.call("recall", query="drink", shelf="mine"))["answer"]["value"] == "tea"


async def test_shelves_know_nothing_of_each_other(either: Api) -> None:
    await either.call("shelf.create", shelf="mine")
    note = await either.remember("tea", shelf="mine")

    assert await either.found("tea") == []
    assert (await either.refused("note.get", id=note["id"])).code == -32001


async def test_a_name_is_taken_once(either: Api) -> None:
    await either.call("shelf.create", shelf="mine")
    assert (await either.refused("shelf.create", shelf="mine", principal=BOB)).kind == "DuplicateShelf"


async def test_of_two_creators_at_once_one_wins(either: Api) -> None:
    results = await asyncio.gather(
        *(either.call("shelf.create", shelf="mine", principal=f"uid:{n}") for n in range(5)), return_exceptions=True
    )

    assert sum(isinstance(result, dict) for result in results) == 1


async def test_the_number_of_shelves_is_limited() -> None:
    async with memory(settings=MemorySettings(shelves_count=2)) as api:
        await api.call("shelf.create", shelf="one")
        error = await api.refused("shelf.create", shelf="two")
        assert (error.code, error.field, error.limit) == (-32010, "shelf", 2)


class CountingStores(InMemoryStores):
    """Counts how often a shelf's owner is read."""

    reads = 0

    def owner(self, shelf: str) -> str | None:
        self.reads += 1
        return super().owner(shelf)


async def test_a_principal_may_make_only_so_many_shelves_and_an_administrator_any_number() -> None:
    async with memory(CountingStores, settings=MemorySettings(shelves_per_principal_count=2)) as api:
        for number in range(2):
            await api.call("shelf.create", shelf=f"a{number}")
        error = await api.refused("shelf.create", shelf="a2")
        assert (error.code, error.kind, error.field, error.limit) == (-32010, "QuotaExceeded", "shelf", 2)

        await api.call("shelf.create", shelf="b0", principal=BOB)
        for number in range(3):
            await api.call("shelf.create", shelf=f"r{number}", principal=ROOT)
        await api.call("shelf.drop", shelf="a0", confirm="a0")
        await api.reopen()
        await api.call("shelf.create", shelf="a2")
        assert api.shelves.state("r0") == "closed"

        stores = api.stores
        assert isinstance(stores, CountingStores)
        reads = stores.reads
        tries = [api.refused("shelf.create", shelf=f"x{number}") for number in range(20)]
        assert {error.code for error in await asyncio.gather(*tries)} == {-32010}
        assert stores.reads == reads  # each owner is read once, however many shelves are made


async def test_of_many_shelves_made_at_once_no_more_than_allowed_are_there() -> None:
    async with memory(settings=MemorySettings(shelves_per_principal_count=3)) as api:
        made = await asyncio.gather(
            *(api.call("shelf.create", shelf=f"s{number}") for number in range(10)), return_exceptions=True
        )
        assert sum(isinstance(result, dict) for result in made) == 3


# ------------------------------------------------------------------ how many are open


def _open(api: Api) -> list[str]:
    return [shelf["shelf"] for shelf in api.shelves.status()]


async def _several(api: Api, *names: str) -> None:
    for name in names:
        await api.call("shelf.create", shelf=name)
        await api.remember("tea", shelf=name)
        await api.found("tea", shelf=name)  # which waits until the change is indexed
        api.clock.advance(timedelta(seconds=1))


async def test_the_shelf_that_was_left_alone_for_longest_makes_way_for_another() -> None:
    async with memory(settings=MemorySettings(open_shelves_count=3)) as api:
        await _several(api, "a", "b")
        assert await api.found("tea", shelf="a") == ["tea"]
        await _several(api, "c")
        assert _open(api) == ["a", "c", "default"]
        assert await api.found("tea", shelf="b") == ["tea"]
        assert _open(api) == ["b", "c", "default"]


async def test_a_shelf_in_use_makes_no_way_and_the_other_waits_for_it() -> None:
    async with memory(settings=MemorySettings(open_shelves_count=2)) as api:
        await _several(api, "a")
        shelf = api.shelf("a")
        shelf.enter()
        waiting = asyncio.ensure_future(api.call("shelf.create", shelf="b"))
        for _ in range(20):
            api.clock.advance(timedelta(milliseconds=20))
            await asyncio.sleep(0)
        assert not waiting.done()
        shelf.leave()
        await asyncio.sleep(0)
        api.clock.advance(timedelta(milliseconds=20))
        assert await waiting == {"shelf": "b"}
        assert _open(api) == ["b", "default"]


async def test_when_all_are_in_use_another_is_refused_retryably() -> None:
    async with memory(settings=MemorySettings(open_shelves_count=2)) as api:
        await _several(api, "a")
        api.shelf("a").enter()
        refused = asyncio.ensure_future(api.refused("shelf.create", shelf="b"))
        while not refused.done():
            api.clock.advance(timedelta(milliseconds=20))
            await asyncio.sleep(0)
        error = await refused
        assert (error.code, error.kind, error.limit) == (-32003, "StoreBusy", 2)
        assert error.data["retryable"]
        assert api.shelves.names() == ["a", "default"]
        assert [shelf["state"] for shelf in api.shelves.status()] == ["open", "open"]
        api.shelf("a").leave()
        await api.call("shelf.create", shelf="b")


async def test_many_shelves_used_at_once_are_never_all_open() -> None:
    async with memory(settings=MemorySettings(open_shelves_count=3)) as api:
        for number in range(8):
            await api.call("shelf.create", shelf=f"s{number}")
        using = asyncio.gather(*(api.remember(f"tea {number}", shelf=f"s{number % 8}") for number in range(64)))
        while not using.done():
            api.clock.advance(timedelta(milliseconds=1))
            await asyncio.sleep(0)
            assert len(_open(api)) <= 3
        assert len(await using) == 64
        for number in range(8):
            assert (await api.call("get_stats", shelf=f"s{number}"))["total_notes"] == 8


async def test_what_only_writing_needs_is_given_back_after_a_while(tmp_path: Path) -> None:
    clock = FakeClock(stands_still=True)
    api = Api(clock, SqliteStores(tmp_path, clock))
    await api.shelves.start()
    note = await api.remember("tea")
    wal = tmp_path / "default" / "shelf.db-wal"
    assert wal.exists()
    while wal.exists():
        clock.advance(timedelta(seconds=60))
        await asyncio.sleep(0)

    assert (await api.note(note["id"]))["content"] == "tea"
    await api.remember("mate")
    assert sorted(await api.found("tea mate")) == ["mate", "tea"]
    await api.shelves.close()


async def test_drop_removes_the_shelf_for_good(either: Api) -> None:
    await either.call("shelf.create", shelf="mine")
    await either.remember("tea", shelf="mine")
    assert await either.call("shelf.drop", shelf="mine", confirm="mine") == {"dropped": "mine", "still_in": []}
    assert await names(either, ROOT) == ["default"]

    await either.call("shelf.create", shelf="mine", principal=BOB)

    assert (await either.call("recall", query="tea", shelf="mine", principal=BOB))["results"] == []
    assert (await either.refused("recall", query="tea", shelf="mine")).code == -32004


async def test_drop_needs_the_name_twice(api: Api) -> None:
    await api.call("shelf.create", shelf="mine")

    assert (await api.refused("shelf.drop", shelf="mine", confirm="other")).field == "confirm"
    assert (await api.refused("shelf.drop", shelf="mine")).field == "confirm"


@pytest.mark.parametrize("method", ["recall", "shelf.drop"])
async def test_an_unknown_shelf_is_forbidden_to_strangers_and_not_found_by_root(api: Api, method: str) -> None:
    params = {"query": "x"} if method == "recall" else {"confirm": "nowhere"}

    assert (await api.refused(method, params, shelf="nowhere")).code == -32004
    error = await api.refused(method, params, shelf="nowhere", principal=ROOT)
    assert (error.code, error.kind) == (-32001, "ShelfNotFound")
    assert api.shelves.status() == [{"shelf": "default", "state": "open", "index": "ready", "seq": 0}]


NEEDS: tuple[tuple[str, Need], ...] = (("r", "read"), ("w", "write"), ("a", "admin"))
RULES = {
    "default": Rule(deny=frozenset({"uid:13"})),
    "mine": Rule(read=frozenset({"uid:5"}), write=frozenset({"uid:6"}), admin=frozenset({"uid:7"})),
    "open": Rule(read=frozenset({"*"})),
    "shut": Rule(deny=frozenset({"*"}), write=frozenset({"uid:6"})),
}


@pytest.mark.parametrize(
    ("principal", "shelf", "may"),
    [
        (BOB, "default", "rw-"),
        ("mqtt:x", "default", "rw-"),
        (ROOT, "default", "rwa"),
        ("uid:13", "default", "---"),
        (ALICE, "mine", "rwa"),
        (BOB, "mine", "---"),
        ("uid:5", "mine", "r--"),
        ("uid:6", "mine", "rw-"),
        ("uid:7", "mine", "rwa"),
        (ROOT, "mine", "rwa"),
        (BOB, "open", "r--"),
        (ALICE, "open", "rwa"),
        (ALICE, "shut", "---"),
        ("uid:6", "shut", "rw-"),
        (ROOT, "shut", "rwa"),
        (BOB, "nowhere", "---"),
    ],
)
async def test_access(principal: str, shelf: str, may: str) -> None:
    async with memory(rules=RULES) as api:
        for name in ("mine", "open", "shut"):
            await api.call("shelf.create", shelf=name)
        access = api.service.access
        told = "".join(letter if access.may(principal, shelf, need) else "-" for letter, need in NEEDS)
        assert told == may
        if shelf != "nowhere":
            assert (shelf in await names(api, principal)) == ("r" in may)
        if "w" not in may:
            error = await api.refused("remember", content="x", shelf=shelf, principal=principal)
            assert (error.code, error.kind) == (-32004, "Forbidden")


# ------------------------------------------------------------------ life


async def idle(api: Api) -> None:
    api.clock.advance(timedelta(minutes=20))
    await api.shelves.close_idle()


async def test_an_idle_shelf_is_closed_and_opened_again_on_demand(either: Api) -> None:
    await either.call("shelf.create", shelf="mine")
    await either.remember("tea", shelf="mine", key="drink")
    await idle(either)
    assert either.shelves.opened("mine") is None
    assert either.shelves.opened("default") is not None

    assert (await either.call("recall", query="drink", shelf="mine"))["answer"]["value"] == "tea"


async def test_a_shelf_in_use_is_not_closed(api: Api) -> None:
    await api.call("shelf.create", shelf="mine")
    reading = asyncio.ensure_future(api.call("recall", query="x", shelf="mine", min_seq=2))
    await asyncio.sleep(0)
    await idle(api)

    await api.remember("x", shelf="mine")
    assert len((await reading)["results"]) == 1


async def test_calls_keep_their_order_while_shelves_close_and_open(either: Api) -> None:
    await either.call("shelf.create", shelf="mine")
    calls: list[asyncio.Task[dict[str, object]]] = []
    for n in range(120):
        params = {"content": f"v{n}", "key": "k", "shelf": "mine"}
        calls.append(asyncio.ensure_future(either.call("remember", params)))
        if n % 3 == 0:
            await asyncio.sleep(0)
        if n % 10 == 0:
            await asyncio.wait(calls)  # or the shelf is never idle
            closing = asyncio.ensure_future(idle(either))
            for _ in range(n // 10 % 4):
                await asyncio.sleep(0)
            calls.append(asyncio.ensure_future(either.call("remember", {**params, "content": f"w{n}"})))
            closing.add_done_callback(lambda done: done.result())
    await asyncio.gather(*calls)

    log = (await either.call("shelf.log", shelf="mine", limit=1000))["log"]
    sent = [int(str(row["request_id"]).removeprefix("test-")) for row in log if row["kind"] != "nugget.created"]
    assert len(sent) == 132
    assert sent == sorted(sent)


class SlowStores(InMemoryStores):
    """Stores that open when they are told to."""

    def __init__(self, clock: object) -> None:
        super().__init__(clock)  # type: ignore[arg-type]
        self.may_open = asyncio.Event()
        self.may_open.set()
        self.opened = 0

    async def open(self, shelf: str) -> InMemoryStore:
        await self.may_open.wait()
        self.opened += 1
        return await super().open(shelf)


async def slow(api: Api) -> SlowStores:
    assert isinstance(api.stores, SlowStores)
    await api.call("shelf.create", shelf="mine")
    await idle(api)
    api.stores.may_open.clear()
    api.stores.opened = 0
    return api.stores


async def test_a_cancelled_caller_does_not_spoil_the_opening_for_others() -> None:
    async with memory(SlowStores) as api:
        stores = await slow(api)
        first = asyncio.ensure_future(api.found("x", shelf="mine"))
        second = asyncio.ensure_future(api.remember("tea", shelf="mine"))
        await asyncio.sleep(0)
        first.cancel()
        await asyncio.sleep(0)
        stores.may_open.set()

        assert (await second)["content"] == "tea"
        assert stores.opened == 1
        with pytest.raises(asyncio.CancelledError):
            await first


async def test_a_call_that_comes_right_after_the_opening_does_not_overtake() -> None:
    async with memory(SlowStores) as api:
        stores = await slow(api)
        calls = [asyncio.ensure_future(api.remember(f"v{n}", shelf="mine", key="k")) for n in range(3)]
        await asyncio.sleep(0)
        stores.may_open.set()
        for n in range(3, 60):
            calls.append(asyncio.ensure_future(api.remember(f"v{n}", shelf="mine", key="k")))
            if n % 2:
                await asyncio.sleep(0)
        notes = await asyncio.gather(*calls)

        assert [note["rev"] for note in notes] == list(range(1, 61))


async def test_a_shelf_dropped_while_it_opens_is_gone() -> None:
    async with memory(SlowStores) as api:
        stores = await slow(api)
        reading = asyncio.ensure_future(api.found("x", shelf="mine"))
        await asyncio.sleep(0)
        dropping = asyncio.ensure_future(api.call("shelf.drop", shelf="mine", confirm="mine"))
        await asyncio.sleep(0)
        stores.may_open.set()

        assert await reading == []
        assert await dropping == {"dropped": "mine", "still_in": []}
        assert api.shelves.opened("mine") is None
        assert (await api.refused("recall", query="x", shelf="mine", principal=ROOT)).kind == "ShelfNotFound"


async def test_calls_at_work_end_before_the_shelf_is_dropped(either: Api) -> None:
    await either.call("shelf.create", shelf="mine")
    notes = [{"content": f"word{n}"} for n in range(600)]
    writing = asyncio.ensure_future(either.call("remember_many", notes=notes, shelf="mine"))
    await asyncio.sleep(0)

    await either.call("shelf.drop", shelf="mine", confirm="mine")

    assert len((await writing)["ids"]) == 600


async def test_what_was_sent_before_closing_is_answered(either: Api) -> None:
    calls = [asyncio.ensure_future(either.remember(f"word{n}")) for n in range(20)]
    await asyncio.sleep(0)
    await either.reopen()

    assert {note["content"] for note in await asyncio.gather(*calls)} == {f"word{n}" for n in range(20)}
    assert (await either.call("get_stats"))["total_notes"] == 20


class DamagedStores(InMemoryStores):
    """Stores whose shelf ``bad`` is damaged."""

    async def open(self, shelf: str) -> InMemoryStore:
        if shelf == "bad" and shelf in self.names():
            raise StorageCorrupt("the file is damaged")
        return await super().open(shelf)


async def test_a_damaged_shelf_is_refused_alone() -> None:
    async with memory(DamagedStores) as api:
        with pytest.raises(StorageCorrupt):
            await api.shelves.create("bad", owner=ALICE)
        for _ in range(2):
            assert (await api.refused("recall", query="x", shelf="bad")).code == -32012
        assert await api.found("x") == []
        assert [shelf["state"] for shelf in (await api.call("shelf.list"))["shelves"]] == ["corrupt", "open"]
        assert [(s["shelf"], s["state"]) for s in api.shelves.status()] == [("bad", "corrupt"), ("default", "open")]


async def test_a_note_that_cannot_be_indexed_holds_up_nobody(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    index = api.shelf().projection(ShelfIndex).index
    put = index.put

    def fails_once(document: object) -> None:
        monkeypatch.setattr(index, "put", put)
        raise OverflowError

    monkeypatch.setattr(index, "put", fails_once)
    note = await asyncio.wait_for(api.remember("tea"), 5)

    assert (await api.note(note["id"]))["content"] == "tea"
    assert await api.found((await api.remember("mate"))["content"]) == ["mate"]


# ------------------------------------------------------------------ check and stats


async def test_a_sound_shelf_has_no_problems(either: Api) -> None:
    await either.remember("x", key="k")

    assert await either.call("shelf.check", principal=ROOT) == {"ok": True, "problems": [], "notes": 1, "last_seq": 2}
    assert (await either.refused("shelf.check")).code == -32004


async def test_a_check_while_others_write_finds_no_false_problems(durable: Api) -> None:
    writing = [asyncio.ensure_future(durable.remember(f"n{n}")) for n in range(60)]
    checks = [await durable.call("shelf.check", principal=ROOT) for _ in range(10)]
    await asyncio.gather(*writing)

    assert all(check["ok"] for check in checks)


async def test_a_note_that_recall_does_not_know_is_a_problem(api: Api) -> None:
    await api.remember("x")
    await api.found("x")
    api.shelf().projection(ShelfIndex).index.remove(1)
    result = await api.call("shelf.check", principal=ROOT)

    assert result["ok"] is False
    assert "recall knows 0 of 1 notes" in result["problems"][0]


async def test_stats(either: Api) -> None:
    a = await either.remember("x", key="k")
    b = await either.remember("y", links=[{"to": a["id"]}])
    await either.call("remember_many", notes=[{"content": "z"}])
    await either.call("forget", id=b["id"])
    await either.remember("x", key="k")
    await either.found("x")
    await either.call("get_context", query="x")

    assert await either.call("get_stats") == {
        "notes_created": 3, "retrievals": 2, "entity_index_hits": 0, "total_notes": 3, "total_facts": 1,
        "hidden_notes": 1, "superseded_notes": 0, "nuggets": 1, "links": 2, "sessions": 0, "last_seq": 7,
        "entity_index": {}, "conflicts": 0, "jobs": {"queued": 0, "running": 0, "waiting": 0},
        "governance": {"refused": {}, "redacted": {}, "quarantined": 0},
    }  # fmt: skip


async def test_a_cancelled_or_late_change_does_not_happen(either: Api) -> None:
    cancelled = either.request("remember", content="x")
    cancelled.ticket.cancelled = True
    late = either.request("remember", content="x")
    late.ticket.deadline = either.clock.monotonic()
    for call in (cancelled, late):
        with pytest.raises(Exception, match="nothing happened"):
            await either.handle(call)

    assert (await either.call("get_stats"))["last_seq"] == 0


async def test_a_writer_that_hangs_is_seen_also_while_its_shelf_closes(tmp_path: Path) -> None:
    clock, go_on = FakeClock(), threading.Event()
    api = Api(clock, SqliteStores(tmp_path, clock))
    await api.shelves.start()
    try:
        await api.call("shelf.create", shelf="mine")
        shelf = api.shelves.opened("mine")
        assert shelf is not None
        working = asyncio.create_task(shelf.commit(Origin("shelfd", "test"), lambda _: go_on.wait(20)))
        await asyncio.sleep(0)
        assert api.shelves.stuck(-1) == ["mine"]

        clock.advance(api.settings.idle_close + timedelta(seconds=1))
        closing = asyncio.create_task(api.shelves.close_idle())
        await asyncio.sleep(0)
        assert api.shelves.state("mine") == "closed"
        assert api.shelves.stuck(-1) == ["mine"]
        assert api.shelves.stuck(60) == []
    finally:
        go_on.set()
    await asyncio.gather(working, closing)
    assert api.shelves.stuck(-1) == []
    await api.shelves.close()


async def test_what_a_crash_left_of_shelves_is_removed_at_start(tmp_path: Path) -> None:
    async with memory(lambda clock: SqliteStores(tmp_path, clock)) as api:
        await api.shelves.resumed()
        await api.shelves.close()
        leave_over(tmp_path)
        await api.reopen()
        await api.shelves.resumed()

        assert api.shelves.cleaned_up == 3
        assert names_with_a_dot(tmp_path) == [".MEMORY.md"]


def leave_over(root: Path) -> None:
    for name in (".half.new", ".dropped-old"):
        (root / name).mkdir()
        (root / name / "shelf.db").write_bytes(b"4711-secret")
    (root / "default" / ".MEMORY.md.a1b2.tmp").write_bytes(b"4711-secret")
    (root / "default" / ".MEMORY.md").write_bytes(b"mine")


def names_with_a_dot(root: Path) -> list[str]:
    return sorted(path.name for path in root.rglob(".*"))


@pytest.mark.parametrize(("method", "params"), [("remember", {"content": "tea"}), ("shelf.drop", {"confirm": "mine"})])
async def test_who_waited_for_a_shelf_of_theirs_may_not_use_another_s_of_its_name(
    durable: Api, method: str, params: dict[str, str]
) -> None:
    """It was dropped and made anew while the call waited: access is asked again once it is there."""
    await durable.call("shelf.create", shelf="mine")
    dropping = asyncio.ensure_future(durable.call("shelf.drop", shelf="mine", confirm="mine"))
    await asyncio.sleep(0)
    for _ in range(100_000):
        if "mine" in durable.shelves._locks:  # the drop holds the door
            break
        await asyncio.sleep(0)
    creating = asyncio.ensure_future(durable.call("shelf.create", shelf="mine", principal=BOB))
    await asyncio.sleep(0)
    late = asyncio.ensure_future(durable.refused(method, params, shelf="mine"))
    await asyncio.gather(dropping, creating)

    assert (await late).kind == "Forbidden"
    assert durable.shelves.owner("mine") == BOB
    assert (await durable.call("note.list", shelf="mine", principal=BOB))["notes"] == []


async def test_a_shelf_that_cannot_be_closed_well_stops_nobody(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    await api.call("shelf.create", shelf="mine")
    shelf = api.shelf("mine")

    async def full() -> None:
        raise StoreBusy("the disk is full")

    monkeypatch.setattr(shelf, "close", full)
    api.clock.advance(timedelta(days=1))
    await api.shelves.close_idle()
    assert api.shelves.opened("mine") is None
    assert await names(api, ROOT) == ["default", "mine"]
