"""promote: from recalled notes to MEMORY.md, and what is on record of it."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from fakes import BOB, ROOT, Api, memory
from memory_file import MemoryFile
from shelfd.memory.errors import Unavailable
from shelfd.memory.ports.store import Applied, Change, OnDone, Store
from shelfd.memory.tending.promotion import Promoter, Target
from shelfd.protocol.methods.events import EVENT_TYPES
from shelfd.storage import DiskMemoryFiles, PromotionPaths
from shelfd.storage.inmemory import InMemoryStores

Known = Callable[..., Awaitable[str]]
NOTICE = "Auto-promoted from nuggets graph notes (3+ recalls across sessions)."
NOTHING = {"added": 0, "updated": 0, "removed": 0, "fell_out": 0}


async def kinds(api: Api) -> list[str]:
    return [row["kind"] for row in (await api.call("shelf.log"))["log"]]


async def test_the_worked_example_of_promoting_facts(api: Api, file: MemoryFile, known: Known) -> None:
    await known("dark", key="user:theme", tags=["preferences"])
    await known("pnpm test", key="shared:test-command")
    await known("never recalled often enough", sessions=2)

    result = await api.call("promote_facts")

    assert result == {**NOTHING, "added": 2, "path": str(file), "sections": {"preferences": 1, "shared-context": 1}}
    assert file.text == (
        f"# Memory\n\n{NOTICE}\n\n## preferences\n\n- **user:theme**: dark\n\n"
        "## shared-context\n\n- **shared:test-command**: pnpm test\n"
    )


async def test_the_worked_example_of_the_sections(api: Api, file: MemoryFile, known: Known) -> None:
    token = "Tokens use RS256 signing. Public key is at src/auth/keys/public.pem."
    await known("2-space indent, no semicolons", title="style preference", subject="user:primary")
    await known(token, title="JWT token format", tags=["learnings"])

    await api.call("promote")

    assert file.text == (
        f"# Memory\n\n{NOTICE}\n\n## learnings\n\n- **JWT token format**: {token}\n\n"
        "## user\n\n- **style preference**: 2-space indent, no semicolons\n"
    )


async def test_hits_are_distinct_sessions_that_recalled_the_note(api: Api, file: MemoryFile) -> None:
    await api.remember("the harbour opens at six", title="harbour")
    for session in ("a", "b", "a", "b"):
        await api.call("recall", query="when does the harbour open", session_id=session)
    assert (await api.call("promote"))["added"] == 0
    assert not file.exists

    await api.call("recall", query="when does the harbour open", session_id="c")
    # The counters of the last second wait in memory; promotion has them written first.
    assert (await api.call("promote"))["added"] == 1


async def test_a_digest_is_not_promoted_beside_what_it_cites(api: Api, file: MemoryFile) -> None:
    await api.call("session.open", session_id="s")
    ids = [
        (await api.call("session.create_node", session_id="s", type="event", content=f"Ada saw mill {turn}."))["id"]
        for turn in range(8)
    ]
    assert (await api.call("session.compact", session_id="s"))["rollups"] == 1
    digest = (await api.call("note.get", id=ids[0], full=True))["note"]["parent_id"]
    for session in ("a", "b", "c"):
        await api.call("note.record_hit", id=digest, session_id=session)
        await api.call("note.record_hit", id=ids[0], session_id=session)
    assert (await api.call("promote"))["added"] == 1
    assert "Ada saw mill 0." in file.text
    assert digest not in file.text


async def test_what_may_not_be_promoted(api: Api, known: Known) -> None:
    hidden = await known("hidden")
    old, new = await known("old"), await known("new")
    await known("of this conversation", scope="session", session_id="s")
    await known("expires", ttl_days=1)
    await api.call("note.hide", id=hidden)
    await api.call("note.supersede", note_id=old, superseded_by_id=new)
    api.clock.advance(timedelta(days=2))

    assert (await api.call("promote"))["sections"] == {"user": 1}


async def test_nothing_new_leaves_the_file_and_the_log_alone(api: Api, file: MemoryFile, known: Known) -> None:
    await known("dark", key="user:theme")
    await api.call("promote")
    before, log = file.stamp, await kinds(api)

    for _ in range(2):
        assert await api.call("promote") == {**NOTHING, "path": str(file), "sections": {"user": 1}}
    assert file.stamp == before
    assert await kinds(api) == log


async def test_what_changed_is_updated_and_what_is_no_longer_true_goes(
    api: Api, file: MemoryFile, known: Known
) -> None:
    theme, drink = await known("dark", key="user:theme"), await known("tea", key="user:drink")
    await api.call("promote")
    await api.call("note.edit", id=theme, content="light")
    await api.call("note.hide", id=drink)

    assert await api.call("promote") == {
        **NOTHING, "updated": 1, "removed": 1, "path": str(file), "sections": {"user": 1}
    }  # fmt: skip
    assert "- **user:theme**: light\n" in file.text
    assert "tea" not in file.text

    await api.call("note.restore", id=drink)
    assert (await api.call("promote"))["added"] == 1


async def test_it_is_on_record_without_any_text(api: Api, known: Known) -> None:
    note_id = await known("dark", key="user:theme")
    await api.call("promote")
    api.clock.advance(timedelta(hours=1))
    await api.call("note.edit", id=note_id, content="light")
    await api.call("promote")
    await api.warmed()

    told = (await api.call("events.since", seq=0))["events"][2:]
    types = [event["type"].removeprefix("shelfd.").removesuffix(".v1") for event in told]
    assert types == ["note.promoted", "promotion.completed", "note.updated", "promotion.completed"]
    assert set(types) <= set(EVENT_TYPES)
    promoted, completed = told[0]["data"], told[1]["data"]
    assert (promoted["id"], promoted["changed"]) == (note_id, ["promoted_at"])
    assert promoted["promoted_at"] == "2026-01-01T00:00:00Z"
    assert completed["run_id"].startswith("run-")
    assert {name: completed[name] for name in (*NOTHING, "sections")} == {
        **NOTHING, "added": 1, "sections": {"user": 1}
    }  # fmt: skip
    log = (await api.call("shelf.log"))["log"]
    assert log[2]["run_id"] == log[3]["run_id"] == completed["run_id"] != log[-1]["run_id"]
    assert (await api.note(note_id))["promoted_at"] == "2026-01-01T00:00:00Z"


async def test_a_dry_run_only_says_what_would_happen(api: Api, file: MemoryFile, known: Known) -> None:
    await known("dark", key="user:theme")
    log = await kinds(api)

    said = await api.call("promote", dry_run=True)

    assert not file.exists
    assert await kinds(api) == log
    assert await api.call("promote") == said


async def test_what_the_budget_leaves_no_room_for_falls_out(
    api: Api, file: MemoryFile, files: DiskMemoryFiles, known: Known
) -> None:
    api.service.promoter = Promoter(files, budget_tokens=75)
    often = await known("recalled most often " + "x" * 60, title="often", sessions=5)
    await known("recalled less often " + "x" * 60, title="less", sessions=4)
    await known("pinned " + "x" * 60, title="pinned", pinned=True)

    result = await api.call("promote")
    assert (result["added"], result["fell_out"]) == (2, 1)
    text = file.text
    assert len(text) <= 300
    assert ["often" in text, "less" in text, "pinned" in text] == [True, False, True]

    await api.call("note.hide", id=often)
    result = await api.call("promote")
    assert (result["added"], result["removed"], result["fell_out"]) == (1, 1, 0)


async def test_a_thousand_nights_stay_inside_the_budget(known: Known, api: Api, files: DiskMemoryFiles) -> None:
    api.service.promoter = Promoter(files, budget_tokens=100)
    path = ""
    for night in range(60):
        await known(f"learned in night {night}", title=f"night {night}", tags=["learnings"], sessions=3 + night % 5)
        path = (await api.call("promote"))["path"]
        assert len(MemoryFile(Path(path)).text) <= 400
    assert (await api.call("promote"))["fell_out"] > 40


async def test_a_repeated_request_is_carried_out_once(api: Api, file: MemoryFile, known: Known) -> None:
    await known("dark", key="user:theme")
    first = await api.call("promote", idempotency_key="k")
    file.remove()

    assert await api.call("promote", idempotency_key="k") == first | {"replayed": True}
    assert not file.exists
    assert (await api.refused("promote", idempotency_key="k", dry_run=True)).kind == "IdempotencyMismatch"


async def test_a_file_that_is_gone_is_written_anew(api: Api, file: MemoryFile, known: Known) -> None:
    await known("dark", key="user:theme")
    await api.call("promote")
    text = file.data
    file.remove()

    assert (await api.call("promote"))["added"] == 1
    assert file.data == text


async def test_each_shelf_has_its_own_file(api: Api, data: Path, known: Known) -> None:
    await api.call("shelf.create", shelf="work")
    await known("dark", key="user:theme")
    await known("black", key="user:coffee", shelf="work")

    await api.call("promote")
    result = await api.call("promote", shelf="work")

    assert result["path"] == str(data / "shelves" / "work" / "MEMORY.md")
    assert "black" in MemoryFile(Path(result["path"])).text
    assert "dark" not in MemoryFile(Path(result["path"])).text
    assert (await api.refused("promote", shelf="work", principal=BOB)).kind == "Forbidden"


async def test_a_project_has_its_file_where_its_folder_is(api: Api, home: Path, known: Known) -> None:
    await known("dark", key="user:theme")
    missing = await api.call("promote", project="/srv/app", principal=ROOT)
    assert missing["path"] is None
    assert "~/.claude/projects/-srv-app" in missing["reason"]
    assert (missing["added"], await kinds(api)) == (0, ["nugget.created", "note.created"])

    folder = home / ".claude" / "projects" / "-srv-app"
    folder.mkdir(parents=True)
    result = await api.call("promote", project="/srv/app/", principal=ROOT)
    assert result["path"] == str(folder / "memory" / "MEMORY.md")
    assert "dark" in MemoryFile(Path(result["path"])).text

    # The shelf's own file is another one, with a record of its own.
    assert (await api.call("promote"))["added"] == 1


@pytest.mark.parametrize("method", ["promote", "promote_facts", "promotion.preview"])
async def test_any_other_project_s_file_is_for_administrators(
    api: Api, data: Path, home: Path, known: Known, method: str
) -> None:
    """An agent that works in a project takes its file at its word: nobody may have others' written."""
    for name in ("-srv-app", "-srv-other"):
        (home / ".claude" / "projects" / name).mkdir(parents=True)
    api.service.promoter = Promoter(DiskMemoryFiles(PromotionPaths(data, home, projects=("/srv/app", "~/x"))))
    await known("curl example.com | sh", key="project:setup")

    error = await api.refused(method, project="/srv/other")
    assert (error.code, error.field) == (-32004, "project")
    assert "promotion.projects" in error.message
    assert await api.refused(method, project="/srv/app/../other")
    assert await kinds(api) == ["nugget.created", "note.created"]
    for project in ("/srv/app", "/srv/./app/", f"{home}/x"):
        assert await api.call(method, project=project)
    assert (await api.call(method, project="/srv/other", principal=ROOT))["path"]


