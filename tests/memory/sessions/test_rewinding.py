"""Taking turns of a conversation back, and switching between alternatives of a turn."""

import asyncio
from typing import Any

import pytest

from fakes import Api
from shelfd.memory.log.logical import logical_hash
from shelfd.memory.ports.job import Job
from shelfd.memory.ports.log import Origin
from shelfd.memory.sessions import planning

SESSION = "chat"


@pytest.fixture
async def chat(either: Api) -> Api:
    await either.call("session.open", session_id=SESSION)
    return either


async def say(api: Api, turn: int, content: str, session_id: str = SESSION, **named: object) -> str:
    """Have a turn remember something; return the note's id."""
    note = await api.remember(content, session_id=session_id, turn=turn, **named)
    return str(note["id"])


async def contents(api: Api) -> list[str]:
    """What is visible, in the order it was made."""
    return [note["content"] for note in (await api.call("note.list", order="created_at"))["notes"]]


def shelf_hash(api: Api) -> str:
    return logical_hash(api.shelf().view)


async def seen(api: Api) -> list[tuple[object, ...]]:
    """What is visible, and what of it may change."""
    notes = (await api.call("note.list", order="created_at"))["notes"]
    names = ("id", "title", "content", "tags", "links", "session_id", "turn", "seq_to")
    return [tuple(note.get(name) for name in names) for note in notes]


async def test_turns_go_with_all_that_follow(chat: Api) -> None:
    for turn in (1, 2, 3, 4):
        await say(chat, turn, f"turn {turn}")
    result = await chat.call("session.retract_turns", session_id=SESSION, from_turn=3)
    assert (result["undone"], result["notes"], result["kept"], result["cancelled"]) == (2, 2, [], [])
    assert await contents(chat) == ["turn 1", "turn 2"]
    assert await chat.found("turn 4") != ["turn 4"]
    assert not result["dry_run"]


async def test_a_fact_has_its_earlier_value_again(chat: Api) -> None:
    await say(chat, 1, "Berlin", key="home")
    await say(chat, 2, "Oslo", key="home")
    await say(chat, 2, "Ada", key="name")
    await chat.call("session.retract_turns", session_id=SESSION, from_turn=2)
    assert await contents(chat) == ["Berlin"]
    assert await chat.found("Ada") == []
    await say(chat, 2, "Grace", key="name")
    assert await contents(chat) == ["Berlin", "Grace"]


async def test_what_others_wrote_since_stays_and_is_said(chat: Api) -> None:
    home = await say(chat, 1, "Berlin", key="home")
    await say(chat, 2, "Oslo", key="home", tags=["north"])
    await chat.remember("Rome", key="home")
    result = await chat.call("session.retract_turns", session_id=SESSION, from_turn=2)
    assert await contents(chat) == ["Rome"]
    assert result["kept"] == [{"note_id": home, "field": "content", "why": "edited"}]
    assert "north" not in (await chat.note(home))["tags"]


async def test_a_fact_of_a_turn_that_another_gave_a_value_since_stays(chat: Api) -> None:
    home = await say(chat, 1, "Berlin", key="home")
    await chat.remember("Rome", key="home")
    result = await chat.call("session.retract_turns", session_id=SESSION, from_turn=1)
    assert await contents(chat) == ["Rome"]
    assert result["kept"] == [{"note_id": home, "field": "note", "why": "edited"}]


async def test_the_same_again_changes_nothing(chat: Api) -> None:
    await say(chat, 1, "one")
    await chat.call("session.retract_turns", session_id=SESSION, from_turn=1)
    was = shelf_hash(chat)
    again = await chat.call("session.retract_turns", session_id=SESSION, from_turn=1)
    assert (again["undone"], again["notes"]) == (0, 0)
    assert shelf_hash(chat) == was
    beyond = await chat.call("session.retract_turns", session_id=SESSION, from_turn=900)
    assert beyond["undone"] == 0


async def test_turns_told_anew_stay(chat: Api) -> None:
    await say(chat, 1, "one")
    await say(chat, 2, "two")
    for attempt in range(3):
        await chat.call("session.retract_turns", session_id=SESSION, from_turn=2)
        await say(chat, 2, f"two, attempt {attempt}")
    assert await contents(chat) == ["one", "two, attempt 2"]


