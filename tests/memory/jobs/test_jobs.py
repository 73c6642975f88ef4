"""Jobs through their methods: they go on after the shelf was closed, wait when the store is in trouble, and can end."""

import asyncio
import gc
import weakref
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

import pytest

from fakes import BOB, ROOT, Api, Refused
from shelfd.memory.errors import NotFound, StoreBusy
from shelfd.memory.jobs.runner import JobRunner
from shelfd.memory.jobs.work import Work
from shelfd.memory.ports.log import Origin
from shelfd.memory.shelf.shelf import Shelf
from shelfd.memory.tending import hide, purge


async def fill(api: Api, count: int, **named: Any) -> list[str]:
    notes = [{"content": f"tea {number}", "nugget": "n"} for number in range(count)]
    ids: list[str] = (await api.call("remember_many", notes=notes, **named))["ids"]
    return ids


async def jobs(api: Api, **params: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = (await api.call("job.list", params))["jobs"]
    return found


async def settled(api: Api) -> None:
    """Wait until no job has work left."""
    for _ in range(100_000):
        if not await jobs(api, unfinished=True):
            return
        await asyncio.sleep(0)
    raise AssertionError("jobs do not end")


@asynccontextmanager
async def halted(
    api: Api, monkeypatch: pytest.MonkeyPatch, method: str, **params: Any
) -> AsyncIterator[tuple[str, asyncio.Future[Any]]]:
    """Begin a job that takes no step but its first until *monkeypatch* is undone; yields its id and the request."""
    monkeypatch.setattr(JobRunner, "start", lambda _self, _job_id: None)
    calling = asyncio.ensure_future(api.call(method, params))
    shelf = {name: value for name, value in params.items() if name == "shelf"}
    for _ in range(100_000):
        if found := await jobs(api, unfinished=True, **shelf):
            break
        await asyncio.sleep(0)
    assert (found[0]["state"], found[0]["method"]) == ("queued", method)
    for _ in range(5):  # until the request waits for the job
        await asyncio.sleep(0)
    yield found[0]["id"], calling
    monkeypatch.undo()
    await asyncio.gather(calling, return_exceptions=True)


async def cut_short(api: Api, monkeypatch: pytest.MonkeyPatch, method: str, **params: Any) -> None:
    """Begin a job and close the shelf before its second step, as a daemon's end does; open it all again."""
    async with halted(api, monkeypatch, method, **params) as (_, calling):
        await api.shelves.close()
        with pytest.raises(Exception, match="shutting down"):
            await calling
    await api.reopen()


@pytest.mark.parametrize("count", [0, 1, hide.AT_ONCE, hide.AT_ONCE + 1, 9 * hide.AT_ONCE + 5])
async def test_clearing_hides_all_however_many_there_are(either: Api, count: int) -> None:
    await either.call("nugget.create", name="n")
    if count:
        await fill(either, count)
    await either.remember("tea elsewhere")

    cleared = await either.call("nugget.clear", name="n")
    assert cleared["hidden"] == count
    assert (await either.call("nugget.status", name="n"))["hidden_count"] == count
    assert await either.found("tea") == ["tea elsewhere"]
    # What fits one transaction is no job.
    assert len(await jobs(either)) == (count > hide.AT_ONCE)


async def test_a_clearing_of_many_steps_is_taken_back_as_one(either: Api) -> None:
    ids = await fill(either, 2 * hide.AT_ONCE + 1)
    cleared = await either.call("nugget.clear", name="n")
    undone = await either.call("reflection.undo", run_id=cleared["run_id"])

    assert (undone["undone"], undone["kept"]) == (len(ids), [])
    assert (await either.call("nugget.status", name="n"))["hidden_count"] == 0


async def test_what_is_written_after_the_request_to_clear_stays_in_sight(
    either: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    await fill(either, hide.AT_ONCE)
    await either.remember("green", key="tea", nugget="n")
    async with halted(either, monkeypatch, "nugget.clear", name="n") as (job_id, calling):
        await either.remember("black", key="tea", nugget="n")
        await either.remember("tea at five", nugget="n")
        monkeypatch.undo()
        either.service.jobs(either.shelf()).start(job_id)
        assert (await calling)["hidden"] == hide.AT_ONCE

    notes = (await either.call("note.list", nugget="n"))["notes"]
    assert sorted(note["content"] for note in notes) == ["black", "tea at five"]


async def test_a_job_cut_short_goes_on_when_the_shelf_is_opened_again(
    either: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = await fill(either, 3 * purge.NOTES_AT_ONCE)
    request = {"name": "n", "purge": True, "idempotency_key": "k"}
    await cut_short(either, monkeypatch, "nugget.remove", **request)
    result = await either.call("nugget.remove", request)

    assert result == {"removed": "n", "hidden": 0, "purged": len(ids), "still_in": [], "replayed": True}
    log = (await either.call("shelf.log", limit=1000))["log"]
    assert sorted(row["ids"][0] for row in log if row["kind"] == "note.purged") == sorted(ids)
    assert await either.found("tea", include_hidden=True) == []
    (job,) = await jobs(either)
    assert (job["state"], job["progress"]) == ("done", {"done": len(ids), "total": len(ids)})


async def test_a_closed_shelf_with_work_left_is_opened_at_start(durable: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    await durable.call("shelf.create", shelf="mine")
    await durable.call("shelf.create", shelf="other")
    await fill(durable, hide.AT_ONCE + 1, shelf="mine")
    await cut_short(durable, monkeypatch, "nugget.clear", name="n", shelf="mine")

    await durable.shelves.resumed()
    view = durable.shelf("mine").view
    for _ in range(100_000):
        if not view.jobs.page(unfinished=True, before=None, limit=1):
            break
        await asyncio.sleep(0)
    assert view.nuggets.counts("n").hidden == hide.AT_ONCE + 1
    assert durable.shelves.opened("other") is None


async def test_a_note_with_a_long_history_is_purged_in_steps(either: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(purge, "ROWS_AT_ONCE", 10)
    note = await either.remember("tea", key="drink")
    for number in range(35):
        await either.call("remember", content=f"4711-secret {number}", key="drink")
    seqs = either.shelf().view.log.last_seq
    result = await either.call("forget", id=note["id"], purge=True)

    assert result == {"forgotten": [note["id"]], "still_in": []}
    assert "4711-secret" not in str(either.shelf().view.log.page(since_seq=0, limit=9999))
    assert either.shelf().view.log.last_seq == seqs + 1


async def test_a_clearing_can_be_ended_and_begun_again(either: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    await fill(either, 2 * hide.AT_ONCE)
    async with halted(either, monkeypatch, "nugget.clear", name="n") as (job_id, calling):
        ended = (await either.call("job.cancel", id=job_id))["job"]
        assert (ended["state"], ended["error"]) == ("failed", "Cancelled")
        assert (await either.refused("job.cancel", id=job_id)).kind == "Conflict"
        assert (await either.call("nugget.status", name="n"))["hidden_count"] == hide.AT_ONCE
        monkeypatch.undo()
        await either.call("job.retry", id=job_id)
        assert (await calling)["hidden"] == 2 * hide.AT_ONCE

    assert (await either.refused("job.retry", id=job_id)).kind == "Conflict"


async def test_a_job_at_work_that_is_ended_stops_there(either: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    await fill(either, 3 * hide.AT_ONCE)
    async with halted(either, monkeypatch, "nugget.clear", name="n") as (job_id, calling):
        monkeypatch.undo()
        either.service.jobs(either.shelf()).start(job_id)
        await either.call("job.cancel", id=job_id)
        with pytest.raises(Exception, match="cancelled"):
            await calling
    assert (await either.call("job.get", id=job_id))["job"]["state"] == "failed"
    assert (await either.call("nugget.status", name="n"))["hidden_count"] < 3 * hide.AT_ONCE


async def test_a_purge_cannot_be_ended_half_way(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    note = await api.remember("tea")
    async with halted(api, monkeypatch, "forget", id=note["id"], purge=True) as (job_id, calling):
        assert (await api.refused("job.cancel", id=job_id)).kind == "Conflict"
        monkeypatch.undo()
        api.service.jobs(api.shelf()).start(job_id)
        assert (await calling)["forgotten"] == [note["id"]]


async def test_a_job_that_fails_again_and_again_is_given_up(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    await fill(api, 2 * hide.AT_ONCE)

    def broken(*_: object) -> None:
        raise KeyError("tea")

    async with halted(api, monkeypatch, "nugget.clear", name="n") as (job_id, calling):
        monkeypatch.undo()
        with monkeypatch.context() as patch:
            patch.setattr(hide, "hide_some", broken)
            api.service.jobs(api.shelf()).start(job_id)
            with pytest.raises(KeyError):
                await calling
            while (job := (await jobs(api))[0])["state"] != "dead":
                api.clock.advance(timedelta(minutes=10))
                await asyncio.sleep(0)
    assert (job["error"], job["attempts"]) == ("KeyError", 5)

    await api.call("job.retry", id=job_id)
    await settled(api)
    assert (await jobs(api))[0]["state"] == "done"


async def test_who_begins_a_job_again_does_not_wait_for_its_next_attempt(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    await fill(api, 2 * hide.AT_ONCE)

    def troubled(*_: object) -> None:
        raise StoreBusy("the disk is full")

    async with halted(api, monkeypatch, "nugget.clear", name="n") as (job_id, calling):
        monkeypatch.undo()
        with monkeypatch.context() as patch:
            patch.setattr(hide, "hide_some", troubled)
            api.service.jobs(api.shelf()).start(job_id)
            with pytest.raises(Refused, match="goes on by itself"):
                await calling
    await api.call("job.cancel", id=job_id)
    await api.call("job.retry", id=job_id)
    async with asyncio.timeout(20):
        await settled(api)
    assert [job["state"] for job in await jobs(api)] == ["done"]


async def test_a_job_whose_end_the_store_does_not_take_is_attempted_again(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    await fill(api, 2 * hide.AT_ONCE)
    commit = Shelf.commit

    def refused(*_: object) -> None:
        raise NotFound("there is none")

    def full(shelf: Shelf, origin: Origin, *rest: Any, **options: Any) -> Any:
        if origin.method == "job.record":
            raise StoreBusy("the disk is full")
        return commit(shelf, origin, *rest, **options)

    async with halted(api, monkeypatch, "nugget.clear", name="n") as (job_id, calling):
        monkeypatch.undo()
        with monkeypatch.context() as patch:
            patch.setattr(hide, "hide_some", refused)
            patch.setattr(Shelf, "commit", full)
            api.service.jobs(api.shelf()).start(job_id)
            with pytest.raises(Refused, match=r"the disk is full; job .* goes on by itself"):
                await calling
    async with asyncio.timeout(20):
        while await jobs(api, unfinished=True):
            api.clock.advance(timedelta(seconds=1))
            await asyncio.sleep(0)
    assert [job["state"] for job in await jobs(api)] == ["done"]


async def test_a_job_at_work_that_is_ended_and_begun_again_goes_on(
    either: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    await fill(either, 3 * hide.AT_ONCE)
    take = Work._take

    async def ended_and_begun_again(work: Work, *arguments: Any) -> Any:
        """Take a step that is refused, for the job was ended; before that is known, somebody begins it again."""
        monkeypatch.setattr(Work, "_take", take)
        await either.call("job.cancel", id=work.job.id)
        try:
            return await take(work, *arguments)
        finally:
            await either.call("job.retry", id=work.job.id)

    monkeypatch.setattr(Work, "_take", ended_and_begun_again)
    assert (await either.call("nugget.clear", name="n"))["hidden"] == 3 * hide.AT_ONCE
    assert [job["state"] for job in await jobs(either)] == ["done"]


async def test_an_unknown_job_is_not_found(api: Api) -> None:
    for method in ("job.get", "job.retry", "job.cancel"):
        assert (await api.refused(method, id="job-nowhere", principal=ROOT)).kind == "JobNotFound"


async def test_jobs_are_listed_page_by_page(api: Api) -> None:
    ids = [(await api.remember(f"tea {number}"))["id"] for number in range(5)]
    for note_id in ids:
        await api.call("forget", id=note_id, purge=True)
    first = await api.call("job.list", limit=3)
    second = await api.call("job.list", limit=3, cursor=first["next_cursor"])

    assert [job["note_ids"] for job in [*first["jobs"], *second["jobs"]]] == [[note_id] for note_id in reversed(ids)]
    assert "next_cursor" not in second


async def test_what_is_written_after_the_request_to_purge_stays(either: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    await fill(either, 2 * purge.NOTES_AT_ONCE)
    fact = await either.remember("4711-secret", key="combination", nugget="n")
    request = {"name": "n", "purge": True}
    async with halted(either, monkeypatch, "nugget.remove", **request) as (job_id, calling):
        await either.remember("tea at five", nugget="n")
        await either.remember("none any more", key="combination", nugget="n")
        monkeypatch.undo()
        either.service.jobs(either.shelf()).start(job_id)
        result = await calling

    # The fact's new value stays, and a person has to look at what else it kept; what it was before is gone.
    assert (result["purged"], result["still_in"]) == (2 * purge.NOTES_AT_ONCE, [fact["id"]])
    notes = (await either.call("note.list", nugget="n"))["notes"]
    assert sorted(note["content"] for note in notes) == ["none any more", "tea at five"]
    assert "4711-secret" not in str(either.shelf().view.log.page(since_seq=0, limit=9999))


@pytest.mark.parametrize("method", ["nugget.clear", "nugget.remove"])
async def test_no_note_leaves_a_nugget_that_is_being_cleared_or_purged(
    either: Api, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    ids = await fill(either, 2 * hide.AT_ONCE)
    await either.remember("elsewhere")
    params = {"name": "n", "purge": True} if method == "nugget.remove" else {"name": "n"}
    async with halted(either, monkeypatch, method, **params) as (job_id, calling):
        for name, change in (
            ("nugget.rename", {"name": "n", "new_name": "other"}),
            ("note.move", {"id": ids[-1], "nugget": "memory"}),
        ):
            refused = await either.refused(name, change)
            assert (refused.kind, refused.data["job"]) == ("Conflict", job_id)
        monkeypatch.undo()
        either.service.jobs(either.shelf()).start(job_id)
        await calling
    assert (await either.call("note.list"))["total"] == 1


async def test_nobody_waits_for_a_job_that_was_ended_before_its_turn(
    either: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    await fill(either, 2 * hide.AT_ONCE)
    async with halted(either, monkeypatch, "nugget.clear", name="n") as (job_id, calling):
        await either.call("job.cancel", id=job_id)
        monkeypatch.undo()
        either.service.jobs(either.shelf()).start(job_id)
        with pytest.raises(Exception, match="cancelled"):
            await calling
    assert either.shelf().in_use == 0


async def test_a_closed_shelf_is_let_go_of(api: Api) -> None:
    await api.call("shelf.create", shelf="mine")
    shelf = weakref.ref(api.shelf("mine"))
    await api.call("shelf.drop", shelf="mine", confirm="mine")
    await asyncio.sleep(0)
    gc.collect()

    assert shelf() is None


async def test_a_job_is_its_principal_s_and_the_administrators_(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    note = await api.remember("tea")
    await api.call("forget", id=note["id"], purge=True)
    (job,) = await jobs(api)
    assert job["result"] == {"purged": 1, "still_in": []}
    for principal, shown in ((BOB, False), (ROOT, True)):
        for method, params in (("job.list", {}), ("job.get", {"id": job["id"]})):
            result = await api.call(method, params, principal=principal)
            assert ("result" in (result["jobs"][0] if method == "job.list" else result["job"])) == shown
    await fill(api, 2 * hide.AT_ONCE)
    async with halted(api, monkeypatch, "nugget.clear", name="n") as (job_id, _):
        assert (await api.refused("job.cancel", id=job_id, principal=BOB)).kind == "Forbidden"
        assert (await api.call("job.cancel", id=job_id, principal=ROOT))["job"]["state"] == "failed"
        monkeypatch.undo()
        api.service.jobs(api.shelf()).start(job_id)