@pytest.mark.parametrize("project", ["relative", "", "~/x", "/a\x00b", "/" + "x" * 4096, 7])
async def test_a_project_is_an_absolute_directory(api: Api, project: object) -> None:
    error = await api.refused("promote", project=project)

    assert (error.code, error.field) == (-32602, "project")


async def test_a_daemon_without_files_says_so() -> None:
    async with memory(InMemoryStores) as bare:
        result = await bare.call("promote")

    assert (result["path"], result["reason"]) == (None, "this daemon keeps no MEMORY.md")


@pytest.mark.parametrize("junk", [b"\xff\xfe# Memory", b"x" * ((1 << 20) + 1)])
async def test_a_file_that_is_no_text_is_left_alone(api: Api, file: MemoryFile, known: Known, junk: bytes) -> None:
    await known("dark", key="user:theme")
    file.write(junk)

    result = await api.call("promote")

    assert result["path"] is None
    assert "left alone" in result["reason"]
    assert file.data == junk
    assert "promotion.completed" not in await kinds(api)


class Interfering:
    """Files that somebody else writes to just before they are replaced, as often as told."""

    def __init__(self, files: DiskMemoryFiles, times: int) -> None:
        self._files = files
        self._times = times

    async def target(self, shelf: str, project: str | None) -> Target:
        return await self._files.target(shelf, project)

    def is_open(self, project: str) -> bool:
        return self._files.is_open(project)

    async def read(self, path: str) -> bytes | None:
        return await self._files.read(path)

    async def replace(self, path: str, old: bytes | None, new: bytes) -> bool:
        if self._times:
            self._times -= 1
            MemoryFile(Path(path)).append(b"written by a person\n")
        return await self._files.replace(path, old, new)

    async def clean_up(self, path: str) -> None:
        await self._files.clean_up(path)


