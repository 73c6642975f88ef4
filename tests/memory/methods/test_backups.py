"""Backing up, restoring and renaming shelves by their methods."""

import asyncio
from datetime import timedelta
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fakes import BOB, ROOT, Api, memory
from shelfd.memory.log.logical import logical_hash
from shelfd.memory.ports.backups import BackupPlan, NewBackup, Report
from shelfd.storage.inmemory import InMemoryStore

_SECOND: Final = timedelta(seconds=1)


async def live(api: Api, shelf: str = "default") -> dict[str, str]:
    """What callers are shown, by title or key."""
    found = await api.call("note.list", limit=1000, shelf=shelf)
    return {note["title"] or note["content"]: note["content"] for note in found["notes"]}


async def test_a_backup_is_a_job_and_is_listed(either: Api) -> None:
    await either.remember("the crane is at berth four")
    made = await either.call("shelf.backup", principal=ROOT)
    listed = await either.call("shelf.backups", principal=ROOT)

    assert made["backup"]["seq"] == either.shelf().view.log.last_seq
    assert made["backup"]["logical_hash"] == logical_hash(either.shelf().view)
    assert listed["backups"] == [made["backup"]]
    assert made["backup"]["path"].startswith(listed["directory"])
    (job,) = (await either.call("job.list", principal=ROOT))["jobs"]
    assert (job["kind"], job["state"], job["run_id"]) == ("backup", "done", made["run_id"])


async def test_a_restore_puts_a_backup_in_place_and_says_what_comes_back(either: Api) -> None:
    stays, goes = await either.remember("stays"), await either.remember("goes")
    await either.call("shelf.backup", principal=ROOT)
    await either.call("forget", id=goes["id"], purge=True)
    await either.call("note.edit", id=stays["id"], content="edited")
    restored = await either.call("shelf.restore", principal=ROOT)

    assert restored["purged_since"] == [goes["id"]]
    assert restored["replaced"] is not None
    assert restored["seq"] == either.shelf().view.log.last_seq == restored["backup"]["seq"]
    assert sorted((await live(either)).values()) == ["goes", "stays"]
    await either.remember("after")
    assert await either.found("after") == ["after"]
    assert (await either.call("shelf.check", principal=ROOT))["ok"]


async def test_a_dry_run_only_checks(either: Api) -> None:
    await either.remember("before")
    await either.call("shelf.backup", principal=ROOT)
    await either.remember("after")
    for wanted in ({}, {"as_shelf": "other"}, {"to_seq": 2}):
        checked = await either.call("shelf.restore", dry_run=True, principal=ROOT, **wanted)
        assert (checked["dry_run"], checked["replaced"]) == (True, None)
    assert sorted((await live(either)).values()) == ["after", "before"]
    assert either.shelves.names() == ["default"]


async def test_a_backup_becomes_another_shelf_beside(either: Api) -> None:
    await either.remember("before")
    await either.call("shelf.backup", principal=ROOT)
    await either.remember("after")
    restored = await either.call("shelf.restore", as_shelf="other", principal=ROOT)

    assert (restored["shelf"], restored["replaced"]) == ("other", None)
    assert [note["content"] for note in (await either.call("note.list", shelf="other", principal=ROOT))["notes"]] == [
        "before"
    ]
    assert sorted((await live(either)).values()) == ["after", "before"]
    again = await either.refused("shelf.restore", as_shelf="other", principal=ROOT)
    assert (again.code, again.field) == (-32602, "as_shelf")


async def test_callers_wait_while_a_backup_takes_its_place(either: Api) -> None:
    await either.remember("before")
    await either.call("shelf.backup", principal=ROOT)
    restoring = asyncio.ensure_future(either.call("shelf.restore", principal=ROOT))
    asked = []
    while not restoring.done():
        asked.append(asyncio.ensure_future(either.call("recall", query="before")))
        await asyncio.sleep(0)
    await restoring
    for answer in await asyncio.gather(*asked):
        assert [hit["note"]["content"] for hit in answer["results"]] == ["before"]


