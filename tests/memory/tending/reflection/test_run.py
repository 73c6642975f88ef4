"""A run as a whole: its result, log, events, limits, and others at work meanwhile."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from structlog.testing import capture_logs

from fakes import BOB, Api, Refused, memory
from memory.tending.reflection.scenes import a_note, settled, shelve, told
from shelfd.memory import MemorySettings, Ticket
from shelfd.memory.call import Repeat
from shelfd.memory.log.logical import logical_hash
from shelfd.memory.recall import ShelfIndex
from shelfd.memory.tending.reflection import STEPS, ReflectionPlan, draw_plan
from shelfd.memory.tending.reflection.action import Action, apply_all
from shelfd.protocol import Limits

COUNTS = ("inspected", "rewritten", "merged", "hidden", "tagged", "linked")
MESS = [
    a_note("The harbour crane is out of order.\nIt is.\nIt is.", id="a"),
    a_note("The harbour crane is out of order.\nIt is.", id="b"),
    a_note("who repairs the harbour crane", id="c"),
    a_note("for the moment", id="d", title="tmp"),
]


async def log_of(api: Api, since: int = 0) -> list[dict[str, Any]]:
    log: list[dict[str, Any]] = (await api.call("shelf.log", since_seq=since, limit=1000))["log"]
    return log


def test_the_steps_and_their_order() -> None:
    assert [step.name for step in STEPS] == ["select", "archive", "normalise", "tags", "merge", "link"]


async def test_the_result_tells_everything_in_order(either: Api) -> None:
    await shelve(either, MESS)
    result = await either.call("reflect")

    assert [(change["type"], change["note_id"]) for change in result["changes"]] == [
        ("hide", "d"), ("rewrite", "a"), ("tag", "a"), ("tag", "b"), ("tag", "c"), ("merge", "a"), ("link", "a"),
    ]  # fmt: skip
    assert [result[name] for name in COUNTS] == [4, 1, 1, 1, 3, 1]
    assert {change["nugget"] for change in result["changes"]} == {"memory"}
    assert result["changes"][1]["detail"] == "Normalized duplicated whitespace and repeated lines"
    assert result["ran_at"] == "2026-01-01T00:00:00Z"
    after = await either.note("a")
    assert after["content"] == "The harbour crane is out of order.\nIt is."
    assert after["last_rewritten_at"] == result["ran_at"]


async def test_a_summary_follows_its_normalised_content(either: Api) -> None:
    note = await either.remember_typed({"summary": "all is well\nall is well", "a": 1})
    await either.call("reflect")

    after = await either.note(note["id"])
    assert after["content"] == after["fields"]["summary"] == "all is well"


async def test_every_row_in_the_log_names_the_run_and_who_asked(either: Api) -> None:
    await shelve(either, MESS)
    seq = either.shelf().view.log.last_seq
    result = await either.call("reflect", principal=BOB)
    log = await log_of(either, seq)

    assert {row["run_id"] for row in log} == {result["run_id"]}
    assert {(row["principal"], row["method"]) for row in log} == {(BOB, "reflect")}
    kinds = [row["kind"] for row in log]
    assert (kinds[0], kinds[-1]) == ("reflection.started", "reflection.completed")
    assert kinds.count("note.merged") == 1
    last = either.shelf().view.log.page(since_seq=seq, limit=100)[-1].before
    assert last is not None
    assert last["counts"] == {name: result[name] for name in COUNTS}
    assert [change["note_id"] for change in last["changes"]] == [change["note_id"] for change in result["changes"]]
    assert "harbour" not in str(last)


async def test_a_run_of_the_scheduler_keeps_its_id(api: Api) -> None:
    await shelve(api, MESS)
    call = api.request("reflect")
    call.run_id, call.principal = "run-of-tonight", "scheduler"

    assert (await api.handle(call))["run_id"] == "run-of-tonight"
    assert {row["run_id"] for row in (await log_of(api))[-3:]} == {"run-of-tonight"}


async def test_events_carry_the_run_and_its_counts(either: Api) -> None:
    await shelve(either, MESS)
    result = await either.call("reflect", nugget="memory")
    events = (await either.call("events.since", seq=0, limit=1000))["events"]
    ours = [event for event in events if event["data"].get("run_id") == result["run_id"]]

    assert ours[0]["type"] == "shelfd.reflection.started.v1"
    assert ours[-1]["type"] == "shelfd.reflection.completed.v1"
    assert ours[-1]["data"] == {
        "nugget": "memory", "ids": [], "principal": "uid:1000", "run_id": result["run_id"],
        **{name: result[name] for name in COUNTS},
    }  # fmt: skip
    assert "shelfd.note.merged.v1" in {event["type"] for event in ours}


async def test_a_dry_run_tells_the_plan_and_leaves_no_trace(either: Api) -> None:
    await shelve(either, MESS)
    before, tended = await log_of(either), either.shelf().view.tended.all()
    plan = await either.call("reflect", dry_run=True)
    assert (await log_of(either), either.shelf().view.tended.all()) == (before, tended)

    result = await either.call("reflect")
    assert plan["run_id"] is None
    assert {**plan, "run_id": result["run_id"]} == result


async def test_a_run_that_changes_nothing_leaves_notes_alone(either: Api) -> None:
    await shelve(either, MESS)
    await settled(either)
    before, seq = logical_hash(either.shelf().view), either.shelf().view.log.last_seq
    notes = (await either.call("note.list", include_hidden=True))["notes"]
    result = await either.call("reflect")

    assert [result[name] for name in COUNTS] == [2, 0, 0, 0, 0, 0]
    assert logical_hash(either.shelf().view) == before
    assert (await either.call("note.list", include_hidden=True))["notes"] == notes
    assert [row["kind"] for row in await log_of(either, seq)] == ["reflection.started", "reflection.completed"]


@pytest.mark.parametrize(
    ("limit", "inspected"), [(None, 4), (0, 1), (-5, 1), (1, 1), (3, 3), (4, 4), (10, 4), (2**53, 4)]
)
async def test_the_limit_is_clamped(limit: int | None, inspected: int) -> None:
    async with memory(settings=MemorySettings(reflection_max_notes=4)) as api:
        await shelve(api, [a_note("some text", id=f"n{n}") for n in range(9)])
        assert (await api.call("reflect", limit=limit))["inspected"] == inspected


async def test_an_unknown_nugget_is_not_found(either: Api) -> None:
    assert (await either.refused("reflect", nugget="none")).kind == "NuggetNotFound"
    assert (await either.refused("reflect", shelf="none")).code in (-32001, -32004)


async def test_only_the_nugget_asked_for(either: Api) -> None:
    await shelve(either, [a_note("", id="a", nugget="one"), a_note("", id="b", nugget="two")])

    assert told(await either.call("reflect", nugget="two"), "hide") == ["b"]
    assert told(await either.call("reflect"), "hide") == ["a"]


async def test_the_other_name_does_the_same(api: Api) -> None:
    await shelve(api, MESS)
    assert (await api.call("reflect_and_clean_memory"))["merged"] == 1
    assert (await log_of(api))[-1]["method"] == "reflect"


async def test_an_empty_shelf(either: Api) -> None:
    result = await either.call("reflect")

    assert ([result[name] for name in COUNTS], result["changes"]) == ([0] * 6, [])


# ------------------------------------------------------------------ what remains


async def test_what_remains_is_told_until_nothing_does(either: Api) -> None:
    await shelve(either, [a_note(f"plain text number {n} of many", id=f"n{n:02}") for n in range(25)])
    results = await settled(either, limit=10)

    assert results[0]["remaining"] == 25
    assert all(result["remaining"] > 0 for result in results[:-1])
    assert results[-1]["remaining"] == 0


async def test_what_is_hidden_does_not_remain_and_a_dry_run_tells_the_same(either: Api) -> None:
    await shelve(either, [a_note("a draft", id="n", title="tmp")])
    planned = await either.call("reflect", dry_run=True)
    result = await either.call("reflect")

    assert (planned["hidden"], planned["remaining"]) == (result["hidden"], result["remaining"]) == (1, 0)


async def test_notes_that_a_run_did_not_come_to_remain(api: Api) -> None:
    await api.call("remember_many", notes=[{"content": f"entry {n} of the list"} for n in range(1200)])
    for nugget in ("one", "two"):
        await api.call("remember_many", notes=[{"content": f"{nugget} {n}", "nugget": nugget} for n in range(5)])
    result = await api.call("reflect")

    assert (result["inspected"], result["merged"]) == (10, 0)
    assert result["remaining"] == 1210


async def test_a_run_logs_its_counts_and_no_text(either: Api) -> None:
    await shelve(either, MESS)
    with capture_logs() as logs:
        result = await either.call("reflect")
        await either.call("reflect", dry_run=True)

    (line,) = [entry for entry in logs if entry["event"] == "reflection.completed"]
    told = {name: result[name] for name in (*COUNTS, "held_back", "remaining", "run_id")}
    assert line == {"event": "reflection.completed", "log_level": "info", "shelf": "default", **told}


# ------------------------------------------------------------------ asked twice


async def test_the_same_request_is_carried_out_once(either: Api) -> None:
    await shelve(either, MESS)
    first = await either.call("reflect", idempotency_key="k")
    seq = either.shelf().view.log.last_seq
    again = await either.call("reflect_and_clean_memory", idempotency_key="k")

    assert again == {**first, "replayed": True}
    assert either.shelf().view.log.last_seq == seq
    assert (await either.refused("reflect", idempotency_key="k", limit=1)).kind == "IdempotencyMismatch"


async def test_a_redelivered_request_is_carried_out_once(api: Api) -> None:
    await shelve(api, MESS)
    calls = [api.request("reflect"), api.request("reflect")]
    for call in calls:
        call.repeat = Repeat("mqtt-17", timedelta(minutes=10))
    first, again = await asyncio.gather(*map(api.handle, calls))

    assert again == {**first, "replayed": True}


async def test_a_request_that_was_cut_short_goes_on_with_its_run(api: Api) -> None:
    await shelve(api, MESS)
    task = asyncio.create_task(api.call("reflect", idempotency_key="k"))
    for _ in range(20):
        await asyncio.sleep(0)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    result = await api.call("reflect", idempotency_key="k")

    assert result["merged"] == 1
    runs = {row.origin.run_id for row in api.shelf().view.log.page(since_seq=5, limit=100)}
    assert runs == {result["run_id"]}


async def test_a_second_reflection_waits_for_the_first(either: Api) -> None:
    await shelve(either, MESS)
    first, second = await asyncio.gather(either.call("reflect"), either.call("reflect"))

    assert (first["merged"], second["merged"]) == (1, 0)
    runs = [row.get("run_id") for row in await log_of(either) if row["kind"].startswith("reflection.")]
    assert runs == [first["run_id"], first["run_id"], second["run_id"], second["run_id"]]


# ------------------------------------------------------------------ others at work


async def test_a_deadline_that_passed_means_nothing_happened(api: Api) -> None:
    await shelve(api, MESS)
    seq = api.shelf().view.log.last_seq
    call = api.request("reflect")
    call.ticket = Ticket(api.clock, deadline=api.clock.monotonic())
    with pytest.raises(Refused) as refused:
        await api.handle(call)

    assert refused.value.kind == "DeadlineExceeded"
    assert api.shelf().view.log.last_seq == seq


async def cut_off(api: Api, turns: int) -> bool:
    """Begin a run and cancel it after so many turns of the loop; return whether it was over before."""
    task = asyncio.create_task(api.call("reflect"))
    for _ in range(turns):
        await asyncio.sleep(0)
    task.cancel()
    return not isinstance((await asyncio.gather(task, return_exceptions=True))[0], BaseException)


async def test_wherever_a_run_is_cut_off_the_next_one_finishes_the_work() -> None:
    turns, over = 0, False
    ends = set()
    while not over:
        async with memory() as api:
            await shelve(api, MESS)
            over = await cut_off(api, turns)
            ended = any(row["kind"] == "reflection.completed" for row in await log_of(api))
            assert bool(api.shelf().view.tended.all()) is ended
            await settled(api)
            notes = [await api.note(name) for name in "abcd"]
            ends.add(str([(note["content"], note["hidden"], note["tags"]) for note in notes]))
        turns += 3

    assert turns > 10
    assert len(ends) == 1


async def carried_out(api: Api, plan: ReflectionPlan) -> list[Action]:
    """Do what is planned; return what was done."""
    applied = await api.shelf().commit(
        api.request("reflect").origin(), lambda tx: apply_all(tx, plan.actions, {}, Limits())
    )
    return applied.value[0]


async def test_what_others_edit_meanwhile_is_never_overwritten(either: Api) -> None:
    await shelve(either, MESS)
    shelf = either.shelf()
    plan = await draw_plan(shelf, nugget=None, limit=10, limits=Limits())
    await either.call("note.edit", id="a", content="another matter", tags=["mine"])
    await either.call("note.hide", id="d")
    await either.call("note.restore", id="d")
    done = await carried_out(either, plan)

    note = await either.note("a")
    assert (note["content"], note["rev"], note["links"]) == ("another matter", 2, [])
    assert (await either.note("d"))["hidden"] is False
    assert (await either.note("b"))["hidden"] is False
    assert {(action.type, action.note.id) for action in done} == {("tag", "b"), ("tag", "c")}


async def test_an_action_taken_out_takes_along_what_rests_on_it(api: Api) -> None:
    await shelve(api, MESS)
    plan = await draw_plan(api.shelf(), nugget=None, limit=10, limits=Limits())
    plan.actions[:] = [action for action in plan.actions if (action.type, action.note.id) != ("rewrite", "a")]
    done = await carried_out(api, plan)

    # What was planned for the rewritten note would write its content after all.
    assert {action.note.id for action in done if action.type in ("tag", "merge")} <= {"b", "c"}
    assert (await api.note("a"))["content"] == MESS[0].content


async def test_edits_during_a_run_survive_it(durable: Api) -> None:
    await shelve(
        durable, [a_note(f"The crane number {n} is out of order.\nIt is.\nIt is.", id=f"n{n}") for n in range(10)]
    )
    run = asyncio.create_task(durable.call("reflect"))
    for n in range(10):
        await durable.call("note.edit", id=f"n{n}", content=f"edited {n}", tags=[f"own{n}"])
    await run
    await settled(durable)

    for n in range(10):
        note = await durable.note(f"n{n}")
        assert note["content"] == f"edited {n}"
        assert f"own{n}" in note["tags"]


async def test_what_was_returned_just_now_is_worth_something(either: Api) -> None:
    await either.remember("the harbour crane", title="tmp crane")
    assert await either.found("harbour crane", session_id="s") == ["the harbour crane"]

    assert (await either.call("reflect"))["hidden"] == 0


async def test_a_run_can_be_taken_back(either: Api) -> None:
    await shelve(either, MESS)
    before = logical_hash(either.shelf().view)
    result = await either.call("reflect")
    assert logical_hash(either.shelf().view) != before
    undone = await either.call("reflection.undo", run_id=result["run_id"])

    assert undone["kept"] == []
    assert logical_hash(either.shelf().view) == before


# ------------------------------------------------------------------ turns


class Counted:
    """A view or index that counts what is asked of it."""

    def __init__(self, real: Any, work: list[int]) -> None:
        self._real = real
        self._work = work

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._real, name)
        if not callable(found):
            return found

        def counting(*args: Any, **named: Any) -> Any:
            self._work[0] += 1
            return found(*args, **named)

        return counting


async def test_others_get_a_turn_after_each_bit_of_work(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "the harbour crane {} is out of order and nobody repairs it before winter comes over the bay"
    await shelve(api, [a_note(text.format(f"Nr{n}"), id=f"n{n}") for n in range(300)])
    await shelve(api, [a_note(f"only{n} said{n} once{n}", id=f"m{n}") for n in range(300)])
    await api.warmed()
    shelf = api.shelf()
    await shelf.reach(None)
    work, longest, total = [0], 0, 0
    monkeypatch.setattr(type(shelf), "view", property(lambda self: Counted(self.store.view, work)))
    known = shelf.projection(ShelfIndex)
    known.index = Counted(known.index, work)  # type: ignore[assignment]
    run = asyncio.create_task(draw_plan(shelf, nugget=None, limit=10, limits=Limits()))
    while not run.done():
        await asyncio.sleep(0)
        longest, total, work[0] = max(longest, work[0]), total + work[0], 0

    assert total > 1000
    assert longest <= 12  # reads of a few rows each
    assert isinstance((await run).actions[0], Action)


async def test_small_transactions(api: Api) -> None:
    await shelve(api, [a_note("some text", id=f"n{n}", title="tmp") for n in range(10)])
    seq = api.shelf().view.log.last_seq
    await api.call("reflect")

    assert max(row.tx_size for row in api.shelf().view.log.page(since_seq=seq, limit=100)) <= 16


async def test_it_waits_for_the_index(durable: Api) -> None:
    await shelve(durable, [a_note("the harbour crane", id=f"n{n:03}") for n in range(400)])
    await durable.reopen()
    result = await durable.call("reflect")

    assert durable.shelf().index_state()["state"] == "ready"
    assert result["merged"] == 10


async def test_a_reflection_by_hand_is_a_run_like_any_other(either: Api) -> None:
    await either.remember("the kettle is green")
    result = await either.call("reflect")
    ((_, job),) = either.shelf().view.jobs.page(in_slots=True, before=None, limit=9)

    assert (job.kind, job.run_id, job.reason, job.state) == ("reflection", result["run_id"], "manual", "done")
    assert job.result is not None
    assert job.result["inspected"] == result["inspected"] == 1
    await either.call("reflect", dry_run=True)
    assert len(either.shelf().view.jobs.page(in_slots=True, before=None, limit=9)) == 1