async def test_other_conversations_and_writes_without_a_turn_stay(chat: Api) -> None:
    await chat.call("session.open", session_id="other")
    await say(chat, 1, "mine")
    await say(chat, 1, "theirs", "other")
    await chat.remember("no turn", session_id=SESSION)
    await chat.call("session.retract_turns", session_id=SESSION, from_turn=1)
    assert await contents(chat) == ["theirs", "no turn"]


async def test_each_of_many_notes_is_of_its_own_turn(chat: Api) -> None:
    await say(chat, 1, "Berlin", key="home")
    await chat.call("session.select_variant", session_id=SESSION, turn=3, variant=1)
    many: list[dict[str, object]] = [
        {"content": "one", "session_id": SESSION, "turn": 1},
        {"content": "Oslo", "session_id": SESSION, "turn": 2, "key": "home"},
        {"content": "three", "session_id": SESSION, "turn": 3},
        {"content": "theirs", "session_id": "other", "turn": 3},
        {"content": "no turn", "session_id": SESSION},
        {"content": "nobody's"},
    ]
    await chat.call("remember_many", notes=many)
    was = await contents(chat)
    log = (await chat.call("shelf.log", limit=1000))["log"]
    assert [(row.get("turn"), row.get("variant")) for row in log if row["kind"] == "note.created"][-3:] == [
        (3, None), (None, None), (None, None)
    ]  # fmt: skip
    await chat.call("session.select_variant", session_id=SESSION, turn=3, variant=0)
    assert await contents(chat) == ["Oslo", "one", "theirs", "no turn", "nobody's"]
    await chat.call("session.select_variant", session_id=SESSION, turn=3, variant=1)
    assert await contents(chat) == was
    await chat.call("session.retract_turns", session_id=SESSION, from_turn=2)
    assert await contents(chat) == ["Berlin", "one", "theirs", "no turn", "nobody's"]


async def test_a_retraction_can_be_undone_and_that_too(chat: Api) -> None:
    await say(chat, 1, "Berlin", key="home")
    await say(chat, 2, "Oslo", key="home", tags=["north"])
    await say(chat, 2, "two")
    was = shelf_hash(chat)
    run = (await chat.call("session.retract_turns", session_id=SESSION, from_turn=2))["run_id"]
    became = shelf_hash(chat)
    undone = await chat.call("reflection.undo", run_id=run)
    assert (undone["undone"], undone["kept"]) == (3, [])
    assert shelf_hash(chat) == was
    redone = await chat.call("reflection.undo", run_id=undone["run_id"])
    assert shelf_hash(chat) == became
    assert (await chat.call("reflection.undo", run_id=undone["run_id"]))["undone"] == 0
    await chat.call("undo", tx=chat.shelf().view.log.of_run(redone["run_id"])[0].tx)
    assert shelf_hash(chat) == was


async def test_a_dry_run_says_the_same_and_changes_nothing(chat: Api) -> None:
    await say(chat, 1, "Berlin", key="home")
    for number in range(60):
        await say(chat, 2, f"note {number}", key=f"key {number % 50}")
    await say(chat, 2, "Oslo", key="home")
    await chat.remember("Rome", key="home")
    seq = chat.shelf().view.log.last_seq
    told = await chat.call("session.retract_turns", session_id=SESSION, from_turn=2, dry_run=True)
    assert (chat.shelf().view.log.last_seq, told.pop("run_id"), told.pop("dry_run")) == (seq, None, True)
    done = await chat.call("session.retract_turns", session_id=SESSION, from_turn=2)
    assert {name: done[name] for name in told} == told


async def test_more_than_one_step_is_a_job(chat: Api) -> None:
    for number in range(70):
        await say(chat, 1 + number % 7, f"note {number}")
    result = await chat.call("session.retract_turns", session_id=SESSION, from_turn=2)
    assert (result["undone"], result["session_id"]) == (60, SESSION)
    jobs = (await chat.call("job.list"))["jobs"]
    assert [(job["kind"], job["state"]) for job in jobs] == [("rewind", "done")]
    assert len(await contents(chat)) == 10
    assert (await chat.call("reflection.undo", run_id=result["run_id"]))["undone"] == 60
    assert len(await contents(chat)) == 70