async def test_what_is_wanted_is_there_and_may_be_named(either: Api) -> None:
    missing = await either.refused("shelf.restore", principal=ROOT)
    assert (missing.code, missing.field) == (-32001, "backup")
    await either.call("shelf.create", shelf="mine")
    await either.call("shelf.backup", shelf="mine")
    for params in ({"backup": "/etc/passwd"}, {"backup": "../default/x.db"}):
        assert (await either.refused("shelf.restore", params, shelf="mine")).code == -32004
    assert (await either.refused("shelf.backup", shelf="mine", to="/tmp/x")).code == -32004
    relative = await either.refused("shelf.restore", backup="a/b.db", principal=ROOT)
    assert (relative.code, relative.field) == (-32602, "backup")
    unknown = await either.refused("shelf.restore", backup="b.db", shelf="mine")
    assert unknown.code == -32001
    assert (await either.call("shelf.restore", shelf="mine"))["shelf"] == "mine"
    for method in ("shelf.backup", "shelf.backups", "shelf.restore"):
        assert (await either.refused(method, shelf="mine", principal=BOB)).code == -32004
        assert (await either.refused(method)).code == -32004
    assert (await either.refused("shelf.move", shelf="mine", to="b", principal=BOB)).code == -32004


async def test_the_shelf_keeps_its_owner_whoever_restores_it(either: Api) -> None:
    await either.call("shelf.create", shelf="mine")
    await either.call("shelf.backup", shelf="mine")
    await either.call("shelf.restore", shelf="mine", principal=ROOT)
    assert (await either.call("shelf.backups", shelf="mine"))["backups"] != []
    await either.call("shelf.restore", shelf="mine", as_shelf="second")
    owners = {shelf["shelf"]: shelf["owner"] for shelf in (await either.call("shelf.list"))["shelves"]}
    assert owners["mine"] == owners["second"] == either.principal


async def test_a_dropped_shelf_comes_back(either: Api) -> None:
    await either.call("shelf.create", shelf="work")
    await either.remember("kept", shelf="work")
    made = await either.call("shelf.backup", shelf="work")
    dropped = await either.call("shelf.drop", shelf="work", confirm="work")
    assert dropped["still_in"] == [made["backup"]["path"]]
    await either.call("shelf.restore", shelf="work", principal=ROOT)
    assert (await either.call("recall", query="kept", shelf="work"))["results"] != []


# ----------------------------------------------------------------- to a change


async def test_a_shelf_is_taken_back_to_a_change(either: Api) -> None:
    fact = await either.remember("blue", key="colour")
    await either.remember("one")
    seq, before = either.shelf().view.log.last_seq, await live(either)
    await either.remember("red", key="colour")
    await either.call("note.hide", id=fact["id"])
    await either.call("remember_many", notes=[{"content": f"line {number}"} for number in range(90)])
    back = await either.call("shelf.restore", to_seq=seq, principal=ROOT)

    assert await live(either) == before
    assert (back["backup"], back["replaced"], back["kept"]) == (None, None, [])
    assert back["seq"] == either.shelf().view.log.last_seq


async def test_a_backup_is_taken_back_before_it_takes_its_place(either: Api) -> None:
    await either.remember("blue", key="colour")
    seq, before = either.shelf().view.log.last_seq, await live(either)
    await either.remember("red", key="colour")
    await either.call("session.open", session_id="s")
    name = (await either.call("shelf.backup", principal=ROOT))["backup"]["path"].rsplit("/", 1)[1]
    await either.remember("green", key="colour")
    result = await either.call("shelf.restore", backup=name, to_seq=seq, principal=ROOT)

    assert await live(either) == before
    assert result["untouched"] == {"session.opened": 1}
    assert (await either.call("shelf.check", principal=ROOT))["ok"]
    beyond = await either.refused("shelf.restore", backup=name, to_seq=999, principal=ROOT)
    assert (beyond.code, beyond.field) == (-32602, "to_seq")
    assert "without a backup" in beyond.message