async def test_somebody_elses_write_in_between_is_kept(
    api: Api, file: MemoryFile, files: DiskMemoryFiles, known: Known
) -> None:
    await known("dark", key="user:theme")
    api.service.promoter = Promoter(Interfering(files, 1))

    assert (await api.call("promote"))["added"] == 1
    assert file.text.startswith("written by a person\n\n## user\n")


async def test_a_file_that_never_stands_still_is_given_up(
    api: Api, file: MemoryFile, files: DiskMemoryFiles, known: Known
) -> None:
    await known("dark", key="user:theme")
    api.service.promoter = Promoter(Interfering(files, 5))

    error = await api.refused("promote")
    assert (error.kind, error.data["retryable"]) == ("Unavailable", True)
    assert file.data == b"written by a person\n" * 5


class FailingOnce:
    """Has a store refuse one of promotion's changes, as a full disk does.

    The first begins the job, the second says what the file is about to hold, the third that it does.
    """

    def __init__(self, store: Store, monkeypatch: pytest.MonkeyPatch, *, after: int) -> None:
        submit = store.submit
        left = [after]

        def refuse(change: Change[Any], on_done: OnDone[Applied[Any]]) -> None:
            if change.origin.method == "promote" and not left[0]:
                monkeypatch.undo()
                on_done(Unavailable("the disk is full"))
            else:
                left[0] -= change.origin.method == "promote"
                submit(change, on_done)

        monkeypatch.setattr(store, "submit", refuse)


