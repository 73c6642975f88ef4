"""Jobs of every kind that are cut short at each of their steps end as if nothing had happened; what each costs."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from fakes import ROOT, Api, memory
from luker_files import node
from memory.tending.reflection.scenes import a_note, shelve
from shelfd.memory.jobs import job_id_of
from shelfd.memory.jobs.work import Work
from shelfd.memory.log.logical import logical_hash
from shelfd.memory.log.transaction import Transaction
from shelfd.memory.methods.job_kinds import KINDS, procedures
from shelfd.memory.moving import pieces
from shelfd.memory.notes.note import NO_EXTRA, Note
from shelfd.memory.ports.log import Origin
from shelfd.memory.sessions import branching, draft, nodes, planning, retyping
from shelfd.memory.shelf import storing
from shelfd.memory.tending import hide, purge, undo
from shelfd.scheduler import ScheduledJob
from shelfd.scheduler.ledger import claim_in, end_passed, mark_orphans, new_run

Request = tuple[str, dict[str, Any]]
Begin = Callable[[Api], Awaitable[Request]]
_ENOUGH = 100_000


@pytest.fixture(autouse=True)
def ids_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give each new note of a session the first id that is free."""
    drawn = 0

    def first(kind: str, nugget: str) -> str:
        nonlocal drawn
        drawn = 0
        return f"{kind}-{nugget}-{drawn:08x}"

    def following(kind: str, nugget: str) -> str:
        nonlocal drawn
        drawn += 1
        return f"{kind}-{nugget}-{drawn:08x}"

    monkeypatch.setattr(nodes, "draw_id", first)
    monkeypatch.setattr(draft, "draw_id", following)


@pytest.fixture(autouse=True)
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hide, "AT_ONCE", 8)
    monkeypatch.setattr(undo, "AT_ONCE", 8)
    monkeypatch.setattr(branching, "draw_id", numbered)
    monkeypatch.setattr(storing, "draw_ids", lambda kind, nugget, _: {numbered(kind, nugget)})
    monkeypatch.setattr(planning, "NOTES_AT_ONCE", 1)
    monkeypatch.setattr(purge, "NOTES_AT_ONCE", 8)
    monkeypatch.setattr(purge, "IDS_OF_PIECE", 10)
    monkeypatch.setattr(pieces, "ITEMS", 10)
    monkeypatch.setattr(retyping, "LOOKED_AT", 10)
    monkeypatch.setattr(retyping, "AT_ONCE", 8)


#: The last number given to a copy.
numbers = [0]


def numbered(kind: str, nugget: str) -> str:
    numbers[0] += 1
    return f"{kind}-{nugget}-{numbers[0]}"


async def many(api: Api) -> list[str]:
    count = 24
    await shelve(api, [a_note(f"line {number}", id=f"n{number:03}", nugget="list") for number in range(count)])
    return [f"n{number:03}" for number in range(count)]


async def to_hide(api: Api) -> Request:
    await many(api)
    return "nugget.clear", {"name": "list"}


async def to_purge(api: Api) -> Request:
    await many(api)
    return "nugget.remove", {"name": "list", "purge": True}


async def to_purge_an_entity(api: Api) -> Request:
    notes = [a_note(f"Karla Wolff saw line {number}", id=f"n{number:03}", nugget="list") for number in range(24)]
    await shelve(api, notes)
    return "entity.purge", {"entity_type": "person", "entity_value": "Karla Wolff"}


async def to_undo(api: Api) -> Request:
    await many(api)
    return "reflection.undo", {"run_id": (await api.call("nugget.clear", name="list"))["run_id"]}


async def to_reflect(api: Api) -> Request:
    crane = "The quick harbour crane number{0} lifts eleven blue{0} containers at berth{0} every single morning"
    texts = [f"{crane.format(number)}.\nIt repeats.\nIt repeats.\nOn." for number in range(5)]
    notes = [a_note(text, id=f"m{number}") for number, text in enumerate([*texts, *[crane.format("A")] * 3])]
    await shelve(api, [*notes, *(a_note("scribbled", id=f"t{number}", title="tmp") for number in range(3))])
    return "reflect", {}


