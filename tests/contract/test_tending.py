"""What tending and sinks keep beside the notes: cursors, runs, positions of reflection, promoted lines."""

import asyncio

import pytest

from contract.samples import NEW_YEAR, change, create, write
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.notes.note import Usage
from shelfd.memory.ports.job import Job
from shelfd.memory.ports.log import Origin
from shelfd.memory.ports.store import Store, Stores
from shelfd.memory.ports.tending import Promoted, Tended
from shelfd.memory.ports.usage import RecentQuery
from shelfd.memory.ports.view import Writer

PATH = "/home/ada/MEMORY.md"


def job(slot: str | None, name: str = "", *, kind: str = "reflect", **fields: object) -> Job:
    blank = Job(f"job-{name or f'{kind}-{slot}'}", kind, "running", "p", "m", None, f"run-{name or slot}", {"n": 1}, {})
    return blank._replace(slot=slot, reason="cron" if slot else None, updated_at=NEW_YEAR)._replace(**fields)  # type: ignore[arg-type]


async def put(store: Store, *jobs: Job) -> None:
    for one in jobs:
        await store.commit(write(lambda rows, one=one: rows.jobs.put(one)))  # type: ignore[misc]


async def forgotten(store: Store, before: int, *, in_slots: bool, limit: int = 9) -> int:
    forget = write(lambda rows: rows.jobs.forget(before, limit=limit, in_slots=in_slots))
    return (await store.commit(forget)).value


# ------------------------------------------------------------------ sinks


async def test_a_sink_has_a_cursor_of_its_own(store: Store) -> None:
    assert store.view.sinks.get("mqtt") is None
    await store.commit(write(lambda rows: rows.sinks.put("mqtt", 0)))
    assert store.view.sinks.get("mqtt") == 0
    await store.commit(write(lambda rows: rows.sinks.put("mqtt", 7)))
    await store.commit(write(lambda rows: rows.sinks.put("web", 2**53)))

    assert (store.view.sinks.get("mqtt"), store.view.sinks.get("web"), store.view.sinks.get("Mqtt")) == (7, 2**53, None)


async def test_a_cursor_is_outside_the_log_and_may_go_back(store: Store) -> None:
    await store.commit(create("n1"))
    await store.commit(write(lambda rows: rows.sinks.put("mqtt", 5)))
    applied = await store.commit(write(lambda rows: rows.sinks.put("mqtt", 1)))

    assert (list(applied.rows), applied.last_seq) == ([], 1)
    assert (store.view.sinks.get("mqtt"), store.view.log.last_seq) == (1, 1)


async def test_a_change_sees_the_cursor_it_wrote(store: Store) -> None:
    def apply(rows: Writer) -> int | None:
        rows.sinks.put("mqtt", 3)
        return rows.sinks.get("mqtt")

    assert (await store.commit(write(apply))).value == 3


# ------------------------------------------------------------------ jobs in slots


async def test_a_job_is_found_by_its_slot(store: Store) -> None:
    first = job("1", result={"notes": 3}, error="Unavailable", planned_at=NEW_YEAR, finished_at=NEW_YEAR + 5)
    await put(store, first, job("1", kind="promote"), job(None, "plain"))

    assert store.view.jobs.in_slot("reflect", "1") == first
    assert store.view.jobs.in_slot("promote", "1") == job("1", kind="promote")
    assert store.view.jobs.in_slot("reflect", "2") is None
    assert store.view.jobs.get("job-plain") == job(None, "plain")


async def test_a_job_keeps_its_number_when_it_ends(store: Store) -> None:
    await put(store, job("1"), job("2"))
    ended = job("1", state="done", finished_at=NEW_YEAR + 5, attempts=2, result={"merged": ["n1"], "share": 0.5})
    await put(store, ended)

    assert store.view.jobs.page(before=None, limit=9) == [(2, job("2")), (1, ended)]


