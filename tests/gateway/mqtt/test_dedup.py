"""The same request twice: once carried out, however it is recognised, whenever it comes again."""

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from fakes import Api, memory, until
from gateway.mqtt.requesting import TOPICS, Desk, FakeLink, Json, desk, remembered, request_topic
from shelfd.gateway.envelope import open_envelope
from shelfd.gateway.mqtt.request import recognised
from shelfd.memory.jobs.runner import JobRunner
from shelfd.storage import SqliteStores
from shelfd.storage.inmemory import InMemoryStores

HERE = TOPICS.reply_prefix("alice") + "x"
LONG_ID = "0190b6f0-1111-7000-8000-000000000001"


@pytest.fixture(params=["inmemory", "sqlite"])
async def api(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Api]:
    """Over each kind of stores."""
    async with memory(InMemoryStores if request.param == "inmemory" else lambda c: SqliteStores(tmp_path, c)) as real:
        yield real


@pytest.fixture
async def at(api: Api) -> AsyncIterator[Desk]:
    async with desk(api=api) as real:
        yield real


def remember(link: FakeLink, content: str = "tea", *, user: str = "alice", **body: Any) -> None:
    correlation = body.pop("data", None)
    params = {"content": content, **body.pop("params", {})}
    topic = request_topic(user, "remember")
    address = TOPICS.reply_prefix(user) + "x"
    link.arrive(topic, {"params": params, **body}, response_topic=address, correlation=correlation)


def outcomes(desk_: Desk) -> list[str | bool]:
    """Of each reply: whether it was replayed, or its error's type."""
    return [
        reply["error"]["data"]["type"] if "error" in reply else bool(reply["result"].get("replayed"))
        for reply in desk_.link.replies()
    ]


@pytest.mark.parametrize(
    "told",
    [
        {"params": {"idempotency_key": "k"}},
        {"params": {"idempotencyKey": "k"}},
        {"id": LONG_ID},
        {"id": "x" * 16},
        {"id": "x" * 500},
        {"id": "sixteen\tcharacters"},
        {"id": "short"},
        {"id": 7},
        {"id": 7.5},
        {"data": b"\x00\x01"},
        {"id": None, "data": b"c" * 40},
        {"id": "", "data": b"c"},
    ],
    ids=str,
)
async def test_a_request_that_comes_twice_makes_one_note(at: Desk, api: Api, told: Json) -> None:
    remember(at.link, **told)
    await at.idle()
    remember(at.link, **told)
    await at.idle()
    assert await remembered(api) == ["tea"]
    first, second = at.link.replies()
    assert first["result"]["note"]["id"] == second["result"]["note"]["id"]
    assert outcomes(at) == [False, True]


@pytest.mark.parametrize("told", [{"id": LONG_ID}, {"id": 7}, {"data": b"c"}], ids=str)
async def test_two_that_are_at_work_together_make_one_note(at: Desk, api: Api, told: Json) -> None:
    for _ in range(3):
        remember(at.link, **told)
    await at.idle()
    assert await remembered(api) == ["tea"]
    assert outcomes(at) == [False, True, True]


async def test_without_anything_that_tells_it_apart_the_same_text_is_two_notes(at: Desk, api: Api) -> None:
    remember(at.link)
    remember(at.link)
    await at.idle()
    assert await remembered(api) == ["tea", "tea"]


@pytest.mark.parametrize("told", [{"id": 7}, {"id": "short"}, {"data": b"c" * 16}], ids=str)
async def test_a_short_id_with_another_payload_is_another_request(at: Desk, api: Api, told: Json) -> None:
    remember(at.link, "tea", **told)
    remember(at.link, "coffee", **told)
    await at.idle()
    assert await remembered(api) == ["tea", "coffee"]
    assert outcomes(at) == [False, False]


@pytest.mark.parametrize("told", [{"id": LONG_ID}, {"id": "x" * 500}, {"params": {"idempotency_key": "k"}}], ids=str)
async def test_a_key_with_another_payload_is_a_mismatch(at: Desk, api: Api, told: Json) -> None:
    remember(at.link, "tea", **told)
    remember(at.link, "coffee", **told)
    await at.idle()
    assert await remembered(api) == ["tea"]
    assert outcomes(at) == [False, "IdempotencyMismatch"]


async def test_a_short_id_is_remembered_for_ten_minutes(at: Desk, api: Api) -> None:
    remember(at.link, id=7)
    await at.idle()
    api.clock.advance(timedelta(minutes=9, seconds=59))
    remember(at.link, id=7)
    await at.idle()
    api.clock.advance(timedelta(seconds=2))
    remember(at.link, id=7)
    await at.idle()
    assert outcomes(at) == [False, True, False]
    assert await remembered(api) == ["tea", "tea"]


@pytest.mark.parametrize("told", [{"id": LONG_ID}, {"id": "x" * 500}], ids=str)
async def test_a_long_id_is_remembered_for_seven_days(at: Desk, api: Api, told: Json) -> None:
    remember(at.link, **told)
    await at.idle()
    api.clock.advance(timedelta(days=6, hours=23))
    remember(at.link, **told)
    await at.idle()
    api.clock.advance(timedelta(hours=2))
    remember(at.link, **told)
    await at.idle()
    assert outcomes(at) == [False, True, False]