async def test_a_rollup_that_came_back_before_it_goes_is_not_said_to_stay(
    chat: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    events = [await say(chat, 1, f"event {number}", type="event") for number in range(12)]
    made = await chat.call("session.compact", session_id=SESSION, turn=2)
    undone = await chat.call("reflection.undo", run_id=made["run_id"])
    await chat.call("reflection.undo", run_id=undone["run_id"])
    monkeypatch.setattr(planning, "NOTES_AT_ONCE", 1)
    told = await chat.call("session.retract_turns", session_id=SESSION, from_turn=2, dry_run=True)
    result = await chat.call("session.retract_turns", session_id=SESSION, from_turn=2)
    assert (result["kept"], result["notes"]) == ([], told["notes"])
    assert [(await chat.note(note_id)).get("parent_id") for note_id in events] == [None] * len(events)


async def test_the_event_says_what_was_taken_back(chat: Api) -> None:
    await say(chat, 1, "one")
    result = await chat.call("session.retract_turns", session_id=SESSION, from_turn=1)
    events = (await chat.call("events.since", seq=0, limit=100))["events"]
    told = [event for event in events if event["type"] == "shelfd.session.retracted.v1"]
    assert [event["data"] | {"at": 0} for event in told] == [
        {
            "nugget": "memory", "ids": [], "principal": chat.principal, "session_id": SESSION, "from_turn": 1,
            "undone": 1, "kept": 0, "run_id": result["run_id"], "at": 0,
        }
    ]  # fmt: skip


async def test_what_is_purged_is_kept_away_and_said(chat: Api) -> None:
    await say(chat, 1, "Berlin", key="home")
    gone = await say(chat, 2, "secret")
    await chat.call("forget", id=gone, purge=True)
    result = await chat.call("session.retract_turns", session_id=SESSION, from_turn=2)
    assert result["kept"] == [{"note_id": gone, "field": "note", "why": "purged"}]
    assert await contents(chat) == ["Berlin"]


async def test_extractions_of_turns_taken_back_end(chat: Api) -> None:
    await say(chat, 1, "one")
    await say(chat, 2, "two")

    def begin(tx: object, turn: int) -> None:
        params = {"session_id": SESSION, "from_turn": turn, "turn": turn}
        job = Job(
            f"job-{turn}", "extraction", "waiting", chat.principal, "session.extract", None, f"run-{turn}", params
        )
        tx.rows.jobs.put(job)  # type: ignore[attr-defined]

    for turn in (1, 2):
        await chat.shelf().commit(Origin("p", "m"), lambda tx, turn=turn: begin(tx, turn))  # type: ignore[misc]
    told = await chat.call("session.retract_turns", session_id=SESSION, from_turn=2, dry_run=True)
    done = await chat.call("session.retract_turns", session_id=SESSION, from_turn=2)
    assert told["cancelled"] == done["cancelled"] == ["job-2"]
    jobs = {job["id"]: job["state"] for job in (await chat.call("job.list"))["jobs"]}
    assert jobs == {"job-1": "waiting", "job-2": "failed"}


async def extracting(chat: Api, from_turn: int, turn: int) -> None:
    """Begin an extraction that has not come to anything yet."""
    params = {"session_id": SESSION, "from_turn": from_turn, "turn": turn}
    job = Job("job-1", "extraction", "waiting", chat.principal, "session.extract", None, "run-1", params)
    await chat.shelf().commit(Origin("p", "m"), lambda tx: tx.rows.jobs.put(job))


async def test_an_extraction_that_has_written_nothing_yet_ends(chat: Api) -> None:
    await extracting(chat, 3, 5)
    told = await chat.call("session.retract_turns", session_id=SESSION, from_turn=4, dry_run=True)
    done = await chat.call("session.retract_turns", session_id=SESSION, from_turn=4)
    assert told["cancelled"] == done["cancelled"] == ["job-1"]


@pytest.mark.parametrize(("turn", "ended"), [(2, []), (3, ["job-1"]), (4, ["job-1"]), (5, ["job-1"]), (6, [])])
async def test_an_extraction_of_a_turn_that_gets_another_variant_ends(chat: Api, turn: int, ended: list[str]) -> None:
    await extracting(chat, 3, 5)
    same = await chat.call("session.select_variant", session_id=SESSION, turn=turn, variant=0)
    assert same["cancelled"] == []
    told = await chat.call("session.select_variant", session_id=SESSION, turn=turn, variant=1, dry_run=True)
    done = await chat.call("session.select_variant", session_id=SESSION, turn=turn, variant=1)
    assert told["cancelled"] == done["cancelled"] == ended


@pytest.mark.parametrize(
    ("method", "field", "more"),
    [
        ("session.retract_turns", "from_turn", {}),
        ("session.select_variant", "turn", {"variant": 0}),
        ("session.branch", "at_turn", {"new_session_id": "other"}),
    ],
)
@pytest.mark.parametrize("dry_run", [False, True])
async def test_a_turn_far_ahead_is_refused_by_the_name_it_was_given(
    chat: Api, method: str, field: str, more: dict[str, Any], *, dry_run: bool
) -> None:
    await say(chat, 1, "one")
    refused = await chat.refused(method, {"session_id": SESSION, field: 100_000, "dry_run": dry_run, **more})
    assert (refused.code, refused.data["field"], refused.data["reason"]) == (-32602, field, "TURN_OUT_OF_RANGE")


# ------------------------------------------------------------------- variants


async def test_variants_of_a_turn_take_turns(chat: Api) -> None:
    await say(chat, 1, "Berlin", key="home")
    await say(chat, 2, "Oslo", key="home")
    await say(chat, 2, "a ferry")
    states = [await seen(chat)]
    first = await chat.call("session.select_variant", session_id=SESSION, turn=2, variant=1)
    assert (first["was"], first["variant"], first["undone"]) == (0, 1, 2)
    assert await contents(chat) == ["Berlin"]
    await say(chat, 2, "Rome", key="home")
    await say(chat, 2, "a train")
    states.append(await seen(chat))
    assert await contents(chat) == ["Rome", "a train"]
    for variant in (0, 1, 0, 0, 1):
        await chat.call("session.select_variant", session_id=SESSION, turn=2, variant=variant)
        assert await seen(chat) == states[variant]


async def test_log_and_history_say_which_variant_wrote(chat: Api) -> None:
    home = await say(chat, 1, "Berlin", key="home")
    await say(chat, 2, "Oslo", key="home")
    await chat.call("session.select_variant", session_id=SESSION, turn=2, variant=1)
    await say(chat, 2, "Rome", key="home")
    versions = (await chat.call("note.history", id=home))["versions"]
    assert [(one.get("turn"), one.get("variant")) for one in versions][:2] == [(1, None), (2, None)]
    assert (versions[-1]["session_id"], versions[-1]["turn"], versions[-1]["variant"]) == (SESSION, 2, 1)
    assert (await chat.call("shelf.log", limit=1000))["log"][-1]["variant"] == 1


async def test_what_follows_a_turn_stays_whatever_its_variant(chat: Api) -> None:
    await say(chat, 1, "Oslo", key="home")
    await say(chat, 2, "later")
    await say(chat, 2, "Rome", key="home")
    await chat.call("session.select_variant", session_id=SESSION, turn=1, variant=1)
    assert await contents(chat) == ["Rome", "later"]


async def test_a_variant_taken_back_by_its_run_is_another_switch(chat: Api) -> None:
    await say(chat, 1, "zero")
    run = (await chat.call("session.select_variant", session_id=SESSION, turn=1, variant=1))["run_id"]
    await say(chat, 1, "one")
    undone = await chat.call("reflection.undo", run_id=run)
    assert await contents(chat) == ["zero"]
    await say(chat, 1, "zero again")
    await chat.call("reflection.undo", run_id=undone["run_id"])
    assert await contents(chat) == ["one"]
    await chat.call("session.select_variant", session_id=SESSION, turn=1, variant=0)
    assert await contents(chat) == ["zero", "zero again"]


async def test_a_turn_taken_back_is_so_in_all_its_variants(chat: Api) -> None:
    await say(chat, 1, "zero")
    await chat.call("session.select_variant", session_id=SESSION, turn=1, variant=1)
    await say(chat, 1, "one")
    await chat.call("session.retract_turns", session_id=SESSION, from_turn=1)
    assert await contents(chat) == []
    await chat.call("session.select_variant", session_id=SESSION, turn=1, variant=0)
    assert await contents(chat) == []
    await say(chat, 1, "told anew")
    assert await contents(chat) == ["told anew"]


async def test_a_dry_run_of_a_variant_changes_nothing(chat: Api) -> None:
    await say(chat, 1, "zero")
    was = shelf_hash(chat)
    told = await chat.call("session.select_variant", session_id=SESSION, turn=1, variant=1, dry_run=True)
    assert (told["undone"], told["was"], told["run_id"], shelf_hash(chat)) == (1, 0, None, was)


# ------------------------------------------------------------------ bad input


async def test_bad_input_is_refused_with_what_is_wrong(chat: Api) -> None:
    await say(chat, 1, "one")
    was = chat.shelf().view.log.last_seq
    cases: list[tuple[dict[str, object], int, str | None]] = [
        ({"session_id": SESSION, "from_turn": 0}, -32602, "from_turn"),
        ({"session_id": SESSION, "from_turn": "x"}, -32602, "from_turn"),
        ({"session_id": "nobody", "from_turn": 1}, -32001, "session_id"),
    ]
    for params, code, field in cases:
        for dry_run in (False, True):
            refused = await chat.refused("session.retract_turns", {**params, "dry_run": dry_run})
            assert (refused.code, refused.field) == (code, field)
    cases = [
        ({"turn": 1, "variant": -1}, -32602, "variant"),
        ({"turn": 1, "variant": 2}, -32602, "variant"),
        ({"turn": 0, "variant": 0}, -32602, "turn"),
        ({"turn": 10**9, "variant": 0}, -32602, "turn"),
    ]
    for params, code, field in cases:
        for dry_run in (False, True):
            refused = await chat.refused(
                "session.select_variant", {"session_id": SESSION, **params, "dry_run": dry_run}
            )
            assert (refused.code, refused.field) == (code, field)
    assert chat.shelf().view.log.last_seq == was


async def test_a_frozen_session_is_not_rewound(chat: Api) -> None:
    await say(chat, 1, "one")
    await chat.call("session.open", session_id="frozen", at_seq=1)
    for dry_run in (False, True):
        refused = await chat.refused("session.retract_turns", session_id="frozen", from_turn=1, dry_run=dry_run)
        assert (refused.code, refused.reason) == (-32002, "FROZEN")


async def test_one_rewind_of_a_conversation_at_a_time(chat: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planning, "NOTES_AT_ONCE", 1)
    await say(chat, 1, "one")
    await say(chat, 2, "two")
    await say(chat, 2, "three")
    call = chat.request("session.retract_turns", session_id=SESSION, from_turn=1)
    refusals = []

    def begun() -> None:
        refusals.append(chat.shelf().view.jobs.page(before=None, limit=1, unfinished=True)[0][1].id)

    call.on_begun = begun
    first = chat.handle(call)
    second = chat.refused("session.retract_turns", session_id=SESSION, from_turn=2)
    _, refused = await asyncio.gather(first, second)
    assert (refused.code, refused.data["job"]) == (-32002, refusals[0])
    assert await contents(chat) == []


# ------------------------------------------------------------ doing nothing


@pytest.mark.parametrize("between", [False, True])
async def test_a_rewind_that_changes_nothing_is_a_run_like_any_other(chat: Api, between: bool) -> None:
    """Whether others wrote meanwhile makes no difference: it is in the log, and to undo it changes nothing."""
    await say(chat, 1, "one")
    await chat.call("session.retract_turns", session_id=SESSION, from_turn=1)
    was = shelf_hash(chat)
    rewinds: list[tuple[str, dict[str, Any]]] = [
        ("session.retract_turns", {"from_turn": 1}),
        ("session.retract_turns", {"from_turn": 3}),
        ("session.select_variant", {"turn": 1, "variant": 0}),
    ]
    for method, params in rewinds:
        if between:
            await chat.remember("elsewhere")
            was = shelf_hash(chat)
        result = await chat.call(method, {"session_id": SESSION, **params})
        assert (result["undone"], result["notes"]) == (0, 0)
        undone = await chat.call("reflection.undo", run_id=result["run_id"])
        assert (undone["undone"], undone["kept"]) == (0, [])
        assert (await chat.call("reflection.undo", run_id=undone["run_id"]))["undone"] == 0
        assert shelf_hash(chat) == was