async def test_jobs_are_listed_latest_first_by_pages(store: Store) -> None:
    await put(store, *(job(str(n), kind="reflect" if n % 2 else "promote") for n in range(7)), job(None, "plain"))
    listed = store.view.jobs.page(in_slots=True, before=None, limit=3)
    assert [(number, one.slot) for number, one in listed] == [(7, "6"), (6, "5"), (5, "4")]
    assert [one.slot for _, one in store.view.jobs.page(in_slots=True, before=5, limit=9)] == ["3", "2", "1", "0"]
    assert [one.slot for _, one in store.view.jobs.page(kind="reflect", in_slots=True, before=6, limit=1)] == ["3"]
    assert [one.id for _, one in store.view.jobs.page(before=None, limit=1)] == ["job-plain"]
    assert store.view.jobs.page(kind="nothing", before=None, limit=9) == []
    assert store.view.jobs.page(before=None, limit=0) == []


async def test_unfinished_jobs_of_a_kind_are_listed(store: Store) -> None:
    states = ("queued", "running", "waiting", "done", "failed", "dead")
    await put(store, *(job(None, state, kind="a", state=state) for state in states))
    await put(store, job(None, "other", kind="b"))
    found = store.view.jobs.page(unfinished=True, kind="a", before=None, limit=9)
    assert [one.state for _, one in found] == ["waiting", "running", "queued"]


async def test_old_jobs_are_forgotten_with_or_without_slots_and_their_numbers_stay_unused(store: Store) -> None:
    for n in range(4):
        await put(store, job(str(n), state="done", updated_at=NEW_YEAR + n))
    await put(store, job(None, "plain", state="done"), job(None, "busy", state="running"))
    await store.commit(write(lambda rows: rows.jobs.put_piece("job-plain", 0, {"text": "ä"})))

    assert await forgotten(store, NEW_YEAR + 2, in_slots=True) == 2
    assert [number for number, _ in store.view.jobs.page(in_slots=True, before=None, limit=9)] == [4, 3]
    assert await forgotten(store, NEW_YEAR + 9, in_slots=True) == 2
    assert await forgotten(store, NEW_YEAR + 9, in_slots=False) == 1
    assert [one.id for _, one in store.view.jobs.page(before=None, limit=9)] == ["job-busy"]
    assert store.view.jobs.pieces("job-plain", after=-1, limit=9) == []
    await put(store, job("0"))

    assert store.view.jobs.page(in_slots=True, before=None, limit=9) == [(7, job("0"))]


async def test_the_oldest_jobs_are_forgotten_first_and_as_many_as_asked(store: Store) -> None:
    await put(store, *(job(None, str(n), state="done") for n in range(5)))
    assert await forgotten(store, NEW_YEAR + 1, in_slots=False, limit=2) == 2
    assert [one.id for _, one in store.view.jobs.page(before=None, limit=9)] == ["job-4", "job-3", "job-2"]


async def test_pieces_come_in_order_are_replaced_and_go(store: Store) -> None:
    def fill(rows: Writer) -> None:
        for number in (2, 0, 1):
            rows.jobs.put_piece("job-1", number, {"items": [number], "text": "ä"})
        rows.jobs.put_piece("job-2", 0, {})
        rows.jobs.put_piece("job-1", 1, {"created": 1})

    await store.commit(write(fill))
    assert store.view.jobs.pieces("job-1", after=-1, limit=2) == [(0, {"items": [0], "text": "ä"}), (1, {"created": 1})]
    assert [number for number, _ in store.view.jobs.pieces("job-1", after=1, limit=9)] == [2]
    await store.commit(write(lambda rows: rows.jobs.drop_pieces("job-1")))
    assert store.view.jobs.pieces("job-1", after=-1, limit=9) == []
    assert store.view.jobs.pieces("job-2", after=-1, limit=9) == [(0, {})]


