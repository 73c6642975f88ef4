"""Backups: one state of a shelf, whole, that can take a shelf's place; and shelves that get another name."""

from functools import partial

import pytest

from contract.samples import create, edit, write
from fakes import FakeClock
from shelfd.memory.errors import Conflict, DuplicateShelf, InvalidParams, NotFound, ShelfNotFound
from shelfd.memory.log.logical import logical_hash
from shelfd.memory.notes.filter import NoteFilter
from shelfd.memory.ports.backups import BackupPlan
from shelfd.memory.ports.job import Job
from shelfd.memory.ports.store import Store, Stores
from shelfd.memory.ports.view import Writer


def plan(number: int = 1, **wanted: object) -> BackupPlan:
    return BackupPlan("default", "local", f"run-{number}", f"job-{number}")._replace(**wanted)  # type: ignore[arg-type]


def nothing(_done: int, _total: int) -> None:
    pass


def _put(writer: Writer, job: Job) -> None:
    writer.jobs.put(job)


async def contents(stores: Stores, shelf: str) -> list[str]:
    store = await stores.open(shelf)
    notes = store.view.notes.page(NoteFilter(), order="row", descending=False, after=None, limit=99)
    await store.close()
    return [note.content for note in notes]


async def test_a_backup_has_one_state_and_says_what_is_in_it(store: Store, clock: FakeClock) -> None:
    await store.commit(create("n1"))
    told: list[tuple[int, int]] = []
    (path, manifest), removed = await store.backup(plan(), lambda done, total: told.append((done, total)))
    said = logical_hash(store.view)
    await store.commit(create("n2"))

    assert (manifest.shelf, manifest.instance, manifest.seq, manifest.run_id) == ("default", "local", 1, "run-1")
    assert (manifest.made_at, manifest.logical_hash) == (clock.now(), said)
    assert path.startswith("/")
    assert removed == ()
    assert told[-1][0] == told[-1][1] > 0


async def test_a_backup_takes_the_place_of_the_shelf(store: Store, stores: Stores) -> None:
    await store.commit(create("n1", content="before"))
    made = await store.backup(plan(), nothing)
    await store.commit(edit("n1", content="after"))
    await store.close()

    prepared = await stores.prepare("default", made.backup.path, owner=None)
    assert await contents(stores, "default") == ["after"]
    assert prepared.backup == made.backup
    assert await stores.replace(prepared, keep=True) is not None
    await stores.discard(prepared)
    assert await contents(stores, "default") == ["before"]
    assert stores.owner("default") == "uid:1000"
    again = await stores.open("default")
    assert logical_hash(again.view) == made.backup.manifest.logical_hash
    assert (await again.commit(create("n2"))).last_seq == 2
    await again.close()


async def test_a_backup_becomes_a_new_shelf_of_its_maker(store: Store, stores: Stores) -> None:
    await store.commit(create("n1", content="before"))
    made = await store.backup(plan(), nothing)
    prepared = await stores.prepare("other", made.backup.path, owner="uid:7")
    assert stores.names() == ["default"]
    assert await stores.replace(prepared, keep=True) is None

    assert stores.names() == ["default", "other"]
    assert stores.owner("other") == "uid:7"
    assert await contents(stores, "other") == ["before"]
    opened = await stores.open("other")
    assert opened.view.meta.get("shelf") == "other"
    await opened.close()


async def test_what_was_prepared_and_not_used_leaves_nothing(store: Store, stores: Stores) -> None:
    made = await store.backup(plan(), nothing)
    for shelf in ("default", "other"):
        prepared = await stores.prepare(shelf, made.backup.path, owner=None)
        with pytest.raises(Conflict):
            await stores.prepare(shelf, made.backup.path, owner=None)
        await stores.discard(prepared)
        await stores.discard(prepared)
    assert stores.names() == ["default"]
    assert await stores.clean_up() == 0


async def test_a_copy_can_be_changed_before_it_takes_its_place(store: Store, stores: Stores) -> None:
    made = await store.backup(plan(), nothing)
    prepared = await stores.prepare("other", made.backup.path, owner=None)
    copy = await stores.open_prepared(prepared)
    await copy.commit(create("n1", content="added"))
    await copy.close()
    await stores.replace(prepared, keep=False)
    assert await contents(stores, "other") == ["added"]
    assert await contents(stores, "default") == []


async def test_the_job_that_makes_a_backup_is_not_in_it(store: Store, stores: Stores) -> None:
    for number in (1, 2):
        job = Job(f"job-{number}", "backup", "running", "p", "shelf.backup", None, f"run-{number}", {})
        await store.commit(write(partial(_put, job=job)))
    made = await store.backup(plan(1), nothing)
    prepared = await stores.prepare("other", made.backup.path, owner=None)
    await stores.replace(prepared, keep=False)
    opened = await stores.open("other")
    assert [job.id for _, job in opened.view.jobs.page(before=None, limit=9)] == ["job-2"]
    await opened.close()


async def test_one_run_makes_one_backup(store: Store, stores: Stores) -> None:
    first = await store.backup(plan(1), nothing)
    await store.commit(create("n1"))
    assert (await store.backup(plan(1), nothing)).backup == first.backup
    assert len(await stores.backups("default")) == 1


async def test_the_last_backups_are_kept_the_last_first(store: Store, stores: Stores, clock: FakeClock) -> None:
    paths = []
    for number in range(1, 6):
        await store.commit(create(f"n{number}"))
        made = await store.backup(plan(number, keep=3), nothing)
        paths.append(made.backup.path)
        assert list(made.removed) == paths[number - 4 : number - 3] if number > 3 else made.removed == ()
    assert [backup.path for backup in await stores.backups("default")] == paths[:1:-1]
    assert [name for name, _ in store.copies()].sort() == paths[2:].sort()
    assert all(made_at == clock.now() for _, made_at in store.copies())
    assert await stores.backups("other") == []


async def test_a_place_that_is_none_is_refused(store: Store, stores: Stores) -> None:
    with pytest.raises(InvalidParams, match="absolute"):
        await store.backup(plan(to="somewhere"), nothing)
    with pytest.raises(NotFound):
        await stores.prepare("default", "/nowhere/at/all.db", owner=None)
    assert await stores.backups("default") == []


async def test_a_shelf_gets_another_name(store: Store, stores: Stores) -> None:
    await store.commit(create("n1", content="moves"))
    await store.close()
    await stores.rename("default", "work")
    assert stores.names() == ["work"]
    assert await contents(stores, "work") == ["moves"]
    opened = await stores.open("work")
    assert opened.view.meta.get("shelf") == "work"
    await opened.close()
    await (await stores.create("other", owner="uid:1")).close()
    with pytest.raises(DuplicateShelf):
        await stores.rename("work", "other")
    with pytest.raises(ShelfNotFound):
        await stores.rename("default", "new")
    assert stores.names() == ["other", "work"]
