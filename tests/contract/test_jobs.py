"""Jobs, and what promotion is about to write: durable records that outlive the process that began the work."""

from functools import partial

from contract.samples import write
from shelfd.memory.jobs import Job
from shelfd.memory.ports.store import Store, Stores
from shelfd.memory.ports.tending import Promoted
from shelfd.memory.ports.view import Writer

PATH = "/home/ada/MEMORY.md"


def job(number: int, **fields: object) -> Job:
    plain = Job(
        f"job-{number}", "purge", "queued", "uid:1", "forget", f"r-{number}", "run-1", {"ids": ["n1"]}, {"done": number}
    )
    return plain._replace(created_at=number, updated_at=number)._replace(**fields)  # type: ignore[arg-type]


async def put(store: Store, *jobs: Job) -> None:
    for one in jobs:
        await store.commit(write(partial(_put, one)))


def _put(one: Job, rows: Writer) -> None:
    rows.jobs.put(one)


async def test_a_job_comes_back_as_it_was_put(store: Store) -> None:
    await put(store, job(1), job(2, state="done", result={"still_in": ["n2"]}, error=None, request_id=None))

    assert store.view.jobs.get("job-1") == job(1)
    assert store.view.jobs.get("job-2") == job(
        2, state="done", result={"still_in": ["n2"]}, error=None, request_id=None
    )
    assert store.view.jobs.get("job-3") is None


async def test_jobs_are_listed_the_last_begun_first(store: Store) -> None:
    await put(store, *(job(number) for number in range(1, 6)), job(2, state="running"), job(4, state="dead"))

    everything = store.view.jobs.page(unfinished=False, before=None, limit=9)
    assert [one.id for _, one in everything] == ["job-5", "job-4", "job-3", "job-2", "job-1"]
    assert [number for number, _ in everything] == [5, 4, 3, 2, 1]  # a job that moves on keeps its number
    page = store.view.jobs.page(unfinished=True, before=5, limit=2)
    assert [(one.id, one.state) for _, one in page] == [("job-3", "queued"), ("job-2", "running")]


async def test_old_jobs_are_forgotten_unless_work_is_left(store: Store) -> None:
    await put(store, job(1), job(2, state="done"), job(3, state="dead"), job(9, state="done"))
    assert (await store.commit(write(lambda rows: rows.jobs.delete_ended(5, limit=1)))).value == 0  # work is left of it
    applied = await store.commit(write(lambda rows: rows.jobs.delete_ended(5, limit=9)))

    assert applied.value == 2
    assert [one.id for _, one in store.view.jobs.page(unfinished=False, before=None, limit=9)] == ["job-9", "job-1"]


async def test_what_promotion_is_about_to_write_is_kept_beside_what_it_wrote(store: Store) -> None:
    old, new = [Promoted("n1", "Facts", "- old", 1)], [Promoted("n1", "Facts", "- new", 2), Promoted("n2", "", "x", 2)]
    await store.commit(write(lambda rows: rows.promotions.put(PATH, old)))
    await store.commit(write(lambda rows: rows.promotions.plan("/other", new)))
    await store.commit(write(lambda rows: rows.promotions.plan(PATH, new)))

    assert (store.view.promotions.lines(PATH), store.view.promotions.planned(PATH)) == (old, new)
    assert store.view.promotions.paths() == [PATH, "/other"]
    assert store.view.promotions.planned_paths() == [PATH, "/other"]
    assert (store.view.promotions.paths_naming("n1"), store.view.promotions.paths_naming("n2")) == (
        [PATH, "/other"],
        [PATH, "/other"],
    )
    await store.commit(write(lambda rows: rows.promotions.plan(PATH, ())))
    assert (store.view.promotions.planned(PATH), store.view.promotions.planned_paths()) == ([], ["/other"])
    assert store.view.promotions.paths_naming("n2") == ["/other"]


async def test_a_closed_shelf_says_whether_work_is_left(stores: Stores) -> None:
    store = await stores.create("kept", owner="uid:1")
    await put(store, job(1))
    await store.close()
    assert stores.has_unfinished_work("kept")

    store = await stores.open("kept")
    await put(store, job(1, state="done", result={}))
    await store.close()
    assert not stores.has_unfinished_work("kept")

    store = await stores.open("kept")
    await store.commit(write(lambda rows: rows.promotions.plan(PATH, [Promoted("n1", "Facts", "- new", 2)])))
    await store.close()
    assert stores.has_unfinished_work("kept")