async def to_import(_api: Api) -> Request:
    notes = [
        {"id": f"note-work-{number:08x}", "nuggetName": "work", "content": f"came {number}", "kind": "note", "hits": 2,
         "links": [{"to": f"note-work-{(number + 1) % 25:08x}", "reason": "next"}]}
        for number in range(25)
    ]  # fmt: skip
    return "shelf.import", {"parts": [{"part": "notes", "items": notes}, {"part": "links", "items": notes}]}


async def to_import_a_graph(_api: Api) -> Request:
    nodes = [node(f"n_{n}", seq=n + 1, parentId=f"n_{n % 5}" if n > 4 else "") for n in range(25)]
    edges = {f"n_{n}": [{"to": f"n_{(n * 7 + 1) % 25}", "seqTo": n}] for n in range(25)}
    parts = {
        "sessions": [{"turns": [first, first + 4]} for first in range(1, 26, 5)],
        "types": [{"id": "event", "tableColumns": ["summary", "mood"]}, {"id": "quest", "label": "Quest"}],
        "notes": nodes,
        "links": [{"id": source, "links": links} for source, links in edges.items()],
    }
    source = {"header": {"session_id": "chat"}}
    sent = [{"part": part, "source": source, "items": items} for part, items in parts.items()]
    return "shelf.import", {"format": "luker", "parts": sent}


async def to_import_a_chat(_api: Api) -> Request:
    items = [
        {"turn": n // 2 + 1, "nth": 0, "message": {"mes": f"said {n}", "is_user": n % 2 == 0, "name": "A",
                                                   "send_date": f"2025-05-01T10:{n:02}:00Z"}}
        for n in range(25)
    ]  # fmt: skip
    alternatives = [{**items[n], "variant": variant} for n in (3, 5) for variant in (0, 1)]
    items = [*items[:3], *alternatives, *items[6:]]
    source = {"header": {"session_id": "chat", "nugget": "list"}}
    turns = {"part": "sessions", "source": source, "items": [{"turns": [1, 13], "variants": [[2, 1], [3, 0]]}]}
    return "shelf.import", {
        "format": "sillytavern",
        "parts": [turns, {"part": "notes", "source": source, "items": items}],
    }


async def to_rewind(api: Api) -> Request:
    await api.call("session.open", session_id="chat")
    for number in range(12):
        note = a_note(f"line {number}", id=f"n{number % 8}", nugget="list")

        def write(tx: Transaction, note: Note = note) -> None:
            old = tx.rows.notes.get(note.id)
            if old is None:
                tx.create_note(note)
            else:
                tx.change_note(old, old._replace(content=note.content))

        await api.shelf().commit(Origin("p", "remember", session_id="chat", turn=number + 1), write)
    return "session.retract_turns", {"session_id": "chat", "from_turn": 2}


async def to_branch(api: Api) -> Request:
    numbers[0] = 0
    await api.call("session.open", session_id="chat", nugget="list")
    await many(api)
    for number in range(20):
        await api.call("link.upsert", source=f"n{number:03}", target=f"n{number + 1:03}", direction="outgoing")
    return "session.branch", {"session_id": "chat", "at_turn": 1, "new_session_id": "other"}


async def to_retype(api: Api) -> Request:
    extra = NO_EXTRA._replace(fields={"goal": "line 0"}, rendered=True)
    quests = [a_note("goal: line 0", id=f"q{number:03}", type="quest", extra=extra) for number in range(24)]
    await shelve(api, quests)
    columns = {"table_columns": ["aim", "state"], "required_columns": ["aim", "state"], "additional_columns": False}
    migrate = {"rename": {"goal": "aim"}, "defaults": {"state": "line 00"}}
    return "schema.set_type", {"type": "quest", **columns, "migrate": migrate}


async def to_extract(api: Api) -> Request:
    await api.call("session.open", session_id="s")
    said = [f"My cousin Ada{'abc'[number % 3]} repeats line {number}. The crane is locked." for number in range(5)]
    return "session.extract", {
        "session_id": "s",
        "turns": [{"turn": at, "text": text} for at, text in enumerate(said, 1)],
    }


