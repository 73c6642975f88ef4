"""The recent-query log: what is kept of what was asked, for how long, and what is not."""

import asyncio
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from fakes import Api, memory
from shelfd.memory import MemorySettings
from shelfd.memory.errors import StoreBusy
from shelfd.memory.ports.store import Applied, Change, OnDone
from shelfd.memory.shelf.queries import params_of


async def kept(api: Api) -> list[tuple[dict[str, Any], list[str]]]:
    await api.shelf().write_usage()
    queries = api.shelf().view.queries.recent(1000)
    return [(params_of(query).model_dump(exclude_defaults=True), list(query.ids)) for query in queries]


async def test_a_query_is_kept_with_what_says_what_is_sought(either: Api) -> None:
    note = await either.remember("the harbour crane", tags=["port"])
    sought = {"query": "harbour", "nugget": "memory", "tags": ["port"], "k": 3, "max_age": timedelta(days=2)}
    await either.call("recall", {**sought, "max_age": "2d"}, explain=True, full=True, max_content_chars=5)
    assert await kept(either) == [(sought, [note["id"]])]


async def test_the_same_query_is_kept_once_with_what_it_found_last(either: Api) -> None:
    first = await either.remember("the harbour crane")
    await either.call("recall", query="harbour")
    await either.shelf().write_usage()
    either.clock.advance(timedelta(minutes=1))
    second = await either.remember("the harbour")
    for _ in range(2):
        await either.call("recall", query="harbour")

    assert await kept(either) == [({"query": "harbour"}, [second["id"], first["id"]])]
    assert either.shelf().view.queries.recent(9)[0].at == either.clock.now()


async def test_a_context_is_a_query_of_what_it_shows(api: Api) -> None:
    note = await api.remember("the harbour crane")
    await api.call("get_context", query="harbour", k=4, session_id="s")
    assert await kept(api) == [({"query": "harbour", "k": 4, "session_id": "s"}, [note["id"]])]


@pytest.mark.parametrize("named", [{"session_id": None}, {"count_hits": False}, {"query": "nothing like it"}])
async def test_what_counts_no_hit_is_no_query(api: Api, named: dict[str, Any]) -> None:
    await api.remember("the harbour crane")
    await api.call("recall", {"query": "harbour", **named})
    assert await kept(api) == []


async def test_they_are_few_and_recent(either: Api) -> None:
    await either.remember("the harbour crane " + " ".join(f"berth{number}" for number in range(510)))
    await either.call("recall", query="harbour long ago")
    await either.shelf().write_usage()
    either.clock.advance(timedelta(days=31))
    for number in range(510):
        await either.call("recall", query=f"harbour berth{number}")
    asked = [params["query"] for params, _ in await kept(either)]

    assert len(asked) == 500
    assert "harbour long ago" not in asked
    assert "harbour berth509" in asked


async def test_nothing_is_kept_when_it_is_off_and_what_was_is_forgotten(durable: Api) -> None:
    await durable.remember("the harbour crane")
    await durable.call("recall", query="harbour")
    assert len(await kept(durable)) == 1
    durable.settings = MemorySettings(recall_log=False)
    await durable.reopen()
    await durable.warmed()
    await durable.call("recall", query="harbour")
    assert await kept(durable) == []


async def test_they_survive_a_restart(durable: Api) -> None:
    await durable.remember("the harbour crane")
    await durable.call("recall", query="harbour")
    await durable.reopen()
    assert [params for params, _ in await kept(durable)] == [{"query": "harbour"}]


async def test_a_purge_takes_the_queries_that_found_the_note(durable: Api, tmp_path: Path) -> None:
    note, other = await durable.remember("the combination"), await durable.remember("the harbour crane")
    await durable.call("recall", query="what is the combination, 4711-secret")
    await durable.shelf().write_usage()
    await durable.call("recall", query="combination: 4711-secret again")
    await durable.call("recall", query="harbour")
    await durable.call("forget", id=note["id"], purge=True)

    assert await kept(durable) == [({"query": "harbour"}, [other["id"]])]
    await durable.shelves.close()
    assert b"4711-secret" not in files_in(tmp_path)


def files_in(directory: Path) -> bytes:
    return b"".join(path.read_bytes() for path in directory.rglob("*") if path.is_file())


async def test_a_purge_reaches_a_write_under_way(either: Api) -> None:
    note = await either.remember("the harbour crane")
    await either.call("recall", query="harbour")
    writing = asyncio.ensure_future(either.shelf().write_usage())
    await either.call("forget", id=note["id"], purge=True)
    await writing
    assert await kept(either) == []


async def test_what_could_not_be_written_is_written_later(monkeypatch: pytest.MonkeyPatch) -> None:
    async with memory() as api:
        await api.remember("the harbour crane")
        await api.call("recall", query="harbour")
        store = api.shelf().store

        def busy(_change: Change[Any], on_done: OnDone[Applied[Any]]) -> None:
            on_done(StoreBusy("at work"))

        with monkeypatch.context() as patch:
            patch.setattr(store, "submit", busy)
            with pytest.raises(StoreBusy):
                await api.shelf().write_usage()
        assert [params for params, _ in await kept(api)] == [{"query": "harbour"}]


async def test_they_leave_no_trace_in_the_log(api: Api) -> None:
    await api.remember("the harbour crane")
    before = await api.call("shelf.log")
    await api.call("recall", query="harbour")
    await kept(api)
    assert await api.call("shelf.log") == before