async def test_a_run_s_changes_come_backwards_too(store: Store) -> None:
    for n in range(5):
        origin = Origin("p", "m", run_id="run-1" if n % 2 == 0 else "run-2")
        await store.commit(create(f"n{n}")._replace(origin=origin))
    assert [row.seq for row in store.view.log.of_run_back("run-1", before=None, limit=2)] == [5, 3]
    assert [row.seq for row in store.view.log.of_run_back("run-1", before=3, limit=2)] == [1]
    assert store.view.log.of_run_back("run-3", before=None, limit=2) == []


# ------------------------------------------------------------------ reflection


async def test_positions_of_reflection_are_replaced_and_listed_by_nugget(store: Store) -> None:
    far = Tended("memory", (NEW_YEAR, 9), (NEW_YEAR + 1, 2**40), NEW_YEAR)
    for tended in (Tended("ärger"), Tended("memory"), Tended("Work"), far):
        await store.commit(write(lambda rows, one=tended: rows.tended.put(one)))  # type: ignore[misc]

    assert store.view.tended.all() == [Tended("Work"), far, Tended("ärger")]


# ------------------------------------------------------------------ promotion


async def test_promoted_lines_are_replaced_as_a_whole_and_keep_their_order(store: Store) -> None:
    lines = [Promoted(f"n{n % 2}", "Facts", f"- line {n} ä", NEW_YEAR + n) for n in (3, 1, 2)]
    await store.commit(write(lambda rows: rows.promotions.put(PATH, lines)))
    await store.commit(write(lambda rows: rows.promotions.put("/other", lines[:1])))
    assert store.view.promotions.lines(PATH) == lines
    await store.commit(write(lambda rows: rows.promotions.put(PATH, lines[1:])))

    assert (store.view.promotions.lines(PATH), store.view.promotions.lines("/other")) == (lines[1:], lines[:1])
    await store.commit(write(lambda rows: rows.promotions.put(PATH, [])))
    assert (store.view.promotions.lines(PATH), store.view.promotions.lines("/none")) == ([], [])


async def test_jobs_are_listed_without_what_their_results_have_item_by_item(store: Store) -> None:
    result = {"created": 2, "parts": [{"kept": ["a"] * 100}], "known": {"a": "b"}, "changes": [], "kept": [1]}
    ended = job("1", state="done")._replace(result=result)
    await store.commit(write(lambda rows: rows.jobs.put(ended)))
    assert store.view.jobs.page(before=None, limit=9) == [(1, ended._replace(result={"created": 2}))]
    assert store.view.jobs.get(ended.id) == ended


async def test_notes_with_hits_come_by_hits_page_by_page(store: Store) -> None:
    await asyncio.gather(*(store.commit(create(f"n{n}")) for n in range(1, 6)))
    hits = {5: 4, 4: 3, 3: 2, 2: 4, 1: 5}
    await store.commit(write(lambda rows: rows.usage.put({row: Usage(n, n, 1, "s") for row, n in hits.items()})))

    found = [(3, 4), (4, 2), (4, 5), (5, 1)]
    assert store.view.notes.with_hits(after=(0, 0), limit=9) == found
    assert store.view.notes.with_hits(after=(0, 0), limit=2) == found[:2]
    assert store.view.notes.with_hits(after=(4, 2), limit=9) == found[2:]


# ---------------------------------------------------------- recent queries


def asked(text: str, at: int, *ids: str) -> RecentQuery:
    return RecentQuery(f'{{"query":"{text}"}}', ids or ("n1",), at)


async def test_queries_come_the_last_one_first_and_each_once(store: Store) -> None:
    assert store.view.queries.recent(9) == []
    first, second, third = asked("a", 1), asked("b", 2, "n2", 'n"3'), asked("c", 2)
    await store.commit(write(lambda rows: rows.queries.put([first, second, third])))
    assert store.view.queries.recent(9) == [second, third, first]
    again = asked("a", 3, "n4")
    await store.commit(write(lambda rows: rows.queries.put([asked("a", 0), again])))

    assert store.view.queries.recent(9) == [again, second, third]
    assert (store.view.queries.recent(1), store.view.queries.recent(0)) == ([again], [])