async def to_distil(_api: Api) -> Request:
    numbers[0] = 0
    said = [f"Ada moved crane {number} to berth {number % 7}, which repeats line {number}." for number in range(50)]
    return "remember_report", {"content": " ".join(said), "chunk_size": 500, "max_facts": 50}


async def to_compact(api: Api) -> Request:
    said = "Ada came to the mill at noon, number {0}"
    notes = [a_note(said.format(number), id=f"e{number:03}", nugget="story", type="event") for number in range(60)]
    await shelve(api, notes)
    await api.call("session.open", session_id="talk", nugget="story")
    return "session.compact", {"session_id": "talk"}


BY_KIND: dict[str, Begin] = {
    "extraction": to_extract, "distillation": to_distil,
    "hide": to_hide, "purge": to_purge, "undo": to_undo, "reflection": to_reflect, "import": to_import,
    "rewind": to_rewind, "branch": to_branch,
    "retype": to_retype,
    "compaction": to_compact,
}  # fmt: skip
#: Other formats that are imported.
FORMATS: dict[str, Begin] = {"import a graph": to_import_a_graph, "import a chat": to_import_a_chat}
#: Another way in which a kind begins.
OTHERWISE: dict[str, Begin] = {"purge of an entity": to_purge_an_entity}
ALL = {**BY_KIND, **FORMATS, **OTHERWISE}


async def test_every_kind_can_be_carried_out_and_is_cut_short_here_or_with_its_file(api: Api) -> None:
    """A promotion needs a file: ``tests/memory/tending/promotion`` and ``tests/erasing/jobs.py`` cut that short.

    What needs a language model is cut short in ``tests/memory/knowledge/model``, a backup by
    ``tests/erasing/copies.py``.
    """
    elsewhere = {"backup", "promotion", "evolution", "enrichment"}
    assert {kind.name for kind in KINDS} == {*BY_KIND, *elsewhere} == procedures(api.service).keys()