async def test_a_change_in_the_middle_of_a_transaction_is_refused(either: Api) -> None:
    await either.call("remember_many", notes=[{"content": f"line {number}"} for number in range(5)])
    last = either.shelf().view.log.last_seq
    refused = await either.refused("shelf.restore", to_seq=last - 1, principal=ROOT)
    assert (refused.code, refused.field) == (-32602, "to_seq")
    assert f"{last}" in refused.message
    assert (await either.refused("shelf.restore", to_seq=last + 1, principal=ROOT)).limit == last


Step = tuple[str, int, str]
_STEPS = st.lists(
    st.tuples(
        st.sampled_from(["remember", "hide", "edit", "link", "nugget"]), st.integers(0, 3), st.text("ab", max_size=3)
    ),
    max_size=12,
)


@settings(max_examples=25, deadline=None)
@given(before=_STEPS, after=_STEPS)
def test_whatever_was_done_since_is_taken_back(before: list[Step], after: list[Step]) -> None:
    async def taken_back() -> None:
        async with memory() as api:
            for step in before:
                await do(api, step)
            seq, shown = api.shelf().view.log.last_seq, await picture(api)
            for step in after:
                await do(api, step)
            await api.call("shelf.restore", to_seq=seq, principal=ROOT)
            assert await picture(api) == shown

    asyncio.run(taken_back())


async def do(api: Api, step: Step) -> None:
    verb, number, text = step
    key = f"key {number}"
    notes = (await api.call("note.list", limit=1000))["notes"]
    if verb == "remember" or not notes:
        await api.remember(f"value {text}", key=key)
    elif verb == "hide":
        await api.call("note.hide", id=notes[number % len(notes)]["id"])
    elif verb == "edit":
        await api.call("note.edit", id=notes[number % len(notes)]["id"], content=f"edited {text}", add_tags=["x"])
    elif verb == "link" and len(notes) > 1:
        await api.call("link.upsert", source=notes[0]["id"], target=notes[-1]["id"], relation=f"r{number}")
    else:
        await api.remember(f"in another {text}", nugget=f"nugget{number}")


async def picture(api: Api) -> Any:
    """All notes that are shown and their links, and the nuggets that hold any."""
    notes = (await api.call("note.list", limit=1000))["notes"]
    shown = {note["id"] for note in notes}
    links = sorted(
        (note["id"], link["to"], link["relation"]) for note in notes for link in note["links"] if link["to"] in shown
    )
    return sorted((n["id"], n["content"], n["nugget"], tuple(n["tags"])) for n in notes), links


# ----------------------------------------------------------------------- jobs


async def test_a_cancelled_backup_ends_and_says_so(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, released = asyncio.Event(), asyncio.Event()

    async def slowly(_store: InMemoryStore, _plan: BackupPlan, report: Report) -> NewBackup:
        report(1, 4)
        begun.set()
        await released.wait()
        raise AssertionError

    monkeypatch.setattr(InMemoryStore, "backup", slowly)
    asking = asyncio.ensure_future(api.call("shelf.backup", principal=ROOT))
    await begun.wait()
    (job,) = (await api.call("job.list"))["jobs"]
    api.clock.advance(_SECOND)
    for _ in range(100):
        told = (await api.call("job.get", id=job["id"]))["job"]["progress"]
        if told == {"done": 1, "total": 4}:
            break
    assert told == {"done": 1, "total": 4}
    await api.call("job.cancel", id=job["id"], principal=ROOT)
    api.clock.advance(_SECOND)
    with pytest.raises(Exception, match="cancelled"):
        await asking
    assert (await api.call("job.get", id=job["id"]))["job"]["state"] == "failed"


# ----------------------------------------------------------------------- names


async def test_a_shelf_is_renamed_while_it_is_in_use(either: Api) -> None:
    await either.call("shelf.create", shelf="work")
    await either.remember("kept", shelf="work")
    assert await either.call("shelf.move", shelf="work", to="home") == {"shelf": "home", "moved_from": "work"}
    assert (await either.call("recall", query="kept", shelf="home"))["results"] != []
    assert (await either.refused("recall", query="kept", shelf="work")).code in (-32001, -32004)
    assert (await either.refused("shelf.move", shelf="default", to="b", principal=ROOT)).code == -32002
    assert (await either.refused("shelf.move", shelf="home", to="default")).code == -32002
