"""Withdrawing: a purged note's lines leave MEMORY.md, and what a person made of one is named."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from fakes import ROOT, Api
from memory_file import MemoryFile
from shelfd.memory.errors import StoreBusy, Unavailable
from shelfd.memory.tending.promotion import Promoter, Target
from shelfd.storage import DiskMemoryFiles

Known = Callable[..., Awaitable[str]]


async def test_only_the_purged_note_s_line_goes(api: Api, known: Known, file: MemoryFile) -> None:
    gone = await known("4711-secret", key="user:combination")
    await known("green", key="user:kettle")
    await api.call("promote")
    await known("not promoted yet", key="user:later")
    file.append(b"\nMine.\n")
    before = file.text
    result = await api.call("forget", id=gone, purge=True)
    assert result["still_in"] == []
    assert file.text == before.replace("- **user:combination**: 4711-secret\n", "")
    assert "later" not in file.text  # a purge promotes nothing


async def test_a_line_that_a_person_changed_is_named(api: Api, known: Known, file: MemoryFile) -> None:
    gone = await known("4711-secret", key="user:combination")
    await api.call("promote")
    file.write(file.data.replace(b": 4711-secret", b": 4711-secret, changed by me"))
    result = await api.call("forget", id=gone, purge=True)
    assert result["still_in"] == [str(file)]
    assert "changed by me" in file.text


async def test_a_file_that_cannot_be_written_is_named(api: Api, known: Known, file: MemoryFile) -> None:
    gone = await known("4711-secret", key="user:combination")
    await api.call("promote")
    file.remove()
    file.path.mkdir()  # whoever runs the tests may write anywhere: a directory stops everybody
    result = await api.call("forget", id=gone, purge=True)
    assert result["still_in"] == [str(file)]


async def test_a_note_that_was_never_promoted_touches_no_file(api: Api, known: Known, file: MemoryFile) -> None:
    await known("green", key="user:kettle")
    await api.call("promote")
    stamp = file.stamp
    note = await api.remember("never promoted")
    await api.call("forget", id=note["id"], purge=True)
    assert file.stamp == stamp


async def test_the_line_of_the_note_it_was_merged_into_follows(api: Api, known: Known, file: MemoryFile) -> None:
    target = await known("the harbour opens at six", title="harbour")
    source = await api.remember("its code is 4711-secret")
    await api.call("note.merge", target=target, source=source["id"])
    await api.call("promote")
    assert "- **harbour**: the harbour opens at six its code is 4711-secret\n" in file.text
    result = await api.call("forget", id=source["id"], purge=True)

    assert result["still_in"] == []
    assert "- **harbour**: the harbour opens at six\n" in file.text


async def test_a_changed_line_of_the_note_it_was_merged_into_is_named(api: Api, known: Known, file: MemoryFile) -> None:
    target = await known("the harbour opens at six", title="harbour")
    source = await api.remember("its code is 4711-secret")
    await api.call("note.merge", target=target, source=source["id"])
    await api.call("promote")
    file.write(file.data.replace(b"at six", b"at seven"))
    result = await api.call("forget", id=source["id"], purge=True)

    assert result["still_in"] == [str(file)]
    assert "at seven its code is 4711-secret" in file.text


class Halting:
    """Files that halt before or after one is replaced, until they are let go on."""

    def __init__(self, files: DiskMemoryFiles, where: str) -> None:
        self._files = files
        self._where = where
        self.halted, self.go_on = asyncio.Event(), asyncio.Event()

    async def _halt(self, where: str) -> None:
        if where == self._where:
            self._where = ""
            self.halted.set()
            await self.go_on.wait()

    async def target(self, shelf: str, project: str | None) -> Target:
        return await self._files.target(shelf, project)

    async def read(self, path: str) -> bytes | None:
        data = await self._files.read(path)
        await self._halt("planning")
        return data

    async def replace(self, path: str, old: bytes | None, new: bytes) -> bool:
        await self._halt("announced")
        is_replaced = await self._files.replace(path, old, new)
        await self._halt("replaced")
        return is_replaced

    def is_open(self, project: str) -> bool:
        return self._files.is_open(project)

    async def clean_up(self, path: str) -> None:
        await self._files.clean_up(path)


class Failing(Halting):
    """Files of a daemon that dies before or after one is replaced."""

    async def _halt(self, where: str) -> None:
        if where == self._where:
            raise Unavailable("as good as dead")


HALTS = pytest.mark.parametrize("where", ["planning", "announced", "replaced"])


@HALTS
async def test_a_purge_while_its_note_is_being_promoted_leaves_no_line(
    api: Api, known: Known, file: MemoryFile, files: DiskMemoryFiles, where: str
) -> None:
    gone = await known("4711-secret", key="user:combination")
    await known("green", key="user:kettle")
    halting = Halting(files, where)
    api.service.promoter = Promoter(halting)
    promoting = asyncio.ensure_future(api.call("promote"))
    await halting.halted.wait()
    purging = asyncio.ensure_future(api.call("forget", id=gone, purge=True))
    for _ in range(100_000):
        if api.shelf().view.notes.get(gone) is None:
            break
        await asyncio.sleep(0)
    halting.go_on.set()

    assert (await purging)["still_in"] == []
    await promoting
    assert "4711-secret" not in file.text
    assert "- **user:kettle**: green" in file.text
    assert api.shelf().view.promotions.paths_naming(gone) == []


@pytest.mark.parametrize("where", ["announced", "replaced"])
async def test_a_promotion_cut_short_is_put_right_at_the_next_start(
    api: Api, known: Known, file: MemoryFile, files: DiskMemoryFiles, where: str
) -> None:
    drink = await known("tea", key="user:drink")
    await api.call("promote")
    await api.remember("coffee", key="user:drink")
    await known("green", key="user:kettle")
    api.service.promoter = Promoter(Failing(files, where))
    assert (await api.refused("promote")).kind == "Unavailable"
    assert ("coffee" in file.text) == (where == "replaced")
    (file.path.parent / ".MEMORY.md.x1y2.tmp").write_text("- **user:drink**: coffee\n")
    await api.shelves.close()
    assert api.stores.has_unfinished_work("default")
    api.__post_init__()
    api.service.promoter = Promoter(files)
    await api.shelves.start()
    for _ in range(100_000):
        if not api.shelf().view.promotions.planned_paths():
            break
        await asyncio.sleep(0)

    # A line of promotion's is its own, on whichever side of the file's replacement it was cut short.
    await api.remember("mate", key="user:drink")
    await api.call("promote")
    assert "- **user:drink**: mate\n" in file.text
    assert "- **user:kettle**: green\n" in file.text
    assert (await api.call("forget", id=drink, purge=True))["still_in"] == []
    assert not any(word in file.text for word in ("tea", "coffee", "mate"))
    assert not list(file.path.parent.glob(".MEMORY.md.*"))


async def test_what_cannot_be_withdrawn_is_on_record_without_its_text(api: Api, known: Known, file: MemoryFile) -> None:
    gone = await known("4711-secret", key="user:combination")
    await api.call("promote")
    written = file.data
    file.remove()
    file.path.mkdir()
    assert (await api.call("forget", id=gone, purge=True))["still_in"] == [str(file)]
    assert not any("4711" in row.line for row in api.shelf().view.promotions.lines(str(file)))

    file.path.rmdir()
    file.write(written)
    await api.call("promote")
    assert "4711-secret" not in file.text


async def test_a_dropped_shelf_s_lines_leave_other_files(api: Api, known: Known, data: Path, home: Path) -> None:
    (home / ".claude" / "projects" / "-src-kettle" / "memory").mkdir(parents=True)
    theirs = MemoryFile(home / ".claude" / "projects" / "-src-kettle" / "memory" / "MEMORY.md")
    theirs.write(b"Mine.\n")
    await api.call("shelf.create", shelf="kettle")
    await known("4711-secret", key="user:combination", shelf="kettle")
    await api.call("promote", shelf="kettle", project="/src/kettle", principal=ROOT)
    await api.call("promote", shelf="kettle")
    assert "4711-secret" in theirs.text
    assert (data / "shelves" / "kettle" / "MEMORY.md").exists()

    assert await api.call("shelf.drop", shelf="kettle", confirm="kettle") == {"dropped": "kettle", "still_in": []}
    assert theirs.data == b"Mine.\n"
    assert not (data / "shelves" / "kettle").exists()


async def test_a_dropped_shelf_s_line_that_a_person_changed_is_named(api: Api, known: Known, home: Path) -> None:
    (home / ".claude" / "projects" / "-src-kettle" / "memory").mkdir(parents=True)
    theirs = MemoryFile(home / ".claude" / "projects" / "-src-kettle" / "memory" / "MEMORY.md")
    await api.call("shelf.create", shelf="kettle")
    await known("4711-secret", key="user:combination", shelf="kettle")
    await api.call("promote", shelf="kettle", project="/src/kettle", principal=ROOT)
    theirs.write(theirs.data.replace(b"**user:combination**", b"**safe**"))

    dropped = await api.call("shelf.drop", shelf="kettle", confirm="kettle")
    assert dropped["still_in"] == [str(theirs)]


async def test_a_line_that_could_not_be_withdrawn_goes_as_soon_as_it_can(
    api: Api, known: Known, file: MemoryFile, files: DiskMemoryFiles
) -> None:
    """The only line, and one among others: what was intended says nothing of either."""
    for rest in (False, True):
        if rest:
            await known("green", key="user:kettle")
        gone = await known("4711-secret", key="user:combination")
        await api.call("promote")
        assert "4711-secret" in file.text
        api.service.promoter = Promoter(Failing(files, "announced"))
        assert (await api.call("forget", id=gone, purge=True))["still_in"] == [str(file)]
        api.service.promoter = Promoter(files)
        await api.call("promote")
        assert "4711-secret" not in file.text


async def test_text_of_a_merged_note_is_not_kept_on_record_where_the_file_cannot_be_written(
    api: Api, known: Known, file: MemoryFile, files: DiskMemoryFiles
) -> None:
    target = await known("the harbour opens at six", title="harbour")
    source = await api.remember("its code is 4711-secret")
    await api.call("note.merge", target=target, source=source["id"])
    await api.call("promote")
    api.service.promoter = Promoter(Failing(files, "announced"))
    assert (await api.call("forget", id=source["id"], purge=True))["still_in"] == [str(file)]
    view = api.shelf().view
    assert "4711" not in str([*view.promotions.lines(str(file)), *view.promotions.planned(str(file))])

    api.service.promoter = Promoter(files)
    await api.call("promote")
    assert "- **harbour**: the harbour opens at six\n" in file.text
    assert "4711" not in file.text


async def test_a_shelf_that_is_only_busy_is_not_dropped_without_its_lines(
    api: Api, known: Known, monkeypatch: pytest.MonkeyPatch
) -> None:
    await api.call("shelf.create", shelf="kettle")
    await known("4711-secret", key="user:combination", shelf="kettle")

    async def busy(_name: str) -> None:
        raise StoreBusy("all places are taken")

    with monkeypatch.context() as patch:
        patch.setattr(api.shelves, "get", busy)
        assert (await api.refused("shelf.drop", shelf="kettle", confirm="kettle")).kind == "StoreBusy"
    assert api.stores.exists("kettle")