class Stopped:
    """Lets a job take so many steps and then stand still, as one does whose daemon is about to die."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, steps: int) -> None:
        self.reached = asyncio.Event()
        self.taken = 0
        take = Work._take

        async def limited(work: Work, *arguments: Any) -> Any:
            if self.taken == steps:
                self.reached.set()
                await asyncio.Event().wait()
            self.taken += 1
            return await take(work, *arguments)

        monkeypatch.setattr(Work, "_take", limited)


async def ended(api: Api) -> None:
    for _ in range(_ENOUGH):
        view = api.shelf().view
        if not view.jobs.page(unfinished=True, before=None, limit=1):
            return
        await asyncio.sleep(0)
    raise AssertionError("jobs do not end")


def outcome(api: Api) -> object:
    """All that a job leaves: notes and links, what was done and how often, its result."""
    view = api.shelf().view
    done = Counter((row.kind, row.ids) for row in view.log.page(since_seq=0, limit=10_000))
    found = [view.jobs.get(job.id) for _, job in view.jobs.page(before=None, limit=9)]
    jobs = [(job.kind, job.state, dict(job.cursor), job.result) for job in found if job is not None]
    rows = sorted(note.row for note in view.notes.scan(before_row=None, limit=10_000))
    left = [view.jobs.pieces(job.id, after=-1, limit=1) for _, job in view.jobs.page(before=None, limit=9)]
    return logical_hash(view), done, jobs, view.usage.by_rows(rows), left


async def undisturbed(begin: Begin) -> tuple[object, dict[str, Any], int]:
    async with memory() as api:
        method, params = await begin(api)
        stopped = pytest.MonkeyPatch()
        counted = Stopped(stopped, _ENOUGH)
        result = await api.call(method, params, principal=ROOT)
        stopped.undo()
        return outcome(api), result, counted.taken


def plain(result: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in result.items() if name not in ("run_id", "job", "replayed")}


@pytest.mark.parametrize("kind", ALL)
async def test_cut_short_after_any_step_it_ends_as_if_it_had_not_been(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected, told, steps = await undisturbed(ALL[kind])
    assert steps >= 3
    for after in range(steps):
        async with memory() as api:
            method, params = await ALL[kind](api)
            params = {**params, "idempotency_key": "k"}
            with monkeypatch.context() as patch:
                stopped = Stopped(patch, after)
                calling = asyncio.ensure_future(api.call(method, params, principal=ROOT))
                await stopped.reached.wait()
                await api.shelves.close()
                with pytest.raises(Exception, match="shutting down"):
                    await calling
            await api.reopen()
            again = await api.call(method, params, principal=ROOT)
            await ended(api)
            assert again["replayed"], after
            assert plain(again) == plain(told), after
            assert outcome(api) == expected, after


async def test_notes_that_others_changed_meanwhile_are_left_alone(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    method, params = await to_reflect(api)
    with monkeypatch.context() as patch:
        stopped = Stopped(patch, 2)
        calling = asyncio.ensure_future(api.call(method, params))
        await stopped.reached.wait()
        (_, job), *_ = api.shelf().view.jobs.page(before=None, limit=1)
        left = {note_id for _, *notes in job.cursor["planned"][job.cursor["done"] :] for note_id, _ in notes}
        for note_id in left:
            await api.call("note.edit", id=note_id, content=f"edited {note_id}")
        await api.shelves.close()
        with pytest.raises(Exception, match="shutting down"):
            await calling
    await api.reopen()
    await ended(api)
    for note_id in left:
        note = await api.note(note_id)
        assert (note["content"], note["hidden"]) == (f"edited {note_id}", False)
    (run,) = (await api.call("reflection.history"))["runs"]
    assert len(run["changes"]) == job.cursor["done"]


@pytest.mark.parametrize("kind", BY_KIND)
async def test_a_job_holds_no_text_of_a_memory(kind: str, api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    method, params = await BY_KIND[kind](api)
    with monkeypatch.context() as patch:
        stopped = Stopped(patch, 2)
        calling = asyncio.ensure_future(api.call(method, params, principal=ROOT))
        await stopped.reached.wait()
        jobs = str(api.shelf().view.jobs.page(before=None, limit=99))
        assert not [word for word in ("line 0", "crane", "repeats", "scribbled", "came 1") if word in jobs]
        await api.shelves.close()
        await asyncio.gather(calling, return_exceptions=True)


async def test_what_is_imported_without_an_id_leaves_no_text_with_the_job(either: Api) -> None:
    items = [{"nuggetName": "work", "content": f"4711-secret {number}", "kind": "note"} for number in range(25)]
    params = {"parts": [{"part": "notes", "items": items}]}
    imported = await either.call("shelf.import", params, principal=ROOT)
    (_, job), *_ = either.shelf().view.jobs.page(before=None, limit=9)
    assert (job.kind, job.state) == ("import", "done")
    assert "4711-secret" not in str(either.shelf().view.jobs.get(job.id))

    again = await either.call("shelf.import", {**params, "known": imported["known"]}, principal=ROOT)
    assert again["parts"][0]["unchanged"] == len(items)


# ---------------------------------------------------------------- what it costs


@pytest.mark.parametrize("kind", BY_KIND)
async def test_a_job_commits_at_most_twice_beside_its_steps(
    kind: str, api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    method, params = await BY_KIND[kind](api)
    await api.warmed()
    store, commits = api.shelf().store, 0
    submit = store.submit

    def counting(change: Any, told: Any) -> None:
        nonlocal commits
        commits += change.origin.method not in ("usage.write", "usage")
        submit(change, told)

    counted = Stopped(monkeypatch, _ENOUGH)
    monkeypatch.setattr(store, "submit", counting)
    await api.call(method, params, principal=ROOT)
    # The last step of some is the end of the job; a purge also drops stored outcomes.
    assert commits <= counted.taken + 2


async def test_what_fits_one_step_is_no_job(api: Api) -> None:
    await shelve(api, [a_note("line", id="n", nugget="list")])
    await api.call("nugget.clear", name="list")
    await api.call("undo", tx=1, principal=ROOT)
    notes = [{"id": "note-work-1", "nuggetName": "work", "content": "came", "kind": "note"}]
    await api.call("shelf.import", parts=[{"part": "notes", "items": notes}], principal=ROOT)
    await api.call("session.open", session_id="s")
    await api.call("session.extract", session_id="s", turns=[{"text": "The cellar is flooded.", "turn": 1}])
    assert (await api.call("job.list"))["jobs"] == []


# ---------------------------------------------------------------- undo, import


async def test_of_very_many_fields_that_stay_the_first_are_named(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(undo, "_NAMED", 5)
    ids = await many(api)
    run_id = (await api.call("nugget.clear", name="list"))["run_id"]
    for note_id in ids[:8]:
        await api.call("note.restore", id=note_id)
    undone = await api.call("reflection.undo", run_id=run_id)
    assert (undone["undone"], len(undone["kept"]), undone["more_kept"]) == (len(ids) - 8, 5, 3)


async def test_no_purge_begins_while_something_is_imported(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    note = await api.remember("4711-secret")
    method, params = await to_import(api)
    with monkeypatch.context() as patch:
        stopped = Stopped(patch, 1)
        calling = asyncio.ensure_future(api.call(method, params, principal=ROOT))
        await stopped.reached.wait()
        (job,) = (await api.call("job.list"))["jobs"]
        assert job["progress"] == {"done": pieces.ITEMS, "total": 50}
        refused = await api.refused("forget", id=note["id"], purge=True)
        assert (refused.kind, refused.data["job"]) == ("Conflict", job["id"])
        await api.call("job.cancel", id=job["id"], principal=ROOT)
        await api.shelves.close()
        await asyncio.gather(calling, return_exceptions=True)
    await api.reopen()
    assert api.shelf().view.jobs.pieces(job["id"], after=-1, limit=1) != []
    await api.call("forget", id=note["id"], purge=True)
    assert api.shelf().view.jobs.pieces(job["id"], after=-1, limit=9) == []
    await api.call("job.retry", id=job["id"], principal=ROOT)
    await ended(api)
    again = (await api.call("job.get", id=job["id"]))["job"]
    assert (again["state"], again["error"]) == ("failed", "Conflict")


async def test_few_items_that_are_long_or_have_many_links_are_taken_in_steps(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pieces, "BYTES", 10_000)
    monkeypatch.setattr(pieces, "LINKS", 20)
    notes = [
        {"id": f"note-work-{number:08x}", "nuggetName": "work", "content": f"{number} came " * 300, "kind": "note",
         "links": [{"to": f"note-work-{other:08x}", "reason": "next"} for other in range(9) if other != number]}
        for number in range(9)
    ]  # fmt: skip
    steps = Stopped(monkeypatch, _ENOUGH)
    await api.call("shelf.import", parts=[{"part": "notes", "items": notes}], principal=ROOT)
    assert steps.taken >= 3
    links = [{"id": note["id"], "links": note["links"]} for note in notes]
    steps.taken = 0
    result = await api.call("shelf.import", parts=[{"part": "links", "items": links}], principal=ROOT)
    assert (result["parts"][0]["created"], steps.taken) == (72, 6)  # two notes at a time, and the end


async def test_items_that_wait_for_others_of_their_part_wait_over_steps(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    def graph(*titles: str) -> list[dict[str, Any]]:
        return [
            {"parts": [{"part": "notes", "items": [
                {"id": f"fact-work-{number:08x}", "nuggetName": "work", "kind": "fact", "title": title,
                 "content": f"v{number}"}
                for number, title in enumerate(titles)
            ]}]}
        ]  # fmt: skip

    monkeypatch.setattr(pieces, "ITEMS", 1)
    (before,), (after,) = graph("one", "two", "three"), graph("two", "three", "one")
    await api.call("shelf.import", before, principal=ROOT)
    result = await api.call("shelf.import", after, principal=ROOT)
    # Round and round: none of them can have its new key before the others let go of it.
    assert [error["index"] for error in result["parts"][0]["rejected"]] in ([0, 1, 2], [0, 1], [])
    (swapped,) = graph("four", "one", "three")
    result = await api.call("shelf.import", swapped, principal=ROOT)
    assert result["parts"][0]["rejected"] == []


# ---------------------------------------------------------------- the scheduler's


async def claimed(api: Api, name: str, method: str) -> str:
    async def nothing(_shelf: str, _run_id: str, _reason: str) -> dict[str, Any]:
        return {}

    now = api.clock.now()
    job = ScheduledJob(name, nothing, method=method)
    run = new_run(job, slot="2026-01-01T09:00 UTC", reason="cron", planned_at=now, now=now)
    await api.shelf().commit(Origin("scheduler", "scheduler.claim"), lambda tx: claim_in(tx, run))
    return run.run_id


async def test_a_slot_s_run_goes_on_where_it_was_and_nobody_else_begins_it(
    either: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    await to_reflect(either)
    run_id = await claimed(either, "reflection", "reflect")
    with monkeypatch.context() as patch:
        stopped = Stopped(patch, 3)
        performing = asyncio.ensure_future(either.service.perform("default", run_id))
        await stopped.reached.wait()
        performing.cancel()
        await asyncio.gather(performing, return_exceptions=True)
        await either.shelves.close()
    await either.reopen()
    for _ in range(100):  # what the daemon does by itself when a shelf is opened
        await asyncio.sleep(0)
    job = either.shelf().view.jobs.get(job_id_of(run_id))
    assert job is not None
    done = job.cursor["done"]
    assert (job.state, done > 0) == ("running", True)
    result = await either.service.perform("default", run_id)
    log = (await either.call("shelf.log", limit=1000))["log"]
    kinds = Counter(row["kind"] for row in log if row.get("run_id") == run_id)
    assert (kinds["reflection.started"], kinds["reflection.completed"]) == (1, 1)
    assert len(result["changes"]) > done
    job = either.shelf().view.jobs.get(job_id_of(run_id))
    assert job is not None
    assert (job.state, job.slot) == ("done", "2026-01-01T09:00 UTC")
    assert job.cursor["done"] == job.cursor["total"]
    assert (await either.service.perform("default", run_id)) == result


async def test_a_slot_s_run_that_somebody_has_begun_again_survives_the_daemon(
    either: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The scheduler goes on with runs of the present slot alone."""
    await to_reflect(either)
    run_id = await claimed(either, "reflection", "reflect")
    job_id = job_id_of(run_id)

    def give_up(tx: Transaction) -> None:
        job = tx.rows.jobs.get(job_id)
        assert job is not None
        tx.rows.jobs.put(job._replace(state="dead", attempts=3, error="OSError"))

    await either.shelf().commit(Origin("scheduler", "scheduler.record"), give_up)
    with monkeypatch.context() as patch:
        stopped = Stopped(patch, 3)
        await either.call("job.retry", id=job_id, principal=ROOT)
        await stopped.reached.wait()
        await either.shelves.close()
    await either.reopen()
    assert await mark_orphans(either.shelf(), (), either.clock.now()) == 0
    await end_passed(either.shelf(), either.clock.now() + 1)
    await ended(either)
    job = either.shelf().view.jobs.get(job_id)
    assert job is not None
    assert (job.state, job.slot) == ("done", "2026-01-01T09:00 UTC")


async def test_an_undo_tells_how_far_it_is(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    ids = await many(api)
    run_id = (await api.call("nugget.clear", name="list"))["run_id"]
    seen: list[dict[str, int]] = []
    take = Work._take

    async def noted(work: Work, *arguments: Any) -> Any:
        result = await take(work, *arguments)
        seen.append((await api.call("job.get", id=work.job.id))["job"]["progress"])
        return result

    monkeypatch.setattr(Work, "_take", noted)
    await api.call("reflection.undo", run_id=run_id)
    told = [(one["done"], one.get("total")) for one in seen]
    assert told == sorted(told)
    assert {total for _, total in told} == {len(ids)}
    assert told[-1] == (len(ids), len(ids))