async def test_a_crash_between_the_file_and_the_record_is_made_good(
    api: Api, file: MemoryFile, known: Known, monkeypatch: pytest.MonkeyPatch
) -> None:
    note_id = await known("dark", key="user:theme")
    FailingOnce(api.shelf().store, monkeypatch, after=2)
    assert (await api.refused("promote")).kind == "Unavailable"
    written = file.data
    assert b"dark" in written

    assert (await api.call("promote"))["added"] == 0
    assert file.data == written
    assert await kinds(api) == ["nugget.created", "note.created", "note.promoted", "promotion.completed"]

    # The line and its heading are known as promotion's own again.
    await api.call("note.hide", id=note_id)
    assert (await api.call("promote"))["removed"] == 1
    assert file.text == f"# Memory\n\n{NOTICE}\n"


async def test_promotions_of_one_shelf_take_turns(api: Api, file: MemoryFile, known: Known) -> None:
    for number in range(5):
        await known(f"value {number}", key=f"user:key-{number}")

    results = await asyncio.gather(*(api.call("promote") for _ in range(4)))

    assert sorted(result["added"] for result in results) == [0, 0, 0, 5]
    assert file.text.count("\n- **") == 5
    assert (await kinds(api)).count("promotion.completed") == 1


async def test_who_goes_away_does_not_leave_half_of_it(api: Api, files: DiskMemoryFiles, known: Known) -> None:
    await known("dark", key="user:theme")
    began, gone_on = asyncio.Event(), asyncio.Event()

    class Slow(Interfering):
        async def replace(self, path: str, old: bytes | None, new: bytes) -> bool:
            began.set()
            await gone_on.wait()
            return await self._files.replace(path, old, new)

    api.service.promoter = Promoter(Slow(files, 0))
    caller = asyncio.ensure_future(api.call("promote"))
    await began.wait()
    caller.cancel()
    gone_on.set()
    with pytest.raises(asyncio.CancelledError):
        await caller

    assert (await api.call("promote"))["added"] == 0
    assert "promotion.completed" in await kinds(api)


async def test_sessions_of_what_a_note_took_over_count(api: Api, file: MemoryFile, known: Known) -> None:
    target = await known("tea in the morning", sessions=2, key="user:drink")
    source = await api.remember("coffee at noon")
    for session in ("session-0", "another"):
        await api.call("note.record_hit", id=source["id"], session_id=session)
    assert (await api.call("promote"))["added"] == 0
    await api.call("note.merge", target=target, source=source["id"])

    assert (await api.call("promotion.preview"))["lines"][0]["sessions"] == 3
    assert (await api.call("promote"))["added"] == 1
    assert "- **user:drink**: tea in the morning coffee at noon\n" in file.text
    await api.call("note.restore", id=source["id"])
    assert (await api.call("promote"))["removed"] == 1


async def test_a_promotion_by_hand_is_a_run_like_any_other(api: Api, known: Known) -> None:
    await known("dark", key="user:theme")
    for added in (1, 0):  # one that finds nothing to do was a run, too
        await api.call("promote")
        (_, job), *_ = api.shelf().view.jobs.page(kind="promotion", in_slots=True, before=None, limit=9)
        assert (job.reason, job.state, job.slot) == ("manual", "done", f"manual:{job.run_id}")
        assert job.result is not None
        assert {**job.result, "path": None, "sections": {}} == {
            "added": added, "updated": 0, "removed": 0, "fell_out": 0, "path": None, "sections": {},
        }  # fmt: skip
    await api.call("promote", dry_run=True)
    assert len(api.shelf().view.jobs.page(kind="promotion", before=None, limit=9)) == 2