async def test_a_key_says_more_than_an_id(at: Desk, api: Api) -> None:
    remember(at.link, id=LONG_ID, params={"idempotency_key": "first"})
    remember(at.link, id=LONG_ID, params={"idempotency_key": "second"})
    await at.idle()
    assert await remembered(api) == ["tea", "tea"]


async def test_a_key_that_is_null_is_none(at: Desk, api: Api) -> None:
    for key in ({"idempotency_key": None}, {"idempotencyKey": None}):
        remember(at.link, id=LONG_ID, params=key)
    await at.idle()
    assert await remembered(api) == ["tea"]


async def test_another_time_limit_is_the_same_request(at: Desk, api: Api) -> None:
    remember(at.link, id=7, params={"timeout_ms": 60_000})
    remember(at.link, id=7, params={"timeout_ms": 70_000})
    remember(at.link, id=7, exp="2026-01-02T00:00:00Z")
    await at.idle()
    assert await remembered(api) == ["tea"]


async def test_users_and_methods_do_not_share_ids(at: Desk, api: Api) -> None:
    remember(at.link, id=LONG_ID)
    remember(at.link, id=LONG_ID, user="bob")
    at.link.arrive(request_topic("alice", "remember_many"), {"id": LONG_ID, "params": {"notes": [{"content": "tea"}]}})
    await at.idle()
    assert await remembered(api) == ["tea", "tea", "tea"]


async def test_what_failed_is_done_when_it_comes_again(at: Desk, api: Api) -> None:
    rename = {"id": LONG_ID, "params": {"name": "old", "new_name": "new"}}
    at.link.arrive(request_topic("alice", "nugget.rename"), rename, response_topic=HERE)
    await at.idle()
    await api.call("nugget.create", name="old")
    at.link.arrive(request_topic("alice", "nugget.rename"), rename, response_topic=HERE)
    await at.idle()
    assert outcomes(at) == ["NuggetNotFound", False]


async def test_it_is_remembered_across_a_restart(tmp_path: Path) -> None:
    for expected in (False, True):
        async with memory(lambda clock: SqliteStores(tmp_path, clock)) as api, desk(api=api) as at:
            remember(at.link, id=7)
            await at.idle()
            assert outcomes(at) == [expected]
            assert await remembered(api) == ["tea"]


async def test_a_link_lost_in_between_changes_nothing(at: Desk, api: Api) -> None:
    remember(at.link, id=LONG_ID)
    first = at.link
    at.requests.detached()
    first.lose()
    second = FakeLink()
    at.attach(second)
    remember(second, id=LONG_ID)
    await at.idle()
    assert await remembered(api) == ["tea"]
    assert second.acknowledged == [1]


def test_reads_are_never_recognised() -> None:
    asked = open_envelope({"jsonrpc": "2.0", "id": LONG_ID, "method": "recall", "params": {"query": "q"}})
    assert recognised(asked, b"c") == asked


def test_a_change_without_key_param_is_recognised_by_its_id_too() -> None:
    asked = open_envelope({"jsonrpc": "2.0", "id": LONG_ID, "method": "shelf.create", "params": {"shelf": "s"}})
    known = recognised(asked, None)
    assert known.params == {"shelf": "s"}
    assert known.repeat is not None
    assert known.repeat.lifetime == timedelta(days=7)


async def test_a_job_is_acknowledged_when_it_has_begun_and_found_again_while_it_is_under_way(
    at: Desk, api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Acknowledgements go out in order: one that waited for a purge of thousands would hold up everybody's."""
    notes = [{"content": f"tea {number}", "nugget": "n"} for number in range(40)]
    await api.call("remember_many", notes=notes, principal="mqtt:alice")
    start = JobRunner.start
    monkeypatch.setattr(JobRunner, "start", lambda _self, _job_id: None)
    purge = {"params": {"name": "n", "purge": True}, "id": LONG_ID}
    at.link.arrive(request_topic("alice", "nugget.remove"), purge, response_topic=HERE)
    at.link.ask("bob", "remember", 2, content="mate")
    await until(lambda: at.link.acknowledged == [1, 2])
    await until(lambda: len(at.link.replies()) == 1)

    # A client whose daemon died before it answered asks again.
    at.link.arrive(request_topic("alice", "nugget.remove"), purge, response_topic=HERE)
    await until(lambda: at.link.acknowledged == [1, 2, 3])
    monkeypatch.setattr(JobRunner, "start", start)
    view = api.shelf().view
    ((_, job),) = view.jobs.page(unfinished=True, before=None, limit=9)
    api.service.jobs(api.shelf()).start(job.id)
    await at.idle()
    results = [reply["result"] for reply in at.link.replies() if reply["id"] == LONG_ID]
    assert [result["purged"] for result in results] == [40, 40]
    assert [result.get("replayed", False) for result in results] == [False, True]