async def test_queries_are_forgotten_by_age_and_by_number(store: Store) -> None:
    queries = [asked(str(n), n) for n in range(10)]
    await store.commit(write(lambda rows: rows.queries.put(queries)))
    await store.commit(write(lambda rows: rows.queries.forget(before=2, now=99, kept=99)))
    assert [query.at for query in store.view.queries.recent(99)] == [9, 8, 7, 6, 5, 4, 3, 2]
    await store.commit(write(lambda rows: rows.queries.forget(before=0, now=99, kept=3)))
    assert [query.at for query in store.view.queries.recent(99)] == [9, 8, 7]
    await store.commit(write(lambda rows: rows.queries.forget(before=0, now=99, kept=0)))
    assert store.view.queries.recent(99) == []


async def test_a_query_of_the_future_counts_as_asked_now(store: Store) -> None:
    await store.commit(write(lambda rows: rows.queries.put([asked("a", 1), asked("b", 70), asked("c", 90)])))
    await store.commit(write(lambda rows: rows.queries.forget(before=1, now=20, kept=9)))
    assert {query.at for query in store.view.queries.recent(9)} == {1, 20}
    await store.commit(write(lambda rows: rows.queries.put([asked("d", 25)])))
    await store.commit(write(lambda rows: rows.queries.forget(before=21, now=25, kept=9)))
    assert [query.at for query in store.view.queries.recent(9)] == [25]


async def test_queries_that_found_one_of_some_notes_are_forgotten(store: Store) -> None:
    others = [asked("c", 3, "n10"), asked("b", 2, "n2", "n3")]
    await store.commit(write(lambda rows: rows.queries.put([*others, asked("a", 1, "n2", "n1")])))
    await store.commit(write(lambda rows: rows.queries.forget_naming({"n1", "n4"})))
    assert store.view.queries.recent(9) == others
    await store.commit(write(lambda rows: rows.queries.forget_naming(["n3"])))
    assert store.view.queries.recent(9) == others[:1]


# ------------------------------------------------------------------ all of it


def put_all(rows: Writer, n: int) -> None:
    rows.sinks.put("mqtt", n)
    rows.jobs.put(job(str(n)))
    rows.jobs.put(job("1", error=f"ended by {n}"))
    rows.jobs.put_piece("job-1", n, {"n": n})
    rows.tended.put(Tended("memory", served_at=n))
    rows.promotions.put(PATH, [Promoted("n1", "Facts", f"- {n}", n)] * n)
    rows.queries.put([asked("a", n)])


def seen(store: Store) -> object:
    view = store.view
    jobs = view.jobs.page(before=None, limit=9), view.jobs.pieces("job-1", after=-1, limit=9)
    return view.sinks.get("mqtt"), jobs, view.tended.all(), view.promotions.lines(PATH), view.queries.recent(9)


async def test_a_failed_change_leaves_none_of_it(store: Store) -> None:
    await store.commit(write(lambda rows: put_all(rows, 1)))
    before = seen(store)

    def spoil(tx: Transaction) -> None:
        put_all(tx.rows, 2)
        tx.rows.jobs.drop_pieces("job-1")
        raise ValueError("a mistake")

    # Among others of its group, which must not be touched, and alone.
    outcomes = await asyncio.gather(
        store.commit(create("n1")), store.commit(change(spoil)), store.commit(create("n2")), return_exceptions=True
    )
    assert isinstance(outcomes[1], ValueError)
    with pytest.raises(ValueError, match="a mistake"):
        await store.commit(change(spoil))
    assert seen(store) == before
    await put(store, job("next"))
    assert store.view.jobs.page(before=None, limit=1) == [(2, job("next"))]


async def test_all_of_it_survives_closing(stores: Stores) -> None:
    store = await stores.create("kept", owner="uid:1")
    await store.commit(write(lambda rows: put_all(rows, 1)))
    before = seen(store)
    await store.close()
    again = await stores.open("kept")

    assert seen(again) == before
    await put(again, job("later"))
    assert again.view.jobs.page(before=None, limit=1) == [(2, job("later"))]
    await again.close()
